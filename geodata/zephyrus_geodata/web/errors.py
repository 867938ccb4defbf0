"""What can go wrong with a server."""

from zephyrus_geodata.errors import GeodataError


class FetchFailed(GeodataError):
    """The network, the server or its files failed; what came is kept."""


class TooLarge(FetchFailed):
    """An answer is larger than whoever asked can use."""


class Refused(FetchFailed):
    """The server refuses the request, and would again.

    Attributes:
        url: the address, without user name, password and query.
        status: what it answered.
    """

    def __init__(self, message: str, url: str, status: int) -> None:
        super().__init__(message)
        self.url = url
        self.status = status


class NotThere(Refused):
    """The server has nothing at an address: 404, 410; 401 or 403 where it doesn't tell which."""
