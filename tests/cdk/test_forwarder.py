"""Forwarders of a stage: what stands in `cdk.json`, what is deployed, and what each may do."""

from __future__ import annotations

from pathlib import Path

import pytest

from reward_functions.cdk.limits.quotas import check_stage
from reward_functions.cdk.model.rollouts import MODULE
from reward_functions.cdk.model.stages import BadStage, stage_of
from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.serve.forwarder import ForwarderSettings, address_of
from tests.cdk.agent_stage import ACCOUNT, AGENTS, KEY, NETWORK, SECRET
from tests.cdk.test_stack import flat

HERE = Path(__file__).parent

FUNCTION = f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:SageMaker-rollouts-agents-"


def stage(*forwarders, **given):
    return stage_of(
        {
            "dev": {"region": "us-east-1", "deployments": ["gsm8k"], "forwarders": forwarders}
            | given
        },
        "dev",
        HERE,
    )


URL = "https://agent.example.com"
QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/requests"

REFUSED = [
    ({}, r"forwarders\.0: agent needs one of 'endpoint' and 'queue'"),
    ({"endpoint": URL, "queue": True}, "needs one of 'endpoint' and 'queue'"),
    ({"queue": False}, "queue"),
    ({"queue": "requests"}, "write true, or a URL such as https://sqs"),
    ({"queue": QUEUE.replace("amazonaws", "example")}, "write true, or a URL"),
    ({"queue": f"{QUEUE}?x=1"}, "write true, or a URL"),
    ({"queue": QUEUE.replace(".com/", ".com.cn/")}, "write true, or a URL"),
    ({"queue": QUEUE.replace("us-east-1", "cn-north-1")}, "write true, or a URL"),
    (
        {"queue": QUEUE.replace("us-east-1", "eu-west-1")},
        "its queue is in eu-west-1, and the stage",
    ),
    ({"queue": True, "secret": SECRET}, "a queue takes no API key: leave 'secret' out"),
    ({"endpoint": "agent.example.com"}, "write a URL such as https://agent.example.com"),
    ({"endpoint": "https://"}, "write a URL"),
    ({"endpoint": "https://a@b.example.com"}, "write a URL"),
    ({"endpoint": "https://b.example.com/#x"}, "write a URL"),
    ({"endpoint": "https://b.example.com:port"}, "write a URL"),
    ({"endpoint": "https://b\\.example.com"}, "write a URL"),
    ({"endpoint": "http://b.example.com"}, "write a URL"),
    ({"endpoint": "ftp://b.example.com"}, "write a URL"),
    ({"endpoint": "http://127.0.0.1:8080"}, "its endpoint is not https"),
    (
        {"endpoint": "https://localhost:8080"},
        "this machine, which a function of AWS does not reach",
    ),
    ({"endpoint": URL, "secret": "the-key"}, "write the ARN of a secret"),
    ({"endpoint": URL, "secret": f"{SECRET}*"}, "write the ARN of a secret"),
    *(
        (
            {"endpoint": URL, "secret": arn},
            rf"forwarders\.0\.secret: {arn} lacks the six characters .* describe-secret",
        )
        for arn in (SECRET[:-1], SECRET[:-7], f"{SECRET}-v2", SECRET.replace("-a", "_a"))
    ),
    (
        {"endpoint": URL, "secret": SECRET.replace("us-east-1", "us-west-2")},
        "its secret is in us-w",
    ),
    (
        {"endpoint": URL, "secret": SECRET.replace("arn:aws:", "arn:aws-cn:")},
        "its secret is in us-east-1 of the partition aws-cn, and the stage in us-east-1",
    ),
    ({"queue": True, "key": KEY.replace("us-east-1", "eu-west-1")}, "its key is in eu-west-1"),
    (
        {"endpoint": URL, "secret": SECRET, "key": KEY.replace("arn:aws:", "arn:aws-us-gov:")},
        "its key is in us-east-1 of the partition aws-us-gov",
    ),
    ({"endpoint": URL, "key": KEY}, "'key' encrypts a secret or a queue, and it has neither"),
    ({"endpoint": URL, "secret": SECRET, "key": "alias/mine"}, "write a key's ARN"),
    ({"endpoint": URL, "vpc": {"subnets": []}}, "vpc"),
    ({"endpoint": URL, "vpc": NETWORK | {"subnets": []}}, r"vpc\.subnets"),
    ({"endpoint": URL, "timeout_seconds": 901}, "timeout_seconds"),
    ({"endpoint": URL, "memory_mb": 64}, "memory_mb"),
    ({"endpoint": URL, "url": URL}, r"forwarders\.0\.url is not a setting"),
    ({"endpoint": URL, "api_key": "k"}, "api_key is not a setting"),
    ({"endpoint": URL, "name": "Agent"}, "name"),
    ({"endpoint": URL, "name": "a" * 21}, "name"),
    ({"endpoint": URL, "name": "feedback"}, "the name is taken by what stands beside it"),
    ({"endpoint": URL, "name": "a-dead-letters"}, "the name is taken"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED, ids=str)
def test_what_cannot_be_a_forwarder_is_one_sentence(given, message):
    with pytest.raises(BadStage, match=message) as refused:
        stage({"name": "agent"} | given)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "endpoint", ["https://me:hunter2@b.example.com", "https://hunter2@b.example.com:port/#x"]
)
def test_no_complaint_quotes_a_password(endpoint):
    with pytest.raises(BadStage, match="write a URL") as refused:
        stage({"name": "agent", "endpoint": endpoint})
    assert "hunter2" not in str(refused.value)


