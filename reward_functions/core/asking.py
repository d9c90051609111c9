"""The questions to a judge model, and the answers that it may give.

    judge function ──(Question)──→ Ask ──→ Verdict, or it raises JudgeUnavailable | NoVerdict

An `Ask` is anything that answers questions: a model at an API, recorded answers, a cache in front
of either, a fake. All have one signature, so that they wrap each other. A verdict has exactly the
fields the question names. Each is free text or one of the choices offered; no number is parsed out
of prose. A question asks for the reason before the choice it is the reason for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, Final, Protocol

from reward_functions.core.errors import NoVerdict
from reward_functions.core.types import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

CANARY: Final = "checksum"
"""The field in which a judge repeats a random token that stands outside the material it judges."""

CONFIDENCE: Final = "confidence"
"""The field in which a judge says how sure it is."""

MAX_TEXT: Final = 20_000
"""Characters of one field of a verdict. A reason has a few hundred."""


@dataclass(frozen=True, slots=True)
class VerdictField:
    """One field of a verdict.

    Args:
        name: its key in the JSON object.
        about: its description in the schema and in the instructions.
        choices: the legal values, worst for the response first; none for free text.
        supports: for free text, the field it supports: the text must be a quotation of the
            material unless that field has its worst value. "" for none.
        usual: the value in scripted verdicts that leave the field out; the worst where empty.
    """

    name: str
    about: str
    choices: tuple[str, ...] = ()
    supports: str = ""
    usual: str = ""

    @property
    def default(self) -> str:
        """The value in scripted verdicts that leave the field out."""
        return self.usual or (self.choices[0] if self.choices else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One call: the text the model reads, and the fields of its verdict.

    Args:
        key: a hash of everything that decides the answer, random marks excluded. Equal questions
            have equal keys in every process.
        system: the instructions, the same for every sample of a judge.
        shared: the text a group has in common, such as the prompt. It follows `system`, so that a
            provider's prompt cache can hold both.
        text: the material to judge, and the random token to repeat.
        fields: of the verdict, in the order the model writes them.
        canary: the token.
        quotable: the material that quotations must come from.
        sample: the id of the sample.
        turn: the position of this question among those about the sample, from 0.
        blank: makes the same question about a response that says nothing; None where the
            question is about the responses of several samples.
    """

    key: str
    system: str
    shared: str
    text: str
    fields: tuple[VerdictField, ...]
    canary: str
    quotable: str = ""
    sample: str = ""
    turn: int = 0
    blank: Callable[[], Question] | None = field(default=None, compare=False, repr=False)

    def filled(self, values: Mapping[str, str]) -> dict[str, str]:
        """A complete verdict: the given values, and the default of every other field."""
        defaults = {each.name: each.default for each in self.fields}
        return {**defaults, CANARY: self.canary, **values}

    def read(self, answer: Any) -> dict[str, str]:
        """The values of an answer that is a legal verdict.

        Args:
            answer: the model's answer, decoded from JSON.

        Raises:
            NoVerdict: a field is missing or unknown, or has a value that was not offered; the
                canary is missing; a quotation does not occur in the material.
        """
        names = [field.name for field in self.fields]
        if not isinstance(answer, dict) or sorted(answer) != sorted(names):
            raise NoVerdict("the answer has other fields than the verdict")
        for each in self.fields:
            value = answer[each.name]
            if not isinstance(value, str) or len(value) > MAX_TEXT:
                raise NoVerdict(
                    f"field {each.name!r} of the verdict is no string of a legal length"
                )
            if each.choices and value not in each.choices:
                raise NoVerdict(f"field {each.name!r} of the verdict is none of its choices")
        if CANARY in answer and answer[CANARY].strip() != self.canary:
            raise NoVerdict("the verdict does not repeat the checksum at the end of the question")
        for each in self.fields:
            if each.supports:
                self._check_quotation(each, answer)
        return {name: answer[name] for name in names}

    def _check_quotation(self, quotation: VerdictField, answer: Mapping[str, str]) -> None:
        supported = next(each for each in self.fields if each.name == quotation.supports)
        if answer[supported.name] == supported.choices[0]:
            return
        words = " ".join(answer[quotation.name].split())
        if not words or words not in " ".join(self.quotable.split()):
            raise NoVerdict(f"field {quotation.name!r} quotes what the response does not say")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A legal answer.

    Args:
        values: by the name of the field.
        usage: tokens of the call; none for a verdict from a cache.
        model: the id of the model that gave it.
        refused: whether it stands for a refusal that the response caused: its choices are the
            worst, and the response earns the minimum.
    """

    values: Mapping[str, str]
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    refused: bool = False

    def __getitem__(self, name: str) -> str:
        return self.values[name]


class Ask(Protocol):
    """Anything that answers questions."""

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """Answer one question; safe to call from many threads.

        Args:
            question: what to answer.
            deadline: the reading of `time.monotonic()` by which the call returns.

        Raises:
            JudgeUnavailable: no model could be asked in time.
            NoVerdict: the answer is no legal verdict.
        """


@dataclass(frozen=True, slots=True)
class ScriptedAsk:
    """An `Ask` with answers written in advance: those of a worked example or of a test.

    Args:
        answers: one for each turn. A field left out has its default, mostly the worst choice; a
            turn without an answer has the default of every field. An exception is raised.
    """

    answers: Sequence[Mapping[str, str] | Exception] = field(default=())

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:  # noqa: ARG002
        """The answer of the question's turn.

        Raises:
            NoVerdict: it is no legal verdict.
        """
        written = self.answers[question.turn] if question.turn < len(self.answers) else {}
        if isinstance(written, Exception):
            raise written
        return Verdict(question.read(question.filled(written)), model="script")
