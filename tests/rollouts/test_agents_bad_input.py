"""Bad input of agents, over the real stack: typed, reported once, in the trajectory, nothing lost.

The list is that of issue 19. What each room refuses by itself is in its own tests; the page
docs/agents/bad-input.md has all of it.
"""

import asyncio
import json
import signal
import sys
from contextlib import nullcontext
from pathlib import Path

import boto3
import httpx
import openai
import pytest

from reward_functions.rollouts import RolloutFeedbackClient, rollout_handler
from reward_functions.rollouts.httpx import rollout_http_client
from reward_functions.rollouts.policy.boto3_events import wrap_boto3
from reward_functions.rollouts.record.jsonl import TrajectoryFile
from reward_functions.rollouts.record.sink import TrajectorySink
from reward_functions.rollouts.record.types import Trajectory
from tests.commands import PIPE, Command
from tests.loopback import served
from tests.rollouts.acting_policy import ActingPolicy
from tests.rollouts.collect.conftest import collecting, ledgers
from tests.rollouts.crossing import TOOLS
from tests.rollouts.episode.conftest import LIMIT, account, new, posts, process
from tests.rollouts.serve.agentcore.conftest import _s3, host, s3
from tests.rollouts.serve.agentcore.hosts import BUCKET, ask, rl_app, serving
from tests.waiting import until

__all__ = ["_s3", "account", "collecting", "host", "ledgers", "new", "posts", "process", "s3"]

ROOT = Path(__file__).parents[2]
READY, FAILED = {"Status": "ready"}, {"Status": "failed"}
PAID = [READY, {"Rewards": [1.0]}]


@pytest.fixture
def kept(tmp_path):
    """The trajectories that a handler of this test keeps, and their file."""
    path = tmp_path / "kept.jsonl"
    return lambda: list(TrajectoryFile(path)), path


@pytest.fixture
def acting(account):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        account.delenv(name, raising=False)
    service = ActingPolicy()
    with served(service):
        yield service


def bodies(posts, payload, number=2):
    return [body for _, body in posts.of(payload, number)]


# Tool arguments that are no JSON. A user's own loop tells the policy what is wrong with them.


def refusals(message):
    """What a loop of a user's answers to calls that it cannot read."""
    calls = message["tool_calls"]
    return [{"role": "tool", "tool_call_id": each["id"], "content": "no JSON"} for each in calls]


def loop(ask):
    """An agent that asks, refuses the calls of the answer, and asks again."""
    messages = [{"role": "user", "content": "solve 1"}]
    first = ask({"model": "default", "messages": messages, "tools": TOOLS})
    messages = [*messages, first, *refusals(first)]
    return ask({"model": "default", "messages": messages, "tools": TOOLS})["content"]


def by_openai(policy):
    from reward_functions.rollouts.openai import wrap_client

    with openai.OpenAI(base_url=f"{policy.address}/v1", api_key="key") as own:
        client = wrap_client(own)
        return loop(
            lambda body: (
                client.chat.completions.create(**body)
                .choices[0]
                .message.model_dump(exclude_none=True)
            )
        )


def by_httpx(policy):
    with rollout_http_client() as client:

        def ask(body):
            answer = client.post(f"{policy.address}/v1/chat/completions", json=body)
            return answer.json()["choices"][0]["message"]

        return loop(ask)


def by_boto3(policy):
    client = wrap_boto3(
        boto3.client("sagemakerjobruntime", endpoint_url=policy.address, region_name="us-west-2")
    )

    def ask(body):
        answer = client.sample(JobArn="j", TrajectoryId="t", Body=json.dumps(body))
        return json.loads(answer["Body"].read())["choices"][0]["message"]

    return loop(ask)


def by_strands(policy):
    from strands.models.openai import OpenAIModel

    from reward_functions.rollouts.strands import wrap_model
    from tests.rollouts.policy.strands.conftest import agent

    own = OpenAIModel(
        client_args={"base_url": f"{policy.address}/v1", "api_key": "key"}, model_id="default"
    )
    return str(agent(wrap_model(own))("solve 1"))


