"""The results of comparisons: *equal*, *different* or *undecided*, with the rule that decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from reward_functions.core.types import Outcome

__all__ = ["EqualityVerdict", "Finding", "Ordered", "Outcome", "differ", "same", "unknown"]


Ordered = Literal["as-written", "and", "always"]
"""Which forms of an answer give members in order: those that say so, "and" as well, or all."""


class EqualityVerdict(NamedTuple):
    """The comparison of a reference with a candidate.

    Attributes:
        outcome: equal, different or undecided.
        rule: the tier or rule that decided, a short stable name ("exact-value", "units").
        reason: one sentence for a reader.
        reference: the normal form of the reference; `str()` renders it, and nothing does before.
        candidate: the normal form of the candidate, likewise.
    """

    outcome: Outcome
    rule: str
    reason: str
    reference: object
    candidate: object

    @property
    def equal(self) -> bool:
        """Whether the candidate is proved equal: what a verifier pays for."""
        return self.outcome is Outcome.EQUAL

    @property
    def decided(self) -> bool:
        """Whether the outcome is final."""
        return self.outcome is not Outcome.UNDECIDED


@dataclass(frozen=True, slots=True)
class Finding:
    """The finding of one rule about two parts of the answers; a verdict is made of the findings."""

    outcome: Outcome
    rule: str
    reason: str

    @property
    def equal(self) -> bool:
        """Whether the rule proves the two equal."""
        return self.outcome is Outcome.EQUAL

    @property
    def different(self) -> bool:
        """Whether the rule proves the two different."""
        return self.outcome is Outcome.DIFFERENT


def same(rule: str, reason: str) -> Finding:
    """A proof of equality."""
    return Finding(Outcome.EQUAL, rule, reason)


def differ(rule: str, reason: str) -> Finding:
    """A proof of difference."""
    return Finding(Outcome.DIFFERENT, rule, reason)


def unknown(rule: str, reason: str) -> Finding:
    """No proof either way."""
    return Finding(Outcome.UNDECIDED, rule, reason)
