"""The rules of the emulator's IAM: who may do what, and in whose rights a job acts.

**May they**: the emulator's policy simulation decides, for actions that the emulator does not have.
The documents of a principal are read from the emulator's IAM, what is known of the call is resolved
in them (`aws.iam_matching`), and `SimulateCustomPolicy` decides. A permissions boundary must allow,
too. Not seen: session policies, service control policies, policies of resources.

**Acts of a job itself** use the rights of its role or of its starter. Only Bedrock may assume a
training role, and the emulator holds to that. So the double acts in a role of its own with the same
policies and the same boundary, which it makes for each job and removes when the job ends. The
emulator checks what the job then reads, writes and invokes. Not the same: a policy of a bucket, key
or function that names the role by its ARN does not know the copy. An emulator that does not enforce
permissions gets no copy: nothing would be checked.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.iam_matching import as_list, resolved, statements
from reward_functions.local.loopback_service.server import invalid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from boto3.session import Session

    from reward_functions.cdk.policies.iam import Document
    from reward_functions.local.emulator import LocalAws


READ: Final = {
    "user": ["User", "Group", "LocalManagedPolicy"],
    "role": ["Role", "LocalManagedPolicy"],
    "assumed-role": ["Role", "LocalManagedPolicy"],
}
"""What of an account is read for a principal, by the kind that its ARN names."""


@dataclass(frozen=True, slots=True)
class Policies:
    """The policies of a user or a role.

    Args:
        inline: documents by name; those of a user's groups too.
        attached: documents of managed policies by ARN; those of a user's groups too.
        boundary: ARN of the permissions boundary; "" for none.
        limit: its document.
    """

    inline: dict[str, Document]
    attached: dict[str, Document]
    boundary: str = ""
    limit: Document | None = None


NOTHING: Final = Policies({}, {})

REMEMBERED: Final = 1_000
"""Decisions: the same documents decide the same."""


class Clients:
    """Clients of one emulator, and what its IAM decides.

    Args:
        aws: the emulator.
    """

    def __init__(self, aws: LocalAws) -> None:
        self.aws = aws
        self._lock = Lock()
        self._session: Session | None = None
        self._made: dict[tuple[str, str], Any] = {}
        self._decided = lru_cache(REMEMBERED)(self._decide)

    def root(self, service: str, region: str = "us-east-1") -> Any:
        """A client with all rights of the account."""
        with self._lock:
            if (service, region) not in self._made:
                self._session = self._session or self.aws.session()
                made = self._session.client(service, region_name=region)
                self._made[service, region] = made
            return self._made[service, region]

    def session(self, **credentials: str) -> Session:
        """A session with other credentials."""
        with self._lock:
            return self.aws.session(**credentials)

    @property
    def _iam(self) -> Any:
        return self.root("iam")

    def allow(
        self, policies: Policies, action: str, resource: str, context: Mapping[str, str]
    ) -> bool:
        """Whether policies allow an action.

        Args:
            policies: of the actor.
            action: such as "bedrock:InvokeModel".
            resource: an ARN, or "*".
            context: what is known of the call, by condition key.
        """
        layers = [[*policies.inline.values(), *policies.attached.values()]]
        layers += [[policies.limit or {}]] if policies.boundary else []
        return all(
            self._simulated([resolved(each, context) for each in layer], action, resource)
            for layer in layers
        )

    def require_trust(
        self,
        role_arn: str,
        context: Mapping[str, str],
        service: str,
        actions: Sequence[str],
    ) -> None:
        """Let a service assume a role.

        Args:
            role_arn: the role.
            context: `aws:SourceAccount` and `aws:SourceArn` of the call.
            service: such as `BEDROCK`.
            actions: all of which the trust policy has to allow it.

        Raises:
            Refused: there is no such role, or it does not trust the service for this account and
                job.
        """
        name = role_arn.rpartition("/")[2]
        try:
            role = self._iam.get_role(RoleName=name)["Role"]
        except self._iam.exceptions.NoSuchEntityException:
            role = {"Arn": ""}
        if role["Arn"] != role_arn:
            raise invalid(f"Could not assume the provided role {role_arn}: it does not exist")
        trusted = [
            {key: value for key, value in each.items() if key != "Principal"} | {"Resource": "*"}
            for each in statements(resolved(role["AssumeRolePolicyDocument"], context))
            if isinstance(each.get("Principal"), dict)  # and not "*"
            and service in as_list(each["Principal"].get("Service"))
        ]
        document = [{"Statement": trusted}]
        if not all(self._simulated(document, action, role_arn) for action in actions):
            raise invalid(
                f"Could not assume the provided role {role_arn}: its trust policy does not let "
                f"{service} assume it for this account and this job ({', '.join(actions)})"
            )

    def policies(self, arn: str) -> Policies:
        """The policies of an ARN's principal; nothing for one that is gone.

        Args:
            arn: of a user, a role, or a session of one.
        """
        kind, _, rest = arn.split(":", 5)[5].partition("/")
        # The path of a role is not part of its sessions' ARNs; names are unique without it.
        name = rest.partition("/")[0] if kind == "assumed-role" else rest.rpartition("/")[2]
        if kind not in READ:
            return NOTHING
        # Roles and their documents are most of an account: a user's are read without them.
        found = self._iam.get_account_authorization_details(Filter=READ[kind])
        if kind == "user":
            mine = [each for each in found["UserDetailList"] if each["UserName"] == name]
            groups = {group for user in mine for group in user["GroupList"]}
            mine += [each for each in found["GroupDetailList"] if each["GroupName"] in groups]
        else:
            mine = [each for each in found["RoleDetailList"] if each["RoleName"] == name]
        return self._given(mine, found["Policies"]) if mine else NOTHING

    def _given(self, mine: list[dict[str, Any]], managed: list[dict[str, Any]]) -> Policies:
        """The policies of a user with its groups, or of a role."""
        local = {policy["Arn"]: _default(policy) for policy in managed}
        inline = {
            f"{number}-{policy['PolicyName']}": policy["PolicyDocument"]
            for number, each in enumerate(mine)
            for kind in ("UserPolicyList", "GroupPolicyList", "RolePolicyList")
            for policy in each.get(kind, [])
        }
        arns = [policy["PolicyArn"] for each in mine for policy in each["AttachedManagedPolicies"]]
        attached = {arn: local.get(arn) or self._published(arn) for arn in arns}
        boundary = self._boundary(mine[0])
        limit = (local.get(boundary) or self._published(boundary)) if boundary else None
        return Policies(inline, attached, boundary, limit)

    def _boundary(self, principal: dict[str, Any]) -> str:
        """Its permissions boundary, which the details of the account leave out."""
        if "UserName" in principal:
            found = self._iam.get_user(UserName=principal["UserName"])["User"]
        else:
            found = self._iam.get_role(RoleName=principal["RoleName"])["Role"]
        return str(found.get("PermissionsBoundary", {}).get("PermissionsBoundaryArn", ""))

    def _published(self, arn: str) -> Document:
        """A policy that AWS publishes; it grants nothing where the emulator does not have it."""
        try:
            version = self._iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
            found = self._iam.get_policy_version(PolicyArn=arn, VersionId=version)
        except self._iam.exceptions.NoSuchEntityException:
            return {}
        document: Document = found["PolicyVersion"]["Document"]
        return document

    def _simulated(self, documents: list[Document], action: str, resource: str) -> bool:
        inputs = tuple(json.dumps(each) for each in documents if each.get("Statement"))
        return bool(inputs) and self._decided(inputs, action, resource)

    def _decide(self, inputs: tuple[str, ...], action: str, resource: str) -> bool:
        (result,) = self._iam.simulate_custom_policy(
            PolicyInputList=inputs, ActionNames=[action], ResourceArns=[resource]
        )["EvaluationResults"]
        return bool(result["EvalDecision"] == "allowed")


def _default(policy: dict[str, Any]) -> Document:
    """The document of a managed policy's default version."""
    versions = policy["PolicyVersionList"]
    return next((each["Document"] for each in versions if each["IsDefaultVersion"]), {})


