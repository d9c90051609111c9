r"""The values that flow through every reward: samples in, scores out.

    Message ┐
    Message ┴→ Sample ──(reward function)──→ Score ──(score_batch)──→ Scored | Unscored

All are frozen, and none knows where it came from: wire formats are decoded in `serving`. A
reward function receives one `Sample` and returns one `Score`; it writes no id, so it loses none.
A sample without a score is an `Unscored`, a type of its own, so that no caller can mistake an
outage for a number.

The samples of a batch with the same prompt, and what is worked out about all of them once.

A sample in one line: a response, and what it is measured against.

sample("6 × 7 = 42\n#### 42", "42")
sample("The answer is B.", "B", prompt="Which one is prime?", id="q7", level="easy")
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from math import isfinite
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


ASSISTANT_ROLES: Final = frozenset({"assistant", "nova_assistant"})
"""The roles a policy answers under: OpenAI's name, and the one Amazon Nova's trainer uses."""


class FunctionCall(NamedTuple):
    """A call of a tool, as it was written.

    Attributes:
        name: of the tool.
        arguments: JSON of an object, as long as nobody wrote something else.
    """

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    Args:
        role: "system", "user", "assistant", "nova_assistant", "tool", … as the trainer wrote it.
        content: plain text. Content blocks are flattened, and reasoning blocks dropped, where the
            wire format is decoded.
        tool_calls: that stand beside the text, in order; what the policy wrote into its text is
            read by the reward that looks for calls.
    """

    role: str
    content: str
    tool_calls: tuple[FunctionCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A prompt, the policy's response to it, and what a right response is measured against.

    Args:
        id: the trainer's name for the sample; results carry it back unchanged.
        messages: the conversation, the generated turn last.
        reference: the ground truth as the data set holds it: a string, a number, a mapping, or None
            where the reward needs none. `reward_functions.core.references` reads it.
        metadata: every further field of the data set.
    """

    id: str
    messages: tuple[Message, ...]
    reference: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.messages, tuple):
            object.__setattr__(self, "messages", tuple(self.messages))

    @property
    def response(self) -> str:
        """The text of the last message when the policy wrote it, else the empty string.

        A trainer that sends no generated turn sends an empty answer: AWS's launch checks do so.
        """
        if self.messages and self.messages[-1].role in ASSISTANT_ROLES:
            return self.messages[-1].content
        return ""

    @property
    def tool_calls(self) -> tuple[FunctionCall, ...]:
        """The calls of tools beside the response. Without them and without text it is empty."""
        if self.messages and self.messages[-1].role in ASSISTANT_ROLES:
            return self.messages[-1].tool_calls
        return ()

    @property
    def context(self) -> tuple[Message, ...]:
        """The messages before the response. Samples that share it are one group."""
        if self.messages and self.messages[-1].role in ASSISTANT_ROLES:
            return self.messages[:-1]
        return self.messages

    def answered(self, response: str) -> Sample:
        """The same sample with another response in place of any it has."""
        turns = (*self.context, Message(role="assistant", content=response))
        return Sample(id=self.id, messages=turns, reference=self.reference, metadata=self.metadata)

    @property
    def prompt(self) -> str:
        """The text of the last user turn before the response, else the empty string."""
        for message in reversed(self.messages):
            if message.role == "user":
                return message.content
        return ""


@dataclass(frozen=True, slots=True)
class Metric:
    """A number reported beside the score.

    Args:
        name: the same on every score of one reward, so that trainers can average it.
        value: finite.
        type: "Metric", or "Reward" for a component of the score. Trainers check the spelling
            (`metrics_list[].type` in AWS's reward verifier).

    Raises:
        ValueError: the value is not finite, or the type is another word.
    """

    name: str
    value: float
    type: Literal["Metric", "Reward"] = "Metric"

    def __post_init__(self) -> None:
        if self.type not in ("Metric", "Reward"):
            raise ValueError(f"metric {self.name!r} is of type {self.type!r}: Metric or Reward")
        if not isfinite(self.value):
            raise ValueError(f"metric {self.name!r} is {self.value}; metrics are finite numbers")


class Outcome(Enum):
    """Three answers, because "not shown equal" is not "different".

    A *different* is proved and final. *Undecided* means that neither was proved.
    """

    EQUAL = "equal"
    DIFFERENT = "different"
    UNDECIDED = "undecided"


class Evidence(NamedTuple):
    """Why a score is what it is, kept as objects and only rendered when somebody asks.

    Attributes:
        rule: the rule that decided, in a few words.
        answer: the normal form of the policy's answer; `str()` renders it.
        reference: the normal form of the reference; `str()` renders it.
        outcome: of a comparison that may end without a proof; None of any other.
    """

    rule: str
    answer: object = None
    reference: object = None
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """What one response earned.

    Args:
        value: finite, inside the scale its reward function declares.
        metrics: numbers beside the score, each name once.
        answer: what was extracted from the response, None when nothing was found.
        reason: one sentence for a person reading the result.
        evidence: what was compared, for `reward explain`.
        parts: of a composite, the scores of the parts that ran, by their names there.

    Raises:
        ValueError: the value is not finite.
    """

    value: float
    metrics: tuple[Metric, ...] = ()
    answer: str | None = None
    reason: str = ""
    evidence: Evidence | None = None
    parts: tuple[tuple[str, Score], ...] = ()

    def __post_init__(self) -> None:
        if not isfinite(self.value):
            raise ValueError(f"the score is {self.value}; scores are finite numbers")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more calls of a model, as the provider counts them.

    Args:
        input: read at full price.
        output: written, reasoning included.
        cache_read: read from the provider's prompt cache.
        cache_write: written to it.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )

    @property
    def total(self) -> int:
        """The sum of the four."""
        return self.input + self.output + self.cache_read + self.cache_write


@dataclass(frozen=True, slots=True)
class Scored:
    """A sample that was scored."""

    id: str
    score: Score


@dataclass(frozen=True, slots=True)
class Unscored:
    """A sample that could not be scored, and the exception that says why.

    It has no value on purpose: each edge decides what it returns in place of one. The failure
    attribution table in `reward_functions.core.errors` has the rule.
    """

    id: str
    error: Exception


RewardResult = Scored | Unscored


Work = TypeVar("Work")


class Group(tuple[Sample, ...]):  # noqa: SLOT001 - a tuple of any length has a __dict__
    """The samples of one prompt in a batch; safe to use from many threads.

    Args:
        samples: in the order of the batch.
    """

    def __init__(self, samples: Iterable[Sample]) -> None:  # noqa: ARG002 - a tuple takes them itself
        self._lock = Lock()
        self._done: dict[Callable[[Sequence[Sample]], Any], Any] = {}

    def once(self, work: Callable[[Sequence[Sample]], Work]) -> Work:
        """The result of a function for the group; the first sample that asks has it computed."""
        with self._lock:
            if work not in self._done:
                self._done[work] = work(self)
            found: Work = self._done[work]
            return found


def once(group: Sequence[Sample], work: Callable[[Sequence[Sample]], Work]) -> Work:
    """Compute a function of a group once for all the samples of a batch.

    Args:
        group: as a reward is given it; any other sequence is worked through at each call.
        work: from the samples; a function of a module, which is the key.
    """
    return group.once(work) if isinstance(group, Group) else work(group)


TOKENS: Final = "completion_tokens"
"""The field of a row that counts the tokens of its response; adapters fill it in where the trainer
shows the tokens."""


def sample(
    response: str = "",
    reference: Any = None,
    *,
    prompt: str = "",
    id: str = "sample",  # noqa: A002 - the wire's own word
    **metadata: Any,
) -> Sample:
    """A user turn, an assistant turn, and a reference.

    Args:
        response: what the policy wrote.
        reference: the ground truth, in any shape that the reward reads; None where it needs none.
        prompt: the user turn.
        id: the sample's name.
        metadata: further fields of the data set.

    Raises:
        TypeError: response or prompt is not a string.
    """
    for name, text in (("response", response), ("prompt", prompt)):
        if not isinstance(text, str):
            raise TypeError(f"a {name} is a string, not {type(text).__name__}")
    turns = (Message("user", prompt), Message("assistant", response))
    return Sample(id=id, messages=turns, reference=reference, metadata=metadata)
