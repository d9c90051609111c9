"""The figures of a calibration, from the labels of people and the ratings of a judge.

    agreement     the judge's class against the label: accuracy, macro and weighted F1, kappa, and
                  the F1 of the tie, which many judges never choose; once for each way of counting
                  invalid verdicts
    ceiling       each person against the label, their own vote included: an upper bound for judges
    consistency   equal answers to equal questions: asked again, or with a pair in the other order
    bias          the mean of judge minus people: position bias of pairs, leniency of grades
    length bias   the slope of judge minus people by doublings of length: the reward of length alone

Agreement is an exact function of a confusion matrix. Rows are the classes of one rater (people),
columns those of the other (a judge). One more column counts the judge's invalid verdicts. How these
count is a decision that moves every figure, so that a judge has three tables:

| way | an invalid verdict |
| --- | --- |
| wrong | is a wrong answer, in no class of people |
| left out | removes the case |
| imputed | counts as the tie, or as the worst class where there is no tie |

Consistency is measured wherever a question was asked twice: in repeated trials, and where the file
holds the same pair twice, or once in each order. Invalid verdicts are left out.

Intervals are bootstrapped by prompt; the cases of a single prompt have none. Sources: F1 as in van
Rijsbergen, Information Retrieval, 1979; kappa as in Cohen, A Coefficient of Agreement for Nominal
Scales, 1960.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from math import fsum, log2
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from reward_functions.calibration.asking import Tally, Trial, agreeing
from reward_functions.calibration.cases import TIE
from reward_functions.core.means import mean
from reward_functions.extraction.reasoning import without_reasoning
from reward_functions.reports.statistics import DRAWS, Interval, intervals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reward_functions.calibration.asking import Rating, Ratings
    from reward_functions.calibration.cases import LabelledCase, LabelledCases

Way = Literal["wrong", "left out", "imputed"]
WAYS: Final[tuple[Way, ...]] = ("wrong", "left out", "imputed")


@dataclass(frozen=True, slots=True)
class ConfusionMatrix:
    """A confusion matrix.

    Args:
        rows: one for each class of the first rater: the counts of each class of the second, and
            last the count of invalid verdicts. Shape (n, n + 1).
    """

    rows: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.rows)

    @property
    def cases(self) -> int:
        """The number of cases."""
        return sum(map(sum, self.rows))

    @property
    def invalid(self) -> int:
        """The number of invalid verdicts."""
        return sum(row[-1] for row in self.rows)

    def counted(self, way: Way, imputed: int) -> ConfusionMatrix:
        """The matrix with invalid verdicts counted in one of the ways.

        Args:
            way: see the module's docstring.
            imputed: the index of the class that "imputed" adds them to.
        """
        if way == "wrong":
            return self
        return ConfusionMatrix(
            tuple(
                (
                    *[
                        count + (row[-1] if way == "imputed" and at == imputed else 0)
                        for at, count in enumerate(row[:-1])
                    ],
                    0,
                )
                for row in self.rows
            )
        )

    def accuracy(self) -> float | None:
        """The share of cases with the same class from both raters."""
        return _ratio(sum(self.rows[at][at] for at in range(self.size)), self.cases)

    def f1(self, at: int) -> float | None:
        """The harmonic mean of precision and recall of one class; None where neither uses it."""
        first, second = sum(self.rows[at]), sum(row[at] for row in self.rows)
        return _ratio(2 * self.rows[at][at], first + second)

    def macro_f1(self) -> float | None:
        """The mean F1 of the classes that a rater uses."""
        each = [score for at in range(self.size) if (score := self.f1(at)) is not None]
        return _ratio(sum(each), len(each))

    def weighted_f1(self) -> float | None:
        """The mean F1 of the classes, weighted by their cases from the first rater."""
        weighted = [(self.f1(at) or 0.0) * sum(row) for at, row in enumerate(self.rows)]
        return _ratio(sum(weighted), self.cases)

    def kappa(self) -> float | None:
        """Cohen's kappa, agreement beyond chance: 1 for full agreement, 0 for that of chance.

        None where both raters put all cases into one class.
        """
        total = self.cases
        if not total:
            return None
        agreed = sum(self.rows[at][at] for at in range(self.size))
        chance = sum(
            sum(self.rows[at]) * sum(row[at] for row in self.rows) for at in range(self.size)
        )
        return _ratio(agreed * total - chance, total * total - chance)


def confusion_matrix(
    pairs: Iterable[tuple[float, float | None]], classes: Sequence[float]
) -> ConfusionMatrix:
    """The matrix of (first class, second class) pairs; None is an invalid verdict."""
    places = {label: at for at, label in enumerate(classes)}
    rows = [[0] * (len(classes) + 1) for _ in classes]
    for one, other in pairs:
        rows[places[one]][-1 if other is None else places[other]] += 1
    return ConfusionMatrix(tuple(map(tuple, rows)))


def summed(tables: Iterable[ConfusionMatrix], size: int) -> ConfusionMatrix:
    """The sum of matrices, each of `size` classes."""
    none = ((0,) * (size + 1),) * size
    cells = zip(none, *(table.rows for table in tables), strict=True)
    return ConfusionMatrix(tuple(tuple(map(sum, zip(*rows, strict=True))) for rows in cells))


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def consistency(cases: LabelledCases, ratings: Ratings) -> dict[str, Tally]:
    """Equal answers to questions that were asked twice, and right ones by whether they were equal.

    "own orders" are those of a judge that asks in both orders by itself.
    """
    both = list(_both_orders(cases, ratings))
    own = [rating for rating in ratings.given.values() if rating.inconsistent is not None]
    right: dict[bool, list[bool]] = {True: [], False: []}
    for case, one, other in both:
        right[one == other].append(one == case.label)
    return {
        "both orders": agreeing([(one, other) for _, one, other in both]),
        "own orders": Tally(sum(not rating.inconsistent for rating in own), len(own)),
        "asked again": agreeing(list(_repeats(cases, ratings))),
        "right where consistent": Tally(sum(right[True]), len(right[True])),
        "right where not": Tally(sum(right[False]), len(right[False])),
    }


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
            mirror = waiting[case.question, case.second_response, case.sample.response]
            if mirror:
                yield mirror.pop(0), case
            else:
                waiting[case.question, case.sample.response, case.second_response].append(case)


def _repeats(cases: LabelledCases, ratings: Ratings) -> Iterator[tuple[float, float]]:
    """The classes of two successive answers to the same question."""
    asked: dict[tuple[str, str, str, bool], list[float]] = defaultdict(list)
    ids = {case.id: case for case in cases.items}
    for trial in sorted(ratings.given):
        value, case = _class(cases, ratings, trial), ids[trial.case]
        if value is not None:
            key = (case.question, case.sample.response, case.second_response, trial.swapped)
            asked[key].append(value)
    for answers in asked.values():
        yield from pairwise(answers)


AGREEMENT: Final = ("accuracy", "macro F1", "weighted F1", "kappa", "tie F1")


class CardFigure(NamedTuple):
    """A figure and its interval; None where it is undefined."""

    value: float | None
    interval: Interval | None = None


class Person(NamedTuple):
    """One person's agreement with the label, and the judge's agreement with that person."""

    accuracy: float | None
    macro_f1: float | None
    kappa: float | None
    judge_accuracy: float | None
    judge_kappa: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures of a judge.

    Args:
        cases: the number of cases with a rating.
        prompts: the number of their different prompts.
        deciding: of them, those that figures of classes rest on, by the figures' names: prompts
            with another label than the most common one, or with a tie.
        table: the confusion matrix of labels and ratings.
        agreement: the figures of `AGREEMENT`, by the way of counting invalid verdicts.
        invalid: the number of invalid verdicts, by kind.
        people: one entry for each person who voted.
        between: pairs of people with the same vote on a case.
        bias: position bias or leniency, -1 to 1; see the module's docstring.
        length_bias: the slope, per doubling.
        points: (length, judge minus people) of every case with a valid verdict.
        consistency: between the answers to equal questions.
        confidence: right answers, by the confidence that the judge reported.
    """

    cases: int
    prompts: int
    deciding: Mapping[str, int]
    table: ConfusionMatrix
    agreement: Mapping[Way, Mapping[str, CardFigure]]
    invalid: Mapping[str, int]
    people: Sequence[Person]
    between: Tally
    bias: CardFigure
    length_bias: CardFigure
    points: Sequence[tuple[float, float]]
    consistency: Mapping[str, Tally]
    confidence: Mapping[float, Tally]

    @property
    def ceiling(self) -> tuple[float, float, float] | None:
        """Mean accuracy, macro F1 and kappa of a person against the label."""
        if not self.people:
            return None
        columns = list(zip(*[person[:3] for person in self.people], strict=True))
        accuracy, macro, kappa = (mean([value or 0.0 for value in column]) for column in columns)
        return accuracy, macro, kappa


