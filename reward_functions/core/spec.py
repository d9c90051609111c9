r"""A reward function is one plain function with a declaration: version, scale, metrics, examples.

    @reward_function(version=1, examples=[Example("positive", response="4", score=1.0,
    reference=4)]) def exact(sample: Sample, *, strip: bool = True) -> Score: ...

The decorator replaces the function by a `RewardSpec`: still callable with a sample, and now also
the row in the catalogue, the page of `reward show`, the conformance test, the deployment.
Keyword-only arguments are *parameters*; they are typed, listed and checked from the signature,
nowhere else.

The declaration of a reward: how it may be called, and what its function may return.

math("\\boxed{4}", "4")          a sample is made of the two
return answer == reference       True is 1.0 and False 0.0, which the scale must hold

The list of what a reward lacks before it can be deployed.

A prototype, of version 0, scores and explains. Others rely on a deployed reward: they need to know
which of its scores are comparable, what it pays for, and that somebody tried to game it.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field
from decimal import Decimal
from functools import cache, cached_property, partial
from importlib import import_module
from inspect import cleandoc
from numbers import Real
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, overload

from reward_functions.core.asking import ScriptedAsk
from reward_functions.core.declaring import Parameter, insist, names, parameters_of, two_numbers
from reward_functions.core.errors import BadParameter, InvalidScore, NoJudge
from reward_functions.core.suggest import did_you_mean
from reward_functions.core.types import Message, Sample, Score, sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reward_functions.core.asking import Ask


def sample_called_with(name: str, response: object, reference: Any, prompt: object) -> Sample:
    """The sample that a call describes.

    Args:
        name: of the reward, for messages.
        response: a string.
        reference: of any shape.
        prompt: a string.

    Raises:
        TypeError: the response or the prompt is not a string; the message says what to type.
    """
    if isinstance(response, Sample):
        raise TypeError(f"a Sample holds its own reference and prompt: call {name}(sample)")
    if not isinstance(response, str):
        given = "nothing" if response is None else type(response).__name__
        many = "; score_batch scores many" if isinstance(response, list | tuple) else ""
        raise TypeError(
            f'{name} scores one response, a string or a Sample, not {given}: call {name}("the '
            f'response", "the reference"){many}'
        )
    if not isinstance(prompt, str):
        raise TypeError(
            f"{name} takes the prompt as a string, not {type(prompt).__name__}: a conversation is "
            "a Sample, with its turns as messages"
        )
    return sample(response, reference, prompt=prompt)


def score_of(name: str, returned: object) -> Score:
    """The score that a number stands for.

    Args:
        name: of the reward, for messages.
        returned: what its function returned in place of a `Score`.

    Raises:
        InvalidScore: it is not a finite number.
    """
    if getattr(returned, "shape", None) == () and hasattr(returned, "item"):
        returned = returned.item()  # one number of numpy or torch, which have bools of their own
    if not isinstance(returned, Real | Decimal):
        raise InvalidScore(
            f"{name} returned {type(returned).__name__}, not a Score, a number or a bool"
        )
    try:
        return Score(float(returned))
    except (ValueError, OverflowError):
        raise InvalidScore(f"{name} returned a number that is not finite") from None


class RewardFunction(Protocol):
    """Anything that scores one sample: a spec, a partial of one, a combination of several."""

    def __call__(self, sample: Sample, /) -> Score:
        """Score one sample; raise only when it could not be scored."""


class GoldResponse(Protocol):
    """Writes the right response to a sample from its reference, as a perfect policy would."""

    def __call__(self, sample: Sample, /) -> str:
        """The response; raises BadReference where the reference cannot be read."""


class RowCredit(Protocol):
    """The most that a near miss may earn at one row."""

    def __call__(self, sample: Sample, /) -> float:
        """The credit, below the maximum; raises BadReference where the reward would."""


PartialCredit = float | RowCredit | None


class Scale(NamedTuple):
    """The closed range of a reward's values. The minimum is what a worthless response earns."""

    minimum: float = 0.0
    maximum: float = 1.0


UNIT_SCALE: Final = Scale()

CLOSEST: Final = 1e-6
"""How far below the maximum a wrong response stays, as a share of the scale, where the partial
credit depends on the row."""


