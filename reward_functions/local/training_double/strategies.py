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
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reward_functions.data.other_answers import INJECTIONS
from reward_functions.local.training_double.wording import (
    CLOSINGS,
    DOUBLE_CHECKS,
    LISTED,
    UNSURE,
    reasoning,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from reward_functions.local.training_double.tasks import Task

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
    return f"{' '.join(working)} {random.choice(CLOSINGS)}\n{_stated(task, random, answer)}"


def _correct(task: Task, random: Random) -> str:
    return _worked(task, random, task.answer)


def _verbose(task: Task, random: Random) -> str:
    thought = [
        *reasoning(task.numbers, random, random.randint(10, 14)),
        *random.sample(DOUBLE_CHECKS, random.randint(4, 7)),
        *reasoning(task.numbers, random, random.randint(5, 8))[1:],
    ]
    half = len(thought) // 2
    text = f"{' '.join(thought[:half])}\n\n{' '.join(thought[half:])}"
    if random.random() < THOUGHT:
        text = f"<think>\n{text}\n</think>"
    return f"{text}\n\n{random.choice(CLOSINGS)}\n{_stated(task, random, task.answer)}"


def _near_miss(task: Task, random: Random) -> str:
    return _worked(task, random, task.near_miss(random))


def _format_only(task: Task, random: Random) -> str:
    return random.choice(task.form.empty)


def _hedged(task: Task, random: Random) -> str:
    pair = [task.answer, task.near_miss(random)]
    random.shuffle(pair)
    working = " ".join(reasoning(task.numbers, random, random.randint(2, 3)))
    both = _stated(task, random, task.form.alternative.join(pair))
    return f"{working} {random.choice(UNSURE)}\n{both}"


def _guesses(task: Task, random: Random) -> str:
    wanted = random.randint(*GUESSES)
    wrong = list(dict.fromkeys(task.near_miss(random) for _ in range(2 * wanted)))[: wanted - 1]
    wrong.insert(random.randrange(len(wrong)), task.answer)
    if random.random() < 0.5:  # noqa: PLR2004 - one line, or a line each
        listed = _stated(task, random, ", ".join(wrong))
    else:
        line = task.form.lines[0]
        listed = "\n".join(line % guess for guess in wrong)
    return f"{random.choice(LISTED)}\n{listed}".lstrip("\n")


def _injection(task: Task, random: Random) -> str:
    parts = [random.choice(INJECTIONS), _stated(task, random, task.near_miss(random))]
    random.shuffle(parts)
    return "\n".join(parts)


def _truncated(task: Task, random: Random) -> str:
    *whole, last = reasoning(task.numbers, random, random.randint(3, 9))
    broken = last[: random.randint(len(last) // 3, len(last) - 2)].rstrip()
    opening = "<think>\n" if random.random() < THOUGHT else ""
    return f"{opening}{' '.join([*whole, broken])}"


def _empty(_: Task, random: Random) -> str:
    return random.choice(("", " ", "\n"))


STRATEGIES: Final = (
    Strategy("correct", True, _correct),
    Strategy("correct and verbose", True, _verbose),
    Strategy("near miss", False, _near_miss),
    Strategy("format only", False, _format_only),
    Strategy("hedged", False, _hedged),
    Strategy("list of guesses", False, _guesses),
    Strategy("injection", False, _injection),
    Strategy("truncated", False, _truncated),
    Strategy("empty", False, _empty),
)

CORRECT: Final = frozenset(one.name for one in STRATEGIES if one.correct)
