"""A phrase is one row: what it matches is derived from it, and its example shows what it does."""

import pytest

from reward_functions.extraction.cues import lexicon, matching
from reward_functions.extraction.cues.compiling import EDGE, compiled, reached, words
from reward_functions.extraction.cues.matching import correction, disqualifying_cue

ROWS = [*lexicon.BEFORE, *lexicon.AFTER]
NAMES = [f"{row.words} [{row.example}]" for row in ROWS]


def place_of(row):
    return row.example.rindex("5") if row.side == "before" else row.example.index("5")


def cue_of(row, example, form="math_span"):
    return disqualifying_cue(example, place_of(row), place_of(row) + 1, form=form)


@pytest.fixture
def alone(monkeypatch):
    """A lexicon of one row."""

    def keep(row):
        for side in ("before", "after"):
            rows = (row,) if row.side == side else ()
            monkeypatch.setattr(lexicon, side.upper(), rows)
        matching._table.cache_clear()

    yield keep
    monkeypatch.undo()
    matching._table.cache_clear()


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_with_a_phrase_beside_it_an_answer_does_not_count_and_without_it_it_does(row, alone):
    alone(row)
    assert cue_of(row, row.example) == row.kind
    assert not disqualifying_cue("So it is 5 apples.", 9, 10)


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_the_whole_lexicon_agrees_for_a_form_without_commitment(row):
    assert cue_of(row, row.example) in lexicon.STRICT


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_a_box_and_a_marker_are_commitments(row):
    expected = row.kind in lexicon.COMMITTED
    for form in ("box", "hash_marker"):
        assert bool(cue_of(row, row.example, form)) == expected


@pytest.mark.parametrize("row", lexicon.CORRECTIONS, ids=lambda row: row.words)
def test_a_correction_names_the_value_that_it_puts_in_place(row):
    if "{choice}" in row.words:
        assert correction(row.example, 1) == "C"
        return
    assert correction(row.example, 1) == "6"
    assert correction(row.example.replace("6", "$-6$"), 1) == "-6"


@pytest.mark.parametrize("row", [*ROWS, *lexicon.CORRECTIONS], ids=lambda row: row.words)
def test_every_row_has_a_word_that_is_looked_for_first(row):
    assert compiled(row).keys
    assert row.side == ("before" if row in lexicon.BEFORE else "after")


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_the_work_of_a_row_does_not_grow_with_the_words_beside_it(row):
    parts = [part for part in (*words(row.example), ",", EDGE) if part != "5"]
    places = compiled(row).places
    for pump in parts:
        asked = counted(places, [pump] * 4000, 1 if row.side == "after" else -1)
        assert asked <= 30 * len(places) ** 2


def counted(places, beside, step):
    """How often matching from the middle asks whether a place accepts a word."""
    asked = []

    def watched(place):
        return place._replace(accepts=lambda word: asked.append(word) or place.accepts(word))

    reached([watched(place) for place in places], beside, len(beside) // 2, step)
    return len(asked)


DRESS = [
    "{}",
    "**{}**",
    "({})",
    "\\text{{ {}}}",
    "\\mbox{{ {}}}",
    "\\footnote{{{}}}",
    "_{}_",
    "~{}",
]


@pytest.mark.parametrize("dress", DRESS)
@pytest.mark.parametrize("words_behind", ["is wrong", "is not the answer", "isn't right"])
def test_a_denial_in_dress_is_a_denial(dress, words_behind):
    text = "$\\boxed{5}$ " + dress.format(words_behind)
    assert disqualifying_cue(text, 1, 10, form="box") == lexicon.DENIED


@pytest.mark.parametrize("dress", [dress for dress in DRESS if dress != "({})"])
def test_so_is_a_negation_in_dress_before_a_box(dress):
    before = "It is " + dress.format("not")
    text = before + " $\\boxed{5}$"
    assert disqualifying_cue(text, len(before) + 2, len(text) - 1, form="box") == lexicon.DENIED


COMMITTED = [
    "the statement that is NOT true is:\n\\[\n{}\n\\]",
    "The incorrect option is ${}$.",
    "We don't need to divide here, so $5!={}$.",
    "the number of different arrangements is $4\\cdot 7!={}$",
    "The option that is not correct: {}",
    "It can not be negative, so it is {}",
    "If not, it would be {}",
    "The answer is none other than {}",
    "at least {} danishes",
    "The number of wrong answers is {}",
    "I never doubted: {}",
    "$f$ is never zero; its minimum is ${}$",
    "{}. It's wrong to stop at 6.",
    "${}$ is not divisible by 2, so it is prime.",
    "{}. This is not a coincidence.",
    "{}. It could also be 6.",
]
DENIALS = [
    "It is not {}.",
    "It isn't {}.",
    "$x \\ne {}$",
    "x \\not= {}",
    "It is not equal to {}",
    "{} is wrong",
    "{} is not the answer.",
    "{}. This is not the answer.",
    "{} (which is wrong)",
    "Not {}",
    "The answer can't be {}.",
    "{}. No, that was too hasty.",
    "It is by no means {}",
    "{} turned out to be wrong.",
    "{}. The previous answer is wrong.",
    "{}. I retract that.",
    "答案不是{}",
    "{} is not a solution.",
]


@pytest.mark.parametrize("text", COMMITTED)
def test_words_that_deny_something_else_leave_a_box(text):
    assert not boxed_cue(text)


@pytest.mark.parametrize("text", DENIALS)
def test_a_denial_of_that_very_value_does_not(text):
    assert boxed_cue(text)


def boxed_cue(text):
    at = text.index("{}")
    whole = text.replace("{}", "\\boxed{5}")
    return disqualifying_cue(whole, at, at + len("\\boxed{5}"), form="box")
