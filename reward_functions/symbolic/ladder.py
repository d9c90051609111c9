"""The ladder: cheapest rung first, and the first one that knows decides.

    plain rationals → normalised text → exact rational → structure → exact algebra
      → values at points → residues → engine

A *different* is final. *Undecided* means that no rung could tell in its time, or that the candidate
is not readable as mathematics; both are scored as the floor, with the reason. The last rung is a
process of its own, climbed only where `warrant` says that it is worth it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.limits import OverBudget, Unreadable, Work
from reward_functions.symbolic.plain import literal
from reward_functions.symbolic.verdict import Finding, Outcome, Verdict, differ, same, unknown

if TYPE_CHECKING:
    from reward_functions.symbolic.reading import Reading
    from reward_functions.symbolic.tree import Node


def equal(reference: str, candidate: str, *, engine: bool = True) -> Verdict:
    r"""Whether a candidate answer means the same as a reference answer.

    Both are an answer and nothing else, in LaTeX or plain text, delimiters allowed; finding the
    answer in a response is done before. Never raises for a candidate, however hostile.

    Args:
        reference: the right answer.
        candidate: the answer to judge.
        engine: whether the last rung may be climbed. Not where both are a policy's, which would
            otherwise decide how long it takes.

    Returns:
        The verdict: equal, different (proved, final) or undecided, with the rule that decided.

    Raises:
        Unreadable: the reference has no content at all.
        EngineUnavailable: the last rung was needed, and its process could not be had.

    Example:
        >>> equal(r"\frac{1}{2}", "0.5").outcome.value
        'equal'
    """
    reference, candidate = reference.strip(), candidate.strip()
    return _of_numbers(reference, candidate) or _compared(reference, candidate, engine=engine)


def _of_numbers(reference: str, candidate: str) -> Verdict | None:
    """The verdict on two plain numbers or fractions, which need no grammar; None on others.

    A decimal reference that is not met exactly may still be rounded to: that takes the grammar.
    """
    first, second = literal(reference), literal(candidate)
    if first is None or second is None:
        return None
    if first.equals(second):
        return Verdict(Outcome.EQUAL, "exact rational", "the same number", first, second)
    if first.places:
        return None
    return Verdict(Outcome.DIFFERENT, "exact rational", "another number", first, second)


def warm() -> None:
    """Load everything and start the engine's process, which later answers would wait for.

    Worth calling once, where a process scores mathematics and time at its start is cheaper than at
    its first batch. Everything works without it.

    Raises:
        EngineUnavailable: the engine's process cannot be started here. The other rungs work.
    """
    for reference, candidate in _EVERY_RUNG:
        _compared(reference, candidate, engine=True)


_EVERY_RUNG: Final = (
    ("x", "−x"),  # the grammar, what is typeset, values at points in double precision
    (r"\sin 2x", r"2\sin x\cos x"),  # many digits
    (r"\lim_{x\to0}\frac{\sin x}{x}", "1"),  # the engine
)
"""Comparisons that load what is loaded late."""


def readable(text: str) -> bool:
    """Whether a text is a number or an expression of the grammar, rather than prose or nothing."""
    text = text.strip()
    if literal(text) is not None:
        return True
    from reward_functions.symbolic.reading import read  # noqa: PLC0415 - plain numbers need no grammar

    reading = read(text)
    return reading.tree is not None and not reading.wordy


def restated(reference: str, answer: str, expressions: tuple[str, ...]) -> bool:
    """Whether a right answer is one of some expressions with none of its arithmetic done.

    Args:
        reference: the right answer.
        answer: the answer, known to be equal to it.
        expressions: the mathematics of the question. What is not readable counts for nothing.
    """
    from reward_functions.symbolic import restating  # noqa: PLC0415 - needs the grammar

    return restating.restated(reference.strip(), answer.strip(), expressions)


def _compared(reference: str, candidate: str, *, engine: bool) -> Verdict:
    """The rungs above plain numbers, which need the grammar."""
    from reward_functions.symbolic.reading import read  # noqa: PLC0415

    mine = read(reference)
    if not mine.marks and not mine.trouble:
        raise Unreadable("the reference has no content")
    if reference == candidate:
        return Verdict(Outcome.EQUAL, "same text", "the very same text", mine, mine)
    theirs = read(candidate)
    finding = _by_text(mine, theirs)
    if finding is None:
        finding = _by_meaning(mine, theirs)
        if not finding.equal:
            finding = _with_other_commas(reference, candidate, mine, theirs) or finding
        if engine and finding.outcome is Outcome.UNDECIDED:
            finding = _by_engine(mine.tree, theirs.tree) or finding
    return Verdict(finding.outcome, finding.rule, finding.reason, mine, theirs)


def _by_text(mine: Reading, theirs: Reading) -> Finding | None:
    """The rungs that need no tree: the same text, a choice, words. None when they do not decide."""
    if mine.marks and mine.marks == theirs.marks:
        return same("normalised text", "the same text but for spacing and style")
    if not theirs.marks:
        return unknown("unreadable", theirs.trouble or "the answer is empty")
    if mine.choice is not None and theirs.choice is not None:
        return _choices(mine, theirs)
    if mine.choice is not None and mine.choice.text and mine.choice.text == theirs.words:
        return same("choice", "the text of the choice")
    if mine.wordy or theirs.wordy or mine.tree is None:
        return _words(mine, theirs)
    return None


def _choices(mine: Reading, theirs: Reading) -> Finding | None:
    """Choices by letter, whatever its case; texts must agree too when both sides give one."""
    first, second = mine.choice, theirs.choice
    if first is None or second is None:
        return None
    if first.letter != second.letter:
        return differ("choice", f"choice {second.letter} is not {first.letter}")
    if first.text and second.text and first.text != second.text:
        return unknown("choice", "the same letter with another text")
    return same("choice", f"choice {first.letter}")


def _words(mine: Reading, theirs: Reading) -> Finding | None:
    """Words are compared without regard to case; only numbers in words are understood."""
    if mine.words and mine.words == theirs.words:
        return same("words", "the same words")
    if len(mine.names) > 1 and mine.names == theirs.names:
        return same("words", "the same words in a list")
    if _in_words(mine) or _in_words(theirs):
        return None
    if any({mine.words, theirs.words} <= verdicts for verdicts in _VERDICTS):
        return differ("words", "another word")
    return unknown("words", "the words differ")


_VERDICTS: Final = tuple(
    frozenset(words.split())
    for words in ("yes no", "true false", "odd even neither", "always sometimes never")
)
"""Words that exclude each other. Other words may be two for one thing: grey and gray."""


def _in_words(reading: Reading) -> bool:
    """Whether words are a number or a set of numbers: twelve, all real numbers."""
    from reward_functions.symbolic.tree import NamedSet, Number  # noqa: PLC0415

    return reading.wordy and isinstance(reading.tree, Number | NamedSet)


def _by_meaning(mine: Reading, theirs: Reading) -> Finding:
    """The rungs on trees, under one account of work."""
    if mine.tree is None:
        return unknown(
            "unreadable", f"the reference is not readable as mathematics: {mine.trouble}"
        )
    if theirs.tree is None:
        return unknown("unreadable", f"not readable as mathematics: {theirs.trouble}")
    from reward_functions.symbolic.polynomials import Field  # noqa: PLC0415
    from reward_functions.symbolic.shapes import Shapes  # noqa: PLC0415
    from reward_functions.symbolic.values import Values  # noqa: PLC0415

    try:
        finding = Shapes(Values(Field(Work()))).compare(mine.tree, theirs.tree)
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


def _by_engine(reference: Node | None, candidate: Node | None) -> Finding | None:
    """The last rung, where it is worth asking; None where it is not."""
    if reference is None or candidate is None:
        return None
    from reward_functions.symbolic.warrant import warranted  # noqa: PLC0415

    if not warranted(reference, candidate):
        return None
    from reward_functions.symbolic.supervisor import SUPERVISOR  # noqa: PLC0415 - starts a process

    return SUPERVISOR.compare(reference, candidate)


_GROUPED: Final = re.compile(r"[0-9],[0-9]{3}")
_LISTED: Final = re.compile(
    r"""\\{ | [(\[] | ,\\?\s          # brackets, a spaced comma
      | (?<![0-9,])0[0-9]*, | [0-9]{4},  # a member that begins no groups
      | ,[0-9]{1,2}(?![0-9]) | ,[0-9]{4}  # or is none
    """,
    re.VERBOSE,
)


def _with_other_commas(
    reference: str, candidate: str, mine: Reading, theirs: Reading
) -> Finding | None:
    """70,110 is a number or a list of two; the other reading may be the equal one.

    A candidate may mean either. A reference is a number unless something in it says list.
    """
    from reward_functions.symbolic.reading import read  # noqa: PLC0415

    for text, other_reading, turned in ((reference, theirs, False), (candidate, mine, True)):
        if not _GROUPED.search(text) or not (turned or _LISTED.search(text)):
            continue
        reading = read(text, group_digits=False)
        if reading.tree is None or other_reading.tree is None:
            continue
        pair = (other_reading, reading) if turned else (reading, other_reading)
        finding = _by_meaning(*pair)
        if finding.equal:
            return finding
    return None