def test_an_endpoint_fits_into_an_environment():
    with pytest.raises(BadStage, match="at most 2048 characters") as refused:
        stage({"name": "agent", "endpoint": f"{URL}/{'x' * 2048}"})
    assert len(str(refused.value)) < 200


def test_china_has_queues_of_its_own():
    url = "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/requests"
    made = stage({"name": "agent", "queue": url}, region="cn-north-1")
    assert made.forwarders[0].queue == url


def test_two_forwarders_have_two_names():
    with pytest.raises(BadStage, match="two forwarders have this name"):
        stage({"name": "a-b", "endpoint": URL}, {"name": "a_b", "endpoint": URL})


def test_a_stage_asks_ten_agents_in_all():
    given = [{"name": f"a{number}", "endpoint": URL} for number in range(10)]
    check_stage(stage(*given))
    named = {"agents": ["arn:aws:lambda:us-east-1:123456789012:function:f"]}
    with pytest.raises(BadStage, match="names and deploys 11 agents, and 10 are the most"):
        stage(*given, job_rights=named)


def test_a_scheme_is_read_in_any_case():
    assert stage({"name": "a", "endpoint": "HTTPS://agent.example.com"}).forwarders


def test_an_emulated_stage_reaches_this_machine():
    local = stage({"name": "a", "endpoint": "http://127.0.0.1:8080"}, emulated=True)
    assert local.forwarders[0].endpoint == "http://127.0.0.1:8080"


URLS = [given["endpoint"] for given, _ in REFUSED if "endpoint" in given] + [
    *(
        f"{URL}:8443/a/b?c=d",
        "http://localhost:1",
        "https://[::1]:1/",
        "https://ex..com",
        "https://é.x",
    ),
    *("https://x:0", f"{URL}/é", f"{URL}?é", "https://[fe80::1%25eth0]", "https://[2001:db8::1]"),
    *("https://x:99999", "HTTPS://x.example.com", "http://[::1", "https://x/ y"),
]


@pytest.mark.parametrize("url", URLS)
def test_a_stage_takes_the_urls_that_its_function_takes(url):
    """The two cannot share their code: no room of the deployment imports agents' rooms."""

    def takes(read):
        try:
            read()
        except ConfigurationError:
            return False
        return True

    staged = takes(lambda: stage({"name": "a", "endpoint": url}, emulated=True))
    assert staged == takes(lambda: address_of(url))


