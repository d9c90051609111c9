"""Rollouts of verifiers 0.4 with a scripted model: our rewards plugged in by their import path."""

import asyncio
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import perf_counter

import pytest
from verifiers import v1 as vf
from verifiers.v1.graph import MessageNode

from reward_functions import get, score_batch
from reward_functions.adapters.verifiers import reward_func
from reward_functions.core.types import Message, Sample
from tests.hosts.verifiers import one_turn

SAID = {
    "What is 2 + 2?": r"It is \boxed{4}.",
    "What is 3 + 3?": r"It is \boxed{7}.",
    "What is 4 + 4?": "",
    "What is 5 + 5?": r"It is \boxed{10}.",
}


class Data(vf.TaskData):
    answer: str | None = None


class Sum(vf.Task[Data, vf.State, vf.TaskConfig]):
    pass


class Scripted(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        turn = {"role": "assistant", "content": SAID[asked["messages"][-1]["content"]]}
        body = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "scripted",
            "choices": [{"index": 0, "message": turn, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        encoded = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)

    def log_message(self, *_):
        pass


@pytest.fixture
def agent(monkeypatch):
    monkeypatch.setitem(sys.modules, "one_turn", one_turn)
    monkeypatch.setenv("SCRIPTED_KEY", "none")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    client = vf.EvalClientConfig(base_url=url, api_key_var="SCRIPTED_KEY")
    yield vf.Agent(
        vf.AgentConfig(
            harness=vf.HarnessConfig(id="one_turn"),
            runtime=vf.SubprocessConfig(),
            model="scripted",
            client=client,
        )
    )
    server.shutdown()
    server.server_close()


def rollout(agent, prompt, answer, fn="reward_functions.adapters.verifiers:math"):
    config = vf.TaskConfig(rewards={"correct": {"fn": fn, "weight": 0.5}})
    return asyncio.run(agent.run(Sum(Data(prompt=prompt, answer=answer), config)))


def test_the_tokens_of_a_rollout_are_those_that_the_model_reports(agent):
    trace = rollout(agent, "What is 2 + 2?", "4", "reward_functions.adapters.verifiers:overlong")
    assert trace.errors == []
    assert trace.metrics["overlong/length"] == 1


@pytest.mark.parametrize(
    ("prompt", "answer", "value"),
    [("What is 2 + 2?", "4", 0.5), ("What is 3 + 3?", "6", 0.0), ("What is 4 + 4?", "8", 0.0)],
    ids=["right", "wrong", "empty"],
)
def test_a_rollout_is_scored_with_the_weight_of_its_configuration(agent, prompt, answer, value):
    trace = rollout(agent, prompt, answer)
    assert trace.errors == []
    assert trace.reward == value
    assert trace.rewards["correct"].score == 2 * value
    assert trace.metrics["math/answered"] == float(bool(SAID[prompt]))
    assert trace.info["reward_functions"]["math"]["reason"]


def test_what_cannot_be_scored_is_an_error_of_the_task_and_not_a_zero(agent):
    trace = rollout(agent, "What is 5 + 5?", None)
    assert trace.rewards == {"correct": None}
    assert [error.type for error in trace.errors] == ["TaskError"]
    assert "the fields are" in trace.errors[0].message
    assert not trace.ok


def test_an_unknown_reward_is_named_with_the_nearest(agent):
    trace = rollout(agent, "What is 2 + 2?", "4", "reward_functions.adapters.verifiers:mth")
    assert "Did you mean 'math'?" in trace.errors[0].message


def test_a_thousand_completions(measured):
    answers = [rf"Step {at}: so it is \boxed{{{at}}}." for at in range(1024)]
    traces = [traced(text) for text in answers]
    data = [Data(prompt="n?", answer=str(at)) for at in range(1024)]
    fn = reward_func("math")

    async def all_of_them():
        return await asyncio.gather(*(fn(*pair) for pair in zip(data, traces, strict=True)))

    begun = perf_counter()
    through = asyncio.run(all_of_them())
    adapter = perf_counter() - begun
    samples = [
        Sample(id=str(at), messages=(Message(role="assistant", content=text),), reference=str(at))
        for at, text in enumerate(answers)
    ]
    begun = perf_counter()
    alone = [result.score.value for result in score_batch(get("math"), samples)]
    batch = perf_counter() - begun
    assert through == alone == [1.0] * 1024
    measured(
        f"verifiers: 1,024 traces through the adapter {adapter:.2f} s, score_batch {batch:.2f} s"
    )


def traced(text):
    """A finished trace of one turn."""
    task = vf.TraceTask(type="Sum", data=Data(prompt="n?"))
    trace = vf.Trace(task=task, agent=vf.AgentInfo(config=vf.AgentConfig()))
    said = [(vf.UserMessage(content="n?"), False), (vf.AssistantMessage(content=text), True)]
    for at, (message, sampled) in enumerate(said):
        trace.nodes.append(
            MessageNode(message=message, sampled=sampled, parent=at - 1 if at else None)
        )
    return trace
