"""Histories: which turn goes on from which, why a branch begins, where tokens drift."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_functions.rollouts.record.history import branches, drift, drifts
from reward_functions.rollouts.record.types import TokenTrace, Trajectory, Turn

SYSTEM = {"role": "system", "content": "be brief"}
TOOLS = ({"type": "function", "function": {"name": "calc"}},)


def user(text):
    return {"role": "user", "content": text}


def says(text, **more):
    return {"role": "assistant", "content": text, **more}


def calls(id_, arguments):
    function = {"name": "calc", "arguments": arguments}
    return says(None, tool_calls=[{"id": id_, "type": "function", "function": function}])


def result(id_, text):
    return {"role": "tool", "tool_call_id": id_, "content": text}


def episode(*turns):
    """A trajectory of (messages, response)."""
    made = (
        Turn(index=at, messages=tuple(messages), response=response, tools=TOOLS)
        for at, (messages, response) in enumerate(turns)
    )
    return Trajectory(id="1", turns=tuple(made))


def shape(trajectory):
    return [(each.why, [turn.index for turn in each.turns]) for each in branches(trajectory)]


START = [SYSTEM, user("6 × 7?")]
TEXT = '<tool_call>{"name": "calc", "arguments": {"q": 1}}</tool_call>'

CASES = {
    "a line": (
        episode((START, says("42")), ([*START, says("42"), user("sure?")], says("yes"))),
        [("start", [0, 1])],
    ),
    "ids and spaces that the wire changed": (
        episode(
            (START, calls("a", '{"q": 1}')),
            ([*START, calls("xyz", '{"q":1}'), result("xyz", "1")], says("yes")),
        ),
        [("start", [0, 1])],
    ),
    "a content of parts": (
        episode(
            (START, says("42")),
            ([*START, says([{"type": "text", "text": "42"}]), user("sure?")], says("yes")),
        ),
        [("start", [0, 1])],
    ),
    "a recovered call": (
        episode(
            (START, says(TEXT)),
            ([*START, calls("r", '{"q": 1}'), result("r", "1")], says("yes")),
        ),
        [("start", [0, 1])],
    ),
    "sampled again": (
        episode((START, says("42")), (START, says("43"))),
        [("start", [0]), ("sampled_again", [1])],
    ),
    "a fork of a line": (
        episode(
            (START, says("42")),
            ([*START, says("42"), user("a")], says("1")),
            ([*START, says("42"), user("b")], says("2")),
            ([*START, says("42"), user("b"), says("2"), user("c")], says("3")),
        ),
        [("start", [0, 1]), ("sampled_again", [2, 3])],
    ),
    "dropped reasoning in the text": (
        episode(
            (START, says("<think>six sevens</think>\n42")),
            ([*START, says("42"), user("sure?")], says("yes")),
        ),
        [("start", [0]), ("dropped_reasoning", [1])],
    ),
    "dropped reasoning in a field": (
        episode(
            (START, says("42", reasoning_content="six sevens")),
            ([*START, says("42"), user("sure?")], says("yes")),
        ),
        [("start", [0]), ("dropped_reasoning", [1])],
    ),
    "a summary": (
        episode(
            (START, says("1")),
            ([*START, says("1"), user("a"), says("x"), user("b")], says("2")),
            ([*START, user("so far: 1, 2")], says("3")),
        ),
        [("start", [0, 1]), ("summary", [2])],
    ),
    "messages taken out": (
        episode(
            ([*START, says("1"), user("a"), says("2"), user("b")], says("3")),
            ([*START, says("2"), user("b")], says("4")),
        ),
        [("start", [0]), ("edited_history", [1])],
    ),
    "a sub-agent": (
        episode(
            (START, says("42")),
            ([{"role": "system", "content": "search"}, user("find")], says("found")),
            ([*START, says("42"), user("sure?")], says("yes")),
        ),
        [("start", [0, 2]), ("other_agent", [1])],
    ),
    "another task with the same instruction": (
        episode((START, says("42")), ([SYSTEM, user("find")], says("found"))),
        [("start", [0]), ("other_agent", [1])],
    ),
    "nothing": (Trajectory(id="1"), []),
    "turns without messages": (
        episode(([], says("1")), ([], says("2"))),
        [("start", [0]), ("sampled_again", [1])],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_branches_of(case):
    trajectory, expected = CASES[case]
    assert shape(trajectory) == expected


def test_a_branch_knows_what_it_goes_on_from():
    trajectory, _ = CASES["a fork of a line"]
    _, branch = branches(trajectory)
    assert branch.parent.index == 0


MESSAGES = st.lists(st.sampled_from([SYSTEM, user("a"), user("b"), says("x")]), max_size=4)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(MESSAGES, st.sampled_from([says("x"), says("y"), None])), max_size=8))
def test_each_kept_turn_is_in_one_branch_once(turns):
    trajectory = episode(*turns)
    found = [turn.index for branch in branches(trajectory) for turn in branch.turns]
    assert sorted(found) == [turn.index for turn in trajectory.kept]


def tokens(prompt, completion=()):
    return Turn(index=0, tokens=TokenTrace(prompt_ids=prompt, completion_ids=completion))


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        (tokens((1, 2), (3, 4)), tokens((1, 2, 3, 4, 5)), None),
        (tokens((1, 2), (3, 4)), tokens((1, 2, 34, 5)), (2, "completion", 3, 34)),
        (tokens((1, 2), (3, 4)), tokens((9, 2, 3, 4)), (0, "prompt", 1, 9)),
        (tokens((1, 2), (3, 4)), tokens((1, 2, 3)), (3, "completion", 4, None)),
        (tokens((1, 2), None), tokens((1, 2)), None),
        (tokens((1, 2), (3,)), tokens(None), None),
        (Turn(index=0), tokens((1, 2)), None),
    ],
)
def test_tokens_go_on_or_drift(earlier, later, expected):
    found = drift(earlier, later)
    assert (None if found is None else tuple(found)) == expected


def test_the_drifts_of_a_trajectory_are_those_of_neighbours():
    first = Turn(
        index=0, messages=(user("a"),), response=says("x"), tokens=tokens((1,), (2,)).tokens
    )
    history = (user("a"), says("x"), user("b"))
    second = Turn(index=1, messages=history, response=says("y"), tokens=tokens((1, 7)).tokens)
    ((_, later, found),) = drifts(Trajectory(id="1", turns=(first, second)))
    assert (later.index, found.at, found.found) == (1, 1, 7)


def test_a_role_of_any_type_is_no_instruction():
    odd = ({"role": ["system"], "content": "a"},)
    turns = (Turn(index=0, messages=odd), Turn(index=1, messages=({"role": {}},)))
    assert [each.why for each in branches(Trajectory(id="t", turns=turns))] == [
        "start",
        "other_agent",
    ]
