"""What was scored with what: the reward, its parameters, the judge's models and what they cost.

A judge's addresses and keys are left out: a page is passed on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.spec import spec_of
from reward_functions.judge_runtime.panel import BatchJudge
from reward_functions.judge_runtime.usage import price_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.core.spec import RewardFunction, RewardSpec


@dataclass(frozen=True, slots=True)
class Subject:
    """A reward as it was called.

    Args:
        spec: its declaration.
        given: the parameters that were set.
        judge: the judge of the batch, where one was asked.
    """

    spec: RewardSpec
    given: Mapping[str, Any]
    judge: BatchJudge | None = None

    @classmethod
    def of(cls, reward: RewardFunction) -> Subject:
        """What a reward is, seen through `functools.partial` and a batch's judge.

        Raises:
            ConfigurationError: it has no declaration.
        """
        spec = spec_of(reward)
        if spec is None:
            raise ConfigurationError(
                "a combination has no name and no scale: declare it with @reward_function"
            )
        judge = reward if isinstance(reward, BatchJudge) else None
        called: Any = judge.panel[0] if judge else reward
        given: dict[str, Any] = {}
        while isinstance(called, partial):
            given = {**called.keywords, **given}
            called = called.func
        return cls(spec, {name: given[name] for name in given if name in spec.parameters}, judge)

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter, defaults included."""
        defaults = {
            name: each.default for name, each in self.spec.parameters.items() if each.has_default
        }
        return {**defaults, **self.given}

    def facts(self) -> Iterator[tuple[str, str]]:
        """Names and values for a page."""
        scale = self.spec.scale
        summary = self.spec.summary.replace("`", "")  # a fact has no code
        yield "reward", f"{self.spec.name}, version {self.spec.version}: {summary}"
        yield "scale", f"{scale.minimum:g} to {scale.maximum:g}"
        if self.spec.parameters:
            shown = [
                f"{name}={_shown(value)}" + ("" if name in self.given else " (default)")
                for name, value in self.parameters.items()
            ]
            yield "parameters", ", ".join(shown)
        if self.judge:
            yield from _judge_facts(self.judge)


def _judge_facts(judge: BatchJudge) -> Iterator[tuple[str, str]]:
    config, account = judge.config, judge.account
    models = ", ".join(f"{each.model} ({each.backend})" for each in config.models)
    several = f"; {config.aggregate} of {len(config.models)}" if len(config.models) > 1 else ""
    fallback = f"; fallback {config.fallback.model}" if config.fallback else ""
    yield "judge", f"{models}{several}{fallback}"
    calls = (
        f"{account['judge_calls']:,}, with {account['judge_answers']:,} valid verdicts; "
        f"{account['judge_cache_hits']:,} verdicts from the cache, "
        f"{account['judge_failures']:,} questions without a verdict"
    )
    yield "judge calls", calls
    usage = account.usage
    yield "judge tokens", f"{usage.total:,}: {usage.input:,} read, {usage.output:,} written"
    yield "judge cost", cost(judge)


def cost(judge: BatchJudge) -> str:
    """Dollars, and the models whose price is unknown: an unknown price is not nothing."""
    asked = [*judge.config.models, *([judge.config.fallback] if judge.config.fallback else [])]
    unknown = [each.model for each in asked if price_of(each, judge.config) is None]
    if not unknown:
        return f"{judge.account.usd:.4f} dollars"
    named = f"the price of {', '.join(unknown)} is unknown"
    if len(unknown) == len(asked):
        return f"unknown: {named}"
    return f"{judge.account.usd:.4f} dollars and more: {named}"


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
