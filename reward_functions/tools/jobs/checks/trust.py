"""Who may take a role on, read from its trust policy: whether Bedrock may, for this account's jobs.

    statements that apply to Bedrock's call      the role is
    a Deny, whatever else there is               not trusted
    one whose conditions are not known           unknown
    an Allow                                     trusted
    none                                         not trusted

A statement applies where its principal is the service or "*", and its action is of the call, stars
and NotAction included. Conditions are resolved as the training double resolves them; their keys
compare in any case. A document that is no policy is unknown, and so is NotPrincipal.

Source: "AWS JSON policy elements: Principal" and "Policy evaluation logic" in the IAM user guide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeGuard

from reward_functions.tools.deployed.findings import CheckFinding
from reward_functions.tools.training_double.conditions import as_list, like, resolved

if TYPE_CHECKING:
    from collections.abc import Mapping

SERVICE: Final = "bedrock.amazonaws.com"

ACTION: Final = "sts:assumerole"
"""In lower case, as actions compare."""


def trust_finding(document: object, region: str, account: str) -> CheckFinding:
    """Whether a trust policy lets Bedrock's jobs of this account take the role on.

    Args:
        document: the policy, decoded; of whatever shape.
        region: of the job.
        account: whose job it is.
    """
    if not _is_policy(document):
        return CheckFinding(
            "unknown", "trust", "the trust policy cannot be read: it is not a document of IAM's"
        )
    policy = resolved(document, _context(region, account))
    lets = {
        effect: {_applies(each) for each in policy["Statement"] if each.get("Effect") == effect}
        for effect in ("Allow", "Deny")
    }
    if True in lets["Deny"]:
        return CheckFinding("failure", "trust", f"the role's trust policy denies {SERVICE}")
    if None in lets["Deny"] or (True not in lets["Allow"] and None in lets["Allow"]):
        return CheckFinding(
            "unknown", "trust", "the trust policy has a condition that is not known here"
        )
    if True in lets["Allow"]:
        return CheckFinding("ok", "trust", f"{SERVICE} may take the role on, for jobs of {account}")
    return CheckFinding(
        "failure",
        "trust",
        f"the role does not trust {SERVICE} for jobs of account {account} in {region}: deploy the "
        "stage again, or give the role the trust of `docs/deploy.md`",
    )


def _is_policy(document: object) -> TypeGuard[dict[str, Any]]:
    """Whether it has the shape of a policy, as far as it is read here."""
    if not isinstance(document, dict):
        return False
    statements = as_list(document.get("Statement", []))
    return all(isinstance(each, dict) and _conditional(each) for each in statements)


def _conditional(statement: Mapping[str, Any]) -> bool:
    conditions = statement.get("Condition", {})
    return isinstance(conditions, dict) and all(isinstance(e, dict) for e in conditions.values())


def _context(region: str, account: str) -> dict[str, str]:
    """What is known of the call that Bedrock makes for a job."""
    partition = next(
        (name for prefix, name in PARTITIONS.items() if region.startswith(prefix)), "aws"
    )
    job = f"arn:{partition}:bedrock:{region}:{account}:model-customization-job/x"
    return {"aws:SourceAccount": account, "aws:SourceArn": job}


PARTITIONS: Final = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}
"""By the beginning of a region's name; `aws` for all others."""


def _applies(statement: Mapping[str, Any]) -> bool | None:
    """Whether a statement is of Bedrock's call; None where that depends on what is not known."""
    principal = statement.get("Principal")
    services = principal.get("Service") if isinstance(principal, dict) else None
    named = principal == "*" or SERVICE in as_list(services)
    if not (named or "NotPrincipal" in statement):
        return False
    listed = "NotAction" if "NotAction" in statement else "Action"
    patterns = [str(each).lower() for each in as_list(statement.get(listed))]
    if any(like(ACTION, each) for each in patterns) is (listed == "NotAction"):
        return False
    return None if "Condition" in statement or "NotPrincipal" in statement else True
