"""Equal values have that value as their mean, whatever their number and their order."""

from __future__ import annotations

from math import inf, isnan
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_functions import Message, Sample, Score, Scored, Unscored, reward_function
from reward_functions.core.combine import weighted
from reward_functions.core.errors import NoVerdict
from reward_functions.core.means import mean, weighted_mean, weighted_sum
from reward_functions.core.types import Metric
from reward_functions.judge_runtime.panel import aggregated
from reward_functions.serving.imputation import Imputation

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SHARES = st.floats(0, 1)
COUNTS = st.integers(1, 60)


def bits(value):
    return pack("<d", value)


@given(FLOATS, COUNTS)
def test_copies_of_a_value_have_it_as_their_mean_bit_for_bit(value, count):
    assert bits(mean([value] * count)) == bits(value)


@given(st.lists(FLOATS, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_a_mean_does_not_depend_on_the_order_and_lies_in_the_range(values, random):
    middle = mean(values)
    shuffled = list(values)
    random.shuffle(shuffled)
    assert bits(mean(shuffled)) == bits(middle)
    assert min(values) <= middle <= max(values)


def test_a_mean_of_infinities_is_one_and_of_both_signs_is_no_number():
    assert mean([inf, 1.0, inf]) == inf
    assert isnan(mean([inf, 1.0, -inf]))
    assert mean([1.7e308, -1.7e308, 1.7e308]) == pytest.approx(1.7e308 / 3)


@given(SHARES, st.lists(st.floats(0, 1e6), min_size=1, max_size=9).filter(any))
def test_equal_values_are_their_weighted_mean(value, weights):
    assert weighted_mean([value] * len(weights), weights) == value


@given(st.lists(st.tuples(SHARES, st.floats(0.01, 100)), min_size=1), st.randoms())
def test_a_weighted_mean_does_not_depend_on_the_order(pairs, random):
    shuffled = list(pairs)
    random.shuffle(shuffled)
    assert weighted_mean(*zip(*pairs, strict=True)) == weighted_mean(*zip(*shuffled, strict=True))
    assert weighted_sum(*zip(*pairs, strict=True)) == weighted_sum(*zip(*shuffled, strict=True))


@pytest.mark.parametrize(
    "weights", [(0.7, 0.2, 0.1), (0.1, 0.2, 0.7), (0.6, 0.3, 0.1), (0.1,) * 10, (1 / 3,) * 3]
)
def test_parts_that_agree_on_a_value_are_worth_it_where_the_weights_sum_to_one(weights):
    names = [f"p{at}" for at in range(len(weights))]
    for value in (0.1, 1 / 3, 0.7, 1.0):
        part = reward_function(name="part")(lambda _, value=value: Score(value))
        given = {name: (part, weight) for name, weight in zip(names, weights, strict=True)}
        whole = weighted(given, outranks=False)
        assert whole(Sample(id="s", messages=())).value == value


@given(SHARES, COUNTS)
def test_a_panel_of_one_mind_has_its_score_and_its_metrics(value, count):
    scores = [Score(value, (Metric("confidence", value),))] * count
    for aggregate in ("mean", "median", "majority", "minimum"):
        one = aggregated(scores, aggregate)
        assert (one.value, one.metrics[0].value) == (value, value)


@given(SHARES, COUNTS)
def test_an_imputed_mean_of_equal_scores_is_that_score(value, count):
    prompt = (Message(role="user", content="?"), Message(role="assistant", content="!"))
    samples = [Sample(id=str(at), messages=prompt) for at in range(count + 1)]
    score = Score(value, (Metric("share", value),))
    results = [Scored(str(at), score) for at in range(count)]
    results.append(Unscored(str(count), NoVerdict("refused")))
    rows = Imputation(minimum=0.0, max_unscored=1.0)(samples, results)
    assert rows[-1]["aggregate_reward_score"] == value
    assert rows[-1]["metrics_list"][0]["value"] == value
