"""A finding in a sentence.

Every sentence names its variable, place, time and values with units, so that a person and a
program that looks for claims read the same. PLACE is a feature's name, with a compass part where
it is large ("the northern Tasman Sea", "the west of Western Europe"); (LAT, LON) are whole
degrees ("62°N, 5°W"); WHEN is "on day 2 (Saturday 3 January)" at first and "on Saturday" later,
or "on days 3 to 5 (Sunday 4 to Tuesday 6 January)" and "from Sunday to Tuesday"; MOMENT is
"18 UTC Saturday 3 January" at first and "18 UTC Saturday" later, the weekday being that of the
valid time (day 1 of a forecast from 00 UTC Friday ends at 00 UTC Saturday). The forms, of which
many have two phrasings (a stable hash chooses, and in turn when a form comes again):

==============  ==================================================================================
low, high       A low of 985 hPa over PLACE (LAT, LON) at MOMENT moves east at about 40 km/h
                (drifts east, if slow), deepening to 972 hPa over PLACE (LAT, LON) by MOMENT. | A
                nearly stationary low over PLACE (LAT, LON) is filling from 985 hPa at MOMENT to
                992 hPa at MOMENT. | A low of 985 hPa is nearly stationary over PLACE (LAT, LON)
                from MOMENT to MOMENT. A low deepens or fills, a high strengthens or weakens, or
                either is holding near its pressure.
cold_front,     A cold front crosses PLACE between MOMENT and MOMENT: 850 hPa temperature falls from
warm_front      4 °C to -6 °C, with north-westerly winds behind it. (A warm front: rises.)
wind            10 m winds over PLACE peak at 18 m/s (gale force) from the south-west at MOMENT.
jet             500 hPa winds over PLACE reach 45 m/s from the west at MOMENT.
precipitation   Rain totals average 14 mm over PLACE WHEN, with up to 9 mm in 6 h by MOMENT. |
                PLACE receives 14 mm of rain on average WHEN, locally up to 9 mm in the 6 h to
                MOMENT (over the west of PLACE). ("snow", "rain and snow"; of snow the water
                equivalent, which is said once. The amount is the area mean summed over the days,
                the most in 6 h that of any grid cell.)
dry             PLACE stays mostly dry WHEN, with an average total of 0.2 mm.
cloud           Skies over PLACE are cloudy WHEN, with a mean cloud cover of 85 %.
temperature     2 m temperature over PLACE averages 4 °C WHEN, ranging from -3 °C to 11 °C.
cold_extreme    The lowest 2 m temperature over PLACE is -24 °C, at MOMENT.
heat_extreme    The highest 2 m temperature over PLACE is 39 °C, at MOMENT.
warm_anomaly,   PLACE is warm for January, averaging 8 °C WHEN, 4 °C above the climatological mean
cold_anomaly    (above the 90th percentile). (cold, below, 10th)
warming,        Over PLACE mean 2 m temperature rises from 2 °C on Friday to 9 °C on Sunday. (falls)
cooling
ridge, trough   A 500 hPa ridge builds over PLACE, with heights averaging 5640 gpm WHEN, 90 gpm
                above the climatological mean for January. (trough, deepens, below)
==============  ==================================================================================

Several findings of one kind are told together: "Rain totals average 14 mm over PLACE, 9 mm of
rain and snow over PLACE and 4 mm over PLACE WHEN." A sentence may begin with a cause ("Ahead of the cold front, rain …").
Temperatures, pressures and winds are rounded to whole numbers, heights to 10 gpm, speeds of
movement to 5 km/h, precipitation to whole millimetres from 2 mm on and to 0.1 mm below.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence

from zephyrus_report.compose.calendar import Calendar
from zephyrus_report.compose.findings import Finding, Kind
from zephyrus_report.compose.phrases import (
    agreeing,
    at,
    at_most,
    peak_hour,
    sides,
    tendency,
)
from zephyrus_report.compose.places import in_words
from zephyrus_report.compose.words import (
    SLOW,
    STATIONARY,
    STEADY,
    amount,
    capital,
    celsius,
    force,
    listed,
    metres,
    sky,
)

__all__ = [
    "SLOW",
    "STATIONARY",
    "STEADY",
    "Wording",
    "amount",
    "capital",
    "celsius",
    "force",
    "listed",
    "metres",
    "sky",
]


class Wording:
    """Says findings of one discussion; remembers which days and phrasings it has used.

    The same findings in the same order with the same key give the same words.
    """

    def __init__(self, calendar: Calendar, key: str = "") -> None:
        """Begin a discussion.

        Args:
            calendar: Names the days.
            key: Chooses between phrasings, with what is said.
        """
        self.calendar = calendar
        self._key = key
        self._used: Counter[str] = Counter()
        self._led = False  # the sentence begins with a cause

    def sentence(self, finding: Finding, cause: str = "") -> str:
        """One finding as a sentence with its full stop.

        Args:
            finding: What to say; it must have the values that its `Kind` lists.
            cause: Words that lead in, such as "behind the cold front".
        """
        return self._finish(_FORMS[finding.kind](self, finding), cause)

    def together(self, findings: Sequence[Finding], cause: str = "") -> str:
        """Findings of one kind (PRECIPITATION, DRY, TEMPERATURE or an anomaly) and one window.

        Raises:
            ValueError: If the kinds or windows differ, or there is none.
        """
        if len({(f.kind, f.start, f.end) for f in findings}) != 1:
            raise ValueError("only findings of one kind and window are told together")
        if len(findings) == 1 or findings[0].kind not in _JOINED:
            return " ".join(
                self.sentence(f, cause if not i else "") for i, f in enumerate(findings)
            )
        self._led = bool(cause)
        return self._finish(_JOINED[findings[0].kind](self, findings), cause)

    def pick(self, about: str, options: Sequence[str]) -> str:
        """One of several phrasings: by a stable hash, and in turn when asked again."""
        digest = hashlib.sha256(f"{self._key}/{about}".encode()).digest()
        turn = self._used[about]
        self._used[about] += 1
        return options[(digest[0] + turn) % len(options)]

    def _finish(self, text: str, cause: str) -> str:
        return capital(f"{cause}, {text}" if cause else text) + "."

    def _system(self, f: Finding) -> str:
        before, after = round(f.number("before")), round(f.number("after"))
        word = "low" if f.kind is Kind.LOW else "high"
        start, end = self.calendar.moment(f.start), self.calendar.moment(f.end)
        there = at(f.place)
        if f.direction and f.target is not None:
            speed = f"at about {round(f.number('speed') / 5.0) * 5} km/h"
            change = tendency(f.kind, before, after)
            moves = self.pick(
                f"moves {word}", (f"moves {f.direction} {speed}", f"tracks {f.direction} {speed}")
            )
            if f.number("speed") < SLOW:
                moves = f"drifts {f.direction}"
            return (
                f"a {word} of {before} hPa {there} at {start} {moves}, {change} {after} hPa "
                f"{at(f.target)} by {end}"
            )
        if abs(after - before) < STEADY:
            return self.pick(
                f"stays {word}",
                (
                    f"a {word} of {before} hPa is nearly stationary {there} from {start} to {end}",
                    f"a {word} of {before} hPa holds its position {there} from {start} to {end}",
                ),
            )
        change = tendency(f.kind, before, after).removesuffix(" to")
        return (
            f"a nearly stationary {word} {there} is {change} from {before} hPa at {start} to "
            f"{after} hPa at {end}"
        )

    def _front(self, f: Finding) -> str:
        cold = f.kind is Kind.COLD_FRONT
        name, verb = ("cold front", "falls") if cold else ("warm front", "rises")
        start, end = self.calendar.moment(f.start), self.calendar.moment(f.end)
        place = in_words(f.place)
        values = f"from {celsius(f.number('before'))} to {celsius(f.number('after'))}"
        behind = f", with {f.direction}erly winds behind it" if f.direction else ""
        return self.pick(
            "front",
            (
                f"a {name} crosses {place} between {start} and {end}: 850 hPa temperature {verb} "
                f"{values}{behind}",
                f"a {name} moves across {place} between {start} and {end}, where 850 hPa "
                f"temperature {verb} {values}{behind}",
            ),
        )

    def _wind(self, f: Finding) -> str:
        speed = f.number("speed")
        named = f" ({force(speed)})" if force(speed) else ""
        origin = f" from the {f.direction}" if f.direction else ""
        place, when = in_words(f.place), self.calendar.moment(peak_hour(f))
        return self.pick(
            "wind",
            (
                f"10 m winds over {place} peak at {round(speed)} m/s{named}{origin} at {when}",
                f"the strongest 10 m winds over {place} reach {round(speed)} m/s{named}{origin} "
                f"at {when}",
            ),
        )

    def _jet(self, f: Finding) -> str:
        origin = f" from the {f.direction}" if f.direction else ""
        return (
            f"500 hPa winds over {in_words(f.place)} reach {round(f.number('speed'))} m/s{origin} "
            f"at {self.calendar.moment(peak_hour(f))}"
        )

    def _precipitation(self, f: Finding) -> str:
        total, when = amount(f.number("total")), self.calendar.window(f.start, f.end)
        place, what = in_words(f.place), f.detail
        water = self._equivalent(f)
        text = self.pick(
            "precipitation",
            (
                f"{what} totals average {total}{water} over {place} {when}",
                f"{place} {agreeing(f, 'receive')} {total} of {what}{water} on average {when}",
            ),
        )
        return text + self._heaviest(f)

    def _heaviest(self, f: Finding) -> str:
        if "heaviest" not in f.values or f.hour is None:
            return ""
        most, when = amount(f.number("heaviest")), self.calendar.moment(f.hour)
        where = "" if f.target is None else f" over {in_words(f.target)}"
        return self.pick(
            "heaviest",
            (
                f", with up to {most} in 6 h by {when}{where}",
                f", locally up to {most} in the 6 h to {when}{where}",
            ),
        )

    def _equivalent(self, f: Finding) -> str:
        """That an amount of snow is of water: said once in a discussion."""
        first = f.detail == "snow" and not self._used["water"]
        self._used["water"] += first
        return " (water equivalent)" if first else ""

    def _rains(self, findings: Sequence[Finding]) -> str:
        when = self.calendar.window(findings[0].start, findings[0].end)
        first = findings[0].detail
        parts = []
        for f in findings:
            # A second kind of precipitation is named where it differs from the first.
            kind = "" if f.detail == first else f" of {f.detail}"
            total = f"{amount(f.number('total'))}{kind}{self._equivalent(f)}"
            parts.append(f"{total} over {in_words(f.place)}")
        most = max(findings, key=lambda f: f.number("heaviest") if "heaviest" in f.values else 0.0)
        extra = self._heaviest(most)
        where = f" over {in_words(most.place)}" if extra and most.target is None else ""
        plain = f"{first} totals average {listed(parts)} {when}"
        dated = f"{when}, {first} totals average {listed(parts)}"
        return self.pick("rains", (plain, plain if self._led else dated)) + extra + where

    def _dry(self, f: Finding) -> str:
        return (
            f"{in_words(f.place)} {agreeing(f, 'stay')} mostly dry {self.calendar.window(f.start, f.end)}, "
            f"with an average total of {amount(f.number('total'))}"
        )

    def _drys(self, findings: Sequence[Finding]) -> str:
        most = max(f.number("total") for f in findings)
        places = listed([in_words(f.place) for f in findings])
        when = self.calendar.window(findings[0].start, findings[0].end)
        return f"{places} stay mostly dry {when}, with average totals of {at_most(most)}"

    def _cloud(self, f: Finding) -> str:
        cover, when = f.number("cover"), self.calendar.window(f.start, f.end)
        return (
            f"skies over {in_words(f.place)} are {sky(cover)} {when}, with a mean cloud cover of "
            f"{round(cover)} %"
        )

    def _temperature(self, f: Finding) -> str:
        when, place = self.calendar.window(f.start, f.end), in_words(f.place)
        spread = ""
        if "lowest" in f.values and "highest" in f.values:
            low, high = celsius(f.number("lowest")), celsius(f.number("highest"))
            spread = self.pick(
                "spread", (f", ranging from {low} to {high}", f", with values from {low} to {high}")
            )
        return f"2 m temperature over {place} averages {celsius(f.number('mean'))} {when}{spread}"

    def _temperatures(self, findings: Sequence[Finding]) -> str:
        when = self.calendar.window(findings[0].start, findings[0].end)
        parts = [f"{celsius(f.number('mean'))} over {in_words(f.place)}" for f in findings]
        return f"2 m temperature averages {listed(parts)} {when}"

    def _cold_extreme(self, f: Finding) -> str:
        return (
            f"the lowest 2 m temperature over {in_words(f.place)} is "
            f"{celsius(f.number('lowest'))}, at {self.calendar.moment(peak_hour(f))}"
        )

    def _heat_extreme(self, f: Finding) -> str:
        return (
            f"the highest 2 m temperature over {in_words(f.place)} is "
            f"{celsius(f.number('highest'))}, at {self.calendar.moment(peak_hour(f))}"
        )

    def _anomaly(self, f: Finding) -> str:
        when, place = self.calendar.window(f.start, f.end), in_words(f.place)
        month = self.calendar.month(f.start)
        word, side = sides(f)
        rank = f" ({side} the {f.detail[1:]}th percentile)" if f.detail else ""
        mean, departure = celsius(f.number("mean")), celsius(abs(f.number("departure")))
        return self.pick(
            "anomaly",
            (
                f"{place} {agreeing(f, 'be')} {word} for {month}, averaging {mean} {when}, {departure} {side} the "
                f"climatological mean{rank}",
                f"mean 2 m temperature over {place} is {mean} {when}, {departure} {side} the "
                f"{month} climatological mean{rank}",
            ),
        )

    def _anomalies(self, findings: Sequence[Finding]) -> str:
        when, month = (
            self.calendar.window(findings[0].start, findings[0].end),
            self.calendar.month(findings[0].start),
        )
        side = sides(findings[0])[1]
        alike: dict[str, list[str]] = {}  # places by departure as it is told
        for f in findings:
            alike.setdefault(celsius(abs(f.number("departure"))), []).append(in_words(f.place))
        usual = f"the {month} climatological mean"
        parts = [
            f"{away} {side} {'it' if i else usual} over {listed(places)}"
            for i, (away, places) in enumerate(alike.items())
        ]
        return f"2 m temperature averages {listed(parts)} {when}"

    def _trend(self, f: Finding) -> str:
        verb = "rises" if f.kind is Kind.WARMING else "falls"
        first, last = f.days
        before, after = celsius(f.number("before")), celsius(f.number("after"))
        days = (self.calendar.on(first, first), self.calendar.on(last, last))
        return (
            f"mean 2 m temperature over {in_words(f.place)} {verb} from {before} {days[0]} to "
            f"{after} {days[1]}"
        )

    def _upper(self, f: Finding) -> str:
        name = "ridge" if f.kind is Kind.RIDGE else "trough"
        side = "above" if f.kind is Kind.RIDGE else "below"
        verb = {
            "building": "builds",
            "weakening": "weakens",
            "deepening": "deepens",
            "filling": "fills",
        }.get(f.detail, "persists")
        return (
            f"a 500 hPa {name} {verb} over {in_words(f.place)}, with heights averaging "
            f"{metres(f.number('height'))} {self.calendar.window(f.start, f.end)}, "
            f"{metres(abs(f.number('departure')))} {side} the climatological mean for "
            f"{self.calendar.month(f.start)}"
        )


_Form = Callable[[Wording, Finding], str]
_FORMS: dict[Kind, _Form] = {
    Kind.LOW: Wording._system,
    Kind.HIGH: Wording._system,
    Kind.COLD_FRONT: Wording._front,
    Kind.WARM_FRONT: Wording._front,
    Kind.WIND: Wording._wind,
    Kind.JET: Wording._jet,
    Kind.PRECIPITATION: Wording._precipitation,
    Kind.DRY: Wording._dry,
    Kind.CLOUD: Wording._cloud,
    Kind.TEMPERATURE: Wording._temperature,
    Kind.COLD_EXTREME: Wording._cold_extreme,
    Kind.HEAT_EXTREME: Wording._heat_extreme,
    Kind.WARM_ANOMALY: Wording._anomaly,
    Kind.COLD_ANOMALY: Wording._anomaly,
    Kind.WARMING: Wording._trend,
    Kind.COOLING: Wording._trend,
    Kind.RIDGE: Wording._upper,
    Kind.TROUGH: Wording._upper,
}
_JOINED: dict[Kind, Callable[[Wording, Sequence[Finding]], str]] = {
    Kind.PRECIPITATION: Wording._rains,
    Kind.DRY: Wording._drys,
    Kind.TEMPERATURE: Wording._temperatures,
    Kind.WARM_ANOMALY: Wording._anomalies,
    Kind.COLD_ANOMALY: Wording._anomalies,
}
