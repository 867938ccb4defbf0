"""The article of a place's name: "the Sahara", but "Kenya"."""

import re

_PLURAL = re.compile(
    r"\b(?:Alps|Andes|Rockies|Mountains|Islands|Hills|Plains|Lakes|States|Emirates|Netherlands"
    r"|Philippines|Highlands|Maldives|Bahamas|Comoros|Seychelles|Pyrenees|Carpathians|Urals|Ghats|Appalachians)$"
)
_TITLED = re.compile(
    r"^(?:Gulf|Bay|Sea|Strait|Horn|Isle|Caribbean$|Republic|Democratic Republic|Peloponnese"
    r"|Central African Republic|Federated States|Upper Peninsula)\b"
    r"|\b(?:Ocean|Sea|Desert|Range|Peninsula|Plateau|Basin|Plain|Kingdom|Republic|Steppe|Shield"
    r"|Depression|Lowland|Gulf|Channel|Bight|Territory)$|^(?:North|South) Island$"
)
_ALWAYS_THE = frozenset({"desert", "ocean", "basin", "mountain_range", "plateau", "plain"})
_NEVER_THE = re.compile(r"^(?:The|Lake|Lago|Lac|Mount)\b")


def with_article(name: str, kind: str | None = None) -> str:
    """A feature's name as it stands in a sentence: "the Sahara", "Kenya"."""
    if _NEVER_THE.search(name):
        return name
    titled = kind in _ALWAYS_THE or _PLURAL.search(name) or _TITLED.search(name)
    return f"the {name}" if titled else name
