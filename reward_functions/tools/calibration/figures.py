"""The figures of a calibration, from what people said and what a judge said.

    agreement   the judge's class against people's label: accuracy, macro and weighted F1, kappa,
                and the F1 of the tie, which many judges never choose; once for each way of
                counting answers that were not usable
    ceiling     each person against the label, their own vote included: no judge can do better
    lean        the mean of judge minus people: towards the first response, or towards leniency
    length      the slope of judge minus people, by doublings of length: what length earns beyond
                merit

Intervals are bootstrapped by prompt.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import fsum, log2
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.extraction import without_reasoning
from reward_functions.tools.calibration.cases import TIE
from reward_functions.tools.calibration.confusion import WAYS, Confusion, confusion, summed
from reward_functions.tools.calibration.readings import Share
from reward_functions.tools.calibration.resampling import DRAWS, Interval, intervals
from reward_functions.tools.calibration.steadiness import Steadiness, steadiness

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reward_functions.tools.calibration.cases import Case, Cases
    from reward_functions.tools.calibration.confusion import Way
    from reward_functions.tools.calibration.readings import Reading, Readings

AGREEMENT: Final = ("accuracy", "macro F1", "weighted F1", "kappa", "tie F1")


class Figure(NamedTuple):
    """A figure and its interval; None where there is none."""

    value: float | None
    interval: Interval | None = None


class Person(NamedTuple):
    """One of those who voted: against the label, and the judge against them."""

    accuracy: float | None
    macro_f1: float | None
    kappa: float | None
    judge_accuracy: float | None
    judge_kappa: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What is known of a judge.

    Args:
        cases: how many have a reading.
        prompts: how many different prompts they have.
        table: people's labels against the judge's.
        agreement: by the way of counting, the figures of `AGREEMENT`.
        unusable: why answers were not.
        people: who voted.
        between: pairs of people who said the same of a case.
        lean: see the module's docstring.
        length: the slope.
        points: (length, judge minus people) of every usable case.
        steadiness: when asked twice.
        confidence: by the judge's own, how many were right.
    """

    cases: int
    prompts: int
    table: Confusion
    agreement: Mapping[Way, Mapping[str, Figure]]
    unusable: Mapping[str, int]
    people: Sequence[Person]
    between: Share
    lean: Figure
    length: Figure
    points: Sequence[tuple[float, float]]
    steadiness: Steadiness
    confidence: Mapping[float, Share]

    @property
    def ceiling(self) -> tuple[float, float, float] | None:
        """Mean accuracy, macro F1 and kappa of a person against the label."""
        if not self.people:
            return None
        columns = list(zip(*[person[:3] for person in self.people], strict=True))
        accuracy, macro, kappa = (
            fsum(value or 0.0 for value in column) / len(column) for column in columns
        )
        return accuracy, macro, kappa


class Sums(NamedTuple):
    """What a least-squares line of some points is made of."""

    points: int = 0
    x: float = 0.0
    y: float = 0.0
    xx: float = 0.0
    xy: float = 0.0

    @property
    def slope(self) -> float | None:
        """Of the line; None where all points stand above one another."""
        spread = self.points * self.xx - self.x * self.x
        if self.points < 2 or spread <= 1e-9 * self.points * self.xx:  # noqa: PLR2004 - of a line
            return None
        return (self.points * self.xy - self.x * self.y) / spread

    @property
    def mean(self) -> float | None:
        """Of the heights."""
        return self.y / self.points if self.points else None


class Cluster(NamedTuple):
    """The cases of one prompt."""

    table: Confusion
    sums: Sums


