"""Untrusted text made harmless for a terminal."""

import unicodedata

_HIDDEN = ("Cc", "Cf", "Cs")


def plain(text: str) -> str:
    """Text without control characters, so that what a model, tool or server wrote can't drive it.

    Line ends and tabs stay; every other control, format or surrogate character becomes "�".
    """
    hidden = [c for c in set(text) if c not in "\n\t" and unicodedata.category(c) in _HIDDEN]
    if not hidden:
        return text
    return text.translate(dict.fromkeys(map(ord, hidden), "\N{REPLACEMENT CHARACTER}"))
