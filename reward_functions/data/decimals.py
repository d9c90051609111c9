"""Decimal commas: which references have one, whether a file does, and the same with a point.

Rewards read `9.50` and `1,250.00`. Spreadsheets of half of Europe write `9,50` and `1.250,00`: the
first is no number to a reward, or a list, and `1.250` is another number without a word.

| reference | sign |
| --- | --- |
| `9,50`, `0,125`, `1.250,00`, `1 250,5`, `1.250.000` | a comma, or points between thousands |
| `9.50`, `0.125`, `1,250.00`, `1,250,000` | a point, or commas between thousands |
| `1.250` | three places, or thousands |
| `12`, `1,250` | a number, and no sign |
| `1,2,3`, `9, 50`, `1.2.3`, words | no number |

A currency, a sign and a unit may stand around the number. Of a solution the part after the last
`####` counts. One text tells nothing, since `3,5` may be a list: a file has decimal commas where
most of its references are numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from reward_functions.core.errors import BadReference, BadSample
from reward_functions.data.answers import stated_answer

DecimalSign: TypeAlias = Literal["point", "comma"]

ShownSign: TypeAlias = Literal["comma", "point", "three", ""]

MOST: Final = 0.8
"""Share of references that are numbers, before the file counts as one of numbers."""

WITH_POINTS: Final = "Write decimals with a point, and thousands without a separator."
"""For prompts whose references had commas."""

_WRITTEN: Final = re.compile(
    r"(?P<lead>[-+−±]?\s?[^\W\d_]{0,3}\.?(?:\\?[$€£¥])?\s?[-+−]?)"
    r"(?P<value>\d[\d.,'’\u00a0\u2009\u202f ]{0,60}\d|\d)"
    r"(?P<tail>\s?[^\d,;:|=(){}\[\]]{0,40})"
)

_GROUPED: Final = re.compile(r"\d{1,3}(?:['’\u00a0\u2009\u202f ]\d{3})+")
"""Thousands with spaces or apostrophes, of either sign."""

_SIGNS: Final[tuple[tuple[re.Pattern[str], ShownSign], ...]] = (
    (re.compile(r"\d++|[1-9]\d{0,2},\d{3}"), ""),
    (re.compile(r"[1-9]\d{0,2}\.\d{3}"), "three"),
    (re.compile(r"\A\d++,\d++"), "comma"),
    (re.compile(r"\A\d++\.\d++"), "point"),
    (re.compile(r"\A[1-9]\d{0,2}(?:\.\d{3})+(?:,\d++)?"), "comma"),
    (re.compile(r"\A[1-9]\d{0,2}(?:,\d{2,3})+(?<=,\d\d\d)(?:\.\d++)?"), "point"),
)
"""The first that a number without spaces matches wholly; no number matches none."""


def sign_of(text: str) -> ShownSign | None:
    """The decimal sign that a text shows; "" of a number that shows none, None of no number."""
    written = _WRITTEN.fullmatch(text.strip())
    if written is None:
        return None
    value = written["value"]
    if grouped := _GROUPED.match(value):
        rest = value[grouped.end() :]
        if not rest:
            return ""
        value = f"1000{rest}"
    return next((sign for pattern, sign in _SIGNS if pattern.fullmatch(value)), None)


def with_point(text: str) -> str:
    """A number with a decimal comma, written with a point; any other text as it is.

    Raises:
        BadSample: it shows a decimal point.
    """
    sign = sign_of(text)
    written = _WRITTEN.fullmatch(text.strip())
    if written is None or sign is None:
        return text
    if sign == "point":
        raise BadSample(f"{in_quotes(text)} has a decimal point, among references with a comma")
    value = re.sub(r"[^\d,]", "", written["value"]).replace(",", ".")
    return f"{written['lead']}{value}{written['tail']}"


def pointed_reference(reference: Any) -> Any:
    """A reference in any shape, its numbers with a decimal point.

    Raises:
        BadSample: a number of it shows a decimal point already.
    """
    if isinstance(reference, dict):
        return {name: pointed_reference(each) for name, each in reference.items()}
    if isinstance(reference, list):
        return [pointed_reference(each) for each in reference]
    if not isinstance(reference, str):
        return reference
    working, mark, answer = reference.rpartition("####")
    return (
        f"{working}{mark}{' ' * bool(mark)}{with_point(answer)}" if mark else with_point(reference)
    )


def in_quotes(text: str) -> str:
    """A reference in a message: quoted, and cut."""
    stripped = text.strip()
    return repr(stripped if len(stripped) <= 40 else f"{stripped[:39]}…")  # noqa: PLR2004


@dataclass(slots=True)
class Signs:
    """The decimal signs of a file's references.

    Attributes:
        references: that are not empty.
        numbers: of them.
        commas: those with a decimal comma, each with its place.
        three: those that may be thousands with points, each with its place.
        points: how many have a decimal point.
    """

    references: int = 0
    numbers: int = 0
    commas: list[tuple[str, str]] = field(default_factory=list)
    three: list[tuple[str, str]] = field(default_factory=list)
    points: int = 0

    def add(self, reference: Any, where: str = "") -> None:
        """Count a reference in any shape; numbers of JSON are numbers with a point."""
        if isinstance(reference, dict) and "unit" in reference:  # `reward data prepare` wrote it
            return
        try:
            text, _ = stated_answer(reference)
        except BadReference:
            text = str(reference or "")
        if not text.strip():
            return
        sign = sign_of(text)
        self.references += 1
        self.numbers += sign is not None
        self.points += sign == "point"
        if sign in ("comma", "three"):
            (self.commas if sign == "comma" else self.three).append((text.strip(), where))

    @property
    def with_comma(self) -> list[tuple[str, str]]:
        """References that have a decimal comma; none in a file whose references are no numbers."""
        return self.commas if self.numbers >= MOST * self.references else []

    @property
    def perhaps_thousands(self) -> list[tuple[str, str]]:
        """References such as `1.250`, where no other shows what the point is."""
        known = self.commas or self.points
        return [] if known or self.numbers < MOST * self.references else self.three
