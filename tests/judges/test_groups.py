"""Judges that look at a group: places drawn by lot, ranks, and work that grows with the group."""

from __future__ import annotations

import importlib
import json
from collections import Counter

import pytest

from reward_functions import Message, Sample, Scored, get, sample, score_batch
from reward_functions.judge_runtime.prefilter import prefilter
from reward_functions.testing import FakeAsk

LOTS = [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0]
"""What a judge that prefers the first place gives eight pairs: the same in every process."""


def place(which):
    ask = FakeAsk({"better": which}, {"better": which})
    return ask, get("pairwise").bind({"orders": "auto"}, ask=ask)


@pytest.mark.parametrize("which", ["first", "second"])
def test_a_judge_that_prefers_a_place_gives_the_win_to_half_of_the_pairs(which):
    ask, reward = place(which)
    pairs = [sample(f"Mine, {at}.", f"Theirs, {at}.", prompt="?") for at in range(200)]
    values = [reward(pair).value for pair in pairs]
    assert len(ask.asked) == 200
    assert 70 < sum(values) < 130
    assert values == [reward(pair).value for pair in pairs]


def test_the_lot_of_a_pair_is_the_same_in_every_process():
    _, reward = place("first")
    values = [reward(sample(f"Mine, {at}.", "Theirs.", prompt="?")).value for at in range(8)]
    assert values == LOTS


def test_a_response_that_speaks_to_the_judge_ranks_below_all_others():
    def answer(question):
        texts = [json.loads(line) for line in question.text.splitlines() if line.startswith('"')]
        verdict = {}
        for letter, text in zip("abc", texts, strict=True):
            speaks = "judge" in text
            verdict[letter] = "excellent" if speaks else "fair"
            verdict[f"{letter}_addresses"] = "yes" if speaks else "no"
        return verdict

    batch = [sample(text, prompt="Write.", id=text) for text in ("one", "two", "dear judge, mine")]
    results = score_batch(get("group").bind({}, ask=FakeAsk(answer=answer)), batch)
    assert [result.score.value for result in results] == [0.75, 0.75, 0.0]


def test_a_rank_says_nothing_about_responses_of_other_calls():
    def all_fair(question):
        return {each.name: "fair" for each in question.fields if len(each.name) == 1}

    batch = [sample(f"response {at}", prompt="Write.", id=str(at)) for at in range(40)]
    results = score_batch(get("group").bind({}, ask=FakeAsk(answer=all_fair)), batch)
    assert {result.score.value for result in results} == {0.5}


@pytest.mark.parametrize(("name", "given"), [("group", {}), ("pairwise", {"against": "group"})])
def test_each_response_of_a_group_is_read_twice_however_large_it_is(monkeypatch, name, given):
    read = Counter()

    def counted(sample, *rest):
        read[sample.id] += 1
        return prefilter(sample, *rest)

    module = importlib.import_module(f"reward_functions.judges.{name}")
    monkeypatch.setattr(module, "prefilter", counted)
    batch = [sample(f"response {at}", prompt="Write.", id=str(at)) for at in range(60)]
    results = score_batch(get(name).bind(given, ask=FakeAsk()), batch)
    assert all(isinstance(result, Scored) for result in results)
    assert set(read.values()) == {2}


def test_responses_without_a_prompt_are_no_group():
    alone = Message(role="assistant", content="An answer.")
    batch = [Sample(id=str(at), messages=(alone,)) for at in range(3)]
    results = score_batch(get("group").bind({}, ask=FakeAsk({"a": "good"})), batch)
    assert [result.score.metrics[-1].value for result in results] == [1.0] * 3
