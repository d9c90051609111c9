"""docs/how-to/one-import-line.md: each diff is of import lines alone, and each example runs."""

import asyncio
import importlib.util
import inspect
import re
from pathlib import Path

import pytest

from reward_functions.local.runtime_double import RuntimeSettings, ScriptedPolicy, serving
from reward_functions.rollouts.report.credentials import generate_token
from tests.rollouts.episode.conftest import JOB

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "docs" / "examples" / "compat"
TEXT = (ROOT / "docs" / "how-to" / "one-import-line.md").read_text()
SECTIONS = re.findall(
    r"\(\.\./examples/compat/(\w+)\.py\).*?```diff\n(.*?)```", TEXT, re.DOTALL | re.MULTILINE
)


def lines(diff, sign):
    return [line[1:] for line in diff.splitlines() if line.startswith(sign)]


def example(name):
    """An example's module."""
    spec = importlib.util.spec_from_file_location(f"compat_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_is_a_diff_for_each_of_the_five():
    assert sorted(name for name, _ in SECTIONS) == sorted(
        path.stem for path in EXAMPLES.glob("*.py")
    )
    assert len(SECTIONS) == 5


@pytest.mark.parametrize(("name", "diff"), SECTIONS, ids=[name for name, _ in SECTIONS])
def test_a_diff_changes_imports_and_the_names_stay(name, diff):
    before, after = lines(diff, "-"), lines(diff, "+")
    code = (EXAMPLES / f"{name}.py").read_text().splitlines()
    assert set(after) <= set(code)
    ours = [line for line in code if "reward_functions" in line]
    assert ours == after, "nothing else is ours"
    imported = [line.rpartition("import ")[2] for line in before]
    assert imported == [line.rpartition("import ")[2] for line in after]


@pytest.fixture
def double(process, account):
    account.setenv("AWS_REGION", "us-west-2")
    account.setenv("POLICY_KEY", generate_token())
    with serving(
        RuntimeSettings(ScriptedPolicy([{"prompt": "", "turns": [{"content": "4"}]}]))
    ) as made:
        account.setenv("RFT_RUNTIME_ENDPOINT", made.endpoint)
        made.register(JOB, "r")
        yield made


METADATA = {"job_arn": JOB, "trajectory_id": "r"}
AGENTS = [
    ("sagemaker_rft", {"prompt": "2 + 2?", "metadata": METADATA}),
    ("aws_rft_sdk", {"instance": {"question": "2 + 2?"}, "metadata": METADATA}),
]


@pytest.mark.parametrize(("name", "payload"), AGENTS, ids=[name for name, _ in AGENTS])
def test_an_agent_is_rewarded_by_its_runtime(double, name, payload):
    result = example(name).solve(payload)
    if inspect.isawaitable(result):
        asyncio.run(result)
    trajectory = double.trajectory(JOB, "r")
    assert (trajectory.state, trajectory.rewards) == ("REWARD_RECEIVED", (1.0,))
    assert len(trajectory.turns) == 1


def test_a_reward_function_is_checked(tmp_path):
    reward = tmp_path / "reward.py"
    reward.write_text(
        "def lambda_handler(event, context):\n"
        "    return [{'id': each['id'], 'aggregate_reward_score': 1.0} for each in event]\n"
    )
    assert example("nova_forge").check(str(reward))["successful_samples"] == 1


def test_an_app_has_an_entry_point():
    module = example("agentcore_rl")
    assert module.reward(response="2 + 2 = 4", answer="4") == 1.0
    assert callable(module.solve)


def test_a_flow_gives_an_episode_that_its_evaluator_scores():
    module = example("rllm_flow")
    task = module.Task(id="t", instruction="2 + 2?", metadata={"answer": "4"})
    config = module.AgentConfig(base_url="http://127.0.0.1:9", model="m", session_uid="s")
    episode = module.solve.run(task, config)
    assert [each.name for each in episode.trajectories] == ["solver"]
    assert module.score.evaluate(task, episode).reward == 1.0
