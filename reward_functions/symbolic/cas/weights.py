"""The weight of a call beyond one, where its numbers are large: by their size alone.

One call may multiply numbers of a million digits in C, or run a loop over ten thousand coefficients
that calls nothing: seconds of the processor, which a count of calls takes for one. So functions of
sympy and mpmath that do such arithmetic weigh what it takes, in calls of one to five microseconds,
and weigh it before they do it. A request that passes its count by that ends like any other.

| rows | a call weighs |
|---|---|
| `NUMBERS` | the product of the lengths of two numbers, or of what it makes of them |
| `POLYNOMIALS`, and all of `DENSE` | the coefficients that it combines |
| all of `PRECISE` | the square of the precision |

Of answers that people write, hardly any is weighed: numbers of a thousand digits weigh five calls,
and of a hundred none.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from itertools import chain
from math import comb
from operator import attrgetter
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from sympy.core.numbers import Rational

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import CodeType

    from reward_functions.symbolic.cas.counting import Weight

    Row = tuple[str, Callable[..., int], str]
    """A function as `module:name`, its weight, and the arguments of the function that decide it."""

_PRODUCT: Final = 21
"""Numbers of a and b bits weigh a·b / 2^21: a division of two with 131,072 bits takes 25 ms."""

_PRECISION: Final = 19
"""Functions of n bits weigh n^2 / 2^19: pi to 396,000 bits takes most of a second."""

_CUBE: Final = 20
"""Tests for primes and roots of numbers of n bits weigh n^3 / 2^20."""

_STEPS: Final = 5
"""n steps of a loop over coefficients weigh n / 2^5: each takes 60 nanoseconds."""

_WORDS: Final = 7
"""A coefficient of 2^7 bits takes as long as two small ones."""

_LONGEST: Final = 32
"""Bits of an exponent or of the argument of a factorial, above which nothing is worked out."""

_FEW: Final = 9
"""Terms of a sum beyond which the terms of its powers are not counted exactly: there are enough."""

_ENDLESS: Final = 1 << 40
"""More than any request has."""


def weights() -> dict[CodeType, Weight]:
    """The weight of each function that has one, by its code, which is what a count of calls sees.

    Another release of sympy may lack a row's function; only its calls count then.
    """
    rows = chain(_of_modules(PRECISE, _precise), _of_modules(DENSE, _dense), NUMBERS, POLYNOMIALS)
    found = {}
    for name, weigh, arguments in rows:
        code = code_of(name)
        if code is not None and set(arguments.split()) <= set(_arguments(code)):
            found[code] = _weight(weigh, arguments.split())
    return found


def code_of(name: str) -> CodeType | None:
    """The code of a function or method, also of one that sympy keeps results of; None of others."""
    module, _, attribute = name.partition(":")
    try:
        held = attrgetter(attribute)(import_module(module))
    except (ImportError, AttributeError):
        return None
    plain = inspect.unwrap(getattr(held, "__func__", held))
    return plain.__code__ if isinstance(plain, FunctionType) else None


def _arguments(code: CodeType) -> tuple[str, ...]:
    with_stars = code.co_argcount + bool(code.co_flags & inspect.CO_VARARGS)
    return code.co_varnames[:with_stars]


def _weight(weigh: Callable[..., int], names: list[str]) -> Weight:
    def weight(given: Mapping[str, Any]) -> int:
        return weigh(*map(given.__getitem__, names))

    return weight


def _of_modules(
    modules: Iterable[str], row_of: Callable[[str, tuple[str, ...]], Row | None]
) -> Iterator[Row]:
    """The rows of the functions that some modules define, by the names of their arguments."""
    for module in modules:
        for name, function in vars(import_module(module)).items():
            if isinstance(function, FunctionType) and function.__module__ == module:
                row = row_of(f"{module}:{name}", _arguments(function.__code__))
                if row is not None:
                    yield row


# ---- numbers


def _bits(value: object) -> int:
    """The length of a whole number or fraction, of Python or of sympy; 0 of anything else."""
    if isinstance(value, int):
        return value.bit_length()
    if isinstance(value, Rational):
        return max(_bits(value.p), _bits(value.q))
    return 0


def _product(first: object, second: object) -> int:
    return _bits(first) * _bits(second) >> _PRODUCT


def _square(number: object) -> int:
    return _product(number, number)


def _cube(number: object) -> int:
    return _bits(number) ** 3 >> _CUBE


def _common_factor(numbers: tuple[object, ...]) -> int:
    bits = [_bits(each) for each in numbers]
    return bits[0] * sum(bits[1:]) >> _PRODUCT


def _power(base: object, exponent: object) -> int:
    times = abs(int(exponent.p)) if isinstance(exponent, Rational) else 1
    if times.bit_length() > _LONGEST:
        return _ENDLESS
    made = _bits(base) * times
    return made * made >> _PRODUCT


def _factorial(number: object) -> int:
    """Of what makes n!, or a number as long; n may be a fraction."""
    size = _bits(abs(number.p) // number.q) if isinstance(number, Rational) else _bits(number)
    made = size << min(size, _LONGEST)
    return made * made >> _PRODUCT


_OF_NUMBERS: Final = "sympy.core.numbers"
_OF_INTEGERS: Final = "sympy.core.intfunc"
_COMBINATORIAL: Final = "sympy.functions.combinatorial"

NUMBERS: Final[tuple[Row, ...]] = (
    *(
        (f"{_OF_NUMBERS}:Integer.{name}", _product, "self other")
        for name in ("__mul__", "__rmul__", "__floordiv__", "__mod__", "__divmod__")
    ),
    *(
        (f"{_OF_NUMBERS}:Rational.{name}", _product, "self other")
        for name in ("__add__", "__sub__", "__mul__", "__truediv__", "__rtruediv__", "__mod__")
    ),
    (f"{_OF_NUMBERS}:Rational._new", _product, "p gcd"),
    (f"{_OF_NUMBERS}:Integer._eval_power", _power, "self expt"),
    (f"{_OF_NUMBERS}:Rational._eval_power", _power, "self expt"),
    (f"{_OF_INTEGERS}:igcd", _common_factor, "args"),
    (f"{_OF_INTEGERS}:integer_nthroot", _square, "y"),
    (f"{_COMBINATORIAL}.factorials:factorial.eval", _factorial, "n"),
    (f"{_COMBINATORIAL}.factorials:factorial2.eval", _factorial, "arg"),
    (f"{_COMBINATORIAL}.factorials:binomial.eval", _factorial, "k"),
    (f"{_COMBINATORIAL}.factorials:RisingFactorial.eval", _factorial, "k"),
    (f"{_COMBINATORIAL}.factorials:FallingFactorial.eval", _factorial, "k"),
    (f"{_COMBINATORIAL}.numbers:harmonic.eval", _factorial, "n"),
    (f"{_COMBINATORIAL}.numbers:bernoulli.eval", _factorial, "n"),
    ("sympy.functions.special.gamma_functions:gamma.eval", _factorial, "arg"),
    ("sympy.ntheory.factor_:perfect_power", _cube, "n"),
    ("sympy.ntheory.factor_:factorint", _cube, "n"),
    ("sympy.ntheory.primetest:isprime", _cube, "n"),
)

PRECISE: Final = tuple(
    f"mpmath.libmp.{name}"
    for name in ("libmpf", "libmpc", "libmpi", "libelefun", "libhyper", "gammazeta")
)
"""Modules whose functions are told a precision in bits."""


def _precise(function: str, arguments: tuple[str, ...]) -> Row | None:
    name = next((each for each in ("prec", "wp") if each in arguments), None)
    return (function, _precision, name) if name else None


def _precision(bits: object) -> int:
    return bits * bits >> _PRECISION if isinstance(bits, int) else 0


# ---- polynomials


DENSE: Final = tuple(
    f"sympy.polys.{name}"
    for name in (
        "densebasic",
        "densearith",
        "densetools",
        "euclidtools",
        "sqfreetools",
        "factortools",
        "rootisolation",
        "galoistools",
    )
)
"""Modules whose functions take polynomials as lists of coefficients, down to the degree 0."""


def _dense(function: str, arguments: tuple[str, ...]) -> Row | None:
    if arguments[:1] != ("f",):
        return None
    return (function, _division, "f g") if "g" in arguments else (function, _coefficients, "f")


def _coefficients(polynomial: object) -> int:
    return len(polynomial) >> _STEPS if isinstance(polynomial, list) else 0


def _division(first: object, second: object) -> int:
    """Of what goes along the shorter one, for each coefficient that the other has more."""
    if not isinstance(first, list) or not isinstance(second, list):
        return 0
    short, long = sorted((len(first), len(second)))
    return (long - short + 1) * short * _words(first, second) >> _STEPS


def _multiplication(first: list[object], second: list[object]) -> int:
    return len(first) * len(second) * _words(first, second) >> _STEPS


def _squaring(polynomial: list[object]) -> int:
    return _multiplication(polynomial, polynomial)


def _words(*polynomials: list[object]) -> int:
    """How much longer large coefficients take, by three of each polynomial."""
    shown = [
        _bits(coefficient)
        for each in polynomials
        if each
        for coefficient in (each[0], each[len(each) // 2], each[-1])
    ]
    return 1 + (max(shown, default=0) >> _WORDS)


def _packed(*polynomials: list[object]) -> int:
    """Of what makes one number of a whole polynomial, as the heuristic gcd does."""
    made = sum(len(each) * max(map(_bits, each), default=0) for each in polynomials)
    return made * made >> _PRODUCT


def _degree(polynomial: Mapping[Any, object]) -> int:
    """Of what looks up each exponent of a dictionary down from the highest, 200 ns each."""
    highest = max(polynomial, default=0)
    return int(highest if isinstance(highest, int) else highest[0]) >> _STEPS - 2


def _terms(first: object, second: object) -> int:
    """Of a product in which each term of one meets each of the other; each takes 250 ns."""
    if not isinstance(first, dict) or not isinstance(second, dict):
        return 0
    return len(first) * len(second) >> _STEPS - 2


def _terms_squared(polynomial: object) -> int:
    return _terms(polynomial, polynomial)


def _expanded(terms: int, exponent: object) -> int:
    """The terms of a sum of so many to a power, or fewer."""
    if not isinstance(exponent, int) or exponent < 0 or not terms:
        return 0
    few = min(terms, _FEW) - 1
    return _ENDLESS if exponent.bit_length() > _LONGEST else comb(exponent + few, few)


def _terms_expanded(polynomial: Mapping[Any, object], exponent: object) -> int:
    return _expanded(len(polynomial), exponent)


POLYNOMIALS: Final[tuple[Row, ...]] = (
    ("sympy.polys.densebasic:dup_from_dict", _degree, "f"),
    ("sympy.polys.densebasic:dup_from_raw_dict", _degree, "f"),
    ("sympy.polys.densearith:dup_mul", _multiplication, "f g"),
    ("sympy.polys.densearith:dup_sqr", _squaring, "f"),
    ("sympy.polys.euclidtools:dup_zz_heu_gcd", _packed, "f g"),
    ("sympy.polys.rings:PolyElement.__mul__", _terms, "p1 p2"),
    ("sympy.polys.rings:PolyElement.square", _terms_squared, "self"),
    ("sympy.polys.rings:PolyElement.__pow__", _terms_expanded, "self n"),
    ("sympy.ntheory.multinomial:multinomial_coefficients", _expanded, "m n"),
)
