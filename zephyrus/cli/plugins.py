"""``--tools FILE|MODULE``: registers a user's own tools."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

from zephyrus import registry
from zephyrus.errors import UserError
from zephyrus.tools import Tool


def load_tools(where: str) -> list[Tool]:
    """Import a file or module and return the tools that it defines, in order.

    Args:
        where: A path ending in ``.py``, or a dotted module name.

    Raises:
        UserError: If there is no such file or module, it fails to import, or defines no tool.
    """
    path = Path(where)
    try:
        if path.suffix == ".py":
            if not path.is_file():
                raise UserError(f"--tools: there is no file {where}")
            name = f"zephyrus_user_{path.stem}"
            spec = importlib.util.spec_from_file_location(name, path)
            if spec is None or spec.loader is None:
                raise UserError(f"--tools: {where} is not a Python file")
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            spec.loader.exec_module(module)
        else:
            sys.path.insert(0, str(Path.cwd()))
            module = importlib.import_module(where)
    except ImportError as error:
        raise UserError(f"--tools: {where} can't be imported ({error})") from error
    tools = [thing for thing in vars(module).values() if isinstance(thing, Tool)]
    if not tools:
        raise UserError(
            f"--tools: {where} defines no tool; decorate a function with @zephyrus.tool"
        )
    for tool in tools:
        registry.register("tools", tool.name, tool)
    return tools