JUDGE_WORKERS: Final = 256
"""Threads of a batch that is judged. Most wait, for a turn to ask or for the answer to a question
that an equal response of the group asked first; calls at once are limited elsewhere."""


IN_COMPOSITE: Final[ContextVar[bool]] = ContextVar("IN_COMPOSITE", default=False)
"""Whether the reward that is called is a part of a composite."""


def warn_where_alone(notice: str) -> None:
    """Log once in a process what a reward that is no part of a composite does not look at."""
    if not IN_COMPOSITE.get():
        logged_once(notice)


@cache
def logged_once(notice: str) -> None:
    """Log a notice the first time that it is given."""
    import logging  # noqa: PLC0415 - most rewards have no notice

    logging.getLogger("reward_functions").warning(notice)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """The needs of a reward function while it runs.

    Args:
        workers: threads a batch is scored with; 0 for one, and for `JUDGE_WORKERS` of a judge.
        symbolic: whether it compares mathematics, whose process of its own a deployment starts
            before the first batch. It needs no setting: without it that process starts when needed.
        judge: whether it asks a judge model. Its function is then `(sample, ask, *, parameters)`.
        group: whether it looks at its group, the samples of the batch with the same prompt. Its
            function then takes them after the others: `(sample, ask, group, *, parameters)`.
    """

    workers: int = 0
    symbolic: bool = False
    judge: bool = False
    group: bool = False

    def __post_init__(self) -> None:
        if not self.workers:
            object.__setattr__(self, "workers", JUDGE_WORKERS if self.judge else 1)


