"""Nine ways to answer a prompt, each written out as a model would write it.

| strategy | what it writes | correct |
| --- | --- | --- |
| correct | some reasoning, and the right answer in the form asked for | yes |
| correct and verbose | the same after long reasoning, at times in `<think>` | yes |
| near miss | some reasoning, and a plausible wrong answer | no |
| format only | the form with no content | no |
| hedged | two answers, one of them right | no |
| list of guesses | many answers, one of them right and not the last | no |
| injection | a wrong answer, and words to the grader | no |
| truncated | reasoning that breaks off before any answer | no |
| empty | nothing, or white space | no |

"Correct" is what this table calls them and not what they earn: that is the reward's to say.

A strategy writes right answers because it is given them: it reads the reference of the row, in
every shape that the data sets and trainers have. A wrong answer is made from the right one by the
table of kinds, and is another value by any tolerance a reward has.

The form that a prompt names last is the one it asks for: `####`, a box, an ANSWER line, a tag, a
JUDGMENT line (of two responses), a sentence. Where it names none, the reference shows one.
`<answer>` alone is a placeholder, as in `#### <answer>`: a tag is closed, or called a tag.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reward_functions.audit.other_answers import INJECTIONS
from reward_functions.core.errors import BadReference, ConfigurationError
from reward_functions.data.answers import BOXED, CHOICE, LONG, NUMBER, kind_of, stated_answer
from reward_functions.data.records import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from random import Random

WORDING: Final[Mapping[str, list[str]]] = tomllib.loads(
    Path(__file__).with_name("wording.toml").read_text("utf-8")
)
"""The sentences of responses."""


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """A row of the table.

    Args:
        name: of the form.
        asked: what a prompt holds that asks for it; None for one that none asks for.
        lines: ways to write an answer in it, `%s` being the answer.
        empty: the form with no content.
        alternative: stands between two answers in it.
    """

    name: str
    asked: re.Pattern[str] | None
    lines: tuple[str, ...]
    empty: tuple[str, ...]
    alternative: str = " or "


HASH: Final = AnswerForm("####", re.compile("####"), ("#### %s",), ("####", "#### <number>"))

BOX: Final = AnswerForm(
    "box",
    BOXED,
    (r"\boxed{%s}", r"The answer is $\boxed{%s}$.", r"So the final answer is $\boxed{%s}$."),
    (r"\boxed{}", r"The answer is $\boxed{}$."),
    r" \text{ or } ",
)

ANSWER_LINE: Final = AnswerForm(
    "ANSWER:",
    re.compile(r"\banswer\s?:", re.IGNORECASE),
    ("ANSWER: %s",),
    ("ANSWER:", "ANSWER: <value>"),
)

ANSWER_TAG: Final = AnswerForm(
    "<answer>",
    re.compile(r"</answer>|<answer>\W{0,3}tags?\b|\btags?\W{1,3}<answer>"),
    ("<answer>%s</answer>",),
    ("<answer></answer>", "<answer>…</answer>"),
)

JUDGMENT_LINE: Final = AnswerForm(
    "JUDGMENT:",
    re.compile(r"\bjudge?ment\s?:", re.IGNORECASE),
    ("JUDGMENT: %s",),
    ("JUDGMENT:", "JUDGMENT: [Response 1 / Response 2 / Tie]"),
)

SENTENCE: Final = AnswerForm(
    "sentence",
    None,
    ("The answer is %s.", "So the answer is %s."),
    ("The answer is as follows.", "The answer is:"),
)

FORMS: Final = (HASH, BOX, ANSWER_LINE, ANSWER_TAG, JUDGMENT_LINE, SENTENCE)


def asked_for(prompt: str) -> AnswerForm | None:
    """The form that a prompt names last; None where it names none."""
    found: list[tuple[int, AnswerForm]] = []
    for form in FORMS:
        places = [match.start() for match in form.asked.finditer(prompt)] if form.asked else []
        found += [(places[-1], form)] if places else []
    return max(found, key=lambda pair: pair[0])[1] if found else None


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
    """A strategy's knowledge of a prompt.

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


