"""The formulas of a text: found with and without delimiters, and at no great cost."""

import pytest

from reward_functions.extraction.prompt_formulas import FORMULAS, LENGTH, asked_formulas, formulas
from tests.growth import assert_linear

FOUND = [
    ("the least common multiple of 12 and 18", (r"\operatorname{lcm}(12,18)",)),
    ("the GCD of $12$, $18$, and $24$", (r"\gcd(12,18,24)",)),
    ("the square root of $1521$", (r"\sqrt{1521}",)),
    ("Find BC^2.", ("BC^2",)),
    (r"Compute $17 \cdot 23$.", (r"17 \cdot 23",)),
    ("What is 17 * 23?", ("17 * 23",)),
    ("What is 17 times 23?", ("17*23",)),
    ("Find 5 squared plus 2.", ("5^2+2",)),
    ("Solve 2x = 4 for x.", ("2x = 4",)),
    (r"Compute \(5!\) and \[\gcd(4, 6)\].", ("5!", r"\gcd(4, 6)")),
    (r"Let $f(x) = x^2$. Find $f(3)$.", ("f(x) = x^2", "f(3)")),
    (r"Find \log_2 8", (r"\log_2 8",)),
    ("It costs $5, and $7 more.", ()),
    ("Ann has 3 apples.", ()),
    ("", ()),
]


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_formulas_are_found(text, expected):
    assert set(expected) <= set(formulas(text))
    if not expected:
        assert not formulas(text)


ASKED = [
    ("Find $x+y$.", ("x+y",)),
    ("Find all real numbers $x$ and $y$ such that $2x=y$.", ("x", "y")),
    ("What is the least possible value of $xy$?", ("xy",)),
    ("Find the sum of $x$ and $y$.", ("x+y",)),
    ("Write $0.125$ as a fraction.", ("0.125",)),
    ("Simplify the ratio 6:8.", ("6:8",)),
    ("What is $a+b=?$", ("a+b",)),
    ("What is the discriminant of $x^2-2x+1$?", ()),
    ("If $x+y=5$, how old is Ann?", ()),
    ("Which is larger, $2^{10}$ or $10^3$?", ()),
    ("Solve $3x=15$.", ()),
]


@pytest.mark.parametrize(("text", "expected"), ASKED)
def test_formulas_are_asked_for_by_the_words_before_them(text, expected):
    assert asked_formulas(text) == expected


def test_a_text_has_a_bounded_number_of_short_formulas():
    found = formulas(" and ".join(f"${number}x+{'1' * number}$" for number in range(2, 2 * LENGTH)))
    assert len(found) <= FORMULAS
    assert all(len(formula) <= LENGTH for formula in found)


HOSTILE = [
    "sum of ",
    "sum of 1, ",
    "gcd of $1$ and ",
    "find ",
    "the value of ",
    "$",
    "\\(",
    "\\[",
    "$x$",
    "5 times ",
    "5 ",
    "\\text{",
    "a",
    " ",
    "(",
    "-",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_texts_take_no_time(piece):
    def read(size):
        text = piece * (size // len(piece))
        formulas(text)
        asked_formulas(text)

    assert_linear(read, 50_000, 200_000)


@pytest.mark.parametrize("length", [LENGTH - 1, LENGTH, LENGTH + 1, 2 * LENGTH])
def test_a_formula_of_more_characters_is_not_read(length):
    formula = "1+" * (length // 2) + "11"[: 1 + length % 2]
    formula = formula[:length] if formula[length - 1] != "+" else formula[: length - 1] + "1"
    expected = (formula,) if length <= LENGTH else ()
    assert len(formula) == length
    assert formulas(f"Compute ${formula}$.") == expected
    assert asked_formulas(f"Find ${formula}$.") == expected
