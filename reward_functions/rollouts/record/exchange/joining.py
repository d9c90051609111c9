"""Rewards and token traces meet: by the id of the rollout, or of the session, and by nothing else.

    traces = read_trajectories(...)                      # the relay's: tokens, and no rewards
    rewards = [RolloutReward.of_record(line), ...]       # `reward rollouts run`: rewards, no tokens
    found = joined(traces, rewards)
    found.rows                                           # tokens with their advantage in the group
    found.left_out, found.groups                         # what teaches nothing, and why

A rollout that nobody scored has no reward, and no 0.0 in its place: it is left out, and its group's
mean is that of the others. So is one that failed. Where two sources give one rollout different
rewards, or two trajectories have one id, nobody can say which is right: both are left out. One
whose tokens were misaligned gives no row, and its reward counts in its group.

An episode whose history forked has several rows. `weight` says what has its advantage once:

| weight | the advantage of a token | an episode of 2 rows with 3 and 5 tokens, advantage 0.5 |
| --- | --- | --- |
| `token` | the whole | 8 × 0.5 |
| `row` | the whole, shared by the trained tokens of its row | 2 × 0.5 |
| `episode` | the whole, shared by all trained tokens of its episode | 0.5 |

These are sums over tokens, as losses that add tokens up have them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from reward_functions.rollouts.record.exchange.advantages import (
    Group,
    Scale,
    episode_return,
    group_advantages,
)
from reward_functions.rollouts.record.exchange.agentcore import read_result
from reward_functions.rollouts.record.exchange.fields import MOST, BadTrace, Fields
from reward_functions.rollouts.record.exchange.token_rows import (
    FAILED,
    LeftOut,
    TokenRow,
    token_rows,
)
from reward_functions.rollouts.request.errors import InvalidReward
from reward_functions.rollouts.request.rewards import rewards_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reward_functions.rollouts.record.types import Trajectory

Weight = Literal["token", "row", "episode"]
"""What has the advantage of an episode once: each of its tokens, each of its rows, or it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutReward:
    """What a rollout earned.

    Args:
        rollout: its id, or that of its session.
        rewards: one, or one a turn; None where nobody scored it, or where it failed.
        group: of the prompt or the row; "" where the source does not say.

    Raises:
        InvalidReward: its rewards are no numbers.
    """

    rollout: str
    rewards: tuple[float, ...] | None
    group: str = ""

    def __post_init__(self) -> None:
        if self.rewards is not None:
            object.__setattr__(self, "rewards", rewards_of(self.rewards))

    @classmethod
    def of_record(cls, given: Any) -> RolloutReward:
        """A line of `reward rollouts run` or `score`; its group is its row.

        A deferred reward stands here too, once the stage has reported it.

        Raises:
            BadTrace: it is no record. The message names the field.
            InvalidReward: its rewards are no numbers.
        """
        fields = Fields(given, "record of a rollout")
        rewards = fields.list("rewards", MOST)
        row, rollout = fields.whole("row"), fields.text("rollout")
        if not rollout or row is None:
            raise BadTrace("a record of a rollout has a rollout and a row")
        return cls(
            rollout=rollout, rewards=rewards_of(rewards) if rewards else None, group=f"row {row}"
        )

    @classmethod
    def of_result(cls, given: Any) -> RolloutReward:
        """A result that agentcore-rl-toolkit's app wrote into S3; its group is its input.

        Raises:
            BadTrace: it is no result, or names no session. The message names the field.
            InvalidReward: its rewards are no numbers.
        """
        result = read_result(given)
        if not result.session:
            raise BadTrace("result_key of a rollout result names its session")
        return cls(rollout=result.session, rewards=result.rewards, group=result.input_id)

    @classmethod
    def read(cls, given: Any) -> RolloutReward:
        """Either of them: a result has a `result_key`.

        Raises:
            BadTrace: it is neither. The message names the field.
            InvalidReward: its rewards are no numbers.
        """
        is_result = isinstance(given, dict) and "result_key" in given
        return cls.of_result(given) if is_result else cls.of_record(given)


class TrainingRow(NamedTuple):
    """A row of tokens and what it teaches.

    Args:
        tokens: the row.
        reward: the return of its episode.
        advantage: of each token that is trained, by the `weight` that was asked for.
        group: of its rollout.
    """

    tokens: TokenRow
    reward: float
    advantage: float
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """The rows that a trainer gets, and those that it does not.

    Args:
        rows: in the order of the trajectories.
        trajectories: those that were rewarded, with their rewards.
        groups: in the order of their first rollouts.
        left_out: rollouts and turns that teach nothing, with their reasons.
    """

    rows: tuple[TrainingRow, ...]
    trajectories: tuple[Trajectory, ...]
    groups: tuple[Group, ...]
    left_out: tuple[LeftOut, ...]


