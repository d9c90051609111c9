"""A low score means the model did badly; an exception means we could not score.

    RewardError
    ├── DatasetError          the training data is the cause
    │   ├── BadSample         the row is not a valid sample: wrong types, fields missing
    │   └── BadReference      the reference is missing, unreadable or of an unknown shape;
    │                         UnreadableReference where it is mathematics that cannot be read
    ├── ScoringError          we are the cause
    │   ├── InvalidScore      a reward function broke its own declaration
    │   ├── DeadlineReached   the batch's time was over before this sample's turn;
    │   │                     AlgebraOutOfTime while its hard algebra waited or was worked out,
    │   │                     SampleBlocked where the reward function did not return from it
    │   ├── ProcessEnded      the process that scored this sample ended, or none could be started
    │   ├── EngineUnavailable the process that works out hard algebra cannot be had
    │   ├── EngineFailed      our own code in that process has a bug
    │   ├── JudgeUnavailable  no judge model could be asked: throttled, unreachable, out of time;
    │   │                     BudgetReached where the batch's dollars are spent
    │   ├── NoVerdict         a judge model answered, and its answer is not a valid verdict
    │   ├── PartFailed        a part of a composite has a bug
    │   └── NoOtherResponse         a comparison needs another response to the prompt, and has none
    └── ConfigurationError    nothing was scored: the caller asked for what does not exist
        ├── UnknownReward
        ├── BadParameter
        ├── BadComposite      a composite's declaration cannot be used
        ├── BadJudge          a judge's settings, prompt or rubric cannot be used
        ├── NoJudge           a judge was to score, and nobody named the model to ask
        ├── MissingExtra      it needs an extra that is not installed; see `core/extras.py`
        └── BrokenPlugin      an entry point could not be loaded, or is not a reward function

**Failure attribution.** This table is the one place that decides it:

| event | attributed to | the function | result |
|---|---|---|---|
| empty, off-format, unparsable, oversized or too slow *answer* | policy | returns the minimum with a reason | `Scored` |
| a missing generated turn | policy | sees an empty answer | `Scored` |
| missing or unreadable *reference*, a row that is not a valid sample | data set | raises `DatasetError` | `Unscored` |
| the algebra worker cannot start, or dies for a reason other than the answer | us | raises `EngineUnavailable` | `Unscored` |
| our own code that works out algebra has a bug | us | raises `EngineFailed` | `Unscored` |
| the batch's deadline passes before hard algebra is worked out | us | raises `AlgebraOutOfTime` | `Unscored` |
| the judge model is throttled, unreachable, out of time or money | us | raises `JudgeUnavailable` | `Unscored` |
| the judge model refuses, is cut off, or gives no valid verdict | us | raises `NoVerdict` | `Unscored` |
| a bug, a non-finite value, a score out of scale, the deadline | us | anything escaping | `Unscored` |
| the reward function does not return in the batch's time | us | does not return: `SampleBlocked` | `Unscored` |
| the reward function ends its process (`os._exit`, a crash in C code) | us | does not return: `ProcessEnded` | `Unscored` |

`score_batch` turns exceptions into `Unscored`; what an `Unscored` becomes is decided once per edge
(`reward_functions.serving.imputation` for the Lambda, `reward_functions.cli._results` for the command line).

Messages of these exceptions describe shapes and names, never the text of a prompt, a response or a
reference: they are logged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from reward_functions.core.types import Usage


class RewardError(Exception):
    """Anything this library raises on purpose."""


class DatasetError(RewardError):
    """The training data is the cause: every response to this prompt shares the problem."""


class BadSample(DatasetError):
    """A row that is not a valid sample. The message names the field."""


class BadReference(DatasetError):
    """A reference that is missing or cannot be read. The message names the shape it has."""


class UnreadableReference(BadReference):
    """A reference that has content, and is mathematics in a notation that nobody here reads."""


class ScoringError(RewardError):
    """We are the cause: the response might have earned anything."""


class InvalidScore(ScoringError):
    """A reward function returned something its declaration excludes."""


class DeadlineReached(ScoringError):
    """The batch's time was over before this sample's turn."""


class AlgebraOutOfTime(DeadlineReached):
    """The batch's time was over while hard algebra of this sample waited or was worked out.

    A Lambda gives such a sample the minimum, and never fails its batch for it.
    """


class SampleBlocked(DeadlineReached):
    """The reward function had begun this sample, and did not return from it in the batch's time."""


class ProcessEnded(ScoringError):
    """The process that scored this sample ended without an answer, or none could be started."""