class Sums(NamedTuple):
    """The sums that determine a least-squares line."""

    points: int = 0
    x: float = 0.0
    y: float = 0.0
    xx: float = 0.0
    xy: float = 0.0

    @property
    def slope(self) -> float | None:
        """Of the line; None where all points have the same x."""
        variance = self.points * self.xx - self.x * self.x  # times the points, squared
        if self.points < 2 or variance <= 1e-9 * self.points * self.xx:  # noqa: PLR2004 - of a line
            return None
        return (self.points * self.xy - self.x * self.y) / variance

    @property
    def mean(self) -> float | None:
        """Of the y values; None without points."""
        return self.y / self.points if self.points else None


class Cluster(NamedTuple):
    """The cases of one prompt, summed up."""

    table: ConfusionMatrix
    sums: Sums


def figures(
    cases: LabelledCases, ratings: Ratings, *, times: int = DRAWS, seed: int = 0
) -> Figures:
    """The figures of a judge.

    Args:
        cases: with the labels of people.
        ratings: of the judge; at least one.
        times: draws of the bootstrap.
        seed: of the draws.
    """
    rated = [
        (case, rating) for case in cases.items if (rating := ratings.first(case.id)) is not None
    ]
    clusters = _clusters(cases, rated)
    tie = cases.classes.index(TIE) if cases.labels.kind == "pair" else None

    def with_interval(drawn: Sequence[Cluster]) -> dict[str, float | None]:
        return _with_interval(drawn, len(cases.classes), tie)

    values = with_interval(clusters)
    several = len(clusters) > 1  # every draw of one prompt is that prompt
    found = intervals(clusters, with_interval, times=times, seed=seed) if several else {}
    figure = {name: CardFigure(value, found.get(name)) for name, value in values.items()}
    return Figures(
        cases=len(rated),
        prompts=len(clusters),
        deciding=_deciding(clusters, tie),
        table=summed((cluster.table for cluster in clusters), len(cases.classes)),
        agreement={
            way: {name: figure[f"{way} {name}"] for name in AGREEMENT if f"{way} {name}" in figure}
            for way in WAYS
        },
        invalid=Counter(rating.invalid for _, rating in rated if rating.value is None),
        people=[_person(cases, rated, at) for at in range(cases.annotators)],
        between=_between(cases.items),
        bias=figure["bias"],
        length_bias=figure["length bias"],
        points=[point for case, rating in rated if (point := _point(cases, case, rating))],
        consistency=consistency(cases, ratings),
        confidence=_confidence(cases, rated),
    )


