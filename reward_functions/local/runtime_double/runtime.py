"""Answer agents, on any port: policy calls, reports, controls.

A double does not know the secrets of its callers. The worth of a signature is not checked: its form
and its scope are, that its time is not over, and that it covers the host and its moment.

| API | path | job | credential |
| --- | --- | --- | --- |
| policy calls | `/v1/chat/completions`, `/sample`, `/sample-with-response-stream` | header | both |
| modelled reports | `/complete-rollout`, `/update-reward` | `X-Amzn-SageMaker-Job-Arn` | both |
| sagemaker.train.rft | the same | `JobArn` in the body | bearer |
| alpha | `/CompleteTrajectory`, `/UpdateReward` | `X-Rft-Job-Arn`, or none | SigV4 |

Requests and answers are held to botocore's model. The alpha API has no such reader: its requests
are read by the same one, and its trajectory may be named by `X-Trajectory-Id` as well. A report of
aws-rft-sdk names no job: it is that of the one trajectory of this id. The answer to a policy call
is recorded as a turn before it is sent.

Routes of a double alone are under `/_runtime/`. Programs of this machine may do all of it, pages of
other sites may not:

    GET  /_runtime/                 one page of HTML, without a text of a rollout
    GET  /_runtime/counts           how many there are of what
    GET  /_runtime/trajectories/ID  [?job=ARN][&texts=last] with turns and reports
    POST /_runtime/trajectories     {"job": ARN, "trajectory": ID}: it exists from now on

Source: SigV4, and the bearer token of sagemaker-core 2.27's `token_generator`.
"""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from http import HTTPStatus
from math import isfinite
from threading import Event
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias
from urllib.parse import parse_qs, unquote

from reward_functions.aws.request_validation import problems, service_model
from reward_functions.local.loopback_service import wire
from reward_functions.local.loopback_service.server import (
    SMALL,
    LoopbackServer,
    Refused,
    Request,
    invalid,
    missing,
    read_object,
)
from reward_functions.local.loopback_service.signing import (
    SKEW,
    TokenKind,
    moment_of,
    of_headers,
    presigned,
)
from reward_functions.local.runtime_double.chat import completed, events, read_chat
from reward_functions.local.runtime_double.state import (
    Report,
    RuntimeSettings,
    Trajectories,
    Turn,
)
from reward_functions.reports.pages.page import Page, Section
from reward_functions.reports.sheets import Sheet
from reward_functions.rollouts.drive.agents import ENDED, SeenRollout, seen_in
from reward_functions.rollouts.request.headers import JOB_HEADER, TRAJECTORY_HEADER

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from botocore.model import OperationModel

    from reward_functions.local.loopback_service.server import Reply
    from reward_functions.local.runtime_double.chat import Policy
    from reward_functions.local.runtime_double.faults import FaultPlan
    from reward_functions.local.runtime_double.state import Key, Trajectory
    from reward_functions.reports.pages.page import Part


SIGNED_FOR: Final = "sagemaker"
"""That requests and tokens are signed for: the model's `signingName`."""

TOKEN: Final = TokenKind(
    "sagemaker-api-key-", "sagemaker.amazonaws.com", SIGNED_FOR, "a SageMaker API key"
)
BEARER: Final = "Bearer "

Credential: TypeAlias = Literal["sigv4", "bearer"]

EXPIRED: Final = "The security token included in the request is expired"

COVERED: Final = frozenset({"host", "x-amz-date"})


def credential_of(request: Request, now: float) -> Credential:
    """The kind of credential that a call carries.

    Args:
        request: whole.
        now: seconds since the epoch.

    Raises:
        Refused: none, one that is not well-formed, or one whose time is over.
    """
    moment = datetime.fromtimestamp(now, UTC)
    authorization = request.header("authorization")
    if authorization.startswith(BEARER):
        token = presigned(authorization.removeprefix(BEARER).strip(), TOKEN)
        if moment >= token.expires:
            raise Refused("ExpiredTokenException", EXPIRED)
        return "bearer"
    signature = of_headers(request, SIGNED_FOR)
    signed = set(signature.headers)
    if not COVERED <= signed <= request.headers.keys():
        raise Refused(
            "IncompleteSignatureException",
            "SignedHeaders names host, x-amz-date and headers of the request",
        )
    stated = moment_of(signature.moment)
    of_now = stated is not None and abs(moment - stated) <= SKEW
    if not (of_now and signature.moment.startswith(signature.day)):
        raise Refused("InvalidSignatureException", "Signature expired, or of another day")
    return "sigv4"


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


