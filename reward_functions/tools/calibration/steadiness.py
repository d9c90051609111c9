"""Whether a judge says the same when it is asked again, and in the other order.

Each is measured wherever the question was put twice: because the run asked twice, or because the
file holds the same pair twice, or once in each order. Answers that were not usable are left out.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from reward_functions.tools.calibration.readings import Share, Turn, agreeing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.tools.calibration.cases import Case, Cases
    from reward_functions.tools.calibration.readings import Readings


@dataclass(frozen=True, slots=True, kw_only=True)
class Steadiness:
    """How steady a judge is.

    Args:
        orders: pairs asked in both orders with the same answer.
        own: the same of a judge that asks in both orders by itself.
        repeats: questions asked again with the same answer.
        right_steady: of the answers that did not depend on the order, those that people gave.
        right_unsteady: of the others.
    """

    orders: Share
    own: Share
    repeats: Share
    right_steady: Share
    right_unsteady: Share


def steadiness(cases: Cases, readings: Readings) -> Steadiness:
    """How steady a judge is, by what was asked twice."""
    both = list(_both_orders(cases, readings))
    told = [reading for reading in readings.given.values() if reading.inconsistent is not None]
    right: dict[bool, list[bool]] = {True: [], False: []}
    for case, one, other in both:
        right[one == other].append(one == case.label)
    return Steadiness(
        orders=agreeing([(one, other) for _, one, other in both]),
        own=Share(sum(not reading.inconsistent for reading in told), len(told)),
        repeats=agreeing(list(_repeats(cases, readings))),
        right_steady=Share(sum(right[True]), len(right[True])),
        right_unsteady=Share(sum(right[False]), len(right[False])),
    )


def _class(cases: Cases, readings: Readings, turn: Turn) -> float | None:
    reading = readings.given.get(turn)
    return None if reading is None or reading.value is None else cases.nearest(reading.value)


def _both_orders(cases: Cases, readings: Readings) -> Iterator[tuple[Case, float, float]]:
    """Cases with their class in the order of the file and in the other."""
    for case, other in _mirrored(cases):
        one = _class(cases, readings, Turn(case.id))
        mirrored = _class(cases, readings, Turn(other.id))
        if one is not None and mirrored is not None:
            yield case, one, 1 - mirrored
    for case in cases.items:
        one = _class(cases, readings, Turn(case.id))
        swapped = _class(cases, readings, Turn(case.id, swapped=True))
        if one is not None and swapped is not None:
            yield case, one, swapped


def _mirrored(cases: Cases) -> Iterator[tuple[Case, Case]]:
    """Pairs of the file that are each other with the responses swapped; each is used once."""
    waiting: dict[tuple[str, str, str], list[Case]] = defaultdict(list)
    for case in cases.items if cases.labels.kind == "pair" else ():
        if case.rival != case.sample.response:
            mirror = waiting[case.prompt, case.rival, case.sample.response]
            if mirror:
                yield mirror.pop(0), case
            else:
                waiting[case.prompt, case.sample.response, case.rival].append(case)


def _repeats(cases: Cases, readings: Readings) -> Iterator[tuple[float, float]]:
    """The classes of a question asked once and once more."""
    asked: dict[tuple[str, str, str, bool], list[float]] = defaultdict(list)
    ids = {case.id: case for case in cases.items}
    for turn in sorted(readings.given):
        value, case = _class(cases, readings, turn), ids[turn.case]
        if value is not None:
            key = (case.prompt, case.sample.response, case.rival, turn.swapped)
            asked[key].append(value)
    for answers in asked.values():
        yield from pairwise(answers)
