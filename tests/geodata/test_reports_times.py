"""Times of issue and valid periods: zones, clocks, months that end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from zephyrus_geodata.reports.times import ZONES, local_time, near_day, valid_period

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

moments = st.datetimes(datetime(1970, 1, 2), datetime(2100, 12, 30)).map(
    lambda moment: moment.replace(second=0, microsecond=0, tzinfo=UTC)
)


@pytest.mark.parametrize(
    ("line", "utc", "zone"),
    [
        ("1145 AM CST SAT JAN 5 2013", "2013-01-05 17:45", "CST"),
        ("0735 PM CDT Thu May 07 2026", "2026-05-08 00:35", "CDT"),
        ("12:05 AM EDT Sun Jul 4 2021", "2021-07-04 04:05", "EDT"),
        ("1200 PM PST Fri Dec 31 2010", "2010-12-31 20:00", "PST"),
        ("1200 AM PST Fri Dec 31 2010", "2010-12-31 08:00", "PST"),
        ("527 AM ChST Sun Jun 19 2016", "2016-06-18 19:27", "ChST"),
        ("515 AM MST Wed Mar 21 2018", "2018-03-21 12:15", "MST"),
        ("515 AM MST Wed Jul 18 2018", "2018-07-18 12:15", "MST"),  # Arizona, all year
        ("1254 AM AKST Fri Jan 3 2025", "2025-01-03 09:54", "AKST"),
        ("9 PM HST Mon Feb 28 2022", "2022-03-01 07:00", "HST"),
        ("1517 UTC Mon Jul 13 2020", "2020-07-13 15:17", "UTC"),
        ("15:17 UTC Mon Jul 13 2020", "2020-07-13 15:17", "UTC"),
        ("0030 AM UTC Mon Jul 13 2020", "2020-07-13 00:30", "UTC"),
        ("1430 PM EST Mon Jan 13 2020", "2020-01-13 19:30", "EST"),  # both clocks at once
        ("323 PM CST TUE JAN 8 2013 /423 PM EST TUE JAN 8 2013/", "2013-01-08 21:23", "CST"),
        ("Issued at 321 AM EDT Tue Aug 20 2024", "2024-08-20 07:21", "EDT"),
        ("421 PM SST Tue August 20 2024", "2024-08-21 03:21", "SST"),
    ],
)
def test_time_lines(line: str, utc: str, zone: str) -> None:
    assert local_time(line) == (datetime.fromisoformat(utc).replace(tzinfo=UTC), zone)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "1145 AM XYZ SAT JAN 5 2013",  # no such zone
        "1145 AM CST SAT FEB 30 2013",
        "1165 AM CST SAT JAN 5 2013",
        "2545 PM CST SAT JAN 5 2013",
        "1345 AM CST SAT JAN 5 2013",
        "345 CST SAT JAN 5 2013",  # morning or afternoon?
        "until 6 AM Tuesday morning",
    ],
)
def test_what_is_no_time(line: str) -> None:
    assert local_time(line) is None


def test_there_are_about_thirty_zones_and_summer_is_an_hour_ahead() -> None:
    assert 28 <= len(ZONES) <= 40
    for zone in ["A", "E", "C", "M", "P", "AK", "H"]:
        assert ZONES[f"{zone}DT"] == ZONES[f"{zone}ST"] + 1


@given(moments, st.sampled_from(sorted(ZONES)), st.booleans(), st.booleans(), st.booleans())
def test_a_written_time_is_read_back(
    moment: datetime, zone: str, colon: bool, capitals: bool, zero: bool
) -> None:
    there = moment.astimezone(timezone(timedelta(hours=ZONES[zone])))
    hour = there.hour % 12 or 12
    clock = f"{hour:02}" if zero else f"{hour}"
    clock += f":{there:%M}" if colon else f"{there:%M}"
    half = "AM" if there.hour < 12 else "PM"
    day, month = DAYS[there.weekday()], MONTHS[there.month - 1]
    line = f"{clock} {half} {zone} {day} {month} {there.day} {there.year}"
    found = local_time(line.upper() if capitals else line)
    assert found is not None and found[0] == moment
    assert found[1].upper() == zone


@given(moments, st.timedeltas(timedelta(days=-13), timedelta(days=13)))
def test_a_day_of_the_month_is_found_near_a_date(moment: datetime, away: timedelta) -> None:
    assert near_day(f"{moment:%d%H%M}", moment + away) == moment


@pytest.mark.parametrize(
    ("ddhhmm", "near", "expected"),
    [
        ("312346", "2020-09-01", "2020-08-31 23:46"),
        ("010005", "2020-08-31", "2020-09-01 00:05"),
        ("010005", "2020-12-31", "2021-01-01 00:05"),
        ("312300", "2021-01-02", "2020-12-31 23:00"),
        ("310000", "2021-03-01", "2021-01-31 00:00"),  # February has none
        ("292400", "2024-02-28", "2024-03-01 00:00"),
    ],
)
def test_months_that_end(ddhhmm: str, near: str, expected: str) -> None:
    found = near_day(ddhhmm, datetime.fromisoformat(near))
    assert found == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@pytest.mark.parametrize("ddhhmm", ["000000", "320000", "012500", "010060", "012401"])
def test_no_such_day_or_time(ddhhmm: str) -> None:
    assert near_day(ddhhmm, datetime(2020, 1, 1)) is None


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("Valid 12Z Mon Sep 21 2026 - 12Z Fri Sep 25 2026", "2026-09-21 12", "2026-09-25 12"),
        ("VALID 00Z THU SEP 14 2023 - 00Z SAT SEP 16 2023", "2023-09-14 00", "2023-09-16 00"),
        (
            "...VALID 15Z MON NOV 30 2015 - 12Z TUE DEC 01 2015...",
            "2015-11-30 15",
            "2015-12-01 12",
        ),
        ("VALID TIME 301200Z - 011200Z", "2026-09-30 12", "2026-10-01 12"),
        ("Valid 080100Z - 081200Z", "2026-10-08 01", "2026-10-08 12"),
        ("Valid 021200Z - 160000Z", "2026-10-02 12", "2026-10-16 00"),  # 16 days after the issue
        ("Valid Sep 30/0000 UTC thru Oct 03/1200 UTC", "2026-09-30 00", "2026-10-03 12"),
        ("Valid 00Z Fri Oct 2 - 00Z Sun Oct 4", "2026-10-02 00", "2026-10-04 00"),
        ("Valid 12Z Wed Sep 30 2026 through 24Z Thu Oct 1 2026", "2026-09-30 12", "2026-10-02 00"),
    ],
)
def test_valid_periods(text: str, start: str, end: str) -> None:
    expected = tuple(datetime.fromisoformat(f"{t}:00").replace(tzinfo=UTC) for t in (start, end))
    assert (
        valid_period(f"Title\n\n{text}\n\nText", datetime(2026, 9, 30, 18, tzinfo=UTC)) == expected
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Valid until noon",
        "Valid 12Z Fri Sep 25 2026 - 12Z Mon Sep 21 2026",
        "VALID 990000Z - 1Z",
    ],
)
def test_what_is_no_valid_period(text: str) -> None:
    assert valid_period(text, datetime(2026, 9, 30, tzinfo=UTC)) is None


@given(moments, st.integers(1, 240))
def test_a_short_valid_period_is_read_back(start: datetime, hours: int) -> None:
    end = start + timedelta(hours=hours)
    assume(timedelta(0) < end - start < timedelta(days=11))
    text = f"Valid {start:%d%H%M}Z - {end:%d%H%M}Z"
    assert valid_period(text, start - timedelta(hours=2)) == (start, end)
