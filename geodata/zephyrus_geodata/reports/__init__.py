"""Reports of the National Weather Service: parsing, and archives of them.

Everything public is reachable from here and imported on first use::

    from zephyrus_geodata.reports import parse_product, discussion_text

    product = parse_product(text)            # AFD, PMDSPD, SWODY1, HWO, …
    product.issued, product.office           # UTC, "KBOX"
    discussion_text(product)                 # what is scored
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zephyrus_geodata.errors import ReportError
    from zephyrus_geodata.reports.parse import Parsed, parse_product, parse_products, read_products
    from zephyrus_geodata.reports.product import Paragraph, Product, Refusal, Section
    from zephyrus_geodata.reports.scored import SCORED, discussion_text

__all__ = [
    "SCORED",
    "Paragraph",
    "Parsed",
    "Product",
    "Refusal",
    "ReportError",
    "Section",
    "discussion_text",
    "parse_product",
    "parse_products",
    "read_products",
]

_HOME = {
    "SCORED": "scored",
    "Paragraph": "product",
    "Parsed": "parse",
    "Product": "product",
    "Refusal": "product",
    "ReportError": "product",
    "Section": "product",
    "discussion_text": "scored",
    "parse_product": "parse",
    "parse_products": "parse",
    "read_products": "parse",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use (PEP 562)."""
    try:
        module = import_module(f"{__name__}.{_HOME[name]}")
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