def read_report(
    request: Request, credential: Credential, job_of: Callable[[str], str] = lambda _: ""
) -> tuple[Key, Report]:
    """The report in a request, whose path is one of `ROUTES`, and the trajectory that it is of.

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
    given = wire.parameters(_model(route.model), {}, request)
    token = given.get("ClientToken", "")
    report = Report(route.operation, _body(given), token, credential)
    return (given["JobArn"], given["TrajectoryId"]), report


def _model(name: str) -> OperationModel:
    return service_model(SERVICE).operation_model(name)


def _body(given: dict[str, Any]) -> dict[str, Any]:
    """What a report says."""
    if "Rewards" not in given:
        return {"Status": given.get("Status", "ready")}
    try:
        finite = all(map(isfinite, given["Rewards"]))
    except OverflowError:  # an integer that no double holds
        finite = False
    if not finite:
        raise invalid("Value at 'Rewards' failed to satisfy constraint: Member must be a double")
    return {"Rewards": given["Rewards"]}


def _with_job_of_body(request: Request) -> Request:
    """The request with its job in the header, where it has it in its body."""
    job = read_object(request.body).get("JobArn")
    header = request.header(JOB_HEADER)
    if not isinstance(job, str) or header == job:
        return request
    if header:
        raise invalid("JobArn is another one in the body than in the header")
    return request._replace(headers={**request.headers, JOB_HEADER.lower(): job})


def _from_alpha(request: Request, job_of: Callable[[str], str]) -> Request:
    """The same request as the current API has it."""
    body = read_object(request.body)
    trajectory = request.header(ALPHA_TRAJECTORY)
    if trajectory and body.setdefault("TrajectoryId", trajectory) != trajectory:
        raise invalid("TrajectoryId is another one in the body than in the header")
    job = request.header(ALPHA_JOB) or job_of(str(body.get("TrajectoryId", "")))
    headers = {**request.headers, JOB_HEADER.lower(): job}
    return request._replace(headers=headers, body=json.dumps(body).encode())


OPENAI: Final = "/v1/chat/completions"

STREAMED: Final = {OPENAI: False, "/sample": False, "/sample-with-response-stream": True}
"""The paths, and whether an answer comes in pieces whatever the request says."""

HEADERS: Final = {ALPHA_JOB: JOB_HEADER, ALPHA_TRAJECTORY: TRAJECTORY_HEADER}

EVENTS: Final = {"Content-Type": "text/event-stream"}


def key_of(request: Request) -> Key:
    """The job and the trajectory of a policy call.

    Raises:
        Refused: a header is missing, or holds what no job or trajectory is called.
    """
    alpha = {
        name.lower(): request.header(theirs)
        for theirs, name in HEADERS.items()
        if request.header(theirs)
    }
    request = request._replace(headers={**request.headers, **alpha})
    given = wire.parameters(_model("Sample"), {}, request)
    return given["JobArn"], given["TrajectoryId"]


def sampled(
    trajectories: Trajectories, policy: Policy, key: Key, request: Request, now: float
) -> Reply:
    """The answer to a policy call, which is a turn from now on.

    Args:
        trajectories: of the double.
        policy: that answers.
        key: of the call.
        request: whole.
        now: seconds since the epoch.

    Raises:
        Refused: it is no chat request, its trajectory is complete, or the policy has no answer.
    """
    chat = read_chat(request.body)
    trajectories.require_pending(key)
    answer = policy.answer(chat, key[1])
    streamed = bool(chat.stream or STREAMED[request.path])
    whole = completed(f"chatcmpl-{key[1][:64]}-{len(chat.messages)}", now, chat, answer)
    turn = Turn(
        request=request.body,
        response=_json(whole["choices"][0]["message"]),
        prompt_tokens=whole["usage"]["prompt_tokens"],
        completion_tokens=whole["usage"]["completion_tokens"],
        tool_calls=len(answer.tool_calls),
        span_id=request.header(ALPHA_SPAN)[:256],
        streamed=streamed,
    )
    trajectories.add_turn(key, turn)
    if streamed:
        return HTTPStatus.OK, EVENTS, events(whole, with_usage=chat.with_usage)
    return HTTPStatus.OK, {}, _json(whole)


TITLE: Final = "Runtime double"
NOTE: Final = (
    "A stand-in for the SageMaker job runtime on this machine: no trainer reads these rewards, and "
    "no model learns from them."
)
SHOWN: Final = 200
"""Trajectories that the page lists: the latest."""

HEADINGS: Final = {
    "states": ("Trajectories by state", "state", "trajectories"),
    "reports": ("Reports that arrived", "report", "calls"),
    "faults": ("Accidents by plan", "accident", "calls"),
    "refusals": ("Refusals", "error", "calls"),
}


def page_of(trajectories: Trajectories) -> str:
    """The whole page."""
    counts = trajectories.counts()
    tallied = [
        Section(
            title,
            [Sheet(title, [first, second], [[name, str(n)] for name, n in counts[kind].items()])],
        )
        for kind, (title, first, second) in HEADINGS.items()
        if any(counts[kind].values())
    ]
    return Page(
        TITLE,
        warnings=[NOTE],
        facts=[
            ("accidents", str(trajectories.faults).replace(",", ", ") or "none"),
            ("turns", str(counts["turns"]["recorded"])),
        ],
        sections=[*tallied, Section("Trajectories", list(_listed(trajectories.list())))],
    ).html()


def _listed(found: list[Trajectory]) -> Iterator[Part]:
    if not found:
        yield "No trajectory yet."
        return
    if len(found) > SHOWN:
        yield f"{len(found) - SHOWN:,} older ones are not shown."
    yield _sheet(found)


def _sheet(found: list[Trajectory]) -> Sheet:
    return Sheet(
        title="Trajectories",
        heads=["trajectory", "state", "turns", "rewards", "reports", "job"],
        rows=[
            [
                each.trajectory_id,
                each.state,
                str(len(each.turns)),
                shown_rewards(each),
                str(len(each.deliveries)),
                each.job_arn.rpartition("/")[2],
            ]
            for each in found[: -SHOWN - 1 : -1]
        ],
        words=["job", "state", "rewards"],
    )


def shown_rewards(trajectory: Trajectory, most: int = 8) -> str:
    """The rewards of a trajectory, the first of many; "-" for none."""
    rewards = trajectory.rewards
    if rewards is None:
        return "-"
    more = ", …" if len(rewards) > most else ""
    return ", ".join(f"{reward:g}" for reward in rewards[:most]) + more


PREFIX: Final = "/_runtime"
ONE: Final = f"{PREFIX}/trajectories/"

HTML: Final = {"Content-Type": "text/html; charset=utf-8"}


def controlled(trajectories: Trajectories, request: Request) -> Reply:
    """What a control answers.

    Raises:
        Refused: there is no such thing, or it cannot be done.
    """
    if request.method == "GET" and request.path in {PREFIX, f"{PREFIX}/"}:
        return HTTPStatus.OK, HTML, page_of(trajectories).encode()
    query = {name: values[0] for name, values in parse_qs(request.query).items()}
    if request.method == "GET" and request.path.startswith(ONE):
        found = _one(trajectories, unquote(request.path.removeprefix(ONE)), query)
        return HTTPStatus.OK, {}, _json(found.json(last=query.get("texts") == "last"))
    wanted = f"{request.method} {request.path.removeprefix(PREFIX)}"
    if wanted not in ACTIONS:
        known = ", ".join(action.replace("/", f"{PREFIX}/") for action in ACTIONS)
        raise missing(f"{request.method} {request.path[:128]} is none of {known}")
    given = read_object(request.body) if request.body else {}
    return HTTPStatus.OK, {}, _json(ACTIONS[wanted](trajectories, query | given))


def _one(trajectories: Trajectories, wanted: str, query: dict[str, str]) -> Trajectory:
    found = trajectories.named(wanted, query.get("job"))
    if not found:
        raise missing("no trajectory has this id")
    if len(found) > 1:
        raise invalid("trajectories of several jobs have this id: add ?job=ARN")
    return found[0]


def _register(trajectories: Trajectories, given: dict[str, Any]) -> dict[str, Any]:
    named = {"JobArn": given.get("job"), "TrajectoryId": given.get("trajectory")}
    if wrong := [*problems(_model("CompleteRollout").input_shape, named)]:
        raise invalid("; ".join(wrong))
    key = (str(named["JobArn"]), str(named["TrajectoryId"]))
    trajectories.register(key)
    return trajectories.get(key).summary()


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


ACTIONS: Final[dict[str, Callable[[Trajectories, dict[str, Any]], Any]]] = {
    "GET /counts": lambda every, _: every.counts() | {"plan": str(every.faults)},
    "POST /trajectories": _register,
}


ACCIDENTS: Final = {
    "throttle": ("ThrottlingException", "Rate exceeded"),
    "error": ("InternalServiceError", "An internal service error occurred"),
    "expired": ("ExpiredTokenException", EXPIRED),
}
"""Faults that are an answer, and keep the service from doing anything."""

MESSAGE_LONGEST: Final = 1024
"""Of the model's `FailureReason`."""