def joined(
    trajectories: Iterable[Trajectory],
    rewards: Iterable[RolloutReward] | None = None,
    *,
    scale: Scale = "none",
    weight: Weight = "token",
    groups: Mapping[str, str] | None = None,
) -> Joined:
    """Training rows with their group's advantages.

    The return of an episode is the sum of its rewards: rewards of turns are not compared with each
    other, because that would teach nothing about when to stop (docs/explanation).

    Args:
        trajectories: with tokens.
        rewards: of rollouts; the trajectories' own where None.
        scale: "std" divides by the group's standard deviation.
        weight: what has the advantage of an episode once.
        groups: the group of a rollout, where the rewards do not say; else `metadata["group"]`.

    Raises:
        MisalignedTokens: tokens and log-probabilities of a turn do not belong together.
    """
    found, left = _only_one(trajectories)
    given = None if rewards is None else agreed(rewards)
    rewarded: list[tuple[Trajectory, str]] = []
    for trajectory in found:
        reason, whole, group = _rewarded(trajectory, given, groups or {})
        if reason:
            left.append(LeftOut(trajectory.id, reason))
        else:
            rewarded.append((whole, group))
    compared = {group.id: group for group in _compared(rewarded, scale)}
    rows: list[TrainingRow] = []
    for trajectory, group in rewarded:
        rows += _rows(trajectory, compared[group], left)
    return Joined(
        rows=weighted(rows, weight),
        trajectories=tuple(trajectory for trajectory, _ in rewarded),
        groups=tuple(compared.values()),
        left_out=tuple(left),
    )


def weighted(rows: Iterable[TrainingRow], weight: Weight) -> tuple[TrainingRow, ...]:
    """Rows whose tokens share the advantage of their row or episode.

    Args:
        rows: each with the whole advantage of its episode: all rows that a trainer gets.
        weight: "token" leaves them as they are.
    """
    rows = tuple(rows)
    if weight == "token":
        return rows
    tokens: Counter[str] = Counter()
    for row in rows:
        tokens[row.tokens.rollout] += row.tokens.trained
    return tuple(
        row._replace(
            advantage=row.advantage
            / (row.tokens.trained if weight == "row" else tokens[row.tokens.rollout])
        )
        for row in rows
    )


def _only_one(
    trajectories: Iterable[Trajectory],
) -> tuple[list[Trajectory], list[LeftOut]]:
    """The trajectories whose id no other has; what was written twice counts once."""
    by_id: defaultdict[str, list[Trajectory]] = defaultdict(list)
    for trajectory in trajectories:
        if trajectory not in by_id[trajectory.id]:
            by_id[trajectory.id].append(trajectory)
    left = [
        LeftOut(rollout, "another trajectory has its id")
        for rollout, found in by_id.items()
        if len(found) > 1
    ]
    return [found[0] for found in by_id.values() if len(found) == 1], left


def agreed(rewards: Iterable[RolloutReward]) -> dict[str, RolloutReward | None]:
    """The reward of each rollout; None where two sources disagree.

    A source that has none, as before a deferred reward, disagrees with nobody.
    """
    found: dict[str, RolloutReward | None] = {}
    for each in rewards:
        known = found.get(each.rollout, each)
        if known is None or (each.rewards is None and known.rewards is not None):
            continue
        found[each.rollout] = each if known.rewards is None or known == each else None
    return found


def _rewarded(
    trajectory: Trajectory,
    rewards: Mapping[str, RolloutReward | None] | None,
    groups: Mapping[str, str],
) -> tuple[str, Trajectory, str]:
    """(why it is left out, the trajectory with its rewards, its group)."""
    own = RolloutReward(rollout=trajectory.id, rewards=trajectory.rewards)
    found = own if rewards is None else rewards.get(trajectory.id, _NOBODY)
    if trajectory.status == FAILED:
        return "the rollout failed", trajectory, ""
    if found is None:
        return "two rewards that differ", trajectory, ""
    if not found.rewards:
        return "no reward", trajectory, ""
    try:
        episode_return(found.rewards)
    except InvalidReward:
        return "a return that is too large", trajectory, ""
    own_group = trajectory.metadata.get("group")
    named = own_group if isinstance(own_group, str) else ""
    group = found.group or groups.get(trajectory.id) or named
    if not group:
        return "no group", trajectory, ""
    return "", replace(trajectory, rewards=found.rewards), group


_NOBODY = RolloutReward(rollout="", rewards=None)


def _compared(rewarded: Sequence[tuple[Trajectory, str]], scale: Scale) -> Iterator[Group]:
    returns: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for trajectory, group in rewarded:
        returns[group][trajectory.id] = episode_return(trajectory.rewards or ())
    for group, by_rollout in returns.items():
        yield group_advantages(group, by_rollout, scale)


def _rows(trajectory: Trajectory, group: Group, left: list[LeftOut]) -> Iterator[TrainingRow]:
    """The rows of a trajectory that teach something; the others are added to what is left out."""
    if trajectory.id not in group.advantages:
        reason = "a group of one" if group.size == 1 else "a group with zero advantage"
        left.append(LeftOut(trajectory.id, reason))
        return
    if trajectory.misaligned:
        left.append(LeftOut(trajectory.id, "misaligned tokens"))
        return
    rows, out = token_rows(trajectory)
    left += out
    advantage = group.advantages[trajectory.id]
    for row in rows:
        yield TrainingRow(row, episode_return(trajectory.rewards or ()), advantage, group.id)
