"""A reward ready to score where there is no model: a script answers what a judge asks.

The script is that of the demo and of the stage `local`; it knows the judges `reference` and
`pandalm`, and decides by form alone. A reward that asks nobody is bound as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.local.scripted_judge import verdict
from reward_functions.testing import FakeAsk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions import RewardSpec
    from reward_functions.core.asking import Question
    from reward_functions.core.spec import RewardFunction


def bound_by_script(
    spec: RewardSpec, parameters: Mapping[str, object] | None = None
) -> RewardFunction:
    """The reward with its parameters, and the script in the place of a judge's model.

    Raises:
        BadParameter: it has no such parameter, or not of this type.
    """
    if not spec.needs.judge:
        return spec.bind(parameters or {})
    return spec.bind(parameters or {}, ask=FakeAsk(answer=_answer))


def _answer(question: Question) -> dict[str, str]:
    return verdict(f"{question.shared}\n{question.text}")