def _class_of(cases: LabelledCases, rating: Rating) -> float | None:
    return None if rating.value is None else cases.nearest(rating.value)


def _clusters(cases: LabelledCases, rated: Iterable[tuple[LabelledCase, Rating]]) -> list[Cluster]:
    prompts: dict[str, list[tuple[LabelledCase, Rating]]] = defaultdict(list)
    for case, rating in rated:
        prompts[case.prompt].append((case, rating))
    return [
        Cluster(
            confusion_matrix(
                [(case.label, _class_of(cases, rating)) for case, rating in group], cases.classes
            ),
            _sums(point for case, rating in group if (point := _point(cases, case, rating))),
        )
        for group in prompts.values()
    ]


def _deciding(clusters: Sequence[Cluster], tie: int | None) -> dict[str, int]:
    """Prompts that figures of classes rest on; a draw without all of them does not define these."""
    labels = [{at for at, row in enumerate(each.table.rows) if any(row)} for each in clusters]
    alike = Counter(frozenset(each) for each in labels if len(each) == 1)
    rarer = len(clusters) - max(alike.values(), default=0)
    return {
        "kappa": rarer,
        "macro F1": rarer,
        "tie F1": sum(tie in each for each in labels),
    }


def _with_interval(
    clusters: Sequence[Cluster], classes: int, tie: int | None
) -> dict[str, float | None]:
    """All figures that have an interval, from some clusters.

    Args:
        clusters: at least one.
        classes: how many there are.
        tie: which of them is a tie; None of grades, where a middle one is a grade like the others.
    """
    table = summed((cluster.table for cluster in clusters), classes)
    points, *rest = zip(*(cluster.sums for cluster in clusters), strict=True)
    line = Sums(sum(points), *map(fsum, rest))
    values = {"bias": line.mean, "length bias": line.slope}
    for way in WAYS:
        counted = table.counted(way, tie or 0)
        measured = counted.accuracy(), counted.macro_f1(), counted.weighted_f1(), counted.kappa()
        values |= {f"{way} {name}": each for name, each in zip(AGREEMENT, measured, strict=False)}
        if tie is not None:
            values[f"{way} tie F1"] = counted.f1(tie)
    return values


