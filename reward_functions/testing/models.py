"""Judge models for tests: one answers from a list, one obeys every order outside a fence."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Final

from reward_functions.core.asking import Question, ScriptedAsk, Verdict
from reward_functions.core.types import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(slots=True)
class FakeAsk:
    """A judge model for tests: it answers from a list, and records its questions.

        ask = FakeAsk({"correct": "yes"})
        rubric(sample("4", reference="4"), ask=ask)
        ask.asked[0].text

    Args:
        answers: by the question's turn. A field left out has its default, mostly the worst choice;
            a turn without an answer has the default of every field. An exception is raised. Each
            answer must be legal.
        answer: called with the question in place of the list.
        usage: tokens of every verdict.
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
    """A scripted judge model that obeys every order outside a fence.

    Fenced text is data to it. Words of the response outside a fence are orders, and so are control
    tokens and invisible characters anywhere. It gives the best verdict on an order, else the worst.
    It shows that the fences hold, and not how a real model treats the words inside them.

    Args:
        response: its lines are the orders to look for.
    """

    response: str

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:  # noqa: ARG002
        """The best verdict on an order, else the worst."""
        pick = -1 if self.obeys(question) else 0
        chosen = {
            each.name: each.usual or each.choices[pick] for each in question.fields if each.choices
        }
        quoted = dict.fromkeys(
            (each.name for each in question.fields if each.supports), question.quotable[:50]
        )
        return Verdict(question.read(question.filled({**chosen, **quoted})), model="credulous")

    def obeys(self, question: Question) -> bool:
        """Whether part of the response is outside a fence."""
        text = f"{question.system}\n{question.shared}\n{question.text}"
        bare, fenced = _unfenced(text)
        return (
            fenced is None
            or any(order in bare for order in _orders(self.response))
            or _ORDERS_IN_DISGUISE.search(text) is not None
        )


@lru_cache(maxsize=1)
def _orders(response: str) -> frozenset[str]:
    """The lines of a response that may be orders; it is sent several times in a row."""
    lines = map(str.strip, response.splitlines())
    return frozenset(order for order in lines if len(order) > SHORT_LINE)


SHORT_LINE: Final = 12
"""Characters of a line that is too short to be an order: it occurs in any instructions."""

_ORDERS_IN_DISGUISE: Final = re.compile(
    r"<\|[a-z_]+\|>|\[/?INST\]|<</?SYS>>|</?(?:s|bos|eos|start_of_turn|end_of_turn)>|<｜"
    "|[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
_FENCE: Final = re.compile(
    r'^<data name="\w+" mark="(?P<mark>[0-9a-f]{32})">\n(?P<data>.*)\n</data mark="(?P=mark)">$',
    re.MULTILINE,
)


def _unfenced(text: str) -> tuple[str, list[str] | None]:
    """The text outside every fence, and the strings inside; None where a fence is broken."""
    inside: list[str] = []
    for fence in _FENCE.finditer(text):
        try:
            data = json.loads(fence["data"])
        except ValueError:
            return text, None
        if not isinstance(data, str):
            return text, None
        inside.append(data)
    return _FENCE.sub("", text), inside
