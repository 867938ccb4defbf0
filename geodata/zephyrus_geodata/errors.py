"""What can be wrong with a request for data: each error is one readable sentence."""


class GeodataError(Exception):
    """Base of the errors a caller can mend; ``str(error)`` is a sentence for people."""

    def __str__(self) -> str:
        # KeyError would show the repr of its message, in quotes.
        return str(self.args[0]) if self.args else ""


class UnknownDataset(GeodataError, LookupError):
    """No dataset has this name, or the folder holds no forecast."""


class UnknownForecast(GeodataError, LookupError):
    """The dataset has no forecast of this name."""


class UnknownVariable(GeodataError, KeyError):
    """No variable has this name, or the forecast does not carry it."""


class UnknownMember(GeodataError, LookupError):
    """The forecast has no member of this name or index, or none at all."""


class OutsideGrid(GeodataError, LookupError):
    """A point or feature lies outside the area that the grid covers."""


class UnsuitableData(GeodataError, ValueError):
    """A file or xarray Dataset is not laid out as a forecast or a climatology."""


class StoreError(GeodataError):
    """The store can't do what was asked: a bad or taken name, a selection of nothing."""


class StoreFailure(StoreError):
    """The store could not do what it was rightly asked: a full disk, another process's lock."""


class ReportError(GeodataError, ValueError):
    """A report was refused: it is no product, a stub, or can't be dated; the message says why."""
