"""How a process reports its rollouts: from the environment, where nobody says otherwise.

Three variables with the same prefix are read where they are needed, the last by `record.relay`:

| `REWARD_ROLLOUTS_RESULT_BUCKETS` | string | unset | Names of buckets, with commas between: where an `AgentCoreRLApp` may write results. |
| `REWARD_ROLLOUTS_SESSIONS` | string | unset | The folder that knows the open sessions of a collection; `none` for no folder; where unset, one of the user's state folder. |
| `REWARD_RELAY_ADMIN_KEY` | string | required | The key by which sessions of a relay of its own process are made. |

Where the runtime is, `endpoints` says. The window of 600 seconds is what one project reports of the
managed trainer's `rollout_timeout`; AWS documents none.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, ClassVar, Final, Self

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.settings import EnvSettings, SettingKind, chosen_from, setting
from reward_functions.rollouts.record.sink import TrajectorySink
from reward_functions.rollouts.report.deferred import Deferred
from reward_functions.rollouts.report.transports import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.rollouts.report.intents import OnFailure

PREFIX: Final = "REWARD_ROLLOUTS_"


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not isfinite(seconds) or seconds <= 0:
        raise ValueError(f"is not a number of seconds: {text!r}")
    return seconds


def _among(text: str, choices: Sequence[str]) -> str:
    if text not in choices:
        raise ValueError(f"is {text!r}, not {', '.join(choices[:-1])} or {choices[-1]}")
    return text


def _one_of(*choices: str) -> SettingKind:
    return SettingKind(chosen_from(choices).words, read=lambda text: _among(text, choices))


def _switch(*choices: str) -> SettingKind:
    """1 for yes and 0 for no, the default first."""
    return SettingKind(
        chosen_from(choices).words,
        read=lambda text: _among(text, choices) == "1",
        write=lambda value: str(int(value)),
    )


SECONDS: Final = SettingKind("number of seconds", read=_seconds)


@dataclass(frozen=True, kw_only=True)
class RolloutSettings(EnvSettings):
    """How a process reports."""

    PREFIX: ClassVar = PREFIX
    SHARED: ClassVar = True

    outbox: str = ""
    """`sqlite:///PATH`, `dynamodb://TABLE?region=REGION` or `memory:`; where unset, a file of the
    user's state folder."""

    transport: str = field(default="modelled", metadata=setting(_one_of(*KINDS)))
    """How a report is sent to the runtime."""

    window: float = field(default=600.0, metadata=setting(SECONDS))
    """Seconds from a request to the trainer's end of waiting."""

    margin: float = field(default=60.0, metadata=setting(SECONDS))
    """Seconds before that at which the minimum is reported; a tenth of a shorter window."""

    on_failure: OnFailure = field(default="failed", metadata=setting(_one_of("failed", "minimum")))
    """`minimum` for a trainer that ends at a failed rollout."""

    rerun: bool = field(default=True, metadata=setting(_switch("1", "0")))
    """`0`: an episode that a process left unsampled is not run again."""

    results: str = ""
    """`s3://BUCKET/FOLDER`, where deferred episodes are written."""

    scorer: str = ""
    """ARN of the version of a deployed reward that scores them."""

    trajectories: str = ""
    """A JSONL file, or `s3://BUCKET/FOLDER`: what each episode did; it holds prompts."""

    otel: bool = field(default=False, metadata=setting(_switch("0", "1")))
    """`1`: spans and figures go to OpenTelemetry's providers of the process."""

    @property
    def deferred(self) -> Deferred | None:
        """Where deferred episodes are written; None where none may be.

        Raises:
            ConfigurationError: a folder or an ARN of another form.
        """
        return Deferred(self.results, version=self.scorer) if self.results else None

    @property
    def sink(self) -> TrajectorySink | None:
        """The sink of trajectories; None without one.

        Raises:
            ConfigurationError: neither a file nor a folder of S3.
        """
        return _sink(self.trajectories) if self.trajectories else None

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """The settings of the variables; the margin of a short window is a tenth of it.

        Raises:
            ConfigurationError: a setting has no such value. The message names the variable.
        """
        found = super().from_env(environ)
        if not environ.get(cls.variable("margin")):
            found = replace(found, margin=min(found.margin, found.window / 10))
        if found.margin >= found.window:
            raise ConfigurationError(
                f"{PREFIX}MARGIN is not less than {PREFIX}WINDOW, {found.window:g}"
            )
        if bool(found.results) != bool(found.scorer):
            raise ConfigurationError(f"set both of {PREFIX}RESULTS and {PREFIX}SCORER, or neither")
        _ = found.deferred  # its form, before the first episode ends
        _ = found.sink
        return found


@cache
def _sink(target: str) -> TrajectorySink:
    """One for a target: it knows which failures it has logged."""
    return TrajectorySink(target)
