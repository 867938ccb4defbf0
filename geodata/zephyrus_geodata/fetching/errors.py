"""What can go wrong on the way to a source, by whose turn it is to mend it."""

from zephyrus_geodata.errors import GeodataError


class FetchError(GeodataError, ValueError):
    """The request has to be changed; the message says how."""


class FetchFailed(GeodataError):
    """The network, the server or its files failed; the same command goes on where it stopped."""


class NotThere(FetchFailed):
    """The server has nothing at an address.

    Attributes:
        url: the address.
        status: what it answered: 404, 410, or 403 where a bucket doesn't tell which.
    """

    def __init__(self, message: str, url: str, status: int) -> None:
        super().__init__(message)
        self.url = url
        self.status = status
