"""Combinations weigh, gate, clip and try in turn, and never score what a part could not."""

import pickle

import pytest

from reward_functions import (
    BadReference,
    Metric,
    Sample,
    Score,
    cascade,
    clipped,
    gated,
    get,
    reward_function,
    weighted,
)

SAMPLE = Sample(id="s", messages=())


def fixed(value, **rest):
    return lambda sample: Score(value, **rest)


def broken(sample):
    raise BadReference("none")


def test_weighted_adds_and_reports_its_parts_as_rewards():
    score = weighted(
        {"answer": fixed(1.0, answer="7"), "format": fixed(0.5)}, {"answer": 0.8, "format": 0.2}
    )(SAMPLE)
    assert score.value == pytest.approx(0.9)
    assert score.metrics == (Metric("answer", 1.0, "Reward"), Metric("format", 0.5, "Reward"))
    assert score.answer == "7"
    assert score.reason == "0.8 × answer 1 + 0.2 × format 0.5"


@pytest.mark.parametrize(
    ("parts", "weights"),
    [({}, {}), ({"a": fixed(1.0)}, {}), ({"a": fixed(1.0)}, {"b": 1.0}), ({}, {"a": 1.0})],
)
def test_weights_and_parts_must_match(parts, weights):
    with pytest.raises(ValueError, match="do not match"):
        weighted(parts, weights)


def test_weights_are_finite():
    with pytest.raises(ValueError, match="finite"):
        weighted({"a": fixed(1.0)}, {"a": float("nan")})


def test_a_closed_gate_spares_the_reward_behind_it():
    score = gated(fixed(0.0, reason="no box"), broken)(SAMPLE)
    assert (score.value, score.metrics) == (0.0, (Metric("gate", 0.0),))
    assert score.reason == "the gate is closed: no box"


def test_an_open_gate_lets_the_reward_speak():
    score = gated(fixed(0.5), fixed(0.7, reason="well done"), threshold=0.5)(SAMPLE)
    assert (score.value, score.metrics) == (0.7, (Metric("gate", 1.0),))
    assert score.reason == "well done"


def test_clipped_holds_the_value_and_keeps_the_metrics():
    metrics = (Metric("m", 3.0),)
    assert clipped(fixed(5.0, metrics=metrics), 0.0, 1.0)(SAMPLE) == Score(1.0, metrics)
    assert clipped(fixed(-5.0), 0.0, 1.0)(SAMPLE).value == 0.0
    with pytest.raises(ValueError, match="between"):
        clipped(fixed(0.0), 1.0, 1.0)


def test_a_cascade_stops_at_the_first_that_is_satisfied():
    assert cascade(fixed(1.0), broken)(SAMPLE) == Score(1.0, (Metric("stage", 0),))
    assert cascade(fixed(0.2), fixed(0.4))(SAMPLE) == Score(0.4, (Metric("stage", 1),))
    assert cascade(fixed(0.0), fixed(0.6), broken, enough=0.5)(SAMPLE).value == 0.6
    with pytest.raises(ValueError, match="two"):
        cascade(fixed(1.0))


@pytest.mark.parametrize(
    "combination",
    [
        weighted({"a": fixed(1.0), "b": broken}, {"a": 1.0, "b": 0.0}),
        gated(broken, fixed(1.0)),
        gated(fixed(1.0), broken),
        clipped(broken, 0.0, 1.0),
        cascade(fixed(0.0), broken),
    ],
)
def test_what_a_part_cannot_score_the_whole_does_not(combination):
    with pytest.raises(BadReference):
        combination(SAMPLE)


def test_a_declared_combination_is_a_picklable_reward():
    mix = weighted({"a": get("gsm8k"), "b": get("exact_match")}, {"a": 0.5, "b": 0.5})
    spec = reward_function(name="mix", version=1, metrics=["a", "b"])(mix)
    again = pickle.loads(pickle.dumps(spec))
    assert (again.name, again.metrics) == ("mix", ("a", "b"))
