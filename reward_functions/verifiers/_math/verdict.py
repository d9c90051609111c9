"""The verdict on an answer, under the parameters of `math`."""

from __future__ import annotations

from typing import Final

from reward_functions import symbolic
from reward_functions.core import patterns as re
from reward_functions.core.errors import UnreadableReference
from reward_functions.extraction.cues import sentences as words
from reward_functions.verifiers._math.glued_commands import suggestion

PERCENT_SIGN: Final = "percent-sign"
"""The rule of verdicts that drop a percent sign."""

_DECIMAL: Final = re.compile(r"[-+]?(\d*\.\d+)")


def verdict_on(
    reference: str, answer: str, *, rounded: int, strict_percent: bool
) -> symbolic.EqualityVerdict:
    """The verdict. A decimal rounds an exact value as a decimal reference would."""
    if strict_percent:
        reference, answer = (
            words.PERCENT.sub(r"\\frac{\1}{100}", reference),
            words.PERCENT.sub(r"\\frac{\1}{100}", answer),
        )
    try:
        verdict = symbolic.equal(reference, answer)
    except symbolic.Unreadable as error:
        reason = f"the reference cannot be read: {error}{suggestion(reference, str(error))}"
        raise UnreadableReference(reason) from None
    if rounded and not verdict.equal and _digits(answer) >= rounded > _digits(reference):
        turned = symbolic.equal(answer, reference)
        own = turned._replace(reference=turned.candidate, candidate=turned.reference)
        return own if turned.equal else verdict
    return verdict


def by_percent_sign(reference: str, answer: str, rule: str) -> bool:
    """Whether a right answer is right only because a percent sign may be dropped: 16% for 16."""
    if rule != PERCENT_SIGN:
        return False
    return not verdict_on(reference, answer, rounded=0, strict_percent=True).equal


def same_value(first: str, second: str) -> bool:
    """Whether two strings of one response have one value ("1/2 or 0.5"), without sympy."""
    try:
        return symbolic.equal(first, second, solver=False).equal
    except symbolic.Unreadable:
        return False


def _digits(text: str) -> int:
    """The significant digits of a plain decimal; none of anything else."""
    decimal = _DECIMAL.fullmatch(text.strip())
    return len(decimal[1].replace(".", "").lstrip("0")) if decimal else 0
