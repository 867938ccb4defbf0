"""Pages that are one file: a template, filled in once, and the hashes of what may run in it."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from math import isfinite
from typing import Any

from zephyrus.view.plain import plain


def part(name: str) -> str:
    """A template, style or script of this package."""
    return files("zephyrus.view").joinpath(name).read_text(encoding="utf-8")


def source_hash(content: str) -> str:
    """What a content security policy calls a style or script by, after ``sha256-``."""
    return b64encode(sha256(content.encode()).digest()).decode()


def fill(template: str, values: Mapping[str, str]) -> str:
    """Fill in every ``{{NAME}}`` of a template.

    In one pass: what is filled in is not searched again for further places.
    """
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], template)


def embedded(data: Any) -> str:
    """JSON that may stand inside a script element of any page: see `harmless` for its texts."""
    text = json.dumps(harmless(data), separators=(",", ":"))  # ASCII: no U+2028 either
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def harmless(value: Any) -> Any:
    """A JSON value without characters that could turn the direction of text or hide it.

    Numbers that JSON doesn't know (NaN, infinite) become None.
    """
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, dict):
        return {plain(key): harmless(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [harmless(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value
