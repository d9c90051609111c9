"""64 rollouts at once over one shared model or client, for each framework: nothing crosses.

Every call carries its own rollout's headers and parameters, every tool is called in its own
rollout with its own arguments, and every trajectory holds its own tool calls.
"""

import asyncio
import inspect
import json
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from reward_functions.rollouts.episode.episode import current_rollout
from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.report.outbox.opening import open_outbox
from reward_functions.rollouts.report.reporter import Reporter
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.report.transports import open_transport
from tests.compat.conftest import ABSENT, MEASURED, METADATA, Runtime
from tests.compat.frameworks import FRAMEWORKS
from tests.loopback import served
from tests.policy_service import completion

pytest.importorskip("sagemaker.train", reason=ABSENT)

AT_ONCE = 64
CALLS = 2  # of each rollout: the tool, then the answer


@dataclass
class Numbered(Runtime):
    """A policy whose tool call says which rollout asked, by `/sample` too."""

    def operation(self, asked):
        if asked.path[0].startswith("sample"):
            return "/sample", lambda: self.complete(asked)
        return super().operation(asked)

    def complete(self, asked):
        answer = super().complete(asked)
        call = self.calls[-1]
        if any(each["role"] == "tool" for each in call.body["messages"]):
            return answer
        acting = [
            {
                "index": index,
                "id": f"call-{call.prompt}-{index}",
                "type": "function",
                "function": {"name": self.tool, "arguments": json.dumps({"expression": each})},
            }
            for index, each in enumerate(expressions(call.prompt))
        ]
        return completion(call.body, {"tool_calls": acting}, "tool_calls")


def expressions(prompt):
    """Of the tool calls of a rollout's first turn."""
    return [f"{prompt.removeprefix('rollout-')} * {factor}" for factor in (7, 8)]


def result(expression):
    return f"the result of {expression}"


def payloads():
    for number in range(AT_ONCE):
        yield {
            "prompt": f"rollout-{number}",
            "metadata": METADATA | {"rolloutId": f"rollout-{number}"},
            "inferenceParams": {"temperature": number / 100, "maxTokens": 16 + number},
        }


def everyone(agent):
    """All rollouts at once: threads, or tasks of one loop."""
    if not inspect.iscoroutinefunction(agent):
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(agent, payloads()))

    async def gathered():
        return await asyncio.gather(*map(agent, payloads()))

    return asyncio.run(gathered())


@pytest.fixture
def policy(monkeypatch):
    taking = Numbered()
    with served(taking):
        monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", taking.address)
        yield taking


@pytest.fixture
def process():
    settings = RolloutSettings(outbox="memory:", transport="bearer")
    made = Reporter(settings, open_outbox(settings.outbox), transports=open_transport)
    yield made
    made.close()


def handler(solve, **options):
    """A rollout over a framework's agent, rewarded where it answers."""
    if inspect.iscoroutinefunction(solve):

        async def waiting(payload):
            return {"reward": float("42" in await solve(payload["prompt"]))}

        return rollout_handler(waiting, **options)
    return rollout_handler(
        lambda payload: {"reward": float("42" in solve(payload["prompt"]))}, **options
    )


def crossed(call, framework):
    """Whether a call carries another rollout than the one in its prompt."""
    number = int(call.prompt.removeprefix("rollout-"))
    own = {"temperature": number / 100, "max_tokens": 16 + number}
    tokens = call.body.get("max_completion_tokens")
    sent = call.parameters | ({} if tokens is None else {"max_tokens": tokens})
    return call.identity[1] != call.prompt or (framework.parameters and sent != own)


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=[each.name for each in FRAMEWORKS])
def test_64_rollouts_over_one_shared_model_do_not_cross(framework, policy, process):
    used, kept = defaultdict(list), []

    def calculator(expression: str) -> str:
        """Compute an expression.

        Args:
            expression: what to compute.
        """
        used[current_rollout().metadata.trajectory_id].append(expression)
        return result(expression)

    options = {"trajectories": kept.append} if framework.recorded else {}
    solve = framework.build(policy.address, calculator)
    agent = handler(solve, reporter=process, **options)
    assert everyone(agent) == [{"reward": 1.0}] * AT_ONCE
    wrong = sum(crossed(call, framework) for call in policy.calls)
    MEASURED.append(
        f"{framework.name}: {wrong} of {len(policy.calls)} calls carried another rollout; "
        f"{len(kept)} trajectories, {sum(len(tools_of(each)[0]) for each in kept)} tool calls"
    )
    assert (wrong, len(policy.calls)) == (0, CALLS * AT_ONCE)
    names = {payload["prompt"] for payload in payloads()}
    assert {name: sorted(each) for name, each in used.items()} == {
        name: sorted(expressions(name)) for name in names
    }
    assert len(policy.posts) == 2 * AT_ONCE, "each completed and rewarded, once"
    if options:
        assert {each.id: tools_of(each) for each in kept} == {
            name: [
                [
                    (f"call-{name}-{at}", each, "success", result(each))
                    for at, each in enumerate(expressions(name))
                ],
                [],
            ]
            for name in names
        }
        assert {len(each.turns) for each in kept} == {CALLS}


def tools_of(trajectory):
    """The id, the argument and the result of each tool call, turn by turn."""
    return [
        [
            (call.id, json.loads(call.arguments)["expression"], gave.status, gave.content)
            for call, gave in turn.pairs
        ]
        for turn in trajectory.turns
    ]