def _point(cases: LabelledCases, case: LabelledCase, rating: Rating) -> tuple[float, float] | None:
    """Length in doublings, of a pair that of the first over the second; and judge minus people."""
    value = _class_of(cases, rating)
    if value is None:
        return None
    length = log2(1 + len(without_reasoning(case.sample.response)))
    if cases.labels.kind == "pair":
        length -= log2(1 + len(without_reasoning(case.second_response)))
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


def _person(cases: LabelledCases, rated: Sequence[tuple[LabelledCase, Rating]], at: int) -> Person:
    """One person's figures; an invalid verdict agrees with nobody."""
    voted = confusion_matrix([(case.label, case.votes[at]) for case, _ in rated], cases.classes)
    judged = confusion_matrix(
        [(case.votes[at], _class_of(cases, rating)) for case, rating in rated], cases.classes
    )
    return Person(
        voted.accuracy(), voted.macro_f1(), voted.kappa(), judged.accuracy(), judged.kappa()
    )


def _between(items: Iterable[LabelledCase]) -> Tally:
    """Pairs of people with the same vote on a case."""
    same = whole = 0
    for case in items:
        counts = Counter(case.votes).values()
        same += sum(count * (count - 1) // 2 for count in counts)
        whole += len(case.votes) * (len(case.votes) - 1) // 2
    return Tally(same, whole)


def _confidence(
    cases: LabelledCases, rated: Iterable[tuple[LabelledCase, Rating]]
) -> dict[float, Tally]:
    right: dict[float, list[bool]] = defaultdict(list)
    for case, rating in rated:
        if rating.confidence is not None and rating.value is not None:
            right[rating.confidence].append(_class_of(cases, rating) == case.label)
    return {level: Tally(sum(right[level]), len(right[level])) for level in sorted(right)}
