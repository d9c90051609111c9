"""The example of the documentation, before and after it becomes a rollout."""

import importlib.util
from difflib import ndiff
from pathlib import Path

import pytest

from reward_functions.local.runtime_double import CalculatorPolicy, RuntimeSettings, serving
from reward_functions.rollouts.report.outbox.opening import open_outbox
from reward_functions.rollouts.report.reporter import Reporter, reporting
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.report.transports import open_transport
from tests.rollouts.policy.strands.conftest import JOB, metadata

EXAMPLES = Path(__file__).parents[4] / "docs" / "examples"
BEFORE, AFTER = (EXAMPLES / f"{name}.py" for name in ("strands_math", "strands_math_rollout"))


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_agent_becomes_a_rollout_by_two_lines():
    lines = list(ndiff(BEFORE.read_text().splitlines(), AFTER.read_text().splitlines()))
    added = [line for line in lines if line.startswith("+ ")]
    removed = [line for line in lines if line.startswith("- ")]
    assert (len(added), len(removed)) == (2, 1), "one line is added, one changed"


def test_the_agent_before_solves_with_its_calculator(policy, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", f"{policy.address}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    assert loaded(BEFORE).solve({"prompt": "What is 6*7?"}).strip() == policy.answer_text
    [result] = [each for each in policy.calls[1].body["messages"] if each["role"] == "tool"]
    assert "42" in str(result["content"])


@pytest.mark.parametrize(("wrong", "reward"), [(0.0, 1.0), (1.0, 0.0)], ids=["right", "wrong"])
def test_the_agent_after_is_rewarded_by_math(monkeypatch, wrong, reward):
    settings = RolloutSettings(outbox="memory:")
    own = Reporter(settings, open_outbox(settings.outbox), transports=open_transport)
    with serving(RuntimeSettings(CalculatorPolicy(wrong=wrong))) as double, reporting(own):
        monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", double.endpoint)
        double.register(JOB, "rollout-0")
        loaded(AFTER).solve(
            {
                "prompt": "What is (17 + 5) * 2?",
                "instance": {"answer": "44"},
                "metadata": metadata(),
                "inferenceParams": {"temperature": 1.0},
            }
        )
        trajectory = double.wait(JOB, "rollout-0", timeout=60)
        own.close()
    assert (trajectory.state, trajectory.rewards) == ("REWARD_RECEIVED", (reward,))
    assert len(trajectory.turns) == 2, "the tool, and the answer"


@pytest.fixture(scope="module")
def calculator():
    return loaded(BEFORE).calculator


@pytest.mark.parametrize(
    ("expression", "value"),
    [("(3 + 4) * 6", "42"), ("-2 * -3.5", "7.0"), ("7 // 2 + 7 % 2", "4"), (" 1 / 4 ", "0.25")],
)
def test_the_calculator_computes(calculator, expression, value):
    assert calculator(expression) == value


HOSTILE = "9**9**9 | __import__('os') | ().__class__ | 'a' * 9 | 1 if 1 else 2 | x | 1; 2"


@pytest.mark.parametrize("expression", ["", "1" * 201, *HOSTILE.split(" | ")])
def test_the_calculator_refuses_all_else(calculator, expression):
    with pytest.raises((ValueError, SyntaxError)):
        calculator(expression)
