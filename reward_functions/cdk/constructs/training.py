"""The resources of training jobs: a bucket, their roles, and the policies of people, by task.

SageMaker's stock policies hand over roles only that lie under `/service-role/` and carry
SageMaker's name, and use buckets only that carry it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from aws_cdk import Duration
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from reward_functions.cdk.constructs.custody import Custodian, private_bucket
from reward_functions.cdk.constructs.roles import managed_policy, place_of, role
from reward_functions.cdk.constructs.runtime import kept
from reward_functions.cdk.policies.documents import (
    AGENTS,
    BEDROCK,
    IMPORT,
    KINDS,
    SAGEMAKER,
    SERVICE_ROLES,
    TRAINING,
    kinds,
    of_agent,
)
from reward_functions.cdk.policies.grants import Made
from reward_functions.cdk.policies.people import of_people
from reward_functions.cdk.policies.sagemaker import train_on_hyperpod

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam

    from reward_functions.aws.names import Names
    from reward_functions.cdk.model.stages import Stage
    from reward_functions.cdk.policies.iam import Document

TASKS: Final = {
    "data": "Bring data to the stage {stage}, and read what its jobs wrote",
    "jobs": "Start, follow and stop training jobs of the stage {stage}",
    "evaluate": "Ask the rewards of the stage {stage}, and host and ask tuned models",
    "operate": "Roll back and prune the rewards of the stage {stage}",
    "sagemaker": "Start, follow and stop serverless jobs of SageMaker for the stage {stage}",
    "agents": "Start, follow and stop multi-turn jobs of SageMaker for the stage {stage}",
    "training": "Start, follow and stop training jobs of SageMaker for the stage {stage}",
    "score": "Score files with the state machine of the stage {stage}",
    "hyperpod": "Submit jobs to HyperPod for the stage {stage}",
}
"""The descriptions of policies, by task. A policy whose description changes is made anew."""


class RoleName(NamedTuple):
    """The name of a role.

    Args:
        construct: in the construct tree.
        description: for the reader who finds it in the account.
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
    TRAINING: RoleName(
        "TrainingJobRole",
        TRAINS.format("SageMaker's own"),
        "SageMaker-reward-{stage}-{region}-training",
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
        key: what encrypts what the stage keeps, made or named; None for S3's own.
        bucket: where data and output lie; one that was there is imported.
        made: the same as documents name it.
        roles: what jobs run as, by the kinds of `documents.KINDS` that the stage has.
        people: managed policies to attach to people and their roles, by task: `data`, `jobs`,
            `evaluate` and `operate`; `sagemaker`, `agents`, `training` and `hyperpod` where there
            are such jobs.
        agent_runtime: a managed policy for the role of an agent, where the stage names agents or
            takes deferred rewards.
        hyperpod_runtime: one for the role that a cluster's jobs run as, where it asks for HyperPod.
    """

    def __init__(self, scope: Construct, name: str, *, stage: Stage, custodian: Custodian) -> None:
        super().__init__(scope, name)
        place = place_of(self)
        self.key = self._key(stage)
        self.bucket = self._bucket(stage, custodian)
        made = Made(self.bucket.bucket_arn, self.key.key_arn if self.key is not None else "")
        self.made = made
        self.roles = {
            kind: role(
                self,
                ROLES[kind].construct,
                description=ROLES[kind].description,
                trust=KINDS[kind].trust(place),
                policies=KINDS[kind].work(place, stage, made),
                path=stage.role_path or SERVICE_ROLES,
                physical=role_name(kind, stage.names, stage.region),
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
        agent = of_agent(place, stage, made)
        cluster = train_on_hyperpod(place, stage, made) if stage.hyperpod else None
        self.agent_runtime = self._attached(
            "AgentRuntimePolicy",
            f"What an agent of the stage {stage.name} does while a job asks it",
            agent,
        )
        self.hyperpod_runtime = self._attached(
            "HyperpodRuntimePolicy",
            f"What the jobs of a HyperPod cluster do for the stage {stage.name}",
            cluster,
        )

    def _attached(
        self, name: str, description: str, document: Document | None
    ) -> iam.CfnManagedPolicy | None:
        """A policy to attach to a role that is not the stage's; None where there is no document."""
        if document is None:
            return None
        return managed_policy(self, name, description=description, document=document)

    def _key(self, stage: Stage) -> kms.IKey | None:
        if stage.key_arn:
            return kms.Key.from_key_arn(self, "Key", stage.key_arn)
        if not stage.customer_key:
            return None
        return kms.Key(
            self,
            "Key",
            description=f"Training data of the stage {stage.name}",
            enable_key_rotation=True,
            removal_policy=kept(stage),
        )

    def _bucket(self, stage: Stage, custodian: Custodian) -> s3.IBucket:
        """The stage's own, or the one that was there: nobody here empties or deletes that."""
        if stage.bucket:
            return s3.Bucket.from_bucket_name(self, "Data", stage.bucket)
        return self._made_bucket(stage, custodian)

    def _made_bucket(self, stage: Stage, custodian: Custodian) -> s3.Bucket:
        return private_bucket(
            self,
            "Data",
            stage=stage,
            physical=stage.names.bucket(place_of(self).account, stage.region),
            key=self.key,
            lifecycle=s3.LifecycleRule(
                noncurrent_version_expiration=Duration.days(90),
                abort_incomplete_multipart_upload_after=Duration.days(7),
            ),
            custodian=custodian,
            unlogged="Who reads training data is in CloudTrail where an account records data "
            "events; access logs would be a second bucket of the same names.",
        )


def role_name(kind: str, names: Names, region: str) -> str | None:
    """The physical name of a role; None where CloudFormation makes one."""
    physical = ROLES[kind].physical
    return physical and names.of(physical.format(stage=names.stage, region=region))
