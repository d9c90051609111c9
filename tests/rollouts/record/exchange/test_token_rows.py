"""Rows of tokens: what the policy wrote is trained once, and nothing else ever."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from dataclasses import replace

import pytest
from hypothesis import given, settings

from reward_functions.rollouts.record.completion import TokenCapture
from reward_functions.rollouts.record.exchange.agentcore import trace_records
from reward_functions.rollouts.record.exchange.rllm import rllm_trajectory
from reward_functions.rollouts.record.exchange.token_rows import (
    LeftOut,
    TokenRow,
    counted,
    token_rows,
)
from reward_functions.rollouts.record.relay.sessions import Record
from reward_functions.rollouts.record.types import TokenTrace, Turn
from reward_functions.rollouts.request.errors import MisalignedTokens
from tests.rollouts.record.exchange.episodes import trajectories, trajectory, turn

SHAPES = {
    # name: (turns as (prompt, completion), rows as (prompt, response, mask))
    "one turn": ([([1, 2], [3])], [([1, 2], [3], [1])]),
    "a prompt that extends the row goes on in it": (
        [([1], [2]), ([1, 2, 8, 9], [3])],
        [([1], [2, 8, 9, 3], [1, 0, 0, 1])],
    ),
    "one that continues without a word between": (
        [([1], [2]), ([1, 2], [3])],
        [([1], [2, 3], [1, 1])],
    ),
    "a text that was tokenised again forks": (
        [([1], [2, 3]), ([1, 23, 8], [4])],
        [([1], [2, 3], [1, 1]), ([1, 23, 8], [4], [1])],
    ),
    "a second answer to one prompt forks": (
        [([1], [2]), ([1], [3])],
        [([1], [2], [1]), ([1], [3], [1])],
    ),
    "two ways to go on share no trained token": (
        [([1], [2]), ([1, 2, 8], [3]), ([1, 2, 9], [4])],
        [([1], [2, 8, 3], [1, 0, 1]), ([1, 2, 9], [4], [1])],
    ),
    "agents that take turns fork once": (
        [([1], [2]), ([5], [6]), ([1, 2, 8], [3]), ([5, 6, 8], [7])],
        [([1], [2, 8, 3], [1, 0, 1]), ([5], [6, 8, 7], [1, 0, 1])],
    ),
    "the longest row is gone on with": (
        [([1], [2]), ([9], [9]), ([1, 2, 3], [4]), ([1, 2, 3, 4], [5])],
        [([1], [2, 3, 4, 5], [1, 0, 1, 1]), ([9], [9], [1])],
    ),
}


@pytest.mark.parametrize(("turns", "rows"), SHAPES.values(), ids=SHAPES)
def test_turns_become_rows(turns, rows):
    whole = trajectory(*(turn(index, *tokens) for index, tokens in enumerate(turns)))
    found = [
        (list(row.prompt_ids), list(row.response_ids), list(map(int, row.mask)))
        for row in token_rows(whole).rows
    ]
    assert found == rows


@settings(max_examples=60)
@given(trajectories())
def test_each_token_that_was_kept_is_trained_once_with_its_own_logprob(whole):
    found = token_rows(whole)
    written = Counter(
        pair
        for each in whole.kept
        for pair in zip(each.tokens.completion_ids, each.tokens.logprobs or (), strict=True)
    )
    trained = Counter(
        (token, logprob)
        for row in found.rows
        for token, mask, logprob in zip(row.response_ids, row.mask, row.logprobs, strict=True)
        if mask
    )
    assert trained == written
    assert all(
        logprob is None
        for row in found.rows
        for mask, logprob in zip(row.mask, row.logprobs, strict=True)
        if not mask
    )
    turns = [index for row in found.rows for index in row.turns]
    assert sorted([*turns, *(out.turn for out in found.left_out)]) == list(range(len(whole.turns)))


@settings(max_examples=40)
@given(trajectories())
def test_each_turn_was_written_behind_exactly_its_prompt(whole):
    for row in token_rows(whole).rows:
        sequence = row.token_ids
        for index in row.turns:
            tokens = whole.turns[index].tokens
            shown = tokens.prompt_ids + tokens.completion_ids
            assert sequence[: len(shown)] == shown


LEFT = {
    "the call failed": turn(0, [1], [2], error="Timeout"),
    "the answer was discarded": turn(0, [1], [2], discarded=True),
    "no token ids": Turn(index=0),
    "no token ids of the prompt": Turn(index=0, tokens=TokenTrace(completion_ids=(1,))),
    "an empty answer": turn(0, [1], []),
}


@pytest.mark.parametrize(("reason", "given_turn"), LEFT.items(), ids=LEFT)
def test_a_turn_that_teaches_nothing_is_left_out_by_name(reason, given_turn):
    assert token_rows(trajectory(given_turn)) == ((), (LeftOut("r1", reason, 0),))


def test_a_turn_without_ids_is_context_of_the_next_and_not_trained():
    whole = trajectory(turn(0, [1], [2]), Turn(index=1), turn(2, [1, 2, 8, 3, 9], [4]))
    (row,) = token_rows(whole).rows
    assert row.mask == (True, False, False, False, True)
    assert row.turns == (0, 2)


def test_a_failed_rollout_gives_rows_only_where_they_are_asked_for():
    whole = trajectory(turn(0, [1], [2]), status="failed")
    assert token_rows(whole) == ((), (LeftOut("r1", "the rollout failed"),))
    assert len(token_rows(whole, failed=True).rows) == 1


def test_missing_logprobs_are_absent_and_never_zero():
    (row,) = token_rows(trajectory(turn(0, [1], [2, 3], logprobs=()))).rows
    assert row.logprobs == (None, None)
    assert not row.has_logprobs


def broken(**fields):
    """Tokens that the type itself refuses, as a careless producer might make them."""
    made = TokenTrace(prompt_ids=(1,), completion_ids=(2, 3))
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


MISALIGNED = {
    "turn 4 has 1 log-probabilities for 2 tokens": broken(logprobs=(-1.0,)),
    "turn 4 has 3 log-probabilities for 2 tokens": broken(logprobs=(-1.0, -1.0, -1.0)),
    "turn 4 has a log-probability that is not one": broken(logprobs=(-1.0, 0.5)),
    "turn 4 has a token id that is not one": broken(completion_ids=(2, -3)),
}


@pytest.mark.parametrize(("sentence", "tokens"), MISALIGNED.items(), ids=MISALIGNED)
def test_tokens_that_do_not_belong_together_are_refused_by_turn(sentence, tokens):
    with pytest.raises(MisalignedTokens, match=sentence):
        token_rows(trajectory(replace(turn(4, [1], [2]), tokens=tokens)))


@pytest.mark.parametrize("value", [float("nan"), float("-inf")])
def test_a_logprob_is_finite(value):
    with pytest.raises(MisalignedTokens, match="turn 4"):
        token_rows(trajectory(replace(turn(4, [1], [2]), tokens=broken(logprobs=(-1.0, value)))))


def test_a_row_has_lists_of_one_length():
    with pytest.raises(MisalignedTokens, match="2 tokens, 1 of a mask"):
        TokenRow(
            rollout="r",
            turns=(),
            prompt_ids=(),
            response_ids=(1, 2),
            mask=(True,),
            logprobs=(None,),
        )


def test_a_thousand_forks_of_a_long_prompt_are_found_by_reading_each_once():
    shared = list(range(2_000))
    turns = [turn(index, [*shared, index], [1]) for index in range(300)]
    assert len(token_rows(trajectory(*turns)).rows) == len(turns)


def test_what_is_left_out_is_counted_by_reason():
    left = [LeftOut("a", "no reward"), LeftOut("b", "no reward"), LeftOut("a", "no token ids", 3)]
    assert counted(left) == {"rollout: no reward": 2, "turn: no token ids": 1}


GAPS = [
    # (metadata, whether it is refused)
    ({"token_gaps": {"1": "misaligned: 3 ids for 2 counted tokens"}}, True),
    ({"token_gaps": {"0": "no token ids", "7": "misaligned"}}, True),
    ({"token_gaps": {"1": "no token ids"}}, False),
    ({"token_gaps": {"1": None, "2": 3, "3": []}}, False),
    ({"token_gaps": {}}, False),
    ({"token_gaps": ["misaligned"]}, False),
    ({"token_gaps": "misaligned"}, False),
    ({}, False),
]


@pytest.mark.parametrize(("metadata", "refused"), GAPS, ids=[str(each) for each, _ in GAPS])
@pytest.mark.parametrize(
    "export",
    [token_rows, trace_records, rllm_trajectory],
    ids=lambda f: f.__name__,
)
def test_a_trajectory_whose_tokens_a_recorder_refused_is_refused(export, metadata, refused):
    whole = trajectory(turn(0, [1], [2]), metadata=metadata)
    with (
        pytest.raises(MisalignedTokens, match="leave this trajectory out")
        if refused
        else nullcontext()
    ):
        export(whole)


def test_the_relays_own_word_for_it_is_understood():
    record = Record()
    number, _ = record.began({"messages": [{"role": "user", "content": "?"}]})
    answer = {"message": {"role": "assistant", "content": "!"}, "finish_reason": "stop"}
    logprobs = {"content": [{"token": "!", "logprob": -1.0}]}
    choice = answer | {"token_ids": [1, 2], "logprobs": logprobs}
    capture = TokenCapture()
    capture.add({"prompt_token_ids": [1], "choices": [choice]})
    record.answered(number, {"choices": [answer]}, capture.captured(None))
    with pytest.raises(MisalignedTokens, match="of turn 0"):
        token_rows(record.trajectory(id="r", rewards=(1.0,)))


@pytest.mark.parametrize("ids", [(2**31,), (2**63 - 1,), (-1,), (True,), (1.0,)])
def test_a_row_holds_token_ids_that_a_trainer_can_hold(ids):
    with pytest.raises(MisalignedTokens, match="a row has a token id"):
        TokenRow(
            rollout="r", turns=(), prompt_ids=(), response_ids=ids, mask=(True,), logprobs=(-1.0,)
        )


@pytest.mark.parametrize("logprob", [0.5, float("nan"), float("inf"), float("-inf"), 10**400])
def test_a_row_holds_logprobs(logprob):
    with pytest.raises(MisalignedTokens, match="a row has a log-probability"):
        TokenRow(
            rollout="r",
            turns=(),
            prompt_ids=(),
            response_ids=(1,),
            mask=(True,),
            logprobs=(logprob,),
        )
