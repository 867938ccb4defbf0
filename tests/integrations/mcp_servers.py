"""A real `zephyrus tools serve` over HTTP in a process of its own, and clients for it."""

import json
import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

TOOLS = Path(__file__).with_name("mcp_tools.py")
SERVE = [sys.executable, "-m", "zephyrus", "tools", "serve"]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


class Server:
    """One that runs.

    Attributes:
        process: It.
        url: Where it is reached.
        lines: What it has written to standard error.
    """

    def __init__(self, process: subprocess.Popen) -> None:
        self.process = process
        self.url = ""
        self.lines: list[str] = []
        for line in process.stderr:
            self.lines.append(line)
            if found := re.search(r"http://\S+", line):
                self.url = found[0]
                break
        threading.Thread(target=lambda: self.lines.extend(process.stderr), daemon=True).start()
        assert self.url, "".join(self.lines)

    @property
    def port(self) -> int:
        return int(re.search(r":(\d+)/", self.url)[1])


@contextmanager
def http_server(*arguments: str, token: str | None = None):
    """Run one on a free port until the end of the block."""
    environment = {k: v for k, v in os.environ.items() if k != "ZEPHYRUS_MCP_TOKEN"}
    if token is not None:
        environment["ZEPHYRUS_MCP_TOKEN"] = token
    process = subprocess.Popen(
        [*SERVE, "--http", "--port", "0", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        yield Server(process)
    finally:
        process.kill()
        process.wait()


def post(url: str, **headers: str) -> int:
    """Begin a session by hand and say what HTTP status that gets."""
    given = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    try:
        with urlopen(Request(url, json.dumps(INITIALIZE).encode(), given), timeout=60) as answer:
            return answer.status
    except HTTPError as error:
        return error.code
