"""Whether a reward can judge a file: the right answer to every row, and answers nobody should pay.

The right one is written by the reward's own `gold_response`, from the reference. A wrong one is the
right one of another row; where all rows have the same, it is a near miss. The gaming ones are made
of these two, of the prompt, and of the table of `other_answers`: none of them says one right answer
in the end. A reward that pays them would teach them. The form alone is what all right answers begin
and end with, such as an empty box.

| kind | must earn, of the way from nothing to all |
| --- | --- |
| right | 0.99 or more, on average |
| wrong, empty, and every gaming one | its partial credit and 0.02 at most, on average |
| always the most frequent answer | shown, and not held to anything: it is right that often |

What "nothing" and "all" are, `earnings` says.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace
from math import nan
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.audit.other_answers import ReplayCase, near_misses
from reward_functions.audit.replayed_answers import (
    CONSTANT,
    EMPTY,
    RIGHT,
    WRONG,
    answers_of,
)
from reward_functions.core.alternatives import right_writer
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.means import mean
from reward_functions.core.types import Sample, Score, Scored, Unscored
from reward_functions.data.json_rows import BATCH
from reward_functions.judge_runtime.scores import without_model
from reward_functions.quantities.unicode_forms import folded
from reward_functions.reports.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from reward_functions.core.spec import GoldResponse, RewardSpec, Scale
    from reward_functions.core.types import RewardResult

LEAST_RIGHT: Final = 0.99
MOST_WRONG: Final = 0.02
"""Shares of the scale, on average over the rows. Two answers of a file may be equal though they are
written differently, and a wrong answer is another row's right one: hence not 0."""

ALIKE: Final = "every row has the same right answer: a policy would learn that one alone"
NO_WRONG: Final = (
    "no wrong answer can be made, of another row or of a number: nothing is known of them"
)

PIECE: Final = 2_048
"""Answers that are scored together, unless the reward compares those of a group."""

KEPT: Final = 100
"""Rows of a kind that are kept to be shown: as many with a surprising score, and without one."""


class Earnings(NamedTuple):
    """What an answer without merit earns, and what a right one does: a share lies between.

    Attributes:
        nothing: as a score.
        all: as a score.
        undeserved: the most that the reward declares to pay a wrong answer; None for nothing.
    """

    nothing: float
    all: float
    undeserved: float | None = None

    @property
    def most_wrong(self) -> float:
        """The largest share that wrong answers may earn on average."""
        own = 0.0 if self.undeserved is None else self.share(self.undeserved)
        return MOST_WRONG + max(own, 0.0)

    def score(self, share: float) -> float:
        """The score of a share."""
        return self.nothing + share * (self.all - self.nothing)

    def share(self, value: float) -> float:
        """How far a reward is on the way; below 0 for a penalty."""
        return (value - self.nothing) / (self.all - self.nothing or 1.0)


def earnings(
    scale: Scale | None,
    right: Sequence[float] = (),
    wrong: Sequence[float] = (),
    empty: Sequence[float] = (),
    *,
    partial_credit: float | None = None,
) -> Earnings:
    """What counts as earning nothing, and as earning all.

    | the reward | nothing | all |
    | --- | --- | --- |
    | declares its scale | the minimum | the maximum |
    | declares none | the least that a wrong answer earned | the most that a right one earned |

    Where nothing would be a penalty, below zero, it is what an empty answer earns, at most zero: a
    reward of -1 for wrong, 0 for none and 1 for right pays for right answers alone. It is never
    more than halfway from the minimum, or from zero, to all: a reward that pays every wrong answer
    nearly as much as a right one is not one of another scale.

    Args:
        scale: as declared; None where it is not known.
        right: rewards of right answers.
        wrong: of wrong ones.
        empty: of empty ones.
        partial_credit: the most that the reward declares to pay a wrong answer.
    """
    least, most = scale or (min(wrong, default=0.0), max(right, default=1.0))
    lowest = least if scale else min(0.0, least)
    unpunished = max(least, min(0.0, min(empty, default=0.0)))
    return Earnings(min(unpunished, (lowest + most) / 2), most, partial_credit)


