"""Step Functions and a Lambda of the stage: a run goes on and ends without you.

    engine = Aws.of("dev")                 the stage has "scale" in cdk.json
    plan.start(engine)                     waits, and stops the machine where it is interrupted
    engine.detach(run)                     goes away; `reward runs watch` looks at the folder

One execution does the whole run: it counts, scores and writes the summary. Its name is made of the
run, so that a run that is started twice has one. Progress is a listing of the folder.
"""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import sha256
from time import sleep
from typing import TYPE_CHECKING, Final

from reward_functions.aws.calls import answer, client
from reward_functions.aws.catalogue import SCORED_PREFIX
from reward_functions.aws.deployed.catalogue import stage_record
from reward_functions.aws.failures import AwsFailed
from reward_functions.core.errors import ConfigurationError
from reward_functions.scoring.aws.steps import count_of, counted_name
from reward_functions.scoring.engines import Engine
from reward_functions.scoring.folder import UNUSABLE
from reward_functions.scoring.places import NoSuchObject
from reward_functions.scoring.shards import Done

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from boto3.session import Session

    from reward_functions.scoring.folder import Run
    from reward_functions.scoring.shards import Shard, Task

CONCURRENCY: Final = 50

LOOKS: Final = (0.5, 1.0, 2.0, 5.0)
"""Seconds between looks at the folder; the last from then on, until something comes."""

MACHINE: Final = "machine.json"
"""Which machine does a run, in its folder."""

RUNNING: Final = "RUNNING"


