"""The names of places as a tree of words: features, their aliases, and hand-drawn zones."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

import yaml

from zephyrus_report.rules.text import lower

ZONES_FILE = Path(__file__).with_name("zones.yaml")

_ORDER = [
    "ocean",
    "continent",
    "subregion",
    "country",
    "us_state",
    "sea",
    "mountain_range",
    "plateau",
    "plain",
    "desert",
    "basin",
    "peninsula",
    "island",
    "lake",
    "city",
    "nws_cwa",
]
# Names that are everyday words, most of them cities; written in capitals only they can't be told.
_EVERYDAY = frozenset(
    [
        "mobile",
        "reading",
        "nice",
        "split",
        "bath",
        "man",
        "male",
        "sale",
        "most",
        "van",
        "of",
        "orange",
        "bear",
        "wake",
        "tours",
        "central",
        "normal",
        "march",
        "may",
        "surprise",
        "fall",
        "spring",
        "bay",
        "island",
        "islands",
        "gulf",
        "sound",
        "range",
        "plain",
        "plains",
        "north",
        "south",
        "east",
        "west",
        "northern",
        "southern",
        "eastern",
        "western",
        "lima",
        "hail",
        "hull",
        "same",
        "sun",
        "gale",
        "wind",
        "snow",
        "storm",
        "rain",
        "cold",
        "warm",
        "enterprise",
        "independence",
        "valley",
        "delta",
        "plateau",
        "coast",
        "border",
        "mission",
        "eagle",
        "aurora",
        "bend",
        "liberal",
        "union",
        "ames",
        "tema",
        "sur",
        "is",
        "as",
        "in",
        "or",
        "me",
        "hi",
        "oh",
        "ok",
        "pa",
        "ma",
        "la",
        "al",
        "id",
        "de",
        "co",
        "mi",
        "mo",
        "ga",
        "md",
        "mt",
        "lincoln",
        "melbourne",
        "jackson",
        "lake",
        "the",
        "great",
        "big",
        "low",
        "high",
        "ridge",
        "front",
        "fargo",
        "boulder",
        "alert",
        "resolute",
        "gaylord",
        "grand",
        "hays",
        "eureka",
        "sparks",
        "nome",
        "flint",
        "macon",
        "gary",
        "salem",
        "aba",
        "ica",
        "ube",
        "oran",
        "panhandle",
        "northwest",
        "northeast",
        "southwest",
        "southeast",
    ]
)
_STATES = """
    AL:Alabama AK:Alaska AZ:Arizona AR:Arkansas CA:California CO:Colorado CT:Connecticut
    DE:Delaware FL:Florida GA:Georgia HI:Hawaii ID:Idaho IL:Illinois IN:Indiana IA:Iowa KS:Kansas
    KY:Kentucky LA:Louisiana ME:Maine MD:Maryland MA:Massachusetts MI:Michigan MN:Minnesota
    MS:Mississippi MO:Missouri MT:Montana NE:Nebraska NV:Nevada NH:New_Hampshire NJ:New_Jersey
    NM:New_Mexico NY:New_York NC:North_Carolina ND:North_Dakota OH:Ohio OK:Oklahoma OR:Oregon
    PA:Pennsylvania RI:Rhode_Island SC:South_Carolina SD:South_Dakota TN:Tennessee TX:Texas UT:Utah
    VT:Vermont VA:Virginia WA:Washington WV:West_Virginia WI:Wisconsin WY:Wyoming
    MASS:Massachusetts CONN:Connecticut PENN:Pennsylvania MISS:Mississippi TENN:Tennessee
"""
CODES = {
    code: f"us_state:{name.replace('_', ' ')}"
    for code, _, name in (s.partition(":") for s in _STATES.split())
}
CODES |= {
    "UK": "country:United Kingdom",
    "US": "country:United States",
    "USA": "country:United States",
    "UAE": "country:United Arab Emirates",
}
"""Codes that are written in capitals, and the keys of what they mean."""

WORDS_TOO = frozenset(
    [
        "us",
        "in",
        "or",
        "me",
        "hi",
        "oh",
        "ok",
        "pa",
        "ma",
        "la",
        "al",
        "id",
        "de",
        "co",
        "mi",
        "mo",
        "ga",
        "md",
        "mt",
        "ne",
        "nd",
        "ca",
    ]
)
"""Codes that are words, or compass points, where everything is written in capitals."""


class Node(dict[str, "Node"]):
    """A node of the tree of names, by word; the key and name of the place that ends here."""

    __slots__ = ("key", "name")

    def __init__(self) -> None:
        super().__init__()
        self.name = ""
        self.key = ""


@cache
def names() -> Node:
    """The tree of all names, built once."""
    from zephyrus_geodata.aliases import shipped_aliases
    from zephyrus_geodata.features import FeatureStore
    from zephyrus_geodata.names import without_generic, without_qualifier

    aliases = shipped_aliases()
    features = sorted(FeatureStore.load(), key=lambda f: _ORDER.index(f.kind))
    root = Node()
    found = [(1, zone, zone, f"zone:{zone}") for zone in zones()]
    for f in features:
        plain = without_qualifier(f.name)
        others = [a for a in aliases.get(f.kind, {}).get(f.name, ()) if len(a) > 3]
        if f.kind == "nws_cwa":
            others = []
        found += [(0, f.name, f.name, f.key), (1, plain, f.name, f.key)]
        found += [(2, a, f.name, f.key) for a in others]
        if f.kind == "us_state":
            found.append((0, f"{f.name}, United States", f.name, f.key))
        if f.kind in ("desert", "mountain_range", "peninsula"):
            found.append((3, without_generic(plain), f.name, f.key))
    for _, words, name, key in sorted(found, key=lambda n: n[0]):
        _add(root, words, name, key)
    return root


def _split(name: str) -> list[str]:
    return re.findall(r"[a-z]+(?:'[a-z]+)*|\d+", lower(name.replace("’", "'")))


def _add(root: Node, words: str, name: str, key: str) -> None:
    pieces = _split(words)
    if pieces and pieces[0] == "the":
        pieces = pieces[1:]
    short = len(pieces) == 1 and (len(pieces[0]) < 3 or pieces[0] in _EVERYDAY)
    if not pieces or (short and not key.startswith("zone:")):
        return
    node = root
    for piece in pieces:
        node = node.setdefault(piece, Node())
    if not node.key:
        node.name, node.key = name, key


@cache
def zones() -> dict[str, tuple[float, float, float, float]]:
    """The hand-drawn zones: (west, south, east, north) in degrees, by name."""
    read = yaml.safe_load(ZONES_FILE.read_text(encoding="utf-8"))
    return {name: (box[0], box[1], box[2], box[3]) for name, box in read.items()}


@lru_cache(maxsize=4096)
def known(name: str) -> str:
    """The key of a name, "" if there is none."""
    node = names()
    pieces = _split(name)
    for piece in pieces[1:] if pieces and pieces[0] == "the" else pieces:
        if piece not in node:
            return ""
        node = node[piece]
    return node.key
