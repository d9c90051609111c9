"""What the stack's custodian may do, which CloudFormation asks: `cdk.constructs.custody` says what.

Source: the Service Authorization Reference for the resources an action knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.cdk.policies.iam import allow, document, generations_in, only_versions
from reward_functions.cdk.policies.permissions import judge_roles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.aws.names import Names
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


def keep_house(
    place: Place,
    *,
    names: Names,
    rewards: Sequence[str],
    bucket_arn: str,
    results_arn: str = "",
    provided: Sequence[str] = (),
    role_path: str | None = None,
    emulated: bool = False,
) -> Document:
    """What the stack's custodian does: try versions, keep some ready, clear up at the end.

    A deployment that has left the stage is known by the pattern of its functions and roles alone.
    Releasing is granted always: the deployment that asks for nothing any more takes the right to
    provide away before it releases.

    Args:
        place: where the stage is.
        names: of the stage whose functions it deletes.
        rewards: what it tries, as `versions_of` and `generations_of` name it.
        bucket_arn: what it may empty; nothing where empty.
        results_arn: likewise, of the bucket of deferred rewards.
        provided: the versions of which it keeps environments ready.
        role_path: what the stage's roles lie under, where it says so.
        emulated: for the local AWS emulator, which asks about a role as if it had no path, and
            about other actions where environments are kept ready.
    """
    roles = f"arn:{place.partition}:iam::{place.account}:role"
    judges = [f"{roles}{judge_roles(place, names.stage, below=role_path)}*"]
    judges += [f"{roles}/{names.stack}-*"] if emulated else []
    functions = place.arn("lambda", f"function:{names.function('*')}")
    emptied = [each for each in (bucket_arn, results_arn) if each]
    return document(
        allow("TryVersion", ["lambda:InvokeFunction"], only_versions(rewards)),
        *([allow("ProvideVersion", PROVIDE, provided)] if provided else []),
        allow("ReleaseVersion", [RELEASE], [f"{functions}:*"]),
        *([allow("ReadyOnEmulator", READY_ON_EMULATOR, [functions])] if emulated else []),
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
        *(
            [
                allow("ListVersions", ["s3:ListBucketVersions"], emptied),
                allow(
                    "EmptyBucket",
                    ["s3:DeleteObject", "s3:DeleteObjectVersion"],
                    [f"{each}/*" for each in emptied],
                ),
            ]
            if emptied
            else []
        ),
    )
