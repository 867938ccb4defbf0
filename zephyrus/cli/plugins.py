"""What comes in from outside by the command line: ``--tools FILE|MODULE`` and ``-o KEY=VALUE``."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import sys
import traceback
import typing
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from zephyrus import registry
from zephyrus.errors import UserError
from zephyrus.tools import Tool

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv

_PLAIN = (bool, int, float, str)
_OWN = {"split", "dataset", "bank", "tools", "limits", "compact", "render_mode"}
"""Options that the command line has under names of their own, or has no use for."""


def load_tools(where: str) -> list[Tool]:
    """Import a file or module, register the tools that it defines and return them in order.

    Args:
        where: A path ending in ``.py``, or a dotted module name.

    Raises:
        UserError: If there is no such file or module, it fails to import, or defines no tool.
    """
    builtin = set(registry.entry_points("tools"))
    module = _import(where)
    tools = [thing for thing in vars(module).values() if isinstance(thing, Tool)]
    if not tools:
        raise UserError(
            f"--tools: {where} defines no tool; decorate a function with @zephyrus.tool"
        )
    for tool in tools:
        if tool.name in builtin:
            click.echo(f"note: {where} replaces the tool {tool.name!r}", err=True)
        registry.register("tools", tool.name, tool)
    return tools


def load_all_tools(places: Iterable[str]) -> list[Tool]:
    """`load_tools` for each of several files or modules."""
    return [tool for where in places for tool in load_tools(where)]


def make_env(env_name: str, pairs: Iterable[str], **options: Any) -> ToolEnv:
    """The environment with the options that were given (None means not given) and ``-o`` pairs."""
    given = {key: value for key, value in options.items() if value is not None}
    factory = registry.get("envs", registry.env_name(env_name))
    return registry.make(env_name, **given | read_options(factory, pairs))


def read_options(factory: Callable[..., Any], pairs: Iterable[str]) -> dict[str, Any]:
    """Read ``KEY=VALUE`` pairs (YAML values), checked against the signature of what takes them.

    Raises:
        UserError: If a pair is malformed or a value has the wrong type.
    """
    from pydantic import TypeAdapter, ValidationError

    target = factory.__init__ if inspect.isclass(factory) else factory
    try:
        hints = typing.get_type_hints(target)
    except NameError:  # some of its types are imported for type checkers only
        hints = {}
    options = read_pairs("-o", pairs)
    for key, value in options.items():
        hint = hints.get(key)
        if hint in _PLAIN:
            try:
                options[key] = TypeAdapter(hint).validate_python(value, strict=hint is not float)
            except ValidationError:
                raise UserError(f"-o {key} takes a {hint.__name__}, not {str(value)!r}") from None
    return options


def read_pairs(flag: str, pairs: Iterable[str]) -> dict[str, Any]:
    """Read ``KEY=VALUE`` pairs, whose values are YAML.

    Args:
        flag: How they are given, for the error.
        pairs: The pairs; of one key the last counts.

    Raises:
        UserError: If a pair is malformed.
    """
    import yaml

    options = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not (key and equals):
            raise UserError(f"{flag} takes KEY=VALUE, not {pair!r}")
        try:
            options[key] = yaml.safe_load(text)
        except yaml.YAMLError:
            options[key] = text
    return options


def known_options(factory: Callable[..., Any]) -> dict[str, tuple[str, str]]:
    """What ``-o`` can set of an environment or a builder, in the order of its signature.

    Returns:
        By name, the default as it is written on the command line and what its docstring says.
    """
    import docstring_parser

    target = factory.__init__ if inspect.isclass(factory) else factory
    about = {
        param.arg_name: " ".join((param.description or "").split())
        for param in docstring_parser.parse(inspect.getdoc(target) or "").params
    }
    return {
        name: (_written(parameter.default), about.get(name, ""))
        for name, parameter in inspect.signature(target).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name not in _OWN
    }


def print_options(title: str, factory: Callable[..., Any]) -> None:
    """Print `known_options` below a title, if there are any."""
    if not (options := known_options(factory)):
        return
    click.echo(f"\n{title}:")
    formatter = click.HelpFormatter(max_width=100)
    rows = [(f"{name}={default}", about) for name, (default, about) in options.items()]
    formatter.write_dl(rows, col_max=32)
    click.echo(formatter.getvalue(), nl=False)


def _written(default: Any) -> str:
    plain = default is None or isinstance(default, _PLAIN)
    return json.dumps(default).strip('"') if plain else str(default)


class _NowhereError(UserError):
    """There is nothing to import."""


def _import(where: str) -> ModuleType:
    path = Path(where)
    try:
        if path.suffix != ".py":
            folder = f"--tools: {where} is a folder; give a .py file or a module"
            if path.is_dir() and not where.isidentifier():
                raise _NowhereError(folder)
            sys.path.insert(0, str(Path.cwd()))
            module = importlib.import_module(where)
            if path.is_dir() and getattr(module, "__file__", None) is None:
                raise _NowhereError(folder)  # any folder can be imported, and holds nothing then
            return module
        if not path.is_file():
            raise _NowhereError(f"--tools: there is no file {where}")
        name = f"zephyrus_user_{path.stem}"
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise UserError("this is not a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module
    except _NowhereError:
        raise
    except UserError as error:
        raise UserError(f"--tools: {where}: {error}") from error
    except Exception as error:  # the user's own code may fail in any way
        line = ""
        if isinstance(error, SyntaxError):
            line = f", line {error.lineno}"
        elif frames := [
            f
            for f in traceback.extract_tb(error.__traceback__)
            if Path(f.filename).resolve() == path.resolve()
        ]:
            line = f", line {frames[-1].lineno}"
        raise UserError(
            f"--tools: {where}{line} can't be imported: {type(error).__name__}: {error}"
        ) from error
