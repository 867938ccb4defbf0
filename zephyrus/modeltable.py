"""Tables of named models behind OpenAI-compatible endpoints: built-in rows, the user's over them.

`zephyrus.policy.table` and `zephyrus.judge.table` are the two tables.
"""

from __future__ import annotations

import difflib
import functools
import importlib.resources
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import platformdirs
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from zephyrus.errors import UserError

DEFAULT_BASE_URL = "http://127.0.0.1:8000/v1"
OPENAI_URL = "https://api.openai.com/v1"
_SPEC = re.compile(r"openai:(?P<model>.+?)(?:@(?P<url>https?://.+))?", re.DOTALL)


class Sampling(BaseModel):
    """How to sample. None leaves the choice to the server.

    Attributes:
        temperature: Softmax temperature; 0 is greedy.
        top_p: Nucleus sampling.
        max_tokens: Tokens of one turn, reasoning included.
        seeded: Send a ``seed``: for a policy it is made from the run's seed, the task, the repeat
            and the turn; for a judge from what is judged, the scoring pass and the attempt.
        extra_body: Further keys of the request, for instance ``top_k`` or
            ``chat_template_kwargs``; they win over the ones above.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=2048, ge=1)
    seeded: bool = True
    extra_body: dict[str, Any] = {}

    def body(self) -> dict[str, Any]:
        """The keys of a request, without the seed and the extra ones."""
        return self.model_dump(include={"temperature", "top_p", "max_tokens"}, exclude_none=True)


class ModelEntry(BaseModel):
    """What every row has.

    Attributes:
        model: The model's id at the server (and on the hub, for `zephyrus policy serve`).
        base_url: The OpenAI-compatible endpoint, up to and including ``/v1``.
        api_key_env: The environment variable that holds the API key. By default
            OPENAI_API_KEY if it is set; local servers need none.
        sampling: See `Sampling`.
        retries: How often a request is repeated after 429, 5xx, a timeout or a lost connection.
        timeout: Seconds that one request may take.
        notes: For people.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    base_url: str = DEFAULT_BASE_URL
    api_key_env: str | None = None
    sampling: Sampling = Sampling()
    retries: int = Field(default=5, ge=0)
    timeout: float = Field(default=600.0, gt=0)
    notes: str = ""


Entry = TypeVar("Entry", bound=ModelEntry)


class ModelTable(Generic[Entry]):
    """One table.

    Args:
        entry: What a row is.
        noun: What a row is called in errors: "policy".
        package: The package that holds the built-in table.
        file: The table's file name, there and in the user's configuration folder.
        variable: The environment variable that names another user's table.
    """

    def __init__(
        self, entry: type[Entry], *, noun: str, package: str, file: str, variable: str
    ) -> None:
        self._entry = entry
        self._noun = noun
        self._package = package
        self._file = file
        self._variable = variable

    @property
    def user_path(self) -> Path:
        """Where the user's own table is looked for."""
        named = os.environ.get(self._variable)
        return Path(named) if named else platformdirs.user_config_path("zephyrus") / self._file

    def entries(self) -> dict[str, Entry]:
        """Every named row, the user's over the built-in ones.

        Raises:
            UserError: If the user's table is malformed, or the variable names no file.
        """
        rows = {name: dict(row) for name, row in _builtin_rows(self._package, self._file).items()}
        path = self.user_path
        if path.is_file():
            for name, row in self._user_rows(path).items():
                rows[name] = {**rows.get(name, {}), **row}
        elif self._variable in os.environ:
            raise UserError(f"${self._variable} names {path}, which is no file")
        return {
            name: self.read_entry(row, f"the {self._noun} {name!r}") for name, row in rows.items()
        }

    def read_entry(self, row: Mapping[str, Any], where: str) -> Entry:
        """Check one row.

        Args:
            row: The keys of the entry.
            where: What to call it in an error.

        Raises:
            UserError: Naming the first wrong key, with the nearest right one.
        """
        try:
            return self._entry.model_validate(row)
        except ValidationError as error:
            raise UserError(f"{where}: {self._complaint(error)}") from None

    def with_options(self, name: str, row: Mapping[str, Any], options: Mapping[str, Any]) -> Entry:
        """A row with the user's options over it.

        Args:
            name: What the row is called.
            row: Its keys.
            options: Keys of the entry or of its sampling; ``extra_body`` is merged.

        Raises:
            UserError: If there is no such option, or a value can't be.
        """
        known = [*self._entry.model_fields, *Sampling.model_fields]
        for key in options:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
                hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
                raise UserError(f"the {self._noun} {name!r} takes no option {key!r}; {hint}")
        row = dict(row)
        sampling = dict(row.get("sampling", {}))
        for key, value in options.items():
            if key == "extra_body":
                sampling[key] = {**sampling.get(key, {}), **value}
            elif key in Sampling.model_fields:
                sampling[key] = value
            elif key == "sampling":
                sampling.update(value)
            else:
                row[key] = value
        entry = self.read_entry({**row, "sampling": sampling}, f"the {self._noun} {name!r}")
        if not re.match(r"https?://[^/]", entry.base_url):
            raise UserError(
                f"{entry.base_url!r} is no address: it must begin with http:// or https://"
            )
        return entry

    def _complaint(self, error: ValidationError) -> str:
        # Unknown keys first: a misspelt one is also missing under its right name.
        first = min(error.errors(), key=lambda wrong: wrong["type"] != "extra_forbidden")
        where = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            inside = Sampling if first["loc"][0] == "sampling" else self._entry
            key = str(first["loc"][-1])
            fields = list(inside.model_fields)
            near = difflib.get_close_matches(key, fields, n=1, cutoff=0.5)
            known = f"did you mean {near[0]}?" if near else f"known: {', '.join(fields)}"
            return f"unknown key {where!r}; {known}"
        if first["type"] == "missing":
            return f"the key {where!r} is missing"
        return f"{where}: {first['msg'].lower()} (got {first['input']!r})"

    def _user_rows(self, path: Path) -> dict[str, dict[str, Any]]:
        try:
            rows = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{path} can't be read: {error}") from None
        except yaml.YAMLError as error:
            raise UserError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None
        if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
            raise UserError(
                f"{path} must hold {self._noun} names, each with its keys (model, base_url, …)"
            )
        return {str(name): row for name, row in rows.items()}


def is_local(base_url: str) -> bool:
    """Whether an address is one of this machine."""
    return urlsplit(base_url).hostname in ("127.0.0.1", "localhost", "::1", "0.0.0.0")


def parse_spec(spec: str) -> dict[str, Any]:
    """The row that "openai:MODEL@URL" means.

    Without a URL it is $OPENAI_BASE_URL's or OpenAI's own.

    Raises:
        UserError: If it is malformed.
    """
    found = _SPEC.fullmatch(spec)
    if found is None:
        raise UserError(
            "write openai:MODEL@URL, for example openai:my-model@http://127.0.0.1:8000/v1"
        )
    model, url = found["model"], found["url"]
    _, _, tail = model.partition("@")
    # Else the key and the prompts would go to OpenAI, with the address in the model's name.
    if url is None and (tail == "localhost" or re.search("[.:/]", tail)):
        raise UserError(f"the address in {spec!r} must begin with http:// or https://")
    return {"model": model, "base_url": url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL}


@functools.cache
def _builtin_rows(package: str, file: str) -> dict[str, dict[str, Any]]:
    text = importlib.resources.files(package).joinpath(file).read_text("utf-8")
    rows: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return rows
