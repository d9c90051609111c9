"""The tiers of a comparison: the cheapest one first, and the first one that knows decides.

    plain rationals → normalised text → exact rational → structure → exact algebra
      → values at points → residues → sympy

A *different* is final. *Undecided* means that no tier could decide in its time, or that the
candidate is not readable as mathematics. Verifiers score both as the minimum, with the reason. The
last tier is a process of its own; `admission` decides whether it is asked.

Plain numbers need the first tier alone. `tiers` holds the others, and is imported when they are
needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.parsing.plain import literal
from reward_functions.symbolic.verdict import EqualityVerdict, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.symbolic.verdict import Ordered


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
        EngineFailed: our own code in that process has a bug.
        AlgebraOutOfTime: the deadline of the batch passed before sympy decided.

    Example:
        >>> equal(r"\frac{1}{2}", "0.5").outcome.value
        'equal'
    """
    reference, candidate = reference.strip(), candidate.strip()
    verdict = _of_numbers(reference, candidate)
    if verdict is not None:
        return verdict
    from reward_functions.symbolic.tiers import compared  # noqa: PLC0415 - loads the grammar

    return compared(reference, candidate, solver=solver)


def equal_members(
    members: Sequence[str], candidate: str, ordered: Ordered = "as-written"
) -> EqualityVerdict:
    r"""Whether a candidate answer gives these members, each as often, in order where it has one.

    `\{2, 1\}`, "2 and 1" and \pm have no order; brackets, names and bare commas have one.

    Args:
        members: two or more numbers.
        candidate: the answer to judge.
        ordered: which forms give them in order; see `compare.listed`.

    Raises:
        Unreadable: a member cannot be read.
    """
    from reward_functions.symbolic.tiers import listed  # noqa: PLC0415 - loads the grammar

    return listed(members, candidate.strip(), ordered)


def _of_numbers(reference: str, candidate: str) -> EqualityVerdict | None:
    """The verdict on two plain numbers or fractions, which need no grammar; None on others.

    A decimal reference that is not met exactly may still be rounded to: that takes the grammar.
    """
    first, second = literal(reference), literal(candidate)
    if first is None or second is None:
        return None
    if first.equals(second):
        return EqualityVerdict(Outcome.EQUAL, "exact-value", "the same number", first, second)
    if first.places:
        return None
    return EqualityVerdict(Outcome.DIFFERENT, "exact-value", "another number", first, second)


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
    from reward_functions.symbolic.cas.client import CLIENT  # noqa: PLC0415 - registers its end
    from reward_functions.symbolic.tiers import compared  # noqa: PLC0415 - loads the grammar

    CLIENT.launch()
    for reference, candidate in _LATE:
        compared(reference, candidate, solver=False)
    if wait:
        compared(*_FOR_THE_SOLVER, solver=True)


def end() -> None:
    """End sympy's process, if there is one; the next answer that needs it waits for another."""
    from reward_functions.symbolic.cas.client import CLIENT  # noqa: PLC0415 - registers its end

    CLIENT.end()


_LATE: Final = (
    ("x", "−x"),  # the grammar, what is typeset, values at points in double precision
    (r"\sin 2x", r"2\sin x\cos x"),  # many digits
)
"""Comparisons that load what is loaded late."""

_FOR_THE_SOLVER: Final = (r"\lim_{x\to0}\frac{\sin x}{x}", "1")


def begins_with_function(text: str) -> bool:
    """Whether a string begins with a function in upright type, and not with a word or a label."""
    from reward_functions.symbolic.parsing import vocabulary  # noqa: PLC0415 - few ask

    upright = vocabulary.UPRIGHT.match(text)
    return upright is not None and upright[1] in vocabulary.NAMES_OF_FUNCTIONS


def readable(text: str) -> bool:
    """Whether a string is a number, an expression of the grammar or chemistry; no prose."""
    text = text.strip()
    if literal(text) is not None:
        return True
    from reward_functions.symbolic.parsing.document import read  # noqa: PLC0415 - loads the grammar

    document = read(text)
    if document.tree is not None and not document.wordy:
        return True
    return document.chemistry is not None and document.chemistry.sure


def unread_command(reference: str) -> str:
    r"""The name of the command for which a reference cannot be read; "" for any other reference."""
    from reward_functions.symbolic.parsing.document import read  # noqa: PLC0415 - as above

    document = read(reference.strip())
    name = document.trouble.removesuffix(" is not read") if document.unreadable else ""
    return name[1:] if name.startswith("\\") and name[1:].isalpha() else ""


def finite_sum(text: str) -> str:
    """The value of a sum that leaves terms out; "" of any other text: see `compare.ellipsis`."""
    from reward_functions.symbolic.compare.ellipsis import finite_sum  # noqa: PLC0415 - as above

    return finite_sum(text)


def names_in(text: str) -> frozenset[str]:
    """The names of the variables in an answer; none where it is not readable as mathematics."""
    from reward_functions.symbolic.compare.worked_out import names_in  # noqa: PLC0415 - as above

    return names_in(text.strip())


def digits_in_base(text: str) -> str:
    """The digits of an answer that is a number in another base than ten; "" for any other."""
    from reward_functions.symbolic.compare import notation  # noqa: PLC0415 - loads the grammar

    return notation.digits_in_base(text.strip())


def equal_within(reference: str, answer: str, domain: str) -> bool:
    """Whether two sets of reals are the same within a domain, `0<x<1`, that a question states."""
    from reward_functions.symbolic.compare import within  # noqa: PLC0415 - as above

    return within.equal_within(reference.strip(), answer.strip(), domain)


def restated(
    reference: str, answer: str, expressions: tuple[str, ...], asked: tuple[str, ...] = ()
) -> bool:
    """Whether a right answer is one of some expressions with none of its arithmetic done.

    Args:
        reference: the right answer.
        answer: the answer, known to be equal to it.
        expressions: the mathematics of the question. Unreadable parts count for nothing.
        asked: what the question asks for as a formula or number.
    """
    from reward_functions.symbolic.compare import restatement  # noqa: PLC0415 - loads the grammar

    try:
        return restatement.restated(reference.strip(), answer.strip(), expressions, asked)
    except RecursionError:  # the stack is almost used up
        return False


def unevaluated(reference: str, answer: str) -> bool:
    """Whether a right answer leaves an operation to be worked out, and the reference none.

    Args:
        reference: the right answer.
        answer: the answer, known to be equal to it.
    """
    from reward_functions.symbolic.compare.worked_out import unevaluated  # noqa: PLC0415 - as above

    return unevaluated(reference.strip(), answer.strip())


def quantity_asked_for(left: str, asked: tuple[str, ...], formulas: tuple[str, ...]) -> bool:
    """Whether the left side of an equation is what a question asks for.

    Args:
        left: the left side.
        asked: what the question asks for as a formula.
        formulas: all formulas of the question.
    """
    from reward_functions.symbolic.compare import asked_quantity  # noqa: PLC0415 - as above

    try:
        return asked_quantity.quantity_asked_for(left, asked, formulas)
    except RecursionError:  # the stack is almost used up
        return False
