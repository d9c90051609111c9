"""The page of an evaluation: its figures are the record's, and what is left out is counted."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from reward_functions.jobs.evaluation import page as pages
from reward_functions.jobs.evaluation.evaluation import Settings, beside
from reward_functions.jobs.evaluation.page import EXAMPLE, facts, p_value, page, sheets
from tests.jobs.evaluation.test_compared import answers, prompts, record


@pytest.fixture(scope="module")
def made():
    """A record of everything."""
    asked = prompts(3)
    aside = tuple(
        beside(answers(side, asked, [0.0, None, 1.0]), (1.0, 10.0), timed=True)
        for side in ("base", "tuned")
    )
    return record(
        [0.0, 1.0, 0.5], [1.0, 0.0, 0.5], asked=asked, aside=aside,
        sampled=([[0.0, 1.0]] * 3, [[1.0, 1.0]] * 3),
        settings=Settings(answers=2, job="sums-1", split="test.jsonl", split_sha256="0a1b"),
    )  # fmt: skip


def changed(of, **new):
    return of.model_copy(update=new)


def tables(of):
    return {each.title: each for each in sheets(of)}


def test_tables_have_the_figures_of_the_record(made):
    found = tables(made)
    assert [*found] == [
        "What they earn, of the scale", "Prompts that turned", "pass@k", "By kind of answer",
        "Beside the mean", "Flips",
    ]  # fmt: skip
    greedy, sampled = found["What they earn, of the scale"].rows
    assert (*greedy[:4], greedy[5]) == ("greedy", "50.0%", "50.0%", "0.0", "3")
    assert (*sampled[:4], sampled[5]) == ("sampled", "50.0%", "100.0%", "+50.0", "3")
    assert found["Prompts that turned"].rows == [("McNemar, exact", "1", "1", "1.000", "1.000")]
    assert [row[:4] for row in found["pass@k"].rows] == [
        ("1", "50.0%", "100.0%", "+50.0"),
        ("2", "100.0%", "100.0%", "0.0"),
    ]
    (group,) = found["By kind of answer"].rows
    assert group[-2:] == ("+1 -1", "1.000")
    aside = found["Beside the mean"]
    row = dict(zip(aside.heads, aside.rows[1], strict=True))
    assert row == {
        "model": "tuned, greedy", "answers": "3", "tokens": "20", "p95": "20", "cut off": "0.0%",
        "empty": "0", "filtered": "0", "unscored": "1", "seconds, p50": "1.00", "p95 s": "1.00",
        "dollars": "0.0006",
    }  # fmt: skip
    flips = found["Flips"]
    assert [row[1:4] for row in flips.rows] == [
        ("wrong", "1.00", "0.00"),
        ("right", "0.00", "1.00"),
    ]
    assert flips.rows[0][4:] == ("why base 1.0", "why tuned 0.0", "base 1.0", "tuned 0.0")
    assert flips.note == ""


def test_what_is_not_known_has_no_table_and_no_column(made):
    bare = changed(made, sampled=None, pass_at_k=(), groups=(), beside=(), flips=())
    assert [*tables(bare)] == [
        "What they earn, of the scale", "Prompts that turned", "By kind of answer",
    ]  # fmt: skip
    assert len(tables(bare)["What they earn, of the scale"].rows) == 1
    textless = tuple(changed(each, base_text=None, tuned_text=None) for each in made.flips)
    flips = tables(changed(made, flips=textless))["Flips"]
    assert (len(flips.heads), len(flips.rows[0])) == (6, 6)
    reasonless = tuple(changed(each, base_reason="", tuned_text=None) for each in made.flips)
    row = tables(changed(made, flips=reasonless))["Flips"].rows[0]
    assert (row[4], row[-1]) == ("-", "-")
    untimed = changed(made.beside[0], seconds_p50=None, seconds_p95=None, usd=None)
    aside = tables(changed(made, beside=(untimed,)))["Beside the mean"]
    assert [dict(zip(aside.heads, aside.rows[0], strict=True))[name]
            for name in ("seconds, p50", "p95 s", "dollars")] == ["-"] * 3  # fmt: skip
    large = changed(made, mcnemar=replace(made.mcnemar, mid_p=None))
    assert tables(large)["Prompts that turned"].rows[0][-1] == "-"


@pytest.mark.parametrize(
    ("wrong", "right", "shown", "left"), [(1, 1, 2, 0), (3, 1, 3, 1), (0, 5, 2, 3)]
)
def test_of_many_flips_half_of_each_direction_are_shown(
    made, wrong, right, shown, left, monkeypatch
):
    monkeypatch.setattr(pages, "MOST_FLIPS", 4)
    monkeypatch.setattr(pages, "MOST_CASES", 4)
    worse, better = made.flips
    found = changed(made, flips=(*[worse] * wrong, *[better] * right))
    flips = tables(found)["Flips"]
    assert len(flips.rows) == shown
    assert flips.note == (f"{left} more are in the JSON." if left else "")
    assert page(found).html().count("<article") == 2 * shown  # the base, and the tuned model


@pytest.mark.parametrize(("size", "whole"), [(EXAMPLE, True), (EXAMPLE + 1, False)])
def test_of_an_answer_its_end_is_shown(made, size, whole):
    text = "a" + "b" * (size - 1)
    found = changed(made, flips=(changed(made.flips[0], base_text=text),))
    shown = tables(found)["Flips"].rows[0][-2]
    assert shown == (text if whole else f"…{text[1:]}")


@pytest.mark.parametrize(
    ("value", "shown"), [(1.0, "1.000"), (0.001, "0.001"), (0.0009, "< 0.001"), (0.0, "< 0.001")]
)
def test_a_p_value_has_three_digits(value, shown):
    assert p_value(value) == shown


def test_the_facts_are_the_settings(made):
    found = dict(facts(made))
    assert found["job"] == "sums-1"
    assert found["split"] == "test.jsonl, SHA-256 0a1b"
    assert found["reward"] == "not known"
    assert found["sampled answers to a prompt"] == "2 at temperature 1"
    assert found["right"] == "from 100% of the scale"
    assert found["measured"] == "2026-01-01 00:00 UTC"
    bare = dict(facts(changed(made, job="", answers=0, reward="gsm8k", reward_version=8)))
    assert "job" not in bare
    assert bare["sampled answers to a prompt"] == "none"
    assert bare["reward"] == "gsm8k, version 8"


def test_a_simulation_is_said_first(made):
    text = pages.markdown(made)
    assert "SIMULATION" not in text
    assert text.startswith("# Evaluation of sums-1")
    simulated = changed(made, simulation=True, job="")
    assert pages.markdown(simulated).startswith("# Evaluation of t")
    assert pages.SIMULATION in pages.markdown(simulated)
    assert "A simulation's seconds say nothing." in tables(simulated)["Beside the mean"].note
    assert "A simulation's" not in tables(made)["Beside the mean"].note


def test_charts_are_of_the_same_figures(made):
    titles = re.findall("<title>(.*?)</title>", page(made).html(), re.DOTALL)
    assert "greedy: 0 (" in "".join(each for each in titles if each.startswith("greedy: "))
    assert "base, k 1: 0.5" in titles
    assert "tuned, k 2: 1" in titles
    assert any(each.startswith("base, greedy: 20") for each in titles)
