"""A phrase is one row: its pattern finds every spelling of it in its example, and nothing else."""

import re
from pathlib import Path

import pytest

from reward_functions.extraction.cues.compiling import says
from reward_functions.finqa import cues, phrases

ROWS = [row for rows in phrases.ROWS.values() for row in rows]
NAMES = [f"{row.kind}: {row.words}" for row in ROWS]
UNKNOWN = "qux"
"""A word that no table has."""


def found(row, text):
    """Whether the pattern of a row finds something where it looks: beside the value 5, or all."""
    looked_for = getattr(cues, row.pattern)
    if isinstance(looked_for, frozenset):
        return says(text, looked_for)
    before, _, behind = text.rpartition("5") if row.side == "before" else text.partition("5")
    match = {
        "before": lambda: looked_for.search(before),
        "after": lambda: looked_for.match(behind),
        "in": lambda: looked_for.search(text),
        "whole": lambda: looked_for.fullmatch(text),
    }[row.side]()
    return match is not None


def with_another(row, word):
    """The example of a row, with a word in the place of its phrase."""
    spelled = sorted(row.spellings(), key=len, reverse=True)
    any_word = "|".join(re.escape(each).replace(r"\*", r"\w*") for each in spelled)
    pattern = rf"(?<!\w)(?:{any_word})(?!\w)"
    assert re.search(pattern, row.example, re.IGNORECASE), "the example has the phrase"
    return re.sub(pattern, lambda _: word, row.example, count=1, flags=re.IGNORECASE)


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_every_spelling_of_a_phrase_is_found_in_its_example_and_no_other_word_is(row):
    assert found(row, row.example)
    missed = [
        word for word in row.spellings() if not found(row, with_another(row, word.strip("*")))
    ]
    assert missed == []
    assert not found(row, with_another(row, UNKNOWN))


def test_a_phrase_stands_once_in_its_kind():
    for kind, rows in phrases.ROWS.items():
        spelled = [word for row in rows for word in row.spellings()]
        assert len(spelled) == len(set(spelled)), kind


def test_every_kind_is_looked_for():
    named = re.findall(r"""["'](\w+)["']""", Path(cues.__file__).read_text())
    assert phrases.ROWS.keys() <= set(named)


@pytest.mark.parametrize(
    ("words", "spellings"),
    [
        ("at least/most", ["at least", "at most"]),
        ("report|s|ed", ["reports", "reported", "report"]),
        ("but (it) may", ["but it may", "but may"]),
        ("out_of", ["out of"]),
    ],
)
def test_the_spellings_of_words(words, spellings):
    assert phrases.Row("", "", "", words, "").spellings() == spellings
