"""A reward function is one plain function, declared with what others need to know about it.

    @reward_function(version=1, examples=[Example("full", response="4", reference=4, score=1.0)])
    def exact(sample: Sample, *, strip: bool = True) -> Score: ...

The decorator replaces the function by a `RewardSpec`: still callable with a sample, and now also
the row in the catalogue, the page of `reward show`, the conformance test, the deployment.
Keyword-only arguments are *knobs*; they are typed, listed and checked from the signature, nowhere
else.
"""

from __future__ import annotations

import re
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, partial
from importlib import import_module
from inspect import Parameter, cleandoc, signature
from math import isfinite
from types import FunctionType, NoneType, SimpleNamespace, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    NamedTuple,
    Protocol,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from reward_functions.core.asking import Script
from reward_functions.core.errors import BadKnob, InvalidScore, NoJudge
from reward_functions.core.suggest import did_you_mean
from reward_functions.core.types import Message, Sample, Score

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.core.asking import Ask

NAME: Final = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")
"""Names are file stems; a third party's are qualified by its own name: `acme.length`."""


RESERVED_METRICS: Final = frozenset({"bad_reference", "unscored", "imputed"})
"""The flags every result of a Lambda carries beside a reward's own metrics."""


class RewardFunction(Protocol):
    """Anything that scores one sample: a spec, a partial of one, a combination of several."""

    def __call__(self, sample: Sample, /) -> Score:
        """Score one sample; raise only when it could not be scored."""


class Oracle(Protocol):
    """Whoever can write the right response to a sample from its reference."""

    def __call__(self, sample: Sample, /) -> str:
        """The response; raises BadReference where the reference cannot be read."""


class Scale(NamedTuple):
    """The closed range of a reward's values. The floor is what a worthless response earns."""

    floor: float = 0.0
    ceiling: float = 1.0


UNIT_SCALE: Final = Scale()


