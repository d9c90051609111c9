r"""The value in an equation whose left side is what the prompt asks for: 19 in BC^2 = 19.

Such an equation is undecided against a bare value, because an equation that is still to be solved,
2x = 10, looks the same. The prompt tells them apart.
"""

from __future__ import annotations

from typing import Final

from reward_functions import symbolic
from reward_functions.core import patterns as re
from reward_functions.extraction.cues import asking
from reward_functions.extraction.prompt_formulas import TAIL, asked_formulas, formulas

LENGTH: Final = 300
"""Characters of an equation that is looked into."""

_CHOOSE: Final = re.compile(r"(?<![\w.])(\d{1,4})\s?C\s?(\d{1,4})(?![\w.])")
_NAMED: Final = re.compile(r"\\?[A-Za-z]+")

_STEP: Final = re.compile(r"[{}()\[\]=]")
_DEPTH: Final = {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}


def value_asked_for(answer: str, reference: str, prompt: str) -> str | None:
    """The value: what stands behind the equality sign, where what stands before it is asked for.

    An equation that holds whatever its letters are, 2k/k = 2, calls a value by another expression
    of it, and is that value too. None for any other answer.

    Args:
        answer: an answer that could not be decided against the reference.
        reference: the right answer; not an equation.
        prompt: the question, or nothing.
    """
    if "=" not in answer or "=" in reference or len(answer) > LENGTH:
        return None
    left, right, _ = _sides(answer)
    if not left or not right:
        return None
    named = asking.EXTREME.sub("", left)
    tail = prompt[-TAIL:]
    if (
        (asking.NAME.fullmatch(named) or _asks_for(named, tail))
        and not asked_formulas(tail)
        and not _given(named, tail)
        and not _wants_letter_of(named, tail)
    ):
        return _end(right, reference)
    asks = not _wants_letter_of(named, tail) and symbolic.quantity_asked_for(
        named, asked_formulas(tail), formulas(tail)
    )
    if asks or ("=" not in right and _always(left, right)):
        return _end(right, reference)
    return None


def _asks_for(called: str, prompt: str) -> bool:
    """Whether the last noun that a prompt asks for is what a name calls: the rank of rank(A)."""
    name = asking.CALLED.fullmatch(called)
    nouns = [each["word"].lower() for each in asking.NOUN.finditer(prompt)] if name else []
    return bool(nouns) and nouns[-1] == name["word"].lower()  # type: ignore[index]


def _wants_letter_of(named: str, prompt: str) -> bool:
    """Whether the letter that something is said of is itself asked for.

    |y| = 2 is no answer to "solve for y", nor log(A) = 2 to "Find A".
    """
    *rest, letter = _NAMED.findall(named) or [""]
    if not rest and named.strip() == letter:
        return False
    return letter in asking.NAMED.findall(prompt)


def _given(name: str, prompt: str) -> bool:
    """Whether the prompt gives the value of a name."""
    return "".join(f"{name}=".split()) in "".join(prompt.split())


def _always(left: str, right: str) -> bool:
    """Whether an equation holds whatever its letters are; 8C3 is a binomial coefficient."""
    left = _CHOOSE.sub(r"\\binom{\1}{\2}", left)
    try:
        return symbolic.equal(right, left, solver=False).equal
    except symbolic.Unreadable:
        return False


def _end(right: str, reference: str) -> str:
    """The end of a chain, where the steps before it are no values: (a + b)² - 2ab = 25."""
    if "=" not in right or symbolic.equal(reference, right, solver=False).decided:
        return right
    return _sides(right)[2]


def _sides(answer: str) -> tuple[str, str, str]:
    """What stands before the first, behind the first and behind the last sign of equality.

    Signs in brackets do not count.
    """
    depth, signs = 0, []
    for step in _STEP.finditer(answer):
        if step[0] != "=":
            depth += _DEPTH[step[0]]
        elif not depth:
            signs.append(step.start())
    if not signs or any(answer[place - 1 : place] in ("<", ">", "!", ":", "=") for place in signs):
        return "", "", ""
    first, last = signs[0], signs[-1]
    if "," in answer[first:last]:
        return "", "", ""  # several equations
    return answer[:first].strip(), answer[first + 1 :].strip(), answer[last + 1 :].strip()
