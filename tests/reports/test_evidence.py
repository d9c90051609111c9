"""A normal form as its reader sees it: words of the form itself, and never Python's own."""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import pytest

from reward_functions.reports.evidence import DEPTH, PARTS, rendered


class Named:
    """Says what it is."""

    def __str__(self):
        return "named"


class Silent:
    """Says nothing, and has no parts."""


@dataclass
class Record:
    unit: str | None
    values: object = ()


class Pair(NamedTuple):
    left: object
    right: object


LOOP = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (None, None),
        ("text", "text"),
        (0.5, "0.5"),
        (Fraction(1, 3), "1/3"),
        (Named(), "named"),
        (Silent(), "Silent"),
        (Silent, "Silent"),
        (b"x" * 1234, "1,234 bytes"),
        ([1, "b", None], "1, b, "),
        ([], ""),
        ({}, ""),
        ((1, [2, 3]), "1, 2, 3"),
        ({"a": 1, "b": None, "c": [2]}, "a: 1; c: 2"),
        ({(1, 2): "x"}, "1, 2: x"),
        ({((1,), 2): "x"}, "…, 2: x"),
        (Record("m", [1]), "unit: m; values: 1"),
        (Record(None), ""),
        (Record, "Record"),
        (Pair(1, Pair(2, None)), "left: 1; right: left: 2"),
        ([Pair(1, 2), Pair(3, 4)], "left: 1; right: 2 | left: 3; right: 4"),
        ([1, {"a": 2}], "1 | a: 2"),
        (LOOP, "…"),
        ({"a": {"b": {"c": {"d": {"e": {"f": {"g": 1}}}}}}}, "a: b: c: d: e: f: …"),
    ],
)
def test_a_form_is_shown_by_what_it_says_or_by_its_parts(form, text):
    assert rendered(form) == text


def test_a_number_of_more_digits_than_python_writes_is_said_to_be_one():
    assert rendered([10**5000, 1]) == "a number of too many digits to write, 1"


def test_a_set_is_shown_by_its_members():
    assert rendered({7}) == "7"
    assert rendered(frozenset({"a"})) == "a"


@pytest.mark.parametrize("levels", [DEPTH - 1, DEPTH])
def test_so_many_levels_are_shown(levels):
    form = 1
    for _ in range(levels):
        form = [form]
    assert rendered(form) == "1"
    assert rendered([[form]]) == ("1" if levels + 2 <= DEPTH else "…")


@pytest.mark.parametrize(("count", "end"), [(PARTS, ""), (PARTS + 1, " and 1 more")])
def test_so_many_parts_are_shown(count, end):
    assert rendered(["x"] * count) == ", ".join(["x"] * PARTS) + end
    shown = "; ".join(f"{at}: x" for at in range(PARTS))
    assert rendered(dict.fromkeys(range(count), "x")) == shown + end
