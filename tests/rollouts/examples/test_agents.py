"""docs/examples/agents: each agent before and after, rewarded by `math` and by a judge.

The policy is the runtime double's: one that does sums, or a script. The judge is a script.
"""

import json
from difflib import ndiff
from pathlib import Path

import pytest

from reward_functions.core.importing import imported
from reward_functions.local.scripted_judge import scripted_judge
from reward_functions.rollouts.record.jsonl import TrajectoryFile
from tests.rollouts.examples.conftest import EXAMPLES, records, reward, succeeding

AGENTS = ("langgraph_agent", "openai_loop", "strands_tools")

N = 4


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_becomes_a_rollout_by_an_import_and_its_last_line(agent):
    before, after = (
        (EXAMPLES / f"{name}.py").read_text().splitlines() for name in (agent, f"{agent}_rollout")
    )
    added = [line[2:] for line in ndiff(before, after) if line.startswith("+ ")]
    assert len(added) == 2
    assert added[0].startswith("from reward_functions.rollouts.")
    assert (added[1], after[-1]) == (after[-1], added[1])


@pytest.mark.parametrize("agent", AGENTS)
def test_the_agent_before_solves_with_its_calculator(agent, folder, policy, credentials):
    credentials.setenv("OPENAI_BASE_URL", f"{policy.address}/v1")
    credentials.setenv("OPENAI_API_KEY", "key")
    response = imported(EXAMPLES / f"{agent}.py").solve({"prompt": "What is 6*7?"})
    assert policy.answer_text in str(response)
    (result,) = [each for each in policy.calls[1].body["messages"] if each["role"] == "tool"]
    assert "42" in str(result["content"])


@pytest.mark.parametrize("agent", AGENTS)
def test_the_agent_after_is_rewarded_by_math_and_its_responses_by_a_judge(
    agent, folder, credentials
):
    credentials.setenv("REWARD_ROLLOUTS_TRAJECTORIES", "trajectories.jsonl")
    place = f"{EXAMPLES / agent}_rollout.py:solve"
    reward("run", place, "rows.jsonl", "-n", N, "--wrong", 0.3)
    rewards = {each["rollout"]: each["rewards"] for each in records()}
    assert sorted({each for given in rewards.values() for each in given}) == [0.0, 1.0]
    kept = list(TrajectoryFile(Path("trajectories.jsonl")))
    assert {each.id: list(each.rewards) for each in kept} == rewards
    for trajectory in kept:
        assert [turn.finish_reason for turn in trajectory.turns] == ["tool_calls", "stop"]
        ((call, result),) = trajectory.turns[0].pairs
        assert (call.name, result.status) == ("calculator", "success")
        asked = trajectory.turns[0].messages[-1]["content"]
        expected = {"(17 + 5) * 2": "44", "6 * 7": "42"}
        assert json.loads(call.arguments)["expression"] in str(asked)
        assert result.content == expected[json.loads(call.arguments)["expression"]]
    with scripted_judge() as url:
        judge = {"models": [{"model": "scripted", "backend": "openai", "endpoint": f"{url}/v1"}]}
        judged = ["reference", "rollouts.jsonl", "--judge", json.dumps(judge)]
        succeeding("score", *judged, "-o", "judged.jsonl")
    assert {each["id"]: [each["aggregate_reward_score"]] for each in records("judged.jsonl")} == (
        rewards
    )


SCRIPT = [
    {"prompt": "44?", "turns": [
        {"tool_calls": [
            {"name": "calculator", "arguments": {"expression": "(17 + 5) * 2"}},
            {"name": "write_file", "arguments": {"name": "notes.txt", "text": "it is 44"}},
        ]},
        {"tool_calls": [
            {"name": "read_file", "arguments": {"name": "notes.txt"}},
            {"name": "read_file", "arguments": {"name": "../notes.txt"}},
        ]},
        r"\boxed{44}",
    ]},
    {"prompt": "42?", "turns": [
        {"tool_calls": [{"name": "read_file", "arguments": {"name": "notes.txt"}}]},
        r"\boxed{42}",
    ]},
]  # fmt: skip


