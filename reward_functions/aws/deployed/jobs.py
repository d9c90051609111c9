"""The training jobs in progress of an account and region, and the functions that they name.

    Bedrock     ListModelCustomizationJobs → GetModelCustomizationJob
                    customizationConfig.rftConfig.graderConfig.lambdaGrader.lambdaArn
    SageMaker   ListTrainingJobs → DescribeTrainingJob
                    ServerlessJobConfig.EvaluatorArn → DescribeHubContent → Reference
                    HyperParameters and Environment, which may hold the ARN of a reward
                ListJobs → DescribeJob, of multi-turn jobs
                    JobConfigDocument, whatever ARNs it holds: its agent's, as none names a reward

Whoever removes versions must know all of them: an answer that cannot be read is an error, and no
empty list. What `UNSEEN` names is not asked.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.arn import FUNCTION, Arn
from reward_functions.aws.deployed.retention import JobInProgress
from reward_functions.aws.deployed.versions import control_plane
from reward_functions.aws.failures import AwsFailed, in_words
from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from boto3.session import Session

RUNNING: Final = ("InProgress", "Stopping")
"""States in which a job still asks for rewards; one that stops may finish its step."""

UNGRADED: Final = frozenset({"FINE_TUNING", "CONTINUED_PRE_TRAINING", "DISTILLATION", "IMPORTED"})
"""Bedrock's types of jobs that have no grader; every other must name one."""

UNSEEN: Final = (
    "Jobs of Bedrock's OpenAI-compatible path, of HyperPod, and of other regions are not seen, nor "
    "what agents of multi-turn jobs ask"
)

CATEGORIES: Final = ("AgentRFT", "AgentRFTEvaluation")
"""Multi-turn jobs, as `ListJobs` knows them."""

EVALUATOR: Final = (
    r"hub-content/(?P<HubName>[^/]+)/(?P<HubContentType>[^/]+)/(?P<HubContentName>[^/]+)"
    r"(?:/(?P<HubContentVersion>[^/]+))?"
)
"""The content of a hub, by which SageMaker knows a reward."""


class JobsUnknown(ConfigurationError):
    """Which jobs run cannot be known, and so nothing may be removed."""


def jobs_in_progress(
    region: str, without: Collection[str] = (), session: Session | None = None
) -> tuple[JobInProgress, ...]:
    """Every job that runs, with all that it says of functions.

    Args:
        region: of the functions, which is that of the jobs.
        without: names of services of `SERVICES` in which no job runs, as the caller knows.
        session: boto3's; the caller's own where not given.

    Raises:
        JobsUnknown: a service cannot be asked, or its answer cannot be read.
    """
    found: list[JobInProgress] = []
    for service, running in SERVICES.items():
        if service not in without:
            try:
                with in_words(f"listing the jobs of {service}"):
                    found += running(control_plane(service, region, session))
            except (AwsFailed, _Unreadable) as error:
                raise JobsUnknown(
                    f"nothing was removed, for the jobs in progress are not known: {error}; where "
                    f"you know that none runs there, say so with --without-jobs {service}"
                ) from None
    return tuple(found)


class _Unreadable(Exception):
    """An answer, or a part of a job, that does not say what it must."""


def _bedrock(client: Any) -> Iterator[JobInProgress]:
    for status in RUNNING:
        pages = client.get_paginator("list_model_customization_jobs").paginate(statusEquals=status)
        for summary in _listed(pages, "modelCustomizationJobSummaries"):
            job = client.get_model_customization_job(jobIdentifier=summary["jobArn"])
            yield JobInProgress(_named(job, "jobName"), tuple(_grader(job)))


def _grader(job: dict[str, Any]) -> Iterator[str]:
    """The ARN of a job's grader, where its type has one."""
    found: Any = job.get("customizationConfig")
    for member in ("rftConfig", "graderConfig", "lambdaGrader", "lambdaArn"):
        found = found.get(member) if isinstance(found, dict) else None
    if isinstance(found, str):
        yield found
    elif job.get("customizationType") not in UNGRADED:
        raise _Unreadable(f"Bedrock's job {job['jobName']} names no grader")


def _sagemaker(client: Any) -> Iterator[JobInProgress]:
    for status in RUNNING:
        pages = client.get_paginator("list_training_jobs").paginate(StatusEquals=status)
        for summary in _listed(pages, "TrainingJobSummaries"):
            job = client.describe_training_job(TrainingJobName=summary["TrainingJobName"])
            name = _named(job, "TrainingJobName")
            yield JobInProgress(name, tuple(_of_training_job(job, client)))
    yield from _multi_turn(client)


def _of_training_job(job: dict[str, Any], client: Any) -> Iterator[str]:
    yield from (job.get("HyperParameters") or {}).values()
    yield from (job.get("Environment") or {}).values()
    evaluator = (job.get("ServerlessJobConfig") or {}).get("EvaluatorArn")
    if evaluator and FUNCTION.fullmatch(evaluator):
        yield evaluator
    elif evaluator:
        yield _reference(evaluator, f"SageMaker's job {job['TrainingJobName']}", client)


def _reference(evaluator: str, whose: str, client: Any) -> str:
    """What an evaluator leads to: the ARN of a function, or the address of a prompt."""
    found = Arn.read(evaluator, "sagemaker", EVALUATOR)
    if found is None:
        raise _Unreadable(f"{whose} has an evaluator that is no content of a hub: {evaluator}")
    with in_words(f"reading the evaluator of {whose}"):
        named = {name: value for name, value in found.named.items() if value}
        document = client.describe_hub_content(**named)["HubContentDocument"]
    try:
        return str(json.loads(json.loads(document)["JsonContent"])["Reference"])
    except (ValueError, KeyError, TypeError):
        raise _Unreadable(f"the evaluator of {whose} names no function: {evaluator}") from None


def _multi_turn(client: Any) -> Iterator[JobInProgress]:
    for category in CATEGORIES:
        for status in RUNNING:
            listed = client.get_paginator("list_jobs")
            pages = listed.paginate(JobCategory=category, StatusEquals=status)
            for summary in _listed(pages, "JobSummaries"):
                job = client.describe_job(JobCategory=category, JobName=summary["JobName"])
                name = _named(job, "JobName")
                if not job.get("JobConfigDocument"):
                    raise _Unreadable(f"the multi-turn job {name} has no document")
                yield JobInProgress(name, (job["JobConfigDocument"],))


def _named(job: dict[str, Any], member: str) -> str:
    if member not in job:
        raise _Unreadable("a job that does not say its name")
    return str(job[member])


def _listed(pages: Any, member: str) -> Iterator[dict[str, Any]]:
    for page in pages:
        if page.get(member) is None:  # botocore reads a proxy's page of HTML as an empty answer
            raise _Unreadable(f"the answer holds no {member}")
        yield from page[member]


SERVICES: Final[dict[str, Callable[[Any], Iterator[JobInProgress]]]] = {
    "bedrock": _bedrock,
    "sagemaker": _sagemaker,
}
"""Who runs jobs that can be listed."""
