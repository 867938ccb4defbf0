"""The tools for any client of the Model Context Protocol: `zephyrus tools serve`.

`toolbox` holds the tools and their world, `server` says them in MCP, `over_stdio` and `over_http`
are the two ways to reach them. The extra ``mcp`` brings the official SDK.
"""

from __future__ import annotations

import importlib.metadata

from zephyrus.errors import UserError

_OLDEST = 2


def check_extra() -> None:
    """Make sure that the SDK is there.

    Raises:
        UserError: If it is not installed, or too old.
    """
    how = 'install the extra, pip install ".[mcp]" in a clone'
    try:
        version = importlib.metadata.version("mcp")
    except importlib.metadata.PackageNotFoundError:
        raise UserError(f"the MCP SDK is not installed: {how}") from None
    if int(version.partition(".")[0]) < _OLDEST:
        raise UserError(f"the MCP SDK {version} is too old, {_OLDEST} or later is needed: {how}")
