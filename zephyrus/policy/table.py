"""The policy table: names for models, with how to serve them and how to sample from them."""

from __future__ import annotations

import difflib
import functools
import importlib.resources
import os
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import platformdirs
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from zephyrus.errors import UserError

DEFAULT_BASE_URL = "http://127.0.0.1:8000/v1"
TABLE_VARIABLE = "ZEPHYRUS_POLICIES"


class Sampling(BaseModel):
    """How to sample. None leaves the choice to the server.

    Attributes:
        temperature: Softmax temperature; 0 is greedy.
        top_p: Nucleus sampling.
        max_tokens: Tokens of one turn, reasoning included.
        seeded: Send a ``seed`` made from the run's seed, the task, the repeat and the turn.
        extra_body: Further keys of the request, for instance ``top_k`` or
            ``chat_template_kwargs``; they win over the ones above.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=2048, ge=1)
    seeded: bool = True
    extra_body: dict[str, Any] = {}


class PolicyEntry(BaseModel):
    """One row of the table.

    Attributes:
        model: The model's id at the server (and on the hub, for `zephyrus policy serve`).
        base_url: The OpenAI-compatible endpoint, up to and including ``/v1``.
        api_key_env: The environment variable that holds the API key. By default
            OPENAI_API_KEY if it is set; local servers need none.
        sampling: See `Sampling`.
        tool_prompt: "native" sends ``tools``; "text" describes them in the system prompt and
            reads the calls out of the text, for models without a tool template.
        vision: Whether the model sees pictures; if not it gets their description.
        send_reasoning: Whether earlier turns' reasoning is sent back (chat templates that don't
            want it drop it).
        retries: How often a request is repeated after 429, 5xx, a timeout or a lost connection.
        timeout: Seconds that one request may take.
        tool_call_parser: vLLM's ``--tool-call-parser``.
        reasoning_parser: vLLM's ``--reasoning-parser``.
        vllm_flags: Further flags of vLLM.
        notes: For people.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    base_url: str = DEFAULT_BASE_URL
    api_key_env: str | None = None
    sampling: Sampling = Sampling()
    tool_prompt: Literal["native", "text"] = "native"
    vision: bool = False
    send_reasoning: bool = True
    retries: int = Field(default=5, ge=0)
    timeout: float = Field(default=600.0, gt=0)
    tool_call_parser: str | None = None
    reasoning_parser: str | None = None
    vllm_flags: list[str] = []
    notes: str = ""


def user_table_path() -> Path:
    """Where the user's own table is looked for."""
    named = os.environ.get(TABLE_VARIABLE)
    return Path(named) if named else platformdirs.user_config_path("zephyrus") / "policies.yaml"


def is_local(base_url: str) -> bool:
    """Whether an address is one of this machine."""
    return urlsplit(base_url).hostname in ("127.0.0.1", "localhost", "::1", "0.0.0.0")


def policy_table() -> dict[str, PolicyEntry]:
    """Every named policy, the user's over the built-in ones.

    Raises:
        UserError: If the user's table is malformed, or $ZEPHYRUS_POLICIES names no file.
    """
    rows = {name: dict(row) for name, row in _builtin_rows().items()}
    path = user_table_path()
    if path.is_file():
        for name, row in _user_rows(path).items():
            rows[name] = {**rows.get(name, {}), **row}
    elif TABLE_VARIABLE in os.environ:
        raise UserError(f"${TABLE_VARIABLE} names {path}, which is no file")
    return {name: read_entry(row, f"the policy {name!r}") for name, row in rows.items()}


def read_entry(row: dict[str, Any], where: str) -> PolicyEntry:
    """Check one row.

    Args:
        row: The keys of `PolicyEntry`.
        where: What to call it in an error.

    Raises:
        UserError: Naming the first wrong key, with the nearest right one.
    """
    try:
        return PolicyEntry.model_validate(row)
    except ValidationError as error:
        raise UserError(f"{where}: {_complaint(error)}") from None


def _complaint(error: ValidationError) -> str:
    # Unknown keys first: a misspelt one is also missing under its right name.
    first = min(error.errors(), key=lambda wrong: wrong["type"] != "extra_forbidden")
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        inside = Sampling if first["loc"][0] == "sampling" else PolicyEntry
        key = str(first["loc"][-1])
        near = difflib.get_close_matches(key, inside.model_fields, n=1, cutoff=0.5)
        known = f"did you mean {near[0]}?" if near else f"known: {', '.join(inside.model_fields)}"
        return f"unknown key {where!r}; {known}"
    if first["type"] == "missing":
        return f"the key {where!r} is missing"
    return f"{where}: {first['msg'].lower()} (got {first['input']!r})"


@functools.cache
def _builtin_rows() -> dict[str, dict[str, Any]]:
    text = importlib.resources.files("zephyrus.policy").joinpath("policies.yaml").read_text("utf-8")
    rows: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return rows


def _user_rows(path: Path) -> dict[str, dict[str, Any]]:
    try:
        rows = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} can't be read: {error}") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
        raise UserError(f"{path} must hold policy names, each with its keys (model, base_url, …)")
    return {str(name): row for name, row in rows.items()}
