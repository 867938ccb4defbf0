"""The signatures of the public API are what tests/signatures.txt says.

A changed line there is a changed promise to users. After a change that is meant, and is told in
CHANGELOG.md:

    python tests/test_signatures.py
"""

import dataclasses
import difflib
import enum
import importlib
import inspect
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PINNED = Path(__file__).with_name("signatures.txt")
PACKAGES = ("zephyrus_bench", "zephyrus_report", "zephyrus_geodata")
APART = ("zephyrus.integrations.verifiers.judges",)  # needs verifiers, which CI has elsewhere
IMPORT = re.compile(r"^from (zephyrus[\w.]*) import ([\w, ]+)$", re.M)
REFERENCE = re.compile(r"^::: (zephyrus[\w.]*)$", re.M)


def public_names():
    """Every public name with its place, sorted: what is exported, referenced, or imported in docs."""
    import zephyrus

    names = {f"zephyrus.{name}" for name in zephyrus._EXPORTS}
    for package in PACKAGES:
        module = importlib.import_module(package)
        home = vars(module).get("_HOME", {})
        mine = (name for name in module.__all__ if home.get(name) != "taskset")
        names |= {f"{package}.{name}" for name in mine}
    return sorted(names | documented())


def documented():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.py")]
    names = set()
    for page in pages:
        text = page.read_text(encoding="utf-8")
        names.update(REFERENCE.findall(text))
        for match in IMPORT.finditer(text):
            if match[1] not in APART:
                names.update(f"{match[1]}.{name.strip()}" for name in match[2].split(","))
    return {name for name in names if not inspect.ismodule(find(name))}


def find(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute) if module else sys.modules[name]


def described(name, thing):
    """A line for a function; for a class one for making it and one for each public member."""
    if inspect.isclass(thing):
        bases = ", ".join(base.__name__ for base in thing.__bases__ if base is not object)
        lines = [f"class {name}({bases})"]
        if issubclass(thing, enum.Enum):
            return lines + [f"  {member.name} = {member.value!r}" for member in thing]
        if not issubclass(thing, Exception):
            lines.append(f"  {name}{signature(thing)}")
        own = [kind for kind in thing.__mro__ if kind.__module__.startswith("zephyrus")]
        fields = {field.name for field in dataclasses.fields(thing)} if is_data(thing) else set()
        members = {key: value for kind in reversed(own) for key, value in vars(kind).items()}
        for member, value in sorted(members.items()):
            if (member.startswith("_") and member not in ("__await__",)) or member in fields:
                continue
            if isinstance(value, property) or hasattr(value, "func"):
                getter = value.fget if isinstance(value, property) else value.func
                lines.append(f"  .{member} -> {returned(getter)}")
            elif isinstance(value, classmethod | staticmethod):
                kind = type(value).__name__
                lines.append(f"  .{member}{signature(value.__func__)} [{kind}]")
            elif inspect.isfunction(value):
                lines.append(f"  .{member}{signature(value)}")
        return lines
    if callable(thing) and not isinstance(thing, type):
        return [f"{name}{signature(thing)}"]
    return [f"{name}: {type(thing).__name__}"]


def is_data(thing):
    return dataclasses.is_dataclass(thing)


def signature(thing):
    found = inspect.signature(thing)
    parts, star = [], False
    for parameter in found.parameters.values():
        text = parameter.name
        if parameter.kind is parameter.VAR_POSITIONAL:
            text, star = f"*{text}", True
        elif parameter.kind is parameter.VAR_KEYWORD:
            text = f"**{text}"
        elif parameter.kind is parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        if parameter.annotation is not parameter.empty:
            text += f": {annotation(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            shown = repr(parameter.default)
            text += " = " + ("…" if " at 0x" in shown else shown)
        parts.append(text)
        if parameter.kind is parameter.POSITIONAL_ONLY:
            parts.append("/")
    written = f"({', '.join(parts)})"
    prefix = "async " if inspect.iscoroutinefunction(thing) else ""
    if found.return_annotation is not found.empty and not inspect.isclass(thing):
        written += f" -> {prefix}{annotation(found.return_annotation)}"
    return written


def returned(getter):
    return annotation(inspect.signature(getter).return_annotation)


def annotation(found):
    return found if isinstance(found, str) else inspect.formatannotation(found)


def described_all():
    lines = [line for name in public_names() for line in described(name, find(name))]
    return "\n".join(lines) + "\n"


def test_the_signatures_are_pinned():
    before, now = PINNED.read_text(encoding="utf-8"), described_all()
    changes = "\n".join(
        difflib.unified_diff(before.splitlines(), now.splitlines(), "pinned", "now", "", "", 0)
    )
    assert before == now, (
        f"The public API has changed:\n{changes}\n\nIf it should: say so in CHANGELOG.md, then\n"
        "    python tests/test_signatures.py"
    )


def test_a_changed_default_name_order_or_type_would_be_seen():
    def before(a: int, *, b: "str" = "x", **rest: float) -> bool: ...
    def default(a: int, *, b: "str" = "y", **rest: float) -> bool: ...
    def positional(a: int, b: "str" = "x", **rest: float) -> bool: ...
    def another_type(a: float, *, b: "str" = "x", **rest: float) -> bool: ...
    async def waits(a: int, *, b: "str" = "x", **rest: float) -> bool: ...

    assert signature(before) == "(a: int, *, b: str = 'x', **rest: float) -> bool"
    assert signature(waits).endswith("-> async bool")
    every = (before, default, positional, another_type, waits)
    assert len({signature(one) for one in every}) == len(every)


def test_what_the_docs_name_is_pinned():
    assert {
        "zephyrus.messages.Reply",
        "zephyrus_tools.drawing.draw",
        "zephyrus.judge.base.Judge",
    } <= documented()


def test_what_is_public_is_there_and_described():
    import zephyrus

    for name in zephyrus._EXPORTS:
        assert name in dir(zephyrus)
        assert inspect.getdoc(getattr(zephyrus, name)), name


if __name__ == "__main__":
    PINNED.write_text(described_all(), encoding="utf-8")
    print(f"wrote {PINNED}")
