"""The verdict on an answer by what its reference asks for: a value, members, or one of several."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from reward_functions.symbolic import Outcome
from reward_functions.verifiers._math.asked_order import has_named_blanks, in_asked_order
from reward_functions.verifiers._math.members import members_verdict
from reward_functions.verifiers._math.stray_notation import within
from reward_functions.verifiers._math.truths import affirmed
from reward_functions.verifiers._math.verdict import verdict_on

if TYPE_CHECKING:
    from reward_functions.symbolic import EqualityVerdict
    from reward_functions.verifiers._math.reference import Reference


def verdict_for(
    right: Reference, answer: str, *, prompt: str, rounded: int, strict_percent: bool
) -> EqualityVerdict:
    """The verdict, where values with names stand in the order in which the prompt asks for them."""
    reference = right.text
    if right.written and answer.strip(" $") == right.written:
        answer = reference
    if right.affirmed:
        answer = affirmed(answer) or answer
    if "=" in answer and "=" not in reference:
        answer = in_asked_order(answer, prompt, solutions=not right.members) or answer
    elif "=" in reference and "=" not in answer:
        reference = in_asked_order(reference, prompt) or reference
    if right.members:
        return members_verdict(right, answer, prompt)
    judged = partial(verdict_on, rounded=rounded, strict_percent=strict_percent)
    verdict = judged(reference, answer)
    if verdict.equal and verdict.rule == "members" and has_named_blanks(prompt):
        verdict = judged(f"({reference})", f"({answer})")
    if right.others and not verdict.equal and within(answer, right.others):
        reason = "a value that the reference allows as well"
        return verdict._replace(outcome=Outcome.EQUAL, rule="allowed-value", reason=reason)
    return verdict
