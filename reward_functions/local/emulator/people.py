"""Users of an emulator who have a stage's policies, as people and agents have them on AWS.

The emulator's root may do everything, so that a rehearsal as root shows no right that is missing.
"""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING, Final

from reward_functions.aws.deployed.catalogue import stage_record
from reward_functions.aws.emulator_record import LocalAwsError
from reward_functions.aws.failures import in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.local.emulator.emulator import LocalAws

MADE_BY: Final = {
    "sagemaker": "sagemaker_role",
    "agents": "job_rights.agents, forwarders or agents",
    "agent-runtime": "job_rights.agents, forwarders, agents or feedback",
    "training": "training_job_role",
    "hyperpod": "hyperpod",
}
"""The field of `cdk.json` by which a stage has a policy that not every stage has."""

TASKS: Final = ("data", "jobs", "evaluate", "operate", "score", *MADE_BY)
"""The policies of a stage, by what their holders do: `DeployedStage` has an ARN for each that the
stage has. An agent itself holds `agent-runtime`, and who starts its jobs `agents`."""

LONGEST: Final = 64
"""Characters of a user's name."""


def field_of(task: str) -> str:
    """The field of `DeployedStage` with the policy of a task."""
    return f"{task.replace('-', '_')}_policy_arn"


def become(aws: LocalAws, stage: str, tasks: Sequence[str]) -> dict[str, str]:
    """The variables of a new user who has exactly these policies.

    Args:
        aws: an emulator that runs; nothing else is ever asked.
        stage: one that is deployed there.
        tasks: of `TASKS`.

    Raises:
        LocalAwsError: there is no such policy, or the stage has none.
        NotDeployed: there is no such stage.
        AwsFailed: the emulator refuses.
    """
    unknown = [task for task in tasks if task not in TASKS]
    if unknown or not tasks:
        raise LocalAwsError(f"{', '.join(unknown) or 'no task'}: one of {', '.join(TASKS)}")
    wanted = sorted(set(tasks), key=TASKS.index)
    record = stage_record(stage, aws.session())
    policies = {task: getattr(record, field_of(task)) for task in wanted}
    for task, arn in policies.items():
        if arn is None:
            raise LocalAwsError(
                f"the stage {stage!r} has no policy {task}: set {MADE_BY[task]} in cdk.json and "
                "deploy"
            )
    name = "-".join((token_hex(3), *wanted, stage))[:LONGEST]
    iam = aws.client("iam")
    with in_words(f"making the user {name}"):
        iam.create_user(UserName=name)
        for arn in policies.values():
            iam.attach_user_policy(UserName=name, PolicyArn=arn)
        key = iam.create_access_key(UserName=name)["AccessKey"]
    return aws.environment | {
        "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
    }
