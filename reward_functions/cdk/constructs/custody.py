"""The custodian: one small function of the stack's own, which CloudFormation asks five things.

    Custom::RewardGate          whether a version scores its examples, before anything points to it
    Custom::RewardReadiness     to keep environments of a version ready, and to stop when it goes
    Custom::RewardGenerations   to delete the functions of an immutable deployment with the last
    Custom::RewardRoles         to delete the roles of a deployment's judges with the last of them
    Custom::EmptyBucket         to empty the bucket before it is deleted

Each is a custom resource: a deployment waits for the answer, and a failure rolls it back.

A bucket of the stage's own is private, encrypted, versioned, and reached by TLS alone. In
production it stays when the stack goes, and so do its policy and what is in it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from aws_cdk import CustomResource, Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from constructs import Construct

from reward_functions.cdk.constructs.roles import place_of, role
from reward_functions.cdk.constructs.runtime import acknowledge, kept, log_group, python_function
from reward_functions.cdk.policies import custodian, permissions

if TYPE_CHECKING:
    from aws_cdk import aws_kms as kms

    from reward_functions.cdk.model.stages import Stage
    from reward_functions.core.spec import RewardSpec

FOLDER: Final = Path(__file__).parents[1] / "custodian"

TIMEOUT: Final = Duration.minutes(15)
"""The longest that a function may run: the first batch of a judge may take as long."""

ANSWER_WITHIN: Final = Duration.minutes(16)
"""After that CloudFormation takes a custodian that did not answer for a failure."""


class Custodian(Construct):
    """The function, with a role that may do exactly what it is asked.

    Args:
        scope: the stack.
        name: in the construct tree.
        stage: whose functions it tries, and whose bucket it empties unless that outlives the stack.

    Attributes:
        rights: deletes with the stack the roles of verifiers with rights. It is of every stage:
            one that came and went with such roles would delete them under the versions that run as
            them.
    """

    def __init__(self, scope: Construct, name: str, *, stage: Stage) -> None:
        super().__init__(scope, name)
        place = place_of(self)
        physical = stage.names.custodian
        group = log_group(self, physical, stage)
        made = role(
            self,
            "Role",
            description=f"What {physical} runs as",
            trust=permissions.trust_lambda(),
            path=stage.role_path,
            policies={
                "logs": permissions.write_logs(place, physical),
                "work": custodian.keep_house(place, stage),
            },
        )
        self._function = python_function(
            self,
            "Function",
            stage,
            function_name=physical,
            description="Tries versions before anything points to them, and clears up at the end",
            code=lambda_.Code.from_asset(str(FOLDER), exclude=["__pycache__"]),
            handler="index.handler",
            memory_size=256,
            timeout=TIMEOUT,
            log_group=group,
            role=iam.Role.from_role_arn(self, "RoleByArn", made.attr_arn, mutable=False),
        )
        path = permissions.rights_roles(place, stage.name, below=stage.role_path)
        self.rights = self._asked(self, "Rights", "RewardRoles", {"Path": path})

    def gate(
        self,
        scope: Construct,
        name: str,
        *,
        function_arn: str,
        deployment: str,
        spec: RewardSpec,
        judge: str,
    ) -> CustomResource:
        """The resource that exists once a version has scored its examples; one for every version.

        Args:
            scope: the deployment's construct.
            name: in the construct tree.
            function_arn: of the version, or of an immutable deployment's function.
            deployment: its name, for the sentence of a failure.
            spec: the reward that it is to serve.
            judge: whom a judge asks, `recorded` or `model`.
        """
        asked = {
            "Function": function_arn,
            "Deployment": deployment,
            "Reward": spec.name,
            "Version": str(spec.version),
            "Judge": judge,
        }
        return self._asked(scope, name, "RewardGate", asked)

    def provided(
        self, scope: Construct, name: str, *, version_arn: str, deployment: str, environments: int
    ) -> CustomResource:
        """The resource that keeps environments of a version ready; its own for every version.

        Args:
            scope: the deployment's construct.
            name: in the construct tree.
            version_arn: the version's.
            deployment: its name, for the sentence of a failure.
            environments: how many; of another number the same version gets more, or fewer.
        """
        asked = {
            "Version": version_arn,
            "Deployment": deployment,
            "Environments": str(environments),
        }
        return self._asked(scope, name, "RewardReadiness", asked)

    def generations(self, scope: Construct, name: str, *, prefix: str) -> CustomResource:
        """The resource that deletes, with itself, every function with a prefix in its name."""
        return self._asked(scope, name, "RewardGenerations", {"Prefix": prefix})

    def roles(self, scope: Construct, name: str, *, path: str) -> CustomResource:
        """The resource that deletes, when it is deleted, every role under a path."""
        return self._asked(scope, name, "RewardRoles", {"Path": path})

    def emptying(
        self, scope: Construct, name: str, *, bucket: str, removal: RemovalPolicy
    ) -> CustomResource:
        """The resource that empties a bucket when it is deleted itself; retained, it never does."""
        return self._asked(scope, name, "EmptyBucket", {"Bucket": bucket}, removal)

    def _asked(
        self,
        scope: Construct,
        name: str,
        kind: str,
        properties: dict[str, str],
        removal: RemovalPolicy = RemovalPolicy.DESTROY,
    ) -> CustomResource:
        return CustomResource(
            scope,
            name,
            resource_type=f"Custom::{kind}",
            service_token=self._function.function_arn,
            service_timeout=ANSWER_WITHIN,
            properties=properties,
            removal_policy=removal,
        )


def private_bucket(
    scope: Construct,
    name: str,
    *,
    stage: Stage,
    physical: str,
    key: kms.IKey | None,
    lifecycle: s3.LifecycleRule,
    custodian: Custodian,
    unlogged: str,
) -> s3.Bucket:
    """The bucket, and the custom resource that empties it before it is deleted.

    Args:
        scope: the construct that it belongs to, and no other bucket.
        name: in the construct tree.
        stage: whether it is in production.
        physical: its name.
        key: what encrypts it; None for S3's own.
        lifecycle: of its objects.
        custodian: who empties it.
        unlogged: why no access is logged, for cdk-nag.
    """
    bucket = s3.Bucket(
        scope,
        name,
        bucket_name=physical,
        encryption=s3.BucketEncryption.KMS if key else s3.BucketEncryption.S3_MANAGED,
        encryption_key=key,
        bucket_key_enabled=key is not None,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        enforce_ssl=True,
        versioned=True,
        removal_policy=kept(stage),
        lifecycle_rules=[lifecycle],
    )
    if bucket.policy is not None:  # TLS alone, as long as the bucket stands
        bucket.policy.apply_removal_policy(kept(stage))
    # In production it stands too, and is never asked: were it missing there, a stage that
    # becomes production would have its bucket emptied as the last thing before.
    asked = RemovalPolicy.RETAIN if stage.production else RemovalPolicy.DESTROY
    custodian.emptying(scope, "Emptying", bucket=bucket.bucket_name, removal=asked)
    acknowledge(bucket, "S1", unlogged)
    return bucket