@dataclass(frozen=True, slots=True)
class ReplayedKind:
    """How one kind of response fared.

    Args:
        kind: its name.
        mean: of the scores, as a share by `earnings`; None where nothing was scored.
        score: the mean of the scores themselves.
        scored: how many were.
        unscored: how many could not be.
        errors: the first of these rows, as (where, error).
        failed: why the reward cannot be trusted with it; "" where it can.
        surprising: how many rows have another score than they should have.
        surprises: the first of these, as (where, response, score).
        unasked: how many of the scored ones a judge decided without its model.
    """

    kind: str
    mean: float | None
    score: float | None
    scored: int
    unscored: int
    errors: Sequence[tuple[str, Exception]]
    failed: str
    surprising: int
    surprises: Sequence[tuple[str, str, float]]
    unasked: int = 0


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """All kinds of responses, and what is wrong with the whole."""

    played: Sequence[ReplayedKind]
    failures: Sequence[str]
    cases: Sequence[ReplayCase]
    earnings: Earnings

    @property
    def measured(self) -> Measured:
        """How many answers have a score, by a judge's model where the reward asks one.

        A deployed function does not say which answers its judge decided without a model.
        """
        unasked = sum(one.unasked for one in self.played)
        scored = sum(one.scored for one in self.played)
        missing = sum(one.unscored for one in self.played)
        return Measured("answers", scored - unasked, missing, unasked)

    @property
    def alike(self) -> bool:
        """Whether all rows have the same right answer."""
        return len({folded(case.right) for case in self.cases}) == 1


def replay(
    spec: RewardSpec,
    samples: Sequence[Sample | Unscored],
    places: Sequence[str],
    score: Callable[[Sequence[Sample]], Sequence[RewardResult]],
    parameters: Mapping[str, Any] = MappingProxyType({}),
) -> ReplayReport:
    """Score the right answer to every row, a wrong one, an empty one, and the gaming ones.

    Args:
        spec: the reward; its gold response writes the right answers.
        samples: the rows; where one has a response already, that is left aside.
        places: where each row stands, for messages.
        score: the reward with its parameters, over a batch.
        parameters: these, which say what the right answer to a list of references is.

    Raises:
        ConfigurationError: the reward has no gold response, or there are no rows.
    """
    if spec.gold_response is None:
        raise ConfigurationError(
            f"{spec.name} declares no gold_response, which writes a right answer: "
            "@reward_function(gold_response=lambda sample: …, …)"
        )
    return replay_written(
        right_writer(spec.gold_response, parameters),
        spec.scale,
        samples,
        places,
        score,
        partial_credit=spec.partial_credit,
        together=spec.needs.group,
    )


def replay_written(
    gold_response: GoldResponse,
    scale: Scale | None,
    samples: Sequence[Sample | Unscored],
    places: Sequence[str],
    score: Callable[[Sequence[Sample]], Sequence[RewardResult]],
    *,
    partial_credit: float | None = None,
    together: bool = False,
) -> ReplayReport:
    """The same for a reward that is no spec, such as a deployed function.

    Args:
        gold_response: writes the right answers.
        scale: of the rewards; None where it is not known.
        samples: the rows; where one has a response already, that is left aside.
        places: where each row stands, for messages.
        score: the reward over a batch.
        partial_credit: the most that it declares to pay a wrong answer; None for nothing.
        together: whether all answers of a kind are one batch: it compares those of a group.

    Raises:
        ConfigurationError: there are no rows.
    """
    if not samples:
        raise ConfigurationError("there are no rows to replay")
    cases, unreadable = _cases(gold_response, samples, places)
    kinds = answers_of(cases)
    fared = {kind: _fared(write(), score, together=together) for kind, write in kinds.items()}
    if RIGHT in fared:
        fared[RIGHT].add_unreadable(unreadable)
    ends = (fared[kind].known if kind in fared else [] for kind in (RIGHT, WRONG, EMPTY))
    earned = earnings(scale, *ends, partial_credit=partial_credit)
    played = [_played(earned, kind, kinds[kind](), each) for kind, each in fared.items()]
    report = ReplayReport(played, [*_failures(played)], cases, earned)
    if report.alike:
        return replace(report, failures=[*report.failures, ALIKE])
    return report


@dataclass(slots=True)
class _Errors:
    """Rows without a score: how many, and the first of them."""

    count: int = 0
    first: list[tuple[str, Exception]] = field(default_factory=list)

    def add(self, place: str, error: Exception) -> None:
        self.count += 1
        if len(self.first) < KEPT:
            self.first.append((place, error))


@dataclass(slots=True)
class _Fared:
    """What the answers of a kind came to: a number for each, not a number where it has none."""

    values: array[float] = field(default_factory=lambda: array("d"))
    errors: _Errors = field(default_factory=_Errors)
    unasked: int = 0

    @property
    def known(self) -> array[float]:
        """The scores there are."""
        return array("d", (value for value in self.values if value == value))  # noqa: PLR0124 - nan

    def add(self, place: str, result: RewardResult) -> None:
        if isinstance(result, Scored):
            self.values.append(result.score.value)
            self.unasked += without_model(result.score)
        else:
            self.values.append(nan)
            self.errors.add(place, result.error)

    def add_unreadable(self, others: _Errors) -> None:
        """Rows without a right answer stand before those whose right answer has no score."""
        self.errors.count += others.count
        self.errors.first = [*others.first, *self.errors.first][:KEPT]


