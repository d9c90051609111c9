"""The work of a child: it scores samples of a batch and says what has begun, and what it earned.

An exception of another process: its class, its words if they are ours, and its lines.

An exception itself cannot always be pickled, and reading one back would import what raised it. So
a stand-in is made here: of the same class where that is ours, else of a class of the same name,
derived from the nearest that is ours, or from `Exception`. Words of others stay where they are.
"""

from __future__ import annotations

import sys
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.batch import scorer
from reward_functions.core.errors import ProcessEnded, RewardError
from reward_functions.core.types import Metric, RewardResult, Sample, Score, Scored, Unscored
from reward_functions.serving.observability import RAISED_AT, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.core.spec import RewardFunction
    from reward_functions.serving.isolation.forked import Say, Service
    from reward_functions.serving.observability import Line


OURS: Final = "reward_functions."

MAX_WORDS: Final = 2000
"""Characters of a message. Ours name shapes and fields."""


class CarriedError(NamedTuple):
    """What crosses.

    Args:
        name: of its class.
        base: that class if it is ours, else the nearest above it that is ours, or `Exception`.
        words: the message of an error of ours; empty for any other.
        lines: where it was raised, the innermost last.
    """

    name: str
    base: type[Exception]
    words: str
    lines: tuple[Line, ...]

    @classmethod
    def of(cls, error: BaseException) -> CarriedError:
        """An exception as it can cross."""
        kind = type(error)
        ours = (each for each in kind.__mro__ if each.__module__.startswith(OURS))
        base = next((each for each in ours if issubclass(each, RewardError)), Exception)
        words = str(error)[:MAX_WORDS] if base is not Exception else ""
        return cls(kind.__name__, base, words, tuple(lines_of(error)))

    def error(self) -> Exception:
        """The stand-in."""
        kind = self.base
        if kind.__name__ != self.name:
            kind = type(self.name, (kind,), {})
        error = kind(self.words) if self.words else kind()
        setattr(error, RAISED_AT, self.lines)
        return error


class Batch(NamedTuple):
    """A request: score samples.

    Args:
        samples: of the whole batch, since a reward may look at groups.
        places: which of them, in this order.
        deadline: see `score_batch`.
        threads: that score at once.
    """

    samples: Sequence[Sample | Unscored]
    places: Sequence[int]
    deadline: float
    threads: int


class Begun(NamedTuple):
    """A sample is being scored."""

    place: int


class Answer(NamedTuple):
    """The outcome of a sample: value and metrics, or why it has no score.

    The answer that was read and the evidence stay in the child: no result of a Lambda has them, and
    they may be of any type.

    Args:
        place: of the sample.
        value: the reward.
        metrics: beside it.
        error: why there is neither.
        then: the place of the sample that the same thread begins now, if it is known.
    """

    place: int
    value: float = 0.0
    metrics: tuple[Metric, ...] = ()
    error: CarriedError | None = None
    then: int | None = None

    @classmethod
    def of(cls, place: int, result: RewardResult, then: int | None = None) -> Answer:
        """A result as it can cross."""
        if isinstance(result, Unscored):
            return cls(place, error=CarriedError.of(result.error), then=then)
        metrics = (
            Metric(str(metric.name), float(metric.value), metric.type)
            for metric in result.score.metrics
        )
        return cls(place, float(result.score.value), tuple(metrics), then=then)

    def result(self, sample: Sample | Unscored) -> RewardResult:
        """The result, as this process would have it without the child."""
        if self.error is not None:
            return Unscored(sample.id, self.error.error())
        return Scored(sample.id, Score(self.value, self.metrics))


class Finished(NamedTuple):
    """The end of a request; of a call with what it returned or raised."""

    returned: Any = None
    error: CarriedError | None = None


def service(
    reward: RewardFunction,
    calls: Mapping[str, Callable[[], Any]],
    begin: Callable[[], object] | None,
) -> Service:
    """Do what a request asks a child for: a `Batch`, or the name of a call.

    Args:
        reward: bound to its parameters.
        calls: see `Isolation`.
        begin: see `Isolation`.
    """
    first = [begin] if begin else []

    def serve(request: Batch | str, say: Say) -> None:
        while first:
            first.pop()()
        say(_called(calls[request]) if isinstance(request, str) else _scored(reward, request, say))

    return serve


def _called(function: Callable[[], Any]) -> Finished:
    try:
        return Finished(function())
    except RewardError as error:
        return Finished(error=CarriedError.of(error))


def _scored(reward: RewardFunction, batch: Batch, say: Say) -> Finished:
    score = scorer(reward, batch.samples, batch.deadline)

    def work(place: int, then: int | None = None) -> None:
        sample = batch.samples[place]
        try:
            result = score(sample)
        except SystemExit:
            result = Unscored(sample.id, ProcessEnded("the reward called sys.exit"))
        sys.stdout.flush()  # what the reward printed, before anything can end this process
        say(Answer.of(place, result, then))

    def work_in_thread(place: int) -> None:
        say(Begun(place))
        work(place)

    if batch.threads > 1:
        from reward_functions.core.threads import mapped  # noqa: PLC0415 - few rewards need it

        mapped(work_in_thread, batch.places, batch.threads)
    else:
        say(Begun(batch.places[0]))
        for place, then in zip_longest(batch.places, batch.places[1:]):
            work(place, then)
    return Finished()