def by_langgraph(policy):
    from reward_functions.rollouts.langchain import wrap_chat_model
    from tests.rollouts.policy.langchain.conftest import asked, graph, model_of

    ended = graph(wrap_chat_model(model_of(policy))).invoke(asked(1))
    return ended["messages"][-1].content


def by_agents_sdk(policy):
    from agents import Agent, RunConfig, Runner, function_tool

    from reward_functions.rollouts.agents import rollout_model

    @function_tool
    def calculator(expression: str) -> str:
        """Compute."""
        return "42"

    async def run():
        base = f"{policy.address}/v1"
        async with openai.AsyncOpenAI(base_url=base, api_key="key") as client:
            solver = Agent(name="solver", model=rollout_model(client=client), tools=[calculator])
            config = RunConfig(tracing_disabled=True)
            return (await Runner.run(solver, "solve 1", run_config=config)).final_output

    return asyncio.run(run())


FRAMEWORKS = [by_openai, by_httpx, by_boto3, by_strands, by_langgraph, by_agents_sdk]
REFUSED = {by_langgraph: ("[1]", '"a"')}
"""What a framework raises over, as its message holds no such arguments."""

ARGUMENTS = ['{"expression": ', "6*7", "[1]", '"a"', "null", '{"expression": NaN']


@pytest.mark.parametrize("arguments", ARGUMENTS)
@pytest.mark.parametrize("agent", FRAMEWORKS)
def test_arguments_that_are_no_json_object_are_kept_as_written(
    acting, posts, process, new, kept, agent, arguments
):
    acting.arguments = arguments
    read, path = kept
    payload, ended = new(), []

    @rollout_handler(reporter=process, trajectories=path)
    def handled(_):
        ended.append(agent(acting).strip())
        return 1.0

    refused = arguments in REFUSED.get(agent, ())
    with pytest.raises(ValueError, match="AIMessage") if refused else nullcontext():
        handled(payload)
    assert bodies(posts, payload) == ([FAILED, {"Rewards": [0.0]}] if refused else PAID)
    # LangGraph ends where no call can be run, and its answer is empty.
    assert ended in ([[]] if refused else [["The answer is 42."], [""]])
    (one,) = read()
    (call,) = one.turns[0].tool_calls
    assert (call.arguments, call.is_json, call.recovered) == (arguments, False, False)
    assert (one.status, one.rewards) == (("failed", None) if refused else ("ready", (1.0,)))


# An agent that raises after its reward was reported, or after its result was stored.


class Late(RuntimeError):
    """After the report."""


def raising():
    raise Late


ENDS = {
    "raises": raising,
    "exits": lambda: sys.exit(1),
    "is interrupted": lambda: (_ for _ in ()).throw(KeyboardInterrupt),
    "returns another reward": lambda: 0.25,
    "says that it failed": lambda: {"status": "error"},
    "returns no reward": lambda: float("nan"),
}


RAISED = {"raises": Late, "exits": SystemExit, "is interrupted": KeyboardInterrupt}


@pytest.mark.parametrize("name", ENDS)
def test_what_was_reported_counts_whatever_the_agent_does_then(
    posts, process, new, kept, name, caplog
):
    read, path = kept
    payload = new()
    caplog.set_level("INFO", "reward_functions")

    @rollout_handler(reporter=process, trajectories=path)
    def agent(payload):
        client = RolloutFeedbackClient(payload["metadata"], transport="bearer", reporter=process)
        client.report_complete(1.0)
        return ENDS[name]()

    raised = RAISED.get(name)
    with pytest.raises(raised) if raised else nullcontext():
        agent(payload)
    assert bodies(posts, payload) == PAID
    assert [(each.status, each.rewards) for each in read()] == [("conflict", None)]
    assert "has another report, which counts" in caplog.text
    assert "is reported as failed" not in caplog.text


@pytest.mark.parametrize("name", ["raises", "exits", "says that it failed"])
def test_what_was_stored_counts_whatever_the_agent_does_then(host, s3, name):
    app = rl_app(host, s3_client=s3.client)
    config = {"exp_id": "e", "input_id": "i", "s3_bucket": BUCKET}
    key = "e/i/session-0123456789-0123456789-0123456789.json"

    @app.rollout_entrypoint
    def agent(payload):
        app.save_result({"rewards": 1.0}, config, key, payload)
        return ENDS[name]()

    with serving(app) as url:
        answer = ask(url, {"prompt": "p", "_rollout": config})[1]
        until(lambda: app.counts)
        found = s3.stored(answer)
    assert (found["rewards"], found["status_code"]) == (1.0, 200)
    assert app.counts == {"conflict": 1}