JUDGE_WORKERS: Final = 256
"""Threads of a batch that is judged. Most wait, for a turn to ask or for the answer to a question
that a sibling with the same response asked first; calls at once are limited elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What running a reward function takes.

    Args:
        workers: threads a batch is scored with; 0 for one, and for `JUDGE_WORKERS` of a judge.
        symbolic: whether it compares mathematics, whose process of its own a deployment starts
            before the first batch. It needs no setting: without it that process starts when needed.
        judge: whether it asks a judge model. Its function is then `(sample, ask, *, knobs)`.
        siblings: whether it looks at the other samples of the batch with the same prompt. Its
            function then takes them after the others: `(sample, ask, siblings, *, knobs)`.
    """

    workers: int = 0
    symbolic: bool = False
    judge: bool = False
    siblings: bool = False

    def __post_init__(self) -> None:
        if not self.workers:
            object.__setattr__(self, "workers", JUDGE_WORKERS if self.judge else 1)


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example: documentation, test, and smoke check of a deployment.

    Args:
        kind: "full" earns the ceiling, "floor" the floor, "partial" lies between; "gaming" is an
            attempt to earn what was not deserved, and earns the floor.
        response: what the policy wrote.
        reference: the ground truth, in any shape the reward reads.
        score: what it earns, exactly.
        prompt: the user turn before it.
        metadata: further fields of the data set.
        knobs: the settings the example shows, defaults elsewhere.
        verdicts: of a judge, what the model answers to each question; see `Script`.
        why: one clause for a reader.
    """

    kind: Literal["full", "partial", "floor", "gaming"]
    _: KW_ONLY
    response: str
    reference: Any = None
    score: float
    prompt: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    knobs: Mapping[str, Any] = field(default_factory=dict)
    verdicts: Sequence[Mapping[str, str]] = ()
    why: str = ""

    def sample(self, id: str = "example") -> Sample:  # noqa: A002 - the wire's own word
        """The example as a sample."""
        turns = (
            Message(role="user", content=self.prompt),
            Message(role="assistant", content=self.response),
        )
        return Sample(id=id, messages=turns, reference=self.reference, metadata=dict(self.metadata))


@dataclass(frozen=True, slots=True)
class Knob:
    """A keyword-only argument of a reward function."""

    name: str
    type: Any
    default: Any

    @property
    def has_default(self) -> bool:
        """Whether the reward works without it."""
        return self.default is not Parameter.empty

    @property
    def type_name(self) -> str:
        """The annotation as a person would write it."""
        if get_origin(self.type) is Literal:
            return " | ".join(map(repr, get_args(self.type)))
        return self.type.__name__ if isinstance(self.type, type) else str(self.type)

    def accept(self, value: Any) -> Any:
        """The value, if it is of the knob's type; an int passes for a float.

        Raises:
            BadKnob: it is not.
        """
        if _fits(value, self.type):
            return float(value) if self.type is float else value
        raise BadKnob(f"knob {self.name!r} takes {self.type_name}, not {value!r}")

    def parse(self, text: str) -> Any:
        """The value a person typed.

        Raises:
            BadKnob: it does not read as the knob's type.
        """
        for read in (_as_bool, int, float, str):
            try:
                value = read(text)
            except ValueError:
                continue
            if _fits(value, self.type):
                return self.accept(value)
        raise BadKnob(f"knob {self.name!r} takes {self.type_name}, not {text!r}")


@dataclass(frozen=True, kw_only=True, eq=False)
class RewardSpec:
    """A reward function and its declaration.

    Calling it scores one sample and holds the function to what it declared.

    Args:
        name: the stem of the file that defines it; qualified for third parties.
        function: `(sample, *, knobs) -> Score`.
        version: raised by one whenever any score can change.
        scale: the range of its values.
        metrics: the names of the metrics every one of its scores carries, in order.
        needs: what running it takes.
        examples: worked examples; the first is replayed when a deployment starts.
        check: called with all the knobs when they are bound and each has a value; raises where they
            cannot be used together, or name a file that cannot.
        oracle: `(sample) -> response`: writes the right response to a sample from its reference, as
            a perfect policy would; raises BadReference where the reward would. `reward data replay`
            needs one. None where nobody can write it, such as for a judge of style.
    """

    name: str
    function: Callable[..., Score]
    version: int
    scale: Scale = UNIT_SCALE
    metrics: tuple[str, ...] = ()
    needs: Needs = Needs()
    examples: tuple[Example, ...] = ()
    check: Callable[..., object] | None = None
    oracle: Oracle | None = None

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is no reward name: lower case, digits, underscores")
        if RESERVED_METRICS & set(self.metrics) or len(set(self.metrics)) < len(self.metrics):
            raise ValueError(f"{self.name}: the metrics {self.metrics} repeat or use a flag's name")
        if self.version < 1:
            raise ValueError(f"{self.name}: versions start at 1")
        if not (
            isfinite(self.scale.floor) and self.scale.floor < self.scale.ceiling < float("inf")
        ):
            raise ValueError(f"{self.name}: {self.scale} is no finite range")

    def __call__(
        self,
        sample: Sample,
        /,
        *,
        ask: Ask | None = None,
        siblings: Sequence[Sample] = (),
        **knobs: Any,
    ) -> Score:
        """Score one sample.

        Args:
            sample: what to score.
            ask: who answers the questions of a judge.
            siblings: the samples of the batch with the same prompt, this one among them.
            knobs: settings of the reward.

        Raises:
            DatasetError: the reference or the row is at fault.
            NoJudge: the reward is a judge, and nobody was given to ask.
            ScoringError: we failed; `InvalidScore` where the function broke its own declaration.
        """
        score = self.function(sample, *self._company(sample, ask, siblings), **knobs)
        if not isinstance(score, Score):
            raise InvalidScore(f"{self.name} returned {type(score).__name__}, not Score")
        if not self.scale.floor <= score.value <= self.scale.ceiling:
            raise InvalidScore(f"{self.name} returned {score.value}, outside {tuple(self.scale)}")
        reported = tuple([metric.name for metric in score.metrics])
        if reported != self.metrics:
            raise InvalidScore(
                f"{self.name} reported {list(reported)}, and declares {list(self.metrics)}"
            )
        return score

    def _company(
        self, sample: Sample, ask: Ask | None, siblings: Sequence[Sample]
    ) -> tuple[Any, ...]:
        """What the function takes beside the sample."""
        company: tuple[Any, ...] = ()
        if self.needs.judge:
            if ask is None:
                raise NoJudge(f"{self.name} asks a judge model, and none is named")
            company = (ask,)
        return (*company, siblings or (sample,)) if self.needs.siblings else company

    @property
    def doc(self) -> str:
        """The docstring of the function."""
        return cleandoc(self.function.__doc__ or "")

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.doc.partition("\n")[0]

    @cached_property
    def knobs(self) -> Mapping[str, Knob]:
        """The keyword-only arguments of the function, by name."""
        knobs = {
            name: parameter
            for name, parameter in signature(self.function).parameters.items()
            if parameter.kind is Parameter.KEYWORD_ONLY
        }
        # Of these alone: a module may import the types of the others for type checkers only.
        annotated = SimpleNamespace(
            __annotations__={
                name: parameter.annotation
                for name, parameter in knobs.items()
                if parameter.annotation is not Parameter.empty
            }
        )
        hints = get_type_hints(annotated, getattr(self.function, "__globals__", {}))
        return {
            name: Knob(name, hints.get(name, str), parameter.default)
            for name, parameter in knobs.items()
        }

    def knob(self, name: str) -> Knob:
        """One knob.

        Raises:
            BadKnob: there is none of that name; the message suggests the nearest.
        """
        if name in self.knobs:
            return self.knobs[name]
        raise BadKnob(f"{self.name} has no knob {name!r}{did_you_mean(name, self.knobs)}")

    def bind(self, knobs: Mapping[str, Any], *, ask: Ask | None = None) -> RewardFunction:
        """The same reward with these knobs set; picklable.

        Args:
            knobs: by name.
            ask: whom it asks, if it is a judge.

        Raises:
            BadKnob: an unknown knob, or a value of the wrong type.
            ConfigurationError: a value the reward's own `check` refuses.
        """
        given = {name: self.knob(name).accept(knobs[name]) for name in knobs}
        defaults = {name: knob.default for name, knob in self.knobs.items() if knob.has_default}
        if self.check and (defaults | given).keys() == self.knobs.keys():
            self.check(**defaults | given)
        return partial(self, **given) if ask is None else partial(self, ask=ask, **given)

    def rehearsed(self, example: Example) -> RewardFunction:
        """The reward as an example shows it: its knobs, and the verdicts of its judge."""
        ask = Script(tuple(example.verdicts)) if self.needs.judge else None
        return self.bind(example.knobs, ask=ask)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle by name: the decorator has put the spec where its function stood."""
        if isinstance(self.function, FunctionType):
            return _named, (self.function.__module__, self.function.__name__)
        return super().__reduce_ex__(protocol)


