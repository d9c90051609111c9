"""Recorded responses, scored again."""

from dataclasses import replace

import pytest

from reward_functions.core.errors import BadReference, ConfigurationError, NoJudge
from reward_functions.core.types import Score
from reward_functions.rollouts.drive.records import RolloutRecord, Setup, rescored
from reward_functions.rollouts.request.errors import EnvironmentFailure, ScorerMismatch

PIN = {"name": "math", "version": 3, "digest": "ab" * 32, "parameters": {}}
OTHER = PIN | {"version": 2}
SETUP = Setup(data="d", n=4, agent="a")


class Length:
    """A reward: as many characters as the response has."""

    def score(self, row, response):
        if response == "bad":
            raise BadReference("no reference")
        if response == "down":
            raise EnvironmentFailure("could not") from TimeoutError()
        if response == "nobody":
            raise NoJudge("give --judge")
        return Score(float(len(response)))


def record(sample, status, rewards=(), response="four", scorer=None, **fields):
    return RolloutRecord(
        row=1,
        id="a",
        sample=sample,
        rollout=f"r{sample}",
        status=status,
        rewards=rewards,
        response=response,
        content={"prompt": "x"},
        setup=replace(SETUP, scorer=scorer),
        **fields,
    )


RECORDS = [
    record(0, "rewarded", (1.0,), scored_by="agent"),
    record(1, "rewarded", (2.0, 2.0), scored_by="agent"),
    record(2, "rewarded", (9.0,), scored_by="agent"),
    record(3, "failed", error="HTTP 500"),
    record(4, "lost", error="never completed"),
]


def test_rewards_change_and_what_had_none_stays_as_it_was():
    found = rescored(RECORDS, Length(), PIN)
    assert [each.rewards for each in found.after] == [(4.0,), (4.0,), (4.0,), (), ()]
    assert [each.status for each in found.after] == [each.status for each in RECORDS]
    assert all(each.setup.scorer == PIN for each in found.after)
    assert found.flips == (1, 1)
    assert found.means == (pytest.approx(14 / 3), 4.0)
    assert found.unscored == 0


def test_lost_rollouts_are_scored_where_that_is_meant():
    found = rescored(RECORDS, Length(), PIN, lost=True)
    assert [each.status for each in found.after][3:] == ["failed", "rewarded"]
    assert len(found.pairs) == 3


FAILURES = [("bad", "BadReference"), ("down", "TimeoutError")]


@pytest.mark.parametrize(("response", "error"), FAILURES)
def test_what_cannot_be_scored_has_failed_and_is_no_number(response, error):
    found = rescored([record(0, "rewarded", (1.0,), response)], Length(), PIN)
    assert (found.after[0].status, found.after[0].error) == ("failed", error)
    assert found.after[0].reward is None
    assert found.unscored == 1
    again = rescored([replace(found.after[0], response="four")], Length(), PIN)
    assert again.after[0].rewards == (4.0,)


def test_a_reward_that_can_score_nothing_ends_it():
    with pytest.raises(NoJudge):
        rescored([record(0, "rewarded", (1.0,), "nobody")], Length(), PIN)


def test_another_pin_is_refused_unless_it_is_meant():
    records = [record(0, "rewarded", (1.0,), scorer=OTHER)]
    with pytest.raises(ScorerMismatch, match=r"by math version 2 .* math version 3 .*--repin"):
        rescored(records, Length(), PIN)
    assert rescored(records, Length(), PIN, repin=True).after[0].rewards == (4.0,)
    assert rescored(records, Length(), OTHER).after[0].rewards == (4.0,)


def test_records_without_texts_cannot_be_scored():
    with pytest.raises(ConfigurationError, match="--no-responses"):
        rescored([RECORDS[0].without_texts()], Length(), PIN)
