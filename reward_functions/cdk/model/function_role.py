"""What a deployment's function may do: its role's policies, measured and deployed alike."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from reward_functions.aws.arn import GENERATION
from reward_functions.aws.regions import partition_of
from reward_functions.cdk.limits.quotas import ACCOUNT, MAX_INLINE_POLICIES, OverLimit
from reward_functions.cdk.policies import own_rights, permissions
from reward_functions.cdk.policies.iam import Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.cdk.model.deployment import Deployment
    from reward_functions.cdk.model.stages import Stage
    from reward_functions.cdk.policies.iam import Document


def policies(place: Place, stage: Stage, deployment: Deployment) -> dict[str, Document]:
    """The policies of a function's role by their names: its log, its judge, what it is given.

    Args:
        place: where the stage is.
        stage: its stage.
        deployment: checked.
    """
    name = stage.names.function(deployment.name)
    made = {"logs": permissions.write_logs(place.arn("logs", f"log-group:/aws/lambda/{name}"))}
    if judge := deployment.lambda_settings(stage.names).judge:
        asking = permissions.ask_judge(place, judge, emulated=stage.emulated)
        # IAM takes no policy without a statement: a local endpoint may need neither.
        made |= {"judge": asking} if asking["Statement"] else {}
    if deployment.tracing:
        made["traces"] = permissions.send_traces()
    functions = f"{name}{GENERATION}*" if deployment.immutable else name
    return made | _given(place, deployment, [place.arn("lambda", f"function:{functions}")])


def _given(place: Place, given: Deployment, functions: Sequence[str]) -> dict[str, Document]:
    made = {}
    if given.allow:
        made["stated"] = own_rights.stated(given.allow)
    if given.secrets:
        secrets = [(each.arn, each.key or "") for each in given.secrets.values()]
        made["secrets"] = own_rights.read_secrets(place, secrets)
    if given.vpc:
        made["network"] = own_rights.join_network(place, functions)
    return made


def check_role(stage: Stage, deployment: Deployment) -> None:
    """Whether IAM takes the role of a deployment's function.

    Raises:
        OverLimit: its policies are longer than a role's may be.
    """
    place = Place(partition_of(stage.region), stage.region, ACCOUNT)
    made = policies(place, stage, deployment).values()
    size = sum(len(json.dumps(each, separators=(",", ":"))) for each in made)
    if size > MAX_INLINE_POLICIES:
        raise OverLimit(
            f"allow: the policies of its role take {size} characters, and IAM's most is "
            f"{MAX_INLINE_POLICIES}: put actions of the same resources into one statement, or name "
            "a common beginning of the resources with its reason"
        )
