"""The machine says what Python's `re` says, and takes linear time where `re` takes for ever."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reward_functions.core.errors import BadParameter
from reward_functions.shapers import _regex
from reward_functions.shapers._regex import MAX_STATES, compiled

PIECES = st.sampled_from(
    [
        "a",
        "b",
        "\\n",
        ".",
        "[ab]",
        "[^a]",
        "\\w",
        "\\s",
        "\\b",
        "\\B",
        "^",
        "$",
        "\\A",
        "\\Z",
        "A",
        "ſ",
        "(?i:a)",
        "(?i:s)",
    ]
)


def grown(patterns):
    return st.one_of(
        st.tuples(patterns, patterns).map("".join),
        st.tuples(patterns, patterns).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(
            patterns, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?"])
        ).map(lambda two: f"(?:{two[0]}){two[1]}"),
    )


PATTERNS = st.recursive(PIECES, grown, max_leaves=6)
FLAGGED = st.tuples(st.sampled_from(["", "(?i)", "(?m)", "(?s)", "(?ims)"]), PATTERNS).map("".join)
TEXTS = st.text(alphabet="aAbsſS \n", max_size=7)


@given(FLAGGED, TEXTS)
@settings(derandomize=True)
def test_it_says_what_re_says(pattern, text):
    assume(text or "\\B" not in pattern)  # in which `re` differs between Python 3.13 and 3.14
    machine = compiled(pattern)
    assert machine.search(text) is bool(re.search(pattern, text))
    assert machine.fullmatch(text) is bool(re.fullmatch(pattern, text))


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        (r"(a)\1", "reference back"),
        (r"(?=a)b", "look around"),
        (r"(?<!a)b", "look around"),
        (r"(a)?(?(1)b|c)", "condition on a group"),
        (r"(?>a*)b", "gives nothing back"),
        (r"a*+b", "gives nothing back"),
        ("(", "not a regular expression"),
        ("a**", "not a regular expression"),
        ("(" * 5_000, "not a regular expression"),
        ("(?:a{1000}){1000}", f"over {MAX_STATES:,} states"),
    ],
)
def test_what_is_not_followed_is_refused_in_one_sentence(pattern, named):
    with pytest.raises(BadParameter, match=named):
        compiled(pattern)


@pytest.mark.parametrize("pattern", ["(a|a)*b", "(a*)*b", "(a+)+$", "(.*)(.*)(.*)b", "(?:a?){99}b"])
def test_what_stalls_re_takes_a_step_a_character(pattern):
    machine = compiled(pattern)
    assert not machine.search("a" * 20_000 + "c")
    assert machine._part._kept < 250


def test_characters_that_a_pattern_does_not_tell_apart_are_one_symbol():
    machine = compiled(r"\d-\d")
    assert not machine.search("".join(map(chr, range(0x4E00, 0x9000))))
    assert machine._part._kept < 5


def test_what_was_forgotten_is_computed_again(monkeypatch):
    monkeypatch.setattr(_regex, "MAX_KEPT", 2)
    monkeypatch.setattr(_regex, "MAX_CHARACTERS", 2)
    assert _regex.Pattern(r"(?:ab|cd)+e").search("abcdabcde")
