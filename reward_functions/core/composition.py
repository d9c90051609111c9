"""What all composites share: running their parts, and becoming a reward.

A composition is a frozen value, the function of its `RewardSpec`; it can be pickled, and two of the
same parts are equal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from reward_functions.core.alternatives import right_writer
from reward_functions.core.errors import BadComposite, PartFailed, RewardError
from reward_functions.core.spec import Needs, RewardSpec, Scale
from reward_functions.core.types import Metric, Sample, Score

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.core.asking import Ask, Question, Verdict
    from reward_functions.core.parts import Part
    from reward_functions.core.ranking import Bounds
    from reward_functions.core.spec import Example, GoldResponse


@dataclass(frozen=True)
class Composition:
    """The function of a composite; a kind of composite says how its parts make a value.

    Args:
        parts: in order, each under a name of its own.
        summary: the first line of the documentation; what is computed where empty.
    """

    parts: tuple[Part, ...]
    summary: str = ""

    optional: ClassVar[int | None] = None
    """The parts from this place on may be passed over; None where every part always runs."""

    @property
    def formula(self) -> str:
        """What is computed, in the names of the parts."""
        raise NotImplementedError

    @cached_property
    def bounds(self) -> Bounds:
        """What can be earned."""
        raise NotImplementedError

    def remedy(self) -> str:
        """What to change so that a correct response outranks an incorrect one."""
        raise NotImplementedError

    def compute(self, run: Run) -> tuple[float, str]:
        """The value of one sample, and the reason."""
        raise NotImplementedError

    def __call__(self, sample: Sample, /, *given: Any) -> Score:
        """Score one sample; `given` is who answers a judge's questions, and the group, as needed.

        Raises:
            RewardError: a part cannot score it; the message names the part.
        """
        rest = list(given)
        ask = rest.pop(0) if self.needs.judge else None
        run = Run(sample, ask, rest.pop(0) if self.needs.group else ())
        value, reason = self.compute(run)
        bounds = self.bounds
        ran = [(part.name, run.scores[part.name]) for part in self.parts if part.name in run.scores]
        return Score(
            min(max(value, bounds.least), bounds.most),
            tuple(self._metrics(run)),
            next((score.answer for _, score in ran if score.answer is not None), None),
            reason,
            next((score.evidence for _, score in ran if score.evidence is not None), None),
            tuple(ran),
        )

    def _metrics(self, run: Run) -> Iterator[Metric]:
        for place, part in enumerate(self.parts):
            score = run.scores.get(part.name)
            yield Metric(part.name, score.value if score else 0.0, "Reward")
            if self.optional is not None and place >= self.optional:
                yield Metric(f"{part.name}_ran", float(score is not None))
            reported = {metric.name: metric.value for metric in score.metrics} if score else {}
            for name in part.spec.metrics:
                yield Metric(f"{part.name}_{name}", reported.get(name, 0.0))

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics, in order."""
        return tuple(metric.name for metric in self._metrics(Run(Sample(id="", messages=()))))

    @cached_property
    def needs(self) -> Needs:
        """What its parts need, together."""
        each = [part.spec.needs for part in self.parts]
        return Needs(
            workers=max(needs.workers for needs in each),
            symbolic=any(needs.symbolic for needs in each),
            judge=any(needs.judge for needs in each),
            group=any(needs.group for needs in each),
        )

    @property
    def documentation(self) -> str:
        """The page of the composite: what it computes, of which parts, on which scale."""
        bounds = self.bounds
        parts = "\n".join(f"    {line}" for part in self.parts for line in _described(part))
        return (
            f"{self.summary or self.formula}.\n\n"
            f"Value: {self.formula}. A part's value is a metric under its name.\n\n"
            f"{parts}\n\n"
            f"Reference: as its parts take it. Scale: {bounds.least:g} to {bounds.most:g}.\n\n"
            "Raises: what its parts raise; a part that cannot score leaves the whole unscored.\n"
        )


def _described(part: Part) -> Iterator[str]:
    settings = "".join(f", {name}={value!r}" for name, value in part.parameters.items())
    yield f"{part.name}: {part.spec.name}, version {part.spec.version}{settings}"
    inner: Sequence[Part] = getattr(part.spec.function, "parts", ())
    yield from (f"    {line}" for each in inner for line in _described(each))


class Run:
    """The parts of one sample, scored as they are needed.

    Args:
        sample: what is scored.
        ask: answers the questions of those parts that are judges.
        group: the samples with the same prompt.
    """

    def __init__(
        self, sample: Sample, ask: Ask | None = None, group: Sequence[Sample] = ()
    ) -> None:
        self.sample = sample
        self.ask = None if ask is None else _InTurn(ask)
        self.group = group
        self.scores: dict[str, Score] = {}

    def score(self, part: Part) -> Score:
        """What a part makes of the sample.

        Raises:
            RewardError: it cannot score it; of the kind that the part raised, with its name.
        """
        if self.ask is not None:
            self.ask.next_part()
        try:
            score = part.spec(self.sample, ask=self.ask, group=self.group, **part.parameters)
        except RewardError as error:
            raise _naming(part.name, error) from error
        except Exception as error:  # a bug in a part's code is one of the whole
            raise PartFailed(
                f"{part.name} raises {type(error).__name__} ({_last_line(error)})"
            ) from error
        self.scores[part.name] = score
        return score

    def described(self, part: Part) -> str:
        """A part's value and its reason."""
        score = self.scores[part.name]
        reason = f" ({score.reason})" if score.reason else ""
        return f"{part.name} {score.value:g}{reason}"


