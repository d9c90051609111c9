"""The tiers that need the grammar, from the same string to sympy."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

from reward_functions.core.deadlines import ALGEBRA
from reward_functions.symbolic.budget import OverBudget, Unreadable, Work
from reward_functions.symbolic.cas.admission import admitted
from reward_functions.symbolic.compare.closed_forms import apart
from reward_functions.symbolic.compare.dispatch import AnswerComparison, by_units
from reward_functions.symbolic.compare.formulas import by_formula, same_formula, to_base_ten
from reward_functions.symbolic.compare.scalars import ScalarComparison
from reward_functions.symbolic.compare.words import by_text, by_words
from reward_functions.symbolic.exact.polynomials import PolynomialField
from reward_functions.symbolic.parsing.document import read
from reward_functions.symbolic.parsing.separators import in_other_bases, other_readings
from reward_functions.symbolic.parsing.spelling import Unread, same_spelling
from reward_functions.symbolic.verdict import (
    EqualityVerdict,
    Finding,
    Outcome,
    differ,
    same,
    unknown,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reward_functions.symbolic.expr.nodes import Node
    from reward_functions.symbolic.parsing.document import Document
    from reward_functions.symbolic.verdict import Ordered


def compared(reference: str, candidate: str, *, solver: bool) -> EqualityVerdict:
    """The tiers above plain numbers, which need the grammar."""
    if reference != candidate and same_spelling(reference, candidate):
        reason = "the same text but for spacing and style"
        unread = Unread(reference), Unread(candidate)
        return EqualityVerdict(Outcome.EQUAL, "normalised-text", reason, *unread)
    if (found := apart(reference, candidate)) is not None:
        unread = Unread(reference), Unread(candidate)
        return EqualityVerdict(found.outcome, found.rule, found.reason, *unread)
    return by_reading(reference, candidate, solver=solver)


def by_reading(reference: str, candidate: str, *, solver: bool) -> EqualityVerdict:
    """The same without a look at the spelling."""
    mine = read(reference)
    if not mine.marks and not mine.trouble:
        raise Unreadable("the reference has no content")
    if reference.split() == candidate.split():
        return EqualityVerdict(Outcome.EQUAL, "same-text", "the very same text", mine, mine)
    theirs = read(candidate)
    finding = by_text(mine, theirs) or by_formula(mine, theirs)
    if finding is None and mine.unreadable:
        raise Unreadable(f"{mine.trouble}, near {mine.near}" if mine.near else mine.trouble)
    finding = finding or _by_choice(mine, theirs) or by_words(mine, theirs)
    if finding is None:
        finding = _by_readings(reference, candidate)
        if solver and finding.outcome is Outcome.UNDECIDED:
            finding = _by_solver(mine, theirs) or finding
    if not finding.equal:
        finding = same_formula(mine, theirs) or finding
    return EqualityVerdict(finding.outcome, finding.rule, finding.reason, mine, theirs)


def listed(members: Sequence[str], candidate: str, ordered: Ordered) -> EqualityVerdict:
    """The verdict on an answer that gives the members of a list; see `compare.listed`."""
    mine = [read(member).tree for member in members]
    trees = [tree for tree in mine if tree is not None]
    if len(trees) < len(mine):
        raise Unreadable("a member of the reference is not read")
    theirs = read(candidate)
    finding = _guarded(partial(_given, trees, theirs, ordered))
    if not finding.equal and "," in candidate:
        apart = read(candidate, group_digits=False)  # 12,345 may be two members
        again = _guarded(partial(_given, trees, apart, ordered))
        finding = again if again.equal else finding
    reference = Unread(f"({', '.join(members)})")
    return EqualityVerdict(finding.outcome, finding.rule, finding.reason, reference, theirs)


def _given(members: Sequence[Node], theirs: Document, ordered: Ordered) -> Finding:
    if theirs.tree is None:
        return unknown("unreadable", f"not readable as mathematics: {theirs.trouble}")
    from reward_functions.symbolic.compare.listed import compare_listed  # noqa: PLC0415 - for lists

    comparison = AnswerComparison(ScalarComparison(PolynomialField(Work())))
    return compare_listed(members, theirs.tree, comparison, ordered)


def _by_choice(mine: Document, theirs: Document) -> Finding | None:
    """Choices by letter, whatever its case, or by text, which may be mathematics.

    Both must agree when both sides give both. None when the reference is no choice.
    """
    first, second = mine.choice, theirs.choice
    if first is None:
        return None
    if second is None:
        if first.letter == theirs.letter:
            return same("choice", f"choice {first.letter}")
        same_text = first.content is not None and _by_content(first.content, theirs).equal
        return same("choice", "the text of the choice") if same_text else None
    if first.letter != second.letter:
        return differ("choice", f"choice {second.letter} is not {first.letter}")
    contents = first.content, second.content
    if None not in contents and not _by_content(*contents).equal:  # type: ignore[arg-type]
        return unknown("choice", "the same letter with another text")
    return same("choice", f"choice {first.letter}")


def _by_content(mine: Document, theirs: Document) -> Finding:
    """The contents of two choices, which are no choices themselves."""
    return by_text(mine, theirs) or by_words(mine, theirs) or _by_meaning(mine, theirs)


def _by_readings(reference: str, candidate: str) -> Finding:
    """The tiers on trees, in the usual reading of each string and in others."""
    kept = len(reference) + len(candidate) <= KEPT_LENGTH
    try:
        return (_kept if kept else _decided)(reference, candidate)
    except _Undecided as undecided:
        return undecided.finding


_ZERO: Final = [("number", "0")]

KEPT: Final = 512
"""Findings that are kept: the responses of a group meet one reference, and many of them agree."""

KEPT_LENGTH: Final = 200
"""Characters of two strings whose finding is kept."""


class _Undecided(Exception):
    """A finding that is not kept: a stack with more room may decide."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding


