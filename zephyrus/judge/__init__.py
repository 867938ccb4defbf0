"""Judges: what scores a text against a reference. `zephyrus.judge.base` says what one is.

`make_judge` makes one from what the user wrote.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zephyrus.errors import UserError

if TYPE_CHECKING:
    from zephyrus.judge.base import Judge

__all__ = ["judge_names", "make_judge"]


def make_judge(
    spec: str | Judge,
    *,
    base_url: str | None = None,
    cache: Path | Literal[False] | None = None,
    concurrency: int = 256,
    **overrides: Any,
) -> Judge:
    """Make a judge.

    Args:
        spec: The name of a plug-in ("rules" is one), a name of the judge table, or
            "openai:MODEL@URL" (without a URL: $OPENAI_BASE_URL or OpenAI's own). A judge is given
            back as it is.
        base_url: Another address for an endpoint.
        cache: The file that keeps an endpoint's judgements; by default
            `zephyrus.judge.cache.cache_path`, False for none.
        concurrency: How many requests an endpoint gets at once.
        **overrides: For an endpoint, keys of `zephyrus.judge.table.JudgeEntry` or
            `zephyrus.modeltable.Sampling`; for a plug-in, its arguments. None is no override.

    Raises:
        UserError: If there is no such judge, it takes no such option, or the cache can't be
            opened.
    """
    if not isinstance(spec, str):
        return spec
    options = {key: value for key, value in overrides.items() if value is not None}
    if base_url is not None:
        options["base_url"] = base_url
    if spec.startswith("openai:"):
        from zephyrus.modeltable import parse_spec

        row = parse_spec(spec)
        # Not the address: it may hold a password.
        return _endpoint(f"openai:{row['model']}", row, options, cache, concurrency)
    from zephyrus.judge.table import judge_table
    from zephyrus.registry import get, names

    if spec in names("judges"):
        return _plug_in(spec, get("judges", spec), options)
    table = judge_table()
    if spec in table:
        row = table[spec].model_dump(exclude_unset=True)
        return _endpoint(spec, row, options, cache, concurrency)
    near = difflib.get_close_matches(spec, judge_names(), n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(judge_names())}"
    raise UserError(f"there is no judge {spec!r}; {hint} (or openai:MODEL@URL)")


def judge_names() -> list[str]:
    """Every name that `make_judge` knows, without the "openai:" form."""
    from zephyrus.judge.table import judge_table
    from zephyrus.registry import names

    return sorted({*names("judges"), *judge_table()})


def _plug_in(spec: str, factory: Any, options: dict[str, Any]) -> Judge:
    try:
        made: Judge = factory(**options)
    except TypeError as error:
        if not options:
            raise
        raise UserError(f"the judge {spec!r} takes no such option: {error}") from error
    return made


def _endpoint(
    name: str,
    row: dict[str, Any],
    options: dict[str, Any],
    cache: Path | Literal[False] | None,
    concurrency: int,
) -> Judge:
    from zephyrus.judge.cache import JudgeCache
    from zephyrus.judge.llm import LLMJudge
    from zephyrus.judge.table import TABLE

    entry = TABLE.with_options(name, row, options)
    if concurrency < 1:
        raise UserError(f"the concurrency must be at least 1 (got {concurrency})")
    kept = None if cache is False else JudgeCache(cache)
    return LLMJudge(entry, name, cache=kept, concurrency=concurrency)
