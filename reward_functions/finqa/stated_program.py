"""The program a response states, if it states one: its last line that is a program.

A line may name it ("Program: add(1, 2)") and mark it as code. What is not a program as a whole is
none: a sentence that mentions `divide(3, 60)` states no program.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reward_functions.finqa import cues
from reward_functions.finqa.equality import same_program
from reward_functions.finqa.parser import parse
from reward_functions.finqa.syntax import MAX_LENGTH, OPERATIONS, ProgramError

if TYPE_CHECKING:
    from reward_functions.finqa.syntax import Program

TAIL: Final = 20_000
"""Characters at the end of a response in which a program is looked for."""

MAX_LINES: Final = 20
"""Lines with an operation that are tried, from the end."""

_STEP: Final = re.compile(rf"\b(?:{'|'.join(sorted(OPERATIONS))})\s{{0,8}}\(", re.IGNORECASE)


def stated_program(text: str) -> Program | None:
    """The last program of a response, or None."""
    if "(" not in text:
        return None
    tail = text[-TAIL:]
    tried = 0
    for line in reversed(tail.splitlines()):
        if "(" not in line or len(line) > MAX_LENGTH or not _STEP.search(line):
            continue
        tried += 1
        if tried > MAX_LINES:
            return None
        label = cues.PROGRAM_LABEL.match(line)
        try:
            return parse(line[label.end() if label else 0 :].strip("`*_ .;"))
        except ProgramError:
            continue
    return None


def program_accuracy(text: str, program: str | None) -> tuple[bool, bool]:
    """Whether the response states a program, and whether it is the reference's."""
    stated = stated_program(text)
    if stated is None or program is None:
        return stated is not None, False
    try:
        return True, same_program(parse(program), stated)
    except ProgramError:  # the answer can still be judged
        return True, False
