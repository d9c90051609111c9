"""The role that a Bedrock job runs as: who may take it on, and what it may do.

    read by                        a finding about
    iam:GetRole                    its trust: bedrock.amazonaws.com, for jobs of this account
    iam:SimulatePrincipalPolicy    each row of `actions`

The OpenAI-compatible API takes no role: its jobs invoke the grader with the caller's own rights.

Source: "Access and security for custom model jobs" in the Bedrock user guide.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.tools.deployed.failures import AwsFailed, in_words
from reward_functions.tools.deployed.findings import CheckFinding
from reward_functions.tools.deployed.versions import control_plane
from reward_functions.tools.jobs.checks.trust import trust_finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from boto3.session import Session

    from reward_functions.tools.deployed.arn import FunctionArn

ARN: Final = re.compile(
    r"arn:(?P<partition>aws[a-z-]*):iam::(?P<account>[0-9]{12}):role/"
    r"(?P<path>(?:[!-.0-~]+/)*)(?P<name>[A-Za-z0-9_+=,.@-]{1,64})"
)

NO_SUCH_ROLE: Final = "NoSuchEntity"

REDEPLOY: Final = "deploy the stage again, which grants it"


class RoleAction(NamedTuple):
    """Something that a job does as its role.

    Args:
        action: IAM's name for it.
        resource: the ARN it is done to.
        what: a few words for a person.
    """

    action: str
    resource: str
    what: str


class Uses(NamedTuple):
    """What a job uses, as far as its role has to be allowed to.

    Args:
        grader: the version that it invokes.
        data: `s3://…` of what it reads: files, or a folder of invocation logs.
        output: `s3://…/` that it writes below.
    """

    grader: FunctionArn
    data: Sequence[str]
    output: str


def role_findings(
    role: str, uses: Uses, region: str, session: Session | None = None
) -> Iterator[CheckFinding]:
    """Whether Bedrock may take the role on, and whether the role may do what the job does.

    Args:
        role: its ARN.
        uses: what the job uses.
        region: of the job.
        session: boto3's; the caller's own where not given.

    Raises:
        AwsFailed: IAM cannot be reached.
    """
    arn = ARN.fullmatch(role)
    if arn is None:
        yield CheckFinding("failure", "role", f"{role!r} is not the ARN of a role")
        return
    client = control_plane("iam", region, session)
    try:
        with in_words(f"reading the role {arn['name']}"):
            found = client.get_role(RoleName=arn["name"])["Role"]
    except AwsFailed as error:
        if error.code == NO_SUCH_ROLE:
            yield CheckFinding(
                "failure",
                "role",
                f"there is no role {role}: deploy the stage again, which makes it",
            )
            return
        yield _denied(error, "trust", "iam:GetRole")
    else:
        yield trust_finding(found["AssumeRolePolicyDocument"], region, arn["account"])
    yield from _allowed(client, role, list(actions(arn["partition"], uses)))


def actions(partition: str, uses: Uses) -> Iterator[RoleAction]:
    """What the job does as its role; each is simulated.

    Listing the bucket is left out: it is allowed under a condition that a simulation without the
    request does not meet.
    """
    yield RoleAction("lambda:InvokeFunction", str(uses.grader), "invoke the version")
    for place in uses.data:
        below = f"{_object(partition, place)}{'x' if place.endswith('/') else ''}"
        yield RoleAction("s3:GetObject", below, f"read {place}")
    if uses.output:
        below = f"{_object(partition, uses.output)}x"
        yield RoleAction("s3:PutObject", below, f"write below {uses.output}")


def _allowed(client: Any, role: str, asked: Sequence[RoleAction]) -> Iterator[CheckFinding]:
    """A finding for each action that is not allowed, and one for all that are."""
    allowed = []
    for each in asked:
        try:
            decision = _simulated(client, role, each)
        except AwsFailed as error:
            yield _denied(error, "rights", "iam:SimulatePrincipalPolicy")
            return
        if decision == "allowed":
            allowed.append(each.what)
        else:
            yield CheckFinding(
                "failure",
                "rights",
                f"the job's role may not {each.what}: {each.action} on {each.resource} is "
                f"{_words(decision)}; {REDEPLOY}",
            )
    if allowed:
        yield CheckFinding("ok", "rights", f"the job's role may {', '.join(allowed)} (simulated)")


def _simulated(client: Any, role: str, asked: RoleAction) -> str:
    """IAM's decision. The local AWS emulator knows roles by ARNs without a path alone."""
    bare = f"{role.partition('/')[0]}/{role.rpartition('/')[2]}"
    decision = _decision(client, role, asked)
    if decision == "implicitDeny" and bare != role:
        return _decision(client, bare, asked)
    return decision


def _decision(client: Any, role: str, asked: RoleAction) -> str:
    with in_words("simulating what the job's role may do"):
        answer = client.simulate_principal_policy(
            PolicySourceArn=role, ActionNames=[asked.action], ResourceArns=[asked.resource]
        )
    return str(answer["EvaluationResults"][0]["EvalDecision"])


def _words(decision: str) -> str:
    return "denied by a policy" if decision == "explicitDeny" else "not allowed by any policy"


def _denied(error: AwsFailed, question: str, permission: str) -> CheckFinding:
    """What may not be read is not known.

    Raises:
        AwsFailed: it cannot be read for another reason.
    """
    if not error.denied:
        raise error
    return CheckFinding("unknown", question, f"{permission} is not allowed here")


def _object(partition: str, place: str) -> str:
    return f"arn:{partition}:s3:::{place.removeprefix('s3://')}"


def _listed(value: Any) -> Iterable[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
