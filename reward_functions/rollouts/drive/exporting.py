"""A file of trajectories as the rows of a trainer, with the rewards of another file.

| format | a line is |
| --- | --- |
| `jsonl` | a trajectory, whole, with its rewards: what was read, joined |
| `rllm` | an episode of rLLM with one trajectory |
| `agentcore` | a trace record of agentcore-rl-toolkit, with its advantage in the metadata |
| `datum` | a datum of a SageMaker training session |

Rows of tokens (`agentcore`, `datum`) need a group and log-probabilities. The others need neither,
and hold failed and unscored rollouts too: without a reward, and never with 0.0. A rollout whose
tokens were misaligned when they were recorded stands in `jsonl` alone.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from reward_functions.data.row_limits import Room
from reward_functions.rollouts.record.exchange.agentcore import trace_records
from reward_functions.rollouts.record.exchange.datum import datum
from reward_functions.rollouts.record.exchange.fields import BadTrace, read_object
from reward_functions.rollouts.record.exchange.joining import (
    Joined,
    RolloutReward,
    TrainingRow,
    Weight,
    agreed,
    joined,
    weighted,
)
from reward_functions.rollouts.record.exchange.rllm import rllm_episode
from reward_functions.rollouts.record.exchange.token_rows import LeftOut, counted
from reward_functions.rollouts.record.jsonl import TrajectoryFile, written
from reward_functions.rollouts.request.errors import InvalidReward

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reward_functions.rollouts.record.exchange.advantages import Group, Scale
    from reward_functions.rollouts.record.types import Trajectory

Format = Literal["jsonl", "rllm", "agentcore", "datum"]
TOKENS: frozenset[str] = frozenset({"agentcore", "datum"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What became of a file.

    Args:
        lines: the rows, as JSON, without line breaks.
        left_out: rollouts and turns that gave no row, by reason.
        groups: of the rollouts that were rewarded; none for formats without advantages.
        weight: of the advantages; None for formats without.
        episodes: that gave rows of tokens.
        forked: of these, those that gave several.
        torn: bytes of half a line at the end of the trajectories.
    """

    lines: tuple[str, ...]
    left_out: Mapping[str, int]
    groups: tuple[Group, ...] = ()
    weight: Weight | None = None
    episodes: int = 0
    forked: int = 0
    torn: int = 0


def exported(
    path: str,
    to: Format,
    *,
    rewards: str | None = None,
    scale: Scale = "none",
    weight: Weight = "token",
) -> Exported:
    """The rows of a file of trajectories.

    Args:
        path: of the trajectories, as JSON lines.
        to: the format.
        rewards: the path of records of `reward rollouts run`, or of results from S3, one a line;
            the trajectories' own where None.
        scale: of advantages; "std" divides by the group's standard deviation.
        weight: what has the advantage of an episode once, among the rows that are written.

    Raises:
        BadTrajectory, BadTrace: a line cannot be read. The message names it.
        MisalignedTokens: tokens and log-probabilities of a turn do not belong together.
        OSError: a file cannot be read.
    """
    file = TrajectoryFile(Path(path))
    trajectories = list(_held(file, path))
    given = None if rewards is None else list(read_rewards(rewards))
    if to in TOKENS:
        found = joined(trajectories, given, scale=scale)
        kept, left = _written(found, to)
        by_episode = Counter(row.tokens.rollout for row in kept)
        return Exported(
            lines=tuple(_token_lines(found, weighted(kept, weight), to, weight)),
            left_out=counted(left),
            groups=found.groups,
            weight=weight,
            episodes=len(by_episode),
            forked=sum(count > 1 for count in by_episode.values()),
            torn=file.torn,
        )
    rewarded = trajectories if given is None else list(_with_rewards(trajectories, given))
    if to == "jsonl":
        rows = list(map(written, rewarded))
        refused: list[LeftOut] = []
    else:
        refused = [LeftOut(each.id, "misaligned tokens") for each in rewarded if each.misaligned]
        rewarded = [each for each in rewarded if not each.misaligned]
        rows = list(_episodes(rewarded))
    missing = [LeftOut(each.id, "no reward") for each in rewarded if each.rewards is None]
    left_out = counted(refused) | _marked(counted(missing))
    return Exported(lines=tuple(rows), left_out=left_out, torn=file.torn)


def _held(file: TrajectoryFile, path: str) -> Iterator[Trajectory]:
    """The trajectories of a file, all of which are kept.

    Raises:
        BadInput: they take more than a file of this size may.
    """
    room = Room(path, whole=True)
    room.read(Path(path).stat().st_size)
    for each in file:
        room.add(file.size)
        yield each


def read_rewards(path: str) -> Iterator[RolloutReward]:
    """The rewards of a file, one a line; half a line at its end is left out.

    Raises:
        BadTrace: a line is no record and no result. The message names it.
        OSError: it cannot be read.
    """
    with Path(path).open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield RolloutReward.read(read_object(line, "record"))
            except (BadTrace, InvalidReward) as error:
                raise BadTrace(f"{path}, line {number}: {error}") from None


def _with_rewards(
    trajectories: Sequence[Trajectory], rewards: Sequence[RolloutReward]
) -> Iterator[Trajectory]:
    """Trajectories with the rewards that a source gives them; with none where two disagree."""
    found = agreed(rewards)
    for each in trajectories:
        reward = found.get(each.id)
        yield replace(each, rewards=None if reward is None else reward.rewards)


def _marked(left: Mapping[str, int]) -> dict[str, int]:
    """What stands in the file all the same."""
    return {f"{reason}, written without one": count for reason, count in left.items()}


def _episodes(trajectories: Sequence[Trajectory]) -> Iterator[str]:
    """Episodes of rLLM, numbered within their group."""
    seen: dict[str, int] = {}
    for each in trajectories:
        group = each.metadata.get("group")
        task = (group if isinstance(group, str) and group else each.id).replace(":", "_")
        seen[task] = index = seen.get(task, -1) + 1
        yield _line(rllm_episode([each], task_id=task, index=index))


def _written(found: Joined, to: Format) -> tuple[list[TrainingRow], list[LeftOut]]:
    """The rows that a format takes, and what is left out."""
    rows: list[TrainingRow] = []
    left = list(found.left_out)
    for row in found.rows:
        prompt = row.tokens.prompt_ids or to != "datum"
        if row.tokens.has_logprobs and prompt:
            rows.append(row)
        else:
            reason = "no log-probabilities" if prompt else "no prompt"
            left += [LeftOut(row.tokens.rollout, reason, turn) for turn in row.tokens.turns]
    return rows, left


def _token_lines(
    found: Joined, rows: Sequence[TrainingRow], to: Format, weight: Weight
) -> Iterator[str]:
    if to == "datum":
        yield from (_line(datum(row.tokens, row.advantage)) for row in rows)
        return
    by_rollout: defaultdict[str, list[TrainingRow]] = defaultdict(list)
    for row in rows:
        by_rollout[row.tokens.rollout].append(row)
    for trajectory in found.trajectories:
        if trajectory.id not in by_rollout:
            continue
        # A record is made of each row that has log-probabilities, in the same order.
        records, _ = trace_records(trajectory)
        for record, row in zip(records, by_rollout[trajectory.id], strict=True):
            more = {"advantage": row.advantage, "group": row.group, "weight": weight}
            yield _line(record.json() | {"metadata": {**record.metadata, **more}})


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, allow_nan=False, separators=(",", ":"))