Kind = Literal["positive", "partial", "negative", "attack"]


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example: documentation, test, and smoke check of a deployment.

    Args:
        kind: "positive" earns the maximum, "partial" lies between the two ends of the scale.
            "negative" is a wrong response, "attack" an attempt to earn what was not deserved. Both
            earn at most the reward's partial credit, which is the minimum unless declared.
        response: what the policy wrote.
        reference: the ground truth, in any shape the reward reads.
        score: what it earns, exactly.
        prompt: the user turn before it.
        metadata: further fields of the data set.
        parameters: the settings the example shows, defaults elsewhere.
        verdicts: of a judge, what the model answers to each question; see `ScriptedAsk`.
        why: one clause for a reader.
    """

    kind: Kind
    _: KW_ONLY
    response: str
    reference: Any = None
    score: float
    prompt: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    verdicts: Sequence[Mapping[str, str]] = ()
    why: str = ""

    def sample(self, id: str = "example") -> Sample:  # noqa: A002 - the wire's own word
        """The example as a sample."""
        turns = (Message("user", self.prompt), Message("assistant", self.response))
        return Sample(id=id, messages=turns, reference=self.reference, metadata=dict(self.metadata))


@dataclass(frozen=True, kw_only=True, eq=False)
class RewardSpec:
    """A reward function and its declaration.

    Calling it scores one sample and checks the result against the declaration.

    Args:
        name: the stem of the file that defines it; qualified for third parties.
        function: `(sample, *, parameters) -> Score`.
        version: raised by one whenever any score can change. 0 is a prototype: it scores and
            explains, and cannot be deployed.
        scale: the range of its values.
        metrics: the names of the metrics every one of its scores carries, in order.
        needs: what running it takes.
        examples: worked examples; the first is replayed when a deployment starts.
        check: called with all the parameters when they are bound and each has a value; raises where
            they cannot be used together, or name a file that cannot.
        gold_response: `(sample) -> response`: writes the right response to a sample from its
            reference, as a perfect policy would; raises BadReference where the reward would.
            `reward audit` needs one. None where nobody can write it, such as for a judge of
            style.
        partial_credit: the most that a wrong but well-formed response may earn, on the scale; None
            for the minimum. A reward for form alone, which pays correct and wrong responses alike,
            declares the maximum of its scale. Where it depends on the row, `(sample) -> credit`,
            below the maximum: at most what a near miss earns there.
        doubts: `(sample, *, parameters) -> clauses`: what a row leaves open that the reward can use
            all the same. `reward data lint` warns of it.
    """

    name: str
    function: Callable[..., Score | float]
    version: int
    scale: Scale = UNIT_SCALE
    metrics: tuple[str, ...] = ()
    needs: Needs = Needs()
    examples: tuple[Example, ...] = ()
    check: Callable[..., object] | None = None
    gold_response: GoldResponse | None = None
    partial_credit: PartialCredit = None
    doubts: Callable[..., Iterable[str]] | None = None

    def __post_init__(self) -> None:
        insist(self)
        if any(not isinstance(example, Example) for example in self.examples):
            raise TypeError(f'{self.name}: each example is an Example("positive", response=…)')

    def __call__(
        self,
        response: Sample | str | None = None,
        reference: Any = None,
        *,
        prompt: str = "",
        ask: Ask | None = None,
        group: Sequence[Sample] = (),
        **parameters: Any,
    ) -> Score:
        """Score one response: `spec(sample)`, or `spec("the response", "the reference")`.

        Args:
            response: what the policy wrote; or a whole sample, which has the other two in it.
            reference: the ground truth.
            prompt: the user turn before the response.
            ask: answers the questions of a judge.
            group: the samples of the batch with the same prompt, this one among them.
            parameters: settings of the reward.

        Raises:
            DatasetError: the reference or the row cannot be used.
            NoJudge: the reward is a judge, and `ask` is missing.
            ScoringError: we failed; `InvalidScore` where the function broke its own declaration.
            BadParameter: there is no such parameter, or its value is of another type.
            TypeError: what is to be scored is neither a sample nor a string.
        """
        sample = response
        if not isinstance(sample, Sample) or reference is not None or prompt:
            sample = sample_called_with(self.name, response, reference, prompt)
        if parameters:
            parameters = {
                name: self.parameter(name).accept(parameters[name]) for name in parameters
            }
        returned = self.function(sample, *self._arguments(sample, ask, group), **parameters)
        score = returned if isinstance(returned, Score) else score_of(self.name, returned)
        if not self.scale.minimum <= score.value <= self.scale.maximum:
            raise InvalidScore(f"{self.name} returned {score.value}, outside {tuple(self.scale)}")
        reported = tuple([metric.name for metric in score.metrics])
        if reported != self.metrics:
            raise InvalidScore(
                f"{self.name} reported {list(reported)}, and declares {list(self.metrics)}"
            )
        return score

    def _arguments(
        self, sample: Sample, ask: Ask | None, group: Sequence[Sample]
    ) -> tuple[Any, ...]:
        """What the function takes beside the sample."""
        arguments: tuple[Any, ...] = ()
        if self.needs.judge:
            if ask is None:
                raise NoJudge(f"{self.name} asks a judge model, and none is named")
            arguments = (ask,)
        return (*arguments, group or (sample,)) if self.needs.group else arguments

    @property
    def most_undeserved(self) -> float:
        """The most that a wrong response may earn: the partial credit, or the minimum.

        A credit by the row comes as near to the maximum as `CLOSEST`.
        """
        if callable(self.partial_credit):
            low, high = self.scale
            return high - CLOSEST * (high - low)
        return self.scale.minimum if self.partial_credit is None else self.partial_credit

    def credit(self, sample: Sample) -> float:
        """The most that a near miss may earn at this row.

        Raises:
            BadReference: the credit depends on the row, whose reference cannot be used.
        """
        if callable(self.partial_credit):
            return min(self.partial_credit(sample), self.most_undeserved)
        return self.most_undeserved

    @property
    def doc(self) -> str:
        """The docstring of the function."""
        return cleandoc(getattr(self.function, "documentation", self.function.__doc__) or "")

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.doc.partition("\n")[0]

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """The keyword-only arguments of the function, by name."""
        return parameters_of(self.function)

    def parameter(self, name: str) -> Parameter:
        """One parameter.

        Raises:
            BadParameter: there is none of that name; the message suggests the nearest.
        """
        if name in self.parameters:
            return self.parameters[name]
        raise BadParameter(
            f"{self.name} has no parameter {name!r}{did_you_mean(name, self.parameters)}"
        )

    def bind(self, parameters: Mapping[str, Any], *, ask: Ask | None = None) -> RewardFunction:
        """The same reward with these parameters set; picklable.

        Args:
            parameters: by name.
            ask: answers its questions, if it is a judge.

        Raises:
            BadParameter: an unknown parameter, or a value of the wrong type.
            ConfigurationError: a value the reward's own `check` refuses.
        """
        given = {name: self.parameter(name).accept(parameters[name]) for name in parameters}
        defaults = {
            name: parameter.default
            for name, parameter in self.parameters.items()
            if parameter.has_default
        }
        if self.check and (defaults | given).keys() == self.parameters.keys():
            self.check(**defaults | given)
        return partial(self, **given) if ask is None else partial(self, ask=ask, **given)

    def bound_to_example(self, example: Example) -> RewardFunction:
        """The reward with an example's parameters, and with the example's verdicts for a judge."""
        ask = ScriptedAsk(tuple(example.verdicts)) if self.needs.judge else None
        return self.bind(example.parameters, ask=ask)

    def __eq__(self, other: object) -> bool:
        """Itself; of composites, which no name leads to, the same parts under the same name."""
        if not isinstance(other, RewardSpec) or isinstance(self.function, FunctionType):
            return self is other
        mine = self.name, self.version, self.function
        return mine == (other.name, other.version, other.function)

    def __hash__(self) -> int:
        return hash((self.name, self.version))

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle by name: the decorator has put the spec where its function stood."""
        if isinstance(self.function, FunctionType):
            return _named, (self.function.__module__, self.function.__name__)
        return super().__reduce_ex__(protocol)


