"""The resources of training jobs: a bucket, their roles, and the policies of people, by task.

SageMaker's stock policies hand over roles only that lie under `/service-role/` and carry
SageMaker's name, and use buckets only that carry it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from reward_functions.cdk import nag
from reward_functions.cdk.documents import (
    AGENTS,
    BEDROCK,
    IMPORT,
    KINDS,
    SAGEMAKER,
    Made,
    kinds,
    of_agent,
    of_people,
)
from reward_functions.cdk.roles import managed_policy, place_of, role
from reward_functions.serving.catalogue import bucket_name

if TYPE_CHECKING:
    from reward_functions.cdk.custody import Custodian
    from reward_functions.cdk.stages import Stage

SERVICE_ROLES: Final = "/service-role/"

TASKS: Final = {
    "data": "Bring data to the stage {stage}, and read what its jobs wrote",
    "jobs": "Start, follow and stop training jobs of the stage {stage}",
    "evaluate": "Ask the rewards of the stage {stage}, and host and ask tuned models",
    "operate": "Roll back and prune the rewards of the stage {stage}",
    "sagemaker": "Start, follow and stop serverless jobs of SageMaker for the stage {stage}",
    "agents": "Start, follow and stop multi-turn jobs of SageMaker for the stage {stage}",
}
"""The descriptions of policies, by task. A policy whose description changes is made anew."""


class RoleName(NamedTuple):
    """What a role is called.

    Args:
        construct: in the construct tree.
        description: for whoever finds it in the account.
        physical: its name in the account, with `{stage}` and `{region}`; None for a made one.
    """

    construct: str
    description: str
    physical: str | None


TRAINS: Final = "{} training jobs: read data, write output, ask for rewards"

ROLES: Final = {
    BEDROCK: RoleName("BedrockRole", TRAINS.format("Bedrock"), None),
    SAGEMAKER: RoleName(
        "SageMakerRole", TRAINS.format("SageMaker"), "SageMaker-reward-{stage}-{region}"
    ),
    AGENTS: RoleName(
        "AgentRole",
        "SageMaker multi-turn jobs: read data, write output, ask agents",
        "SageMaker-reward-{stage}-{region}-agents",
    ),
    IMPORT: RoleName(
        "ImportRole",
        "Bedrock model imports: read what SageMaker jobs wrote",
        "SageMakerForBedrock-reward-{stage}-{region}",
    ),
}
"""The roles of jobs by their kinds. An account's roles have no region, so that their names do."""


class Training(Construct):
    """The data bucket, the service roles of training jobs, and the policies of people.

    Args:
        scope: the stack.
        name: in the construct tree.
        stage: what surrounds it, and the rewards that roles may invoke.
        custodian: who empties the bucket before it is deleted.

    Attributes:
        bucket: where data and output lie.
        roles: what jobs run as, by the kinds of `documents.KINDS` that the stage has.
        people: managed policies to attach to people and their roles, by task: `data`, `jobs`,
            `evaluate` and `operate`, and `sagemaker` and `agents` where there are such jobs.
        agent_runtime: a managed policy for the role of an agent, where the stage names agents.
    """

    def __init__(self, scope: Construct, name: str, *, stage: Stage, custodian: Custodian) -> None:
        super().__init__(scope, name)
        place = place_of(self)
        self.bucket = self._bucket(stage, custodian)
        key = self.bucket.encryption_key
        made = Made(self.bucket.bucket_arn, key.key_arn if key is not None else "")
        self.roles = {
            kind: role(
                self,
                ROLES[kind].construct,
                description=ROLES[kind].description,
                trust=KINDS[kind].trust(place),
                policies=KINDS[kind].work(place, stage, made),
                path=SERVICE_ROLES,
                physical=role_name(kind, stage.name, stage.region),
            )
            for kind in kinds(stage)
        }
        arns = {kind: made.attr_arn for kind, made in self.roles.items()}
        self.people = {
            task: managed_policy(
                self,
                f"{task.capitalize()}Policy",
                description=TASKS[task].format(stage=stage.name),
                document=document,
            )
            for task, document in of_people(place, stage, made, arns).items()
        }
        agent = of_agent(place, stage)
        self.agent_runtime = agent and managed_policy(
            self,
            "AgentRuntimePolicy",
            description=f"What an agent of the stage {stage.name} does while a job asks it",
            document=agent,
        )

    def _bucket(self, stage: Stage, custodian: Custodian) -> s3.Bucket:
        outlives = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
        removal = outlives if stage.production else RemovalPolicy.DESTROY
        key = None
        if stage.customer_key:
            key = kms.Key(
                self,
                "Key",
                description=f"Training data of the stage {stage.name}",
                enable_key_rotation=True,
                removal_policy=removal,
            )
        bucket = s3.Bucket(
            self,
            "Data",
            bucket_name=bucket_name(stage.name, place_of(self).account, stage.region),
            encryption=s3.BucketEncryption.KMS if key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=key,
            bucket_key_enabled=key is not None,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            versioned=True,
            removal_policy=removal,
            lifecycle_rules=[
                s3.LifecycleRule(
                    noncurrent_version_expiration=Duration.days(90),
                    abort_incomplete_multipart_upload_after=Duration.days(7),
                )
            ],
        )
        # In production it stands too, and is never asked: were it missing there, a stage that
        # becomes production would have its bucket emptied as the last thing before.
        asked = RemovalPolicy.RETAIN if stage.production else RemovalPolicy.DESTROY
        custodian.emptying(self, "Emptying", bucket=bucket.bucket_name, removal=asked)
        nag.acknowledge(
            bucket,
            "S1",
            "Who reads training data is in CloudTrail where an account records data events; "
            "access logs would be a second bucket of the same names.",
        )
        return bucket


def role_name(kind: str, stage: str, region: str) -> str | None:
    """The physical name of a role; None where CloudFormation makes one."""
    physical = ROLES[kind].physical
    return physical and physical.format(stage=stage, region=region)
