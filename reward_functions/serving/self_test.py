"""The self-test of a deployed function: its reward's examples, scored where trainers will ask it.

    {"reward_functions": {"self_test": "recorded"}}
    → {"reward": "gsm8k", "version": 3, "examples": 6, "failures": [], "unavailable": []}

A deployment asks every new version before anybody else does. A judge answers from the verdicts that
its examples record, or, with `"model"`, by its own models: they may say anything, as long as they
say it. No event of a trainer is one of these: that is a list of rows, or an object that holds one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, get_args

from reward_functions.core.batch import score_batch
from reward_functions.core.errors import EngineUnavailable, JudgeUnavailable
from reward_functions.core.types import Scored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.core.spec import Example, RewardFunction, RewardSpec
    from reward_functions.core.types import RewardResult

KEY: Final = "reward_functions"

AnsweredBy = Literal["recorded", "model"]
"""Who answers a judge's questions: the examples' own verdicts, or the deployment's models."""


class SelfTestReport(TypedDict):
    """What a self-test found; each finding is a sentence that begins with its example."""

    reward: str
    version: int
    examples: int
    failures: list[str]
    unavailable: list[str]


def self_test_of(event: Any) -> AnsweredBy | None:
    """How an event asks for the self-test; None where it is any other event."""
    if not isinstance(event, dict) or event.keys() != {KEY}:
        return None
    asked = event[KEY]
    if not isinstance(asked, dict) or asked.keys() != {"self_test"}:
        return None
    return next((each for each in get_args(AnsweredBy) if each == asked["self_test"]), None)


def self_test(spec: RewardSpec, model: RewardFunction | None = None) -> SelfTestReport:
    """Score every example of a reward.

    Args:
        spec: the reward.
        model: the judge as it is deployed; where given, it has to give every example a score, and
            which is not asked. Else every example has to earn what it declares.

    Returns:
        what differs as `failures`; as `unavailable` what could not be scored for now, because a
        judge model or the algebra's process could not be had.
    """
    failures: list[str] = []
    unavailable: list[str] = []
    for place, example in enumerate(spec.examples):
        (result,) = score_batch(
            model or spec.bound_to_example(example), [example.sample()], workers=1
        )
        found = unavailable if _passes(result) else failures
        found += [
            f"example {place} ({example.kind}) {wrong}" for wrong in _wrong(example, result, model)
        ]
    return SelfTestReport(
        reward=spec.name,
        version=spec.version,
        examples=len(spec.examples),
        failures=failures,
        unavailable=unavailable,
    )


def _passes(result: RewardResult) -> bool:
    """Whether what kept an example from its score may be over in a minute."""
    if isinstance(result, Scored):
        return False
    return isinstance(result.error, EngineUnavailable) or (
        isinstance(result.error, JudgeUnavailable) and result.error.transient
    )


def _wrong(example: Example, result: RewardResult, model: RewardFunction | None) -> Iterator[str]:
    if not isinstance(result, Scored):
        yield f"was not scored: {type(result.error).__name__}: {result.error}"
    elif model is None and result.score.value != example.score:
        yield f"earns {result.score.value:g} in place of {example.score:g}"
