"""A plan: what would be scored, in which shards, by which version; and its start on an engine.

    plan = Plan.of("s3://bucket/in/", "s3://bucket/out/run-7/", "math", stage="dev")
    print(plan.estimate())
    run = plan.start(Processes(4))
    run.join(sys.stdout.buffer)

Planning lists the objects, reads the first rows of the first one, and writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

from reward_functions.aws.arn import FunctionArn
from reward_functions.aws.deployed.catalogue import find
from reward_functions.calibration.estimating import (
    QuestionRecorder,
    ResponseCost,
    TrainingRun,
    estimate,
    measured,
)
from reward_functions.calibration.settings import load_judge_config
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Sample
from reward_functions.data.json_rows import BadInput, Row
from reward_functions.data.rows.formats import (
    PARQUET,
    PEEKED,
    holds_lines,
    rows_of_groups,
    scan_opened,
)
from reward_functions.data.rows.reading import canonical_rows, first_rows, recognised
from reward_functions.data.rows.shapes import RowOptions
from reward_functions.scoring.folder import Asked, Run, RunIncomplete, RunNotUsable, pinned
from reward_functions.scoring.invoked import BATCH_ROWS
from reward_functions.scoring.places import place_of
from reward_functions.scoring.ranges import Counted, cut
from reward_functions.scoring.rewards import no_judge, parameter_values, reward_named
from reward_functions.scoring.rows import require_rows, unread
from reward_functions.scoring.shards import Shard
from reward_functions.scoring.sources import source_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from boto3.session import Session

    from reward_functions.core.spec import RewardSpec
    from reward_functions.judge_runtime.config import JudgeConfig
    from reward_functions.scoring.engines import Detachable, Engine
    from reward_functions.scoring.places import Object, Place
    from reward_functions.scoring.rewards import Parameters
    from reward_functions.scoring.shards import Done, Task

SHARD_MB: Final = 64

JUDGED_MB: Final = 4
"""The same of a judge, whose part is written again after each batch."""

ATTEMPTS: Final = 3
"""How often a shard is given to an engine that has failed; one whose time was short does not
count."""


MB: Final = 1 << 20

ENOUGH: Final = 1_000
"""Rows after which a run ends that has too many without a score."""


class Event(NamedTuple):
    """Something that happened to a run.

    Args:
        kind: "counting" and "scoring" begin a task; "done", "short" and "failed" are of a shard.
        task: under way.
        done: of the shard; None where a task begins.
        finished: shards of the task by now.
        shards: of the task in all.
        rows: scored by this start.
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
        judge_usd: as `Asked.usd`.
    """

    objects: int
    bytes: int
    shards: int
    rows: int
    invocations: int
    judge_usd: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be scored, and where its results go.

    Args:
        asked: all that decides what the results are.
        shards: in order.
        place: of the run.
        spec: the reward.
        row_bytes: of the first rows, on average; 0 without any.
        session: boto3's, for the credentials.
    """

    asked: Asked
    shards: tuple[Shard, ...]
    place: Place
    spec: RewardSpec
    row_bytes: int = 0
    session: Session | None = None

    @classmethod
    def of(
        cls,
        source: str,
        destination: str,
        reward: str,
        *,
        parameters: Parameters = (),
        rows: RowOptions | None = None,
        shard_mb: float | None = None,
        stage: str | None = None,
        function: str = "",
        judge: str | None = None,
        adjacent_groups: bool = False,
        several: bool | None = None,
        allow_empty: bool = False,
        max_unscored: float | None = None,
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
            shard_mb: of a range at most, in MB (2²⁰ bytes); more than 0. `SHARD_MB` where not
                given, and `JUDGED_MB` of a judge.
            stage: whose deployment scores.
            function: the ARN of a numbered version that scores, in place of a stage's deployment.
            judge: the settings of a judge, as `reward score` takes them. Those of a version are its
                own: here they say what its models cost.
            adjacent_groups: the responses to each prompt stand in one object: a reward that
                compares them takes shards of whole objects.
            several: whether a line may hold several responses; recognised from the first rows
                where not given.
            allow_empty: take a source without rows.
            max_unscored: the share of rows that may be without a score, 0 to 1; any if not given.
            session: boto3's, for the credentials.

        Raises:
            BadInput: there are no objects, or their rows cannot be read.
            ConfigurationError: the reward compares groups that shards would cut, or arguments
                contradict each other.
            UnknownReward, BadParameter, NoJudge, BadJudge, NotDeployed, AwsFailed, OSError: as
                their names say.
        """
        spec, scorer = _scorer(reward, parameters, stage, function, session)
        config = None if judge is None or not spec.needs.judge else load_judge_config(judge)
        if spec.needs.judge and config is None and not scorer["function"]:
            raise no_judge(spec.name)
        if shard_mb is None:
            shard_mb = JUDGED_MB if spec.needs.judge else SHARD_MB
        if not shard_mb > 0:
            raise ConfigurationError(f"a shard of {shard_mb:g} MB holds nothing: more than 0")
        most = max(1, int(shard_mb * MB))
        found, objects = source_of(source, session)
        first = _First.of(found, objects, rows or RowOptions(), source, allow_empty=allow_empty)
        whole = spec.needs.group
        shards = _shards(found, objects, 1 << 62 if whole and adjacent_groups else most)
        if whole and len(shards) > 1 and not adjacent_groups:
            raise ConfigurationError(
                f"{spec.name} compares the responses to a prompt, and {len(shards):,} shards may "
                "part them: say that they stand side by side in one object, or score one object "
                "in one shard"
            )
        asked = Asked(
            **scorer,
            source=found.address,
            inputs=_digest(objects),
            judged=spec.needs.judge,
            judge=None if scorer["function"] or config is None else asdict(config),
            reward_name=spec.name,
            scale=list(spec.scale),
            rows=first.pinned,
            several=first.several if several is None else several,
            groups=("adjacent" if adjacent_groups else "anywhere") if whole else None,
            shard_bytes=most,
            max_unscored=1.0 if max_unscored is None else max_unscored,
        )
        place = place_of(destination, session)
        plan = cls(asked, tuple(shards), place, spec, first.bytes, session)
        if not spec.needs.judge:
            return plan
        usd = _usd(spec, asked, config, first.samples, plan.estimate().rows)
        return replace(plan, asked=replace(asked, usd=usd))

    def estimate(self) -> Estimate:
        """What it would take."""
        objects = {shard.name: shard.size for shard in self.shards}
        size = sum(objects.values())
        rows = round(size / self.row_bytes) if self.row_bytes else 0
        batches = max(len(self.shards), -(-rows // BATCH_ROWS)) if rows else 0
        calls = batches if self.asked.function else 0
        return Estimate(len(objects), size, len(self.shards), rows, calls, self.asked.usd)

    def start(
        self,
        engine: Engine,
        *,
        resume: bool = False,
        max_usd: float | None = None,
        detach: bool = False,
        hear: Callable[[Event], object] = unheard,
    ) -> Run:
        """Score what is not scored yet, and write the summary.

        Args:
            engine: what does the shards.
            resume: go on with the run in the folder.
            max_usd: dollars that a judge may take for the rows that are not scored, about.
            detach: begin it, and wait for nothing; of an engine that is `Detachable`.
            hear: hears what happens.

        Raises:
            OtherRun: the folder holds another run, or this one and it is not to be resumed.
            RunNotUsable: a line is no row.
            RunIncomplete: shards failed, or too many rows are without a score; resuming goes on.
            ConfigurationError: it may cost more, or nobody knows what it costs.
            AwsFailed, OSError: the places cannot be used.
        """
        run = Run(self.place, self.asked, self.session)
        require_affordable(run, self.shards, max_usd)
        run = Run.begun(self.place, self.asked, self.shards, resume=resume, session=self.session)
        return go_on(run, engine, hear, detach=detach)


def go_on(
    run: Run, engine: Engine, hear: Callable[[Event], object] = unheard, *, detach: bool = False
) -> Run:
    """Score what is missing of a run, on any engine, and write the summary.

    Args:
        run: that has begun.
        engine: as of `Plan.start`.
        hear: as of `Plan.start`.
        detach: as of `Plan.start`.

    Raises:
        RunNotUsable, RunIncomplete, AwsFailed, OSError: as of `Plan.start`.
    """
    if detach:
        cast("Detachable", engine).detach(run)
        return run
    with closing(engine):
        started = _Started(run, engine, hear)
        started.score(started.numbered(run.shards()))
    started.require_enough()
    run.finish()
    return run


def require_affordable(run: Run, shards: Sequence[Shard], max_usd: float | None) -> None:
    """Refuse a judge that would take more for the rows that are not scored yet.

    Args:
        run: that may not have begun.
        shards: of the run.
        max_usd: dollars; None for any number.

    Raises:
        ConfigurationError: it would, or nobody knows.
    """
    if max_usd is None:
        return
    usd = run.asked.usd
    if usd is None:
        raise ConfigurationError(
            f"nobody knows what {run.asked.reward_name} costs, which may exceed {max_usd:g} "
            "dollars: give the judge's settings, with prices of its models"
        )
    left = usd * len(run.missing(shards)) / max(1, len(shards))
    if left > max_usd:
        raise ConfigurationError(
            f"the judge takes about {left:,.2f} dollars for the rows that are not scored, more "
            f"than {max_usd:g}: nothing is begun"
        )


def _usd(
    spec: RewardSpec,
    asked: Asked,
    config: JudgeConfig | None,
    samples: Sequence[Sample],
    rows: int,
) -> float | None:
    """Dollars that a judge takes for so many rows, by its questions about the first ones."""
    if config is None:
        return None
    recorder = QuestionRecorder()
    score_batch(spec.bind(asked.parameters, ask=recorder), samples, workers=1)
    calls, size = measured([recorder.questions])
    if not calls:
        return None
    run = TrainingRun(prompts=rows, batch_size=1, samples=1, epochs=1)
    cost = ResponseCost(calls=calls / len(samples), input=size)
    return estimate(config, run, cost, config.concurrency).usd


def _scorer(
    reward: str,
    parameters: Parameters,
    stage: str | None,
    function: str,
    session: Session | None,
) -> tuple[RewardSpec, dict[str, Any]]:
    """The reward, and what scores, as `Asked` has it."""
    if stage is not None:
        if function or parameters:
            raise ConfigurationError(
                "a stage's deployment has its own version and parameters: leave the others out"
            )
        record = find(reward, stage, session)
        return record.spec(), {
            "reward": record.reward,
            "version": record.version,
            "digest": record.digest,
            "function": record.version_arn,
            "parameters": dict(record.parameters),
        }
    spec = reward_named(reward)
    if function and FunctionArn.parse(function).qualifier is None:
        raise ConfigurationError(
            f"{function} names no version: a run is of one, such as {function}:1"
        )
    return spec, {
        "reward": reward,
        "version": spec.version,
        "function": function,
        "parameters": dict(parameters)
        if isinstance(parameters, Mapping)
        else parameter_values(spec, parameters),
    }


class _First(NamedTuple):
    """What the first rows of a source say of all of them.

    Args:
        pinned: how rows are read.
        several: whether one of them becomes several.
        bytes: of one, on average.
        samples: that they are.
    """

    pinned: dict[str, Any]
    several: bool = False
    bytes: int = 0
    samples: Sequence[Sample] = ()

    @classmethod
    def of(
        cls,
        place: Place,
        objects: Sequence[Object],
        options: RowOptions,
        source: str,
        *,
        allow_empty: bool,
    ) -> _First:
        """Read them."""
        ahead = list(first_rows(_scanned(place, objects)))
        contents = [row.content for row in ahead if isinstance(row, Row)]
        bad = next((row for row in ahead if isinstance(row, BadInput)), None)
        if bad:
            raise bad
        if not contents:
            require_rows(0, source, allow_empty=allow_empty)
            return cls({})
        how = recognised(source, contents, options, answered=True)
        rows = [row for row in ahead if isinstance(row, Row)]
        found = [each.read().sample for each in unread(canonical_rows(rows, how))]
        samples = [each for each in found if isinstance(each, Sample)]
        size = sum(len(json.dumps(each)) + 1 for each in contents) // len(contents)
        return cls(pinned(how), len(found) > len(rows), size, samples)


def _scanned(place: Place, objects: Sequence[Object]) -> Iterator[Row | BadInput]:
    """The objects of rows of all objects of a place, read one after another."""
    for each in objects:
        with place.opened(each.name, each.etag) as stream:
            yield from scan_opened(stream, each.name, each.name)


def _digest(objects: Sequence[Object]) -> str:
    return sha256(json.dumps(objects).encode()).hexdigest()


def _shards(place: Place, objects: Sequence[Object], most: int) -> list[Shard]:
    """The shards of objects, each of `most` bytes at most where its format can be cut."""
    cuts = chain.from_iterable(_cuts(place, each, most) for each in objects)
    shards = [shard._replace(part=part) for part, shard in enumerate(cuts)]
    return shards if len(shards) > 1 else [each._replace(line=0, row=0) for each in shards]


def _cuts(place: Place, one: Object, most: int) -> Iterator[Shard]:
    kind: Literal["lines", "whole", "groups"] = "whole"
    ranges = [(0, one.size)]
    if one.size > most:
        with place.opened(one.name, one.etag) as stream:
            start = stream.read(PEEKED)
            if start.startswith(PARQUET):
                kind, ranges = "groups", _groups(stream, one, most)
            elif holds_lines(start, one.name):
                kind, ranges = "lines", cut(one.size, most)
    for begin, end in ranges:
        yield Shard(0, kind, one.name, one.size, one.etag, begin, end)


def _groups(stream: Any, one: Object, most: int) -> list[tuple[int, int]]:
    """Row groups side by side, of so many bytes at most: by their rows, as if all were alike."""
    rows = rows_of_groups(stream, one.name)
    found: list[tuple[int, int]] = []
    start = taken = 0
    for at, count in enumerate(rows):
        size = one.size * count // max(1, sum(rows))
        if at > start and taken + size > most:
            found.append((start, at))
            start, taken = at, 0
        taken += size
    return [*found, (start, len(rows))]


class _Started:
    """A run while an engine does it.

    Args:
        run: the run.
        engine: what does its shards.
        hear: hears what happens.
    """

    def __init__(self, run: Run, engine: Engine, hear: Callable[[Event], object]) -> None:
        self._run, self._engine, self._hear = run, engine, hear
        self.rows = self.unscored = 0

    def numbered(self, shards: Sequence[Shard]) -> Sequence[Shard]:
        """The shards with what stands before each, which is counted where nobody has."""
        if all(shard.row is not None for shard in shards):
            return shards
        counts: dict[int, Counted] = {}
        for done in self._done("count", shards):
            counts[done.part] = Counted(done.lines, done.rows)
        return self._run.number(counts)

    def score(self, shards: Sequence[Shard]) -> None:
        """Score what is missing."""
        for done in self._done("score", self._run.missing(shards)):
            self.rows += done.rows
            self.unscored += done.unscored
            if self.rows >= ENOUGH:
                self.require_enough()

    def require_enough(self) -> None:
        """Refuse to go on where too many rows are without a score.

        Raises:
            RunIncomplete: they are.
        """
        most = self._run.asked.max_unscored
        if self.unscored > most * self.rows:
            raise RunIncomplete(
                f"{self.unscored:,} of {self.rows:,} rows are without a score, more than "
                f"{most:.0%}: the parts that are done say why; a resumed run may allow more"
            )

    def _done(self, task: Task, shards: Sequence[Shard]) -> Iterator[Done]:
        """What came of each shard, once it is done; one that is not is given again.

        Raises:
            RunNotUsable: a line is no row.
            RunIncomplete: shards failed.
        """
        left = {shard.part: shard for shard in shards}
        failures: dict[int, int] = {}
        errors: dict[int, str] = {}
        self._say(task, None, 0, len(shards))
        while left:
            ran: Any = self._engine.run(self._run, task, list(left.values()))
            with closing(ran):  # an error, or an interrupt, ends what is under way
                for done in ran:
                    if done.unusable:
                        raise RunNotUsable(done.unusable)
                    if done.complete:
                        left.pop(done.part, None)
                        errors.pop(done.part, None)
                        yield done
                    elif done.error:
                        failures[done.part] = failures.get(done.part, 0) + 1
                        errors[done.part] = done.error
                    self._say(task, done, len(shards) - len(left), len(shards))
            over = self._run.is_over
            for part, count in failures.items():
                if count >= ATTEMPTS or over:
                    left.pop(part, None)
            if over:
                break
        if errors:
            part = min(errors)
            raise RunIncomplete(
                f"{len(errors):,} of {len(shards):,} parts are missing, part {part} since: "
                f"{errors[part]}"
            )

    def _say(self, task: Task, done: Done | None, finished: int, shards: int) -> None:
        if done is None:
            kind: Any = "counting" if task == "count" else "scoring"
        else:
            kind = "failed" if done.error else "done" if done.complete else "short"
        self._hear(Event(kind, task, done, finished, shards, self.rows, self.unscored))