def figures(cases: Cases, readings: Readings, *, times: int = DRAWS, seed: int = 0) -> Figures:
    """The figures of what was said.

    Args:
        cases: what people said.
        readings: what the judge said; at least one.
        times: draws of the bootstrap.
        seed: of the draws.
    """
    said = [
        (case, reading) for case in cases.items if (reading := readings.first(case.id)) is not None
    ]
    clusters = _clusters(cases, said)
    imputed = cases.classes.index(TIE) if TIE in cases.classes else 0

    def told(drawn: Sequence[Cluster]) -> dict[str, float | None]:
        return _told(drawn, cases.classes, imputed)

    values = told(clusters)
    moved = intervals(clusters, told, times=times, seed=seed)
    figure = {name: Figure(value, moved.get(name)) for name, value in values.items()}
    return Figures(
        cases=len(said),
        prompts=len(clusters),
        table=summed((cluster.table for cluster in clusters), len(cases.classes)),
        agreement={
            way: {name: figure[f"{way} {name}"] for name in AGREEMENT if f"{way} {name}" in figure}
            for way in WAYS
        },
        unusable=Counter(reading.unusable for _, reading in said if reading.value is None),
        people=[_person(cases, said, at) for at in range(cases.annotators)],
        between=_between(cases.items),
        lean=figure["lean"],
        length=figure["length"],
        points=[point for case, reading in said if (point := _point(cases, case, reading))],
        steadiness=steadiness(cases, readings),
        confidence=_confidence(cases, said),
    )


def _class(cases: Cases, reading: Reading) -> float | None:
    return None if reading.value is None else cases.nearest(reading.value)


def _clusters(cases: Cases, said: Iterable[tuple[Case, Reading]]) -> list[Cluster]:
    prompts: dict[str, list[tuple[Case, Reading]]] = defaultdict(list)
    for case, reading in said:
        prompts[case.prompt].append((case, reading))
    return [
        Cluster(
            confusion(
                [(case.label, _class(cases, reading)) for case, reading in group], cases.classes
            ),
            _sums(point for case, reading in group if (point := _point(cases, case, reading))),
        )
        for group in prompts.values()
    ]


def _told(
    clusters: Sequence[Cluster], classes: Sequence[float], imputed: int
) -> dict[str, float | None]:
    """All figures that have an interval, of some clusters."""
    table = summed((cluster.table for cluster in clusters), len(classes))
    points, *rest = zip(*(cluster.sums for cluster in clusters), strict=True)
    line = Sums(sum(points), *map(fsum, rest))
    told = {"lean": line.mean, "length": line.slope}
    for way in WAYS:
        counted = table.counted(way, imputed)
        told[f"{way} accuracy"] = counted.accuracy()
        told[f"{way} macro F1"] = counted.macro_f1()
        told[f"{way} weighted F1"] = counted.weighted_f1()
        told[f"{way} kappa"] = counted.kappa()
        if TIE in classes:
            told[f"{way} tie F1"] = counted.f1(imputed)
    return told


def _point(cases: Cases, case: Case, reading: Reading) -> tuple[float, float] | None:
    """Length, in doublings, and judge minus people; of a pair, how much longer the first is."""
    value = _class(cases, reading)
    if value is None:
        return None
    length = log2(1 + len(without_reasoning(case.sample.response)))
    if cases.labels.kind == "pair":
        length -= log2(1 + len(without_reasoning(case.rival)))
    return length, value - case.label


def _sums(points: Iterable[tuple[float, float]]) -> Sums:
    listed = list(points)
    return Sums(
        len(listed),
        fsum(x for x, _ in listed),
        fsum(y for _, y in listed),
        fsum(x * x for x, _ in listed),
        fsum(x * y for x, y in listed),
    )


def _person(cases: Cases, said: Sequence[tuple[Case, Reading]], at: int) -> Person:
    """One who voted; where the judge said nothing usable, it agreed with nobody."""
    voted = confusion([(case.label, case.votes[at]) for case, _ in said], cases.classes)
    judged = confusion(
        [(case.votes[at], _class(cases, reading)) for case, reading in said], cases.classes
    )
    return Person(
        voted.accuracy(), voted.macro_f1(), voted.kappa(), judged.accuracy(), judged.kappa()
    )


def _between(items: Iterable[Case]) -> Share:
    """Pairs of people who said the same of a case."""
    same = whole = 0
    for case in items:
        counts = Counter(case.votes).values()
        same += sum(count * (count - 1) // 2 for count in counts)
        whole += len(case.votes) * (len(case.votes) - 1) // 2
    return Share(same, whole)


def _confidence(cases: Cases, said: Iterable[tuple[Case, Reading]]) -> dict[float, Share]:
    right: dict[float, list[bool]] = defaultdict(list)
    for case, reading in said:
        if reading.confidence is not None and reading.value is not None:
            right[reading.confidence].append(_class(cases, reading) == case.label)
    return {sure: Share(sum(right[sure]), len(right[sure])) for sure in sorted(right)}
