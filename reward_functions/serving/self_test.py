"""The self-test of a deployed function: its reward's examples, scored where trainers will ask it.

    {"reward_functions": {"self_test": "recorded"}}
    → {"reward": "gsm8k", "version": 3, "examples": 6, "failures": [], "unavailable": []}

A deployment asks every new version before anybody else does. Every example is scored twice: with
its own parameters, where it has to earn what it declares, and with the deployment's, where it has
to earn anything at all. A judge answers from the verdicts that its examples record, or, with
`"model"`, by its own models: they may say anything, as long as they say it. No event of a trainer
is one of these: that is a list of rows, or an object that holds one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, get_args

from reward_functions.core.asking import ScriptedAsk
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import DatasetError, EngineUnavailable, JudgeUnavailable
from reward_functions.core.types import Scored

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.core.spec import RewardFunction, RewardSpec

KEY: Final = "reward_functions"

AnsweredBy = Literal["recorded", "model"]
"""Who answers a judge's questions: the examples' own verdicts, or the deployment's models."""


class SelfTestReport(TypedDict):
    """The findings of a self-test; each is a sentence that begins with its example."""

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


def self_test(
    spec: RewardSpec, parameters: Mapping[str, Any], model: RewardFunction | None = None
) -> SelfTestReport:
    """Score every example of a reward, as it declares and as it is deployed.

    Args:
        spec: the reward.
        parameters: the deployment's.
        model: the judge as it is deployed; without it a judge answers from a script.

    Returns:
        what differs as `failures`; as `unavailable` what could not be scored for now, because a
        judge model or the algebra's process could not be had.
    """
    # Every question can be answered from an empty script: by the usual value of each field.
    script = ScriptedAsk() if spec.needs.judge else None
    findings = list(_findings(spec, model or spec.bind(parameters, ask=script)))
    return SelfTestReport(
        reward=spec.name,
        version=spec.version,
        examples=len(spec.examples),
        failures=[sentence for passes, sentence in findings if not passes],
        unavailable=[sentence for passes, sentence in findings if passes],
    )


def _findings(spec: RewardSpec, deployed: RewardFunction) -> Iterator[tuple[bool, str]]:
    """What is wrong with each example, and whether it may be over in a minute."""
    for place, example in enumerate(spec.examples):
        name = f"example {place} ({example.kind})"
        (declared,) = score_batch(spec.bound_to_example(example), [example.sample()], workers=1)
        (now,) = score_batch(deployed, [example.sample()], workers=1)
        if not isinstance(declared, Scored):
            yield _not_scored(name, declared.error)
        elif declared.score.value != example.score:
            earned = declared.score.value
            yield False, f"{name} earns {earned:g} in place of {example.score:g}"
        # For other parameters its reference may be none, which says nothing of the deployment.
        if not (isinstance(now, Scored) or isinstance(now.error, DatasetError)):
            yield _not_scored(f"{name}, as it is deployed,", now.error)


def _not_scored(name: str, error: Exception) -> tuple[bool, str]:
    passes = isinstance(error, EngineUnavailable) or (
        isinstance(error, JudgeUnavailable) and error.transient
    )
    return passes, f"{name} was not scored: {type(error).__name__}: {error}"
