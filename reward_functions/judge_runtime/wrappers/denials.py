"""A model that takes none of a batch's questions is not asked all of them.

A key that has expired or a model that does not exist is denied call by call. One denial may be due
to its question alone, which a firewall read. So it takes several, without a single answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import JudgeUnavailable, NoVerdict

if TYPE_CHECKING:
    from reward_functions.core.asking import Ask, Question, Verdict

ENOUGH: Final = 8
"""Denials after which a model that answered nothing is not asked again."""


@dataclass(slots=True)
class Denials:
    """An `Ask` of one batch that gives up.

    Args:
        ask: the model.
    """

    ask: Ask
    _reasons: list[str] = field(default_factory=list)
    _answers: bool = False

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """The verdict.

        Raises:
            JudgeUnavailable: as the wrapped one does; without a call where that is known.
            NoVerdict: as the wrapped one does.
        """
        if len(self._reasons) >= ENOUGH and not self._answers:
            raise JudgeUnavailable(self._reasons[-1], "denied")
        try:
            verdict = self.ask(question, deadline=deadline)
        except JudgeUnavailable as error:
            if error.kind == "denied":
                self._reasons.append(str(error))
            raise
        except NoVerdict:
            self._answers = True
            raise
        self._answers = True
        return verdict
