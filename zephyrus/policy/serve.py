"""`zephyrus policy serve NAME`: start vLLM with the flags of the policy table."""

from __future__ import annotations

import difflib
import importlib.util
import os
import shlex
import sys
from collections.abc import Sequence
from typing import NoReturn
from urllib.parse import urlsplit

from zephyrus.errors import UserError
from zephyrus.modeltable import is_local
from zephyrus.policy import policy_names
from zephyrus.policy.table import policy_table

SERVER_MODULE = "vllm.entrypoints.openai.api_server"
"""The module form: it also works with the CPU build, whose ``vllm`` script does not."""


def serve(name: str, extra_args: Sequence[str] = (), dry_run: bool = False) -> int:
    """Serve a named policy's model: this process becomes vLLM, so signals reach it directly.

    Args:
        name: A name of the policy table.
        extra_args: Further flags for vLLM; they come last, so they win.
        dry_run: Only print the command.

    Returns:
        0 after a dry run; otherwise never.

    Raises:
        UserError: If there is no such policy, it is not served locally, or vLLM is missing.
    """
    command = serve_command(name, extra_args)
    if dry_run:
        print(shlex.join(["python", *command[1:]]))
        return 0
    if importlib.util.find_spec("vllm") is None:
        raise UserError(
            'vLLM is not installed: install the extra, pip install ".[serve]" in a clone '
            "(Linux x86-64 with a GPU), or "
            "start any OpenAI-compatible server yourself and pass --base-url"
        )
    return _become(command)


def serve_command(name: str, extra_args: Sequence[str] = ()) -> list[str]:
    """The command that serves a named policy, this Python first.

    Raises:
        UserError: If there is no such policy, it needs no server, or its address is not of this
            machine.
    """
    table = policy_table()
    if (name in table and table[name].local) or (name not in table and name in policy_names()):
        raise UserError(
            f"the policy {name!r} needs no server: zephyrus env rollout --policy {name}"
        )
    if name not in table:
        near = difflib.get_close_matches(name, table, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(table)}"
        raise UserError(f"the policy table has no {name!r}; {hint}")
    entry = table[name]
    address = urlsplit(entry.base_url)
    if not is_local(entry.base_url):
        raise UserError(f"{name} is served at {entry.base_url}, which is not this machine")
    command = [sys.executable, "-m", SERVER_MODULE, "--model", entry.model]
    command += ["--served-model-name", entry.model]
    command += ["--host", str(address.hostname), "--port", str(address.port or 8000)]
    if entry.tool_call_parser:
        command += ["--enable-auto-tool-choice", "--tool-call-parser", entry.tool_call_parser]
    if entry.reasoning_parser:
        command += ["--reasoning-parser", entry.reasoning_parser]
    return [*command, *entry.vllm_flags, *extra_args]


def _become(command: Sequence[str]) -> NoReturn:
    sys.stdout.flush()
    os.execv(command[0], list(command))