def reward_function(
    *,
    version: int,
    name: str | None = None,
    scale: tuple[float, float] = UNIT_SCALE,
    metrics: Sequence[str] = (),
    needs: Needs = Needs(),
    examples: Sequence[Example] = (),
    check: Callable[..., object] | None = None,
    oracle: Oracle | None = None,
) -> Callable[[Callable[..., Score]], RewardSpec]:
    """Declare a reward function; the arguments are those of `RewardSpec`.

    Args:
        version: see `RewardSpec`.
        name: the function's own name where not given. Combinations, which have none, need it.
        scale: see `RewardSpec`.
        metrics: see `RewardSpec`.
        needs: see `RewardSpec`.
        examples: see `RewardSpec`.
        check: see `RewardSpec`.
        oracle: see `RewardSpec`.

    Raises:
        ValueError: the declaration contradicts itself.
    """

    def declare(function: Callable[..., Score]) -> RewardSpec:
        return RewardSpec(
            name=name or function.__name__,
            function=function,
            version=version,
            scale=Scale(*scale),
            metrics=tuple(metrics),
            needs=needs,
            examples=tuple(examples),
            check=check,
            oracle=oracle,
        )

    return declare


def spec_of(reward: RewardFunction) -> RewardSpec | None:
    """The declaration behind a reward; None without one.

    It is seen through `functools.partial`, and through what holds one as its `spec`.
    """
    while isinstance(reward, partial):
        reward = reward.func
    reward = getattr(reward, "spec", reward)
    return reward if isinstance(reward, RewardSpec) else None


def _named(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def _fits(value: Any, annotation: Any) -> bool:
    """Whether a value is of an annotated type: plain types, `Literal`, and unions of them."""
    if get_origin(annotation) is Literal:
        return any(
            value == allowed and type(value) is type(allowed) for allowed in get_args(annotation)
        )
    if get_origin(annotation) in (Union, UnionType):
        return any(_fits(value, alternative) for alternative in get_args(annotation))
    if annotation is None or annotation is NoneType:
        return value is None
    if annotation is float:
        return type(value) in (int, float) and isfinite(value)
    return type(value) is annotation


def _as_bool(text: str) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    try:
        return words[text.lower()]
    except KeyError:
        raise ValueError(text) from None
