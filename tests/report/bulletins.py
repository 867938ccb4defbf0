"""Reports of the National Weather Service with invented weather, at any time of any year."""

from datetime import datetime, timedelta

from zephyrus_geodata.reports.parse import parse_product
from zephyrus_geodata.reports.store import Report

TEXT = """\
123
{heading} {office} {issued:%d%H%M}{bbb}
{pil}

{title}
{issued:%H%M} UTC {issued:%a %b %d %Y}

{valid}
{body}

$$
"""

BODY = """\
A cold front over the Plains moves east with {word} ahead of it, heaviest from the Lower
Mississippi Valley to the Tennessee Valley, where 2 to 4 inches may fall by Wednesday. High
pressure behind the front brings dry and cold weather, with highs 10 to 15 degrees below average
over the northern Plains and the Upper Midwest. Winds of 20 to 30 mph are likely."""


def short_range(issued: datetime, word: str = "rain", bbb: str = "") -> Report:
    first = issued.replace(hour=12, minute=0)
    first += timedelta(days=0 if issued.hour < 12 else 1)
    last = first + timedelta(hours=48)
    text = TEXT.format(
        heading="FXUS01",
        office="KWBC",
        issued=issued,
        bbb=f" {bbb}" if bbb else "",
        pil="PMDSPD",
        title="Short Range Forecast Discussion\nNWS Weather Prediction Center College Park MD",
        valid=f"Valid {first:%HZ %a %b %d %Y} - {last:%HZ %a %b %d %Y}\n",
        body=BODY.format(word=word),
    )
    return report(text)


def office_report(issued: datetime, pil: str = "AFDLOX", office: str = "KLOX") -> Report:
    text = TEXT.format(
        heading="FXUS66",
        office=office,
        issued=issued,
        bbb="",
        pil=pil,
        title="Area Forecast Discussion\nNational Weather Service Los Angeles/Oxnard CA",
        valid=".SYNOPSIS...",
        body=BODY.format(word="showers") + "\n\n&&\n\n.AVIATION...\nVFR at KLAX through Friday.",
    )
    return report(text)


def report(text: str) -> Report:
    product = parse_product(text)
    return Report(
        id=product.product_id,
        product=product.awips,
        office=product.office,
        issued=product.issued,
        bulletin=f"{product.issued:%d%H%M}",
        correction=product.correction,
        url="https://example.org/x",
        text=text,
    )
