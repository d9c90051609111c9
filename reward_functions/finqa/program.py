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
"""

from __future__ import annotations

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
