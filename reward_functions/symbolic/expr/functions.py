"""The functions of mathematics, a row each: how it is written, computed and given to sympy.

Code that reads, evaluates or converts an `Apply` node takes its words from here. A name without a
row is read as letters. A row without `numeric` is compared by its form alone.
"""

from __future__ import annotations

from math import gcd, lcm
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

ANY: Final = -1
"""The number of arguments of a function that takes one or more."""

WAVE: Final = "wave"
"""Periodic: it tells whole numbers from others, and turns between its zeros."""

ANGLE: Final = "angle"
"""The inverse of a wave: it turns where a wave inside it does."""

BOUNDED: Final = "bounded"
"""Its domain ends at 1 or -1."""

TURNING: Final = "turning"
"""Another formula holds where its argument changes sign."""

LOGARITHM: Final = "logarithm"
"""Its domain ends where its last argument is zero."""

PIECEWISE: Final = "piecewise"
"""Different formulas hold in different places, or its domain has an end."""

STEPS: Final = "steps"
"""It jumps from one value to the next."""

COUNTING: Final = "counting"
"""Its arguments are natural numbers."""

DIVIDING: Final = "dividing"
"""Its arguments are whole numbers, in any order."""

EXTREME: Final = "extreme"
"""It is one of its arguments, in any order."""

COMPLEX: Final = "complex"
"""An expression with it is about complex numbers."""

MODULUS: Final = "modulus"
"""It is not analytic: |z|² is z² for real numbers only."""

COMMAND: Final = "command"
"""LaTeX writes it with a backslash."""

LETTERS: Final = "letters"
"""Plain text writes it without one."""


class Function(NamedTuple):
    """One function.

    Attributes:
        name: what `Apply` nodes call it.
        traits: what is special about it, by the constants above.
        numeric: how it is computed: the name of a method of `BallArithmetic`, or a function of the
            arithmetic and the arguments; None where it is not.
        sympy: the same for sympy: a name in its module, or a function of the module and the
            arguments.
        arguments: how many it takes, or `ANY`.
        inverse: what the power -1 makes of it.
        spellings: its names in upright type, or before a bracket.
        written: who else writes its name, `COMMAND` and `LETTERS`.
    """

    name: str
    traits: tuple[str, ...] = ()
    numeric: Any = None
    sympy: Any = None
    arguments: int = 1
    inverse: str | None = None
    spellings: tuple[str, ...] = ()
    written: tuple[str, ...] = (COMMAND, LETTERS)


def _wave(name: str, numeric: Any, *spellings: str) -> Function:
    return Function(name, (WAVE,), numeric, name, inverse=f"arc{name}", spellings=spellings)


def _angle(name: str, numeric: Any, *traits: str) -> Function:
    return Function(name, (ANGLE, PIECEWISE, *traits), numeric, name.replace("arc", "a"))


def _hyperbolic(name: str, numeric: Any) -> Function:
    return Function(name, (), numeric, name, inverse=f"arc{name}")


def _area(name: str, numeric: Any, *traits: str) -> Function:
    """The inverse of a hyperbolic function, whose ends are the ends of its domain."""
    root = name.removeprefix("arc")
    return Function(name, traits, numeric, f"a{root}", spellings=(f"a{root}", f"ar{root}"))


def _marked(
    name: str, traits: tuple[str, ...], numeric: Any, sympy: Any = None, *spellings: str
) -> Function:
    """A function with a notation of its own: bars, brackets, a mark."""
    return Function(name, traits, numeric, sympy, spellings=spellings, written=())