def _fared(
    answers: Iterator[tuple[ReplayCase, str]],
    score: Callable[[Sequence[Sample]], Sequence[RewardResult]],
    *,
    together: bool,
) -> _Fared:
    fared = _Fared()
    for piece in [list(answers)] if together else _pieces(answers):
        results = score([case.sample.answered(response) for case, response in piece])
        for (case, _), result in zip(piece, results, strict=True):
            fared.add(case.place, result)
    return fared


def _pieces(
    answers: Iterator[tuple[ReplayCase, str]],
) -> Iterator[list[tuple[ReplayCase, str]]]:
    """The answers in pieces that are scored together; long ones in small pieces."""
    piece, size = [], 0
    for case, response in answers:
        piece.append((case, response))
        size += len(response)
        if len(piece) == PIECE or size > BATCH:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _cases(
    gold_response: GoldResponse, samples: Sequence[Sample | Unscored], places: Sequence[str]
) -> tuple[list[ReplayCase], _Errors]:
    """The rows whose right answer is known, and the others, with the reason."""

    def written(sample: Sample) -> Score:  # as a reward, so that what it raises is kept by the row
        response = gold_response(sample)
        if not isinstance(response, str):
            raise TypeError(f"the gold response is {type(response).__name__}, not a string")
        return Score(0.0, answer=response)

    cases: list[ReplayCase] = []
    unreadable = _Errors()
    for at in range(0, len(samples), PIECE):
        piece = samples[at : at + PIECE]
        for place, sample, result in zip(
            places[at : at + PIECE], piece, score_batch(written, piece), strict=True
        ):
            if isinstance(sample, Sample) and isinstance(result, Scored):
                cases.append(ReplayCase(place, sample, result.score.answer or ""))
            elif isinstance(result, Unscored):
                unreadable.add(place, result.error)
    return _with_wrong_answers(cases), unreadable


def _with_wrong_answers(cases: Sequence[ReplayCase]) -> list[ReplayCase]:
    """The same cases; wrong is the next right answer that is another text, around the end.

    Where there is no other text, it is a near miss, if one can be made.
    """
    normal = [folded(case.right) for case in cases]
    wrong: dict[int, str] = {}
    donor = following = None
    for at in reversed([*range(len(cases))] * 2):
        if following is not None and normal[following] != normal[at]:
            donor = following
        if donor is not None:
            wrong[at] = cases[donor].right
        following = at
    return [
        case._replace(wrong=wrong.get(at) or next(iter(near_misses(case)), None))
        for at, case in enumerate(cases)
    ]


def _played(
    earned: Earnings, kind: str, answers: Iterator[tuple[ReplayCase, str]], fared: _Fared
) -> ReplayedKind:
    surprises: list[tuple[str, str, float]] = []
    surprising = 0
    for (case, response), value in zip(answers, fared.values, strict=True):
        if kind != CONSTANT and value == value and _verdict(earned, kind, earned.share(value)):  # noqa: PLR0124 - nan
            surprising += 1
            if len(surprises) < KEPT:
                surprises.append((case.place, response, value))
    values = fared.known
    share = mean([earned.share(value) for value in values]) if values else None
    return ReplayedKind(
        kind=kind,
        mean=share,
        score=mean(values) if values else None,
        scored=len(values),
        unscored=fared.errors.count,
        errors=fared.errors.first,
        failed=_verdict(earned, kind, share),
        surprising=surprising,
        surprises=surprises,
        unasked=fared.unasked,
    )


def _verdict(earned: Earnings, kind: str, share: float | None) -> str:
    """What is wrong with a share; the limit is a score, as the table and its rows are."""
    if share is None:
        return "nothing was scored"
    if kind == RIGHT and share < LEAST_RIGHT:
        return f"earns less than {earned.score(LEAST_RIGHT):g}"
    if kind not in (RIGHT, CONSTANT) and share > earned.most_wrong:
        return f"earns more than {earned.score(earned.most_wrong):g}"
    return ""


def _failures(played: Sequence[ReplayedKind]) -> Iterator[str]:
    for one in played:
        if one.failed:
            yield f"{one.kind}: {one.failed}"
        if one.unscored:
            yield f"{one.kind}: {one.unscored:,} unscored"
    if WRONG not in {one.kind for one in played}:
        yield NO_WRONG
    means = {one.mean for one in played if one.mean is not None}
    if len(means) < 2:  # noqa: PLR2004 - a policy learns from differences
        yield "all responses score the same: every group has zero advantage"
