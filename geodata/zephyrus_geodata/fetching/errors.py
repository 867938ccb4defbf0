"""What can be wrong with a request; what goes wrong on the way is in ``web.errors``."""

from zephyrus_geodata.errors import GeodataError


class FetchError(GeodataError, ValueError):
    """The request has to be changed; the message says how."""
