"""agentcore-rl-toolkit: its `TraceRecord`, and the result that its app writes into S3.

| field | meaning | source, of agentcore_rl_toolkit 0.2.0 |
| --- | --- | --- |
| `token_ids` | the whole sequence | `rollout_gateway/trace.py` |
| `loss_mask`, `logprobs` | of the response region alone, as long as each other | there |
| `rollout_id` | records of one episode share it | there |
| `reward` | of the episode, the same in each of its records | `rollout_gateway/trajectory.py` |
| `metadata` | `truncated`, `use_tool`, `ill_formed`, and what else there is | there |
| `rewards`, `metrics`, `rollout_data` | of a result: number or list; by name; anything | `app.py` |
| `status_code`, `stop_reason` | 200 and "end_turn", or 500 and an error | there |

A record has no way to say that something is missing: its `logprobs` are numbers, and its `reward`
is 0.0 unless given. So a row without log-probabilities and a rollout without a reward give none.
Where the mask is 0 the log-probability is 0.0, the toolkit's own filler.

A result that is read may have `reward` for `rewards`, as the toolkit's HTTP session writes it. One
whose `status_code` is not 200 has no rewards, even if it names some.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.rollouts.record.exchange.advantages import episode_return
from reward_functions.rollouts.record.exchange.fields import MOST, BadTrace, Fields
from reward_functions.rollouts.record.exchange.token_rows import (
    FAILED,
    LeftOut,
    TokenRow,
    token_rows,
)
from reward_functions.rollouts.request.errors import MisalignedTokens
from reward_functions.rollouts.request.rewards import rewards_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.rollouts.record.types import Trajectory

Status = Literal["pending", "completed", "truncated", "aborted", "failed"]


FILLER: Final = 0.0
"""The log-probability of a masked token: no trainer reads it."""

OK, ERROR = 200, 500
END: Final = "end_turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRecord:
    """One training row, field by field as the toolkit's own.

    Args:
        token_ids: the whole sequence.
        loss_mask: of the response region, the end of the sequence: 1 where the policy wrote.
        logprobs: of the same region.
        rollout_id: of the episode.
        reward: of the episode.
        response_length: tokens of the region.
        response: its text, where somebody decoded it.
        metadata: JSON data.
        status: how the episode ended.

    Raises:
        MisalignedTokens: the region is longer than the sequence, or mask and log-probabilities
            are not equally long.
    """

    token_ids: tuple[int, ...] = field(repr=False)
    loss_mask: tuple[int, ...] = field(repr=False)
    logprobs: tuple[float, ...] = field(repr=False)
    rollout_id: str = ""
    reward: float = 0.0
    response_length: int = 0
    response: str = field(default="", repr=False)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    status: Status = "completed"

    def __post_init__(self) -> None:
        region = len(self.loss_mask)
        if region > len(self.token_ids) or region != len(self.logprobs):
            raise MisalignedTokens(
                f"a trace record has {len(self.token_ids)} tokens, a mask of {region} and "
                f"{len(self.logprobs)} log-probabilities"
            )

    def json(self) -> dict[str, Any]:
        """It as JSON data."""
        lists = {name: list(getattr(self, name)) for name in ("token_ids", "loss_mask", "logprobs")}
        return asdict(self) | lists


def trace_records(
    trajectory: Trajectory, *, reward: float | None = None, failed: bool = False
) -> tuple[list[TraceRecord], list[LeftOut]]:
    """The toolkit's records of a trajectory, and what gives none.

    Args:
        trajectory: with the tokens of an engine.
        reward: of the episode; the sum of the trajectory's own where None.
        failed: whether one whose status is "failed" gives records, too, where it has a reward.

    Raises:
        MisalignedTokens: tokens and log-probabilities of a turn do not belong together.
        InvalidReward: its return is not finite, or too large for a trainer.
    """
    rows, left = token_rows(trajectory, failed=failed)
    rewards = (trajectory.rewards or ()) if reward is None else (reward,)
    if rows and not rewards:
        return [], [*left, LeftOut(trajectory.id, "no reward")]
    earned = episode_return(rewards)
    records = [_record(trajectory, row, earned) for row in rows if row.has_logprobs]
    bare = [index for row in rows if not row.has_logprobs for index in row.turns]
    return records, [*left, *(LeftOut(trajectory.id, "no log-probabilities", at) for at in bare)]


def _record(trajectory: Trajectory, row: TokenRow, reward: float) -> TraceRecord:
    trained = [turn for turn in trajectory.turns if turn.index in set(row.turns)]
    return TraceRecord(
        token_ids=row.token_ids,
        loss_mask=tuple(map(int, row.mask)),
        logprobs=tuple(FILLER if each is None else each for each in row.logprobs),
        rollout_id=trajectory.id,
        reward=reward,
        response_length=len(row.response_ids),
        metadata={
            **trajectory.metadata,
            "truncated": trained[-1].finish_reason == "length",
            "use_tool": any(turn.tool_calls for turn in trained),
            "ill_formed": any(call.recovered for turn in trained for call in turn.tool_calls),
        },
        status=FAILED if trajectory.status == FAILED else "completed",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultEnvelope:
    """The object that the toolkit's app writes into S3 at the end of a rollout.

    Args:
        rewards: one, or one a turn; None without any, and where the rollout failed.
        metrics: by name.
        rollout_data: the agent's result, of any type.
        status_code: 200, or 500 of a failure.
        stop_reason: "end_turn", or what went wrong.
        input_id: of the row: rollouts of one input are a group.
        result_key: of the object, `EXP_ID/INPUT_ID/SESSION_ID.json`.
        metadata: further fields.
    """

    rewards: tuple[float, ...] | None = None
    metrics: Mapping[str, Any] = field(default_factory=dict)
    rollout_data: Any = field(default=None, repr=False)
    status_code: int = OK
    stop_reason: str = END
    input_id: str = ""
    result_key: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def session(self) -> str:
        """The session's id: the last part of the key."""
        return self.result_key.rpartition("/")[2].removesuffix(".json")


def read_result(given: Any) -> ResultEnvelope:
    """A result from S3, as JSON data; unknown fields are kept.

    Raises:
        BadTrace: a field is of another type. The message names it.
        InvalidReward: its rewards are no numbers.
    """
    fields = Fields(given, "rollout result")
    rewards = fields.any("rewards", fields.any("reward"))
    status = fields.whole("status_code", OK)
    if isinstance(rewards, list) and len(rewards) > MOST:
        raise BadTrace(f"rewards of a rollout result are more than {MOST:,}")
    return ResultEnvelope(
        rewards=rewards_of(rewards) if status == OK and rewards is not None else None,
        metrics=fields.object("metrics"),
        rollout_data=fields.any("rollout_data"),
        status_code=ERROR if status is None else status,
        stop_reason=fields.text("stop_reason", END),
        input_id=fields.text("input_id"),
        result_key=fields.text("result_key"),
        metadata=fields.rest,
    )
