"""What answers agents, whichever port it stands behind: calls of the policy, reports, controls.

The double on the loopback interface: one port for agents, for reports, and for its controls.
"""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from http import HTTPStatus
from threading import Event
from time import time
from typing import TYPE_CHECKING, ClassVar, Final

from reward_functions.local.loopback_service.requests import Refused, missing
from reward_functions.local.loopback_service.server import LoopbackServer
from reward_functions.local.runtime_double.control import PREFIX, controlled
from reward_functions.local.runtime_double.credentials import EXPIRED, credential_of
from reward_functions.local.runtime_double.reports import ROUTES, read_report
from reward_functions.local.runtime_double.sampling import OPENAI, STREAMED, key_of, sampled
from reward_functions.local.runtime_double.state import RuntimeSettings, Trajectories

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reward_functions.local.loopback_service.requests import Request
    from reward_functions.local.loopback_service.server import Reply
    from reward_functions.local.runtime_double.credentials import Credential
    from reward_functions.local.runtime_double.faults import FaultPlan
    from reward_functions.local.runtime_double.reports import Arrived
    from reward_functions.local.runtime_double.trajectory import Trajectory


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
        """Make a trajectory, as the trainer does before it asks for the rollout; once more is none.

        Raises:
            Refused: there are as many as there may be.
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

    def reply(self, request: Request) -> Reply | None:
        """The answer to a request; None where an accident closes the connection."""
        try:
            if request.path == PREFIX or request.path.startswith(f"{PREFIX}/"):
                return controlled(self.trajectories, request)
            return self._served(request)
        except Refused as refused:
            self.trajectories.count("refusals", refused.code)
            return self.refusal(request, refused)

    def refusal(self, request: Request, refused: Refused) -> Reply:
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
        arrived = read_report(request, credential, self._job_of)
        key, report = arrived.key, arrived.report
        fault = self.trajectories.fault(key, report.operation)
        if fault in ACCIDENTS:
            refused = Refused(*ACCIDENTS[fault])
            self.trajectories.not_done(key, report, refused.status, fault)
            raise refused
        if fault == "dropped_before":
            self.trajectories.not_done(key, report, 0, fault)
        return self._after(fault, lambda: self._taken(arrived, fault))

    def _job_of(self, trajectory_id: str) -> str:
        """The job of the one trajectory of an id; "" for none or several."""
        known = self.trajectories.named(trajectory_id)
        return known[0].job_arn if len(known) == 1 else ""

    def _taken(self, arrived: Arrived, fault: str) -> Reply:
        finished = self.trajectories.take(arrived.key, arrived.report, fault)
        if finished is not None and self._finished is not None:
            self._finished(finished)
        return HTTPStatus.OK, {}, arrived.answer

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

    connections: ClassVar[int] = 512
    """Agents open one for each client that they make, and leave many of them open."""

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
