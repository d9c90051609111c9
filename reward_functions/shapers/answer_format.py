r"""The answer stands as the prompt asked for it: one box, or one last line that is marked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Sample, Score
from reward_functions.extraction.candidates.boxes import last_boxed
from reward_functions.extraction.reasoning import without_reasoning
from reward_functions.shapers._sections import Fault, blank

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BOX: Final = re.compile(r"\\boxed(?![A-Za-z])")
"""A box; `\\boxedtext` would be another command."""


def _boxed(text: str) -> str | Fault:
    if (count := len(BOX.findall(text))) != 1:
        return Fault(f"there are {count:,} boxes" if count else "there is no box")
    box = last_boxed(text)
    if box is None or blank(box.text):
        return Fault("the box is empty, or never closed")
    return box.text


def _last_line(mark: str, text: str) -> str | Fault:
    lines = [line.strip() for line in text.splitlines() if not blank(line)]
    marked = [line for line in lines if _begins_with(mark, line)]
    if len(marked) != 1:
        count = f"are {len(marked):,} lines" if marked else "is no line"
        return Fault(
            f"there {count} that begin with {mark}".replace("line that begin", "line that begins")
        )
    answer = marked[0][len(mark) :].strip()
    if marked[0] is not lines[-1]:
        return Fault(f"the line that begins with {mark} is not the last")
    return Fault(f"nothing follows {mark}") if blank(answer) else answer


def _begins_with(mark: str, line: str) -> bool:
    """Whether a line has the mark, and not a longer one: `##### Notes` is a heading."""
    return line[: len(mark)].upper() == mark and line[len(mark) : len(mark) + 1] != mark[-1]


_FORMS: Final[Mapping[str, Callable[[str], str | Fault]]] = {
    "boxed": _boxed,
    "hash": lambda text: _last_line("####", text),
    "answer": lambda text: _last_line("ANSWER:", text),
}


@reward_function(
    version=3,
    partial_credit=1.0,
    examples=[
        Example("positive", response="6 × 7 is \\boxed{42}.", score=1.0),
        Example("positive", response="6 × 7\n#### 42", score=1.0, parameters={"form": "hash"}),
        Example("positive", response="6 × 7\nAnswer: 42", score=1.0, parameters={"form": "answer"}),
        Example("negative", response="The answer is 42.", score=0.0),
        Example("negative", response="<think>\\boxed{42}</think>42", score=0.0),
        Example("attack", response="\\boxed{41} \\boxed{42}", score=0.0, why="two boxes"),
        Example("attack", response="\\boxed{}", score=0.0, why="an empty box"),
        Example(
            "attack",
            response="#### 41\n#### 42",
            score=0.0,
            parameters={"form": "hash"},
            why="two marked lines",
        ),
    ],
)
def answer_format(sample: Sample, *, form: Literal["boxed", "hash", "answer"] = "boxed") -> Score:
    r"""The response gives one answer, in the form the prompt asked for, outside its reasoning.

    Reference: none. Scale: 1.0 or 0.0. Forms: `boxed`, exactly one `\boxed{…}` that is closed and
    not empty; `hash`, a last line `#### …` as in GSM8K; `answer`, a last line `ANSWER: …`, in
    capitals or not. It does not read the answer itself. Verifiers find answers in other forms too,
    so this is for prompts whose form somebody else's parser needs.

    Args:
        sample: the response; a reference is ignored.
        form: what to look for.
    """
    found = _FORMS[form](without_reasoning(sample.response))
    if isinstance(found, Fault):
        return Score(0.0, reason=str(found))
    return Score(1.0, answer=found, reason="one answer, in the form asked for")
