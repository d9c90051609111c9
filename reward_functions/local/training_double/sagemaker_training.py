"""What a SageMaker job does with its role's rights: read, pay, write, log.

Checked beside what the emulator checks itself: that the role may look at the evaluator and make a
model package, which are SageMaker's own actions.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from reward_functions.local.training_double.clients import JobFailed
from reward_functions.local.training_double.grading import Grader
from reward_functions.local.training_double.sagemaker_packages import write_artifacts
from reward_functions.local.training_double.sagemaker_pay import OWN_PAY, Enveloped, own_pay
from reward_functions.local.training_double.sagemaker_public_hub import recipe_name
from reward_functions.local.training_double.sagemaker_rows import channel, rows_at
from reward_functions.local.training_double.sagemaker_state import Package

if TYPE_CHECKING:
    from boto3.session import Session

    from reward_functions.local.training_double.datafiles import Row
    from reward_functions.local.training_double.policy import Policy
    from reward_functions.local.training_double.rights import Policies
    from reward_functions.local.training_double.sagemaker_plans import Plan
    from reward_functions.local.training_double.service import Call
    from reward_functions.local.training_double.state import Job
    from reward_functions.local.training_double.training import Answer, Outcome, Step

BEDROCK_NAMES: Final = {
    "max_epochs": "epochCount",
    "global_batch_size": "batchSize",
    "learning_rate": "learningRate",
    "rollout_n": "trainingSamplePerPrompt",
    "max_prompt_length": "maxPromptLength",
    "max_response_length": "inferenceMaxTokens",
}
"""Hyperparameters of the recipes that the simulation has, by the names that it reads."""

LOG_GROUP: Final = "/aws/sagemaker/TrainingJobs"

METRICS: Final = {
    "critic/rewards/mean": "reward_mean",
    "critic/rewards/max": "reward_max",
    "critic/rewards/min": "reward_min",
    "actor/entropy": "entropy",
    "actor/pg_loss": "pg_loss",
    "actor/grad_norm": "grad_norm",
    "response_length/mean": "response_length_mean",
    "response_length/max": "response_length_max",
}
"""Metrics of verl, which trains there, and ours of a step.

Source: the Nova guide's page of RFT, and verl's own metrics; validation is
`val-score/rewards/mean@1`."""

VALIDATION: Final = "val-score/rewards/mean@1"


def metrics_of(step: Step) -> dict[str, float]:
    """The metrics of a step by verl's names."""
    found = {theirs: step.metrics[ours] for theirs, ours in METRICS.items()}
    if step.validation:
        found[VALIDATION] = step.validation["reward_mean"]
    return found


def folder_of(job: Job) -> str:
    """The folder of a job's output, which ends with a slash."""
    return f"{job.request['OutputDataConfig']['S3OutputPath'].rstrip('/')}/{job.name}/output/model/"


def read(
    call: Call, job: Job, plan: Plan, rights: Policies, session: Session
) -> tuple[list[Row], list[Row]]:
    """The training and the validation rows.

    Raises:
        JobFailed: they cannot be read, or the role may not what else the job is to do.
    """
    require_role(call, plan, rights)
    rows = rows_at(session, channel(job.request, "train"))
    return rows, rows_at(session, channel(job.request, "validation"))


def require_role(call: Call, plan: Plan, rights: Policies) -> None:
    """Nothing, where the role has SageMaker's own rights for this job.

    Raises:
        JobFailed: it lacks one.
    """
    if not call.service.clients.aws.enforcing:
        return
    wanted = []
    if plan.evaluator is not None:
        wanted.append(("sagemaker:DescribeHubContent", plan.evaluator.arn))
    if plan.group is not None and plan.technique != "Evaluation":
        wanted.append(("sagemaker:CreateModelPackage", plan.group.arn))
    for action, resource in wanted:
        if not call.service.rights.allow(rights, action, resource, {}):
            role = call.parameters["RoleArn"]
            raise JobFailed(
                f"AccessDeniedException: {role} is not authorized to perform: {action} on "
                f"resource: {resource}"
            )


def pay_of(call: Call, job: Job, plan: Plan, session: Session) -> Answer:
    """What scores the rows of a job."""
    if not plan.function:
        call.service.runs.note(job, OWN_PAY)
        return own_pay
    return (Grader if plan.model.nova else Enveloped)(session, plan.function)


def write(call: Call, job: Job, plan: Plan, session: Session, policy: Policy) -> None:
    """The artifacts and the model package of a job.

    Raises:
        JobFailed: they cannot be written.
    """
    group = plan.group
    if group is None:
        return
    uri = "" if plan.model.nova else folder_of(job)
    if uri:
        write_artifacts(session, uri, plan.model.name, policy)
    registry = call.sagemaker
    with call.state.lock:
        version = registry.versions.get(group.arn, 0) + 1
        registry.versions[group.arn] = version
        recipe = recipe_name(plan.model, plan.technique)
        made = Package(
            group, version, job, plan.model.name, plan.model.version, recipe, uri, policy
        )
        registry.packages[made.arn] = made
        call.state.tags[made.arn] = {}
        job.model = made.arn


def log_to(job: Job, session: Session, outcome: Outcome) -> None:
    """Write the events of a job to its log stream; a role without that right writes none."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    logs = session.client("logs")
    stream = f"{job.name}/algo-1-{round(job.created.timestamp())}"
    lines = [(event.at, _line(event.message, event.data)) for event in job.events]
    lines.append((job.modified, outcome.failure or f"simulation: the job has {outcome.status}"))
    messages = [
        {"timestamp": round(moment.timestamp() * 1000), "message": text} for moment, text in lines
    ]
    with suppress(BotoCoreError, ClientError):
        with suppress(logs.exceptions.ResourceAlreadyExistsException):
            logs.create_log_group(logGroupName=LOG_GROUP)
        logs.create_log_stream(logGroupName=LOG_GROUP, logStreamName=stream)
        logs.put_log_events(logGroupName=LOG_GROUP, logStreamName=stream, logEvents=messages)


def _line(message: str, data: dict[str, Any]) -> str:
    return f"{message}{''.join(f' {name}:{value:.6g}' for name, value in data.items())}"
