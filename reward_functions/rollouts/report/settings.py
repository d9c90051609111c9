"""How a process reports its rollouts: from the environment, where nobody says otherwise.

| variable | meaning | default |
| --- | --- | --- |
| `REWARD_ROLLOUTS_OUTBOX` | `sqlite:///PATH`, `dynamodb://TABLE?region=REGION`, `memory:` | a file of the user's state folder |
| `REWARD_ROLLOUTS_TRANSPORT` | `modelled`, `bearer` or `alpha` | `modelled` |
| `REWARD_ROLLOUTS_WINDOW` | seconds from a request to the trainer's end of waiting | 600 |
| `REWARD_ROLLOUTS_MARGIN` | seconds before that at which the minimum is reported | 60 |
| `REWARD_ROLLOUTS_ON_FAILURE` | `failed`, or `minimum` for a trainer that ends at a failed rollout | `failed` |
| `REWARD_ROLLOUTS_RESULTS` | `s3://BUCKET/FOLDER`, where deferred episodes are written | none |
| `REWARD_ROLLOUTS_SCORER` | ARN of the version of a deployed reward that scores them | none |
| `REWARD_ROLLOUTS_TRAJECTORIES` | a JSONL file, or `s3://BUCKET/FOLDER`: what each episode did; it holds prompts | none |
| `REWARD_ROLLOUTS_RERUN` | `0`: an episode that a process left unsampled is not run again | `1` |
| `REWARD_ROLLOUTS_OTEL` | `1`: spans and figures go to OpenTelemetry's providers of the process | `0` |
| `REWARD_ROLLOUTS_RESULT_BUCKETS` | names of buckets, with commas between: where an `AgentCoreRLApp` may write results | none |
| `REWARD_ROLLOUTS_SESSIONS` | the folder that knows the open sessions of a collection; `none` for no folder | one of the user's state folder |
| `REWARD_RELAY_ADMIN_KEY` | the key by which sessions of a relay of its own process are made | none: it does not start |

The last three are read by `agentcore.destinations`, `collection.ledger` and `relay`, the others here.
Where the runtime is, `endpoints` says. The window of 600 seconds is what one project reports of the
managed trainer's `rollout_timeout`; AWS documents none.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.record.sink import TrajectorySink
from reward_functions.rollouts.report.deferred.writing import Deferred
from reward_functions.rollouts.report.transports import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.rollouts.report.intents import OnFailure

PREFIX: Final = "REWARD_ROLLOUTS_"


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutSettings:
    """How a process reports.

    Args:
        outbox: a URL; "" for the default file.
        transport: one of `transports.KINDS`.
        window: seconds.
        margin: seconds, less than the window.
        on_failure: what an episode that we could not run is reported as.
        rerun: whether an episode that a dead process left, unsampled, is run again.
        results: where deferred episodes are written; "" where none may be.
        scorer: ARN of the version that scores them; "" likewise.
        trajectories: where what episodes did is kept; "" where it is not.
        otel: whether rollouts are traced.
    """

    outbox: str = ""
    transport: str = "modelled"
    window: float = 600.0
    margin: float = 60.0
    on_failure: OnFailure = "failed"
    rerun: bool = True
    results: str = ""
    scorer: str = ""
    trajectories: str = ""
    otel: bool = False

    @property
    def deferred(self) -> Deferred | None:
        """Where deferred episodes are written; None where none may be.

        Raises:
            ConfigurationError: a folder or an ARN of another form.
        """
        return Deferred(self.results, version=self.scorer) if self.results else None

    @property
    def sink(self) -> TrajectorySink | None:
        """What keeps trajectories; None where nothing does.

        Raises:
            ConfigurationError: neither a file nor a folder of S3.
        """
        return _sink(self.trajectories) if self.trajectories else None

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> RolloutSettings:
        """The settings of the variables.

        Raises:
            ConfigurationError: a value that is none. The message names the variable.
        """
        given = {name: environ.get(f"{PREFIX}{name.upper()}", "") for name in cls.__slots__}
        window = _seconds("WINDOW", given["window"], cls(window=600.0).window)
        margin = _seconds("MARGIN", given["margin"], min(60.0, window / 10))
        if margin >= window:
            raise ConfigurationError(f"{PREFIX}MARGIN is not less than {PREFIX}WINDOW, {window:g}")
        if bool(given["results"]) != bool(given["scorer"]):
            raise ConfigurationError(f"set both of {PREFIX}RESULTS and {PREFIX}SCORER, or neither")
        settings = cls(
            outbox=given["outbox"],
            transport=_one_of("TRANSPORT", given["transport"], KINDS),
            window=window,
            margin=margin,
            on_failure=_one_of("ON_FAILURE", given["on_failure"], ("failed", "minimum")),  # type: ignore[arg-type]
            rerun=_one_of("RERUN", given["rerun"], ("1", "0")) == "1",
            results=given["results"],
            scorer=given["scorer"],
            trajectories=given["trajectories"],
            otel=_one_of("OTEL", given["otel"], ("0", "1")) == "1",
        )
        _ = settings.deferred  # its form, before the first episode ends
        _ = settings.sink
        return settings


@cache
def _sink(target: str) -> TrajectorySink:
    """One for a target: it knows which failures it has logged."""
    return TrajectorySink(target)


def _seconds(name: str, value: str, default: float) -> float:
    try:
        seconds = float(value or default)
    except ValueError:
        seconds = -1.0
    if not isfinite(seconds) or seconds <= 0:
        raise ConfigurationError(f"{PREFIX}{name} is not a number of seconds: {value!r}")
    return seconds


def _one_of(name: str, value: str, choices: tuple[str, ...]) -> str:
    if (value or choices[0]) not in choices:
        known = f"{', '.join(choices[:-1])} or {choices[-1]}"
        raise ConfigurationError(f"{PREFIX}{name} is {value!r}, not {known}")
    return value or choices[0]
