"""The runtime that a run's agent samples from and reports to: of this process, or one that runs.

What a trainer's runtime knows of a rollout is all that a run knows of it: its state, its turns, its
rewards. A runtime at a URL is asked through the double's admin routes.
"""

from __future__ import annotations

import json
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from urllib.parse import quote, urlsplit

from reward_functions.core.errors import ConfigurationError
from reward_functions.data.records import text_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

ENDED: Final = frozenset({"REWARD_RECEIVED", "FAILED"})
"""States that a rollout does not leave."""

READY: Final = "READY"
"""The state of a rollout that is complete, and has no reward yet."""

FIRST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 2.0
GROWTH: Final = 1.5
"""Seconds between two looks at a runtime elsewhere; each pause is longer than the one before."""

ADMIN: Final = "/_runtime"
SUCCESS: Final = range(200, 300)
ERROR_TYPE: Final = "x-amzn-errortype"
MAX_ANSWER: Final = 64 * 1024 * 1024
"""Bytes of a trajectory with all its texts."""


class SeenRollout(NamedTuple):
    """What a runtime knows of a rollout.

    Args:
        state: of the service: "PENDING", "READY", "REWARD_RECEIVED" or "FAILED".
        turns: policy calls.
        rewards: as they arrived.
        tool_calls: that the policy asked for.
        duplicates: reports that came again after they were taken.
        response: the text of the policy's last turn; None where there is none, or where the runtime
            has not kept it.
    """

    state: str
    turns: int = 0
    rewards: tuple[float, ...] = ()
    tool_calls: int = 0
    duplicates: int = 0
    response: str | None = None


class Runtime(Protocol):
    """A runtime, used from many threads."""

    endpoint: str

    def register(self, job: str, rollout: str) -> None:
        """Let a rollout begin."""

    def wait(self, job: str, rollout: str, states: Collection[str], timeout: float) -> SeenRollout:
        """What it knows once the rollout is in one of these states, or the time is over."""


class RuntimeElsewhere:
    """A runtime double that runs already, such as `reward local runtime`.

    Args:
        url: of the double.
        concurrency: connections at once.

    Raises:
        ConfigurationError: nobody answers there, or no runtime double.
    """

    def __init__(self, url: str, *, concurrency: int = 64) -> None:
        import urllib3  # noqa: PLC0415 - 50 ms, and not for a runtime of this process

        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ConfigurationError(f"{url!r} is not the URL of a runtime: http://127.0.0.1:8765")
        self.endpoint = url.rstrip("/")
        self._http = urllib3.PoolManager(
            maxsize=concurrency,
            retries=urllib3.Retry(connect=2, read=2, redirect=0, backoff_factor=0.1),
            timeout=urllib3.Timeout(connect=5.0, read=30.0),
        )
        self._asked("GET", "counts")

    def register(self, job: str, rollout: str) -> None:
        """Let a rollout begin."""
        self._asked("POST", "trajectories", {"job": job, "trajectory": rollout})

    def wait(self, job: str, rollout: str, states: Collection[str], timeout: float) -> SeenRollout:
        """What it knows once the rollout is in one of these states, or the time is over."""
        end, pause = monotonic() + timeout, FIRST_PAUSE
        route = f"trajectories/{quote(rollout, safe='')}?job={quote(job, safe='')}&texts=last"
        while True:
            found = seen_in(self._asked("GET", route))
            left = end - monotonic()
            if found.state in states or left <= 0:
                return found
            sleep(min(pause, left))
            pause = min(pause * GROWTH, LONGEST_PAUSE)

    def _asked(self, method: str, route: str, content: dict[str, Any] | None = None) -> Any:
        from urllib3.exceptions import HTTPError  # noqa: PLC0415

        try:
            response = self._http.request(
                method, f"{self.endpoint}{ADMIN}/{route}", json=content, preload_content=False
            )
            body = response.read(MAX_ANSWER)
            response.release_conn()
        except HTTPError as error:
            raise ConfigurationError(
                f"no runtime double answers at {self.endpoint} ({type(error).__name__}): start "
                "one with `reward local runtime`"
            ) from None
        try:
            found = json.loads(body or b"null")
        except (ValueError, RecursionError):
            found = None
        refusal = found.get("Message") if isinstance(found, dict) else None
        if response.status not in SUCCESS and response.headers.get(ERROR_TYPE):
            raise ConfigurationError(f"the runtime double at {self.endpoint} refuses: {refusal}")
        if response.status not in SUCCESS or not isinstance(found, dict):
            raise ConfigurationError(
                f"what answers at {self.endpoint} is no runtime double (HTTP {response.status})"
            )
        return found


def seen_in(trajectory: Mapping[str, Any]) -> SeenRollout:
    """What the double's JSON of a trajectory says.

    Raises:
        ConfigurationError: it is of another form.
    """
    try:
        turns = trajectory["turns"]
        last = turns[-1]["response"] if turns else None
        return SeenRollout(
            state=str(trajectory["state"]),
            turns=len(turns),
            rewards=tuple(map(float, trajectory["rewards"] or ())),
            tool_calls=sum(turn["tool_calls"] for turn in turns),
            duplicates=sum(each["ended"] == "replayed" for each in trajectory["deliveries"]),
            response=last and text_of(last.get("content")),
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ConfigurationError("the runtime describes a trajectory in another form") from None
