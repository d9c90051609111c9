"""`reward data stats`: lengths are estimates, and say so; limits follow from them."""

import json
from itertools import pairwise

import pytest

from reward_functions.data.lengths import (
    Lengths,
    suggested_inference_tokens,
    suggested_prompt_length,
    tokens,
)

ESTIMATES = [
    ("", 0),
    ("word", 1),
    ("a plain English sentence of nine words or so", 11),  # 44 characters / 4
    ("1234567", 3),  # digits by three
    ("internationalisation", 5),  # 20 characters / 4; three pieces
    ("| 1 | 2 | 3 |", 7),  # signs one by one
    ("x^{2}+y^{2}=1", 13),
    ("東京都", 3),  # a letter of another script is a token
    (" " * 40, 10),
]


@pytest.mark.parametrize(("text", "expected"), ESTIMATES)
def test_tokens_are_the_larger_of_two_counts(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    "text", ["x" * 1_000_000, "1" * 1_000_000, "é" * 1_000_000, " " * 1_000_000]
)
def test_a_long_text_is_counted_in_linear_time(text):
    assert tokens(text) >= 250_000


def test_percentiles_are_values_that_occur():
    lengths = Lengths([*range(1, 101)])
    assert lengths.percentiles() == {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "max": 100}
    assert Lengths([7]).percentiles() == dict.fromkeys(("p50", "p90", "p95", "p99", "max"), 7)


@pytest.mark.parametrize("values", [[5], [5, 5], [1, 1_000], [*range(13)], [3, 9, 9, 9, 10]])
def test_a_histogram_counts_every_value_once(values):
    bins = Lengths(values).histogram()
    assert sum(count for *_, count in bins) == len(values)
    assert (bins[0][0], bins[-1][1]) == (min(values), max(values))
    assert all(after[0] == before[1] + 1 for before, after in pairwise(bins))
    assert len(bins) <= 12


def test_limits_leave_room_and_exceed_the_longest():
    assert suggested_prompt_length(Lengths([100] * 100)) == 256  # 200, in steps of 64
    assert suggested_prompt_length(Lengths([100] * 999 + [5_000])) == 5_056
    assert suggested_inference_tokens(Lengths([1_000] * 100)) == 3_008
    assert suggested_inference_tokens(None) == 2_048


def test_short_solutions_of_people_never_suggest_that_answers_are_cut():
    """GSM8K: 19 tokens at p99, of which 64 were made, and every thought would have been cut off."""
    assert suggested_inference_tokens(Lengths([19] * 100)) == 2_048


def row(words, solution=None):
    metadata = {"solution": solution} if solution else {}
    return {"messages": [{"role": "user", "content": "word " * words}], "metadata": metadata}


def test_stats_shows_percentiles_a_histogram_and_both_limits(reward, write):
    path = write("train.jsonl", [row(100 + at, "step " * 50) for at in range(100)])
    ran = reward("data", "stats", path)
    assert ran.exit_code == 0
    assert "tokens, estimated" in ran.stdout
    assert "█" in ran.stdout
    assert "maxPromptLength 512: 2 × p99 of the prompts" in ran.stdout
    assert (
        "inferenceMaxTokens 2,048: 3 × p99 of the solutions, and no less than 2,048" in ran.stdout
    )


def test_without_solutions_the_default_is_named_to_be_one(reward, write):
    ran = reward("data", "stats", write("train.jsonl", [row(100)]))
    assert "inferenceMaxTokens 2,048: a default" in ran.stdout


def test_the_json_format_has_the_same_figures(reward, write):
    paths = [write("a.jsonl", [row(10)]), write("b.jsonl", [row(1_000)])]
    report = json.loads(reward("data", "stats", *paths, "--format", "json").stdout)
    assert report["tokens_estimated"]["prompts"]["rows"] == 2
    assert report["maxPromptLength"] == 2_560
    assert report["inferenceMaxTokens"] == 2_048


def test_a_file_without_messages_is_unusable(reward, write):
    ran = reward("data", "stats", write("train.jsonl", [{"a": 1}]))
    assert ran.exit_code == 2
    assert "rows of no known shape, with the columns a (number)" in ran.stderr
