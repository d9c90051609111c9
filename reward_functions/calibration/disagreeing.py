"""The cases in which a judge and people disagree, the furthest apart first, with their texts.

A disagreement is a verdict of another class than the label, or an invalid verdict. Invalid verdicts
come last: they have no distance. Texts are data of a file: they stand on the page of the card, cut
to their two ends, and in no other file of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.reports.evidence import rendered
from reward_functions.reports.pages.page import Case, excerpt
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.calibration.asking import Rating, Ratings
    from reward_functions.calibration.beside import BesideJudge
    from reward_functions.calibration.cases import LabelledCase, LabelledCases

LISTED: Final = 10
"""Disagreements in a table."""

SHOWN: Final = 30
"""Disagreements whose texts the page shows."""

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


def disagreeing_cases(
    cases: LabelledCases, found: list[Disagreement], other: BesideJudge | None
) -> Iterator[Case | str]:
    """Each with its prompt and responses, and a sentence on those that are left out."""
    for each in found[:SHOWN]:
        people, judge = cases.labels.name(each.case.label), verdict_words(cases, each.rating)
        facts = [("people", _people(cases, each.case)), ("the judge", judge)]
        if each.rating.confidence is not None:
            facts.append(("its confidence", f"{each.rating.confidence:g}"))
        if other is not None:
            facts.append((other.called, verdict_words(cases, other.ratings.first(each.case.id))))
        facts.append(("where", each.case.where))
        yield Case(
            f"{each.case.id}: people {people}, the judge {judge}",
            facts=facts,
            quotations=list(_texts(cases, each.case)),
        )
    if len(found) > SHOWN:
        yield f"{len(found) - SHOWN:,} more disagreements are not shown here."


def _people(cases: LabelledCases, case: LabelledCase) -> str:
    label = cases.labels.name(case.label)
    votes = ", ".join(map(cases.labels.name, case.votes))
    return f"{label}; votes {votes}" if votes else label


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
