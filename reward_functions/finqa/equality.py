"""Whether two FinQA programs are one: the same formula over the same literals and rows.

Every distinct literal and every row operation becomes a symbol; two programs are equal when their
formulas agree at random values of the symbols, modulo a prime of 61 bits. A polynomial or rational
identity that holds there by chance is a matter of 1 in 10^17, and the values cannot be foreseen
from a response. Powers and comparisons are opaque: equal when their operands are. A program with a
literal that the other lacks is another program, as in the evaluation script of the data set. Here
"5,829" and "5829", 5% and 0.05, 100 and `const_100` are one literal.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

from reward_functions.finqa.syntax import Earlier, Program

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from reward_functions.finqa.syntax import Operand, Step

PRIME: Final = 2**61 - 1

TRIALS: Final = 3
"""Points at which the formulas must agree; at one of them a divisor may vanish by chance."""


def same_program(reference: Program, stated: Program) -> bool:
    """Whether a stated program computes the reference's formula, for any numbers."""
    symbols = _symbols(reference)
    if not _symbols(stated) <= symbols:
        return False
    ordered = sorted(symbols, key=repr)
    for trial in range(TRIALS):
        random = Random(repr((trial, ordered)))  # noqa: S311 - points, not secrets
        point = {symbol: random.randrange(1, PRIME) for symbol in ordered}
        wanted = _value(reference, point)
        if wanted is None or wanted != _value(stated, point):
            return False
    return True


def _symbols(program: Program) -> set[Hashable]:
    rows = {(step.operation, step.row) for step in program.steps if step.row}
    operands = (operand for step in program.steps for operand in step.operands)
    return rows | {operand for operand in operands if not isinstance(operand, Earlier)}


def _value(program: Program, point: Mapping[Hashable, int]) -> int | None:
    results: list[int | None] = []
    for step in program.steps:
        results.append(_computed(step, results, point))
    return results[-1]


def _computed(step: Step, results: list[int | None], point: Mapping[Hashable, int]) -> int | None:
    """The value of a step modulo the prime; None where a division has none."""
    if step.row:
        return point[step.operation, step.row]
    left, right = (_operand(operand, results, point) for operand in step.operands)
    if left is None or right is None:
        return None
    match step.operation:
        case "add":
            return (left + right) % PRIME
        case "subtract":
            return (left - right) % PRIME
        case "multiply":
            return left * right % PRIME
        case "divide":
            return left * pow(right, -1, PRIME) % PRIME if right else None
    return Random(repr((step.operation, left, right))).randrange(PRIME)  # noqa: S311 - as above


def _operand(
    operand: Operand, results: list[int | None], point: Mapping[Hashable, int]
) -> int | None:
    return results[operand.step] if isinstance(operand, Earlier) else point[operand]
