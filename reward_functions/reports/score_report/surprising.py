"""Rules by which a row is worth a look: where the reward says otherwise than what stands around it.

A rule is a row of a table and says what it found on the page. A row that several find is shown
under the first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import BadReference
from reward_functions.core.references import reference_text

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from reward_functions.core.types import Sample
    from reward_functions.reports.score_report.batch import Batch

GROUP: Final = 3
"""Responses of the smallest group in which one can be the only one."""

SHORT: Final = 40
"""Characters of a reference that may be looked for in a response."""

END: Final = 400
"""Characters of the end of a response in which its answer is likely to stand."""

DISAGREES: Final = "The label says otherwise"
ONLY_SUCCESS: Final = "The only one of its group above the minimum"
ONLY_FAILURE: Final = "The only one of its group below the maximum"
REFERENCE_AT_END: Final = "At the minimum, with the reference in its last line"
CUT_AND_CORRECT: Final = "At the maximum, though it seems cut off"

_POINT_BETWEEN: Final = re.compile(r"[0-9][.,][0-9]")

RULES: Final = (DISAGREES, ONLY_SUCCESS, ONLY_FAILURE, REFERENCE_AT_END, CUT_AND_CORRECT)
"""In the order in which they are asked."""


@dataclass(frozen=True, slots=True)
class Surprise:
    """The rows that a rule found.

    Args:
        rule: of `RULES`.
        rows: that no earlier rule found, in order.
    """

    rule: str
    rows: Sequence[int]


def surprises(
    batch: Batch, cut: Collection[int], disagreements: Sequence[int] = ()
) -> list[Surprise]:
    """What each rule found, where it found something.

    Args:
        batch: of rows.
        cut: the rows that show a sign of truncation.
        disagreements: the rows whose label says otherwise.
    """
    low, high = batch.scale
    found = {
        DISAGREES: disagreements,
        ONLY_SUCCESS: _alone(batch, low),
        ONLY_FAILURE: _alone(batch, high),
        REFERENCE_AT_END: [
            at
            for at in batch.scored
            if batch.value(at) == low and _ends_with_reference(batch.sample(at))
        ],
        CUT_AND_CORRECT: [at for at in batch.scored if batch.value(at) == high and at in cut],
    }
    seen: set[int] = set()
    shown = []
    for rule in RULES:
        rows = [at for at in found[rule] if at not in seen]
        seen.update(rows)
        if rows:
            shown.append(Surprise(rule, rows))
    return shown


def _alone(batch: Batch, others: float) -> list[int]:
    """The rows that are the only one of their group with another reward than `others`."""
    found = []
    for rows in batch.groups:
        if len(rows) >= GROUP:
            apart = [at for at in rows if batch.value(at) != others]
            if len(apart) == 1:
                found += apart
    return found


def _ends_with_reference(sample: Sample) -> bool:
    """Whether the last line of a response holds the reference, as words of its own."""
    try:
        text = reference_text(sample.reference)
    except BadReference:
        return False
    wanted = text.rpartition("####")[2].strip().lower()
    if not 0 < len(wanted) <= SHORT:
        return False
    last = sample.response[-END:].rstrip().rpartition("\n")[2].lower()
    start = last.find(wanted)
    while start >= 0:
        if not _inside_a_word(last, start, start + len(wanted)):
            return True
        start = last.find(wanted, start + 1)
    return False


def _inside_a_word(text: str, start: int, end: int) -> bool:
    """Whether letters or digits go on at either end; a point between digits is part of a number."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before[-1:].isalnum() or after[:1].isalnum():
        return True
    joined = _POINT_BETWEEN.match
    return bool(joined(before + text[start]) or joined(text[end - 1] + after))
