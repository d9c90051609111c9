"""What a judge model is asked, and what it may answer.

    judge function ──(Question)──→ Ask ──→ Verdict, or it raises JudgeUnavailable | NoVerdict

An `Ask` is anything that answers questions: a model behind an API, recorded answers, a cache before
either, a fake. All have one signature, so that they wrap each other. A verdict has the fields the
question names and no others, each a text or one of the choices offered; a number is never looked
for in prose. The reason is asked for before the verdict it is the reason of.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, Final, Protocol

from reward_functions.core.errors import NoVerdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CANARY: Final = "checksum"
"""The field in which a judge repeats a random token that stands outside everything it judges."""

MAX_TEXT: Final = 20_000
"""Characters of one field of a verdict. Reasons have a few hundred; no more is kept in memory."""

MAX_TOKENS: Final = 100_000_000
"""Tokens one call can have cost. A provider that tells more is mistaken."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a verdict.

    Args:
        name: its key in the JSON object.
        about: what the model is told about it.
        choices: the legal values, worst for the response first; none for free text.
        supports: for free text, the field whose value it must support by a quotation of the
            material, unless that value is the worst; "" for none.
        usual: the value that scripts and fakes give when they do not care; the worst where empty.
    """

    name: str
    about: str
    choices: tuple[str, ...] = ()
    supports: str = ""
    usual: str = ""

    @property
    def default(self) -> str:
        """What a script says that does not care."""
        return self.usual or (self.choices[0] if self.choices else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One call: what the model is told, and the form of its verdict.

    Args:
        key: a hash of everything that decides the answer, without the random marks: equal for equal
            questions, whoever asks and whenever.
        system: instructions; equal for all the samples of a judge.
        shared: what a group has in common, such as the prompt; after `system`, so that a model's
            prompt cache can hold both.
        text: what is judged, and the random token to repeat.
        fields: of the verdict, in the order they are written in.
        canary: the token.
        quotable: the material quotations are looked for in.
        sample: the id of the sample.
        turn: which of the questions about that sample this is, from 0.
    """

    key: str
    system: str
    shared: str
    text: str
    fields: tuple[Field, ...]
    canary: str
    quotable: str = ""
    sample: str = ""
    turn: int = 0

    def filled(self, values: Mapping[str, str]) -> dict[str, str]:
        """A verdict in full from its interesting part: the rest is each field's default."""
        defaults = {each.name: each.default for each in self.fields}
        return {**defaults, CANARY: self.canary, **values}

    def read(self, answer: Any) -> dict[str, str]:
        """The values of an answer that is a legal verdict.

        Args:
            answer: what the model gave, decoded from JSON.

        Raises:
            NoVerdict: a field is missing, unknown, or has a value that was not offered; the canary
                is not repeated; a quotation does not occur in the material.
        """
        names = [field.name for field in self.fields]
        if not isinstance(answer, dict) or sorted(answer) != sorted(names):
            raise NoVerdict("the answer has other fields than the verdict")
        for each in self.fields:
            value = answer[each.name]
            if not isinstance(value, str) or len(value) > MAX_TEXT:
                raise NoVerdict(f"field {each.name!r} of the verdict is no text of a legal length")
            if each.choices and value not in each.choices:
                raise NoVerdict(f"field {each.name!r} of the verdict is none of its choices")
        if CANARY in answer and answer[CANARY].strip() != self.canary:
            raise NoVerdict("the verdict does not repeat the checksum")
        for each in self.fields:
            if each.supports:
                self._check_quotation(each, answer)
        return {name: answer[name] for name in names}

    def _check_quotation(self, quotation: Field, answer: Mapping[str, str]) -> None:
        supported = next(each for each in self.fields if each.name == quotation.supports)
        if answer[supported.name] == supported.choices[0]:
            return
        words = " ".join(answer[quotation.name].split())
        if not words or words not in " ".join(self.quotable.split()):
            raise NoVerdict(f"field {quotation.name!r} quotes what the response does not say")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call or of many, as the provider counts them.

    Args:
        input: read at full price.
        output: written, reasoning included.
        cache_read: read from the provider's prompt cache.
        cache_write: written to it.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )

    @property
    def total(self) -> int:
        """All of them."""
        return self.input + self.output + self.cache_read + self.cache_write


def token_count(counts: Any, name: str) -> int:
    """A number of tokens as a provider tells it; 0 where it tells none that can be believed.

    Args:
        counts: what should be an object of them.
        name: which.
    """
    told = counts.get(name) if isinstance(counts, dict) else None
    if isinstance(told, int) and not isinstance(told, bool) and 0 <= told <= MAX_TOKENS:
        return told
    return 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """A legal answer.

    Args:
        values: by the name of the field.
        usage: what it cost; nothing when it was remembered.
        model: who gave it.
    """

    values: Mapping[str, str]
    usage: Usage = Usage()
    model: str = ""

    def __getitem__(self, name: str) -> str:
        return self.values[name]


class Ask(Protocol):
    """Anything that answers questions."""

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """Answer one question; safe to call from many threads.

        Args:
            question: what to answer.
            deadline: the reading of `time.monotonic()` by which the answer is there.

        Raises:
            JudgeUnavailable: nobody could be asked in time.
            NoVerdict: the answer is no legal verdict.
        """


@dataclass(frozen=True, slots=True)
class Script:
    """Answers written down beforehand: of a worked example, of a test.

    Args:
        answers: one for each turn; a field left out has its default, mostly the worst choice. An
            exception is raised. A turn without an answer gets the worst verdict there is.
    """

    answers: Sequence[Mapping[str, str] | Exception] = field(default=())

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:  # noqa: ARG002
        """The answer of the question's turn, if it is legal."""
        written = self.answers[question.turn] if question.turn < len(self.answers) else {}
        if isinstance(written, Exception):
            raise written
        return Verdict(question.read(question.filled(written)), model="script")
