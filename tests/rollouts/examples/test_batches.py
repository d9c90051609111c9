"""docs/examples/agents: batches are evaluated, sync and async, before a double of AgentCore."""

import asyncio
import json
from pathlib import Path

import pytest

from reward_functions.core.importing import imported
from reward_functions.rollouts.report.deferred import s3_client
from tests.local.agentcore_double import AppAgent
from tests.local.agentcore_double import serving as double_of
from tests.rollouts.examples.conftest import EXAMPLES
from tests.rollouts.serve.agentcore.hosts import LIMIT, serving

ROWS = [
    # a row, what the policy's "The answer is 42." earns with it
    ({"prompt": "What is 6*7?", "answer": "42"}, 1.0),
    ({"prompt": "What is 6*8?", "answer": "48"}, 0.0),
    ({"prompt": "What is 7*6?"}, None),
    ({"prompt": "What is 2*21?", "answer": "42"}, 1.0),
]


@pytest.fixture
def deployed(folder, policy, credentials):
    """The example's app behind the double, and the environment that its client reads."""
    credentials.setenv("REWARD_ROLLOUTS_RESULT_BUCKETS", "results")
    app = imported(EXAMPLES / "agentcore_app.py").app
    Path("rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row, _ in ROWS))
    with serving(app) as url, double_of(AppAgent(url)) as double:
        for name, value in {
            "AWS_ENDPOINT_URL": double.endpoint,
            "AWS_REGION": "us-west-2",
            "AGENT_ARN": "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/agent-abc",
            "RESULTS_BUCKET": "results",
            "POLICY_URL": f"{policy.address}/v1",
            "REWARD_ROLLOUTS_SESSIONS": str(folder / "sessions"),
        }.items():
            credentials.setenv(name, value)
        s3_client.cache_clear()  # of another test, for its double
        yield double
        s3_client().close()
        s3_client.cache_clear()


def test_a_batch_is_evaluated_and_its_sessions_are_stopped(deployed):
    check(imported(EXAMPLES / "evaluate.py").evaluate("rows.jsonl", LIMIT), deployed)


def test_on_an_event_loop_it_comes_to_the_same(deployed):
    check(
        asyncio.run(imported(EXAMPLES / "evaluate_async.py").evaluate("rows.jsonl", LIMIT)),
        deployed,
    )


def check(found, double):
    assert found.rewards == {
        at: earned for at, (_, earned) in enumerate(ROWS) if earned is not None
    }
    assert found.failures == {"agent": 1}
    assert found.mean.value == pytest.approx(2 / 3)
    assert "KeyError" in found.errors[2]
    assert not double.sessions.running
    assert len(double.bucket.keys()) == len(ROWS)
