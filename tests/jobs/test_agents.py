"""What an agent of a multi-turn job is, and what is refused before anything is asked."""

import pytest
from botocore.exceptions import ClientError

from reward_functions.aws.catalogue import DeployedStage, JobRights
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs import preflight
from reward_functions.jobs.configuration import BadJob, JobConfiguration
from reward_functions.jobs.options import agent_of, granted, with_agent
from reward_functions.jobs.preflight import LEAST_SECONDS

FUNCTION = "arn:aws:lambda:us-east-1:123456789012:function:SageMaker-agent"
RUNTIME = "arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/maths-0123456789"
ROLE = "arn:aws:iam::123456789012:role/service-role/agents"


def stage(*agents, role=ROLE):
    policies = {f"{each}_policy_arn": "" for each in ("data", "jobs", "evaluate", "operate")}
    return DeployedStage(
        stage="dev",
        region="us-east-1",
        keep_versions=1,
        bucket="bucket",
        training_role_arn=ROLE,
        **policies,
        agent_role_arn=role,
        job_events_topic_arn="",
        dashboard="",
        job_rights=JobRights(agents=agents),
    )


# Sources: botocore's models of Lambda and bedrock-agentcore-control.
AGENTS = {
    FUNCTION: ("lambda", FUNCTION, "", True),
    f"{FUNCTION}:7": ("lambda", FUNCTION, "7", False),
    f"{FUNCTION}:live": ("lambda", FUNCTION, "live", True),
    f"{FUNCTION}:$LATEST": ("lambda", FUNCTION, "$LATEST", True),
    f"{FUNCTION}.v2:3": ("lambda", f"{FUNCTION}.v2", "3", False),
    RUNTIME: ("agentcore", RUNTIME, "", False),
    f"{RUNTIME}/runtime-endpoint/blue": ("agentcore", RUNTIME, "blue", False),
}


@pytest.mark.parametrize("arn", AGENTS)
def test_an_agent_is_read(arn):
    found = agent_of(arn)
    assert (found.kind, found.name, found.qualifier, found.moves) == AGENTS[arn]


def test_an_agent_stands_in_the_document_by_its_kind():
    function = {"CustomAgentLambdaConfig": {"LambdaArn": f"{FUNCTION}:7"}}
    assert agent_of(f"{FUNCTION}:7").config() == function
    for arn, qualifier in ((RUNTIME, "DEFAULT"), (f"{RUNTIME}/runtime-endpoint/blue", "blue")):
        named = {"AgentRuntimeArn": RUNTIME, "Qualifier": qualifier}
        assert agent_of(arn).config() == {"BedrockAgentCoreConfig": named}


REFUSED = {
    "": "name the ARN of its forwarder",
    "SageMaker-agent": "is neither the ARN",
    "arn:aws:s3:::bucket": "is neither the ARN",
    f"{RUNTIME}/runtime-endpoint/": "is neither the ARN",
    f"{RUNTIME}x": "is neither the ARN",
    f"{FUNCTION}:": "is neither the ARN",
    f"{FUNCTION}\n": "is neither the ARN",
    "a" * 100_000: "is neither the ARN",
    FUNCTION.replace("us-east-1", "eu-west-1"): "is in eu-west-1, and the job runs in us-east-1",
    FUNCTION.replace("123456789012", "210987654321"): "agents of other accounts are not documented",
    FUNCTION.replace("agent", "other"): "set job_rights.agents in cdk.json",
}


@pytest.mark.parametrize("arn", REFUSED, ids=lambda arn: arn[:60])
def test_an_agent_that_a_job_cannot_ask_is_refused_in_a_sentence(arn):
    with pytest.raises(BadJob, match=REFUSED[arn]) as refused:
        granted(arn, stage(FUNCTION, RUNTIME))
    assert len(str(refused.value)) < 1_000


def test_a_right_to_a_function_is_one_to_its_versions():
    assert granted(f"{FUNCTION}:7", stage(FUNCTION)).qualifier == "7"
    assert granted(f"{FUNCTION}:7", stage(f"{FUNCTION}:7")).qualifier == "7"
    with pytest.raises(BadJob, match="grants its jobs no right"):
        granted(FUNCTION, stage(f"{FUNCTION}:7"))
    with pytest.raises(BadJob, match="grants its jobs no right"):
        granted(FUNCTION, stage(FUNCTION, role=None))


