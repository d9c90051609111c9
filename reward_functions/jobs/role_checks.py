"""The role that a job runs as: who may take it on, and what it may do.

    read by                        a finding about
    iam:GetRole                    its trust: its service, for jobs of this account
    iam:SimulatePrincipalPolicy    each row of `actions`

The OpenAI-compatible API takes no role: its jobs invoke the grader with the caller's own rights.

    statements that apply to the service's call    the role is
    a Deny, in spite of all else not trusted
    one whose conditions are not known             unknown
    an Allow                                       trusted
    no statement                                   not trusted

A service makes one call or, for sessions with tags, two; the role has to be trusted for each. A
statement applies where its principal is the service or "*", and its action is of the call, stars
and NotAction included. Conditions are resolved by `iam_matching`; their keys compare in any
case. NotPrincipal is unknown.

Sources: "AWS JSON policy elements: Principal" and "Policy evaluation logic" in the IAM user guide;
"Access and security for custom model jobs" in the Bedrock user guide; those of
`cdk.policies.sagemaker` for SageMaker's jobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.aws.arn import Arn, FunctionArn
from reward_functions.aws.calls import OF_SERVICES, client
from reward_functions.aws.deployed.findings import CheckFinding, failure, ok, unknown
from reward_functions.aws.failures import AwsFailed, in_words
from reward_functions.aws.iam_matching import as_list, like, resolved
from reward_functions.jobs.services import CUSTOM, SERVICES, DriverName, Service

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from boto3.session import Session


NO_SUCH_ROLE: Final = "NoSuchEntity"


REDEPLOY: Final = "deploy the stage again, which grants it"


class RoleAction(NamedTuple):
    """Something that a job does as its role.

    Args:
        action: IAM's name for it.
        resource: the ARN it is done to.
        what: a few words for a person.
        remedy: what to do where it is not allowed.
    """

    action: str
    resource: str
    what: str
    remedy: str = REDEPLOY


class Uses(NamedTuple):
    """The resources of a job, as far as its role must have rights to them.

    Args:
        grader: what it invokes for rewards; None where its reward is no function of ours.
        data: `s3://…` of what it reads: files, or a folder of invocation logs.
        output: `s3://…/` that it writes below.
        driver: whose job it is.
        evaluator: ARN of the hub's content by which SageMaker knows the grader; "" for none.
        base: ARN of the hub's content that is the base; "" for none.
        packages: the name of the group for what it makes; "" for any.
        mlflow: ARN of the app for its figures; "" for any.
        judge: the id of the Bedrock model that judges; "" for none.
        agent: ARN of the forwarder or the runtime that it asks; "" for none.
    """

    grader: FunctionArn | None
    data: Sequence[str]
    output: str
    driver: DriverName = CUSTOM
    evaluator: str = ""
    base: str = ""
    packages: str = ""
    mlflow: str = ""
    judge: str = ""
    agent: str = ""


def role_findings(
    role: str, uses: Uses, region: str, session: Session | None = None
) -> Iterator[CheckFinding]:
    """Whether its service may take the role on, and whether the role may do what the job does.

    Args:
        role: its ARN.
        uses: what the job uses.
        region: of the job.
        session: boto3's; the caller's own where not given.

    Raises:
        AwsFailed: IAM cannot be reached.
    """
    arn = Arn.read(role, "iam", r"role/(?:.+/)?(?P<name>[^/]+)")
    if arn is None:
        stated = f"{role!r} is not the ARN of a role" if role else "the stage has no such role"
        remedy = _remedy(uses)
        yield failure("role", f"{stated}: {remedy}" if remedy else stated)
        return
    iam = client("iam", region, session)
    try:
        with in_words(f"reading the role {arn['name']}", OF_SERVICES):
            found = iam.get_role(RoleName=arn["name"])["Role"]
    except AwsFailed as error:
        if error.code == NO_SUCH_ROLE:
            yield failure(
                "role", f"there is no role {role}: deploy the stage again, which makes it"
            )
            return
        yield _denied(error, "trust", "iam:GetRole")
    else:
        document = found["AssumeRolePolicyDocument"]
        yield trust_finding(document, region, arn.account, SERVICES[uses.driver])
    place = f"{region}:{arn.account}"
    yield from _allowed(iam, role, list(actions(arn.partition, uses, place)))


def _remedy(uses: Uses) -> str:
    role = SERVICES[uses.driver].role
    return role.remedy if role else ""


def actions(partition: str, uses: Uses, place: str) -> Iterator[RoleAction]:
    """The actions of a job in its role; each is simulated.

    Listing the bucket is left out: it is allowed under a condition that a simulation without the
    request does not meet.

    Args:
        partition: such as `aws`.
        uses: what the job uses.
        place: `REGION:ACCOUNT` of the job.
    """
    service = SERVICES[uses.driver]
    if uses.grader is not None:
        yield RoleAction("lambda:InvokeFunction", str(uses.grader), "invoke the version")
    for read in uses.data:
        below = f"{_object(partition, read)}{'x' if read.endswith('/') else ''}"
        yield RoleAction("s3:GetObject", below, f"read {read}")
    if uses.output:
        below = f"{_object(partition, uses.output)}x"
        yield RoleAction("s3:PutObject", below, f"write below {uses.output}")
    if uses.agent:
        runtime = ":bedrock-agentcore:" in uses.agent
        action = "bedrock-agentcore:InvokeAgentRuntime" if runtime else "lambda:InvokeFunction"
        yield RoleAction(action, uses.agent, "ask the agent", _remedy(uses))
    if service.log_group:
        yield from _of_sagemaker(partition, uses, place, service.log_group)


def _of_sagemaker(partition: str, uses: Uses, place: str, group: str) -> Iterator[RoleAction]:
    """What every job of SageMaker's does beside; `x` stands for what is made with the job."""
    ours = f"arn:{partition}:sagemaker:{place}"
    for content, what in ((uses.evaluator, "read the evaluator"), (uses.base, "read the base")):
        if content:
            yield RoleAction("sagemaker:DescribeHubContent", content, what)
    if uses.judge:
        region = place.partition(":")[0]
        judge = f"arn:{partition}:bedrock:{region}::foundation-model/{uses.judge}"
        yield RoleAction("bedrock:InvokeModel", judge, f"ask the judge {uses.judge}")
    package = f"{ours}:model-package/{uses.packages or 'x'}/1"
    yield RoleAction("sagemaker:CreateModelPackage", package, "make a model package")
    app = uses.mlflow or f"{ours}:mlflow-app/x"
    yield RoleAction("sagemaker-mlflow:LogBatch", app, "write figures")
    stream = f"arn:{partition}:logs:{place}:log-group:{group}:log-stream:x"
    yield RoleAction("logs:PutLogEvents", stream, "write logs")


