"""The resources of training jobs: a bucket, their roles, and the policy of those who start them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from reward_functions.cdk import nag
from reward_functions.cdk.roles import managed_policy, place_of, role
from reward_functions.serving import permissions
from reward_functions.serving.catalogue import bucket_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aws_cdk import aws_iam as iam

    from reward_functions.cdk.stages import Stage


class Training(Construct):
    """The data bucket, the service roles of training jobs, and the policy of who starts them.

    Args:
        scope: the stack.
        name: in the construct tree.
        stage: what surrounds it.
        function_arns: every reward function of the stage, unqualified; roles may invoke just these.

    Attributes:
        bucket: where data and output lie.
        bedrock_role: what Bedrock's jobs run as.
        sagemaker_role: what SageMaker's jobs run as, where the stage asked for it.
        submitters: a managed policy to attach to people and roles that start jobs.
    """

    def __init__(
        self, scope: Construct, name: str, *, stage: Stage, function_arns: Sequence[str]
    ) -> None:
        super().__init__(scope, name)
        place = place_of(self)
        self.bucket = self._bucket(stage)
        bucket_arn = self.bucket.bucket_arn
        work = {"train": permissions.train(function_arns, bucket_arn)}
        if self.bucket.encryption_key is not None:
            work["key"] = permissions.use_key(self.bucket.encryption_key.key_arn, place)
        self.bedrock_role = self._service_role(
            "BedrockRole", "Bedrock", permissions.trust_bedrock(place), work
        )
        roles = {"bedrock.amazonaws.com": self.bedrock_role.attr_arn}
        self.sagemaker_role: iam.CfnRole | None = None
        if stage.sagemaker_role:
            self.sagemaker_role = self._service_role(
                "SageMakerRole", "SageMaker", permissions.trust_sagemaker(place), work
            )
            roles["sagemaker.amazonaws.com"] = self.sagemaker_role.attr_arn
        self.submitters = managed_policy(
            self,
            "Submitters",
            description=f"Start, follow and stop training jobs of the stage {stage.name}",
            document=permissions.submit_jobs(
                place,
                stage=stage.name,
                role_arns=roles,
                function_arns=function_arns,
                bucket_arn=bucket_arn,
            ),
        )

    def _bucket(self, stage: Stage) -> s3.Bucket:
        removal = RemovalPolicy.RETAIN if stage.production else RemovalPolicy.DESTROY
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
            # Emptying a bucket takes a function of CDK's own, in JavaScript, which the local AWS
            # emulator does not run.
            auto_delete_objects=not (stage.production or stage.emulated),
            lifecycle_rules=[
                s3.LifecycleRule(
                    noncurrent_version_expiration=Duration.days(90),
                    abort_incomplete_multipart_upload_after=Duration.days(7),
                )
            ],
        )
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
        trust: permissions.Document,
        work: dict[str, permissions.Document],
    ) -> iam.CfnRole:
        return role(
            self,
            name,
            description=f"{service} training jobs: read data, write output, ask for rewards",
            trust=trust,
            policies=work,
        )
