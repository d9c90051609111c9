"""Pages of trajectories: one on its time line, and the statistics of many."""

from random import Random

from reward_functions.rollouts.drive.trajectories import page
from reward_functions.rollouts.record.statistics import statistics_of
from reward_functions.rollouts.record.types import (
    TokenUsage,
    ToolCall,
    ToolResult,
    Trajectory,
    Turn,
)
from tests.gallery.hostile import NAME, UNBROKEN


def one():
    """An episode of twelve turns with two tools, one of which fails at times."""
    return page(_episode(12)).html()


def hostile():
    """Names, arguments and results without measure; times that are none."""
    text = f"{NAME} {UNBROKEN}"
    call = ToolCall(id="c", name=text, arguments=text, recovered=True)
    result = ToolResult(call_id="c", content=text * 9, status="error", seconds=1e9)
    asked = {"role": "user", "content": text}
    turns = [
        Turn(
            index=at,
            messages=(asked,),
            response={"role": "assistant", "content": text},
            tool_calls=(call,),
            tool_results=(result,),
            error=text if at == 1 else "",
            began=-1e9 * at,
            seconds=0.0 if at else 1e12,
            unread=("response",),
        )
        for at in range(3)
    ]
    return page(Trajectory(id=text, status=text, turns=tuple(turns))).html()


def many():
    """The statistics of forty episodes."""
    return page(statistics_of(_episode(at % 12 + 1) for at in range(40))).html()


def _episode(turns):
    draws, began, made = Random(turns), 1_790_000_000.0, []
    question = {"role": "user", "content": "What is 17 × 23, and who asked before?"}
    for at in range(turns):
        names = draws.sample(["calculator", "files"], k=draws.randint(1, 2) * (at < turns - 1))
        calls = [
            ToolCall(id=f"{at}-{name}", name=name, arguments='{"q": "17*23"}') for name in names
        ]
        results = [
            ToolResult(
                call_id=call.id,
                content="391",
                status="error" if draws.random() < 0.2 else "success",
                seconds=draws.uniform(0.1, 1.5),
            )
            for call in calls
        ]
        made.append(
            Turn(
                index=at,
                messages=(question,),
                response={"role": "assistant", "content": "Let me see." if calls else "391"},
                tool_calls=tuple(calls),
                tool_results=tuple(results),
                finish_reason="tool_calls" if calls else "stop",
                usage=TokenUsage(input=100 + 60 * at, output=draws.randint(10, 90)),
                began=began,
                seconds=draws.uniform(0.5, 3.0),
            )
        )
        took = max((each.seconds for each in results), default=0.0)
        began += made[-1].seconds + took
    return Trajectory(id="sums-1", turns=tuple(made), rewards=(1.0,), status="ready")
