"""docs/examples/agents, deployed: asked by a forwarder, rewarded in process and by a judge.

A request goes as a trainer sends it: to the forwarder's version, whose function is on the emulator,
and from there to the agent's server. The agent asks the trainer's double for its policy, and
reports to it; or it defers, and the stage's function has the deployed judge `reference` score the
response, with a script as the model. The agent defers with the stage's policy for agents alone.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from reward_functions.core.importing import imported
from reward_functions.jobs.options import granted
from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.report.deferred import Deferred
from reward_functions.rollouts.report.outbox.opening import open_outbox
from reward_functions.rollouts.report.reporter import Reporter, reporting
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.report.transports import open_transport
from reward_functions.rollouts.serve.app import RolloutApp

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "agents"
JOB = "arn:aws:sagemaker:us-east-1:000000000000:job/AgentRFT/examples"
AGENTS = {
    # an example, and what its solver is made with where the reward is deferred
    "langgraph_agent": lambda module: module.RolloutChatOpenAI(),
    "openai_loop": lambda module: module.rollout_client(),
    "strands_tools": lambda module: module.wrap_model(module.OpenAIModel(model_id="default")),
}
WITHIN = 60.0


@pytest.fixture(scope="module")
def results(stage):
    """S3 as the agent reaches it: with the stage's policy for agents, and no other right."""
    iam = stage.session.client("iam")
    iam.create_user(UserName="example")
    iam.attach_user_policy(UserName="example", PolicyArn=stage.shared.agent_runtime_policy_arn)
    key = iam.create_access_key(UserName="example")["AccessKey"]
    names = ("aws_access_key_id", "aws_secret_access_key")
    return stage.aws.session(
        **dict(zip(names, (key["AccessKeyId"], key["SecretAccessKey"]), strict=True))
    ).client("s3")


@pytest.fixture
def asked(stage, trainer, agent, monkeypatch):
    """Have a handler served behind the forwarder, and one rollout of it asked for: its state."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "example",
        "AWS_REGION": "us-east-1",
        "RFT_RUNTIME_ENDPOINT": trainer.endpoint,
    }.items():
        monkeypatch.setenv(name, value)
    client = stage.session.client("lambda")
    forwarder = granted("agent", stage.shared).arn

    def ask(handler, rollout):
        agent.empty()
        trainer.register(JOB, rollout)
        settings = RolloutSettings(outbox="memory:")
        own = Reporter(settings, open_outbox(settings.outbox), transports=open_transport)
        cell = {"prompt": "What is (17 + 5) * 2?", "answer": "44"}
        sent = {
            "prompt": json.dumps(cell),
            "metadata": {"jobArn": JOB, "rolloutId": rollout},
            "inferenceParams": {"temperature": 1.0, "maxTokens": 256},
        }
        with ExitStack() as ending:
            ending.callback(agent.empty)
            ending.enter_context(reporting(own))
            agent.behind = ending.enter_context(RolloutApp(handler, api_key="").serving())
            answer = client.invoke(FunctionName=forwarder, Payload=json.dumps(sent).encode())
            assert json.loads(answer["Payload"].read()) == {}
            return trainer.wait(JOB, rollout, WITHIN)

    return ask


@pytest.mark.parametrize("name", AGENTS)
def test_a_deployed_example_is_rewarded_in_process_and_by_a_deployed_judge(
    name, asked, stage, results, monkeypatch
):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    module = imported(EXAMPLES / f"{name}_rollout.py")
    rewarded = asked(module.solve, f"{name}-math")
    assert (rewarded.state, rewarded.rewards) == ("REWARD_RECEIVED", (1.0,))
    assert [turn.tool_calls for turn in rewarded.turns] == [1, 0]
    deferred = Deferred(
        f"s3://{stage.shared.feedback.results_bucket}/rollouts",
        stage.catalogue["reference"].version_arn,
        client=results,
    )
    solve = rollout_handler(module.solver(AGENTS[name](module)), deferred=deferred)
    judged = asked(solve, f"{name}-judge")
    assert (judged.state, judged.rewards) == ("REWARD_RECEIVED", (1.0,))
