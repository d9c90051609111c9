"""Evaluation jobs of SageMaker: started once, followed, stopped, and their results read.

    jobs = EvaluationJobs("us-east-1")
    job = jobs.start(Evaluation(…))
    for job in jobs.follow(job): …
    jobs.results(job).aggregates

A job's name is its own in one account and region: where it is taken, the job that has it is
compared with what was asked for. The service takes no token for this call.
"""

from __future__ import annotations

import time
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.clients import client
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.fields import text, within
from reward_functions.jobs.drivers.sagemaker_job import job_of
from reward_functions.jobs.evaluation_request import evaluation_request
from reward_functions.jobs.evaluation_results import results_of
from reward_functions.jobs.failures import answer
from reward_functions.jobs.job import NoSuchJob
from reward_functions.jobs.watching import Polling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from boto3.session import Session

    from reward_functions.jobs.evaluation_request import Evaluation
    from reward_functions.jobs.evaluation_results import EvaluationResults
    from reward_functions.jobs.job import Job

IN_USE: Final = frozenset({"ResourceInUse", "ConflictException"})

UNDECIDED: Final = frozenset({"", "InternalServerException", "InternalFailure"})
"""How a call fails that may have started a job all the same; "" is no answer."""

ABSENT: Final = ("not found", "does not exist", "could not find")
"""What a `ValidationException` says of a job that is not there: there is no code of its own."""

COMPARED: Final = {
    "the model": ("ServerlessJobConfig", "BaseModelArn"),
    "the evaluator": ("ServerlessJobConfig", "EvaluatorArn"),
    "the tuned model": ("ModelPackageConfig", "SourceModelPackageArn"),
    "the output": ("OutputDataConfig", "S3OutputPath"),
}
"""What makes two requests of one name the same job, and where it stands in request and answer."""


class EvaluationJobs:
    """Those of one account and region.

    Args:
        region: of the models, the rewards and the data.
        session: boto3's; the caller's own where not given.
    """

    def __init__(self, region: str, session: Session | None = None) -> None:
        self.region = region
        self._session = session

    @cached_property
    def _sagemaker(self) -> Any:
        return client("sagemaker", self.region, self._session)

    @cached_property
    def _s3(self) -> Any:
        return client("s3", self.region, self._session)

    def start(self, evaluation: Evaluation) -> Job:
        """Start it; where the same job has the name already, that one.

        Raises:
            BadJob: the request is refused before it is sent, or something else has the name.
            AwsFailed: SageMaker refused it, or it is not known whether it started.
        """
        arguments = evaluation_request(evaluation)
        create = self._sagemaker.create_training_job
        try:
            answer(f"starting {evaluation.name}", create, **arguments)
        except AwsFailed as error:
            if error.code not in IN_USE | UNDECIDED or not self._there(evaluation.name):
                raise
            return self._same(arguments)
        return self.get(evaluation.name)

    def get(self, name: str) -> Job:
        """One evaluation job by its name.

        Raises:
            NoSuchJob: there is none, or it is no evaluation.
            AwsFailed: SageMaker cannot be asked.
        """
        found = self._described(name)
        if found is None or text(within(found, "ServerlessJobConfig", "JobType")) != "Evaluation":
            raise NoSuchJob(f"there is no evaluation job {name!r} in {self.region}")
        return job_of(found, {}, text(within(found, "HyperParameters", "lambda_arn")))

    def stop(self, job: Job) -> Job:
        """Ask it to stop; one that is over stays as it is.

        Raises:
            AwsFailed: SageMaker refused, or cannot be asked.
        """
        if not job.over:
            stop = self._sagemaker.stop_training_job
            try:
                answer(f"stopping {job.name}", stop, TrainingJobName=job.name)
            except AwsFailed:
                if not self.get(job.name).over:  # else it ended meanwhile
                    raise
        return self.get(job.name)

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

    def _there(self, name: str) -> bool:
        """Whether there is a job although the call that made it failed."""
        with suppress(AwsFailed):
            return self._described(name) is not None
        return False

    def _same(self, arguments: Mapping[str, Any]) -> Job:
        """The job that has the name, where it is the one that is asked for."""
        name = arguments["TrainingJobName"]
        found = self._described(name) or {}
        different = [
            what
            for what, path in COMPARED.items()
            if text(within(arguments, *path)).rstrip("/") != text(within(found, *path)).rstrip("/")
        ]
        chosen = found.get("HyperParameters")
        if any(within(chosen, key) != value for key, value in arguments["HyperParameters"].items()):
            different.append("the hyperparameters")
        if _rows(found) != _rows(arguments):
            different.append("the rows")
        if different:
            raise BadJob(
                f"a job {name} is there already, and differs in {', '.join(different)}: choose "
                "another name with --name"
            )
        return self.get(name)

    def _described(self, name: str) -> Mapping[str, Any] | None:
        describe = self._sagemaker.describe_training_job
        try:
            return answer(f"reading the job {name}", describe, TrainingJobName=name)
        except AwsFailed as error:
            words = str(error).replace(name, "").lower()
            if error.missing or (
                error.code == "ValidationException" and any(each in words for each in ABSENT)
            ):
                return None
            raise


def _rows(found: Mapping[str, Any]) -> list[str]:
    channels = found.get("InputDataConfig")
    return [
        text(within(each, "DataSource", "S3DataSource", "S3Uri"))
        for each in (channels if isinstance(channels, list) else ())
    ]
