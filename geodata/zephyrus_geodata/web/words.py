"""What is said to servers, and about them: no word of a stranger or of a secret gets through."""

import re
from importlib import metadata
from urllib.parse import urlsplit

_QUOTE = 200  # characters of a stranger's words
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>]+", re.IGNORECASE)


def host(url: str) -> str:
    """Return the name of the server in an address; "" if there is none."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:  # such as half an IPv6 address
        return ""


def shown(url: str) -> str:
    """Return an address as it may be printed: without user, password, query and fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "the address"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def clean(text: str) -> str:
    """A stranger's words on one short line, harmless for a terminal, without secret addresses."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    line = _ADDRESS.sub(lambda found: shown(found[0]), line)
    return line if len(line) <= _QUOTE else line[:_QUOTE] + "…"


def decode(body: bytes) -> str:
    """Text of bytes; those that are no UTF-8 (old products have some) are read as Latin-1."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode("latin-1")


def version() -> str:
    """The installed version of Zephyrus."""
    try:
        return metadata.version("zephyrus")
    except metadata.PackageNotFoundError:  # run from a checkout
        return "unknown"


def user_agent(purpose: str, contact: str = "") -> str:
    """Who asks: the program, its version, what for and, if given, whom to write to."""
    reach = clean(contact).encode("ascii", "ignore").decode()  # it goes into a header
    return f"zephyrus/{version()} ({purpose}{f'; contact: {reach}' if reach else ''})"
