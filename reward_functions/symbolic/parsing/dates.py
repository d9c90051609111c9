"""Days of the calendar: 14 March, March 14th, 2024, on Tuesday, 2024-03-14, 3月14日.

Times of day: 4:30, 9:03:36 a.m., 5 PM, at 9 o'clock, noon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re
from reward_functions.symbolic.expr.nodes import Clock, Date
from reward_functions.symbolic.parsing.numerals import ordinal_ending

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.symbolic.parsing.lexer import Token


_MONTHS: Final = (
    "January Jan", "February Feb", "March Mar", "April Apr", "May", "June Jun", "July Jul",
    "August Aug", "September Sept Sep", "October Oct", "November Nov", "December Dec",
)  # fmt: skip
_WEEKDAYS: Final = (
    "Monday Mon 星期一 周一", "Tuesday Tues Tue 星期二 周二", "Wednesday Wed 星期三 周三",
    "Thursday Thurs Thur Thu 星期四 周四", "Friday Fri 星期五 周五", "Saturday Sat 星期六 周六",
    "Sunday Sun 星期日 星期天 周日",
)  # fmt: skip
_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MARGINS: Final = frozenset(",.{}^")
_LEADING: Final = frozenset(("on", "in", "the", "a"))
_BETWEEN: Final = frozenset(("of", "the"))
_CHINESE: Final = {"年": "year", "月": "month", "日": "day", "号": "day"}
_MOST: Final = 16
"""Tokens of a date, with its weekday and its punctuation."""
_YEAR: Final = 4
_SHORT: Final = 4
"""Letters of a name that is also something else in another case."""


def calendar_date(stream: Sequence[Token]) -> Date | None:
    """The day, month or weekday that a string is; None for anything else."""
    if not stream or len(stream) > _MOST or stream[0].kind not in ("number", "letters"):
        return None
    if [token.kind for token in stream] == ["number", "-", "number", "-", "number"]:
        return _in_digits(*(token.text for token in stream if token.kind == "number"))
    if _NAMES.isdisjoint([token.text.capitalize() for token in stream]):
        return None
    words = [token for token in stream if token.kind not in _MARGINS]
    while words and words[0].text.lower() in _LEADING:
        words = words[1:]
    return _in_chinese(words) or _in_words(words)


def _in_digits(year: str, month: str, day: str) -> Date | None:
    """Year, month and day, of four, two and two digits."""
    if (len(year), len(month), len(day)) != (_YEAR, 2, 2):
        return None
    return _date(int(day), int(month), int(year))


def _in_chinese(words: Sequence[Token]) -> Date | None:
    """Numbers, each with what it counts behind it."""
    found = {}
    for number, unit in zip(words[::2], words[1::2], strict=False):
        name = _CHINESE.get(unit.text, "")
        if number.kind != "number" or not number.text.isdecimal() or not name or name in found:
            return None
        found[name] = int(number.text[:_YEAR])
    if len(words) % 2 or "month" not in found:
        return None
    return _date(found.get("day", 0), found["month"], found.get("year", 0))


def _in_words(words: Sequence[Token]) -> Date | None:
    """A weekday, a month, its day and its year: each once, the year last."""
    found: dict[str, int] = {}
    for place in range(len(words)):
        part = _part(words, place)
        if part is None or part[0] in found or "year" in found:
            return None
        if part[0]:
            found[part[0]] = part[1]
    if "month" not in found and not {"day", "year"}.isdisjoint(found):
        return None
    return _date(*(found.get(name, 0) for name in ("day", "month", "year", "weekday")))


def _part(words: Sequence[Token], place: int) -> tuple[str, int] | None:
    """The part of a date that a word is, and its number; none for a word that states nothing."""
    token = words[place]
    text = token.text
    if token.kind == "number":
        name = {1: "day", 2: "day", _YEAR: "year"}.get(len(text), "")
        return (name, int(text)) if name and text.isdecimal() and int(text) else None
    if token.kind != "letters":
        return None
    for name, table in (("weekday", _WEEKDAY), ("month", _MONTH)):
        if _cased(text) in table:
            return name, table[_cased(text)]
    before = words[place - 1] if place else token
    ordinal = before.kind == "number" and text == ordinal_ending(before.text)
    return ("", 0) if ordinal or text.lower() in _BETWEEN else None


def _date(day: int, month: int, year: int, weekday: int = 0) -> Date | None:
    """A date, where the calendar has it."""
    if month > len(_DAYS) or day > (_DAYS[month - 1] if month else 0):
        return None
    return Date(day, month, year, weekday) if month or weekday else None


def _cased(name: str) -> str:
    """A name as the tables have it; a short one in another case is something else: DEC, may."""
    return name.capitalize() if len(name) > _SHORT else name


_MONTH: Final = {
    name: place for place, names in enumerate(_MONTHS, start=1) for name in names.split()
}
_WEEKDAY: Final = {
    name: place for place, names in enumerate(_WEEKDAYS, start=1) for name in names.split()
}
_NAMES: Final = frozenset((*_MONTH, *_WEEKDAY, *_CHINESE))


_TIME: Final = re.compile(r"([0-9]{1,2})(?::([0-9]{2})(?::([0-9]{2}))?)?(?:([ap])\.?m\.?)?")
_NAMED: Final = {
    **dict.fromkeys(("noon", "midday"), Clock(12 * 60, "pm")),
    "midnight": Clock(0, "am"),
}
_ON_THE_HOUR: Final = ["o", "'", "clock"]
_HOURS: Final = 12
_MINUTES: Final = 60


def clock_time(stream: list[Token]) -> Clock | None:
    """A time of day: 4:30, 4:30 p.m., 5 PM. A bare 4:30 may also turn out to be a ratio."""
    if stream and stream[0].text == "at":
        stream = stream[1:]
    if len(stream) == 1 and stream[0].kind == "letters":
        return _NAMED.get(stream[0].text.lower())
    if len(stream) > 13 or not stream or stream[0].kind != "number":  # noqa: PLR2004
        return None
    on_the_hour = [token.text.lower() for token in stream[1:]] == _ON_THE_HOUR
    if on_the_hour and stream[0].text.isdecimal() and 0 < int(stream[0].text[:3]) <= _HOURS:
        return Clock(int(stream[0].text) * _MINUTES)
    text = "".join(token.text for token in stream if token.kind not in ("{", "}")).lower()
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    half, seconds = match[4], int(match[3] or 0)
    if match[2] is None and (half is None or not (stream[1].roman or "." in text)):
        return None  # 5am may be 5·a·m
    hours, minutes = int(match[1]), int(match[2] or 0)
    if max(minutes, seconds) >= _MINUTES or hours > (_HOURS if half else 2 * _HOURS):
        return None
    if match[3] and not half:
        return None  # a ratio of three terms
    return Clock(hours * _MINUTES + minutes, f"{half}m" if half else "", seconds)
