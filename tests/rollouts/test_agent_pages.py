"""docs/agents: the agents of the pages run as rollouts, against a runtime double."""

from pathlib import Path

import pytest

from reward_functions.local.runtime_double import CalculatorPolicy, RuntimeSettings, serving
from reward_functions.rollouts.report.outbox.opening import open_outbox
from reward_functions.rollouts.report.reporter import Reporter, reporting
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.report.transports import open_transport
from tests import generated

PAGES = Path(__file__).parents[2] / "docs" / "agents"
JOB = "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/j"
AGENTS = {"strands": ["solve"], "langchain": ["solve", "pooled"]}


@pytest.mark.parametrize("page", AGENTS)
def test_the_agents_of_a_page_are_rewarded(page, credentials, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    names = {}
    for block in generated.python_blocks(PAGES / f"{page}.md"):
        if "adapt_agent" in block:
            monkeypatch.setenv("OPENAI_API_KEY", "key")
        exec(compile(block, page, "exec"), names)
    settings = RolloutSettings(outbox="memory:")
    own = Reporter(settings, open_outbox(settings.outbox), transports=open_transport)
    with serving(RuntimeSettings(CalculatorPolicy())) as double, reporting(own):
        credentials.setenv("RFT_RUNTIME_ENDPOINT", double.endpoint)
        for agent in AGENTS[page]:
            double.register(JOB, agent)
            names[agent](
                {
                    "prompt": "What is 6 * 7?",
                    "instance": {"answer": "42"},
                    "metadata": {"jobArn": JOB, "rolloutId": agent},
                }
            )
            assert double.wait(JOB, agent, timeout=60).rewards == (1.0,)
        own.close()
