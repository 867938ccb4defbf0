"""A `Toolbox` as an MCP server: listing, calls, images, errors, progress.

The SDK's low-level server is used, so that our JSON schemas reach the client as they are.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from functools import partial
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from zephyrus import __version__
from zephyrus.errors import trace
from zephyrus.integrations.mcp.progress import progress_of
from zephyrus.integrations.mcp.toolbox import Toolbox
from zephyrus.loops import is_cancelled
from zephyrus.messages import ToolResult
from zephyrus.view.plain import plain

ERROR_KEY = "zephyrus/error"
"""In a result's ``_meta``: the kind of the caller's mistake (`zephyrus.tools.ERROR_KINDS`)."""

_LOG = logging.getLogger(__name__)


def make_server(toolbox: Toolbox) -> Server[Any]:
    """An MCP server that offers the tools of a toolbox.

    What a caller does wrong is a result with ``isError`` and the sentence that an agent reads in a
    rollout. A tool that breaks is a JSON-RPC error (-32603): that is not for a model to mend.
    """
    return Server(
        "zephyrus",
        version=__version__,
        title="Zephyrus weather tools",
        instructions=toolbox.introduction(),
        on_list_tools=partial(_list, toolbox),
        on_call_tool=partial(_call, toolbox),
    )


async def _list(
    toolbox: Toolbox, context: ServerRequestContext[Any], params: object
) -> types.ListToolsResult:
    tools = [
        types.Tool(name=name, description=tool.description, input_schema=toolbox.schema(name))
        for name, tool in toolbox.tools.items()
    ]
    return types.ListToolsResult(tools=tools)


async def _call(
    toolbox: Toolbox, context: ServerRequestContext[Any], params: types.CallToolRequestParams
) -> types.CallToolResult:
    try:
        async with progress_of(params.name, context.session.report_progress):
            return _result(await toolbox.call(params.name, params.arguments or {}))
    except (Exception, asyncio.CancelledError, SystemExit) as error:
        # The boundary: a broken world must look neither like a bad call nor end the server.
        if isinstance(error, asyncio.CancelledError) and is_cancelled():
            raise
        _LOG.error("the tool %s broke: %s", params.name, plain(trace(error)))
        message = f"the tool {params.name} broke: {type(error).__name__}: {error}"
        raise MCPError(types.INTERNAL_ERROR, message) from error


def _result(result: ToolResult) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(text=result.text)]
    for image in result.images:
        data = base64.b64encode(image.png).decode()
        content.append(types.ImageContent(data=data, mime_type="image/png"))
    meta = {ERROR_KEY: result.error} if result.error else None
    return types.CallToolResult(content=content, is_error=bool(result.error), _meta=meta)
