"""Who may take a role on, read from its trust policy: whether a service may, for an account's jobs.

    statements that apply to the service's call    the role is
    a Deny, whatever else there is                 not trusted
    one whose conditions are not known             unknown
    an Allow                                       trusted
    none                                           not trusted

A service makes one call or, for sessions with tags, two; the role has to be trusted for each. A
statement applies where its principal is the service or "*", and its action is of the call, stars
and NotAction included. Conditions are resolved by `iam_matching`; their keys compare in any
case. A document that is no policy is unknown, and so is NotPrincipal.

Sources: "AWS JSON policy elements: Principal" and "Policy evaluation logic" in the IAM user guide;
those of `cdk.policies.sagemaker` for what its two services do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard

from reward_functions.aws.deployed.findings import CheckFinding
from reward_functions.aws.iam_matching import as_list, like, resolved

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.jobs.job import DriverName


class Taker(NamedTuple):
    """A service that takes a role on.

    Args:
        service: its name as a principal.
        source: whose jobs they are to IAM, and how the ARN of one ends.
        actions: by which it does.
    """

    service: str
    source: tuple[str, str]
    actions: tuple[str, ...] = ("sts:AssumeRole",)


TAKERS: Final[Mapping[DriverName, Taker]] = {
    "bedrock": Taker("bedrock.amazonaws.com", ("bedrock", "model-customization-job/x")),
    "sagemaker": Taker("sagemaker.amazonaws.com", ("sagemaker", "training-job/x")),
    "agent-rft": Taker(
        "job.sagemaker.amazonaws.com",
        ("sagemaker", "job/AgentRFT/x"),
        ("sts:AssumeRole", "sts:TagSession"),
    ),
}
"""Who takes on the role of a driver's jobs; a job of the OpenAI-compatible API has none."""

BEDROCK: Final = TAKERS["bedrock"]


def trust_finding(
    document: object, region: str, account: str, taker: Taker = BEDROCK
) -> CheckFinding:
    """Whether a trust policy lets a service's jobs of this account take the role on.

    Args:
        document: the policy, decoded; of whatever shape.
        region: of the job.
        account: whose job it is.
        taker: the service.
    """
    if not _is_policy(document):
        return CheckFinding(
            "unknown", "trust", "the trust policy cannot be read: it is not a document of IAM's"
        )
    policy = resolved(document, _context(region, account, taker))
    service = taker.service
    verdicts = {action: _trusted(policy, service, action) for action in taker.actions}
    if DENIED in verdicts.values():
        return CheckFinding("failure", "trust", f"the role's trust policy denies {service}")
    if missing := [action for action, trusted in verdicts.items() if trusted is NEVER]:
        by = "" if len(missing) == len(verdicts) else f" by {missing[0]}"
        return CheckFinding(
            "failure",
            "trust",
            f"the role does not trust {service}{by} for jobs of account {account} in {region}: "
            "deploy the stage again, or give the role the trust of `docs/deploy.md`",
        )
    if UNKNOWN in verdicts.values():
        return CheckFinding(
            "unknown", "trust", "the trust policy has a condition that is not known here"
        )
    return CheckFinding("ok", "trust", f"{service} may take the role on, for jobs of {account}")


DENIED, NEVER, UNKNOWN, TRUSTED = "denied", "never", "unknown", "trusted"


def _trusted(policy: Mapping[str, Any], service: str, action: str) -> str:
    """What the statements come to for one action of a service."""
    lets = {
        effect: {
            _applies(each, service, action.lower())
            for each in policy["Statement"]
            if each.get("Effect") == effect
        }
        for effect in ("Allow", "Deny")
    }
    if True in lets["Deny"]:
        return DENIED
    if None in lets["Deny"] or (True not in lets["Allow"] and None in lets["Allow"]):
        return UNKNOWN
    return TRUSTED if True in lets["Allow"] else NEVER


def _is_policy(document: object) -> TypeGuard[dict[str, Any]]:
    """Whether it has the shape of a policy, as far as it is read here."""
    if not isinstance(document, dict):
        return False
    statements = as_list(document.get("Statement", []))
    return all(isinstance(each, dict) and _conditional(each) for each in statements)


def _conditional(statement: Mapping[str, Any]) -> bool:
    conditions = statement.get("Condition", {})
    return isinstance(conditions, dict) and all(isinstance(e, dict) for e in conditions.values())


def _context(region: str, account: str, taker: Taker) -> dict[str, str]:
    """What is known of the call that a service makes for a job."""
    partition = next(
        (name for prefix, name in PARTITIONS.items() if region.startswith(prefix)), "aws"
    )
    of, job = taker.source
    job = f"arn:{partition}:{of}:{region}:{account}:{job}"
    return {"aws:SourceAccount": account, "aws:SourceArn": job}


PARTITIONS: Final = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}
"""By the beginning of a region's name; `aws` for all others."""


def _applies(statement: Mapping[str, Any], service: str, action: str) -> bool | None:
    """Whether a statement is of a service's call; None where that depends on what is not known.

    Args:
        statement: with what is left of its conditions.
        service: as a principal.
        action: in lower case, as actions compare.
    """
    principal = statement.get("Principal")
    services = principal.get("Service") if isinstance(principal, dict) else None
    named = principal == "*" or service in as_list(services)
    if not (named or "NotPrincipal" in statement):
        return False
    listed = "NotAction" if "NotAction" in statement else "Action"
    patterns = [str(each).lower() for each in as_list(statement.get(listed))]
    if any(like(action, each) for each in patterns) is (listed == "NotAction"):
        return False
    return None if "Condition" in statement or "NotPrincipal" in statement else True
