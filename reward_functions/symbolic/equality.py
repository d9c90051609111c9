"""The tiers of a comparison: the cheapest one first, and the first one that knows decides.

    plain rationals → normalised text → exact rational → structure → exact algebra
      → values at points → residues → sympy

A *different* is final. *Undecided* means that no tier could decide in its time, or that the
candidate is not readable as mathematics. Verifiers score both as the minimum, with the reason. The
last tier is a process of its own; `admission` decides whether it is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.budget import OverBudget, Unreadable, Work
from reward_functions.symbolic.compare.words import by_text, by_words
from reward_functions.symbolic.parsing.plain import literal
from reward_functions.symbolic.verdict import (
    EqualityVerdict,
    Finding,
    Outcome,
    differ,
    same,
    unknown,
)

if TYPE_CHECKING:
    from reward_functions.symbolic.expr.nodes import Node
    from reward_functions.symbolic.parsing.document import Document


def equal(reference: str, candidate: str, *, solver: bool = True) -> EqualityVerdict:
    r"""Whether a candidate answer means the same as a reference answer.

    Both are an answer and nothing else, in LaTeX or plain text, delimiters allowed; finding the
    answer in a response is done before. Never raises for a candidate, however hostile.

    Args:
        reference: the right answer.
        candidate: the answer to judge.
        solver: whether sympy may be asked. Not where a policy wrote both answers: it would
            otherwise decide how long the comparison takes.

    Returns:
        The verdict: equal, different (proved, final) or undecided, with the rule that decided.

    Raises:
        Unreadable: the reference has no content at all, or is mathematics that cannot be read: too
            long, too deeply nested, or in a notation that the grammar lacks. Not where the
            candidate is the same string, and not where the reference is words.
        EngineUnavailable: sympy was needed, and its process could not be had.

    Example:
        >>> equal(r"\frac{1}{2}", "0.5").outcome.value
        'equal'
    """
    reference, candidate = reference.strip(), candidate.strip()
    return _of_numbers(reference, candidate) or _compared(reference, candidate, solver=solver)


def _of_numbers(reference: str, candidate: str) -> EqualityVerdict | None:
    """The verdict on two plain numbers or fractions, which need no grammar; None on others.

    A decimal reference that is not met exactly may still be rounded to: that takes the grammar.
    """
    first, second = literal(reference), literal(candidate)
    if first is None or second is None:
        return None
    if first.equals(second):
        return EqualityVerdict(Outcome.EQUAL, "exact rational", "the same number", first, second)
    if first.places:
        return None
    return EqualityVerdict(Outcome.DIFFERENT, "exact rational", "another number", first, second)


def warm(*, wait: bool = True) -> None:
    """Load everything and start sympy's process, which later answers would wait for.

    Worth calling once, where a process scores mathematics and time at its start is cheaper than at
    its first batch. Everything works without it.

    Args:
        wait: until sympy is ready, most of a second. Otherwise its process goes on loading
            beside this one, and the first answer that needs it waits for what is left of that.

    Raises:
        EngineUnavailable: sympy's process cannot be started here. The other tiers work.
    """
    from reward_functions.symbolic.cas.client import CLIENT  # noqa: PLC0415 - not before needed

    CLIENT.launch()
    for reference, candidate in _LATE:
        _compared(reference, candidate, solver=False)
    if wait:
        _compared(*_FOR_THE_SOLVER, solver=True)


_LATE: Final = (
    ("x", "−x"),  # the grammar, what is typeset, values at points in double precision
    (r"\sin 2x", r"2\sin x\cos x"),  # many digits
)
"""Comparisons that load what is loaded late."""

_FOR_THE_SOLVER: Final = (r"\lim_{x\to0}\frac{\sin x}{x}", "1")


def readable(text: str) -> bool:
    """Whether a string is a number or an expression of the grammar, and neither prose nor empty."""
    text = text.strip()
    if literal(text) is not None:
        return True
    from reward_functions.symbolic.parsing.document import read  # noqa: PLC0415 - plain numbers need no grammar

    document = read(text)
    return document.tree is not None and not document.wordy


def restated(reference: str, answer: str, expressions: tuple[str, ...]) -> bool:
    """Whether a right answer is one of some expressions with none of its arithmetic done.

    Args:
        reference: the right answer.
        answer: the answer, known to be equal to it.
        expressions: the mathematics of the question. What is not readable counts for nothing.
    """
    from reward_functions.symbolic.compare import restatement  # noqa: PLC0415 - needs the grammar

    return restatement.restated(reference.strip(), answer.strip(), expressions)


def _compared(reference: str, candidate: str, *, solver: bool) -> EqualityVerdict:
    """The tiers above plain numbers, which need the grammar."""
    from reward_functions.symbolic.parsing.document import read  # noqa: PLC0415

    mine = read(reference)
    if not mine.marks and not mine.trouble:
        raise Unreadable("the reference has no content")
    if reference.split() == candidate.split():
        return EqualityVerdict(Outcome.EQUAL, "same text", "the very same text", mine, mine)
    theirs = read(candidate)
    finding = by_text(mine, theirs)
    if finding is None and mine.unreadable:
        raise Unreadable(mine.trouble)
    finding = finding or _by_choice(mine, theirs) or by_words(mine, theirs)
    if finding is None:
        finding = _by_meaning(mine, theirs)
        if not finding.equal:
            finding = _with_other_commas(reference, candidate) or finding
        if solver and finding.outcome is Outcome.UNDECIDED:
            finding = _by_solver(mine, theirs) or finding
    return EqualityVerdict(finding.outcome, finding.rule, finding.reason, mine, theirs)


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


def _by_meaning(mine: Document, theirs: Document) -> Finding:
    """The tiers on trees, under one account of work."""
    if mine.tree is None:
        return unknown(
            "unreadable", f"the reference is not readable as mathematics: {mine.trouble}"
        )
    if theirs.tree is None:
        return unknown("unreadable", f"not readable as mathematics: {theirs.trouble}")
    from reward_functions.symbolic.compare.dispatch import AnswerComparison  # noqa: PLC0415
    from reward_functions.symbolic.compare.scalars import ScalarComparison  # noqa: PLC0415
    from reward_functions.symbolic.exact.polynomials import PolynomialField  # noqa: PLC0415

    try:
        finding = AnswerComparison(ScalarComparison(PolynomialField(Work()))).compare(
            *_with_bases(mine, theirs)
        )
    except OverBudget as trouble:
        return unknown("budget", f"too much arithmetic: {trouble}")
    except Unreadable as trouble:
        return unknown("unreadable", str(trouble))
    if finding.different and (
        (mine.spelled and mine.spelled - theirs.letters)
        or (theirs.spelled and theirs.spelled - mine.letters)
    ):
        return unknown("letters", "letters that may be a word, a unit or digits")
    return finding


def _by_solver(mine: Document, theirs: Document) -> Finding | None:
    """The last tier, where it is worth asking; None where it is not."""
    if mine.tree is None or theirs.tree is None:
        return None
    from reward_functions.symbolic.cas.admission import admitted  # noqa: PLC0415

    if not admitted(mine.tree, theirs.tree):
        return None
    from reward_functions.symbolic.cas.client import CLIENT  # noqa: PLC0415 - starts a process

    return CLIENT.compare(*_with_bases(mine, theirs))


def _with_bases(mine: Document, theirs: Document) -> tuple[Node, Node]:
    """Both trees, in which log and ln are two functions where both are written."""
    if mine.tree is None or theirs.tree is None:
        raise AssertionError("only what was read is compared")
    called = {text for _, text in mine.marks} | {text for _, text in theirs.marks}
    if not {"ln", "log"} <= called:
        return mine.tree, theirs.tree
    from reward_functions.symbolic.compare.logarithms import to_base_ten  # noqa: PLC0415

    return to_base_ten(mine.tree), to_base_ten(theirs.tree)


def _with_other_commas(reference: str, candidate: str) -> Finding | None:
    """The finding that they are equal when a comma is read in another way; None when they are not.

    Both commas of 1,234,5 mean one thing or the other, so one side at a time is read again.
    """
    from reward_functions.symbolic.parsing.separators import other_readings  # noqa: PLC0415

    for mine, theirs in other_readings(reference, candidate):
        finding = _by_meaning(mine, theirs)
        if finding.equal:
            return finding
    return None
