"""The cases in which a judge and people disagree, the furthest apart first, with their texts.

A disagreement is a verdict of another class than the label, or an invalid verdict. Invalid verdicts
come last: they have no distance. Texts are data of a file: they stand on the page of the card, cut
to their two ends, and in no other file of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.reports.evidence import rendered
from reward_functions.reports.pages.page import Case, SideBySide, excerpt
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.calibration.asking import Rating, Ratings
    from reward_functions.calibration.beside import BesideJudge
    from reward_functions.calibration.cases import LabelledCase, LabelledCases
    from reward_functions.reports.pages.page import Part

LISTED: Final = 10
"""Disagreements in a table."""

OPEN: Final = 6
"""Disagreements whose texts are in sight."""

SHOWN: Final = 20
"""Disagreements whose texts the page has; a click opens those of most."""

ROOM: Final = 1_200
"""Bytes of a text on the page."""


class Disagreement(NamedTuple):
    """One case.

    Attributes:
        case: with its label.
        rating: of the judge.
        apart: the distance of the verdict's class to the label, above 0, at most 1; 0 for an
            invalid verdict.
    """

    case: LabelledCase
    rating: Rating
    apart: float


def disagreements(cases: LabelledCases, ratings: Ratings) -> list[Disagreement]:
    """All of them, the furthest apart first; those equally far in the order of the file."""
    found = []
    for case in cases.items:
        rating = ratings.first(case.id)
        if rating is None:
            continue
        verdict = None if rating.value is None else cases.nearest(rating.value)
        if verdict != case.label:
            apart = 0.0 if verdict is None else abs(verdict - case.label)
            found.append(Disagreement(case, rating, apart))
    return sorted(found, key=lambda each: -each.apart)


def verdict_words(cases: LabelledCases, rating: Rating | None) -> str:
    """A verdict in words: "first", "7", "invalid, refused"; "no rating" where it is missing."""
    if rating is None:
        return "no rating"
    if rating.value is None:
        return f"invalid, {rating.invalid}"
    return cases.labels.name(cases.nearest(rating.value))


def disagreeing_sheet(
    cases: LabelledCases, found: list[Disagreement], other: BesideJudge | None
) -> Sheet:
    """The furthest apart, without their texts."""
    rows = [
        [
            each.case.id,
            cases.labels.name(each.case.label),
            verdict_words(cases, each.rating),
            *([verdict_words(cases, other.ratings.first(each.case.id))] if other else []),
        ]
        for each in found[:LISTED]
    ]
    heads = ["case", "people", "the judge", *(["the other judge"] if other else [])]
    left = len(found) - LISTED
    note = f"{left:,} more: the .json of the card has every verdict." if left > 0 else ""
    return Sheet("Where they disagree", heads, rows, note, words=heads[1:])


def disagreeing_parts(
    cases: LabelledCases, found: list[Disagreement], other: BesideJudge | None
) -> Iterator[Part]:
    """The first with their texts in sight, others with texts that a click opens; how many more."""
    for at, each in enumerate(found[:SHOWN]):
        people = cases.labels.name(each.case.label)
        title = f"{each.case.id}: people {people}, the judge {verdict_words(cases, each.rating)}"
        facts = list(_facts(cases, each, other))
        texts = list(_texts(cases, each.case))
        if at >= OPEN:
            yield Case(title, facts, texts)
        else:
            note = "; ".join(f"{name}: {value}" for name, value in facts)
            sides = [Case(name, quotations=[("", text)]) for name, text in texts]
            yield SideBySide(title, sides, note=note)
    if len(found) > SHOWN:
        yield f"{len(found) - SHOWN:,} more disagreements are not shown here."


def _facts(
    cases: LabelledCases, each: Disagreement, other: BesideJudge | None
) -> Iterator[tuple[str, str]]:
    if each.case.votes:
        yield "votes", ", ".join(map(cases.labels.name, each.case.votes))
    if each.rating.confidence is not None:
        yield "the judge's confidence", f"{each.rating.confidence:g}"
    if other is not None:
        yield other.called, verdict_words(cases, other.ratings.first(each.case.id))
    yield "where", each.case.where.rpartition("/")[2]


def _texts(cases: LabelledCases, case: LabelledCase) -> Iterator[tuple[str, str]]:
    turns = case.sample.context
    several = len(turns) > 1
    prompt = "\n\n".join(f"{turn.role}: {turn.content}" * several or turn.content for turn in turns)
    yield "prompt", excerpt(prompt, ROOM)
    pair = cases.labels.kind == "pair"
    yield "first response" if pair else "response", excerpt(case.sample.response, ROOM)
    if pair:
        yield "second response", excerpt(case.second_response, ROOM)
    elif reference := rendered(case.sample.reference):
        yield "reference", excerpt(reference, ROOM)
