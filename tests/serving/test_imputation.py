"""What an Unscored becomes: the data set's fault is the minimum, ours is never a reward."""

from __future__ import annotations

import pytest

from reward_functions.core.errors import (
    AlgebraOutOfTime,
    BadReference,
    BadSample,
    DeadlineReached,
    SampleBlocked,
)
from reward_functions.core.types import Message, Metric, Sample, Score, Scored, Unscored
from reward_functions.serving.contract import result_object
from reward_functions.serving.imputation import BatchFailed, Imputation

IMPUTE = Imputation(
    minimum=-1.0, metrics=(Metric("share", 0.0, "Reward"),), on_unscored="impute", max_unscored=0.5
)


def asked(prompt, response="r", role="assistant"):
    turns = (Message(role="user", content=prompt), Message(role=role, content=response))
    return Sample(id="any", messages=turns)


def scored(name, value):
    return Scored(name, Score(value, (Metric("share", value / 2, "Reward"),)))


def failed(name, error=None):
    return Unscored(name, error or DeadlineReached("late"))


def row(name, value, share, **flags):
    names = ("bad_reference", "unscored", "imputed", "out_of_time")
    return {
        "id": name,
        "aggregate_reward_score": value,
        "metrics_list": [
            {"name": "share", "value": share, "type": "Reward"},
            *({"name": flag, "value": flags.get(flag, 0.0), "type": "Metric"} for flag in names),
        ],
    }


def test_scored_samples_are_told_as_they_are():
    results = [scored("a", 1.0), scored("b", 0.0)]
    assert IMPUTE([asked("p")] * 2, results) == [result_object(result) for result in results]


def test_siblings_of_the_same_prompt_are_the_donors():
    samples = [asked("p", "1"), asked("p", "2"), asked("p", "3"), asked("q", "4")]
    results = [scored("a", 1.0), failed("b"), scored("c", 0.5), scored("d", -1.0)]
    assert IMPUTE(samples, results)[1] == row("b", 0.75, 0.375, unscored=1.0, imputed=1.0)


def test_the_same_prompt_is_equal_messages_before_the_response():
    missing = Sample(id="b", messages=(Message(role="user", content="p"),))
    other_role = Sample(
        id="c",
        messages=(Message(role="system", content="p"), Message(role="assistant", content="")),
    )
    samples = [asked("p"), missing, asked("p", role="nova_assistant"), other_role]
    results = [scored("a", 1.0), failed("b"), scored("c", 0.0), scored("d", -1.0)]
    assert IMPUTE(samples, results)[1]["aggregate_reward_score"] == 0.5


def test_without_scored_siblings_the_batch_is_the_donor():
    samples = [asked("p"), asked("q"), asked("r")]
    results = [scored("a", 1.0), failed("b"), scored("c", 0.5)]
    assert IMPUTE(samples, results)[1] == row("b", 0.75, 0.375, unscored=1.0, imputed=1.0)


POLICIES = [("impute", 0.0), ("minimum", 0.0), ("fail", 0.0)]


@pytest.mark.parametrize(("on_unscored", "max_unscored"), POLICIES)
@pytest.mark.parametrize("others", [[scored("c", 1.0)], []])
def test_what_algebra_and_the_deadline_left_earns_the_minimum_and_fails_nothing(
    on_unscored, max_unscored, others
):
    policy = Imputation(
        minimum=-1.0,
        metrics=IMPUTE.metrics,
        on_unscored=on_unscored,
        max_unscored=max_unscored,
    )
    results = [failed("a", AlgebraOutOfTime("late")), failed("b"), *others]
    found = policy([asked("p")] * len(results), results)
    late = {"unscored": 1.0, "out_of_time": 1.0}
    assert found[:2] == [row("a", -1.0, 0.0, **late), row("b", -1.0, 0.0, **late)]
    assert found[2:] == [result_object(each) for each in others]


