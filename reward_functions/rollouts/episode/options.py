"""How a handler reports: its own options, and the process's settings where it has none."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.report.feedback import RolloutFeedbackClient
from reward_functions.rollouts.report.transports import KINDS

if TYPE_CHECKING:
    from reward_functions.rollouts.episode.episode import TurnRewards
    from reward_functions.rollouts.episode.policy_ping import Ping
    from reward_functions.rollouts.episode.scoring import Scorer
    from reward_functions.rollouts.record.sink import TrajectorySink
    from reward_functions.rollouts.report.deferred import Deferred
    from reward_functions.rollouts.report.intents import OnFailure
    from reward_functions.rollouts.report.reporter import Reporter
    from reward_functions.rollouts.report.transports import Transport

OnReportFailure = Literal["log", "raise"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a handler; a None is the process's setting.

    Args:
        scorer: scores the response; None where the agent returns its reward.
        deferred: where every episode is written in place of its report, for others to score; None
            for the process's setting, which holds for the episodes that say so.
        minimum: of the reward's scale; None for the scorer's, or 0.0.
        window: seconds from a request to the end of the trainer's waiting.
        margin: seconds before that at which the minimum is reported.
        on_failure: what an episode that we could not run is reported as.
        on_report_failure: whether an invalid reward or a refused report is raised too.
        ping: whether an episode without a turn calls the policy once; or what calls it.
        turn_rewards: what a list of rewards is reported as: see `episode`.
        transport: one of `transports.KINDS`, or a transport.
        trusted: endpoints that a payload may name beside AWS's.
        sink: keeps what each episode did; None for the process's setting.
        client: what reports: of a module of compatibility its own.

    Raises:
        ConfigurationError: an option has no such value. The message names the option.
    """

    scorer: Scorer | None = None
    deferred: Deferred | None = None
    minimum: float | None = None
    window: float | None = None
    margin: float | None = None
    on_failure: OnFailure | None = None
    on_report_failure: OnReportFailure = "log"
    ping: bool | Ping = False
    turn_rewards: TurnRewards = "immediate"
    transport: str | Transport | None = None
    trusted: tuple[str, ...] = ()
    sink: TrajectorySink | None = None
    client: type[RolloutFeedbackClient] = RolloutFeedbackClient

    def __post_init__(self) -> None:
        if self.deferred is not None and self.scorer is not None:
            raise ConfigurationError("a handler has reward= or deferred=: one reward counts")
        for name in ("window", "margin"):
            seconds = getattr(self, name)
            if seconds is not None and not 0 < seconds < float("inf"):
                raise ConfigurationError(f"{name} is not a number of seconds: {seconds!r}")
        if self.minimum is not None and not isfinite(self.minimum):
            raise ConfigurationError(f"minimum is not a finite number: {self.minimum!r}")
        if isinstance(self.transport, str):
            _require("transport", self.transport, KINDS)
        _require("on_failure", self.on_failure, (None, "failed", "minimum"))
        _require("turn_rewards", self.turn_rewards, ("immediate", "to_go"))
        _require("on_report_failure", self.on_report_failure, ("log", "raise"))
        if self.window is not None and self.margin is not None and self.margin >= self.window:
            raise ConfigurationError(f"margin is not less than window, {self.window:g} seconds")

    @property
    def raises(self) -> bool:
        """Whether an invalid reward, or a refused report, is raised too."""
        return self.on_report_failure == "raise"

    def of(self, reporter: Reporter) -> Reporting:
        """The same for a process, with its settings where they say nothing.

        A window of its own brings a margin of at most a tenth of it, as the variables do.
        """
        settings = reporter.settings
        window = settings.window if self.window is None else self.window
        margin = settings.margin if self.window is None else min(settings.margin, window / 10)
        own = 0.0 if self.scorer is None else self.scorer.scale.minimum
        return Reporting(
            own=self,
            reporter=reporter,
            deferred=self.deferred or settings.deferred,
            minimum=own if self.minimum is None else self.minimum,
            window=window,
            margin=self.margin if self.margin and self.margin < window else margin,
            on_failure=self.on_failure or settings.on_failure,
            sink=self.sink or settings.sink,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporting:
    """How one rollout is reported: a handler's options, and settings where they say nothing.

    Args:
        own: of the handler.
        reporter: of the process.
        deferred: where deferred episodes are written; None where none may be.
        minimum: see `Options`.
        window: see `Options`.
        margin: see `Options`; less than the window.
        on_failure: see `Options`.
        sink: see `Options`; None where nothing is kept.
    """

    own: Options
    reporter: Reporter
    deferred: Deferred | None
    minimum: float
    window: float
    margin: float
    on_failure: OnFailure
    sink: TrajectorySink | None


def _require(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    if value not in choices:
        known = ", ".join(repr(each) for each in choices if each is not None)
        raise ConfigurationError(f"{name} is {value!r}, none of {known}")