def _decided(reference: str, candidate: str) -> Finding:
    finding = _by_meaning(read(reference), read(candidate))
    if not finding.equal:
        finding = _read_otherwise(reference, candidate) or finding
    elif in_other_bases(reference, candidate):
        finding = differ("exact-value", "the same digits in other bases are other numbers")
    if finding.outcome is Outcome.UNDECIDED:
        raise _Undecided(finding)
    return finding


_kept = lru_cache(KEPT)(_decided)


def _by_meaning(mine: Document, theirs: Document, *, natural: bool = False) -> Finding:
    r"""The tiers on trees, under one account of work.

    Args:
        mine: the reference.
        theirs: the answer.
        natural: whether the answer's \log is natural, where both functions are written.
    """
    if mine.tree is None:
        return unknown(
            "unreadable", f"the reference is not readable as mathematics: {mine.trouble}"
        )
    if theirs.tree is None:
        return unknown("unreadable", f"not readable as mathematics: {theirs.trouble}")
    comparison = AnswerComparison(ScalarComparison(PolynomialField(Work())))
    trees = _with_bases(mine, theirs, natural=natural)
    finding = _guarded(lambda: comparison.compare(*trees))
    if not finding.equal and not _UNITS.isdisjoint(_written(mine, theirs)):
        again = _guarded(lambda: by_units(comparison, *trees) or finding)
        finding = again if again.equal else finding
    if finding.equal and mine.marks == _ZERO and theirs.has_word:
        return unknown("letters", "letters of a word are no factors of 0")
    if finding.different and (
        (mine.spelled and mine.spelled - theirs.letters)
        or (theirs.spelled and theirs.spelled - mine.letters)
    ):
        return unknown("letters", "some letters may be a word, a unit or a product")
    return finding


def _guarded(compare: Callable[[], Finding]) -> Finding:
    """What a comparison finds; undecided where it passes a limit."""
    try:
        return compare()
    except OverBudget as trouble:
        return unknown("budget", f"too much arithmetic: {trouble}")
    except RecursionError:
        return unknown("budget", "nested deeper than the stack allows")
    except Unreadable as trouble:
        return unknown("unreadable", str(trouble))


def _by_solver(mine: Document, theirs: Document) -> Finding | None:
    """The last tier, where it is worth asking; None where it is not."""
    if mine.tree is None or theirs.tree is None:
        return None
    if not admitted(mine.tree, theirs.tree):
        return None
    allowance = ALGEBRA.get()
    if allowance is not None and not allowance.take():
        return unknown(
            "budget", "too much algebra: other references took what one response may ask"
        )
    from reward_functions.symbolic.cas.client import CLIENT  # noqa: PLC0415 - starts a process

    return CLIENT.compare(*_with_bases(mine, theirs))


def _with_bases(mine: Document, theirs: Document, *, natural: bool = False) -> tuple[Node, Node]:
    """Both trees, in which log and ln are two functions where both are written."""
    if mine.tree is None or theirs.tree is None:
        raise AssertionError("only what was read is compared")
    if not _two_logarithms(mine, theirs):
        return mine.tree, theirs.tree
    return to_base_ten(mine.tree), theirs.tree if natural else to_base_ten(theirs.tree)


def _two_logarithms(mine: Document, theirs: Document) -> bool:
    """Whether both log and ln are written."""
    return {"ln", "log"} <= _written(mine, theirs)


def _written(mine: Document, theirs: Document) -> set[str]:
    """The texts of all tokens."""
    return {text for _, text in mine.marks} | {text for _, text in theirs.marks}


_UNITS: Final = frozenset("j hat widehat vec overrightarrow bar overline".split())
"""Tokens of which units have other names."""


def _read_otherwise(reference: str, candidate: str) -> Finding | None:
    r"""The finding that they are equal in another reading; None when they are not.

    Both commas of 1,234,5 mean one thing or the other, so one side at a time is read again. Beside
    \ln, the \log of an answer may be natural, all through the answer.
    """
    mine, theirs = read(reference), read(candidate)
    if "log" in candidate and _two_logarithms(mine, theirs):
        finding = _by_meaning(mine, theirs, natural=True)
        return finding if finding.equal else None
    for mine, theirs in other_readings(reference, candidate):
        finding = _by_meaning(mine, theirs)
        if finding.equal:
            return finding
    return None
