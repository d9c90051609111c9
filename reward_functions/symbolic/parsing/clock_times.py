"""Times of day: 4:30, 9:03:36 a.m., 5 PM, at 9 o'clock, noon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re
from reward_functions.symbolic.expr.nodes import Clock

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.lexer import Token

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