_LOG: Final = (LOGARITHM, PIECEWISE)
_ROUNDED: Final = (STEPS, TURNING)
_OF_COMPLEX: Final = (COMPLEX, MODULUS)
FUNCTIONS: Final = (
    _wave("sin", "sin"),
    _wave("cos", "cos"),
    _wave("tan", lambda n, x: n.divide(n.sin(x), n.cos(x)), "tg"),
    _wave("cot", lambda n, x: n.divide(n.cos(x), n.sin(x)), "ctg"),
    _wave("sec", lambda n, x: n.inverse(n.cos(x))),
    _wave("csc", lambda n, x: n.inverse(n.sin(x)), "cosec"),
    Function("cis", (WAVE, COMPLEX), lambda n, x: n.complex(n.cos(x), n.sin(x))),
    _angle("arcsin", "arcsin", BOUNDED)._replace(spellings=("asin",)),
    _angle("arccos", "arccos", BOUNDED)._replace(spellings=("acos",)),
    _angle("arctan", "arctan")._replace(spellings=("atan", "arctg")),
    # The range of arccot is a matter of taste: sympy is not asked.
    _angle("arccot", "arccot", TURNING)._replace(sympy=None),
    _angle("arcsec", lambda n, x: n.arccos(n.inverse(x)), BOUNDED),
    _angle("arccsc", lambda n, x: n.arcsin(n.inverse(x)), BOUNDED),
    _hyperbolic("sinh", "sinh"),
    _hyperbolic("cosh", "cosh"),
    _hyperbolic("tanh", lambda n, x: n.divide(n.sinh(x), n.cosh(x))),
    _hyperbolic("coth", lambda n, x: n.divide(n.cosh(x), n.sinh(x))),
    _hyperbolic("sech", lambda n, x: n.inverse(n.cosh(x))),
    _hyperbolic("csch", lambda n, x: n.inverse(n.sinh(x))),
    _area("arcsinh", "arcsinh"),
    _area("arccosh", "arccosh", PIECEWISE, BOUNDED),
    _area("arctanh", "arctanh", PIECEWISE, BOUNDED),
    _area("arccoth", lambda n, x: n.arctanh(n.inverse(x)), PIECEWISE, BOUNDED),
    _area("arcsech", lambda n, x: n.arccosh(n.inverse(x)), PIECEWISE, BOUNDED, TURNING),
    _area("arccsch", lambda n, x: n.arcsinh(n.inverse(x))),
    Function("exp", (), "exp", "exp"),
    Function("ln", _LOG, "ln", "log"),
    # Its base is e or 10: `Evaluation` divides by the logarithm of 10 where it is read so.
    Function("log", _LOG, "ln", "log"),
    Function("log_", _LOG, "log_to_base", lambda s, base, x: s.log(x) / s.log(base), 2, written=()),
    Function("sgn", _ROUNDED, "sgn", "sign", spellings=("sign",)),
    _marked("abs", (PIECEWISE, TURNING, MODULUS), "magnitude", "Abs", "abs", "Abs"),
    _marked("floor", _ROUNDED, "floor", "floor", "floor"),
    _marked("ceil", _ROUNDED, "ceil", "ceiling", "ceil", "ceiling"),
    Function("max", (EXTREME, PIECEWISE), "largest", "Max", ANY, written=(COMMAND,)),
    Function("min", (EXTREME, PIECEWISE), "smallest", "Min", ANY, written=(COMMAND,)),
    Function("gcd", (DIVIDING,), lambda n, *all_: n.of_integers(gcd, all_), arguments=ANY),
    Function("lcm", (DIVIDING,), lambda n, *all_: n.of_integers(lcm, all_), arguments=ANY),
    _marked("factorial", (COUNTING,), "factorial"),
    _marked("doublefactorial", (COUNTING,), None),
    _marked("binom", (COUNTING,), "binomial")._replace(arguments=2),
    _marked("re", _OF_COMPLEX, lambda n, z: n.parts(z)[0], None, "Re"),
    _marked("im", _OF_COMPLEX, lambda n, z: n.parts(z)[1], None, "Im"),
    _marked("conj", _OF_COMPLEX, "conjugate"),
    Function("arg", _OF_COMPLEX, lambda n, z: n.parts(n.ln(z))[1], written=(COMMAND,)),
    # Words that the parser turns into a root, a matrix or another function, or keeps as a form.
    Function("sqrt", written=(LETTERS,)),
    Function("lg", written=(COMMAND,)),
    Function("det", written=(COMMAND,)),
    Function("deg", written=(COMMAND,)),
    Function("diag", spellings=("diag",), written=()),
)
"""All functions."""

BY_NAME: Final = {row.name: row for row in FUNCTIONS}


def applied(name: str, way: str, library: Any, arguments: Sequence[Any]) -> Any:
    """The value of a function, or None where it is not computed so or not of so many arguments.

    Args:
        name: the function.
        way: the field of its row that says how, "numeric" or "sympy".
        library: the arithmetic, or the module of sympy.
        arguments: their values.
    """
    row = BY_NAME.get(name)
    how = getattr(row, way) if row else None
    if row is None or how is None or row.arguments not in (ANY, len(arguments)):
        return None
    return getattr(library, how)(*arguments) if isinstance(how, str) else how(library, *arguments)


def traits_of(name: str) -> tuple[str, ...]:
    """The special traits of a function; nothing is known of one without a row."""
    row = BY_NAME.get(name)
    return row.traits if row else ()


def named(trait: str) -> frozenset[str]:
    """The names of the functions with a trait, or written in a way."""
    return frozenset(row.name for row in FUNCTIONS if trait in row.traits + row.written)