class EngineUnavailable(ScoringError):
    """The process that works out hard algebra cannot start, or died for a reason other than the answer."""


class EngineFailed(ScoringError):
    """Our own code that works out hard algebra has a bug. The message names the line."""


WhyUnavailable = Literal[
    "throttled", "busy", "timeout", "unreachable", "denied", "unrecorded", "deadline", "budget"
]
TRANSIENT: Final = frozenset({"throttled", "busy", "timeout", "unreachable"})
"""Kinds that a retry can cure."""

UNBILLED: Final = frozenset({"throttled", "denied", "unrecorded", "deadline", "budget"})
"""Kinds of calls that no provider charges for."""


class JudgeUnavailable(ScoringError):
    """No judge model could be asked.

    Args:
        message: the model and the error code it returned; never the text it wrote.
        kind: why. "throttled" is its quota, "busy" its own fault, "timeout" an answer too late,
            "unreachable" a broken connection, "denied" a request it will never take, "unrecorded" a
            question that the file of recorded answers lacks, "deadline" the batch's time, "budget"
            its money.
        retry_after: seconds the model asked us to wait.
        unbilled: whether no model can have run, by the kind or because nobody was reached. A call
            that was sent and not answered may be billed all the same.
        lasting: whether any other question would fare alike: nobody listens there, the key is not
            accepted, there is no such model.
        final: whether the model is not asked any more in this batch.
    """

    def __init__(
        self,
        message: str = "",
        kind: WhyUnavailable = "busy",
        retry_after: float = 0.0,
        *,
        unbilled: bool = False,
        lasting: bool = False,
        final: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind: WhyUnavailable = kind
        self.retry_after = retry_after
        self.unbilled = unbilled or kind in UNBILLED
        self.lasting = lasting
        self.final = final

    @property
    def transient(self) -> bool:
        """Whether a retry may help."""
        return self.kind in TRANSIENT and not self.final


class BudgetReached(JudgeUnavailable):
    """The batch has spent its dollars: `max_usd` of the judge's settings."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message, "budget")


WhyNoVerdict = Literal["malformed", "cut", "refused"]


VERDICT_REMEDIES: Final[dict[WhyNoVerdict, str]] = {
    "malformed": "the model does not keep to the form it is asked for; `reward judge probe` finds "
    "an output mode that it keeps to",
    "cut": "raise max_tokens in the judge's settings, or ask a model that reasons less",
    "refused": "name another model in the judge's settings, also as the fallback",
}
"""What to do about an answer that is no verdict, which its message ends with."""


class NoVerdict(ScoringError):
    """A judge model answered, and its answer is not a valid verdict.

    Args:
        message: what is wrong with the form of the answer; never the answer. The message adds what
            to do.
        kind: "malformed" is another form than asked for, "cut" one without its end, "refused" the
            model's or a guardrail's refusal, which a retry does not change.
        usage: the tokens it cost all the same.
    """

    def __init__(
        self, message: str = "", kind: WhyNoVerdict = "malformed", usage: Usage | None = None
    ) -> None:
        super().__init__(message)
        self.kind: WhyNoVerdict = kind
        self.usage = usage

    def __str__(self) -> str:
        """What is wrong, and what to do about it."""
        message = super().__str__()
        return f"{message}: {VERDICT_REMEDIES[self.kind]}" if message else ""


class NoOtherResponse(ScoringError):
    """A comparison needs another response to the same prompt, and the batch holds none."""


class PartFailed(ScoringError):
    """A part of a composite raised what no reward raises on purpose. The message names the line."""


class ConfigurationError(RewardError):
    """The caller asked for something that does not exist; no sample was touched."""


class UnknownReward(ConfigurationError):
    """No reward function has this name. The message suggests the nearest ones."""


class BadParameter(ConfigurationError):
    """A parameter the reward function does not have, or a value of the wrong type."""


class BadComposite(ConfigurationError):
    """A composite cannot be made of these parts. The message says what to change."""


class BadJudge(ConfigurationError):
    """A judge's settings, prompt file or rubric cannot be used. The message names the place."""


class NoJudge(ConfigurationError):
    """A judge was to score, and nobody named the model to ask: no judge has a default model."""


class BrokenPlugin(ConfigurationError):
    """An installed package's `reward_functions` entry point could not be used.

    Args:
        message: the entry point, its package, and the cause in one sentence.
        name: the reward that it should be.
        package: the distribution that registers it; empty where that is not known.
    """

    def __init__(self, message: str = "", name: str = "", package: str = "") -> None:
        super().__init__(message)
        self.name = name
        self.package = package