@pytest.fixture
def made(synthesised):
    return synthesised("agents")


def functions(made):
    """The forwarders' functions by their names."""
    start = "SageMaker-rollouts-agents-"
    return {
        each["FunctionName"].removeprefix(start): each
        for each in made.properties("AWS::Lambda::Function")
        if each.get("FunctionName", "").startswith(start)
    }


def test_a_forwarder_is_what_the_stage_says(made):
    found = functions(made)
    assert found.keys() == {each["name"] for each in AGENTS["forwarders"]}
    assert {each["Handler"] for each in found.values()} == {f"{MODULE}.handler"}
    inside = found["inside"]
    assert (inside["Timeout"], inside["MemorySize"]) == (120, 512)
    assert inside["ReservedConcurrentExecutions"] == 8
    assert inside["VpcConfig"] == {
        "SubnetIds": NETWORK["subnets"],
        "SecurityGroupIds": NETWORK["security_groups"],
    }
    assert "VpcConfig" not in found["open"]


def test_its_environment_is_read_back_as_it_was_written(made):
    for name, each in functions(made).items():
        variables = {key: flat(value) for key, value in each["Environment"]["Variables"].items()}
        read = ForwarderSettings.from_env(variables)
        given = next(one for one in AGENTS["forwarders"] if one["name"] == name)
        assert read.endpoint == given.get("endpoint", "")
        assert read.secret == given.get("secret", "")
        assert bool(read.queue) == bool(given.get("queue"))


def allowed(made, name):
    """What the role of a forwarder allows, as (actions, resources), by Sid; its log aside."""
    role = next(
        each
        for each in made.properties("AWS::IAM::Role")
        if each["Description"] == f"What SageMaker-rollouts-agents-{name} runs as"
    )
    return {
        each["Sid"]: (each["Effect"], sorted(each["Action"]), [*map(flat, each["Resource"])])
        for policy in role["Policies"]
        for each in policy["PolicyDocument"]["Statement"]
        if each["Sid"] != "WriteLogs"
    }


QUEUES = "arn:aws:sqs:us-east-1:123456789012:"
SEND = ["sqs:SendMessage"]


def test_each_may_do_exactly_what_it_needs(made):
    assert allowed(made, "open") == {}
    assert {
        name: allowed(made, name)["SendToAgent"] for name in ("queued", "sealed", "elsewhere")
    } == {
        "queued": ("Allow", SEND, [f"{QUEUES}SageMaker-rollouts-agents-queued"]),
        "sealed": ("Allow", SEND, [f"{QUEUES}SageMaker-rollouts-agents-sealed"]),
        "elsewhere": ("Allow", SEND, [f"{QUEUES}requests.fifo"]),
    }
    assert allowed(made, "queued").keys() == {"SendToAgent"}
    assert allowed(made, "sealed").keys() == {"SendToAgent", "EncryptRequests"}
    inside = allowed(made, "inside")
    assert inside["ReadSecretsmanager"] == ("Allow", ["secretsmanager:GetSecretValue"], [SECRET])
    assert inside["DecryptSecret1"] == ("Allow", ["kms:Decrypt"], [KEY])
    granted = {*inside["SeeInterfaces"][1], *inside["KeepInterfaces"][1]}
    assert {*inside["NeverFromTheCode"][1]} == granted
    assert inside["NeverFromTheCode"][0] == "Deny"
    assert len(inside) == 5


def test_multi_turn_jobs_and_who_starts_them_may_ask_each(made):
    asking = [
        statement
        for kind in ("AWS::IAM::Role", "AWS::IAM::ManagedPolicy")
        for each in made.properties(kind)
        for document in (
            *(policy["PolicyDocument"] for policy in each.get("Policies", [])),
            *filter(None, [each.get("PolicyDocument")]),
        )
        for statement in document["Statement"]
        if statement["Sid"] == "AskForwarders"
    ]
    assert len(asking) == 2  # the role of the jobs, and the policy `agents`
    for statement in asking:
        named = {flat(each) for each in statement["Resource"]}
        names = [each["name"] for each in AGENTS["forwarders"]]
        assert named == {f"{FUNCTION}{name}{end}" for name in names for end in ("", ":*")}