class Runtime:
    """The service of one double, without a port.

    Args:
        settings: of the double.
        finished: called with each trajectory that has finished, in the thread of its last report.
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        settings: RuntimeSettings | None = None,
        finished: Callable[[Trajectory], None] | None = None,
        clock: Callable[[], float] = time,
    ) -> None:
        self.settings = settings or RuntimeSettings()
        self.trajectories = Trajectories(self.settings, clock)
        self._finished, self._clock = finished, clock
        self._ending = Event()

    def register(self, job_arn: str, trajectory_id: str) -> None:
        """Make a trajectory, as the trainer does before a rollout; a second call makes nothing.

        Raises:
            Refused: it holds as many as it may.
        """
        self.trajectories.register((job_arn, trajectory_id))

    def trajectory(self, job_arn: str, trajectory_id: str) -> Trajectory:
        """A trajectory as it is now.

        Raises:
            KeyError: nobody has made it.
        """
        return self.trajectories.get((job_arn, trajectory_id))

    def wait(self, job_arn: str, trajectory_id: str, timeout: float) -> Trajectory:
        """A trajectory once it has finished, or as it is when the time is over.

        Args:
            job_arn: of its job.
            trajectory_id: in the job.
            timeout: seconds.

        Raises:
            KeyError: nobody has made it by then.
        """
        return self.trajectories.wait((job_arn, trajectory_id), timeout)

    @property
    def faults(self) -> FaultPlan:
        """The plan of accidents; another one counts from the next call on."""
        return self.trajectories.faults

    @faults.setter
    def faults(self, plan: FaultPlan) -> None:
        self.trajectories.faults = plan

    def answer(self, request: Request) -> Reply | None:
        """The answer to a request; None where an accident closes the connection."""
        try:
            if request.path == PREFIX or request.path.startswith(f"{PREFIX}/"):
                return controlled(self.trajectories, request)
            return self._served(request)
        except Refused as refused:
            self.trajectories.count("refusals", refused.code)
            return self.denial(request, refused)

    def denial(self, request: Request, refused: Refused) -> Reply:
        """The answer to a request that is not served; to OpenAI's clients in their form too."""
        message = str(refused)[:MESSAGE_LONGEST]
        body: dict[str, object] = {"Message": message}
        if request.path == OPENAI:
            parameter = refused.parameter or None
            body["error"] = {
                "message": message,
                "type": refused.code,
                "param": parameter,
                "code": refused.code,
            }
        headers = {"x-amzn-errortype": refused.code}
        if refused.status == HTTPStatus.TOO_MANY_REQUESTS:
            headers["Retry-After"] = f"{self.faults.retry_after:g}"
        return refused.status, headers, json.dumps(body).encode()

    def _served(self, request: Request) -> Reply | None:
        path = request.path
        if request.method != "POST" or path not in {*STREAMED, *ROUTES}:
            raise missing(f"the runtime double does not serve {request.method} {path[:128]}")
        credential = credential_of(request, self._clock())
        if path in STREAMED:
            return self._sampled(request)
        return self._reported(request, credential)

    def _sampled(self, request: Request) -> Reply | None:
        key = key_of(request)
        fault = self.trajectories.fault(key, "sample")
        if fault in ACCIDENTS:
            raise Refused(*ACCIDENTS[fault])

        def answered() -> Reply:
            policy, now = self.settings.policy, self._clock()
            return sampled(self.trajectories, policy, key, request, now)

        return self._after(fault, answered)

    def _reported(self, request: Request, credential: Credential) -> Reply | None:
        key, report = read_report(request, credential, self._job_of)
        fault = self.trajectories.fault(key, report.operation)
        if fault in ACCIDENTS:
            refused = Refused(*ACCIDENTS[fault])
            self.trajectories.not_done(key, report, refused.status, fault)
            raise refused
        if fault == "dropped_before":
            self.trajectories.not_done(key, report, 0, fault)
        return self._after(fault, lambda: self._taken(key, report, fault))

    def _job_of(self, trajectory_id: str) -> str:
        """The job of the one trajectory of an id; "" for none or several."""
        known = self.trajectories.named(trajectory_id)
        return known[0].job_arn if len(known) == 1 else ""

    def _taken(self, key: Key, report: Report, fault: str) -> Reply:
        finished = self.trajectories.take(key, report, fault)
        if finished is not None and self._finished is not None:
            self._finished(finished)
        return HTTPStatus.OK, {}, b"{}"

    def _after(self, fault: str, done: Callable[[], Reply]) -> Reply | None:
        """What a call is answered that meets with an accident, or with none."""
        if fault == "dropped_before":
            return None
        if fault == "slow":
            self._ending.wait(self.faults.slow_seconds)
        if fault in {"duplicate", "dropped_after"}:
            with suppress(Refused):  # nobody reads this answer
                done()
        return None if fault == "dropped_after" else done()

    def end(self) -> None:
        """Answer calls that are slow by a fault at once."""
        self._ending.set()


