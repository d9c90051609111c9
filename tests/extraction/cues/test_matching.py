"""Words disqualify an answer only from right beside it, in any markup."""

from itertools import product

import pytest

from reward_functions.extraction.cues import lexicon
from reward_functions.extraction.cues.matching import cue_before, disqualifying_cue

ANSWERS = [
    "\\boxed{5}",
    "$\\boxed{5}$",
    "\\(\\boxed{5}\\)",
    "**\\boxed{5}**",
    "\n\\[\n\\boxed{5}\n\\]",
]

BEFORE = {
    lexicon.DENIED: [
        "It is not",
        "I refuse to say",
        "No es",
        "Ce n'est pas",
        "Es ist nicht",
        "Non è",
    ],
    lexicon.OTHERS: ["Some say", "Many students claim that it is", "The wrong answer is"],
    lexicon.BOUND: ["It is at least", "more than", "It is almost", "It is between 3 and"],
    lexicon.PART: ["twice", "The answer is half of", "the square root of", "10 minus"],
    lexicon.SUPPOSED: ["Maybe", "It might be", "Suppose that it is", "If it is"],
    lexicon.FORMAT: ["Write your answer as", "Put your final answer in"],
}
AFTER = {
    lexicon.DENIED: [" is wrong.", " is too small.", " does not work.", " cannot be right."],
    lexicon.SEVERAL: [" or 6.", "; 6.", ". Or 6."],
    lexicon.BOUND: [" or more.", " at most."],
    lexicon.PART: [" plus 3.", " squared."],
    lexicon.SUPPOSED: ["?", " right?", ", maybe."],
    "is taken back": [", which is a mistake.", ". I take that back.", ". Scratch that."],
}
HONEST_BEFORE = [
    "Half of 10 is",
    "The sum of 2 and 3 is",
    "Since x cannot be 6, the answer is",
    "It is not 6; it is",
    "Some say 6, but the answer is",
    "It is approximately",
    "I think it is",
    "It is probably",
    "Maybe it is 6? No, it is",
    "Here is the answer to your question:",
]
HONEST_AFTER = [
    "",
    ".",
    " apples.",
    ", since 6 is too large.",
    ". Is anything unclear?",
    ". 6 would be wrong.",
    ".\n\nWait, let me check: 2 + 3 = 5.",
    ", which is less than 6.",
]


def cue_of(before, answer, after):
    text = f"{before} {answer}{after}"
    start = text.index("\\boxed")
    return disqualifying_cue(text, start, start + len("\\boxed{5}"))


@pytest.mark.parametrize(
    ("expected", "words"), [(kind, words) for kind in BEFORE for words in BEFORE[kind]]
)
def test_words_in_front_disqualify_an_answer(expected, words):
    for answer, after in product(ANSWERS, HONEST_AFTER):
        assert cue_of(words, answer, after) == expected


@pytest.mark.parametrize(
    ("expected", "words"), [(kind, words) for kind in AFTER for words in AFTER[kind]]
)
def test_words_behind_disqualify_an_answer(expected, words):
    for before, answer in product(HONEST_BEFORE, ANSWERS[:4]):
        assert cue_of(before, answer, words) == expected


@pytest.mark.parametrize("before", HONEST_BEFORE)
def test_honest_words_do_not(before):
    for answer, after in product(ANSWERS, HONEST_AFTER):
        assert cue_of(before, answer, after) == ""


@pytest.mark.parametrize(("count", "cue"), [(0, "is denied"), (11, "is denied"), (12, "")])
def test_so_many_words_may_stand_between(count, cue):
    assert cue_before("It is not " + "the " * count) == cue