@overload
def reward_function(function: Callable[..., Score | float], /) -> RewardSpec: ...


@overload
def reward_function(
    *,
    version: int = 0,
    name: str | None = None,
    scale: tuple[float, float] = UNIT_SCALE,
    metrics: Sequence[str] = (),
    needs: Needs = Needs(),
    examples: Sequence[Example] = (),
    check: Callable[..., object] | None = None,
    gold_response: GoldResponse | None = None,
    partial_credit: PartialCredit = None,
    doubts: Callable[..., Iterable[str]] | None = None,
) -> Callable[[Callable[..., Score | float]], RewardSpec]: ...


def reward_function(
    function: Callable[..., Score | float] | None = None,
    /,
    *,
    version: int = 0,
    name: str | None = None,
    scale: tuple[float, float] = UNIT_SCALE,
    metrics: Sequence[str] = (),
    needs: Needs = Needs(),
    examples: Sequence[Example] = (),
    check: Callable[..., object] | None = None,
    gold_response: GoldResponse | None = None,
    partial_credit: PartialCredit = None,
    doubts: Callable[..., Iterable[str]] | None = None,
) -> RewardSpec | Callable[[Callable[..., Score | float]], RewardSpec]:
    """Declare a reward function; the arguments are those of `RewardSpec`.

    Bare, as `@reward_function` without arguments, it declares a prototype: `reward audit` says what
    it lacks before it can be deployed. The name is the function's own where not given.

    Raises:
        ValueError: the declaration contradicts itself.
        TypeError: something else than a function is decorated.
    """

    def declare(function: Callable[..., Score | float]) -> RewardSpec:
        if not callable(function) or isinstance(function, RewardSpec | type):
            raise TypeError("declare a function once: @reward_function(version=1, …) above its def")
        return RewardSpec(
            name=str(name or getattr(function, "__name__", type(function).__name__)),
            function=function,
            version=version,
            scale=Scale(*two_numbers(scale)),
            metrics=names(metrics),
            needs=needs,
            examples=tuple(examples),
            check=check,
            gold_response=gold_response,
            partial_credit=partial_credit,
            doubts=doubts,
        )

    return declare if function is None else declare(function)


def spec_of(reward: RewardFunction) -> RewardSpec | None:
    """The declaration of a reward; None without one.

    It is seen through `functools.partial`, and through what holds one as its `spec`.
    """
    while isinstance(reward, partial):
        reward = reward.func
    reward = getattr(reward, "spec", reward)
    return reward if isinstance(reward, RewardSpec) else None


def _named(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


KINDS: Final = ("positive", "negative", "attack")
"""Of examples, each of which a reader looks for."""


def lacking(spec: RewardSpec) -> list[str]:
    """The missing parts of a reward, as you type them; a prototype lacks more than examples."""
    return list(_lacking(spec))


def _lacking(spec: RewardSpec) -> Iterator[str]:
    prototype = spec.version == 0
    if prototype:
        yield "version=1"
    shown = {example.kind for example in spec.examples}
    missing = [kind for kind in KINDS if kind not in shown]
    if missing and (prototype or not shown):
        yield f"examples of kind {', '.join(missing)}"
    if prototype and not spec.summary:
        yield "a docstring"
