"""What stands in `cdk.json` is completed where it is silent, and refused in one sentence."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reward_functions import specs
from reward_functions.aws.catalogue import MAX_FUNCTION_NAME
from reward_functions.aws.names import Names
from reward_functions.aws.regions import aws_regions, partition_of
from reward_functions.cdk.artifact.packages import BadPackage
from reward_functions.cdk.limits.quotas import MAX_BUCKET_NAME
from reward_functions.cdk.model.stages import BadStage, stage_of
from reward_functions.core import registry
from reward_functions.core.errors import ConfigurationError
from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings

HERE = Path(__file__).parent


def stage(name="dev", **given):
    return stage_of({name: {"region": "us-east-1"} | given}, name, HERE)


def deployment(**given):
    return stage(deployments=[given]).deployments[0]


def test_a_stage_without_deployments_holds_every_reward_that_works_as_it_is():
    verifiers = {name for name, spec in specs().items() if not spec.needs.judge}
    assert {each.reward for each in stage().deployments} >= verifiers


def test_a_judge_is_deployed_with_the_model_it_asks():
    judges = {name for name, spec in specs().items() if spec.needs.judge}
    assert not {each.reward for each in stage().deployments} & judges
    judge = {"models": [{"model": "amazon.nova-lite-v1:0", "region": "us-east-1"}]}
    each = deployment(name="reference", judge=judge)
    reported = each.lambda_settings(Names("dev")).judge
    assert [model.model for model in reported.models] == ["amazon.nova-lite-v1:0"]


def test_a_name_alone_is_a_reward_with_its_defaults():
    (each,) = stage(deployments=["gsm8k"]).deployments
    assert (each.name, each.reward, each.parameters, each.response_mode) == (
        "gsm8k",
        "gsm8k",
        {},
        "list",
    )
    assert (each.memory_mb, each.timeout_seconds, each.reserved_concurrency) == (1769, 900, None)


def test_a_reward_is_deployed_twice_under_two_names():
    strict, flexible = stage(
        deployments=[
            "gsm8k",
            {"name": "gsm8k-flexible", "reward": "gsm8k", "parameters": {"flexible": True}},
        ]
    ).deployments
    assert (strict.parameters, flexible.parameters) == ({}, {"flexible": True})


def test_a_deployment_named_as_its_reward_need_not_say_so_twice():
    assert deployment(name="gsm8k", parameters={"flexible": True}).reward == "gsm8k"


def test_further_settings_reach_the_function():
    settings = deployment(name="gsm8k", settings={"on_unscored": "fail"}).lambda_settings(
        Names("dev")
    )
    assert (settings.name, settings.on_unscored) == ("gsm8k", "fail")
    assert settings.service == "SageMaker-reward-dev-gsm8k"


def test_whoever_builds_the_target_is_the_same():
    assert (stage().architecture, stage().python) == ("arm64", "3.13")


def test_an_emulator_runs_this_interpreter():
    assert stage(emulated=True).python == f"{sys.version_info[0]}.{sys.version_info[1]}"


def test_an_emulator_s_stage_belongs_to_the_account_that_aws_does_not_have():
    assert stage(emulated=True).account == "000000000000"
    assert stage(emulated=True, account="000000000000").account == "000000000000"


def test_a_stage_keeps_ten_versions_and_tries_judges_with_recorded_answers():
    assert (stage().keep_versions, stage().judge_gate) == (10, "recorded")
    assert not stage(deployments=["gsm8k"]).deployments[0].immutable


@pytest.mark.parametrize(
    "agent",
    [
        "arn:aws:lambda:us-east-1:123456789012:function:agent",
        "arn:aws:lambda:us-east-1:123456789012:function:SageMaker_agent:7",
        "arn:aws:lambda:us-east-1:123456789012:function:agent:live",
        "arn:aws:lambda:us-east-1:123456789012:function:agent:$LATEST",
        "arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/math_agent-AbCdEf0123",
    ],
)
def test_an_agent_is_a_function_by_any_name_or_a_runtime(agent):
    assert stage(job_rights={"agents": [agent]}).job_rights.agents == (agent,)


def test_a_stage_holds_a_score_of_deployments():
    many = [{"name": f"gsm8k-{n}", "reward": "gsm8k"} for n in range(20)]
    assert len(stage(deployments=many).deployments) == 20


KEY = "arn:aws:kms:us-east-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"

VPC = {
    "subnets": [f"subnet-0123456789abcde{n:02x}" for n in range(16)],
    "security_groups": [f"sg-0123456789abcde{n:02x}" for n in range(5)],
}

AGENTS = [f"arn:aws:lambda:us-east-1:123456789012:function:{n}{'a' * 63}" for n in range(10)]

EVERY_RIGHT = {
    "invocation_logs": "s3://company-logs/bedrock",
    "vpc": VPC,
    "agents": AGENTS,
    "model_key": KEY,
}

EVERY_OPTION = dict.fromkeys(
    ("sagemaker_role", "training_job_role", "hyperpod", "customer_key"), True
)


def test_a_stage_that_grants_everything_holds_sixteen_deployments_with_names_of_sixteen_letters():
    many = [{"name": f"gsm8k-{n:02}-verbose", "reward": "gsm8k"} for n in range(16)]
    full = EVERY_OPTION | {"job_rights": EVERY_RIGHT}
    made = stage("production", deployments=many, **full)
    assert {len(each.name) for each in made.deployments} == {16}
    assert made.job_rights.model_dump(mode="json") == EVERY_RIGHT


@pytest.mark.parametrize(
    "region", ["us-east-1", "ap-southeast-2", "us-gov-west-1", max(aws_regions(), key=len)]
)
def test_the_longest_names_and_every_option_leave_room_for_eleven_deployments(region):
    name = next(
        "s" * length
        for length in range(20, 0, -1)
        if len(Names("s" * length).bucket("1" * 12, region)) <= MAX_BUCKET_NAME
    )
    letters = MAX_FUNCTION_NAME - len(Names(name).function(""))
    many = [{"name": f"{'d' * (letters - 2)}{n:02}", "reward": "gsm8k"} for n in range(11)]
    key = KEY.replace("us-east-1", region).replace("arn:aws", f"arn:{partition_of(region)}")
    agents = [each.replace("us-east-1", region) for each in AGENTS]
    agents = [each.replace("arn:aws", f"arn:{partition_of(region)}") for each in agents]
    rights = EVERY_RIGHT | {"model_key": key, "agents": agents}
    full = EVERY_OPTION | {"job_rights": rights}
    assert len(stage(name, region=region, deployments=many, **full).deployments) == 11


def test_jobs_may_use_nothing_beside_bucket_and_rewards_unless_the_stage_says_so():
    assert set(stage().job_rights.model_dump().values()) == {None, ()}


@pytest.mark.parametrize("region", ["us-east-1", "us-west-2", "cn-north-1", "us-gov-west-1"])
def test_any_partition_has_regions(region):
    assert stage(region=region).region == region


LONG = "x" * 4096

NOVA = "amazon.nova-lite-v1:0"

HAIKU = "anthropic.claude-haiku-4-5-20251001-v1:0"

VLLM = {"model": "qwen3", "backend": "openai", "endpoint": "https://models.example.com/v1"}

ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")

SECRET = "arn:aws:secretsmanager:us-east-1:123456789012:secret:key-a1b2c3"


def judged(reward="reference", **given):
    """A stage with one judge, which has the one model of `given` unless that names several."""
    if "models" not in given:
        limits = {name: given.pop(name) for name in ("cache_table", "min_votes") if name in given}
        given = {"models": [{"model": NOVA} | given], **limits}
    return {"deployments": [{"reward": reward, "judge": given}]}


WRONG = [
    # in the stage, and what the sentence says
    ({"region": "us-eats-1"}, r"AWS has no region 'us-eats-1'\. Did you mean 'us-east-1'\?"),
    ({"region": "mars"}, "AWS has no region 'mars'$"),
    ({"region": 7}, "region: .*string"),
    ({"regoin": "us-east-1"}, r"regoin is not a setting\. Did you mean 'region'\?"),
    ({"architecture": "arm"}, r"architecture: 'arm' is unknown\. Did you mean 'arm64'\?"),
    ({"architecture": "riscv"}, "architecture: 'riscv' is unknown; there are arm64, x86_64"),
    ({"python": "3.9"}, "python: '3.9' is unknown"),
    ({"python": "3.11"}, "python: rewards run on Lambda's 3.12, 3.13, 3.14, not '3.11'"),
    (
        {"emulated": True, "python": "3.9"},
        "a stage with 'emulated' takes this machine's own python",
    ),
    ({"account": "12345"}, "account: .*not '12345'"),
    ({"account": "000000000000"}, "account: 000000000000 is the local AWS emulator's: say"),
    (
        {"emulated": True, "account": "123456789012"},
        "'emulated' belongs to the account 000000000000: leave its account out",
    ),
    ({"keep_versions": 0}, "keep_versions: .*1, not 0"),
    ({"judge_gate": "none"}, "judge_gate: 'none' is unknown; there are model, recorded"),
    (
        {"job_rights": {"invocation_log": "s3://logs"}},
        r"job_rights.invocation_log is not a setting\. Did you mean 'invocation_logs'\?",
    ),
    (
        {"job_rights": {"vpc": VPC | {"subnet": []}}},
        r"job_rights.vpc.subnet is not a setting\. Did you mean 'subnets'\?",
    ),
    ({"job_rights": {"vpc": True}}, "job_rights.vpc: .*, not True"),
    ({"job_rights": {"vpc": {"subnets": ["subnet-01234567"]}}}, "vpc.security_groups is missing"),
    (
        {"job_rights": {"vpc": VPC | {"subnets": []}}},
        "job_rights.vpc.subnets: must name 1 at least$",
    ),
    (
        {"job_rights": {"vpc": VPC | {"subnets": ["subnet-*"]}}},
        r"job_rights.vpc.subnets.0: write a subnet's id, subnet-…, not 'subnet-\*'",
    ),
    (
        {"job_rights": {"vpc": VPC | {"security_groups": ["subnet-01234567"]}}},
        "security_groups.0: write a security group's id, sg-…, not 'subnet-01234567'",
    ),
    *(
        (
            {"job_rights": {"invocation_logs": bad}},
            f"invocation_logs: write s3://BUCKET/FOLDER .*{bad}",
        )
        for bad in (
            "logs/bedrock",
            "s3://logs//bedrock",
            "s3://logs/of us",
            "s3://Logs/x",
            "s3://l/x",
        )
    ),
    (
        {"job_rights": {"invocation_logs": "s3://logs/*"}},
        "invocation_logs: write s3://BUCKET/FOLDER",
    ),
    (
        {"job_rights": {"model_key": "alias/models"}},
        "job_rights.model_key: write a key's ARN, .*; IAM grants nothing by an alias, not 'alias/",
    ),
    (
        {"job_rights": {"model_key": KEY.replace("us-east-1", "us-west-2")}},
        "job_rights.model_key: Bedrock takes a key of us-east-1, not one of us-west-2",
    ),
    (
        {"job_rights": {"agents": [AGENTS[0].replace("us-east-1", "us-west-2")]}},
        "job_rights.agents: a multi-turn job asks agents of its own region us-east-1",
    ),
    (
        {"job_rights": {"agents": [AGENTS[0].replace("arn:aws", "arn:aws-cn")]}},
        "job_rights.agents: .* of us-east-1 in the partition aws-cn",
    ),
    (
        {"account": "210987654321", "job_rights": {"agents": [AGENTS[0]]}},
        "job_rights.agents: the stage is of the account 210987654321, and .* of another",
    ),
    ({"job_rights": {"agents": [AGENTS[0], AGENTS[0]]}}, "job_rights.agents: an ARN .* twice"),
    ({"job_rights": {"agents": AGENTS * 2}}, "job_rights.agents: must name 10 at most$"),
    ({"job_rights": {"agents": AGENTS[0]}}, "job_rights.agents: "),
    *(
        (
            {"job_rights": {"agents": [bad]}},
            r"job_rights.agents.0: write the ARN of a Lambda function, .* of an AgentCore runtime",
        )
        for bad in (
            "SageMaker-agent",
            "arn:aws:lambda:us-east-1:123456789012:function:*",
            "arn:aws:lambda:us-east-1:123456789012:function:agent:*",
            "arn:aws:lambda:us-east-1:*:function:agent",
            "arn:aws:iam::123456789012:role/agent",
            "arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/agent",
            "arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/*",
            "arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/a-0123456789/runtime-endpoint/x",
            f"{AGENTS[0]}\n",
            "",
        )
    ),
    (
        {"job_rights": {"model_key": KEY.replace("arn:aws", "arn:aws-cn")}},
        "not one of us-east-1 in the partition aws-cn",
    ),
    (
        {
            "deployments": [{"name": f"gsm8k-{n}", "reward": "gsm8k"} for n in range(24)],
            "sagemaker_role": True,
        },
        "24 deployments are more than one IAM policy of 6144 characters can name",
    ),
    ({"tags": {"aws:owner": "us"}}, "tags: 'aws:owner': AWS keeps tags beginning with 'aws:'"),
    ({"tags": {"AWS:owner": "us"}}, "tags: 'AWS:owner': AWS keeps tags beginning with 'aws:'"),
    (
        {"deployments": [{"reward": "gsm8k", "settings": {"metrics_namespace": "AWS/Lambda"}}]},
        "no metrics of one's own in 'AWS/Lambda': choose a metrics_namespace",
    ),
    (
        {"deployments": [{"name": "a" * 27, "reward": "gsm8k", "immutable": True}]},
        "--00000000' is longer than Lambda's 64 characters",
    ),
    ({"subscriptions": ["team"]}, "subscriptions.0: .*not 'team'"),
    ({"subscriptions": ["http://example.com"]}, "subscriptions.0: "),
    ({"strict": "perhaps"}, "strict: must be true or false"),
    ({"deployments": []}, "has no deployments"),
    ({"deployments": "gsm8k"}, "deployments: must be a list"),
    ({"deployments": ["gsm9k"]}, r"'gsm9k': no reward function .*Did you mean 'gsm8k'"),
    ({"deployments": ["acme.length"]}, "'acme-length': no reward function is called 'acme.length'"),
    ({"deployments": [{"name": "a b", "reward": "gsm8k"}]}, "deployments.0.name: .*'a b'"),
    ({"deployments": [{"name": "Gsm8k", "reward": "gsm8k"}]}, "deployments.0.name: "),
    ({"deployments": [{}]}, "deployments.0.name is missing"),
    ({"deployments": [7]}, "deployments.0: "),
    ({"deployments": ["gsm8k", "gsm8k"]}, "'gsm8k': two deployments have this name"),
    (
        {"deployments": [{"name": "a-b", "reward": "math"}, {"name": "a_b", "reward": "math"}]},
        "two deployments have this name",
    ),
    (
        {"deployments": [{"reward": "gsm8k", "parameters": {"flexibel": True}}]},
        r"gsm8k has no parameter 'flexibel'\. Did you mean 'flexible'\?",
    ),
    (
        {"deployments": [{"reward": "gsm8k", "parameters": {"flexible": "yes"}}]},
        "parameter 'flexible' takes bool, not 'yes'",
    ),
    (
        {"deployments": [{"reward": "gsm8k", "memory": 2048}]},
        r"deployments.0.memory is not a setting\. Did you mean 'memory_mb'\?",
    ),
    (
        {"deployments": [{"reward": "gsm8k", "memory_mb": 128}]},
        "memory_mb: .*512, not 128",
    ),
    ({"deployments": [{"reward": "gsm8k", "memory_mb": 10241}]}, "memory_mb: .*10240, not 10241"),
    ({"deployments": [{"reward": "gsm8k", "timeout_seconds": 901}]}, "900, not 901"),
    ({"deployments": [{"reward": "gsm8k", "timeout_seconds": 0}]}, "1, not 0"),
    ({"deployments": [{"reward": "gsm8k", "reserved_concurrency": 0}]}, "1, not 0"),
    (
        {"deployments": [{"reward": "gsm8k", "response_mode": "envelop"}]},
        r"response_mode: 'envelop' is unknown\. Did you mean 'envelope'\?",
    ),
    (
        {"deployments": [{"reward": "gsm8k", "settings": {"on_unscord": "fail"}}]},
        r"on_unscord is not a setting\. Did you mean 'on_unscored'\?",
    ),
    ({"deployments": [{"reward": "gsm8k", "settings": {"workers": 999}}]}, "256, not 999"),
    ({"deployments": ["reference"]}, "reference asks a judge model, and its judge names none$"),
    (judged(reward="gsm8k"), "gsm8k asks no judge model, and its judge names one$"),
    (
        {"deployments": [{"reward": "reference", "settings": {"judge": {}}}]},
        "'judge' is a field of the deployment itself",
    ),
    ({"deployments": [{"reward": "reference", "judge": "nova"}]}, "judge: .*'nova'"),
    (judged(models=[]), "no judge model is named"),
    (judged(models=NOVA), "judge is wrong: models takes a list of objects"),
    (judged(modell=NOVA), r"judge is wrong: models.0.modell is unknown\. Did you mean 'model'\?"),
    (judged(models=[{"model": NOVA}], modles=[]), r"modles is unknown\. Did you mean 'models'\?"),
    (judged(models=[{"modell": NOVA}]), r"models.0.modell is unknown\. Did you mean 'model'\?"),
    (judged(model=""), "a judge's model is named"),
    (judged(tier="cheap"), "judge is wrong: models.0.tier takes one of 'priority', "),
    (judged(min_votes=2), "min_votes is 2, and the panel has 1"),
    (judged(model="anthropic.claude-*"), "'anthropic.claude-\\*' does not name one model"),
    (judged(model=NOVA, profile="us.amazon.nova-?", destinations=["us-east-1"]), "not name one"),
    (judged(model=f"us.{NOVA}"), f"us.{NOVA} is an inference profile: name it as profile"),
    (
        judged(model="arn:aws:bedrock:us-east-1:1:application-inference-profile/x"),
        "is an inference profile: name it as profile",
    ),
    (judged(profile=f"us.{NOVA}"), "destinations name no region that this profile routes to"),
    (judged(destinations=["us-east-1"]), "destinations are an inference profile's"),
    (
        judged(profile=f"global.{NOVA}", destinations=["us-east-1"]),
        "global.amazon.nova-lite-v1:0 routes to every commercial region: leave its destinations",
    ),
    (
        judged(
            model=f"arn:aws:bedrock:us-east-1::foundation-model/{NOVA}",
            profile=f"us.{NOVA}",
            destinations=["us-east-1"],
        ),
        "named by its id, not by ARN",
    ),
    (judged(region="us-eats-1"), r"no region 'us-eats-1'\. Did you mean 'us-east-1'\?$"),
    (judged(profile=f"us.{NOVA}", destinations=["us-eats-1"]), "no region 'us-eats-1'"),
    (judged(key=SECRET), "Bedrock is asked with the function's rights, not with a key"),
    (
        judged(**VLLM, key="env:KEY"),
        "a function.s environment holds no key; keep it in Secrets Manager",
    ),
    (judged(**VLLM, key=SECRET.replace("secretsmanager", "ssm")), "not the ARN of a Secrets"),
    (judged(**VLLM, key=f"{SECRET}*"), "not the ARN of a Secrets"),
    *(
        (judged(**VLLM, key=arn), f"qwen3: {arn} lacks the six characters .* describe-secret")
        for arn in (SECRET[:-1], SECRET[:-7], f"{SECRET}-v2", SECRET.replace("-a", "_a"))
    ),
    (judged(**VLLM, key=SECRET.translate(ARABIC)), "not the ARN of a Secrets"),
    (judged(**VLLM, key="sk-123"), "a key is named env:NAME or by a secret's ARN, not given"),
    (judged(**VLLM | {"endpoint": "models.example.com"}), "http or https URL"),
    (judged(backend="replay", answers="a.jsonl"), "recorded answers are for tests"),
    (judged(cache_table="*"), "cache_table: '\\*' is not a DynamoDB table's name or ARN"),
    (
        {
            "deployments": [
                {
                    "reward": "reference",
                    "judge": {
                        "models": [{"model": NOVA}],
                        "fallback": {"model": HAIKU, "key": SECRET},
                    },
                }
            ]
        },
        f"{HAIKU}: Bedrock is asked with the function's rights",
    ),
    (
        {"deployments": [{"reward": "gsm8k", "settings": {"metrics_namespace": LONG}}]},
        r"its settings take \d+ bytes of environment; Lambda allows 4096",
    ),
    (
        {"deployments": [{"reward": "gsm8k", "settings": {"name": "math"}}]},
        "'name' is a field of the deployment itself",
    ),
    (
        {"deployments": [{"reward": "gsm8k", "timeout_seconds": 1}]},
        "a timeout of 1 s leaves no time to score, 1000 ms of it",
    ),
    (
        {"deployments": [{"name": f"gsm8k-{n}", "reward": "gsm8k"} for n in range(50)]},
        "50 deployments are more than one IAM policy of 6144 characters can name",
    ),
    (
        {"deployments": [{"name": "a" * 40, "reward": "gsm8k"}]},
        "is longer than Lambda's 64 characters",
    ),
]


@pytest.mark.parametrize(("given", "expected"), WRONG, ids=[expected for _, expected in WRONG])
def test_what_is_wrong_is_reported_in_one_sentence(given, expected):
    with pytest.raises(ConfigurationError) as caught:
        stage("development", **given)
    message = str(caught.value)
    assert message.startswith("stage 'development'")
    assert re.search(expected, message)
    assert "\n" not in message


def test_a_bucket_s_name_is_measured_with_an_account_in_the_stage_s_own_region():
    name = "team-of-the-company"
    assert stage(name, region="us-east-1").name == name
    with pytest.raises(BadStage, match=r"1 characters longer than S3's 63; .* may have 18"):
        stage(name, region="ap-southeast-1")


FOLDERS = [f"s3://acme-data-{n}/{'f' * 300}" for n in range(10)]

OWN_AGENTS = [f"arn:aws:lambda:us-east-1:123456789012:function:{'a' * 60}{n}" for n in range(9)]

CALLERS = {"accounts": [f"{n:012}" for n in range(10)]}

CROWDED = [
    # what a stage says, and what the sentence counts: whoever has one deployment cannot halve it
    ({"read_buckets": FOLDERS}, "1 deployment and 10 read_buckets are more than one IAM policy"),
    (
        {"read_buckets": FOLDERS, "job_rights": {"agents": OWN_AGENTS}},
        "1 deployment, 10 read_buckets and 9 agents are more than one IAM policy",
    ),
    (
        {"read_buckets": FOLDERS, "job_rights": {"agents": OWN_AGENTS}}
        | {"forwarders": [{"name": f"a{n}", "queue": True} for n in range(2)]},
        "names and deploys 11 agents, and 10 are the most",
    ),
    (
        {"deployments": [f"gsm8k-{n}" for n in range(15)], "callers": CALLERS},
        "15 deployments and 10 callers are more than a stack of 500 resources",
    ),
    (
        {"deployments": [f"gsm8k-{n}" for n in range(14)], "callers": CALLERS}
        | {"forwarders": [{"name": "only", "queue": True}]},
        "14 deployments, 1 forwarder and 10 callers are more than a stack of 500 resources",
    ),
]


@pytest.mark.parametrize(("given", "expected"), CROWDED, ids=[each for _, each in CROWDED])
def test_a_stage_over_a_limit_counts_everything_that_brings_it_there(given, expected):
    names = given.get("deployments", ["gsm8k"])
    with pytest.raises(BadStage) as caught:
        stage(**given | {"deployments": [{"name": each, "reward": "gsm8k"} for each in names]})
    assert expected in str(caught.value)


def test_a_stack_holds_no_more_resources_than_cloudformation_allows(monkeypatch):
    monkeypatch.setattr("reward_functions.cdk.limits.quotas.MAX_RESOURCES", 100)
    few = [{"name": f"gsm8k-{n}", "reward": "gsm8k"} for n in range(9)]
    with pytest.raises(BadStage, match="9 deployments are more than a stack of 100 resources"):
        stage(deployments=few)


RIGHT = [
    judged(),
    judged(profile=f"us.{NOVA}", destinations=["us-east-1", "us-west-2"], region="us-east-1"),
    judged(
        profile="arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123",
        destinations=["us-east-1"],
    ),
    judged(model="arn:aws:bedrock:us-east-1:123456789012:custom-model-deployment/abc123"),
    judged(tier="flex", cache_table="verdicts"),
    judged(cache_table="arn:aws:dynamodb:us-east-1:123456789012:table/verdicts"),
    judged(**VLLM),
    judged(**VLLM, key=SECRET),
    judged(models=[{"model": NOVA}, {"model": HAIKU}, VLLM], min_votes=2),
]


@pytest.mark.parametrize("given", RIGHT, ids=str)
def test_a_judge_is_taken_as_it_is_written(given):
    (each,) = stage(**given).deployments
    assert each.lambda_settings(Names("dev")).judge is not None


@pytest.mark.parametrize(
    ("stages", "name", "message"),
    [
        (None, "dev", "cdk.json names no stages"),
        ([], "dev", "cdk.json names no stages"),
        (
            {"prod": {}, "dev": {}},
            "prd",
            r"there is no stage 'prd' in cdk.json\. Did you mean 'prod'",
        ),
        ({"dev": {}}, "qa", "there is no stage 'qa' in cdk.json; there are dev"),
        ({"dev": "us-east-1"}, "dev", "is not an object"),
        ({"dev": {}}, "dev", "region is missing"),
        ({"Dev": {"region": "us-east-1"}}, "Dev", "name: "),
    ],
)
def test_a_stage_that_is_not_there_is_reported(stages, name, message):
    with pytest.raises(BadStage, match=message):
        stage_of(stages, name, HERE)


@pytest.mark.parametrize(
    ("package", "message"),
    [
        ("./nowhere", "is neither a wheel nor a folder with a pyproject.toml"),
        (".", "is neither a wheel nor a folder with a pyproject.toml"),
        ("acme-rewards", "pinned as name==version"),
        ("acme-rewards>=1", "pinned as name==version"),
        ("acme-rewards==1.*", "pinned as name==version"),
        ("--pre", "is neither a path nor a requirement"),
        ("", "is neither"),
    ],
)
def test_a_package_that_could_differ_between_builds_is_refused(package, message):
    with pytest.raises(BadPackage, match=message):
        stage(packages=[package])


def test_a_reward_without_examples_is_not_deployed(monkeypatch):
    """Its gate would pass whatever it does."""
    bare = replace(registry.get("gsm8k"), examples=())
    monkeypatch.setattr(registry, "get", {"gsm8k": bare}.__getitem__)
    with pytest.raises(BadStage, match=r"deployment 'gsm8k': gsm8k declares no examples.*give"):
        stage(deployments=["gsm8k"])


TUTOR = {
    "name": "acme.tutor",
    "version": 1,
    "weighted": {"math": 0.8, "strict": {"reward": "exact_match", "weight": 0.2}},
    "outranks": False,
    "examples": [
        {"kind": "positive", "response": "4", "reference": "4", "score": 1.0},
        {"kind": "negative", "response": "5", "reference": "4", "score": 0.0},
        {"kind": "attack", "response": "4 or 5", "reference": "4", "score": 0.0},
    ],
}


def test_a_composite_is_declared_where_it_is_deployed():
    each = deployment(reward=TUTOR)
    assert (each.name, each.reward) == ("acme-tutor", "acme.tutor")
    assert each.spec().needs.symbolic
    settings = each.lambda_settings(Names("dev"))
    assert LambdaSettings.from_env(settings.to_env()) == settings
    assert bind(settings).spec == each.spec()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weighted": {"maht": 1.0}}, "no reward function is called 'maht'. Did you mean 'math'"),
        ({"wheighted": 1}, "wheighted is not a key. Did you mean 'weighted'"),
        ({"name": None}, "a composite needs a name"),
        ({"name": "math"}, "math is the name of a registered reward"),
        ({"name": "Tutor"}, "not a reward name"),
        ({"version": 0}, "is a prototype: before it is deployed it needs version=1"),
        ({"examples": []}, "declares no examples"),
        ({"weighted": {"math": float("inf")}}, "finite"),
        ({"examples": TUTOR["examples"] * 20}, "bytes, and 3000 are the most: shorten"),
        ({"weighted": {"reference": 1.0}}, "asks a judge model, and its judge names none"),
    ],
)
def test_a_composite_that_cannot_be_deployed_is_one_sentence(change, message):
    with pytest.raises(BadStage, match=message) as caught:
        stage(deployments=[{"name": "tutor", "reward": TUTOR | change}])
    assert "\n" not in str(caught.value)


def test_the_whole_folder_of_a_project_is_no_folder_of_databases():
    named = {"reward": "sql_result", "parameters": {"databases": "."}}
    with pytest.raises(BadStage, match="which its zip cannot hold: give a path below"):
        stage(deployments=[named])


@pytest.mark.parametrize("outside", ["/etc/schema.json", "../s.json", "reward_functions/s.json"])
@pytest.mark.parametrize("in_a_part", [False, True])
def test_a_file_that_a_zip_cannot_hold_is_refused(outside, in_a_part, monkeypatch, tmp_path):
    monkeypatch.setattr("reward_functions.core.files.file_path", lambda _: tmp_path / "s.json")
    (tmp_path / "s.json").write_text("{}", encoding="utf-8")
    named = {"reward": "json_fields", "parameters": {"schema": outside}}
    part = {"reward": "json_fields", "schema": outside, "weight": 1.0}
    examples = [
        {**each, "response": '{"a": 4}' if each["score"] else "{}", "reference": {"a": 4}}
        for each in TUTOR["examples"]
    ]
    composite = TUTOR | {"weighted": {"fields": part}, "examples": examples}
    with pytest.raises(BadStage, match="which its zip cannot hold: give a path below"):
        stage(deployments=[{"name": "t", "reward": composite} if in_a_part else named])


def test_two_composites_of_one_name_are_refused():
    other = {"name": "other", "reward": TUTOR | {"version": 2}}
    with pytest.raises(BadStage, match=r"two rewards are called acme\.tutor"):
        stage(deployments=[{"reward": TUTOR}, other])


def test_a_composite_asks_its_judge():
    judge = {"models": [{"model": "amazon.nova-lite-v1:0", "region": "us-east-1"}]}
    mixed = TUTOR | {"weighted": {"math": 0.9, "reference": 0.1}}
    assert deployment(reward=mixed, judge=judge).spec().needs.judge
