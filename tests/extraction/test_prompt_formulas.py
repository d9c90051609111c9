"""The formulas of a text: found with and without delimiters, and at no great cost."""

import time

import pytest

from reward_functions.extraction.prompt_formulas import FORMULAS, LENGTH, formulas

FOUND = [
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


def test_a_text_has_a_bounded_number_of_short_formulas():
    found = formulas(" and ".join(f"${number}x+{'1' * number}$" for number in range(2, 2 * LENGTH)))
    assert len(found) <= FORMULAS
    assert all(len(formula) <= LENGTH for formula in found)


HOSTILE = ["$", "\\(", "\\[", "$x$", "5 times ", "5 ", "\\text{", "a", " ", "(", "-"]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_texts_take_no_time(piece):
    started = time.process_time()
    formulas(piece * (200_000 // len(piece)))
    assert time.process_time() - started < 0.5
