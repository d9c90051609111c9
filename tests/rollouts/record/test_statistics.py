"""Statistics of trajectories: what is counted, what is not known, and by which name."""

from reward_functions.rollouts.record.recording import Recording
from reward_functions.rollouts.record.statistics import INVENTED, statistics_of
from reward_functions.rollouts.record.types import (
    ToolCall,
    ToolResult,
    Trajectory,
    Turn,
)
from tests.rollouts.record.conftest import Agent, answer, call

USAGE = {"prompt_tokens": 10, "completion_tokens": 2}


def trajectory():
    recording = Recording()
    one = Agent(recording)
    calls = [call("a"), call("b", "calc", "no json"), call("c", "rm"), call("d", "search")]
    one.asks(answer(calls=calls, usage=USAGE))
    recording.tool(ToolResult(call_id="a", seconds=0.5, discarded=2))
    recording.tool(ToolResult(call_id="b", status="error", seconds=0.25))
    recording.tool(ToolResult(call_id="c", status="error"))
    recording.discarded(one.asks(answer("again", usage=USAGE)))
    one.asks(answer('{"name": "search", "arguments": {}}', usage=USAGE))
    recording.failed(recording.began({}), TimeoutError())
    return recording.trajectory(id="1", status="ready")


def test_turns_tools_tokens_and_failures_are_counted():
    found = statistics_of(trajectory())
    assert (found.trajectories, found.turns, found.discarded) == (1, 2, 1)
    assert found.failures == {"TimeoutError": 1}
    assert found.statuses == {"ready": 1}
    assert (found.input_tokens, found.output_tokens) == (30, 6)
    assert (found.tool_calls, found.recovered, found.invalid) == (5, 1, 1)
    assert list(found.tools) == ["calc", "search", INVENTED]
    calc, search, invented = found.tools.values()
    assert (calc.calls, calc.failures, calc.missing, calc.discarded) == (2, 1, 0, 2)
    assert (calc.invalid, calc.seconds) == (1, 0.75)
    assert (search.calls, search.missing, search.recovered, search.seconds) == (2, 2, 1, None)
    assert (invented.calls, invented.failures) == (1, 1)


def test_the_statistics_of_many_are_the_sums():
    one, three = statistics_of(trajectory()), statistics_of(trajectory() for _ in range(3))
    assert (three.trajectories, three.turns, three.tool_calls) == (3, 6, 15)
    assert three.input_tokens == 3 * one.input_tokens
    assert three.tools["calc"].seconds == 3 * one.tools["calc"].seconds


def test_tokens_that_nobody_counts_are_no_number():
    counted, silent = trajectory(), Trajectory(id="2", turns=(Turn(index=0),))
    found = statistics_of([counted, silent, counted])
    assert (found.input_tokens, found.output_tokens) == (None, None)


def test_where_no_tools_were_offered_none_is_invented():
    turn = Turn(index=0, tool_calls=(ToolCall(id="a", name="own"),))
    assert list(statistics_of(Trajectory(id="1", turns=(turn,))).tools) == ["own"]


def test_of_nothing_there_is_nothing():
    found = statistics_of([])
    assert (found.trajectories, found.tools, found.seconds) == (0, {}, 0.0)
