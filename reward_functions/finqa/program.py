r"""The FinQA program language: arithmetic over the numbers of a filing and the rows of its table.

    subtract(5829, 5735), divide(#0, 5735)          flat: `#0` is the result of the first step
    divide(subtract(5829, 5735), 5735)              nested: the same, without numbered results
    table_average(net sales (a, b), none)           over the cells of one row

    add subtract multiply divide    two operands each, exact
    exp                             a power; 0^0 is 1
    greater                         "yes" or "no", and no operand for another step
    table_max  table_min  table_sum  table_average

Operands are numbers ("5,829", "-.5", "5%"), constants (`const_100`, `const_m1`) and earlier
results. Names of operations have any case and spacing. The two forms do not mix. The result of a
program is that of its last step.

Everything is computed in fractions; only a power with a fractional exponent is a decimal, of
`DECIMAL_DIGITS` digits. Limits are checked before the arithmetic they bound.

Source: Chen et al., FinQA: A Dataset of Numerical Reasoning over Financial Data, 2021 (arXiv
2109.00122), and the evaluation script published with it. A result is what that script computes,
but that row names may hold commas and parentheses, and that a table operation on a result is an
error and not the value of another row.

The program a response states, if it states one: its last line that is a program.

A line may name it ("Program: add(1, 2)") and mark it as code. Only a whole program counts: a
sentence that mentions `divide(3, 60)` states no program.
"""

from __future__ import annotations

import re
from typing import Final

from reward_functions.finqa import cues
from reward_functions.finqa.equality import same_program
from reward_functions.finqa.executor import (
    DECIMAL_DIGITS,
    MAX_BITS,
    MAX_CELLS,
    MAX_EXPONENT,
    MAX_RESULT,
    execute,
    rounded,
)
from reward_functions.finqa.parser import parse
from reward_functions.finqa.syntax import (
    MAX_DIGITS,
    MAX_LENGTH,
    MAX_STEPS,
    OPERATIONS,
    PLACES,
    Earlier,
    Operand,
    Program,
    ProgramError,
    Result,
    Rows,
    Step,
    read_number,
)

__all__ = [
    "DECIMAL_DIGITS",
    "MAX_BITS",
    "MAX_CELLS",
    "MAX_DIGITS",
    "MAX_EXPONENT",
    "MAX_LENGTH",
    "MAX_RESULT",
    "MAX_STEPS",
    "OPERATIONS",
    "PLACES",
    "Earlier",
    "Operand",
    "Program",
    "ProgramError",
    "Result",
    "Rows",
    "Step",
    "execute",
    "parse",
    "read_number",
    "rounded",
]


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