def test_an_agent_keeps_files_of_its_own_and_its_judge_rewards_it_live(folder, credentials):
    """Rollouts run at the same time; one row's agent writes what the other's looks for in vain."""
    credentials.setenv("REWARD_ROLLOUTS_TRAJECTORIES", "trajectories.jsonl")
    Path("rows.jsonl").write_text(
        "".join(f'{{"prompt": "{answer}?", "answer": "{answer}"}}\n' for answer in (44, 42))
    )
    Path("script.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in SCRIPT))
    Path("judged.py").write_text(
        "from strands_tools_rollout import OpenAIModel, solver, wrap_model\n"
        'solve = solver(wrap_model(OpenAIModel(model_id="default")))\n'
    )
    with scripted_judge() as url:
        judge = {"models": [{"model": "scripted", "backend": "openai", "endpoint": f"{url}/v1"}]}
        judged = ["--reward", "reference", "--judge", json.dumps(judge)]
        reward("run", "judged.py:solve", "rows.jsonl", "-n", N, "--policy", "script.jsonl", *judged)
    assert [each["reward"] for each in records()] == [1.0] * 2 * N
    assert {each["setup"]["scorer"]["name"] for each in records()} == {"reference"}
    results = [
        [result.content for turn in trajectory.turns for _, result in turn.pairs]
        for trajectory in TrajectoryFile(Path("trajectories.jsonl"))
    ]
    wrote = [each for each in results if len(each) > 1]
    assert len(wrote) == N
    for value, written, read, escaped in wrote:
        assert (value, written, read) == ("44", "notes.txt is written", "it is 44")
        assert "no folder" in escaped
    found = [each for each in results if len(each) == 1]
    assert len(found) == N
    assert all("there is no file of that name" in content for (content,) in found)


@pytest.fixture(scope="module")
def tools():
    return imported(EXAMPLES / "agent_tools.py")


ESCAPES = [
    *("../secret", "/etc/passwd", "..", ".", "", "a/b", "a\\b", ".hidden", "a\0b", "a\n", "~root"),
    *("C:secret", "\uff0e\uff0e\uff0fsecret", "n" * 101, " secret"),
]


@pytest.mark.parametrize("name", ESCAPES)
def test_no_name_leads_out_of_a_folder(tools, tmp_path, name):
    (tmp_path / "secret").write_text("secret")
    own = tmp_path / "own"
    own.mkdir()
    folder = tools.Folder(own)
    with pytest.raises(ValueError, match="no folder"):
        folder.read_file(name)
    with pytest.raises(ValueError, match="no folder"):
        folder.write_file(name, "x")
    assert not list(own.iterdir())


def test_a_folder_has_a_limit_whatever_it_holds(tools, tmp_path):
    folder = tools.Folder(tmp_path)
    folder.write_file("a", "é" * 25_000)
    folder.write_file("b", "x" * 50_000)
    with pytest.raises(ValueError, match="100000 bytes"):
        folder.write_file("c", "x")
    folder.write_file("a", "")
    assert folder.write_file("c", "é") == "c is written"
    assert (folder.read_file("a"), folder.read_file("c")) == ("", "é")


@pytest.mark.parametrize(
    ("expression", "value"),
    [("(3 + 4) * 6", "42"), ("-2 * -3.5", "7.0"), ("7 // 2 + 7 % 2", "4"), (" 1 / 4 ", "0.25")],
)
def test_the_calculator_computes(tools, expression, value):
    assert tools.calculator(expression) == value


HOSTILE = "9**9**9 | __import__('os') | ().__class__ | 'a' * 9 | 1 if 1 else 2 | x | 1; 2"


@pytest.mark.parametrize("expression", ["", "1" * 201, *HOSTILE.split(" | ")])
def test_the_calculator_refuses_all_else(tools, expression):
    with pytest.raises((ValueError, SyntaxError)):
        tools.calculator(expression)