class Aws(Engine):
    """The state machine of a stage.

    Args:
        machine: its ARN.
        folder: where the stage lets runs stand, `s3://BUCKET/scored/`.
        concurrency: shards at once, each of which has one call of the version under way.
        session: boto3's, for the credentials.
        wait: waits so many seconds.
    """

    name = "aws"
    remote = True

    def __init__(
        self,
        machine: str,
        folder: str = "",
        *,
        concurrency: int = CONCURRENCY,
        session: Session | None = None,
        wait: Callable[[float], object] = sleep,
    ) -> None:
        self.machine, self.folder, self.concurrency = machine, folder, concurrency
        self._wait = wait
        self._client = client("stepfunctions", machine.split(":")[3], session)

    @classmethod
    def of(
        cls, stage: str, *, concurrency: int = CONCURRENCY, session: Session | None = None
    ) -> Aws:
        """The machine of a deployed stage.

        Raises:
            ConfigurationError: the stage has none.
            NotDeployed, AwsFailed: it cannot be looked up.
        """
        record = stage_record(stage, session)
        if record.scale_machine_arn is None:
            raise ConfigurationError(
                f'the stage {stage} has no state machine: add "scale": {{}} to it in cdk.json and '
                "deploy it, or score with --on direct"
            )
        folder = f"s3://{record.bucket}/{SCORED_PREFIX}"
        return cls(record.scale_machine_arn, folder, concurrency=concurrency, session=session)

    def run(self, run: Run, task: Task, shards: Sequence[Shard]) -> Iterator[Done]:
        """As `Engine.run` says; an execution that does the run already is waited for."""
        if not shards:
            return
        execution = self.detach(run)
        try:
            yield from self._watched(run, task, shards, execution)
        except (GeneratorExit, KeyboardInterrupt):
            self._stop(execution)
            raise

    def detach(self, run: Run) -> str:
        """Let the machine do a run, and do not wait.

        Args:
            run: begun, in its folder.

        Returns:
            the ARN of the execution.

        Raises:
            AwsFailed: the machine cannot be asked.
        """
        run.place.write(MACHINE, json.dumps({"machine": self.machine}).encode())
        number, found = self._latest(run)
        if found == RUNNING:
            return self._execution(run, number)
        asked = {"run": run.place.address, "concurrency": self.concurrency}
        name = _name(run, number + 1 if found else number)
        try:
            answer(
                f"starting {name}",
                self._client.start_execution,
                stateMachineArn=self.machine,
                name=name,
                input=json.dumps(asked),
            )
        except AwsFailed as error:
            if error.code != "ExecutionAlreadyExists":  # somebody else has begun it meanwhile
                raise
        return f"{self.machine.replace(':stateMachine:', ':execution:')}:{name}"

    def end(self, run: Run) -> None:
        """Stop the execution that does a run, if one does."""
        number, found = self._latest(run)
        if found == RUNNING:
            self._stop(self._execution(run, number))

    def require(self, run: Run, shards: Sequence[Shard]) -> None:
        """As `Engine.require` says."""
        if not run.asked.function:
            raise ConfigurationError("--on aws calls a deployed version: add --stage")
        if not f"{run.place.address}/".startswith(self.folder):
            raise ConfigurationError(
                f"{run.place.address}: the stage's function writes below {self.folder} alone; name "
                "a folder there"
            )
        for shard in shards:
            if shard.kind == "groups" or shard.name.endswith(".parquet"):
                raise ConfigurationError(
                    f"{shard.name}: the stage's function reads no parquet; score with --on direct, "
                    "or write JSONL"
                )

    def _execution(self, run: Run, number: int) -> str:
        return f"{self.machine.replace(':stateMachine:', ':execution:')}:{_name(run, number)}"

    def _latest(self, run: Run) -> tuple[int, str]:
        """The number of a run's latest execution and its status; "" where there is none."""
        number, status = 1, self._status(self._execution(run, 1))
        while status and status != RUNNING and (more := self._status_of(run, number + 1)):
            number, status = number + 1, more
        return number, status

    def _status_of(self, run: Run, number: int) -> str:
        return self._status(self._execution(run, number))

    def _status(self, execution: str) -> str:
        try:
            found = answer(
                f"looking at {execution}",
                self._client.describe_execution,
                executionArn=execution,
            )
        except AwsFailed as error:
            if error.code == "ExecutionDoesNotExist":
                return ""
            raise
        return str(found["status"])

    def _stop(self, execution: str) -> None:
        try:
            answer(f"stopping {execution}", self._client.stop_execution, executionArn=execution)
        except AwsFailed as error:
            if error.code != "ValidationException":  # it has ended meanwhile
                raise

    def _watched(
        self, run: Run, task: Task, shards: Sequence[Shard], execution: str
    ) -> Iterator[Done]:
        left = {shard.part: shard for shard in shards}
        quiet = 0
        while left:
            status = self._status(execution)  # before the listing, which then has all that it did
            sizes = {each.name: each.size for each in run.place.objects()}
            if UNUSABLE in sizes:
                yield Done(next(iter(left)), unusable=run.state().unusable)
                return
            ready = [each for each in left.values() if _is_done(task, each, sizes)]
            for shard in ready:
                del left[shard.part]
                yield _done(run, task, shard)
            if left and status != RUNNING:
                for part in left:
                    yield Done(part, error=f"{execution} is {status.lower()}; its log says why")
                return
            quiet = 0 if ready else quiet + 1
            if left:
                self._wait(LOOKS[min(quiet, len(LOOKS) - 1)])


def cancel(run: Run) -> None:
    """Let a run begin no further part, and stop the state machine where it does the run.

    Raises:
        AwsFailed, OSError: the folder cannot be written, or the machine not be asked.
    """
    run.stop()
    with suppress(NoSuchObject):  # no machine ever did it
        machine = json.loads(run.place.read(MACHINE))["machine"]
        Aws(machine, session=run.session).end(run)


def _name(run: Run, number: int) -> str:
    """The name of a run's execution; AWS keeps names of ended ones for 90 days."""
    return f"{sha256(run.place.address.encode()).hexdigest()[:32]}-{number}"


def _is_done(task: Task, shard: Shard, names: Mapping[str, int]) -> bool:
    if task == "count":
        return counted_name(shard.part) in names
    return shard.is_done(names)


def _done(run: Run, task: Task, shard: Shard) -> Done:
    if task == "count":
        found = count_of(run.place, shard.part)
        return Done(shard.part, found.lines, found.rows)
    item = json.loads(run.place.read(shard.facts))
    return Done.of({name: item[name] for name in Done._fields if name in item})