class RuntimeDouble(Runtime, LoopbackServer):
    """A server of one double; `serving` runs one for a block.

    Args:
        settings: of the double.
        port: where it listens; a free one where 0.
        finished: called with each trajectory that has finished, in the thread of its last report.
        clock: seconds since the epoch.

    Raises:
        OSError: something else listens there.
    """

    def __init__(
        self,
        settings: RuntimeSettings | None = None,
        *,
        port: int = 0,
        finished: Callable[[Trajectory], None] | None = None,
        clock: Callable[[], float] = time,
    ) -> None:
        LoopbackServer.__init__(self, port=port)
        Runtime.__init__(self, settings, finished, clock)

    def shutdown(self) -> None:
        """End; calls that are slow by a fault are answered at once."""
        self.end()
        super().shutdown()


@contextmanager
def serving(settings: RuntimeSettings | None = None) -> Iterator[RuntimeDouble]:
    """A double for a block, on a free port."""
    double = RuntimeDouble(settings)
    with double.in_background():
        yield double


LOOK: Final = 0.25
"""Seconds between two looks at a runtime of this process, for a state that is not the last one."""


class OwnRuntime:
    """A runtime double of this process.

    Args:
        double: that serves.
    """

    def __init__(self, double: RuntimeDouble) -> None:
        self.endpoint = double.endpoint
        self._double = double

    def register(self, job: str, rollout: str) -> None:
        """Let a rollout begin."""
        self._double.register(job, rollout)

    def wait(self, job: str, rollout: str, states: Collection[str], timeout: float) -> SeenRollout:
        """The state of a rollout once it is one of these states, or the time is over.

        The double waits for a rollout's end; another state is looked for now and then.
        """
        end = monotonic() + timeout
        longest = timeout if set(states) <= ENDED else LOOK
        while True:
            left = max(0.0, end - monotonic())
            found = self._double.wait(job, rollout, timeout=min(longest, left))
            if found.state in states or not left:
                return seen_in(found.json(last=True))
