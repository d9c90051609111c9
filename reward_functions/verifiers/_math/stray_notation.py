r"""References in notation that got lost or added on the way, read where one reading is possible.

    1+\frac12+\ldots+\frac17  a sum that leaves terms out
    \frac34 \# \# 0.75        one value in two forms
    0. 98                     a decimal with a space
    2 (满足 1<e<3 皆可)        a value, and a remark that others are right as well

What has another reading, or none, is left as it is, and cannot be read.
"""

from __future__ import annotations

from typing import Final

from reward_functions import symbolic
from reward_functions.core import patterns as re
from reward_functions.core.errors import BadReference
from reward_functions.extraction.cues import lists
from reward_functions.extraction.cues import references as words
from reward_functions.verifiers._math.verdict import same_value

LONGEST: Final = 300
"""Characters of a reference that is looked into."""

_PLAIN_VALUE: Final = re.compile(r"[^,;=<>\[\]≤≥±∈∪]{1,60}")


def tidied(reference: str) -> str:
    """A reference whose notation needs no prompt to be read.

    Raises:
        BadReference: it is two forms of two values.
    """
    if len(reference) > LONGEST or "\n" in reference.strip() or not words.STRAY.search(reference):
        return reference
    if words.SPACED.fullmatch(reference.strip()):
        return "".join(reference.split()).rstrip(".。")
    forms = [form.strip(" $") for form in words.FORMS.split(reference)]
    if len(forms) > 1 and all(forms):
        return _one_value(forms)
    return symbolic.finite_sum(reference.strip(" $.")) or reference


def _one_value(forms: list[str]) -> str:
    """The first of several forms, with its rounding where another is that."""
    first, *others = forms
    for other in others:
        rounded, exact = same_value(first, other), same_value(other, first)
        if not rounded and not exact:
            raise BadReference("the reference gives two forms, and they are not one value")
        if not rounded:
            first = rf"{first} \approx {other}"
        elif not exact:
            first = rf"{other} \approx {first}"
    return first


def others_allowed(reference: str) -> tuple[str, str]:
    """A reference without its remark that other values are right, and the interval they are in.

    Raises:
        BadReference: the remark is not the bounds of one letter.
    """
    remark = words.ANY_OTHER.fullmatch(reference.strip())
    if remark is None:
        return reference, ""
    condition = remark["condition"].strip(" $")
    sides, signs = words.SIDES.split(condition), words.SIDES.findall(condition)
    down = {sign in words.DOWN for sign in signs}
    if len(sides) not in (2, 3) or len(down) != 1:
        raise BadReference("the reference allows other values, and not by bounds of one letter")
    if down == {True}:
        sides, signs = sides[::-1], signs[::-1]
    names = [place for place, side in enumerate(sides) if lists.LONE.fullmatch(side.strip())]
    ends = {3: [1], 2: [0, 1]}[len(sides)]
    if not names or names[0] not in ends:
        raise BadReference("the reference allows other values, and not by bounds of one letter")
    at = names[0]
    low = sides[at - 1] if at else r"-\infty"
    high = sides[at + 1] if at + 1 < len(sides) else r"\infty"
    left = "[" if at and signs[at - 1] not in words.STRICT else "("
    right = "]" if at < len(signs) and signs[at] not in words.STRICT else ")"
    return remark["value"].strip(), f"{left}{low.strip()}, {high.strip()}{right}"


def within(answer: str, interval: str) -> bool:
    """Whether an answer is one number of an interval."""
    if not _PLAIN_VALUE.fullmatch(answer) or r"\{" in answer or symbolic.names_in(answer):
        return False
    return same_value(interval, rf"{interval} \cup \{{{answer}\}}")
