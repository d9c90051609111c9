"""Evaluation jobs of SageMaker: started once, followed, stopped, and their results read.

    jobs = EvaluationJobs("us-east-1")
    job = jobs.start(Evaluation(…))
    for job in jobs.follow(job): …
    jobs.results(job).aggregates

    CreateTrainingJob, JobType Evaluation, EvaluationType CustomScorerEvaluation

The service takes no token for this call: a job's name is one. The reward is named as a version of
a registered evaluator (`EvaluatorArn`), for Nova with `lambda_type` beside it. The data set is
`reward data convert --to sagemaker-eval`'s.

A job leaves its aggregates in S3, and its rows where it has any:

    OUTPUT/JOB/output/output/**/results_*.json    {"results": {"all": {name: number}}}, or under the
                                                  task's name, such as "custom|gen_qa_gen_qa|0"
    OUTPUT/JOB/output/output/**/*.jsonl           {"id", "aggregate_reward_score", "metrics_list"}

The second is published for Nova's `rft` alone, whose job writes down the function's own reply; a
list of such rows in the first is read as well. Other fields of a file are passed over.

Sources: sagemaker-train 1.27.0, `custom_scorer_evaluator.py`, `pipeline_templates.py` and
`show_results_utils.py`; docs.aws.amazon.com/sagemaker/latest/dg, nova-running-evaluations. Never
run on AWS.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field, replace
from io import StringIO
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.arn import Arn
from reward_functions.aws.failures import AwsFailed
from reward_functions.aws.s3 import read_object
from reward_functions.data.rows.writing import ANSWERED, TAKEN, write
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.base import checked
from reward_functions.jobs.drivers.objects import objects_below
from reward_functions.jobs.drivers.sagemaker import TrainingJobs, channels, tag_list
from reward_functions.jobs.job import Call, HyperparameterValue, Job
from reward_functions.jobs.watching import Polling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


FIXED: Final = {
    "task": "gen_qa",
    "strategy": "gen_qa",
    "postprocessing": "True",
    "aggregation": "mean",
}
"""What makes a job generate answers, and have them scored."""

DAY: Final = 86_400
"""Seconds: SageMaker's own clients let a job run so long."""

RESULTS: Final = re.compile(r"(?:^|/)results_[^/]*\.json\Z")

UNLOST: Final = frozenset({ANSWERED, TAKEN})
"""What a row may lose without another question being asked of the model."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation of one model.

    Args:
        name: of the job.
        model: ARN of the base model in SageMaker's hub.
        scorer: ARN of an evaluator's version.
        rows: `s3://…` of the data set.
        output: `s3://…` below which the results are.
        role: ARN of what the job runs as.
        package: ARN of the tuned model's package; "" for the base model.
        inference: hyperparameters such as `max_new_tokens` and `temperature`.
        accept_eula: the model's licence is accepted.
        tags: of the job.
    """

    name: str
    model: str
    scorer: str
    rows: str
    output: str
    role: str
    package: str = ""
    inference: Mapping[str, HyperparameterValue] = field(default_factory=dict)
    accept_eula: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)


