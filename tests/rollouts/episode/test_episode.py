"""The rewards of an episode's turns, by the table of `episode`, and its headers and time."""

from concurrent.futures import ThreadPoolExecutor
from math import inf
from threading import Barrier

import pytest

from reward_functions.rollouts.episode.episode import (
    RFTContext,
    RolloutContext,
    current_rollout,
)
from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.request.context import get_rollout_context
from reward_functions.rollouts.request.errors import BadRequest, InvalidReward
from tests.rollouts.episode.conftest import JOB, LIMIT

METADATA = {"jobArn": JOB, "rolloutId": "r"}


def episode(turns=0, *, reported="immediate", **recorded):
    """An episode with turns, and what an agent recorded of it."""
    made = RolloutContext(METADATA, turn_rewards=reported)
    for _ in range(turns):
        made.policy_call()
    for turn, reward in recorded.get("turn_rewards", ()):
        made.turn_reward(turn, reward)
    for reward in recorded.get("bonuses", ()):
        made.bonus(reward)
    if "reward" in recorded:
        made.reward(recorded["reward"])
    return made


RECORDED = [
    # How many turns, what was recorded and returned, and what is reported of it.
    (0, {}, None, None),
    (3, {}, None, None),
    (0, {}, 0.5, (0.5,)),
    (3, {}, 0.5, (0.5,)),
    (3, {}, [0.0, 0.5, 1.0], (0.0, 0.5, 1.0)),
    (0, {}, [0.0, 0.5, 1.0], (0.0, 0.5, 1.0)),  # nobody counted the turns
    (3, {"reward": 0.5}, None, (0.5,)),
    (3, {"reward": 0.5}, 0.5, (0.5,)),
    (3, {"reward": [0.0, 0.5, 1.0]}, None, (0.0, 0.5, 1.0)),
    (3, {"turn_rewards": [(1, 0.5)]}, None, (0.0, 0.5, 0.0)),
    (3, {"turn_rewards": [(1, 0.5), (1, 0.25)]}, None, (0.0, 0.25, 0.0)),
    (3, {"turn_rewards": [(0, 0.5)]}, 1.0, (0.5, 0.0, 1.0)),
    (3, {"turn_rewards": [(2, 0.5)], "reward": 1.0}, None, (0.0, 0.0, 1.5)),
    (3, {"bonuses": [0.5, 0.25]}, None, (0.0, 0.0, 0.75)),
    (3, {"turn_rewards": [(2, 0.5)], "bonuses": [0.25]}, 1.0, (0.0, 0.0, 1.75)),
    (0, {"bonuses": [0.5]}, None, (0.5,)),
    (0, {"bonuses": [0.5]}, 1.0, (1.5,)),
]


@pytest.mark.parametrize(("turns", "recorded", "returned", "reported"), RECORDED)
def test_what_is_reported_of_turns(turns, recorded, returned, reported):
    assert episode(turns, **recorded).rewards(returned) == reported


TO_GO = [
    # The same, and what is reported as returns to go.
    (3, {}, None, None),
    (3, {}, 0.5, (0.5,)),
    (3, {"reward": 0.5}, None, (0.5,)),
    (1, {}, [0.5], (0.5,)),
    (3, {}, [0.25, 0.5, 1.0], (1.75, 1.5, 1.0)),
    (0, {}, [0.25, 0.5, 1.0], (1.75, 1.5, 1.0)),
    (3, {"reward": [-1.0, 0.0, 1.0]}, None, (0.0, 1.0, 1.0)),
    (3, {"turn_rewards": [(1, 0.5)]}, None, (0.5, 0.5, 0.0)),
    (3, {"bonuses": [0.5, 0.25]}, None, (0.75, 0.75, 0.75)),
    (3, {"turn_rewards": [(0, 0.5)], "bonuses": [0.25]}, 1.0, (1.75, 1.25, 1.25)),
    (0, {"bonuses": [0.5]}, 1.0, (1.5,)),
]


@pytest.mark.parametrize(("turns", "recorded", "returned", "reported"), TO_GO)
def test_what_is_reported_of_turns_as_returns_to_go(turns, recorded, returned, reported):
    assert episode(turns, reported="to_go", **recorded).rewards(returned) == reported


def test_returns_to_go_are_finite():
    with pytest.raises(InvalidReward, match="finite"):
        episode(2, reported="to_go").rewards([1e308, 1e308])


