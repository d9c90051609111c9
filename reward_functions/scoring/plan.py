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
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple

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
from reward_functions.data.rows.formats import scan_opened
from reward_functions.data.rows.reading import canonical_rows, first_rows, recognised
from reward_functions.data.rows.shapes import RowOptions
from reward_functions.scoring.asked import Asked, pinned
from reward_functions.scoring.cuts import shards_of
from reward_functions.scoring.folder import Run
from reward_functions.scoring.going import go_on, require_affordable, unheard
from reward_functions.scoring.places import place_of
from reward_functions.scoring.prices import bill_of
from reward_functions.scoring.rewards import no_judge, parameter_values, reward_named
from reward_functions.scoring.rows import require_rows, unread
from reward_functions.scoring.shards import digest_of
from reward_functions.scoring.sources import source_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from boto3.session import Session

    from reward_functions.core.spec import RewardSpec
    from reward_functions.judge_runtime.config import JudgeConfig
    from reward_functions.scoring.engines import Engine
    from reward_functions.scoring.going import Event
    from reward_functions.scoring.places import Object, Place
    from reward_functions.scoring.prices import Bill
    from reward_functions.scoring.rewards import Parameters
    from reward_functions.scoring.shards import Shard

SHARD_MB: Final = 64

JUDGED_MB: Final = 4
"""The same of a judge, whose part is written again after each batch."""

SHARDS: Final = 64
"""That a source is cut into where nobody says how large they are, and one has 1 MB at least."""

MB: Final = 1 << 20

LARGEST_MB: Final = 1 << 40


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a run: what would be scored, and where its results go.

    Args:
        asked: all that decides what the results are.
        shards: in order.
        place: of the run.
        spec: the reward.
        session: boto3's, for the credentials.
    """

    asked: Asked
    shards: tuple[Shard, ...]
    place: Place
    spec: RewardSpec
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
                given, and `JUDGED_MB` of a judge; less of a source of fewer than `SHARDS` such.
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
        found, objects = source_of(source, session)
        place = place_of(destination, session)
        if f"{place.address}/".startswith(f"{place_of(source, session).address}/"):
            raise ConfigurationError(
                f"{place.address} lies in {source}, where its parts would be rows: name another "
                "folder"
            )
        first = _First.of(found, objects, rows or RowOptions(), source, allow_empty=allow_empty)
        whole = spec.needs.group
        most = _shard_bytes(shard_mb, objects, judged=spec.needs.judge)
        shards = shards_of(found, objects, 1 << 62 if whole and adjacent_groups else most)
        if whole and len(shards) > 1 and not adjacent_groups:
            raise ConfigurationError(
                f"{spec.name} compares the responses to a prompt, and {len(shards):,} shards may "
                "part them: say that they stand side by side in one object (--adjacent-groups), or "
                "score one object in one shard"
            )
        asked = Asked(
            **scorer,
            source=found.address,
            inputs=_digest(objects),
            cut=digest_of(shards),
            judged=spec.needs.judge,
            judge=None if scorer["function"] or config is None else asdict(config),
            reward_name=spec.name,
            scale=list(spec.scale),
            rows=first.pinned,
            several=first.several if several is None else several,
            groups=("adjacent" if adjacent_groups else "anywhere") if whole else None,
            shard_bytes=most,
            max_unscored=1.0 if max_unscored is None else max_unscored,
            about=round(sum(each.size for each in objects) / first.bytes) if first.bytes else 0,
        )
        if spec.needs.judge:
            asked = replace(asked, usd=_usd(spec, asked, config, first.samples))
        return cls(asked, tuple(shards), place, spec, session)

    def estimate(self, *, machine: bool = False) -> Bill:
        """Estimate a run by arithmetic alone.

        Args:
            machine: whether the stage's state machine does it.
        """
        return bill_of(self.asked, self.shards, self.asked.about, machine=machine)

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
            max_usd: dollars that the rows may take that are not scored, about.
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
        engine.require(run, self.shards)
        require_affordable(run, self.shards, max_usd, engine)
        run = Run.begun(self.place, self.asked, self.shards, resume=resume, session=self.session)
        return go_on(run, engine, hear, max_usd=max_usd, detach=detach)


def _shard_bytes(shard_mb: float | None, objects: Sequence[Object], *, judged: bool) -> int:
    """Bytes of a shard at most."""
    if shard_mb is not None:
        if not 0 < shard_mb < inf:
            raise ConfigurationError(f"a shard of {shard_mb:g} MB: more than 0, such as {SHARD_MB}")
        return max(1, int(min(shard_mb, LARGEST_MB) * MB))
    share = sum(each.size for each in objects) // SHARDS
    return min((JUDGED_MB if judged else SHARD_MB) * MB, max(MB, share))


def _usd(
    spec: RewardSpec,
    asked: Asked,
    config: JudgeConfig | None,
    samples: Sequence[Sample],
) -> float | None:
    """Dollars that a judge takes, by its questions about the first rows."""
    if config is None:
        return None
    recorder = QuestionRecorder()
    score_batch(spec.bind(asked.parameters, ask=recorder), samples, workers=1)
    calls, size = measured([recorder.questions])
    if not calls:
        return None
    run = TrainingRun(prompts=asked.about, batch_size=1, samples=1, epochs=1)
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
