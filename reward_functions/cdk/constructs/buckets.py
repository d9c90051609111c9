"""A bucket of the stage's own: private, encrypted, versioned, by TLS alone, emptied by the custodian.

In production it stays when the stack goes, and so do its policy and what is in it.
"""  # noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import RemovalPolicy
from aws_cdk import aws_s3 as s3

from reward_functions.cdk.constructs import runtime
from reward_functions.cdk.constructs.runtime import kept

if TYPE_CHECKING:
    from aws_cdk import aws_kms as kms
    from constructs import Construct

    from reward_functions.cdk.constructs.custody import Custodian
    from reward_functions.cdk.model.stages import Stage


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
    runtime.acknowledge(bucket, "S1", unlogged)
    return bucket
