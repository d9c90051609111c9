"""A plan: what would be scored, in which shards, by which version; and its start on an engine.

    plan = Plan.of("s3://bucket/in/", "s3://bucket/out/run-7/", "math", stage="dev")
    print(plan.estimate())
    run = plan.start(Processes(4))
    run.join(sys.stdout.buffer)

Planning lists the objects, reads the first rows of the first one, and writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from boto3.session import Session

    from reward_functions.core.spec import RewardSpec
    from reward_functions.data.rows.shapes import RowOptions
    from reward_functions.scoring.engines import Engine
    from reward_functions.scoring.folder import Asked, Run
    from reward_functions.scoring.places import Place
    from reward_functions.scoring.rewards import Parameters
    from reward_functions.scoring.shards import Done, Shard, Task

SHARD_MB: Final = 64

ATTEMPTS: Final = 3
"""How often a shard is given to an engine that has failed; one whose time was short does not
count."""


class Event(NamedTuple):
    """Something that happened to a run.

    Args:
        kind: "counting" and "scoring" begin a task; "done", "short" and "failed" are of a shard.
        task: under way.
        done: of the shard; None where a task begins.
        finished: shards of the task by now.
        shards: of the task in all.
        rows: scored by now, those of earlier starts too.
        unscored: of them.
    """

    kind: Literal["counting", "scoring", "done", "short", "failed"]
    task: Task
    done: Done | None
    finished: int
    shards: int
    rows: int
    unscored: int


def unheard(_event: Event) -> None:
    """Nobody listens."""


class Estimate(NamedTuple):
    """What a plan would take, by arithmetic alone.

    Args:
        objects: of the source.
        bytes: of them.
        shards: that they are cut into.
        rows: about, from the length of the first rows.
        invocations: of the pinned version, about; 0 without one.
    """

    objects: int
    bytes: int
    shards: int
    rows: int
    invocations: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be scored, and where its results go.

    Args:
        asked: all that decides what the results are.
        shards: in order.
        place: of the run.
        spec: the reward.
        row_bytes: of the first rows, on average; 0 without any.
    """

    asked: Asked
    shards: tuple[Shard, ...]
    place: Place
    spec: RewardSpec
    row_bytes: int = 0

    @classmethod
    def of(
        cls,
        source: str,
        destination: str,
        reward: str,
        *,
        parameters: Parameters = (),
        rows: RowOptions | None = None,
        shard_mb: float = SHARD_MB,
        stage: str | None = None,
        function: str = "",
        adjacent_groups: bool = False,
        max_unscored: float = 1.0,
        session: Session | None = None,
    ) -> Plan:
        """Plan a run; nothing is written.

        Args:
            source: an object, a file, or all objects of known formats below a folder or prefix.
            destination: the folder of the run, `s3://…` or a path.
            reward: a registered name, or the path of a file; with `stage`, the name of a
                deployment, whose version and parameters are pinned.
            parameters: of the reward, by name; or `name=value` strings.
            rows: which columns hold which part of a sample, and the shape; recognised from the
                first rows where not given.
            shard_mb: of a range at most, in MB (2²⁰ bytes); more than 0.
            stage: whose deployment scores.
            function: the ARN of a numbered version that scores, in place of a stage's deployment.
            adjacent_groups: the responses to each prompt stand in one object: a reward that
                compares them takes shards of whole objects.
            max_unscored: the share of rows that may be without a score, 0 to 1.
            session: boto3's, for the credentials.

        Raises:
            BadInput: there are no objects, or their rows cannot be read.
            ConfigurationError: the reward compares groups that shards would cut, or arguments
                contradict each other.
            UnknownReward, BadParameter, NotDeployed, AwsFailed, OSError: as their names say.
        """
        raise NotImplementedError

    def estimate(self) -> Estimate:
        """What it would take."""
        raise NotImplementedError

    def start(
        self, engine: Engine, *, resume: bool = False, hear: Callable[[Event], object] = unheard
    ) -> Run:
        """Score what is not scored yet, and write the summary.

        Args:
            engine: what does the shards.
            resume: go on with the run in the folder.
            hear: hears what happens.

        Raises:
            OtherRun: the folder holds another run, or this one and it is not to be resumed.
            RunNotUsable: a line is no row.
            RunIncomplete: shards failed, or too many rows are without a score; resuming goes on.
            AwsFailed, OSError: the places cannot be used.
        """
        raise NotImplementedError
