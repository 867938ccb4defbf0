"""What products and sections are called, and what their names mean."""

from __future__ import annotations

import re

from zephyrus_geodata.reports.product import Kind

TITLES: tuple[tuple[str, str], ...] = (
    ("AREA FORECAST DISCUSSION", "AFD"),
    ("HAZARDOUS WEATHER OUTLOOK", "HWO"),
    ("SHORT RANGE FORECAST DISCUSSION", "PMDSPD"),
    ("SHORT RANGE PUBLIC DISCUSSION", "PMDSPD"),
    ("PRELIMINARY EXTENDED FORECAST DISCUSSION", "PREEPD"),
    ("HAWAII EXTENDED FORECAST DISCUSSION", "PMDHI"),
    ("ALASKA EXTENDED FORECAST DISCUSSION", "PMDAK"),
    ("EXTENDED FORECAST DISCUSSION", "PMDEPD"),
    ("EXCESSIVE RAINFALL DISCUSSION", "QPFERD"),
    ("QUANTITATIVE PRECIPITATION FORECAST DISCUSSION", "QPFPFD"),
    ("QPF DISCUSSION", "QPFPFD"),
    ("PROGNOSTIC DISCUSSION FOR 6", "PMDMRD"),
    ("PROGNOSTIC DISCUSSIONS FOR 6", "PMDMRD"),
    ("HEAVY SNOW AND ICING DISCUSSION", "QPFHSD"),
    ("HEAVY SNOW DISCUSSION", "QPFHSD"),
    ("MODEL DIAGNOSTIC DISCUSSION", "PMDHMD"),
    ("MESOSCALE PRECIPITATION DISCUSSION", "FFGMPD"),
    ("MESOSCALE DISCUSSION", "SWOMCD"),
    ("DAY 1 CONVECTIVE OUTLOOK", "SWODY1"),
    ("DAY 2 CONVECTIVE OUTLOOK", "SWODY2"),
    ("DAY 3 CONVECTIVE OUTLOOK", "SWODY3"),
    ("DAY 3 SEVERE THUNDERSTORM OUTLOOK", "SWODY3"),
    ("DAY 4-8 CONVECTIVE OUTLOOK", "SWOD48"),
    ("SPECIAL WEATHER STATEMENT", "SPS"),
    ("COASTAL WATERS FORECAST", "CWF"),
    ("RANGELAND FIRE DANGER STATEMENT", "RFD"),
)
"""The product that a title names, for bulletins that lost their AWIPS identifier."""

NATIONAL = ("PMD", "SWO", "QPF", "FWD")
"""Products of national centres: their last three letters name the product, not an office."""

OFFICES: dict[str, str] = {
    "STORM PREDICTION CENTER": "KWNS",
    "WEATHER PREDICTION CENTER": "KWNH",
    "HYDROMETEOROLOGICAL PREDICTION CENTER": "KWNH",
    "CLIMATE PREDICTION CENTER": "KWNC",
}
"""National centres by name, for bulletins that lost their WMO header."""

_PRODUCT_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("CWF", "NSH", "GLF", "OFF", "HSF", "SRF", "MWS"), "marine"),
    **dict.fromkeys(("RFD", "FWF", "RFW", "FWM"), "fire"),
    "TAF": "aviation",
}

_SECTION_KINDS: tuple[tuple[str, Kind], ...] = (
    (r"WATCHES|WARNINGS|ADVISORIES|^ATTN\b", "watches"),
    (r"TEMPS/POPS|POINT TEMPS|^PRELIMINARY POINT", "table"),
    (r"SPOTTER", "spotter"),
    (r"\bAVIATION|\bTAFS?\b|\bAIRPORT", "aviation"),
    (r"\bTIDES?\b|COASTAL FLOOD|RIP CURRENT|\bSURF\b|\bBEACH", "tides"),
    (
        r"\bMARINE|COASTAL WATERS|OPEN WATERS|NEARSHORE|^(GREAT )?LAKES?\b|^GULF WATERS",
        "marine",
    ),
    (r"\bFIRE\b|\bSMOKE\b", "fire"),
    (r"HYDRO(LOG|\b)|\bRIVERS?\b", "hydrology"),
    (r"\bCLIMATE\b|\bCLIMATOLOGY\b|\bRECORDS?\b", "climate"),
    (
        r"^EQUIPMENT|^RADAR\b|^PUBLIC INFORMATION|^SOCIAL MEDIA|^LAT\.\.\.LON|^TIME\.\.\.MOT",
        "other",
    ),
    (r"^PREV(IOUS)?\b\.? DISC", "previous"),
    (r"^KEY (MESSAGES?|POINTS?)\b", "key_messages"),
    (r"\bUPDATE\b|^WHAT('S| HAS) CHANGED", "update"),
)
"""What a section is about, by its name in capitals: the first pattern found decides."""

_NESTED = re.compile(
    r"^(.*\bUPDATE\b.*|PREV(IOUS)?\b.*|OUTLOOK\b.*|KEY MESSAGES? #?\d.*|.*\bFORECAST CONFIDENCE\b.*)$"
)
"""Names that stand inside the open section when no `&&` has closed it."""

_OFFICE_CODE = re.compile(r"(?!SAT|SUN|MON|TUE|WED|THU|FRI|NOW|DAY)[A-Z]{3}")
"""Old discussions title their list of watches with the office's code alone: `.EKA...NONE.`"""

_MARINE_ZONE = re.compile(r"(AM|AN|GM|LC|LE|LH|LM|LO|LS|PH|PK|PM|PS|PZ|SL)Z")


def product_name(awips: str) -> str:
    """``AFD`` of ``AFDBOX``; the whole identifier for national centres (``PMDSPD``)."""
    awips = awips.upper()
    return awips if is_framed(awips) else awips[:3]


def titled_product(line: str) -> str | None:
    """The product that a title line names, or None."""
    line = " ".join(line.upper().split())
    return next((product for title, product in TITLES if title in line), None)


def is_framed(product: str) -> bool:
    """Whether sections of the product are titled `...Overview...` and not `.SYNOPSIS...`."""
    return product[:3] in NATIONAL or product in ("FFGMPD", "PREEPD")


def section_kind(name: str, product: str, zones: tuple[str, ...] = ()) -> Kind:
    """What a section of this name is about."""
    name = name.upper()
    if product == "AFD" and _OFFICE_CODE.fullmatch(name):
        return "watches"
    for pattern, kind in _SECTION_KINDS:
        if re.search(pattern, name):
            return kind
    if zones and all(_MARINE_ZONE.match(zone) for zone in zones):
        return "marine"
    return _PRODUCT_KINDS.get(product, "discussion")


def is_nested(name: str) -> bool:
    """Whether a section of this name belongs to the section that is still open above it."""
    return _NESTED.match(name.upper()) is not None
