"""Formulas and reactions of chemistry, electrons by shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.symbolic.verdict import Finding, differ, same, unknown

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.document import Document


def by_formula(mine: Document, theirs: Document) -> Finding | None:
    """What two strings say in chemistry; None where the reference may be something else."""
    first = mine.chemistry
    if first is None or not first.sure:
        return None
    found = same_formula(mine, theirs)
    if found is None and theirs.chemistry is not None:
        return differ("chemistry", "another substance, reaction or state")
    return found or unknown("chemistry", "the reference is chemistry")


def same_formula(mine: Document, theirs: Document) -> Finding | None:
    """That two strings say the same in chemistry; None where they do not.

    States of aggregation may be left out on one side.
    """
    first, second = mine.chemistry, theirs.chemistry if mine.chemistry else None
    if first is None or second is None or first.value != second.value:
        return None
    if first.states and second.states and first.states != second.states:
        return None
    return same("chemistry", "the same in chemistry")
