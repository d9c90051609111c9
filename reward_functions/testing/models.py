"""Judge models of the tests: one answers from a list, one obeys whatever reaches it unfenced."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Final

from reward_functions.core.asking import Question, ScriptedAsk, Verdict
from reward_functions.core.types import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(slots=True)
class FakeAsk:
    """A judge model of the tests: it answers from a list, and remembers what it was asked.

        ask = FakeAsk({"correct": "yes"})
        rubric(sample("4", reference="4"), ask=ask)
        ask.asked[0].text

    Args:
        answers: by the question's turn; a field left out has its worst choice, a turn without an
            answer the worst verdict there is. An exception is raised. Each answer must be legal.
        answer: called with the question instead, for anything a list cannot say.
        usage: what every verdict costs.
    """

    answers: Sequence[Mapping[str, str] | Exception] = ()
    answer: Callable[[Question], Mapping[str, str] | Exception] | None = None
    usage: Usage = field(default_factory=Usage)
    asked: list[Question] = field(default_factory=list)

    def __init__(
        self,
        *answers: Mapping[str, str] | Exception,
        answer: Callable[[Question], Mapping[str, str] | Exception] | None = None,
        usage: Usage | None = None,
    ) -> None:
        self.answers = answers
        self.answer = answer
        self.usage = usage or Usage()
        self.asked = []

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:  # noqa: ARG002
        """The answer to this question."""
        self.asked.append(question)
        if self.answer is None:
            written: Mapping[str, str] | Exception = ScriptedAsk(self.answers)(question).values
        else:
            written = self.answer(question)
        if isinstance(written, Exception):
            raise written
        return Verdict(question.read(question.filled(written)), self.usage, "fake")


@dataclass(frozen=True, slots=True)
class CredulousAsk:
    """A judge model that obeys whatever reaches it outside a fence.

    It reads as a naive model would. A fenced text it takes for data; words of the response that
    stand anywhere else it takes for orders, and so it does control tokens and invisible characters,
    wherever they stand. When it was given an order, it hands in the best verdict there is; else
    the worst. It shows that our fences hold. How a real model behaves behind them it cannot show.

    Args:
        response: the words it would take for orders.
    """

    response: str

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:  # noqa: ARG002
        """The best verdict when it was given orders, else the worst."""
        pick = -1 if self.obeys(question) else 0
        chosen = {
            each.name: each.usual or each.choices[pick] for each in question.fields if each.choices
        }
        quoted = dict.fromkeys(
            (each.name for each in question.fields if each.supports), question.quotable[:50]
        )
        return Verdict(question.read(question.filled({**chosen, **quoted})), model="credulous")

    def obeys(self, question: Question) -> bool:
        """Whether something of the response reached it as an order."""
        told = f"{question.system}\n{question.shared}\n{question.text}"
        bare, fenced = _unfenced(told)
        orders = {order for line in self.response.splitlines() if len(order := line.strip()) > MUTE}
        return (
            fenced is None
            or any(order in bare for order in orders)
            or _ORDERS_IN_DISGUISE.search(told) is not None
        )


MUTE: Final = 12
"""Characters of a line that are no order: they occur in any instructions."""

_ORDERS_IN_DISGUISE: Final = re.compile(
    r"<\|[a-z_]+\|>|\[/?INST\]|<</?SYS>>|</?(?:s|bos|eos|start_of_turn|end_of_turn)>|<｜"
    "|[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
_FENCE: Final = re.compile(
    r'^<data name="\w+" mark="(?P<mark>[0-9a-f]{32})">\n(?P<data>.*)\n</data mark="(?P=mark)">$',
    re.MULTILINE,
)


def _unfenced(told: str) -> tuple[str, list[str] | None]:
    """What stands outside every fence, and what inside; None where a fence does not hold."""
    inside: list[str] = []
    for fence in _FENCE.finditer(told):
        try:
            data = json.loads(fence["data"])
        except ValueError:
            return told, None
        if not isinstance(data, str):
            return told, None
        inside.append(data)
    return _FENCE.sub("", told), inside
