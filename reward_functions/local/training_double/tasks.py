"""What a prompt and its reference come to: the right answer, its kind, and the form asked for.

A simulated policy writes right answers because it is given them: it reads the reference of the row,
in every shape that the data sets and trainers have. A wrong answer is made from the right one by
the table of kinds, and is another value by any tolerance a reward has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import BadReference, ConfigurationError
from reward_functions.data.answer_kinds import (
    CHOICE,
    LONG,
    NUMBER,
    kind_of,
    stated_answer,
)
from reward_functions.data.records import text_of
from reward_functions.local.training_double.forms import (
    BOX,
    FORMS,
    SENTENCE,
    AnswerForm,
    asked_for,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from random import Random

READ: Final = 20_000
"""Characters of a prompt that are searched for numbers and names."""

MOST_NUMBERS: Final = 12

_NUMERAL: Final = re.compile(r"\d+")
_GIVEN: Final = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,15}\b")

_FACTORS: Final = tuple(map(Decimal, ("0.62", "0.71", "0.84", "0.93", "1.08", "1.19", "1.33")))
"""A wrong figure is so many times the right one: beyond any tolerance, and no power of ten."""

_SHOWN: Final[Mapping[str | None, AnswerForm]] = {form.name: form for form in FORMS}
"""The form in which a reference shows its answer."""

_OPPOSITES: Final = {"yes": "no", "no": "yes", "true": "false", "false": "true"}

_NO_ANSWER: Final = "it cannot be determined"


class NoTask(ConfigurationError):
    """A row without a reference that the simulation could write a right answer from."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a strategy knows of a prompt.

    Args:
        answer: the right one, as the reference has it.
        kind: of `KINDS`; a policy learns for each by itself.
        form: how the prompt asks for the answer.
        numbers: numerals of the prompt, for the reasoning; none of them is the answer.
        names: capitalised words of it.
    """

    answer: str
    kind: str
    form: AnswerForm
    numbers: tuple[str, ...]
    names: tuple[str, ...]

    def near_miss(self, random: Random) -> str:
        """A plausible answer that is wrong."""
        return _NEAR_MISSES[self.kind](self, random)


def task_of(messages: Sequence[Mapping[str, Any]], reference: Any) -> Task:
    """The task of a row.

    Args:
        messages: the prompt: turns with `role` and `content`, a string or a list of text blocks.
        reference: in any shape that `core.references` reads, a FinQA record, or a prepared one.

    Raises:
        NoTask: there is no reference, or no answer can be read from it.
    """
    try:
        answer, shown = stated_answer(reference)
    except BadReference as error:
        raise NoTask(
            f"the simulation writes right answers from references, and {error}; give every row a "
            "reference_answer"
        ) from None
    asked = "\n".join(text_of(turn.get("content")) for turn in messages)
    users = [text_of(turn.get("content")) for turn in messages if turn.get("role") == "user"]
    prompt = users[-1][:READ] if users else ""
    kind = kind_of(answer)
    form = asked_for(asked) or _SHOWN.get(shown) or (BOX if kind == "formula" else SENTENCE)
    taken = set(_NUMERAL.findall(answer))
    numbers = [n.rstrip(",") for n in _GIVEN.findall(prompt)]
    others = [n for n in dict.fromkeys(numbers) if taken.isdisjoint(_NUMERAL.findall(n))]
    names = [name for name in dict.fromkeys(_NAME.findall(prompt)) if name not in answer]
    return Task(answer, kind, form, tuple(others[:MOST_NUMBERS]), tuple(names[:MOST_NUMBERS]))


def _other_number(task: Task, random: Random) -> str:
    match = NUMBER.fullmatch(task.answer)
    assert match is not None, "the kind says so"
    value = match["value"]
    places = len(value.partition(".")[2])
    with localcontext(_exactly(value)):
        known = Decimal(value.replace(",", ""))
        changed = round(known * random.choice(_FACTORS), places)
        if changed == known:
            changed += random.randint(1, 3) * Decimal(1).scaleb(-places)
    grouped = f"{changed:,f}" if "," in value else f"{changed:f}"
    return f"{match['lead']}{grouped}{match['tail']}"


def _other_formula(task: Task, random: Random) -> str:
    """One numeral in it is another; where it has none, a bare number."""
    numerals = list(_NUMERAL.finditer(task.answer))
    if not numerals:
        return str(random.randint(2, 9))
    one = random.choice(numerals)
    with localcontext(_exactly(one[0])):
        changed = Decimal(one[0]) + random.randint(1, 3)
    return f"{task.answer[: one.start()]}{changed:f}{task.answer[one.end() :]}"


def _exactly(numeral: str) -> Context:
    """Arithmetic that rounds nothing away: a product with a factor has three digits more."""
    return Context(prec=len(numeral) + 3)


def _other_letter(task: Task, random: Random) -> str:
    match = CHOICE.fullmatch(task.answer)
    assert match is not None, "the kind says so"
    return f"{match[1]}{random.choice([each for each in 'ABCDE' if each != match[2]])}{match[3]}"


def _other_words(task: Task, random: Random) -> str:
    return random.choice([*task.names, _NO_ANSWER]) if len(task.answer) <= LONG else _NO_ANSWER


_NEAR_MISSES: Final[Mapping[str, Callable[[Task, Random], str]]] = {
    "whole number": _other_number,
    "decimal": _other_number,
    "percentage": _other_number,
    "yes or no": lambda task, _: _OPPOSITES[task.answer.lower()],
    "choice": _other_letter,
    "formula": _other_formula,
    "words": _other_words,
}

KINDS: Final = tuple(_NEAR_MISSES)
"""The kinds of answers, for each of which a policy learns by itself."""
