r"""Records like those of MATH: a short problem, and a solution with its exact answer in a box.

The answers are of the kinds that MATH has: whole numbers, fractions, decimals, percentages, roots,
polynomials, points, intervals, lists.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, isqrt
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random


class Problem(NamedTuple):
    """A problem with its answer, and the sentence that leads to it."""

    text: str
    working: str
    answer: str


def _linear_equation(random: Random) -> Problem:
    a, b, x = random.randint(2, 19), _nonzero(random, 60), _nonzero(random, 40)
    c = a * x + b
    return Problem(
        f"Solve for $x$: ${a}x {_signed(b)} = {c}$.",
        f"Taking {b} from both sides gives ${a}x = {c - b}$, and dividing by {a} gives $x$.",
        str(x),
    )


def _remainder(random: Random) -> Problem:
    n, m = random.randint(200, 9999), random.randint(7, 97)
    return Problem(
        f"What is the remainder when ${n}$ is divided by ${m}$?",
        f"${m}$ goes into ${n}$ exactly ${n // m}$ whole times.",
        str(n % m),
    )


def _greatest_divisor(random: Random) -> Problem:
    shared = random.randint(3, 45)
    a, b = shared * random.randint(2, 40), shared * random.randint(2, 40)
    return Problem(
        f"Find the greatest common divisor of ${a}$ and ${b}$.",
        "The algorithm of Euclid ends in the last remainder that is not zero.",
        str(gcd(a, b)),
    )


def _sum_of_fractions(random: Random) -> Problem:
    while True:
        (a, c), (b, d) = random.sample(range(1, 20), 2), random.sample(range(3, 25), 2)
        result = Fraction(a, b) + Fraction(c, d)
        if result.denominator > 1 and gcd(a, b) == gcd(c, d) == 1:
            break
    return Problem(
        rf"Compute $\frac{{{a}}}{{{b}}} + \frac{{{c}}}{{{d}}}$. Write it as a common fraction.",
        f"The denominators have the common multiple ${b * d}$.",
        _fraction(result),
    )


def _probability(random: Random) -> Problem:
    while True:
        red, blue, green = (random.randint(2, 30) for _ in range(3))
        result = Fraction(red, red + blue + green)
        if result.numerator > 1:
            break
    return Problem(
        f"A bag holds ${red}$ red, ${blue}$ blue and ${green}$ green marbles. One is drawn at "
        "random. What is the probability that it is red? Write it as a common fraction.",
        f"Of ${red + blue + green}$ marbles, ${red}$ are red.",
        _fraction(result),
    )


def _product_of_binomials(random: Random) -> Problem:
    a, b = _nonzero(random, 25), _nonzero(random, 25)
    while a + b == 0:
        b = _nonzero(random, 25)
    middle = "x" if abs(a + b) == 1 else f"{abs(a + b)}x"
    return Problem(
        f"Expand $(x {_signed(a)})(x {_signed(b)})$ and collect like terms.",
        f"The middle coefficient is ${a + b}$ and the constant is ${a * b}$.",
        f"x^2 {'+' if a + b > 0 else '-'} {middle} {_signed(a * b)}",
    )


def _distance(random: Random) -> Problem:
    while True:
        x, y, dx, dy = (random.randint(-20, 20) for _ in range(4))
        square = dx * dx + dy * dy
        if square and isqrt(square) ** 2 != square:
            break
    outer, inner = _root(square)
    return Problem(
        f"What is the distance between the points $({x}, {y})$ and $({x + dx}, {y + dy})$? Give it "
        "in simplest radical form.",
        f"Its square is ${square}$.",
        rf"{outer if outer > 1 else ''}\sqrt{{{inner}}}",
    )


def _midpoint(random: Random) -> Problem:
    x, y, dx, dy = (_nonzero(random, 40) for _ in range(4))
    return Problem(
        f"Find the midpoint of the segment from $({x - dx}, {y - dy})$ to $({x + dx}, {y + dy})$.",
        "Each coordinate is the mean of the two ends.",
        f"({x}, {y})",
    )


def _interval(random: Random) -> Problem:
    middle, reach = _nonzero(random, 60), random.randint(2, 45)
    return Problem(
        f"Find all real $x$ with $|x {_signed(-middle)}| < {reach}$. Write them as an interval.",
        f"The distance of $x$ from ${middle}$ is less than ${reach}$.",
        f"({middle - reach}, {middle + reach})",
    )


def _roots(random: Random) -> Problem:
    low, high = sorted(random.sample([n for n in range(-25, 26) if n], 2))
    total = low + high
    linear = f"{_signed(-total)}x " if total else ""
    return Problem(
        f"Find all roots of $x^2 {linear}{_signed(low * high)}$, in increasing order, separated by "
        "commas.",
        f"Their sum is ${total}$ and their product is ${low * high}$.",
        f"{low}, {high}",
    )


def _percentage(random: Random) -> Problem:
    whole, share = 20 * random.randint(2, 60), 5 * random.randint(1, 19)
    return Problem(
        f"What percent of ${whole}$ is ${whole * share // 100}$? Give your answer with a percent "
        "sign.",
        f"The quotient is ${share / 100}$.",
        rf"{share}\%",
    )


def _decimal_product(random: Random) -> Problem:
    a, b = random.randint(11, 99), random.choice([n for n in range(11, 99) if n % 10])
    while a % 10 == 0 or a * b % 10 == 0:
        a, b = a + 1, b + (b % 10 == 5)  # noqa: PLR2004 - no product ends in 0
    return Problem(
        rf"Compute ${a / 10} \times {b / 10}$. Write it as a decimal.",
        f"${a}$ times ${b}$ is ${a * b}$, and two places are cut off.",
        f"{a * b // 100}.{a * b % 100:02d}",
    )


PROBLEMS: Final[tuple[tuple[Callable[[Random], Problem], str, str], ...]] = (
    (_linear_equation, "Algebra", "Level 1"),
    (_interval, "Algebra", "Level 3"),
    (_roots, "Algebra", "Level 2"),
    (_product_of_binomials, "Intermediate Algebra", "Level 1"),
    (_remainder, "Number Theory", "Level 1"),
    (_greatest_divisor, "Number Theory", "Level 2"),
    (_sum_of_fractions, "Prealgebra", "Level 2"),
    (_percentage, "Prealgebra", "Level 1"),
    (_decimal_product, "Prealgebra", "Level 1"),
    (_probability, "Counting & Probability", "Level 1"),
    (_distance, "Geometry", "Level 3"),
    (_midpoint, "Geometry", "Level 1"),
)
"""Each with its subject and level, in MATH's own words."""


def record(random: Random) -> dict[str, Any]:
    """A record of MATH's shape: `problem`, `level`, `type`, `solution`."""
    invent, subject, level = random.choice(PROBLEMS)
    text, working, answer = invent(random)
    return {
        "problem": text,
        "level": level,
        "type": subject,
        "solution": rf"{working} So the answer is $\boxed{{{answer}}}$.",
    }


def _nonzero(random: Random, most: int) -> int:
    return random.choice((-1, 1)) * random.randint(1, most)


def _signed(number: int) -> str:
    """`+ 3` or `- 3`."""
    return f"{'+' if number >= 0 else '-'} {abs(number)}"


def _fraction(value: Fraction) -> str:
    return rf"\frac{{{value.numerator}}}{{{value.denominator}}}"


def _root(square: int) -> tuple[int, int]:
    """The outer and the inner number of a simplified square root."""
    outer = max(n for n in range(1, isqrt(square) + 1) if square % (n * n) == 0)
    return outer, square // (outer * outer)
