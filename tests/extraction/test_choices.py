"""Options of a prompt, and the choice that an answer gives."""

import pytest

from reward_functions.extraction.choices import (
    MAX_CHOICE,
    is_another,
    lettered,
    options_in,
    options_of,
)


@pytest.mark.parametrize(
    ("prompt", "options"),
    [
        ("How many: (A) 50 (B) 42 (C) 39", {"A": "50", "B": "42", "C": "39"}),
        ("True: (A) f(-6)=0 (B) f(6)=-6", {"A": "f(-6)=0", "B": "f(6)=-6"}),
        (r"S:\n(A) Negative\n(B) Positive", {"A": "Negative", "B": "Positive"}),
        (r"$\textbf{(A)}\ 50 \qquad \textbf{(B)}\ 42$", {"A": "50", "B": "42"}),
        (r"$\textbf{(A) }50\qquad\textbf{(B) }42$", {"A": "50", "B": "42"}),
        ("What? Answer Choices: A) 5 B) 6", {"A": "5", "B": "6"}),
        ("What?\nA. 39\nB. 42", {"A": "39", "B": "42"}),
        ("(F) 1 (G) 2 (H) 3 (J) 4 (K) 5", dict(zip("FGHJK", "12345", strict=True))),
        ("E.g. (A) 9 (B) 8. Now (A) 7 (B) 8. Choose (A) or (B).", {"A": "7", "B": "8"}),
        ("Which? (A) (B) (C)", {"A": "", "B": "", "C": ""}),
        ("First (A) 1 (B) 2, and which? (A) (B)", {"A": "1", "B": "2, and which?"}),
        ("Let A. B. be points.", {}),
        ("Only (A) one", {}),
        ("(A) one (C) three", {}),
    ],
)  # fmt: skip
def test_options_are_read_however_their_letters_are_marked(prompt, options):
    assert dict(options_in(prompt)) == options


@pytest.mark.parametrize(
    ("listed", "options"),
    [
        (["red", 2], {"A": "red", "B": "2"}),
        ({"a": "red", "b": 2.5}, {"A": "red", "B": "2.5"}),
        ({"text": ["red", "green"], "label": ["1", "2"]}, {"1": "red", "2": "green"}),
        ({"text": ["red", "green"]}, {"A": "red", "B": "green"}),
        # A text without a label, or a label without a text, is no option.
        ({"text": ["red", "green"], "label": ["A"]}, {"A": "red"}),
        ({"text": ["red"], "label": ["A", "B"]}, {"A": "red"}),
        ([["red"]], {}),
        ("red", {}),
        (None, {}),
    ],
)
def test_options_are_read_as_data_sets_list_them(listed, options):
    assert options_of(listed) == options


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("C", ("C", "")), ("(C)", ("C", "")), ("C.", ("C", "")), ("(C) 39", ("C", "39")),
        ("C: 39", ("C", "39")), (r"\textbf{(C)}\ 39", ("C", "39")), (r"\text{C}", ("C", "")),
        (r"\text{(C) 39}", ("C", "39")), ("Option C", ("C", "")), ("(K) x+1", ("K", "x+1")),
        ("(c)", ("C", "")), ("C 39", None), ("Cat", None), ("A+B", None), ("c", None),
        ("B=3", None), ("39", None), ("A, C", None), (r"\text{A,C,F}", None), ("(A) and (C)", None),
    ],
)  # fmt: skip
def test_a_letter_is_a_choice_where_it_is_marked(answer, read):
    assert lettered(answer) == read


def test_a_choice_of_more_characters_is_not_read():
    assert lettered("(C) " + "x" * (MAX_CHOICE - 4)) == ("C", "x" * (MAX_CHOICE - 4))
    assert lettered("(C) " + "x" * (MAX_CHOICE - 3)) is None


UNITS = {"A": "5 km", "B": "5,000 m", "C": "3 apples"}


@pytest.mark.parametrize(
    ("text", "letter", "another"),
    [
        ("5 kg", "A", True),
        ("5000 m", "A", True),
        ("5 apples", "A", False),
        ("3 pears", "C", False),
        ("4 apples", "C", True),
        ("3", "C", False),
        ("3 apples", "C", False),
    ],
)
def test_a_noun_is_no_unit_by_which_a_text_is_another_options(text, letter, another):
    assert is_another(text, letter, UNITS) is another
