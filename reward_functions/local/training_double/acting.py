"""What a job does itself, with the rights of its role or of whoever started it, and no others.

Only Bedrock may assume a training role, and the emulator holds to that. So the double acts in a
role of its own with the same policies and the same boundary, which it makes for each job and
removes when the job ends. What the job then reads, writes and invokes is checked by the emulator.

Not the same: a policy of a bucket, key or function that names the role by its ARN does not know the
copy. An emulator that does not enforce permissions gets no copy: nothing would be checked.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boto3.session import Session

    from reward_functions.local.training_double.clients import Clients
    from reward_functions.local.training_double.rights import Policies

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