def _allowed(iam: Any, role: str, asked: Sequence[RoleAction]) -> Iterator[CheckFinding]:
    """A finding for each action that is not allowed, and one for all that are."""
    allowed = []
    for each in asked:
        try:
            decision = _simulated(iam, role, each)
        except AwsFailed as error:
            yield _denied(error, "rights", "iam:SimulatePrincipalPolicy")
            return
        if decision == "allowed":
            allowed.append(each.what)
        else:
            yield failure(
                "rights",
                f"the job's role may not {each.what}: {each.action} on {each.resource} is "
                f"{_words(decision)}; {each.remedy}",
            )
    if allowed:
        yield ok("rights", f"the job's role may {', '.join(allowed)} (simulated)")


def _simulated(iam: Any, role: str, asked: RoleAction) -> str:
    """IAM's decision. The local AWS emulator knows roles by ARNs without a path alone."""
    bare = f"{role.partition('/')[0]}/{role.rpartition('/')[2]}"
    decision = _decision(iam, role, asked)
    if decision == "implicitDeny" and bare != role:
        return _decision(iam, bare, asked)
    return decision


def _decision(iam: Any, role: str, asked: RoleAction) -> str:
    with in_words("simulating what the job's role may do", OF_SERVICES):
        answer = iam.simulate_principal_policy(
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
    return unknown(question, f"{permission} is not allowed here")


def _object(partition: str, place: str) -> str:
    return f"arn:{partition}:s3:::{place.removeprefix('s3://')}"


def trust_finding(
    document: Mapping[str, Any], region: str, account: str, service: Service
) -> CheckFinding:
    """Whether a trust policy lets a service's jobs of this account take the role on.

    Args:
        document: the policy.
        region: of the job.
        account: that it belongs to.
        service: whose job it is.
    """
    role = service.role
    if not role:
        raise RuntimeError(f"jobs of {service.called} run as no role")
    partition = next((name for begin, name in PARTITIONS if region.startswith(begin)), "aws")
    job = f"arn:{partition}:{service.owner}:{region}:{account}:{role.example}"
    known = {"aws:SourceAccount": account, "aws:SourceArn": job}
    policy, taker = resolved(dict(document), known), role.principal
    verdicts = {action: _trusted(policy, taker, action) for action in role.assumes}
    if DENIED in verdicts.values():
        return failure("trust", f"the role's trust policy denies {taker}")
    if missing := [action for action, trusted in verdicts.items() if trusted is NEVER]:
        by = "" if len(missing) == len(verdicts) else f" by {missing[0]}"
        return failure(
            "trust",
            f"the role does not trust {taker}{by} for jobs of account {account} in {region}: "
            "deploy the stage again, or give the role the trust of `docs/deploy.md`",
        )
    if UNKNOWN in verdicts.values():
        return unknown("trust", "the trust policy has a condition that is not known here")
    return ok("trust", f"{taker} may take the role on, for jobs of {account}")


PARTITIONS: Final = (("cn-", "aws-cn"), ("us-gov-", "aws-us-gov"))
"""By the beginning of a region's name; `aws` for all others."""

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
