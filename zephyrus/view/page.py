"""Pages that are one file: a template, filled in once, and the hashes of what may run in it."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files


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
