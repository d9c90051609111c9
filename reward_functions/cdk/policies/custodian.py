"""The rights of the stack's custodian; CloudFormation asks it: `cdk.constructs.custody` says what.

Source: the Service Authorization Reference for the resources an action knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.cdk.policies.deferred import results_arn
from reward_functions.cdk.policies.grants import provided, rewards
from reward_functions.cdk.policies.iam import allow, document, generations_in, only_versions
from reward_functions.cdk.policies.permissions import judge_roles

if TYPE_CHECKING:
    from reward_functions.cdk.model.stages import Stage
    from reward_functions.cdk.policies.iam import Document, Place

PROVIDE: Final = (
    "lambda:PutProvisionedConcurrencyConfig",
    "lambda:GetProvisionedConcurrencyConfig",
)
"""What keeping environments of a version ready takes."""

RELEASE: Final = "lambda:DeleteProvisionedConcurrencyConfig"

READY_ON_EMULATOR: Final = (
    "lambda:UpdateFunctionCode",
    "lambda:GetFunction",
    "lambda:DeleteFunction",
)
"""What the local AWS emulator asks for in place of these three, by the methods of HTTP."""


def keep_house(place: Place, stage: Stage) -> Document:
    """The rights of the stack's custodian: try versions, keep some ready, clear up at the end.

    A deployment that has left the stage is known by the pattern of its functions and roles alone.
    Releasing is granted always: the deployment that asks for nothing any more takes the right to
    provide away before it releases. It empties what does not outlive the stack. The local AWS
    emulator asks about a role as if it had no path, and about other actions where environments are
    kept ready.
    """
    names = stage.names
    granted = rewards(place, names, stage.deployments)
    ready = provided(place, names, stage.deployments)
    roles = f"arn:{place.partition}:iam::{place.account}:role"
    judges = [f"{roles}{judge_roles(place, names.stage, below=stage.role_path)}*"]
    judges += [f"{roles}/{names.stack}-*"] if stage.emulated else []
    functions = place.arn("lambda", f"function:{names.function('*')}")
    emptied = []
    if not (stage.production or stage.bucket):
        bucket = names.bucket(place.account, stage.region)
        emptied.append(f"arn:{place.partition}:s3:::{bucket}")
    if stage.feedback is not None and not stage.production:
        emptied.append(results_arn(place, names))
    return document(
        allow("TryVersion", ["lambda:InvokeFunction"], only_versions(granted)),
        allow("ProvideVersion", PROVIDE, ready),
        allow("ReleaseVersion", [RELEASE], [f"{functions}:*"]),
        allow("ReadyOnEmulator", READY_ON_EMULATOR, [functions] if stage.emulated else []),
        allow("FindGenerations", ["lambda:ListFunctions"], ["*"]),
        allow(
            "DeleteGenerations",
            ["lambda:DeleteFunction", "lambda:ListTags"],
            [generations_in(place, names)],
        ),
        allow("FindRoles", ["iam:ListRoles"], ["*"]),
        allow(
            "DeleteRoles",
            ["iam:ListRolePolicies", "iam:DeleteRolePolicy", "iam:DeleteRole"],
            judges,
        ),
        allow("ListVersions", ["s3:ListBucketVersions"], emptied),
        allow(
            "EmptyBucket",
            ["s3:DeleteObject", "s3:DeleteObjectVersion"],
            [f"{each}/*" for each in emptied],
        ),
    )
