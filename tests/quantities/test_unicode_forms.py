"""What is not seen is taken out, and what is seen stays."""

import pytest

from reward_functions.extraction.latex_groups import REACH, group_end
from reward_functions.quantities.unicode_forms import visible

UNSEEN = {
    "NUL": "\0",
    "a soft hyphen": "\u00ad",
    "a zero-width space": "\u200b",
    "a mark of direction": "\u202e",
    "a word joiner": "\u2060",
    "a variation selector": "\ufe0f",
    "a byte order mark": "\ufeff",
    "the first tag character": "\U000e0000",
    "the last tag character": "\U000e007f",
    "a further variation selector": "\U000e0100",
    "a filler of Hangul": "\u1160",
}
SEEN = "\t\n −é°π\u0300\u200a\u2010\u2029\u202f\u2070\ufe10\uff11\U0001d7d9\U000e0080\ud800"


@pytest.mark.parametrize("character", UNSEEN.values(), ids=UNSEEN)
@pytest.mark.parametrize("text", ["{}", "4{}2", "−{}1", "{}𝟙{}"])
def test_what_nobody_sees_is_taken_out(character, text):
    assert visible(text.replace("{}", character)) == text.replace("{}", "")


def test_what_is_seen_stays():
    assert visible(SEEN) == SEEN
    assert visible(SEEN + "\u200b") == SEEN
    assert visible("4\u31642\uffa0\u2800") == "4 2  "


def test_a_group_ends_at_its_own_brace():
    assert group_end(r"\text{a\}b{c}d}e", 5) == 15
    assert group_end("{a{b}", 0) is None
    assert group_end("{" + "a" * (REACH - 2) + "}", 0) == REACH


def test_a_group_longer_than_any_answer_is_not_followed_to_its_end():
    assert group_end("{" + "a" * REACH + "}", 0) is None
    assert group_end("{{}" + "{a}" * REACH + "}", 0) is None