def evaluation_request(evaluation: Evaluation) -> dict[str, Any]:
    """The arguments of `CreateTrainingJob`.

    Raises:
        BadJob: the request breaks a rule of the service's model.
    """
    name = Arn.of(evaluation.model).resource.split("/")[3]  # hub-content/HUB/Model/NAME
    nova = "nova" in name.lower()  # as sagemaker-train tells them apart
    metrics = {"metric": "all", "lambda_type": "rft"} if nova else {"evaluation_metric": "all"}
    inference = {name: str(value) for name, value in evaluation.inference.items()}
    made: dict[str, Any] = {
        "TrainingJobName": evaluation.name,
        "RoleArn": evaluation.role,
        "InputDataConfig": channels({"train": evaluation.rows}),
        "OutputDataConfig": {
            "S3OutputPath": evaluation.output.rstrip("/"),
            "CompressionType": "NONE",
        },
        "ServerlessJobConfig": {
            "BaseModelArn": evaluation.model,
            "AcceptEula": evaluation.accept_eula,
            "JobType": "Evaluation",
            "EvaluationType": "CustomScorerEvaluation",
            "EvaluatorArn": evaluation.scorer,
        },
        "StoppingCondition": {"MaxRuntimeInSeconds": DAY},
        "HyperParameters": inference | FIXED | metrics,
    }
    if evaluation.package:
        package = Arn.of(evaluation.package)
        group = replace(package, resource=f"model-package-group/{package.resource.split('/')[1]}")
        made["ModelPackageConfig"] = {
            "ModelPackageGroupArn": str(group),
            "SourceModelPackageArn": evaluation.package,
        }
    if evaluation.tags:
        made["Tags"] = tag_list(evaluation.tags)
    checked([Call("sagemaker", "CreateTrainingJob", made)])
    return made


def evaluation_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rows of the data set; a response in a row is left out, for the job asks the model.

    Args:
        rows: canonical: `messages`, `reference_answer`, `metadata`.

    Raises:
        BadJob: a row asks more than a system prompt and one question of text, which is all that an
            evaluation job asks.
    """
    for number, row in enumerate(rows, start=1):
        written = write(row, "sagemaker-eval")
        lost = [each for each in written.lost if each not in UNLOST]
        if lost:
            raise BadJob(
                f"row {number}: an evaluation job asks a system prompt and one question of text, "
                f"and would leave out {lost[0]}; evaluate without --on sagemaker"
            )
        yield written.content


@dataclass(frozen=True, slots=True)
class EvaluatedRow:
    """One row that the job scored.

    Args:
        id: the job's.
        score: what the function replied.
        metrics: beside it, by name.
    """

    id: str
    score: float
    metrics: dict[str, float]


@dataclass(frozen=True, slots=True)
class EvaluationResults:
    """What a job found.

    Args:
        aggregates: finite numbers over all rows, by the service's names.
        rows: each with its score; none where the job writes down no rows.
        files: `s3://…` of what was read.
    """

    aggregates: dict[str, float]
    rows: tuple[EvaluatedRow, ...]
    files: tuple[str, ...]


def results_of(name: str, output: str, client: Any) -> EvaluationResults:
    """The results that a job has left, once it succeeded.

    Args:
        name: of the job.
        output: `s3://…` that it was started with.
        client: of S3.

    Raises:
        AwsFailed: S3 refused or could not be reached; there are no results; they cannot be read.
    """
    bucket, _, key = output.removeprefix("s3://").partition("/")
    folder = "/".join(part for part in (key.strip("/"), name, "output/output/") if part)
    what = f"reading the results of {name}"

    def content(key: str) -> str:
        found = read_object(client, bucket, key, f"{what}: {key}")
        return found.decode("utf-8-sig", errors="replace")

    found = list(objects_below(client, bucket, folder, what))
    found.sort(key=lambda each: (each["LastModified"], each["Key"]), reverse=True)
    keys = [each["Key"] for each in found]
    aggregated = next((each for each in keys if RESULTS.search(each)), None)
    if aggregated is None:
        raise AwsFailed(f"{what}: there is no results_*.json below s3://{bucket}/{folder}")
    document = _decoded(content(aggregated))
    if document is None:
        raise AwsFailed(f"{what}: {aggregated} is not JSON")
    read, rows = [aggregated], rows_within(document)
    lines = iter([] if rows else [each for each in keys if each.endswith(".jsonl")])
    while not rows and (each := next(lines, "")):
        if rows := rows_of(content(each)):
            read += [each]
    return EvaluationResults(
        aggregates_of(document), tuple(rows), tuple(f"s3://{bucket}/{each}" for each in read)
    )


def aggregates_of(document: dict[str, Any]) -> dict[str, float]:
    """The finite numbers of a results file: those over all tasks, else those of the first task."""
    results = document.get("results") or {}
    tasks = [results.get("all"), *results.values()]
    chosen = next((each for each in tasks if isinstance(each, dict) and each), {})
    return _numbers(chosen.items())


def rows_within(document: dict[str, Any]) -> list[EvaluatedRow]:
    """The scored rows of a results file: those of the first list that has any."""
    lists = (each for each in document.values() if isinstance(each, list))
    found = ([row for each in items if (row := _row(each))] for items in lists)
    return next((rows for rows in found if rows), [])


def rows_of(lines: str) -> list[EvaluatedRow]:
    """The scored rows of a file of JSON lines, in its order; other lines are passed over."""
    # Not splitlines: a string of JSON may hold other ends of lines.
    found = (_row(_decoded(line)) for line in StringIO(lines, newline="\n"))
    return [row for row in found if row]


def _row(row: Any) -> EvaluatedRow | None:
    score = _number(row.get("aggregate_reward_score")) if isinstance(row, dict) else None
    if score is None:
        return None
    listed = [each for each in row.get("metrics_list") or () if isinstance(each, dict)]
    metrics = _numbers((each.get("name"), each.get("value")) for each in listed)
    return EvaluatedRow(str(row.get("id", "")), score, metrics)


def _numbers(pairs: Iterable[tuple[Any, Any]]) -> dict[str, float]:
    found = ((name, _number(value)) for name, value in pairs)
    return {str(name): value for name, value in found if name and value is not None}


def _number(value: Any) -> float | None:
    """A finite number, and no boolean; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isfinite(value) else None