def test_a_result_that_is_written_again_behind_a_batch_changes_nothing(collecting):
    def agent(payload):
        return {"rewards": 1.0}

    with collecting(agent) as (client, double):
        future = client.invoke({"n": 1}, input_id="row")
        first = future.result(timeout=LIMIT)
        (key,) = double.bucket.keys()
        double.bucket.put(*key.split("/", 1), b'{"status_code": 500, "stop_reason": "late"}')
        assert future.result(timeout=LIMIT) == first
        (item,) = client.run_batch([{"n": 2}], max_concurrent_sessions=1, timeout=LIMIT)
        assert (item.success, item.result["rewards"]) == (True, 1.0)
        assert not double.sessions.running


# Half a trajectory: the file is cut, or its writer is killed.

WRITER = """
import sys
from reward_functions.rollouts.record.sink import TrajectorySink
from reward_functions.rollouts.record.types import Trajectory
from tests.waiting import until
sink = TrajectorySink(sys.argv[1])
for number in range(1_000_000):
    assert sink.keep(Trajectory(id=f"{sys.argv[2]}-{number}", metadata={"text": "x" * 2_000_000}))
    print(number, flush=True)
"""


def test_what_a_killed_process_kept_is_there_and_half_a_line_is_no_trajectory(tmp_path):
    path, kept = tmp_path / "t.jsonl", []
    for name in ("a", "b"):
        with Command([path, name], program=WRITER, cwd=ROOT, stdout=PIPE) as child:
            kept += [f"{name}-{child.stdout.readline().strip()}" for _ in range(3)]
            child.send_signal(signal.SIGKILL)
            kept += [f"{name}-{line.strip()}" for line in child.stdout]
    assert TrajectorySink(path).keep(Trajectory(id="after"))
    lines = TrajectoryFile(path)
    found = [each.id for each in lines]
    assert lines.torn == 0
    assert found[-1] == "after"
    assert set(kept) <= set(found)
    assert len(found) == len(set(found))


def test_a_file_that_is_cut_anywhere_has_the_lines_before_the_cut(tmp_path):
    path = tmp_path / "t.jsonl"
    sink = TrajectorySink(path)
    assert all(sink.keep(Trajectory(id=f"{at}", metadata={"t": "é\n"})) for at in range(3))
    whole = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 10]
    for cut in range(0, len(whole), 7):
        path.write_bytes(whole[:cut])
        lines = TrajectoryFile(path)
        assert len(list(lines)) == sum(end <= cut for end in ends)
        assert lines.torn == cut - max((end for end in ends if end <= cut), default=0)


def test_an_answer_whose_connection_breaks_is_a_turn_without_an_answer(
    acting, posts, process, new, kept
):
    """And a failure of ours: nobody knows what the policy would have said."""
    read, path = kept
    payload = new()
    broken = httpx.MockTransport(lambda _: httpx.Response(200, stream=Cut()))
    from reward_functions.rollouts.httpx import RolloutTransport

    @rollout_handler(reporter=process, trajectories=path)
    def agent(_):
        with httpx.Client(transport=RolloutTransport(broken)) as client:
            client.post(
                "https://p.example/v1/chat/completions",
                json={"model": "m", "messages": [{"role": "user", "content": "x"}]},
            )

    with pytest.raises(httpx.ReadError):
        agent(payload)
    assert bodies(posts, payload) == [FAILED, {"Rewards": [0.0]}]
    (one,) = read()
    assert (one.status, one.rewards, one.kept) == ("failed", None, ())
    assert [turn.error for turn in one.turns] == ["ReadError"]


class Cut(httpx.SyncByteStream):
    """The beginning of an answer."""

    def __iter__(self):
        yield b'{"choices": [{"message": {"role": "assistant", "con'
        raise httpx.ReadError("gone")
