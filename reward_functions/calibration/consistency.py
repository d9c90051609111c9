"""Consistency of a judge: between repeated questions, and between the two orders of a pair.

Both are measured wherever a question was asked twice: in repeated trials, and where the file holds
the same pair twice, or once in each order. Invalid verdicts are left out.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from reward_functions.calibration.ratings import Share, Trial, agreeing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.calibration.cases import LabelledCase, LabelledCases
    from reward_functions.calibration.ratings import Ratings


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """Shares of equal answers.

    Args:
        orders: pairs with the same answer in both orders.
        own: the same, of a judge that asks in both orders by itself.
        repeats: repeated questions with the same answer.
        right_consistent: right answers among those that did not depend on the order.
        right_inconsistent: right answers among those that did.
    """

    orders: Share
    own: Share
    repeats: Share
    right_consistent: Share
    right_inconsistent: Share


def consistency(cases: LabelledCases, ratings: Ratings) -> Consistency:
    """The consistency of a judge, from the questions that were asked twice."""
    both = list(_both_orders(cases, ratings))
    own = [rating for rating in ratings.given.values() if rating.inconsistent is not None]
    right: dict[bool, list[bool]] = {True: [], False: []}
    for case, one, other in both:
        right[one == other].append(one == case.label)
    return Consistency(
        orders=agreeing([(one, other) for _, one, other in both]),
        own=Share(sum(not rating.inconsistent for rating in own), len(own)),
        repeats=agreeing(list(_repeats(cases, ratings))),
        right_consistent=Share(sum(right[True]), len(right[True])),
        right_inconsistent=Share(sum(right[False]), len(right[False])),
    )


def _class(cases: LabelledCases, ratings: Ratings, trial: Trial) -> float | None:
    rating = ratings.given.get(trial)
    return None if rating is None or rating.value is None else cases.nearest(rating.value)


def _both_orders(
    cases: LabelledCases, ratings: Ratings
) -> Iterator[tuple[LabelledCase, float, float]]:
    """Cases with their class in the order of the file and in the other."""
    for case, other in _mirrored(cases):
        one = _class(cases, ratings, Trial(case.id))
        mirrored = _class(cases, ratings, Trial(other.id))
        if one is not None and mirrored is not None:
            yield case, one, 1 - mirrored
    for case in cases.items:
        one = _class(cases, ratings, Trial(case.id))
        swapped = _class(cases, ratings, Trial(case.id, swapped=True))
        if one is not None and swapped is not None:
            yield case, one, swapped


def _mirrored(cases: LabelledCases) -> Iterator[tuple[LabelledCase, LabelledCase]]:
    """Pairs of cases that are equal but for the order of their responses; each is used once."""
    waiting: dict[tuple[str, str, str], list[LabelledCase]] = defaultdict(list)
    for case in cases.items if cases.labels.kind == "pair" else ():
        if case.second_response != case.sample.response:
            mirror = waiting[case.prompt, case.second_response, case.sample.response]
            if mirror:
                yield mirror.pop(0), case
            else:
                waiting[case.prompt, case.sample.response, case.second_response].append(case)


def _repeats(cases: LabelledCases, ratings: Ratings) -> Iterator[tuple[float, float]]:
    """The classes of two successive answers to the same question."""
    asked: dict[tuple[str, str, str, bool], list[float]] = defaultdict(list)
    ids = {case.id: case for case in cases.items}
    for trial in sorted(ratings.given):
        value, case = _class(cases, ratings, trial), ids[trial.case]
        if value is not None:
            key = (case.prompt, case.sample.response, case.second_response, trial.swapped)
            asked[key].append(value)
    for answers in asked.values():
        yield from pairwise(answers)