class _InTurn:
    """Answers the questions of several judges: those of a later part follow those before."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._asked = self._before = 0

    def next_part(self) -> None:
        """From here on another part asks."""
        self._before = self._asked

    def __call__(self, question: Question, /, **deadline: Any) -> Verdict:
        turn = self._before + question.turn
        self._asked = max(self._asked, turn + 1)
        return self._ask(replace(question, turn=turn), **deadline)


def _naming(part: str, error: RewardError) -> RewardError:
    """The same error with the part's name in front: a copy, since others may hold the original."""
    kind = type(error)
    named: RewardError = kind.__new__(kind)
    named.__dict__.update(error.__dict__)
    named.args = (f"{part}: {error}",)
    return named


def _last_line(error: Exception) -> str:
    """Where in the part's own module it was raised: the innermost of its frames."""
    # Ten milliseconds of a cold start, and no part has raised until now.
    from pathlib import Path  # noqa: PLC0415
    from traceback import walk_tb  # noqa: PLC0415

    frames = [
        (frame, line)
        for frame, line in walk_tb(error.__traceback__)
        if not str(frame.f_globals.get("__name__")).startswith("reward_functions.core.")
    ]
    if not frames:
        return "before its function ran"
    own = frames[0][0].f_globals
    frame, line = [each for each in frames if each[0].f_globals is own][-1]
    return f"{Path(frame.f_code.co_filename).name}, line {line}"


def composed(
    composition: Composition,
    *,
    name: str,
    version: int = 0,
    examples: Sequence[Example] = (),
    gold_response: GoldResponse | str | None = None,
    outranks: bool = True,
    summary: str = "",
) -> RewardSpec:
    """The reward that a composition is.

    Args:
        composition: the parts, and how they make a value.
        name: see `combine.Declaration`, as all that follows.
        version: likewise.
        examples: likewise.
        gold_response: likewise.
        outranks: likewise.
        summary: likewise.

    Raises:
        BadComposite: a correct response may earn as little as an incorrect one; or every response
            earns the same.
        ValueError: the declaration contradicts itself.
    """
    composition = replace(composition, summary=summary.rstrip("."))
    bounds = composition.bounds
    if not bounds.least < bounds.most:
        raise BadComposite(f"{name}: every response earns {bounds.least:g}")
    if bounds.truth and outranks and not bounds.outranks:
        raise BadComposite(
            f"{name}: a correct response is sure of {bounds.correct:.6g} and an incorrect one may "
            f"earn {bounds.incorrect:.6g}: {composition.remedy()}, or declare outranks=False"
        )
    if isinstance(gold_response, str):
        gold_response = _Template(gold_response, composition.parts).checked()
    return RewardSpec(
        name=name,
        function=composition,
        version=version,
        scale=Scale(bounds.least, bounds.most),
        metrics=composition.metrics,
        needs=composition.needs,
        examples=tuple(examples),
        gold_response=gold_response,
        partial_credit=bounds.incorrect,
    )


@dataclass(frozen=True)
class _Template:
    """A gold response around those of the parts."""

    text: str
    parts: tuple[Part, ...]

    def checked(self) -> _Template:
        """Itself, if each part that it names writes gold responses.

        Raises:
            BadComposite: it names no such part.
        """
        named = self._named()
        if not named:
            able = [f"{{{part.name}}}" for part in self.parts if part.spec.gold_response]
            raise BadComposite(
                f"gold_response names no part in braces: {', '.join(able) or 'none writes one'}"
            )
        for part in named:
            if part.spec.gold_response is None:
                raise BadComposite(f"gold_response: {part.name} writes no gold response")
        return self

    def _named(self) -> list[Part]:
        return [part for part in self.parts if f"{{{part.name}}}" in self.text]

    def __call__(self, sample: Sample, /) -> str:
        pieces = [self.text]
        for part in self._named():
            if part.spec.gold_response is not None:
                write = right_writer(part.spec.gold_response, part.parameters)
                mark, gold = f"{{{part.name}}}", write(sample)
                # What a part wrote is never read as a template.
                pieces = [piece for each in pieces for piece in _spliced(each, mark, gold)]
        return "".join(pieces)


class _Written(str):
    """What a part wrote."""

    __slots__ = ()


def _spliced(text: str, mark: str, gold: str) -> Iterator[str]:
    if isinstance(text, _Written):
        yield text
        return
    before, *after = text.split(mark)
    yield before
    for piece in after:
        yield _Written(gold)
        yield piece