PREFIX: Final = "simulation-acts-for-"
"""How the copies' names begin."""

SECONDS: Final = 12 * 3600
"""How long a session lasts: the longest that IAM gives. A simulated job takes minutes."""

MAX_SESSION_NAME: Final = 64
"""Characters of a session's name, of which STS takes 2 at least: an id may be shorter."""


@contextmanager
def acting(
    clients: Clients, account: str, policies: Policies | None, job: str
) -> Iterator[Session]:
    """A session with exactly these rights, for as long as the block runs.

    Args:
        clients: of the emulator.
        account: whose role it is.
        policies: the rights; None for those of the account's root.
        job: an id, the end of the copy's name.
    """
    if policies is None or not clients.aws.enforcing:
        yield clients.session()
        return
    iam, name = clients.root("iam"), f"{PREFIX}{job}"
    boundary = {"PermissionsBoundary": policies.boundary} if policies.boundary else {}
    role = iam.create_role(
        RoleName=name,
        AssumeRolePolicyDocument=json.dumps(_trust(account)),
        Description="simulation: the training double acts in it while a job runs",
        MaxSessionDuration=SECONDS,
        **boundary,
    )["Role"]
    try:
        for policy, document in policies.inline.items():
            iam.put_role_policy(
                RoleName=name, PolicyName=policy, PolicyDocument=json.dumps(document)
            )
        for arn in policies.attached:
            iam.attach_role_policy(RoleName=name, PolicyArn=arn)
        credentials = clients.root("sts").assume_role(
            RoleArn=role["Arn"], RoleSessionName=name[:MAX_SESSION_NAME], DurationSeconds=SECONDS
        )["Credentials"]
        yield clients.session(
            aws_access_key_id=credentials["AccessKeyId"],
            aws_secret_access_key=credentials["SecretAccessKey"],
            aws_session_token=credentials["SessionToken"],
        )
    finally:
        _remove(iam, name)


def _trust(account: str) -> dict[str, Any]:
    owner = {"AWS": f"arn:aws:iam::{account}:root"}
    statement = {"Effect": "Allow", "Principal": owner, "Action": "sts:AssumeRole"}
    return {"Version": "2012-10-17", "Statement": [statement]}


def _remove(iam: Any, name: str) -> None:
    role = {"RoleName": name}
    for policy in iam.list_role_policies(**role)["PolicyNames"]:
        iam.delete_role_policy(**role, PolicyName=policy)
    for attached in iam.list_attached_role_policies(**role)["AttachedPolicies"]:
        iam.detach_role_policy(**role, PolicyArn=attached["PolicyArn"])
    iam.delete_role(**role)
