"""Accidents: a plan, the same whoever comes first, and an end to those in a row."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.local.runtime_double import NO_FAULTS, FaultPlan
from reward_functions.local.runtime_double.faults import FAILING, KINDS, OPERATIONS, Previous

WRONG = [
    ("throtle=0.1", "no kind 'throtle'. Did you mean 'throttle'?"),
    ("throttle", "throttle is not a number"),
    ("throttle=x", "throttle is not a number"),
    ("throttle=nan", "throttle is not a number"),
    ("throttle=-1", "throttle is not a number"),
    ("throttle=1.5", "the share of throttle is not a number from 0 to 1"),
    ("throttle=0.6,error=0.6", "the shares of sample sum to more than 1"),
    ("every=0.2", "the shares of sample sum to more than 1"),
    ("update.error=0.1", "no operation 'update'"),
    ("slow_seconds=6000", "slow_seconds is not a number from 0 to 600"),
    ("=0.1", "no kind ''"),
]


@pytest.mark.parametrize(("text", "words"), WRONG)
def test_what_is_no_plan_is_one_clear_error(text, words):
    with pytest.raises(ConfigurationError) as refused:
        FaultPlan.parse(text)
    assert words in str(refused.value)


def test_a_plan_is_written_and_read_again():
    plan = FaultPlan.parse("every=0.05, reward.dropped_after=0.3,slow_seconds=2,most=4", seed=3)
    assert plan.shares["throttle"] == 0.05
    assert (plan.slow_seconds, plan.most, plan.seed) == (2.0, 4, 3)
    assert FaultPlan.parse(str(plan), seed=3) == plan
    assert str(NO_FAULTS) == str(FaultPlan.parse("")) == str(FaultPlan.parse("error=0")) == ""


def course(plan, trajectory, operation, calls=6):
    """The accidents of the calls of an operation."""
    previous, found = Previous(), []
    for attempt in range(calls):
        found.append(plan.fault(trajectory, operation, attempt, previous))
        previous = previous.then(found[-1])
    return found


ALL = [(f"r{n}", operation) for n in range(200) for operation in OPERATIONS]


def test_the_order_of_calls_changes_nothing_and_the_seed_does():
    plan = FaultPlan.parse("every=0.1", seed=7)
    shuffled = Random(1).sample(ALL, len(ALL))
    again = {each: course(plan, *each) for each in shuffled}
    assert {each: course(plan, *each) for each in ALL} == again
    other = FaultPlan.parse("every=0.1", seed=8)
    assert {each: course(other, *each) for each in ALL} != again


def test_each_kind_has_its_share_of_first_calls():
    plan = FaultPlan.parse("every=0.1")
    found = Counter(plan.fault(f"r{n}", "reward", 0, Previous()) for n in range(5_000))
    # Five standard deviations of a share of a tenth in 5,000 draws are 0.021.
    assert {kind: round(found[kind] / 5_000, 3) for kind in KINDS} == {
        kind: pytest.approx(0.1, abs=0.021) for kind in KINDS
    }


@pytest.mark.parametrize("kind", sorted(FAILING - {"expired"}))
def test_a_client_of_three_attempts_gets_through(kind):
    plan = FaultPlan.parse(f"{kind}=1")
    assert course(plan, "r", "reward") == [kind, kind, "", kind, kind, ""]


def test_a_credential_that_was_just_made_is_good():
    assert course(FaultPlan.parse("expired=1"), "r", "reward", 4) == ["expired", "", "expired", ""]


@pytest.mark.parametrize("kind", ["slow", "duplicate"])
def test_what_is_answered_needs_no_end(kind):
    assert course(FaultPlan.parse(f"{kind}=1"), "r", "sample") == [kind] * 6


def test_a_share_of_one_operation_counts_instead():
    plan = FaultPlan.parse("error=1,reward.error=0,sample.error=0")
    assert [course(plan, "r", each, 1) for each in OPERATIONS] == [[""], ["error"], [""]]
