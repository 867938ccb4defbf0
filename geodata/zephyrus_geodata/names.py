"""How names are compared: without case, accents, punctuation and common abbreviations."""

import re
import unicodedata
from functools import lru_cache

# Letters that Unicode does not decompose into a base letter and an accent.
_LETTERS = str.maketrans(
    {
        "æ": "ae",
        "œ": "oe",
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "ı": "i",
        "ə": "a",
        "ħ": "h",
        "ŋ": "n",
        "ŧ": "t",
        "ƀ": "b",
    }
)
_SILENT = re.compile(r"['’‘ʻʼʹ`´.]")
_NOT_A_WORD = re.compile(r"[\W_]+")
_ABBREVIATIONS = {"st": "saint", "ste": "sainte", "ft": "fort", "mt": "mount", "is": "islands"}
_QUALIFIER = re.compile(r"^Federated States of |\s*(?:,.*|\(.*\))\s*$")
_TWO_LETTERS = re.compile(r"(?<=[aou])e")  # an umlaut written in two letters
_MOST_LETTERS = 60
_KEPT_LETTERS = 200  # a longer text is no name, and none that is worth remembering
_GENERIC = re.compile(
    r"^(?:(?:lake|lac|lago|lagoa|laguna|ozero|represa|réservoir|embalse|presa)"
    r"(?:(?: (?:de|del|da|do|des|la|el|las|los|of|the))+)? |the )"
    r"|(?: (?:lake|reservoir|hu|nuur|co|desert|mountains|peninsula|plateau|sea))$",
    re.IGNORECASE,
)


def normalise(text: str) -> str:
    """Reduce a name to what is compared: lower case, no accents, no punctuation, single blanks.

    Apostrophes and full stops vanish ("Xi'an" is "xian", "U.S." is "us"); all other punctuation
    parts words ("Guinea-Bissau" is "guinea bissau"). Applying it twice changes nothing.
    """
    return _kept_normal(text) if len(text) <= _KEPT_LETTERS else _normal(text)


def _normal(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    letters = unicodedata.normalize("NFKD", letters.casefold().translate(_LETTERS))
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return _NOT_A_WORD.sub(" ", _SILENT.sub("", bare)).strip()


_kept_normal = lru_cache(maxsize=4096)(_normal)


def lookup_key(text: str) -> str:
    """The key under which a name is indexed: normalised, with common abbreviations written out.

    "St. John's" and "Saint Johns" share a key, as do "Trinidad & Tobago" and "Trinidad and Tobago".
    """
    return _kept_key(text) if len(text) <= _KEPT_LETTERS else _key(text)


def _key(text: str) -> str:
    words = normalise(text.replace("&", " and ")).split()
    if len(words) > 1:
        words = [_ABBREVIATIONS.get(word, word) for word in words]
    return " ".join(words)


_kept_key = lru_cache(maxsize=16384)(_key)  # a search compares with every feature


def without_qualifier(name: str) -> str:
    """The name without what follows a comma or stands in brackets at its end.

    "Micronesia" is also enough for "Federated States of Micronesia".
    """
    return _QUALIFIER.sub("", name) or name


def without_generic(name: str) -> str:
    """The name without its generic word: "Victoria" for "Lake Victoria"."""
    return _GENERIC.sub("", name) or name


def spellings(text: str) -> list[str]:
    """The keys under which a name is looked for, one after the other.

    After the key itself come those without a leading "the" and with umlauts that were written in
    two letters: "the Sahara", "Koeln".
    """
    key = lookup_key(text)
    keys = [key, key.removeprefix("the ")]
    return list(dict.fromkeys([*keys, *(_TWO_LETTERS.sub("", each) for each in keys)]))


def quoted(text: str) -> str:
    """The text in quotation marks, cut if it is long: it may be anything that a model wrote."""
    return repr(text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…")
