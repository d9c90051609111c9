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


SYSTEM = {"role": "system", "content": "You answer with the number alone, after `####`."}
ASKED = {
    "role": "user",
    "content": "A train needs 40 minutes for 120 km, and a bus 17 × 23 minutes. How much longer?",
}


def _episode(turns):
    """A history that grows by each answer and the results of its tools."""
    draws, began, made = Random(turns), 1_790_000_000.0, []
    history = [SYSTEM, ASKED]
    for at in range(turns):
        names = draws.sample(["calculator", "files"], k=draws.randint(1, 2) * (at < turns - 1))
        calls = [
            ToolCall(id=f"{at}-{name}", name=name, arguments='{"q": "17*23", "digits": 2}')
            for name in names
        ]
        results = [
            ToolResult(
                call_id=call.id,
                content="391" if draws.random() > 0.2 else "ValueError: no such file",
                status="error" if draws.random() < 0.2 else "success",
                seconds=draws.uniform(0.1, 1.5),
            )
            for call in calls
        ]
        text = "Let me see what the calculator says of it." if calls else "391 - 40\n\n#### 351"
        answer = {"role": "assistant", "content": text}
        made.append(
            Turn(
                index=at,
                messages=tuple(history),
                response=answer,
                tool_calls=tuple(calls),
                tool_results=tuple(results),
                model="qwen3-4b",
                parameters={"temperature": 1.0, "max_tokens": 2048},
                finish_reason="tool_calls" if calls else "stop",
                usage=TokenUsage(input=100 + 60 * at, output=draws.randint(10, 90)),
                began=began,
                seconds=draws.uniform(0.5, 3.0),
            )
        )
        history += [answer, *({"role": "tool", "tool_call_id": each.call_id,
                               "content": each.content} for each in results)]  # fmt: skip
        took = max((each.seconds for each in results), default=0.0)
        began += made[-1].seconds + took
    rewards = tuple(0.5 * (at == turns - 1) + 0.1 * (at % 3) for at in range(turns))
    return Trajectory(id="sums-1", turns=tuple(made), rewards=rewards, status="ready")
