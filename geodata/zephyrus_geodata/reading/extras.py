"""Optional packages: one sentence when one is missing, and an order in which they can live."""

from importlib import import_module

from zephyrus_geodata.errors import UnsuitableData


def need(package: str, what: str) -> None:
    """Check that an optional package can be imported, and import it.

    Raises:
        UnsuitableData: how to install it.
    """
    settle()
    try:
        import_module(package)
    except (ImportError, RuntimeError) as error:  # eccodes: RuntimeError without its C library
        raise UnsuitableData(
            f"To read {what} install zephyrus[data] ({package}: {error})."
        ) from error


def settle() -> None:
    """Load pyproj before anything can load ecCodes.

    The wheels of ecCodes put a PROJ of their own before every other one of the process; pyproj,
    and with it cartopy and geopandas, crashes if it comes later (seen with eccodes 2.50 and
    pyproj 3.7). xarray loads ecCodes by itself where cfgrib is installed.
    """
    import_module("pyproj")
