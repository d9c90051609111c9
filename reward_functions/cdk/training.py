"""The resources of training jobs: a bucket, their roles, and the policies of people, by task.

SageMaker's stock policies hand over roles only that lie under `/service-role/` and carry
SageMaker's name, and use buckets only that carry it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from reward_functions.cdk import nag
from reward_functions.cdk.documents import BEDROCK, SAGEMAKER, Made, of_job, of_people
from reward_functions.cdk.roles import managed_policy, place_of, role
from reward_functions.serving import permissions
from reward_functions.serving.catalogue import bucket_name

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam

    from reward_functions.cdk.custody import Custodian
    from reward_functions.cdk.stages import Stage
    from reward_functions.serving.iam import Document

SERVICE_ROLES: Final = "/service-role/"

TASKS: Final = {
    "data": "Bring data to the stage {stage}, and read what its jobs wrote",
    "jobs": "Start, follow and stop training jobs of the stage {stage}",
    "evaluate": "Ask the rewards of the stage {stage}, and host and ask tuned models",
    "operate": "Roll back and prune the rewards of the stage {stage}",
}
"""The descriptions of policies, by task. A policy whose description changes is made anew."""


class Training(Construct):
    """The data bucket, the service roles of training jobs, and the policies of people.

    Args:
        scope: the stack.
        name: in the construct tree.
        stage: what surrounds it, and the rewards that roles may invoke.
        custodian: who empties the bucket before it is deleted.

    Attributes:
        bucket: where data and output lie.
        bedrock_role: what Bedrock's jobs run as.
        sagemaker_role: what SageMaker's jobs run as, where the stage asked for it.
        people: managed policies to attach to people and their roles, by task: `data`, `jobs`,
            `evaluate` and `operate`.
    """

    def __init__(self, scope: Construct, name: str, *, stage: Stage, custodian: Custodian) -> None:
        super().__init__(scope, name)
        place = place_of(self)
        self.bucket = self._bucket(stage, custodian)
        key = self.bucket.encryption_key
        made = Made(self.bucket.bucket_arn, key.key_arn if key is not None else "")
        self.bedrock_role = self._service_role(
            "BedrockRole",
            "Bedrock",
            permissions.trust_bedrock(place),
            of_job(place, stage, made, BEDROCK),
        )
        roles = {BEDROCK: self.bedrock_role.attr_arn}
        self.sagemaker_role: iam.CfnRole | None = None
        if stage.sagemaker_role:
            self.sagemaker_role = self._service_role(
                "SageMakerRole",
                "SageMaker",
                permissions.trust_sagemaker(place),
                of_job(place, stage, made, SAGEMAKER),
                physical=sagemaker_role_name(stage.name, stage.region),
            )
            roles[SAGEMAKER] = self.sagemaker_role.attr_arn
        self.people = {
            task: managed_policy(
                self,
                f"{task.capitalize()}Policy",
                description=TASKS[task].format(stage=stage.name),
                document=document,
            )
            for task, document in of_people(place, stage, made, roles).items()
        }

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

    def _service_role(
        self,
        name: str,
        service: str,
        trust: Document,
        work: dict[str, Document],
        physical: str | None = None,
    ) -> iam.CfnRole:
        return role(
            self,
            name,
            description=f"{service} training jobs: read data, write output, ask for rewards",
            trust=trust,
            policies=work,
            path=SERVICE_ROLES,
            physical=physical,
        )


def sagemaker_role_name(stage: str, region: str) -> str:
    """The physical name of the role of SageMaker's jobs: an account's roles have no region."""
    return f"SageMaker-reward-{stage}-{region}"
