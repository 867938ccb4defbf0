"""The columns as Arrow types.

Values of any shape (messages, tool schemas, gold answers) are JSON in text: a struct would give every
value the keys of all others, a call the arguments of all tools and a question ``tool_calls``. They
are marked as Arrow's own JSON type, so that Hugging Face ``datasets`` (4.7 and later) hands them
out as what they are; other readers see the text.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = "0.1.0"
"""Release since which the columns are what they are; in the Parquet file's metadata."""

_MARK = b"ARROW:extension:name"
_JSON = {_MARK: b"arrow.json", b"ARROW:extension:metadata": b""}
"""How Arrow writes `pyarrow.json_` into a file; releases before 19 lack it, and write this too."""


def schema(kind: str) -> pa.Schema:
    """The columns.

    Args:
        kind: "rollouts" or "tasks".
    """
    import pyarrow as pa

    def anything(name: str) -> pa.Field:
        return pa.field(name, pa.string(), metadata=_JSON)

    def conversation(name: str) -> pa.Field:
        return pa.field(name, pa.list_(anything("item")))

    texts = ("task", "split", "template", "answer_type")
    if kind == "tasks":
        fields = [
            conversation("prompt"),
            anything("tools"),
            *(pa.field(name, pa.string()) for name in texts),
            anything("gold"),
            pa.field("required_tools", pa.list_(pa.string())),
            anything("world"),
            anything("provenance"),
            pa.field("environment", pa.string()),
        ]
    else:
        counts = ("turns", "calls", "failed_calls", "prompt_tokens", "completion_tokens")
        fields = [
            conversation("messages"),
            anything("tools"),
            pa.field("reward", pa.float64()),
            anything("rewards"),
            pa.field("task", pa.string()),
            pa.field("seed", pa.int64()),
            pa.field("repeat", pa.int64()),
            *(pa.field(name, pa.string()) for name in texts[1:]),
            anything("gold"),
            pa.field("answer", pa.string()),
            pa.field("stop", pa.string()),
            *(pa.field(name, pa.int64()) for name in counts),
            pa.field("policy", pa.string()),
            pa.field("run", pa.string()),
        ]
    return pa.schema(fields, metadata={"zephyrus": json.dumps({"kind": kind, "format": VERSION})})


def to_arrow(field: pa.Field, value: Any) -> Any:
    """A row's value with text where the column holds values of any shape."""
    import pyarrow.types as types

    if value is None:
        return None
    if is_json(field):
        return json.dumps(value, ensure_ascii=False)
    if types.is_list(field.type):
        return [to_arrow(field.type.value_field, item) for item in value]
    return value


def is_json(field: pa.Field) -> bool:
    """Whether a column holds values of any shape."""
    return bool(field.metadata) and field.metadata.get(_MARK) == b"arrow.json"