def _decoded(line: str) -> Any:
    """A document of JSON; None for anything else."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


class EvaluationJobs(TrainingJobs):
    """Those of one account and region.

    Args:
        region: of the models, the rewards and the data.
        session: boto3's; the caller's own where not given.
    """

    KIND = "evaluation job"
    JOB_TYPE = "Evaluation"
    DATA = "the rows"
    SHOWN = "the same command goes on from there"
    AGAIN = "choose another name with --name"

    def start(self, evaluation: Evaluation) -> Job:
        """Start it; where the same job has the name already, that one.

        Raises:
            BadJob: the request is refused before it is sent, or something else has the name.
            AwsFailed: SageMaker refused it, or it is not known whether it started.
        """
        call = Call(self.api.service, "CreateTrainingJob", evaluation_request(evaluation))
        return self._run(evaluation.name, [call])

    def follow(
        self,
        job: Job,
        polling: Polling | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> Iterator[Job]:
        """The job now and after each change, until it is over.

        Args:
            job: to follow.
            polling: how often SageMaker is asked, and for how long without an answer.
            sleep: waits, in seconds.

        Raises:
            NoSuchJob: it was deleted.
            AwsFailed: SageMaker did not answer for `polling.patience` seconds.
        """
        polling = polling or Polling()
        idle, silent, last = 0, 0.0, None
        while True:
            try:
                now, silent = self.get(job.name), 0.0
            except AwsFailed:
                if silent >= polling.patience:
                    raise
            else:
                idle = 0 if now != last else idle
                if now != last:
                    yield now
                if now.over:
                    return
                last = now
            wait = polling.wait(idle)
            idle, silent = idle + 1, silent + wait
            sleep(wait)

    def results(self, job: Job) -> EvaluationResults:
        """What it found.

        Raises:
            BadJob: it has not succeeded.
            AwsFailed: S3 refused, or could not be reached; or there are no results.
        """
        if job.status != "succeeded":
            reason = f" ({job.failure})" if job.failure else ""
            raise BadJob(f"the evaluation {job.name} {job.state}{reason}: it has no results")
        return results_of(job.name, job.output, self._s3)

    def function_of(self, _: Mapping[str, Any], __: Mapping[str, str], /) -> str:
        """Not known: an evaluator is what a job names."""
        return ""

    def tags_of(self, _: Mapping[str, Any], /) -> Mapping[str, str]:
        """None: nobody asks for those of an evaluation."""
        return {}