def test_an_agent_may_take_requests_from_the_stages_own_queues_alone(made):
    (policy,) = [
        each["PolicyDocument"]
        for name, each in (
            (name, each["Properties"])
            for name, each in made.resources("AWS::IAM::ManagedPolicy").items()
        )
        if name.startswith("TrainingAgentRuntimePolicy")
    ]
    (taking,) = [each for each in policy["Statement"] if each["Sid"] == "TakeRequests"]
    own = {f"{QUEUES}SageMaker-rollouts-agents-{name}" for name in ("queued", "sealed")}
    assert {flat(each) for each in taking["Resource"]} == own


def test_an_own_queue_is_encrypted_and_gives_up_on_what_no_agent_deletes(made):
    queues = {
        each["QueueName"]: each
        for each in made.properties("AWS::SQS::Queue")
        if "rollouts" in str(each.get("QueueName"))
    }
    start = "SageMaker-rollouts-agents-"
    assert queues.keys() == {
        f"{start}{name}{end}" for name in ("queued", "sealed") for end in ("", "-dead-letters")
    }
    assert queues[f"{start}queued"]["SqsManagedSseEnabled"]
    assert queues[f"{start}sealed"]["KmsMasterKeyId"] == KEY
    for name in ("queued", "sealed"):
        assert queues[f"{start}{name}"]["RedrivePolicy"]["maxReceiveCount"] == 3
    denied = [
        statement
        for each in made.properties("AWS::SQS::QueuePolicy")
        for statement in each["PolicyDocument"]["Statement"]
        if statement.get("Condition") == {"Bool": {"aws:SecureTransport": "false"}}
    ]
    assert len(denied) >= len(queues)


def test_versions_outlive_what_replaces_them(made):
    versions = [
        each
        for name, each in made.resources("AWS::Lambda::Version").items()
        if name.startswith("Forwarders")
    ]
    assert len(versions) == len(AGENTS["forwarders"])
    assert {each["UpdateReplacePolicy"] for each in versions} == {"Retain"}
    assert {each["DeletionPolicy"] for each in versions} == {"RetainExceptOnCreate"}


def test_the_catalogue_names_the_version_of_each(made):
    outputs = {
        name: flat(each["Value"])
        for name, each in made.template["Outputs"].items()
        if name.startswith("Forwarder")
    }
    assert outputs.keys() == {
        f"Forwarder{name}" for name in ("Open", "Inside", "Queued", "Sealed", "Elsewhere")
    }
    assert all("CurrentVersion" in each for each in outputs.values())


def test_an_agent_finds_its_queue_among_the_outputs(made):
    outputs = {
        name: flat(each["Value"])
        for name, each in made.template["Outputs"].items()
        if name.startswith("Requests")
    }
    assert outputs.keys() == {"RequestsQueuedUrl", "RequestsSealedUrl"}
    queues = made.resources("AWS::SQS::Queue")
    start = "SageMaker-rollouts-agents-"
    for name, value in outputs.items():
        assert queues[value.strip("<>")]["Properties"]["QueueName"] == (
            start + name.removeprefix("Requests").removesuffix("Url").lower()
        )


def test_what_is_not_handed_on_is_seen_though_lambda_counts_no_error(made):
    filters = made.properties("AWS::Logs::MetricFilter")
    assert {each["FilterPattern"] for each in filters} == {'"not forwarded"'}
    source = (HERE.parents[1] / "reward_functions/rollouts/serve/forwarder.py").read_text()
    assert source.count('"not forwarded: ') == 2  # an answer of the contract, and bad settings
    alarms = [each["AlarmDescription"] for each in made.properties("AWS::CloudWatch::Alarm")]
    for name in functions(made):
        watched = [each for each in alarms if each.startswith(f"forwarder {name}: ")]
        assert len(watched) == (4 if name in ("queued", "sealed") else 3)
