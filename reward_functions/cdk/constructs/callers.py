"""The permissions by which functions answer callers of other accounts.

A version answers whom it was published for as long as it stands: its permissions outlive their
successors as it does, and end with it. Each caller's own account has to allow the call as well.

Source: "Granting function access to an organization" and `AddPermission` in Lambda's documentation.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

from aws_cdk import aws_lambda as lambda_

if TYPE_CHECKING:
    from constructs import Construct

    from reward_functions.cdk.model.brought import Callers

DIGITS: Final = 8
"""Of the digest of a caller, so that their order in `cdk.json` changes nothing."""


def admit(
    scope: Construct, name: str, function_arn: str, callers: Callers
) -> list[lambda_.CfnPermission]:
    """Let every caller invoke one version, alias or function.

    Args:
        scope: the deployment's construct.
        name: how the permissions are called in the construct tree.
        function_arn: of what they invoke, with its qualifier where it has one.
        callers: who they are; nobody where they name nobody.
    """
    return [
        lambda_.CfnPermission(
            scope,
            f"{name}Caller{_digest(principal, callers)}",
            action="lambda:InvokeFunction",
            function_name=function_arn,
            principal=principal,
            principal_org_id=callers.organization,
        )
        for principal in callers.principals
    ]


def _digest(principal: str, callers: Callers) -> str:
    caller = f"{principal} {callers.organization or ''}"
    return sha256(caller.encode()).hexdigest()[:DIGITS]
