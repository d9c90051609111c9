"""A hundred rollouts, every accident at a tenth, and the agent's process killed on the way.

A thousand and three kills: `python -m tests.benchmarks rollouts`.
"""

from tests.rollout_crashes import crash


def test_no_reward_is_lost_crossed_or_counted_twice(tmp_path):
    faults = "every=0.1,slow_seconds=0.05,retry_after=0.05"
    found = crash(tmp_path, rollouts=100, at_once=64, kills=1, faults=faults)
    assert found.wrong == []
    assert found.rewarded + found.failed == 100
    assert found.kills == 1
    assert found.cut + len(found.durable) > 0, "the kill cut nothing: it came too late"
    assert found.rewarded > 0
    assert found.reports > found.counted, "no accident made a report come again"
