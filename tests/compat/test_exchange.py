"""Our trace records and datums beside the published agentcore-rl-toolkit's own.

Theirs: `TraceRecord`, `TrajectoryManager` and `trace_record_to_datum` of version 0.2.0. What ours
write theirs takes, what theirs writes ours reads, and both train the same tokens of an episode.
"""

import json
from dataclasses import fields
from importlib import import_module
from random import Random
from types import SimpleNamespace
from typing import get_args

import pytest

from reward_functions.rollouts.record.exchange import agentcore, datum, token_rows
from reward_functions.rollouts.record.types import TokenTrace, Trajectory, Turn
from reward_functions.rollouts.request.errors import MisalignedTokens

pytest.importorskip("agentcore_rl_toolkit")
EPISODES = range(300)
"""Seeds of the episodes that are drawn."""

THEIRS = SimpleNamespace(
    trace=import_module("agentcore_rl_toolkit.rollout_gateway.trace"),
    trajectory=import_module("agentcore_rl_toolkit.rollout_gateway.trajectory"),
    datum=import_module("agentcore_rl_toolkit.backends.experimental.sagemaker.datum"),
)


def trajectory(*turns):
    """An episode from (prompt, completion) pairs, whose log-probabilities all differ."""
    return Trajectory(
        id="r1",
        rewards=(1.0,),
        status="ready",
        turns=tuple(
            Turn(
                index=index,
                tokens=TokenTrace(
                    prompt_ids=tuple(prompt),
                    completion_ids=tuple(written),
                    logprobs=tuple(-(index + 1) - at / 10 for at in range(len(written))),
                ),
            )
            for index, (prompt, written) in enumerate(turns)
        ),
    )


def drawn(seed, *, clean):
    """An episode; each prompt begins with all that came before, or with what any turn held."""
    random = Random(seed)

    def ids(least=1):
        return [random.randrange(10) for _ in range(random.randint(least, 4))]

    held, turns = [[]], []
    for _ in range(random.randint(1, 6)):
        before = held[-1] if clean else random.choice([*held, []])
        prompt, written = [*before, *ids()], ids(least=clean)
        turns.append((prompt, written))
        held.append([*prompt, *written])
    return trajectory(*turns)


def theirs_of(record):
    """A record of ours in their class, by way of JSON."""
    given_fields = json.loads(json.dumps(record.json()))
    status = THEIRS.trace.Status(given_fields.pop("status"))
    return THEIRS.trace.TraceRecord(**given_fields, status=status)


def json_of(record):
    """A record of theirs as JSON."""
    return json.loads(json.dumps(vars(record) | {"status": record.status.value}))


def managed(whole, reward):
    """The records that their manager makes of an episode's turns, each shown all before it."""
    manager, messages = THEIRS.trajectory.TrajectoryManager(), [{"role": "user", "content": "?"}]
    for each in whole.turns:
        record = THEIRS.trajectory.TurnRecord(
            prompt_ids=list(each.tokens.prompt_ids),
            output_ids=list(each.tokens.completion_ids),
            finish_reason="stop",
            output_log_probs=list(each.tokens.logprobs),
        )
        answer = {"role": "assistant", "content": f"answer {each.index}"}
        manager.record_turn(
            "s", turn=record, prompt_messages=list(messages), response_message=answer
        )
        messages += [answer, {"role": "user", "content": f"more {each.index}"}]
    base = THEIRS.trace.BaseTrace(rollout_id=whole.id)
    return manager.get_trajectory("s", base_sample=base, reward=reward)


def test_the_fields_are_theirs_in_their_order():
    ours = [each.name for each in fields(agentcore.TraceRecord)]
    assert ours == [each.name for each in fields(THEIRS.trace.TraceRecord)]
    assert list(get_args(agentcore.Status)) == [each.value for each in THEIRS.trace.Status]


def test_a_record_of_ours_is_one_of_theirs_and_its_datum_is_the_same():
    compared = 0
    for seed in EPISODES:
        advantage = Random(seed).uniform(-5, 5)
        whole = drawn(seed, clean=False)
        records, _ = agentcore.trace_records(whole)
        rows = [row for row in token_rows.token_rows(whole).rows if row.has_logprobs]
        compared += len(records)
        for record, row in zip(records, rows, strict=True):
            published = theirs_of(record)
            assert json_of(published) == record.json()
            expected = THEIRS.datum.trace_record_to_datum(published, advantage)
            assert datum.datum(row, advantage) == expected
    assert compared > len(EPISODES)


def test_a_record_without_a_prompt_is_no_datum_in_either():
    whole = trajectory(([], [1, 2]))
    ((record,), _) = agentcore.trace_records(whole)
    assert THEIRS.datum.trace_record_to_datum(theirs_of(record), 1.0) is None
    with pytest.raises(MisalignedTokens, match="needs a prompt"):
        datum.datum(token_rows.token_rows(whole).rows[0], 1.0)


def test_an_episode_without_drift_is_the_same_row():
    for seed in EPISODES:
        whole = drawn(seed, clean=True)
        (ours,), _ = agentcore.trace_records(whole, reward=0.5)
        (published,) = managed(whole, 0.5)
        found = json_of(published) | {"metadata": {}, "response": ""}
        assert found == ours.json() | {"metadata": {}}
        assert {*published.metadata} <= {*ours.metadata}


DRIFTS = {
    "tokenised again": [([1], [2, 3]), ([1, 23, 8], [4])],
    "cut": [([1, 2], [3]), ([2], [4])],
    "forked in the middle": [([1], [2]), ([1, 2, 8], [3]), ([9], [4]), ([9, 4, 5], [6])],
}


@pytest.mark.parametrize("turns", DRIFTS.values(), ids=DRIFTS)
def test_drift_forks_a_row_in_both(turns):
    whole = trajectory(*turns)
    ours = {(row.token_ids, row.mask) for row in token_rows.token_rows(whole).rows}
    published = {
        (tuple(each.token_ids), tuple(map(bool, each.loss_mask))) for each in managed(whole, 0.0)
    }
    assert ours == published


BROKEN = [
    {"token_ids": [1], "loss_mask": [1, 1], "logprobs": [-1.0, -1.0]},
    {"token_ids": [1, 2], "loss_mask": [1], "logprobs": []},
    {"token_ids": [1, 2], "loss_mask": [], "logprobs": [-1.0]},
]


@pytest.mark.parametrize("lists", BROKEN, ids=repr)
def test_what_theirs_refuses_ours_refuses(lists):
    with pytest.raises(ValueError, match="entries"):
        THEIRS.trace.TraceRecord(**lists)
    with pytest.raises(MisalignedTokens):
        agentcore.TraceRecord(**{name: tuple(each) for name, each in lists.items()})
