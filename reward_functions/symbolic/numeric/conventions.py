"""The meaning of a letter: a real number, unless convention makes it a whole or a complex one.

The reference decides, for it is the question's. An answer that decided could make itself right:
x(-1)^(2x) is x for whole numbers only, and |z|² is z² for real ones only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.expr.functions import MODULUS, named
from reward_functions.symbolic.expr.nodes import Apply, Constant, Node, Power, Sum
from reward_functions.symbolic.expr.traversal import names_in, parts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

INTEGER_LETTERS: Final = frozenset("nmkjlNMK")
_COMPLEX_LETTERS: Final = frozenset("zw")
_REAL_LETTERS: Final = frozenset("xytrθφ")
_REFERENCE: Final = 1
_I: Final = Constant("i")
_MODULI: Final = named(MODULUS)


def whole_names(
    counted: Mapping[str, int],
    integer_step: Mapping[str, int],
    turning: Mapping[str, int],
    integrality_sensitive: Mapping[str, int],
) -> set[str]:
    """The names that run through the natural numbers.

    Those that do in the reference. A factorial, a binomial coefficient or the bound of a sum in an
    answer is read so as well, n+1 = (n+1)!/n!, as long as nothing in the answer tells whole numbers
    from the others. Where the reference has cos(nπ), the answer may write (-1)^n.

    The arguments are the attributes of `Traits` with these names.
    """
    return {
        name
        for name in (*counted, *integer_step)
        if (counted.get(name, 0) | integer_step.get(name, 0) | turning.get(name, 0)) & _REFERENCE
        or (name in counted and name not in integrality_sensitive)
    }


def complex_names(
    reference: Node, names: AbstractSet[str], *, imaginary: bool, moduli: bool
) -> set[str]:
    """The names that stand for complex numbers.

    Those with a z or w, where there is an i, a conjugate or a part; or a modulus, unless z is one
    of the coordinates x, y, z. Beside a modulus, all letters of a reference with i are complex.
    Exceptions are real by custom (x, y, t, r, θ, φ) or by their place: in a + bi, in e^(iα), in |a
    + bi|.
    """
    coordinates = not imaginary and bool({"x", "y"} & names)
    found = set()
    if (imaginary or moduli) and not coordinates:
        found = {name for name in names if name[0] in _COMPLEX_LETTERS}
    if moduli and _I in parts(reference):
        real = _REAL_LETTERS | _real_by_place(reference)
        found |= {name for name in names if name not in real}
    return found


def _real_by_place(reference: Node) -> set[str]:
    """The names in sums of terms with and without i, in exponents and moduli with i."""
    found: set[str] = set()
    for part in parts(reference):
        match part:
            case Sum(terms):
                apart = {_I in parts(term) for term in terms} == {True, False}
            case Power(_, exponent):
                apart = _I in parts(exponent)
            case Apply(name, arguments):
                apart = name in _MODULI and any(_I in parts(each) for each in arguments)
            case _:
                apart = False
        if apart:
            found |= names_in(part)
    return found