OWN = "arn:aws:lambda:us-east-1:123456789012:function:SageMaker-rollouts-dev-agent"
DEPLOYED = {"forwarders": {"agent": f"{OWN}:3"}, "agent_runtimes": ("reward_dev__solver",)}
RUNS = "arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/reward_dev__"


def test_what_a_stage_deployed_its_jobs_may_ask():
    deployed = stage().model_copy(update=DEPLOYED)
    assert granted("agent", deployed).arn == f"{OWN}:3"
    assert not granted("agent", deployed).moves
    assert granted(f"{OWN}:2", deployed).qualifier == "2"  # which an earlier deployment published
    assert granted(f"{RUNS}solver-0123456789", deployed).kind == "agentcore"
    for other in (f"{RUNS}solver2-0123456789", f"{OWN}2:3", FUNCTION):
        with pytest.raises(BadJob, match=r"no right to .*or name one of its forwarders: agent"):
            granted(other, deployed)
    with pytest.raises(
        BadJob, match=r"'nobody' is neither the ARN .* nor a forwarder of the stage"
    ):
        granted("nobody", deployed)


def test_a_job_that_names_a_forwarder_is_started_with_its_version():
    asked = JobConfiguration(model="m", agent="agent", data="train.jsonl")
    deployed = stage().model_copy(update=DEPLOYED)
    assert with_agent(asked, deployed).agent == f"{OWN}:3"
    assert with_agent(asked, stage()) is asked
    named = asked.model_copy(update={"agent": None})
    assert with_agent(named, deployed) is named


class Lambda:
    """Lambda's answer about a function."""

    def __init__(self, answered):
        self.answered, self.asked = answered, []

    def get_function_configuration(self, **asked):
        """What is known of a function; a code refuses."""
        self.asked.append(asked)
        if isinstance(self.answered, str):
            raise ClientError({"Error": {"Code": self.answered}}, "GetFunctionConfiguration")
        return self.answered


FORWARDERS = [
    ({"State": "Active", "Timeout": LEAST_SECONDS}, "ok", "is there"),
    ({"State": "Inactive", "Timeout": 900}, "ok", "is there"),
    ({"Timeout": LEAST_SECONDS}, "ok", "is there"),
    ({"State": "Active"}, "ok", "is there"),
    ({"State": "Active", "Timeout": LEAST_SECONDS - 1}, "warning", "is ended after 29 s"),
    ({"State": "Failed", "Timeout": 900}, "failure", "is Failed: deploy it again"),
    ({"State": "Pending", "Timeout": 3}, "failure", "is Pending: deploy it again"),
    ("ResourceNotFoundException", "failure", "deploy the forwarder"),
    ("AccessDeniedException", "unknown", "lambda:GetFunctionConfiguration is not allowed"),
]


@pytest.mark.parametrize(("answered", "verdict", "message"), FORWARDERS)
def test_a_forwarder_is_looked_for_before_a_job(monkeypatch, answered, verdict, message):
    service = Lambda(answered)
    monkeypatch.setattr(preflight.calls, "client", lambda *_: service)
    (found,) = preflight.there(agent_of(f"{FUNCTION}:7"))
    assert (found.question, found.verdict) == ("agent", verdict)
    assert message in found.message
    assert service.asked == [{"FunctionName": f"{FUNCTION}:7"}]


def test_lambda_that_fails_is_no_forwarder_that_is_missing(monkeypatch):
    monkeypatch.setattr(preflight.calls, "client", lambda *_: Lambda("ServiceException"))
    with pytest.raises(AwsFailed, match=f"reading the settings of {FUNCTION}"):
        list(preflight.there(agent_of(FUNCTION)))


def test_nobody_asks_lambda_for_a_runtime(monkeypatch):
    monkeypatch.delattr(preflight.calls, "client")
    assert list(preflight.there(agent_of(RUNTIME))) == []
