"""CompleteRollout and UpdateReward: as the model has them, and as the older alpha API did.

| API | path | job | credential |
| --- | --- | --- | --- |
| modelled | `/complete-rollout`, `/update-reward` | `X-Amzn-SageMaker-Job-Arn` | SigV4, bearer |
| sagemaker.train.rft | the same | `JobArn` in the body | bearer |
| alpha | `/CompleteTrajectory`, `/UpdateReward` | `X-Rft-Job-Arn`, or none | SigV4 |

Requests and answers are held to botocore's model. The alpha API has none: its requests are read by
the same one, and its trajectory may be named by `X-Trajectory-Id` as well. aws-rft-sdk names no job
in a report: it is that of the one trajectory of this id.
"""

from __future__ import annotations

import json
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.local.loopback_service import wire
from reward_functions.local.loopback_service.requests import (
    SMALL,
    Refused,
    Request,
    invalid,
    read_json,
)
from reward_functions.local.runtime_double.state import TURNS, Report
from reward_functions.rollouts.request.headers import JOB_HEADER

if TYPE_CHECKING:
    from collections.abc import Callable

    from botocore.model import OperationModel

    from reward_functions.local.runtime_double.credentials import Credential
    from reward_functions.local.runtime_double.trajectory import Key

SERVICE: Final = "sagemakerjobruntime"

ALPHA_JOB: Final = "X-Rft-Job-Arn"
ALPHA_TRAJECTORY: Final = "X-Trajectory-Id"
ALPHA_SPAN: Final = "X-Span-Id"


class _Route(NamedTuple):
    operation: str
    model: str
    alpha: bool = False


ROUTES: Final = {
    "/complete-rollout": _Route("complete", "CompleteRollout"),
    "/update-reward": _Route("reward", "UpdateReward"),
    "/CompleteTrajectory": _Route("complete", "CompleteRollout", alpha=True),
    "/UpdateReward": _Route("reward", "UpdateReward", alpha=True),
}


class Arrived(NamedTuple):
    """A report, and what answers it."""

    key: Key
    report: Report
    operation: OperationModel

    @property
    def answer(self) -> bytes:
        """The body of the answer to a report that was taken."""
        return wire.answer(self.operation, {})


def read_report(
    request: Request, credential: Credential, job_of: Callable[[str], str] = lambda _: ""
) -> Arrived:
    """The report in a request, whose path is one of `ROUTES`.

    Args:
        request: as it came.
        credential: what it is signed with.
        job_of: the job of a trajectory that is named alone; "" where that is not known.

    Raises:
        Refused: it is not what the model asks for, or its API does not take the credential.
    """
    route = ROUTES[request.path]
    if len(request.body) > SMALL:
        raise invalid(f"a report has {SMALL} bytes at most")
    if route.alpha:
        if credential != "sigv4":
            raise Refused("AccessDeniedException", "the alpha API takes signed requests alone")
        request = _from_alpha(request, job_of)
    elif credential == "bearer":
        request = _with_job_of_body(request)
    operation = _model(route.model)
    given = wire.parameters(operation, {}, request)
    key = (given["JobArn"], given["TrajectoryId"])
    report = Report(route.operation, _body(given), given.get("ClientToken", ""), credential)
    return Arrived(key, report, operation)


@cache
def _model(name: str) -> OperationModel:
    (route,) = wire.routes(SERVICE, [name])
    return route.operation


def _body(given: dict[str, Any]) -> dict[str, Any]:
    """What a report says."""
    if "Rewards" not in given:
        return {"Status": given.get("Status", "ready")}
    try:
        finite = all(map(isfinite, given["Rewards"]))
    except OverflowError:  # an integer that no double holds
        finite = False
    if len(given["Rewards"]) > TURNS:
        raise invalid(f"Rewards holds more than {TURNS} values: a trajectory has no more turns")
    if not finite:
        raise invalid("Value at 'Rewards' failed to satisfy constraint: Member must be a double")
    return {"Rewards": given["Rewards"]}


def _with_job_of_body(request: Request) -> Request:
    """The request with its job in the header, where it has it in its body."""
    body = read_json(request.body)
    job = body.get("JobArn") if isinstance(body, dict) else None
    header = request.header(JOB_HEADER)
    if not isinstance(job, str) or header == job:
        return request
    if header:
        raise invalid("JobArn is another one in the body than in the header")
    return request._replace(headers=(*request.headers, (JOB_HEADER, job)))


def _from_alpha(request: Request, job_of: Callable[[str], str]) -> Request:
    """The same request as the current API has it."""
    body = read_json(request.body)
    if not isinstance(body, dict):
        raise invalid("the request body is not a JSON object")
    trajectory = request.header(ALPHA_TRAJECTORY)
    if trajectory and body.setdefault("TrajectoryId", trajectory) != trajectory:
        raise invalid("TrajectoryId is another one in the body than in the header")
    job = request.header(ALPHA_JOB) or job_of(str(body.get("TrajectoryId", "")))
    headers = tuple(each for each in request.headers if each[0].lower() != JOB_HEADER.lower())
    if job:
        headers = (*headers, (JOB_HEADER, job))
    return request._replace(headers=headers, body=json.dumps(body).encode())
