"""The policy documents of a stage, from what it says: a stack holds and `limits` measures them.

`serving.people` and `serving.permissions` say what each task and service may do. Here stands which
of it a stage grants, so that the documents that are measured are those that are deployed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.cdk.grants import aliased, rewards
from reward_functions.serving import people, permissions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.cdk.grants import GrantingStage
    from reward_functions.serving.iam import Document, Place

BEDROCK: Final = "bedrock.amazonaws.com"
SAGEMAKER: Final = "sagemaker.amazonaws.com"


class Made(NamedTuple):
    """What the documents name and deployment makes.

    Args:
        bucket_arn: where data and output lie.
        key_arn: of the key that encrypts the bucket; "" where S3's own does.
    """

    bucket_arn: str
    key_arn: str = ""


def services(stage: GrantingStage) -> list[str]:
    """The services whose jobs a stage has a role for."""
    return [BEDROCK, *([SAGEMAKER] if stage.sagemaker_role else [])]


def of_job(place: Place, stage: GrantingStage, made: Made, service: str) -> dict[str, Document]:
    """What the jobs of a service may do, by the names of the role's policies."""
    asked = rewards(place, stage.name, stage.deployments)
    work = {"train": permissions.train(asked, made.bucket_arn)}
    if made.key_arn:
        work["key"] = permissions.use_key(made.key_arn, place)
    return work | (_job_rights(place, stage) if service == BEDROCK else {})


def _job_rights(place: Place, stage: GrantingStage) -> dict[str, Document]:
    """What the stage's `job_rights` add to the role of Bedrock's jobs."""
    rights, added = stage.job_rights, {}
    if rights.invocation_logs:
        added["invocation-logs"] = permissions.read_invocation_logs(place, rights.invocation_logs)
    if rights.vpc:
        added["vpc"] = permissions.join_vpc(
            place, subnets=rights.vpc.subnets, security_groups=rights.vpc.security_groups
        )
    if rights.model_key:
        added["model-key"] = permissions.use_model_key(rights.model_key, place)
    return added


def of_people(
    place: Place, stage: GrantingStage, made: Made, role_arns: Mapping[str, str]
) -> dict[str, Document]:
    """What people may do, by task.

    Args:
        place: where the stage is.
        stage: what it grants.
        made: its bucket, and that bucket's key.
        role_arns: of the roles of jobs, by the service that receives them.
    """
    asked = rewards(place, stage.name, stage.deployments)
    model_key = stage.job_rights.model_key or ""
    return {
        "data": people.prepare_data(
            place,
            stage=stage.name,
            bucket_arn=made.bucket_arn,
            rewards=asked,
            key_arn=made.key_arn,
        ),
        "jobs": people.run_jobs(
            place,
            stage=stage.name,
            role_arns=role_arns,
            rewards=asked,
            model_key=model_key,
            emulated=stage.emulated,
        ),
        "evaluate": people.evaluate(place, stage=stage.name, rewards=asked, model_key=model_key),
        "operate": people.operate(
            place,
            stage=stage.name,
            function_arns=aliased(place, stage.name, stage.deployments),
            rewards=asked,
        ),
    }