@pytest.mark.parametrize(("on_unscored", "max_unscored"), POLICIES)
def test_what_the_deadline_left_of_a_reward_that_bounds_its_work_earns_the_minimum(
    on_unscored, max_unscored
):
    policy = Imputation(
        minimum=-1.0,
        metrics=IMPUTE.metrics,
        on_unscored=on_unscored,
        max_unscored=max_unscored,
        bounded=True,
    )
    results = [scored("a", 1.0), failed("b"), failed("c")]
    left = [row(name, -1.0, 0.0, unscored=1.0, out_of_time=1.0) for name in ("b", "c")]
    assert policy([asked("p")] * 3, results)[1:] == left
    with pytest.raises(BatchFailed, match="2 of 2"):
        policy([asked("p")] * 2, results[1:])  # the deadline was none: nothing was scored
    with pytest.raises(BatchFailed):
        Imputation(minimum=0.0, max_unscored=0.2, bounded=True)(
            [asked("p")] * 2, [scored("a", 1.0), failed("b", SampleBlocked())]
        )


def test_other_failures_beside_it_count_as_ever():
    results = [
        failed("a", AlgebraOutOfTime("late")),
        failed("b", ZeroDivisionError()),
        scored("c", 1.0),
    ]
    found = IMPUTE([asked("p")] * 3, results)
    assert found[1] == row("b", 1.0, 0.5, unscored=1.0, imputed=1.0)
    with pytest.raises(BatchFailed, match="1 of 3 samples could not be scored"):
        Imputation(minimum=0.0, max_unscored=0.3)([asked("p")] * 3, results)
    with pytest.raises(BatchFailed, match="and no other was"):
        Imputation(minimum=0.0, max_unscored=1.0)([asked("p")] * 2, results[:2])


@pytest.mark.parametrize("error", [BadReference("none"), BadSample("messages is missing")])
def test_a_dataset_error_earns_the_minimum_and_fails_nothing(error):
    results = [failed("a", error), failed("b", error)]
    expected = [row(name, -1.0, 0.0, bad_reference=1.0) for name in ("a", "b")]
    assert IMPUTE([asked("p")] * 2, results) == expected
    fail = Imputation(minimum=-1.0, metrics=IMPUTE.metrics, on_unscored="fail", max_unscored=0.0)
    assert fail([asked("p")] * 2, results) == expected


def test_a_dataset_error_donates_nothing():
    samples = [asked("p")] * 3
    results = [scored("a", 1.0), failed("b", BadReference("none")), failed("c")]
    assert IMPUTE(samples, results)[2]["aggregate_reward_score"] == 1.0


def test_the_floor_where_it_was_asked_for():
    minimum = Imputation(
        minimum=-1.0, metrics=IMPUTE.metrics, on_unscored="minimum", max_unscored=0.5
    )
    results = minimum([asked("p")] * 2, [scored("a", 1.0), failed("b")])
    assert results[1] == row("b", -1.0, 0.0, unscored=1.0)


def test_failing_where_it_was_asked_for():
    fail = Imputation(minimum=0.0, on_unscored="fail", max_unscored=1.0)
    with pytest.raises(BatchFailed, match=r"1 of 2 .*DeadlineReached 1.*'fail'"):
        fail([asked("p")] * 2, [scored("a", 1.0), failed("b")])


@pytest.mark.parametrize("on_unscored", ["impute", "minimum"])
def test_a_share_above_max_unscored_fails_and_one_at_it_does_not(on_unscored):
    policy = Imputation(minimum=0.0, on_unscored=on_unscored, max_unscored=0.2)
    results = [Scored(str(at), Score(1.0)) for at in range(8)]
    assert len(policy([asked("p")] * 10, [*results, failed("x"), failed("y")])) == 10
    results = [*results[:7], failed("x"), failed("y"), failed("z", ZeroDivisionError("secret"))]
    with pytest.raises(BatchFailed, match=r"3 of 10 .*max_unscored=0.2") as raised:
        policy([asked("p")] * 10, results)
    assert "DeadlineReached 2, ZeroDivisionError 1" in str(raised.value)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("on_unscored", ["impute", "minimum"])
def test_where_nothing_was_scored_and_the_failures_are_ours_the_batch_fails(on_unscored):
    policy = Imputation(minimum=0.0, on_unscored=on_unscored, max_unscored=1.0)
    with pytest.raises(BatchFailed, match="no other was"):
        policy([asked("p")], [failed("a")])
    with pytest.raises(BatchFailed, match="1 of 2"):
        policy([asked("p")] * 2, [failed("a"), failed("b", BadReference("none"))])
