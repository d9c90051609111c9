"""A phrase beside an answer, and why an answer beside one does not count."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Side = Literal["before", "after"]


class Phrase(NamedTuple):
    """A phrase on one side of an answer.

    Args:
        kind: why the answer beside it does not count, as a clause.
        side: of the answer.
        words: the phrase, as the docstring of `lexicon` says.
        example: the phrase with the answer 5: with it 5 does not count, without it it does.
        gap: which words may stand between it and the answer, a row of `lexicon.GAPS`.
        reach: how far from the answer it may stand: on its "line", in its "sentence", or in the
            "next" one.
    """

    kind: str
    side: Side
    words: str
    example: str
    gap: str
    reach: str


DENIED: Final = "is denied"
TAKEN_BACK: Final = "is taken back"
EXCLUDED: Final = "is set aside"
SEVERAL: Final = "is one of several"
OTHERS: Final = "is only what others say"
BOUND: Final = "is only a bound"
PART: Final = "is only a part of the value"
SUPPOSED: Final = "is only supposed"
FORMAT: Final = "only shows a format"
CORRECTED: Final = "is corrected"

RULES: Final = {DENIED: "denied", TAKEN_BACK: "taken-back"}
"""The rule of each kind that disqualifies a box or a `####`."""

_KINDS: Final = {
    "denied": DENIED,
    "taken_back": TAKEN_BACK,
    "excluded": EXCLUDED,
    "several": SEVERAL,
    "others": OTHERS,
    "bound": BOUND,
    "part": PART,
    "supposed": SUPPOSED,
    "format": FORMAT,
    "corrected": CORRECTED,
}


def phrases(side: Side, table: str) -> tuple[Phrase, ...]:
    """The rows of a table, one a line: the words, two spaces, "#" and an example.

    Another "#" names languages other than English, by ISO 639. Above the rows of a block stands
    their kind, their gap, and their reach where it is more than the line.
    """
    found: list[Phrase] = []
    kind = gap = reach = ""
    for line in filter(None, map(str.strip, table.splitlines())):
        words, *rest = line.split("  # ")
        if rest:
            found.append(Phrase(_KINDS[kind], side, words, rest[0], gap, reach))
        else:
            kind, gap, reach = (*line.split(), "line")[:3]
    return tuple(found)


def vocabulary(listed: str) -> frozenset[str]:
    """Words, and pairs of words joined by "_", for `compiling.says`."""
    return frozenset([each.replace("_", " ") for each in listed.split()])
