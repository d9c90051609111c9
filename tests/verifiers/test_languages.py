"""Answers in other languages and scripts than English are read by the same rules."""

import json
from pathlib import Path

import pytest

from reward_functions import get, sample
from reward_functions.extraction.candidates.other_languages import value_elsewhere
from reward_functions.extraction.cues import conclusions, languages
from reward_functions.quantities.number_words import cardinal

TABLE = Path(__file__).parents[1] / "cases" / "languages.jsonl"
CASES = [json.loads(line) for line in TABLE.read_text().splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[ascii(case["response"])[:48] for case in CASES])
def test_table(case):
    found = sample(case["response"], case["reference"], prompt=case.get("prompt", ""))
    assert get(case["reward"])(found).value == float(case["right"])


@pytest.mark.parametrize("code", languages.SPACED)
def test_every_language_states_an_answer(code):
    language = languages.SPACED[code]
    for answer in language.answer.replace("_", "\0").split():
        word = answer.replace("\0", " ")
        verbs = [":", *(f" {verb}" for verb in language.states.split())]
        for opening in (f"{word}{verb}" for verb in verbs):
            assert get("math")(sample(f"{opening} 7", "7")).value == 1.0, opening
            assert get("math")(sample(f"{opening.capitalize()} $7$.", "7")).value == 1.0, opening
            assert get("math")(sample(f"{opening} 7", "8")).value == 0.0, opening


@pytest.mark.parametrize("code", languages.SPACED)
def test_no_language_pays_for_a_denied_answer(code):
    language = languages.SPACED[code]
    word = language.answer.split()[0].replace("_", " ")
    for denial in language.denies.split():
        for verb in language.states.split() or [":"]:
            for sentence in (f"{word} {denial} {verb} 7", f"{word} {verb} {denial} 7"):
                assert get("math")(sample(sentence, "7")).value == 0.0, sentence


@pytest.mark.parametrize("number", [*range(200), 305, 1001, 1010, 2340, 10500, 99999, 120_000_007])
def test_a_number_is_read_as_it_is_written_in_characters(number):
    assert cardinal(written(number)) == (number, "")


def written(number):
    """A number below 10^12 in Chinese characters."""
    digits = "零一二三四五六七八九"
    if number < 10:
        return digits[number]
    for size, sign in ((10**8, "亿"), (10**4, "万"), (1000, "千"), (100, "百"), (10, "十")):
        if number >= size:
            high, low = divmod(number, size)
            head = "" if (size, high) == (10, 1) else written(high)
            gap = "零" if low and low < size // 10 else ""
            tail = ("一" if 10 <= low < 20 else "") + written(low) if low else ""
            return f"{head}{sign}{gap}{tail}"
    raise AssertionError


@pytest.mark.parametrize("code", conclusions.SPACED)
def test_every_language_counts_in_its_last_sentence(code):
    row = conclusions.SPACED[code]
    behind = f" {spelled(row.closes)}" if row.closes else ""
    verb = f" {spelled(row.counts)}" if row.counts else ""
    for concludes in row.concludes.split():
        sentence = f"{spelled(concludes).capitalize()}{verb} 7 xyzzy{behind}."
        assert value_elsewhere(sentence[:-1]) == r"7\text{ xyzzy}", sentence
    for doubt in row.doubts.split():
        for sentence in (f"{spelled(row.concludes)} {spelled(doubt)}{verb} 7{behind}",):
            assert value_elsewhere(sentence) == "", sentence
        sentence = f"{spelled(row.concludes)}{verb} 7 {spelled(doubt)}{behind}"
        assert value_elsewhere(sentence) == "", sentence


def spelled(phrases):
    """The first phrase of a column."""
    return phrases.split()[0].replace("_", " ")