@pytest.mark.parametrize(
    ("reported", "rewards"), [("immediate", [0.25, 0.25, 1.25]), ("to_go", [1.75, 1.5, 1.25])]
)
def test_a_handler_reports_rewards_of_turns_in_either_way(posts, process, new, reported, rewards):
    @rollout_handler(reporter=process, turn_rewards=reported)
    def agent(payload, rollout):
        for _ in range(3):
            rollout.turn_reward(rollout.policy_call(), 0.25)
        rollout.bonus(1.0)

    payload = new()
    agent(payload)
    assert posts.of(payload)[1][1] == {"Rewards": rewards}


WRONG = [
    (3, {}, [0.0, 0.5], "2 rewards for 3 recorded turns"),
    (3, {"reward": [0.0, 0.5]}, None, "2 rewards for 3 recorded turns"),
    (3, {"reward": 0.5}, 1.0, "recorded another"),
    (3, {"turn_rewards": [(0, 0.5)]}, [0.0, 0.5, 1.0], "use one"),
    (3, {"bonuses": [0.5]}, [0.0, 0.5, 1.0], "use one"),
    (3, {"bonuses": [1e308, 1e308]}, None, "finite"),
]


@pytest.mark.parametrize(("turns", "recorded", "returned", "match"), WRONG)
def test_rewards_that_contradict_each_other(turns, recorded, returned, match):
    with pytest.raises(InvalidReward, match=match):
        episode(turns, **recorded).rewards(returned)


@pytest.mark.parametrize("turn", [3, 99, -1, 1.5, "1", None])
def test_a_turn_that_is_not_recorded_has_no_reward(turn):
    with pytest.raises(
        InvalidReward, match=f"turn {turn!r} has a reward, and 3 turns are recorded"
    ):
        episode(3).turn_reward(turn, 1.0)


@pytest.mark.parametrize("reward", [float("nan"), "1", True, None, [0.5, 0.5]])
@pytest.mark.parametrize("method", ["bonus", "turn_reward"])
def test_a_turns_reward_is_one_finite_number(method, reward):
    made = episode(3)
    with pytest.raises(InvalidReward):
        made.bonus(reward) if method == "bonus" else made.turn_reward(0, reward)


def test_turns_are_numbered_once_by_many_threads():
    made = episode()
    with ThreadPoolExecutor(16) as pool:
        numbers = list(pool.map(lambda _: made.policy_call(), range(1000)))
    assert sorted(numbers) == list(range(1000))
    assert made.turns == 1000


def test_the_first_policy_call_is_made_known_once_before_it_is_made():
    calls = []
    made = RolloutContext(METADATA, first_call=lambda: calls.append("first"))
    assert [made.policy_call() for _ in range(3)] == [0, 1, 2]
    assert calls == ["first"]


def test_a_span_id_for_each_policy_call():
    made = RFTContext(METADATA)
    first, second = made.headers(), made.headers()
    assert first.keys() == {
        "X-Amzn-SageMaker-Job-Arn",
        "X-Amzn-SageMaker-Trajectory-Id",
        "X-Span-Id",
    }
    assert first["X-Span-Id"] != second["X-Span-Id"]
    assert made.turns == 0


def test_the_time_that_is_left():
    assert RolloutContext().remaining() == inf
    assert RolloutContext(expires=130.0, clock=lambda: 100.0).remaining() == 30.0
    assert RolloutContext(expires=30.0, clock=lambda: 100.0).remaining() == 0.0


def test_as_a_context_manager_it_nests():
    outer, inner = RolloutContext(METADATA), RolloutContext({"rolloutId": "inner"})
    with outer as first, inner, outer:
        assert first is current_rollout() is outer
    with outer:
        with inner:
            assert get_rollout_context() == {"rolloutId": "inner"}
        assert get_rollout_context() == METADATA
    assert current_rollout() is None


def test_one_episode_is_entered_by_many_threads_at_once():
    episode, together = RolloutContext(METADATA), Barrier(8)

    def one(_):
        with episode:
            together.wait(LIMIT)
            with episode:
                together.wait(LIMIT)
            assert current_rollout() is episode
        return current_rollout()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(8))) == [None] * 8


def test_metadata_that_cannot_be_read():
    with pytest.raises(BadRequest):
        RolloutContext([])


def test_a_repr_holds_no_prompt():
    assert repr(episode(2)) == "RolloutContext('r', turns=2)"
