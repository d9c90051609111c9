"""The failures of a rollout, and whose each is.

    RolloutError
    ├── BadRequest            the payload cannot be read: the trainer's, or the caller's
    ├── UntrustedEndpoint     the payload names a host that may not be given a credential
    ├── UnsupportedReport     the transport's API has no such report: the operator's choice of it
    ├── InvalidReward         what was to be reported is not a reward: the agent's code
    ├── ConflictingReport     another report of the same rollout is durable already
    ├── DeliveryFailed        a report did not reach the service; it carries the `Outcome`
    ├── OutboxUnavailable     an intent could not be made durable: a full disk, a table out of reach
    │   └── IntentTooLarge    it is larger than the outbox takes
    ├── ResultNotKept         S3 did not take the record or the result of an episode
    ├── UntrustedBucket       the payload names a bucket that results may not be written to
    ├── StateUnavailable      a start, or its result, could not be made durable or read: a full disk
    ├── RefusedResult         what an agent returned cannot be stored: not JSON, NaN, no rewards
    ├── TooBusy               as much runs and waits as may: the trainer gets to know
    ├── ScorerMismatch        a record was scored by another reward, version or digest
    ├── AgentFailed           a collected rollout's agent reports a failure: no training row
    ├── BadResult             a stored result that is not whole, or is another rollout's
    ├── ServiceFailed         AgentCore or S3 did not do what it was asked for
    ├── MisalignedTokens      tokens and log-probabilities that do not belong together
    └── EpisodeFailure        what an agent's code raises on purpose:
        ├── PolicyFailure         the model did badly: its reward is reported, the minimum by default
        ├── EnvironmentFailure    we could not run or score the episode: it is reported as failed
        └── ContractViolation     the agent cannot serve this job at all: failed, and the run ends

**Failure attribution of an episode.** This table is the one place that decides it:

| event | attributed to | reported |
| --- | --- | --- |
| the agent returns a reward | policy | ready, that reward |
| the agent defers its reward | policy | nothing here: the feedback path reports it |
| `PolicyFailure(reward)` | policy | ready, that reward or the scale's minimum |
| the deadline comes first | policy | ready, the scale's minimum, before the window closes |
| `EnvironmentFailure`, any other exception, a reward that is no number | us | failed |
| the scorer cannot score: a bad reference, a judge out of reach | us | failed |
| S3 does not take a deferred result | us | failed |
| `ContractViolation` | us | failed; raised again, so that the run ends |
| the process died, the episode had begun | us | failed, by the next process |

An exception that was raised `from` an `EpisodeFailure` counts as that failure: frameworks raise
their own from what a tool or a hook raised.

A trainer may end a job at a failed rollout. `REWARD_ROLLOUTS_ON_FAILURE=minimum` reports the minimum
instead, and then an outage of ours is a lesson for the policy: nobody has it unless they ask for it.

Messages hold names, sizes and states, never a prompt, a response, a credential or a token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reward_functions.core.errors import ConfigurationError, RewardError

if TYPE_CHECKING:
    from reward_functions.rollouts.request.outcomes import Outcome


class RolloutError(RewardError):
    """Anything that this room raises on purpose."""


class BadRequest(RolloutError, ValueError):
    """A payload that is not a rollout request. The message names the field."""


class UntrustedEndpoint(RolloutError, ConfigurationError):
    """A runtime endpoint that no credential is sent to. The message says how to allow it."""


class UnsupportedReport(RolloutError, ConfigurationError):
    """A report that the chosen transport's API does not have. The message names another."""


class InvalidReward(RolloutError, ValueError):
    """Not a reward: not finite, not a number, or of another length than the turns."""


class ConflictingReport(RolloutError):
    """Something else is durable already for a rollout and operation: the first one counts."""


class DeliveryFailed(RolloutError):
    """A report did not reach the service, or was refused.

    Args:
        outcome: what became of it; `outcome.pending` where the outbox tries again.
    """

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.sentence)
        self.outcome = outcome


class OutboxUnavailable(RolloutError):
    """An intent could not be made durable. The message names the store and the reason."""


class IntentTooLarge(OutboxUnavailable):
    """An intent is larger than the outbox takes."""


class ResultNotKept(RolloutError):
    """S3 did not take the record or the result of an episode. The message names the place."""


class UntrustedBucket(RolloutError, ConfigurationError):
    """A bucket that results may not be written to. The message says how to allow it."""


class StateUnavailable(RolloutError):
    """A start, or its result, could not be made durable or read. The message says why."""


class RefusedResult(RolloutError, ValueError):
    """The result of an agent cannot be stored. The message quotes nothing of it."""


class TooBusy(RolloutError):
    """The agent takes no more episodes now. A server answers 503."""


class ScorerMismatch(RolloutError, ConfigurationError):
    """A record was scored by another reward, version, digest or parameters than this one."""


class AgentFailed(RolloutError):
    """An agent's rollout ended with a failure of its own: nobody may learn from it.

    Args:
        message: the status and the agent's reason.
        result: what the agent stored, whole.
    """

    def __init__(self, message: str, result: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.result = result if result is not None else {}


class BadResult(RolloutError, ValueError):
    """The reply or result of an agent is not whole, or belongs to another rollout."""


class ServiceFailed(RolloutError):
    """AgentCore or S3 did not do what it was asked for, after all attempts.

    Args:
        message: one sentence.
        code: AWS's code, or the name of the SDK's error.
    """

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class MisalignedTokens(RolloutError, ValueError):
    """Tokens and log-probabilities that do not belong together: nobody may learn from them."""


class EpisodeFailure(RolloutError):
    """The end of an episode that the agent's code decides on."""


class PolicyFailure(EpisodeFailure):
    """The model did badly: gave up, broke the format, used a tool that does not exist.

    Args:
        message: for the log.
        reward: what the episode earns; the minimum of the scale where None.
    """

    def __init__(self, message: str = "", reward: float | None = None) -> None:
        super().__init__(message)
        self.reward = reward


class EnvironmentFailure(EpisodeFailure):
    """We could not run the episode: a tool's service is down, a sandbox did not start."""


class ContractViolation(EpisodeFailure):
    """The agent cannot serve this job: no row of the data set has a field that it needs."""
