"""Untrusted text made harmless for a terminal."""

import unicodedata


def plain(text: str) -> str:
    """Text without control characters, so that what a model, tool or server wrote can't drive it.

    Line ends and tabs stay; every other control, format or surrogate character becomes "�".
    """
    return "".join(
        c
        if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs")
        else "\N{REPLACEMENT CHARACTER}"
        for c in text
    )
