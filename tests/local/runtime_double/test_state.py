"""The table of states, tokens, and what nobody knows of the service; then any order of calls."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import settings as limits
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from reward_functions.local.loopback_service.server import Refused
from reward_functions.local.runtime_double import RuntimeSettings
from reward_functions.local.runtime_double.state import STATES, TURNS, Report, Trajectories, Turn

KEY = ("job", "r")
OTHER = ("job", "another")


def held(**settings):
    made = Trajectories(RuntimeSettings(**settings), clock=lambda: 1.0)
    made.register(KEY)
    return made


def report(event, token="", rewards=(1.0,)):
    if event == "reward":
        return Report("reward", {"Rewards": [*rewards]}, token, "sigv4")
    return Report("complete", {"Status": event}, token, "sigv4")


PATHS = {"PENDING": [], "READY": ["ready"], "FAILED": ["failed"]} | {
    "REWARD_RECEIVED": ["ready", "reward"]
}
AFTER = [
    # from, what is sent, the state after, or the refusal (rollouts.md, 1.0.1)
    ("PENDING", "ready", "READY"),
    ("PENDING", "failed", "FAILED"),
    ("PENDING", "reward", 409),
    ("READY", "ready", 409),
    ("READY", "failed", 409),
    ("READY", "reward", "REWARD_RECEIVED"),
    ("FAILED", "ready", 409),
    ("FAILED", "failed", 409),
    ("FAILED", "reward", 409),
    ("REWARD_RECEIVED", "ready", 409),
    ("REWARD_RECEIVED", "failed", 409),
    ("REWARD_RECEIVED", "reward", 409),
]


@pytest.mark.parametrize(("state", "event", "after"), AFTER)
def test_the_table_of_states(state, event, after):
    trajectories = held()
    for each in PATHS[state]:
        trajectories.take(KEY, report(each))
    if after == 409:
        with pytest.raises(Refused, match="Cannot transition trajectory") as refused:
            trajectories.take(KEY, report(event))
        assert refused.value.status == 409
        assert trajectories.get(KEY).state == state
    else:
        trajectories.take(KEY, report(event))
        assert trajectories.get(KEY).state == after


@pytest.mark.parametrize("state", STATES)
def test_a_policy_call_is_for_a_pending_trajectory(state):
    trajectories = held()
    for each in PATHS[state]:
        trajectories.take(KEY, report(each))
    if state == "PENDING":
        trajectories.add_turn(KEY, Turn())
        assert len(trajectories.get(KEY).turns) == 1
    else:
        with pytest.raises(Refused, match="Cannot transition trajectory"):
            trajectories.add_turn(KEY, Turn())


TOKENS = [
    # the second call: its token, its trajectory, its event, how it ends
    ("t", KEY, "ready", "replayed"),
    ("t", KEY, "failed", "refused"),  # the same token with another body
    ("t", OTHER, "ready", "refused"),  # or for another trajectory: nothing may cross
    ("u", KEY, "ready", "refused"),
    ("", KEY, "ready", "refused"),
    ("u", OTHER, "ready", "taken"),
]


@pytest.mark.parametrize(("token", "key", "event", "ended"), TOKENS)
def test_a_token_is_counted_once(token, key, event, ended):
    trajectories = held()
    trajectories.register(OTHER)
    trajectories.take(KEY, report("ready", "t"))
    if ended == "refused":
        with pytest.raises(Refused) as refused:
            trajectories.take(key, report(event, token))
        assert refused.value.status == 409
    else:
        trajectories.take(key, report(event, token))
    assert trajectories.get(key).deliveries[-1].ended == ended


def test_a_token_of_a_completion_may_be_the_one_of_a_reward():
    trajectories = held()
    trajectories.take(KEY, report("ready", "t"))
    trajectories.take(KEY, report("reward", "t"))
    assert trajectories.get(KEY).state == "REWARD_RECEIVED"


def test_a_refused_token_is_free_for_what_is_right():
    trajectories = held(lengths="turns")
    trajectories.add_turn(KEY, Turn())
    trajectories.take(KEY, report("ready"))
    with pytest.raises(Refused, match="2 values for 1 turns"):
        trajectories.take(KEY, report("reward", "t", (1.0, 2.0)))
    trajectories.take(KEY, report("reward", "t", (1.0,)))
    assert trajectories.get(KEY).rewards == (1.0,)


UNKNOWN = [
    # settings, turns, events, rewards of the last one, how it ends
    ({}, 3, ["ready", "reward"], [1.0], "taken"),
    ({}, 3, ["ready", "reward"], [1.0, 2.0], "taken"),
    ({}, 1, ["ready", "reward"], [], 400),
    ({"lengths": "turns"}, 2, ["ready", "reward"], [1.0, 2.0], "taken"),
    # A single reward for several turns: sagemaker.train.rft sends it, the model does not know it.
    ({"lengths": "turns"}, 2, ["ready", "reward"], [1.0], 400),
    ({}, 0, ["ready"], [], "taken"),
    ({"empty": "refuse"}, 0, ["ready"], [], 400),
    ({"empty": "refuse"}, 1, ["ready"], [], "taken"),
    ({"empty": "refuse"}, 0, ["failed"], [], "taken"),
    ({}, 1, ["failed", "reward"], [0.0], 409),
    ({"reward_after_failed": "accept"}, 1, ["failed", "reward"], [0.0], "taken"),
]


@pytest.mark.parametrize(("settings", "turns", "events", "rewards", "ended"), UNKNOWN)
def test_what_nobody_knows_is_a_setting(settings, turns, events, rewards, ended):
    trajectories = held(**settings)
    for _ in range(turns):
        trajectories.add_turn(KEY, Turn())
    for event in events[:-1]:
        trajectories.take(KEY, report(event))
    last = report(events[-1], rewards=rewards)
    if ended == "taken":
        trajectories.take(KEY, last)
    else:
        with pytest.raises(Refused) as refused:
            trajectories.take(KEY, last)
        assert refused.value.status == ended


def test_a_rollout_that_failed_has_finished_once():
    trajectories = held(reward_after_failed="accept")
    assert trajectories.take(KEY, report("failed")).state == "FAILED"
    assert trajectories.take(KEY, report("reward")) is None
    assert trajectories.get(KEY).rewards == (1.0,)


def test_an_open_double_makes_a_trajectory_at_its_first_call():
    trajectories = held(open=True)
    trajectories.take(OTHER, report("ready"))
    assert trajectories.get(OTHER).state == "READY"
    with pytest.raises(Refused) as refused:
        held().take(OTHER, report("ready"))
    assert refused.value.status == 404


def test_there_are_no_more_trajectories_than_there_may_be():
    trajectories = held(trajectories=1)
    trajectories.register(KEY)
    with pytest.raises(Refused) as refused:
        trajectories.register(OTHER)
    assert refused.value.status == 402


TEXTS = [
    # bytes that are kept, turns as (trajectory, bytes), the numbers of those that have their texts
    (10, [], []),
    (10, [(KEY, 10)], [0]),
    (10, [(KEY, 11)], []),
    (10, [(KEY, 6), (KEY, 4)], [0, 1]),
    (10, [(KEY, 6), (KEY, 6)], [1]),
    (10, [(KEY, 6), (OTHER, 6)], [1]),
    (10, [(KEY, 6), (KEY, 11), (KEY, 4)], [0, 2]),
    (10, [(KEY, 3), (OTHER, 3), (KEY, 3), (OTHER, 3)], [1, 2, 3]),
    (10, [(KEY, 3), (OTHER, 3), (KEY, 3), (OTHER, 10)], [3]),
    (0, [(KEY, 0), (KEY, 1)], []),
]


@pytest.mark.parametrize(("most", "turns", "kept"), TEXTS)
def test_the_latest_texts_are_kept_and_every_turn_is_counted(most, turns, kept):
    trajectories = held(text_bytes=most)
    trajectories.register(OTHER)
    for at, (key, size) in enumerate(turns):
        half = size // 2
        turn = Turn(request=b"?" * half, response=b"!" * (size - half), prompt_tokens=at)
        trajectories.add_turn(key, turn)
    found = {key: trajectories.get(key).turns for key in (KEY, OTHER)}
    whole = [each for key in found for each in found[key] if each.response]
    assert sorted(each.prompt_tokens for each in whole) == kept
    assert sum(map(len, found.values())) == len(turns)
    assert all([each.number for each in found[key]] == [*range(len(found[key]))] for key in found)
    assert "!" not in repr(found)


def test_a_trajectory_without_an_end_is_ended(monkeypatch):
    monkeypatch.setattr("reward_functions.local.runtime_double.state.TURNS", 2)
    trajectories = held()
    trajectories.add_turn(KEY, Turn())
    trajectories.add_turn(KEY, Turn())
    with pytest.raises(Refused) as refused:
        trajectories.add_turn(KEY, Turn())
    assert (refused.value.status, TURNS) == (402, 10_000)


def test_waiting_ends_with_the_trajectory_or_with_the_time():
    from threading import Thread

    trajectories = held()
    assert trajectories.wait(KEY, 0).state == "PENDING"
    with pytest.raises(KeyError):
        trajectories.wait(OTHER, 0)
    trajectories.take(KEY, report("ready"))
    Thread(target=trajectories.take, args=(KEY, report("reward")), daemon=True).start()
    assert trajectories.wait(KEY, 60).rewards == (1.0,)


class AnyOrder(RuleBasedStateMachine):
    """Whatever is sent in whatever order, a trajectory is counted once, with its own reward."""

    def __init__(self):
        super().__init__()
        self.trajectories = held()
        self.sent = {}
        self.rewards = None

    @rule(
        event=st.sampled_from(["ready", "failed", "reward"]),
        token=st.sampled_from(["", "a", "b"]),
        value=st.sampled_from([0.0, 1.0]),
    )
    def send(self, event, token, value):
        sent = report(event, token, (value,))
        before = self.trajectories.get(KEY).state
        with suppress(Refused):
            self.trajectories.take(KEY, sent)
        after = self.trajectories.get(KEY)
        ended = after.deliveries[-1].ended
        if ended == "replayed":
            assert self.sent[sent.operation, token] == sent.body
        assert (after.state == before) == (ended != "taken")
        if ended == "taken":
            assert (event, before) in {(e, s) for s, e, to in AFTER if to != 409}
            self.sent[sent.operation, token] = sent.body
            self.rewards = (value,) if event == "reward" else None

    @rule()
    def sample(self):
        before = self.trajectories.get(KEY)
        try:
            self.trajectories.add_turn(KEY, Turn())
        except Refused:
            assert before.state != "PENDING"
        else:
            assert before.state == "PENDING"

    @invariant()
    def it_is_counted_once(self):
        found = self.trajectories.get(KEY)
        assert found.taken("complete") == (found.state != "PENDING")
        assert found.taken("reward") == (found.state == "REWARD_RECEIVED")
        assert found.rewards == self.rewards


AnyOrder.TestCase.settings = limits(max_examples=60, stateful_step_count=12, deadline=None)
TestAnyOrder = AnyOrder.TestCase
