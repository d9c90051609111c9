r"""No nest is too deep for what is left of the stack: a verdict, or an unreadable reference.

Rewards are called from servers, notebooks and frameworks, with any number of frames above them.
"""

import sys
from itertools import count

import pytest

from reward_functions import BadReference, get, sample
from reward_functions.symbolic import equal
from reward_functions.symbolic.parsing.document import Document, read

NESTS = (
    *(r"\int " * 300, r"\frac" * 400, "(" * 400, r"\sqrt" * 300, "x" + "^" * 300, "x^" * 300 + "x"),
    *(r"\text{" * 300, "|" * 500, "-" * 900 + "x", r"\left(" * 300, "x^" + "-" * 900 + "1"),
    *(r"\frac" + "-" * 900, r"\sum_{k=1}^{2}" * 90, r"\lim_{x\to0}" * 140, r"\log_" * 400),
    *(r"\sin " * 400, r"\frac{d}{dx}" * 150, "{" * 200, r"\hat" * 300, "!" * 500, r"\{" * 300),
    *(r"\prod_" * 200, "f(" * 300, "a_" * 300, r"\lfloor " * 300, r"\sin^" * 300, "sqrt" * 300),
    *("1/" * 400, r"\begin{pmatrix}" * 100, r"\frac1" * 300, r"\bigcup_{k=1}^2" * 100, "x'" * 300),
    *(r"\int_0^" * 200, "ln " * 400, "1 " + r"\frac{\text{m/(" * 100, r"\int\int x dx" * 50),
    *(r"\int_0^1 " * 24 + "x" + "dx" * 24, r"\sqrt{" * 24 + "x" + "}" * 24),
    *("(" * 24 + "x" + ")" * 24, r"\{" * 22 + "1" + r"\}" * 22, "2^{" * 20 + "2" + "}" * 20),
)
LEFT = (90, 200)
"""Frames that are left; what is deep and within the limits takes about three hundred."""


def beneath(left, call):
    """What a call returns where only so many frames are left."""

    def dive(frames):
        return dive(frames - 1) if frames > 0 else call()

    frame = sys._getframe()
    for used in count(1):
        frame = frame.f_back
        if frame is None:
            return dive(sys.getrecursionlimit() - used - left)
    return None


@pytest.mark.parametrize("left", LEFT)
@pytest.mark.parametrize("nest", NESTS, ids=lambda nest: f"{nest[:12]} x {len(nest)}")
def test_a_nest_anywhere_is_scored_whatever_is_left_of_the_stack(nest, left):
    math = get("math")
    math(sample(r"\boxed{x+1}", "1+x", prompt="Find $x$."))  # loads what is loaded late
    for response, reference, prompt in (
        (rf"\boxed{{{nest}}}", "5", "How many?"),
        (r"\boxed{5}", nest, "How many?"),
        (rf"\boxed{{{nest}}}", f"{nest} ", "How many?"),
        (r"\boxed{x=5+0}", "5", f"Find ${nest}$."),
        (nest, "5", "How many?"),
    ):

        def scored(row=(response, reference, prompt)):
            try:
                return math(sample(row[0], row[1], prompt=row[2])).value
            except BadReference:
                return 0.0

        assert beneath(left, scored) in (0.0, 1.0)


def test_what_was_met_with_no_stack_left_is_read_by_whoever_has_more():
    text = r"\sqrt{" * 20 + "7" + "}" * 20
    assert beneath(60, lambda: read(text).tree) is None
    assert isinstance(read(text), Document)
    assert read(text).tree is not None
    assert not beneath(60, lambda: equal(text, "x+1").equal)
    assert equal(text, f"{text}+0").equal
