"""Reward functions from reward functions: weigh, gate, clip, try in turn.

    tutor = weighted({"math": 0.8, "think_format": 0.2}, name="acme.tutor", version=1, examples=[…])

Each makes a `RewardSpec`, which is registered, explained, checked and deployed like any other. Its
parts decide what it can earn: its scale, its needs, its partial credit, and whether a correct
response always outranks an incorrect one (`parts`). Without that rank it is not made. A part that
cannot score makes the whole unscored, under the part's name. Every number that a part reports is
reported by the whole: the part's value under its name, as a `Reward`; its own metrics as
`PART_METRIC`. Where a part may be passed over, `PART_ran` is 1 or 0. Its other numbers are 0 where
it was passed over, so the mean of `PART` over that of `PART_ran` is the mean where it ran.

| composite | value |
| --- | --- |
| `weighted` | the sum of weight × value |
| `gated` | the reward's value where the gate opens, else a minimum |
| `clipped` | the part's value, held inside a range |
| `cascade` | the value of the first part that earns enough, else of the last |

A composition is a frozen value, the function of its `RewardSpec`; it can be pickled, and two of the
same parts are equal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, Unpack

from reward_functions.core.alternatives import right_writer
from reward_functions.core.errors import BadComposite, PartFailed, RewardError
from reward_functions.core.means import weighted_sum
from reward_functions.core.parts import (
    of_cascade,
    of_clipped,
    of_gated,
    of_weighted,
    part_of,
    parts_of,
    weighted_parts,
)
from reward_functions.core.spec import IN_COMPOSITE, Needs, RewardSpec, Scale
from reward_functions.core.suggest import did_you_mean
from reward_functions.core.types import Metric, Sample, Score

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reward_functions.core.asking import Ask, Question, Verdict
    from reward_functions.core.parts import Bounds, Part, PartLike
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
        """The formula, in the names of the parts."""
        raise NotImplementedError

    @cached_property
    def bounds(self) -> Bounds:
        """What can be earned."""
        raise NotImplementedError

    def remedy(self) -> str:
        """The change that lets a correct response outrank an incorrect one."""
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
        """The needs of its parts, together."""
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
        """The result of a part for the sample.

        Raises:
            RewardError: it cannot score it; of the kind that the part raised, with its name.
        """
        if self.ask is not None:
            self.ask.next_part()
        before = IN_COMPOSITE.set(True)
        try:
            score = part.spec(self.sample, ask=self.ask, group=self.group, **part.parameters)
        except RewardError as error:
            raise _naming(part.name, error) from error
        except Exception as error:  # a bug in a part's code is one of the whole
            raise PartFailed(
                f"{part.name} raises {type(error).__name__} ({_last_line(error)})"
            ) from error
        finally:
            IN_COMPOSITE.reset(before)
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
    if not bounds.truth and (alike := [each.name for each in composition.parts if each.alike]):
        raise BadComposite(
            f"{name}: {alike[0]} pays what is like the reference, right or wrong: add a part that "
            "decides, such as math or answer_text"
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


class Declaration(TypedDict, total=False):
    r"""The declarations of every composite, beside its parts.

    Attributes:
        name: as `RewardSpec` takes it; that of the function where not given.
        version: raised by one whenever a score can change; 0, a prototype, where not given. The
            versions of the parts are beside it in `reward show`.
        examples: as `RewardSpec` takes them.
        gold_response: a function; or a template with the name of a part in braces, for which that
            part's gold response is put in: `"<think>So.</think>\n{math}"`.
        outranks: False where a correct response need not earn more than an incorrect one.
        summary: the first line of its documentation; what it computes where not given.
    """

    name: str
    version: int
    examples: Sequence[Example]
    gold_response: GoldResponse | str | None
    outranks: bool
    summary: str


@dataclass(frozen=True)
class _Weighted(Composition):
    @property
    def formula(self) -> str:
        return " + ".join(f"{part.weight:g} × {part.name}" for part in self.parts)

    @cached_property
    def bounds(self) -> Bounds:
        weights = [part.weight for part in self.parts]
        return of_weighted([part.bounds for part in self.parts], weights)

    def remedy(self) -> str:
        forms = [part for part in self.parts if not part.bounds.truth and part.weight]
        if not forms:
            return "let its parts declare a smaller partial_credit"
        heaviest = max(forms, key=lambda part: abs(part.weight) * _width(part.bounds))
        return f"weigh {heaviest.name} less"

    def compute(self, run: Run) -> tuple[float, str]:
        scores = [run.score(part) for part in self.parts]
        value = weighted_sum(
            [score.value for score in scores], [part.weight for part in self.parts]
        )
        return value, " + ".join(f"{part.weight:g} × {run.described(part)}" for part in self.parts)


def weighted(
    parts: Mapping[str, PartLike | float], **declaration: Unpack[Declaration]
) -> RewardSpec:
    """The weighted sum of several rewards, as a reward.

    Args:
        parts: by the name that a part has in metrics and reasons. A number is the weight of the
            registered reward of that name; a pair is a reward and its weight; an object has the
            `weight`, the `reward` where it is called otherwise, and its parameters:
            `{"math": 0.8, "answer": (my_reward, 0.2), "loose": {"reward": "math", "weight": 0.1,
            "rounded": 2}}`. Weights are finite and used as given: those that sum to 1 keep a scale
            of 0 to 1. A weight of 0 reports a part without paying for it.
        declaration: see `Declaration`.

    Raises:
        BadComposite: no parts, a weight that is not a number, a name twice; or a correct response
            may earn as little as an incorrect one, with the two numbers.
        UnknownReward: a part is not registered.
        BadParameter: a part has no such parameter, or one of another type.
        ValueError: the declaration contradicts itself.
    """
    return composed(_Weighted(weighted_parts(parts)), **_named("weighted", declaration))


@dataclass(frozen=True)
class _Gated(Composition):
    threshold: float = 1.0
    minimum: float = 0.0

    optional = 1
    """The parts from this place on may be passed over."""

    @property
    def formula(self) -> str:
        gate, reward = self.parts
        return (
            f"{reward.name} where {gate.name} is at least {self.threshold:g}, else {self.minimum:g}"
        )

    @cached_property
    def bounds(self) -> Bounds:
        gate, reward = self.parts
        return of_gated(gate.bounds, reward.bounds, self.threshold, self.minimum)

    def remedy(self) -> str:
        gate, reward = self.parts
        if gate.bounds.truth:
            return "let the gate's threshold be more than its partial credit"
        return f"swap {gate.name} and {reward.name}, or weigh them"

    def compute(self, run: Run) -> tuple[float, str]:
        gate, reward = self.parts
        if run.score(gate).value < self.threshold:
            return self.minimum, f"the gate is closed: {run.described(gate)}"
        return run.score(reward).value, f"{run.described(gate)} opens {run.described(reward)}"


def gated(
    gate: PartLike,
    reward: PartLike,
    *,
    threshold: float = 1.0,
    minimum: float = 0.0,
    **declaration: Unpack[Declaration],
) -> RewardSpec:
    """A reward that is scored only where a gate opens, as a reward.

    Args:
        gate: scored first, cheap by preference.
        reward: scored where the gate's value is at least the threshold.
        threshold: on the gate's scale, above its minimum and not above its maximum.
        minimum: the score while the gate is closed.
        declaration: see `Declaration`.

    Raises:
        BadComposite: the gate never opens or never closes; and as `weighted`.
        UnknownReward: a part is not registered.
        BadParameter: a part has no such parameter, or one of another type.
        ValueError: the declaration contradicts itself.
    """
    _insist_on_numbers(threshold=threshold, minimum=minimum)
    parts = parts_of([gate, reward])
    least, most = parts[0].spec.scale
    if not least < threshold <= most:
        never = "opens" if threshold > most else "closes"
        raise BadComposite(
            f"the gate {parts[0].name} earns {least:g} to {most:g} and never {never} at "
            f"{threshold:g}: let its threshold be above {least:g}, and {most:g} at most"
        )
    made = _Gated(parts, threshold=float(threshold), minimum=float(minimum))
    return composed(made, **_named("gated", declaration))


@dataclass(frozen=True)
class _Clipped(Composition):
    low: float = 0.0
    high: float = 1.0

    @property
    def formula(self) -> str:
        return f"{self.parts[0].name}, from {self.low:g} to {self.high:g}"

    @cached_property
    def bounds(self) -> Bounds:
        return of_clipped(self.parts[0].bounds, self.low, self.high)

    def remedy(self) -> str:
        return "widen the range"

    def compute(self, run: Run) -> tuple[float, str]:
        (part,) = self.parts
        score = run.score(part)
        value = min(max(score.value, self.low), self.high)
        held = "" if value == score.value else f", held at {value:g}"
        return value, f"{run.described(part)}{held}"


def clipped(
    reward: PartLike, low: float, high: float, **declaration: Unpack[Declaration]
) -> RewardSpec:
    """A reward whose value is held inside a range, as a reward.

    Args:
        reward: the part.
        low: the least that is earned.
        high: the most.
        declaration: see `Declaration`.

    Raises:
        BadComposite: the range is empty, or all of the part's values are on one side of it; and as
            `weighted`.
        UnknownReward: the part is not registered.
        BadParameter: it has no such parameter, or one of another type.
        ValueError: the declaration contradicts itself.
    """
    _insist_on_numbers(low=low, high=high)
    if not low < high:
        raise BadComposite(f"nothing lies between {low:g} and {high:g}")
    made = _Clipped((part_of(reward),), low=float(low), high=float(high))
    return composed(made, **_named("clipped", declaration))


@dataclass(frozen=True)
class _Cascade(Composition):
    enough: float = 1.0

    optional = 1
    """The parts from this place on may be passed over."""

    @property
    def formula(self) -> str:
        return f"the first of {', '.join(part.name for part in self.parts)} to earn {self.enough:g}"

    @cached_property
    def bounds(self) -> Bounds:
        return of_cascade([part.bounds for part in self.parts], self.enough)

    def remedy(self) -> str:
        return "let `enough` be more than what its parts pay an incorrect response"

    def compute(self, run: Run) -> tuple[float, str]:
        value, tried = 0.0, []
        for part in self.parts:
            value = run.score(part).value
            tried.append(run.described(part))
            if value >= self.enough:
                break
        return value, ", then ".join(tried)


def cascade(
    *rewards: PartLike, enough: float = 1.0, **declaration: Unpack[Declaration]
) -> RewardSpec:
    """Rewards tried in turn, cheapest first, until one earns enough; as a reward.

    Put a strict and cheap reward before a lenient and expensive one. The last one's score is final.

    Args:
        rewards: at least two.
        enough: the value that ends the search.
        declaration: see `Declaration`.

    Raises:
        BadComposite: fewer than two rewards, or one that is never reached; and as `weighted`.
        UnknownReward: a part is not registered.
        BadParameter: a part has no such parameter, or one of another type.
        ValueError: the declaration contradicts itself.
    """
    _insist_on_numbers(enough=enough)
    parts = parts_of(rewards)
    if len(parts) < 2:  # noqa: PLR2004 - a cascade of one is that one
        raise BadComposite("a cascade takes at least two rewards")
    for part, following in pairwise(parts):
        if part.spec.scale.minimum >= enough:
            raise BadComposite(
                f"{part.name} always earns {enough:g} or more, so that {following.name} is never "
                "reached: raise `enough`"
            )
    return composed(_Cascade(parts, enough=float(enough)), **_named("cascade", declaration))


def _named(kind: str, declaration: Declaration) -> dict[str, Any]:
    known = Declaration.__annotations__
    if unknown := next((key for key in declaration if key not in known), None):
        raise TypeError(f"{kind} takes no {unknown}{did_you_mean(unknown, known)}")
    return {"name": kind, **declaration}


def _width(bounds: Bounds) -> float:
    return bounds.most - bounds.least


def _insist_on_numbers(**given: object) -> None:
    for name, value in given.items():
        if type(value) not in (int, float) or not isfinite(value):  # type: ignore[arg-type]
            raise BadComposite(f"{name} is a finite number, not {value!r}")
