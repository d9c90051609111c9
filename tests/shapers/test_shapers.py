"""What each shaper pays for, and the ways around it, case by case."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_functions import RewardError, get, sample, weighted
from reward_functions.core.errors import BadComposite, BadParameter, BadSample
from reward_functions.extraction.text_metrics import rouge_l
from tests.growth import assert_linear

BOXED, HASH, ANSWER = ({"form": form} for form in ("boxed", "hash", "answer"))
SHORT = {"limit": 10, "buffer": 4, "unit": "words"}
PAIRS = {"ngram": 2, "full_at": 1.0}

CASES = [
    # reward, parameters, response, value
    ("think_format", {}, "  \n<think>a</think>b", 1.0),
    ("think_format", {}, "Well. <think>a</think>b", 0.0),
    ("think_format", {}, "<think>a</think> \n ", 0.0),
    ("think_format", {}, "<think> \n </think>b", 0.0),
    ("think_format", {}, "a</think>b", 0.0),
    ("think_format", {}, "<think>a<think>b</think>c", 0.0),
    ("think_format", {}, "<think>a</think>b</think>c", 0.0),
    ("think_format", {}, "<THINK>a</THINK>b", 0.0),
    ("think_format", {"opened": True}, "a</think>b", 1.0),
    ("think_format", {"opened": True}, "<think>a</think>b", 1.0),
    ("think_format", {"opened": True}, "a, and so b", 0.0),
    ("think_format", {"tag": "r"}, "<think>a</think>b", 0.0),
    ("tag_count", {}, "", 0.0),
    ("tag_count", {}, "<answer>42</answer><think>a</think>", 0.5),
    ("tag_count", {}, "<think>a</think><answer>42", 0.75),
    ("tag_count", {"sections": "plan,code"}, "<plan>a</plan><code>b</code>", 1.0),
    ("tag_count", {"sections": "plan"}, "</plan><plan>", 0.5),
    ("answer_format", BOXED, r"\boxed{\frac{1}{2}}", 1.0),
    ("answer_format", BOXED, r"\boxed{\frac{1}{2}", 0.0),
    ("answer_format", BOXED, r"<think>\boxed{1}</think>\boxed{2}", 1.0),
    ("answer_format", BOXED, "#### 42", 0.0),
    ("answer_format", HASH, "6 × 7\n####42\n\n", 1.0),
    ("answer_format", HASH, "#### 42\nThat is all.", 0.0),
    ("answer_format", HASH, "####", 0.0),
    ("answer_format", HASH, "so #### 42", 0.0),
    ("answer_format", ANSWER, "answer: 42", 1.0),
    ("answer_format", ANSWER, "ANSWER: 42\nANSWER: 43", 0.0),
    ("answer_format", ANSWER, "The answer is 42", 0.0),
    ("length", {"at_least": 2, "at_most": 3}, "a b", 1.0),
    ("length", {"at_least": 2, "at_most": 3}, "a b c d", 0.0),
    ("length", {"at_least": 4, "margin": 4}, "a b", 0.5),
    ("length", {"at_most": 5, "unit": "characters"}, "a b c", 1.0),
    ("length", {"at_most": 5, "unit": "characters"}, "a b c ", 0.0),
    ("overlong", SHORT, "a " * 6, 0.0),
    ("overlong", SHORT, "a " * 7, -0.25),
    ("overlong", SHORT, "a " * 10, -1.0),
    ("overlong", SHORT, "a " * 10_000, -1.0),
    ("overlong", SHORT, "", 0.0),
    ("repetition", PAIRS, "a", 0.0),
    ("repetition", PAIRS, "a b c d", 0.0),
    ("repetition", PAIRS, "a b A B", 0.0),
    ("repetition", PAIRS, "a b\na  b", -1 / 3),
    ("repetition", {"ngram": 1}, "a a a a", -1.0),
    ("regex", {"pattern": "(?i)sorry", "whole": False}, "I am SORRY.", 1.0),
    ("regex", {"pattern": "a.c", "whole": True}, "a\nc", 0.0),
    ("regex", {"pattern": "(?s)a.c", "whole": True}, "a\nc", 1.0),
]


@pytest.mark.parametrize(("name", "parameters", "response", "value"), CASES)
def test_what_it_pays(name, parameters, response, value):
    assert get(name).bind(parameters)(sample(response)).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("length", {"at_least": 5, "at_most": 4}),
        ("length", {"at_least": -1}),
        ("length", {"margin": -1}),
        ("overlong", {"limit": 10, "buffer": 11}),
        ("overlong", {"buffer": 0}),
        ("repetition", {"ngram": 0}),
        ("repetition", {"full_at": 0.0}),
        ("repetition", {"full_at": 1.5}),
        ("tag_count", {"sections": ""}),
        ("tag_count", {"sections": "<think>"}),
        ("regex", {"pattern": ""}),
        ("regex", {"pattern": "a" * 2_001}),
        ("regex", {"pattern": r"(a)\1"}),
        ("answer_format", {"form": "json"}),
    ],
)
def test_parameters_that_make_no_sense_are_refused_when_they_are_bound(name, parameters):
    with pytest.raises(BadParameter):
        get(name).bind(parameters)


@pytest.mark.parametrize("tokens", [18_432, "18432"], ids=["row", "CSV"])
def test_tokens_are_counted_by_the_row(tokens):
    assert get("overlong")(sample("42", completion_tokens=tokens)).value == -0.5


@pytest.mark.parametrize("given", [{}, {"completion_tokens": None}])
def test_tokens_are_never_guessed(given):
    with pytest.raises(BadSample, match="unit=words"):
        get("overlong")(sample("42", **given))


@pytest.mark.parametrize("tokens", [-1, True, 1.5, "", "many", "-1", "1e3", "9" * 10, "٣", [9]])
def test_what_counts_no_tokens_is_said(tokens):
    with pytest.raises(BadSample, match="completion_tokens of the row is no whole number"):
        get("overlong")(sample("42", completion_tokens=tokens))


def test_a_shaper_says_that_it_pays_for_form_alone():
    for name in {name for name, *_ in CASES}:
        spec = get(name)
        assert spec.partial_credit == spec.scale.maximum


def test_a_shaper_needs_no_reference_and_reads_none():
    for name in {name for name, *_ in CASES} - {"overlong"}:
        with_one, without = sample("<think>a</think>b", "b"), sample("<think>a</think>b")
        try:
            assert get(name)(with_one) == get(name)(without)
        except RewardError as error:
            pytest.fail(f"{name}: {error}")


NOTHING = ["\u200b", "\u2060\ufeff", "\0", " \u00ad\n", "\x01"]


@pytest.mark.parametrize("nothing", NOTHING)
@pytest.mark.parametrize(
    ("name", "response", "parameters"),
    [
        ("think_format", "<think>{}</think>4", {}),
        ("think_format", "<think>2 + 2</think>{}", {}),
        ("answer_format", "\\boxed{{{}}}", {}),
        ("answer_format", "#### {}", {"form": "hash"}),
        ("answer_format", "Answer: {}", {"form": "answer"}),
    ],
)
def test_what_a_reader_does_not_see_fills_no_section(name, response, parameters, nothing):
    assert get(name)(response.format(nothing), **parameters).value == 0.0


@pytest.mark.parametrize(
    ("response", "parameters", "value"),
    [
        ("\\boxedd{4}", {}, 0.0),
        ("\\boxed {4}", {}, 1.0),
        ("##### 4", {"form": "hash"}, 0.0),
        ("####4", {"form": "hash"}, 1.0),
        ("#### 4\n\u200b", {"form": "hash"}, 1.0),
        ("Answer:: 4", {"form": "answer"}, 0.0),
    ],
)
def test_a_mark_is_not_the_beginning_of_another(response, parameters, value):
    assert get("answer_format")(response, **parameters).value == value


LIKE = [
    # (a text, another, ROUGE-L, rapidfuzz's ratio of small letters): rouge-score 0.1.2 and
    # rapidfuzz 3.14.6, November 2026; rouge-score sees no Chinese and gives 0 there.
    ("fuzzy wuzzy was a bear", "fuzzy wuzzy had no hair", 0.4, 0.7556),
    ("The capital is Paris.", "Paris", 0.4, 0.3846),
    ("paris", "Paris", 1.0, 1.0),
    ("42", "42.0", 0.6667, 0.6667),
    ("cats running", "cat runs", 0.0, 0.7),
    ("北京", "北京", 1.0, 1.0),
    ("", "x", 0.0, 0.0),
    (" \u200b", "x", 0.0, 0.0),
    ("<think>a red fox</think>no", "a red fox", 0.0, None),
    ("a b c d", "d c b a", 0.25, None),
]


@pytest.mark.parametrize(("text", "other", "by_words", "by_characters"), LIKE)
def test_likeness_is_that_of_the_usual_libraries(text, other, by_words, by_characters):
    score = get("similarity")(text, other)
    assert score.value == score.metrics[0].value == pytest.approx(by_words, abs=1e-4)
    if by_characters is not None:
        fuzzy = get("similarity")(text, other, metric="fuzzy").value
        assert fuzzy == pytest.approx(by_characters, abs=1e-4)


def test_a_list_of_references_is_any_of_them():
    assert get("similarity")("a red fox", ["a hen", "a red fox"]).value == 1.0
    assert get("similarity")("a red hen", ["北京", "a red fox"]).value == pytest.approx(2 / 3)


def test_what_is_only_alike_is_no_composite_of_its_own():
    for parts in ({"similarity": 1.0}, {"similarity": 0.5, "think_format": 0.5}):
        with pytest.raises(BadComposite, match="add a part that decides"):
            weighted(parts, name="alike")
    assert weighted({"math": 0.9, "similarity": 0.1}, name="decided").scale.maximum == 1.0


@given(st.text("ab ", max_size=12), st.text("ab ", max_size=12))
def test_the_longest_common_sequence_is_that_of_a_table(text, other):
    words, others = text.split(), other.split()
    row = [0] * (len(others) + 1)
    for word in words:
        before = row
        row = [0]
        for at, each in enumerate(others):
            row.append(before[at] + 1 if each == word else max(row[at], before[at + 1]))
    total = len(words) + len(others)
    assert rouge_l(text, other) == (2 * row[-1] / total if words and others else 0.0)


@pytest.mark.parametrize("metric", ["rouge_l", "fuzzy"])
def test_a_run_of_combining_marks_takes_linear_time(metric):
    def compare(size):
        # Where they are put in order as one word, the time is quadratic.
        marks = "a" + "\u0301\u0323" * size
        assert get("similarity")(marks, "a", metric=metric).value <= 1.0

    assert_linear(compare, 2_500, 10_000)


def test_the_form_of_a_letter_does_not_matter():
    assert get("similarity")("ｃａｆé", "cafe\u0301").value == 1.0