def reasoning(numbers: Sequence[str], random: Random, length: int) -> list[str]:
    """So many sentences of working, the first of them an opening.

    Args:
        numbers: of the prompt; without numbers, the sentences have none.
        random: draws.
        length: how many sentences, at least one.
    """
    sentences = (
        WORDING["with_numbers"] + WORDING["without_numbers"]
        if numbers
        else WORDING["without_numbers"]
    )
    drawn = random.sample(sentences, min(length - 1, len(sentences)))
    drawn += random.choices(WORDING["double_checks"], k=length - 1 - len(drawn))
    if numbers:
        drawn = [each.format(a=random.choice(numbers), b=random.choice(numbers)) for each in drawn]
    return [random.choice(WORDING["openings"]), *drawn]


GUESSES: Final = (4, 8)
"""Answers of a list of guesses, at the least and at the most; fewer where there are no more."""

THOUGHT: Final = 0.4
"""The share of long and of truncated responses whose reasoning stands in `<think>`."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A row of the table.

    Args:
        name: of the strategy.
        correct: whether it gives one answer, the right one, in the form asked for.
        write: a response to a task; draws its words from the generator.
    """

    name: str
    correct: bool
    write: Callable[[Task, Random], str]


def _stated(task: Task, random: Random, answer: str) -> str:
    return random.choice(task.form.lines) % answer


def _worked(task: Task, random: Random, answer: str) -> str:
    working = reasoning(task.numbers, random, random.randint(3, 5))
    return (
        f"{' '.join(working)} {random.choice(WORDING['closings'])}\n{_stated(task, random, answer)}"
    )


def _verbose(task: Task, random: Random) -> str:
    thought = [
        *reasoning(task.numbers, random, random.randint(10, 14)),
        *random.sample(WORDING["double_checks"], random.randint(4, 7)),
        *reasoning(task.numbers, random, random.randint(5, 8))[1:],
    ]
    half = len(thought) // 2
    text = f"{' '.join(thought[:half])}\n\n{' '.join(thought[half:])}"
    if random.random() < THOUGHT:
        text = f"<think>\n{text}\n</think>"
    return f"{text}\n\n{random.choice(WORDING['closings'])}\n{_stated(task, random, task.answer)}"


def _hedged(task: Task, random: Random) -> str:
    pair = [task.answer, task.near_miss(random)]
    random.shuffle(pair)
    working = " ".join(reasoning(task.numbers, random, random.randint(2, 3)))
    both = _stated(task, random, task.form.alternative.join(pair))
    return f"{working} {random.choice(WORDING['unsure'])}\n{both}"


def _guesses(task: Task, random: Random) -> str:
    wanted = random.randint(*GUESSES)
    wrong = list(dict.fromkeys(task.near_miss(random) for _ in range(2 * wanted)))[: wanted - 1]
    wrong.insert(random.randrange(len(wrong)), task.answer)
    if random.random() < 0.5:  # noqa: PLR2004 - one line, or a line each
        listed = _stated(task, random, ", ".join(wrong))
    else:
        line = task.form.lines[0]
        listed = "\n".join(line % guess for guess in wrong)
    return f"{random.choice(WORDING['listed'])}\n{listed}".lstrip("\n")


def _injection(task: Task, random: Random) -> str:
    parts = [random.choice(INJECTIONS), _stated(task, random, task.near_miss(random))]
    random.shuffle(parts)
    return "\n".join(parts)


def _truncated(task: Task, random: Random) -> str:
    *whole, last = reasoning(task.numbers, random, random.randint(3, 9))
    broken = last[: random.randint(len(last) // 3, len(last) - 2)].rstrip()
    opening = "<think>\n" if random.random() < THOUGHT else ""
    return f"{opening}{' '.join([*whole, broken])}"


STRATEGIES: Final = (
    Strategy("correct", True, lambda task, draws: _worked(task, draws, task.answer)),
    Strategy("correct and verbose", True, _verbose),
    Strategy("near miss", False, lambda task, draws: _worked(task, draws, task.near_miss(draws))),
    Strategy("format only", False, lambda task, draws: draws.choice(task.form.empty)),
    Strategy("hedged", False, _hedged),
    Strategy("list of guesses", False, _guesses),
    Strategy("injection", False, _injection),
    Strategy("truncated", False, _truncated),
    Strategy("empty", False, lambda _, draws: draws.choice(("", " ", "\n"))),
)

CORRECT: Final = frozenset(one.name for one in STRATEGIES if one.correct)
