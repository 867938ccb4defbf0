"""MCP over streamable HTTP, for clients that reach a server which runs already."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import os
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware.authentication import AuthenticationMiddleware

from zephyrus.errors import UserError

PATH = "/mcp"
TOKEN_VARIABLE = "ZEPHYRUS_MCP_TOKEN"
"""The environment variable that holds the token: a command line can be read by every user."""

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_SHORTEST = 16
_GRACE = 3
"""Seconds that open connections have to finish once the server was asked to stop."""


def serve_http(
    server: Server[Any],
    host: str,
    port: int,
    token: str | None,
    names: Sequence[str],
    tell: Callable[[str], None],
) -> None:
    """Serve any number of clients until SIGINT or SIGTERM.

    Args:
        server: The server.
        host: Address or name to listen on.
        port: 0 takes a free one.
        token: The bearer token that every request must carry; None asks for none.
        names: Further host names under which clients reach the server.
        tell: Is given the server's address once it listens.

    Raises:
        UserError: If there is no such host, the port is in use, or other machines could reach the
            server without a token.
    """
    with _listening(host, port, token) as listener:
        address, bound = listener.getsockname()[:2]
        application = make_app(server, token, _security(host, address, names))
        shown = host if not _is_wildcard(address) else "127.0.0.1"
        tell(f"http://{f'[{shown}]' if ':' in shown else shown}:{bound}{PATH}")
        config = uvicorn.Config(
            application,
            log_config=None,
            log_level="warning",
            access_log=False,
            ws="none",
            timeout_graceful_shutdown=_GRACE,
        )
        with _signals_are_no_errors():
            asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))


def make_app(
    server: Server[Any], token: str | None, security: TransportSecuritySettings
) -> Starlette:
    """The ASGI application: the server at `PATH`, behind the token and the check of host names."""
    if token is None:
        return server.streamable_http_app(streamable_http_path=PATH, transport_security=security)
    verifier = _Token(token)
    application = server.streamable_http_app(
        streamable_http_path=PATH, transport_security=security, token_verifier=verifier
    )
    application.add_middleware(AuthenticationMiddleware, backend=BearerAuthBackend(verifier))
    return application


class _Token:
    """Lets in who knows the one token (the SDK's TokenVerifier)."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()

    async def verify_token(self, token: str) -> AccessToken | None:
        """Compare in a time that tells nothing of how much is right."""
        if not hmac.compare_digest(token.encode("utf-8", "surrogatepass"), self._token):
            return None
        return AccessToken(token=token, client_id="zephyrus", scopes=[])


@contextmanager
def _listening(host: str, port: int, token: str | None) -> Iterator[socket.socket]:
    """A socket that listens."""
    try:
        found = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE if host else 0
        )
    except (socket.gaierror, UnicodeError) as error:
        raise UserError(f"--host: {host!r} is no address of this machine ({error})") from None
    family, kind, protocol, _, address = found[0]
    _check_token(token, host, str(address[0]))
    with socket.socket(family, kind, protocol) as listener:
        if socket.has_ipv6 and family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        if os.name == "posix":  # elsewhere it would share a port that is in use
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen(128)
        except OSError as error:
            raise UserError(
                f"can't listen on port {port} of {host} ({error.strerror}); "
                "give another with --port (0 takes a free one), or another --host"
            ) from None
        yield listener


def _check_token(token: str | None, host: str, address: str) -> None:
    if token is None:
        if not ipaddress.ip_address(address.partition("%")[0]).is_loopback:
            raise UserError(
                f"other machines can reach {host}: put a secret token into the environment "
                f"variable {TOKEN_VARIABLE}, for example that of: python -c "
                "'import secrets; print(secrets.token_urlsafe(32))'"
            )
    elif len(token) < _SHORTEST or not (token.isascii() and token.isprintable()) or " " in token:
        raise UserError(
            f"the token in {TOKEN_VARIABLE} must have at least {_SHORTEST} characters, "
            "letters, digits and punctuation"
        )


def _is_wildcard(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_unspecified


def _security(host: str, address: str, names: Sequence[str]) -> TransportSecuritySettings:
    """Which host names a request may be for: a web page elsewhere can't forge these.

    Without this check, a page could have its own name resolve to this machine's address (DNS
    rebinding) and speak to the server through the browser of whoever looks at it.
    """
    allowed = [*_LOOPBACK, *names]
    if not _is_wildcard(address):
        allowed += [f"[{part}]" if ":" in part else part for part in (host, address)]
    if not ipaddress.ip_address(address.partition("%")[0]).is_loopback:
        allowed.append(socket.gethostname())
    allowed = list(dict.fromkeys(allowed))
    origins = [f"{scheme}://{name}" for name in allowed for scheme in ("http", "https")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[*allowed, *(f"{name}:*" for name in allowed)],
        allowed_origins=[*origins, *(f"{origin}:*" for origin in origins)],
    )


@contextmanager
def _signals_are_no_errors() -> Iterator[None]:
    """Let the process end with 0 after a signal: uvicorn stops, then raises it once more."""
    before = {
        number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
