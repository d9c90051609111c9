"""Whether a reward can use a row: read its reference, pay its right answer, and see it where asked.

The right response is scored where the reward can write it: some rewards look at the whole reference
only once there is an answer to compare. So is a wrong one: the very text of a reference equals it,
whether or not anything else can be held against it. A judge gets no model to ask, since a call
costs; it reads its reference before it asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.alternatives import right_writer
from reward_functions.core.asking import ScriptedAsk
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import BadParameter, DatasetError
from reward_functions.core.types import Scored, Unscored
from reward_functions.extraction.answer import Answer
from reward_functions.extraction.selection import boxed_answer, hash_answer, stated_answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.core.spec import RewardSpec
    from reward_functions.core.types import RewardResult, Sample, Score

_WRONG: Final = r"\boxed{987654321}"
"""A response that states an answer, and nobody's."""

NO_PARAMETERS: Final[Mapping[str, Any]] = {}


def reading_error(
    spec: RewardSpec, sample: Sample, parameters: Mapping[str, Any] = NO_PARAMETERS
) -> DatasetError | None:
    """The error a reward raises for a reference; None where it can read it."""
    for response in (None, _WRONG):
        result = _result(spec, sample, response, parameters)
        if isinstance(result, Unscored) and isinstance(result.error, DatasetError):
            return result.error
    return None


def complaint(
    spec: RewardSpec, sample: Sample, parameters: Mapping[str, Any] = NO_PARAMETERS
) -> str | None:
    """Why a reward cannot use a row: it cannot read it, or does not pay its own right answer."""
    error = reading_error(spec, sample, parameters)
    if error is not None:
        return str(error)
    if spec.gold_response is None or spec.needs.judge:
        return None
    result = _result(spec, sample, None, parameters)
    if isinstance(result, Unscored):
        return f"{spec.name} cannot score the right answer: {result.error}"
    if result.score.value < spec.scale.maximum:
        return f"{spec.name} does not pay the right answer in full"
    return None


def unseen_format(
    spec: RewardSpec, sample: Sample, parameters: Mapping[str, Any], pattern: str
) -> str | None:
    """What to tell somebody whose prompts ask for a form of answer the reward does not pay.

    Args:
        spec: the reward.
        sample: a row it can use.
        parameters: of the reward.
        pattern: a response of that form, with %s for the answer.

    Returns:
        None where the reward pays the right answer in that form, or cannot be tried.
    """
    if spec.gold_response is None or spec.needs.judge:
        return None
    response = pattern % _answer(right_writer(spec.gold_response, parameters)(sample))
    if _paid(spec, sample, response, parameters):
        return None
    message = f"{spec.name} pays nothing for {pattern % '…'}"
    try:
        if _paid(spec, sample, response, {**parameters, "flexible": True}):
            return f"{message} unless it is told to: score and deploy it with -p flexible=true"
    except BadParameter:
        pass
    return f"{message}: ask for another form, or take another reward"


def _answer(gold: str) -> str:
    """The answer of a right response, without what marks it as one."""
    found = hash_answer(gold) or boxed_answer(gold) or stated_answer(gold)
    return found.text if isinstance(found, Answer) else gold.strip()


def _paid(spec: RewardSpec, sample: Sample, response: str, parameters: Mapping[str, Any]) -> bool:
    result = _result(spec, sample, response, parameters)
    return isinstance(result, Scored) and result.score.value == spec.scale.maximum


def _result(
    spec: RewardSpec, sample: Sample, response: str | None, parameters: Mapping[str, Any]
) -> RewardResult:
    """The result of a response; None for the one that the reward writes itself."""
    read = spec.bind(parameters, ask=ScriptedAsk() if spec.needs.judge else None)

    def scored(asked: Sample) -> Score:
        if response is None and spec.gold_response:
            return read(asked.answered(right_writer(spec.gold_response, parameters)(asked)))
        return read(asked.answered(response or ""))

    (result,) = score_batch(scored, [sample])
    return result
