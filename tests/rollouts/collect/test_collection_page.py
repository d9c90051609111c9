"""docs/how-to/collect-rollouts.md: its programs run, with a double where AgentCore and S3 are."""

from pathlib import Path

from tests import generated
from tests.local.agentcore_double import FunctionAgent, serving

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "collect-rollouts.md"


def agent(payload):
    if payload["answer"] == 21:
        raise RuntimeError("the calculator is gone")
    return {"rewards": float(payload["answer"] % 2)}


def test_its_programs_run(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x" * 40)
    with serving(FunctionAgent(agent)) as double:
        monkeypatch.setenv("AWS_ENDPOINT_URL", double.endpoint)
        names = {}
        for block in generated.python_blocks(PAGE):
            exec(compile(block, str(PAGE), "exec"), names)

    evaluation = names["evaluation"]
    assert evaluation.failures == {"agent": 1}
    assert evaluation.errors[3] == (
        "the agent failed with status 500: RuntimeError: the calculator is gone"
    )
    assert evaluation.mean.low <= evaluation.mean.value <= evaluation.mean.high
    assert not double.sessions.running
