"""What a deployment gives a reward of one's own: rights, variables, secrets, a network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reward_functions.cdk.limits.quotas import MAX_INLINE_POLICIES
from reward_functions.cdk.model.stages import BadStage, stage_of
from reward_functions.cdk.policies.documents import of_function
from reward_functions.cdk.policies.iam import (
    Place,
    generations_of,
    logs_of,
    only_versions,
    versions_of,
)
from reward_functions.cdk.policies.own_rights import needs_another_role, services
from reward_functions.cdk.policies.services import clients, known

HERE = Path(__file__).parent

PLACE = Place("aws", "us-east-1", "123456789012")

SECRET = PLACE.arn("secretsmanager", "secret:lookup-a1b2c3")

PARAMETER = PLACE.arn("ssm", "parameter/lookup/key")

KEY = PLACE.arn("kms", "key/01234567-89ab-cdef-0123-456789abcdef")

OBJECT = "arn:aws:s3:::cases/math.jsonl"

VPC = {"subnets": ["subnet-0123456789abcdef0"], "security_groups": ["sg-0123456789abcdef0"]}

JUDGE = {"models": [{"model": "amazon.nova-lite-v1:0"}]}


def stage(*, region="us-east-1", **given):
    deployments = [{"name": "lookup", "reward": "gsm8k"} | given]
    return stage_of({"dev": {"region": region, "deployments": deployments}}, "dev", HERE)


def allowing(**changed):
    """A deployment with one statement, which differs from a plain one."""
    return {"allow": [{"actions": ["s3:GetObject"], "resources": [OBJECT]} | changed]}


def statements_of(given):
    """What the role's policies allow, by the names of the policies."""
    made = stage(**given)
    documents = of_function(PLACE, made, made.deployments[0])
    return {name: document["Statement"] for name, document in documents.items()}


RIGHT = [
    allowing(actions=["s3:getobject"]),  # IAM reads actions in any case
    allowing(actions=["S3:GetObject"]),
    allowing(actions=["kms:Decrypt"], resources=[KEY]),
    allowing(actions=["sts:GetCallerIdentity"]),
    allowing(actions=["states:StartExecution", "kafka-cluster:Connect", "tag:GetResources"]),
    allowing(resources=["arn:aws:s3:::cases/of us/math.jsonl"]),
    allowing(resources=["*"], reason="It knows no resource."),
    allowing(actions=["s3:Get*"], reason="Versions as well."),
    allowing(actions=["iam:GetRole"], reason="Who runs it is part of the score."),
    allowing(condition={"ForAnyValue:StringLikeIfExists": {"aws:TagKeys": ["a", "b"]}}),
    allowing(condition={"Null": {"aws:TokenIssueTime": True}}),
    allowing(condition={"ForAllValues:StringLike": {"aws:TagKeys": "a"}}, reason="Tagged so."),
    allowing(condition={"NotIpAddress": {"aws:SourceIp": ["10.0.0.1", "10.0.0.1/16", "::1/64"]}}),
    allowing(condition={"DateLessThan": {"aws:CurrentTime": ["2026-11-30T00:00:00Z", 1_800_000]}}),
    allowing(condition={"NumericLessThanEqualsIfExists": {"s3:max-keys": [10, "-1.5"]}}),
    allowing(condition={"StringEquals": {"aws:ResourceTag/für wen": "", "s3:prefix": "Übungen/"}}),
    {"environment": {"CASES": "s3://cases/math.jsonl", "aB": "", "TEXT": "für {{wen}} ${x}\n"}},
    {"secrets": {"LOOKUP_KEY": {"arn": SECRET, "key": KEY}, "OTHER": PARAMETER}},
    {"vpc": VPC},
]


@pytest.mark.parametrize("given", RIGHT, ids=str)
def test_this_is_taken(given):
    assert stage(**given)


WRONG = [
    # in the deployment, and what the sentence says
    ({"allow": []}, "allow: must name 1 at least$"),
    ({"allow": "s3:GetObject"}, "allow: must be a list"),
    ({"allow": ["s3:GetObject"]}, "allow.0: .*, not 's3:GetObject'"),
    (allowing(actions=[]), "allow.0.actions: must name 1 at least$"),
    (allowing(resources=[]), "allow.0.resources: must name 1 at least$"),
    (allowing(actions=["*"]), r"'\*' is of every service: write one, such as s3:GetObject"),
    (allowing(actions=["s*:GetObject"], reason="x"), r"'s\*:GetObject' is of every service"),
    (allowing(actions=["GetObject"]), "actions: 'GetObject' is no service:Action, such as"),
    (allowing(actions=["s3:"]), "actions: 's3:' is no service:Action"),
    (allowing(actions=["s3:GetObject "]), "is no service:Action"),
    (allowing(actions=["s3:Gét"]), "is no service:Action"),
    (allowing(actions=["atena:X"]), "no service of IAM's .* 'atena'. Did you mean 'athena'"),
    (allowing(actions=["zzzzzz:X"]), "no service of IAM's is called 'zzzzzz'$"),
    (allowing(actions=["s3:Get*"]), r"allow.0: 's3:Get\*' needs a `reason`: one sentence"),
    (allowing(actions=["s3:GetObjec?"]), r"allow.0: 's3:GetObjec\?' needs a `reason`"),
    (allowing(actions=["iam:PassRole"]), "allow.0: 'iam:PassRole' needs a `reason`"),
    (allowing(actions=["IAM:getRole"]), "allow.0: 'IAM:getRole' needs a `reason`"),
    (allowing(actions=["sts:AssumeRole"]), "allow.0: 'sts:AssumeRole' needs a `reason`"),
    (allowing(resources=["*"]), r"allow.0: '\*' needs a `reason`"),
    (allowing(resources=[f"{OBJECT}*"]), "needs a `reason`"),
    (allowing(resources=[f"{OBJECT}?"]), "needs a `reason`"),
    (allowing(resources=["*"], reason=" "), "reason: write one sentence"),
    (allowing(resources=["*"], reason="one\ntwo"), "reason: write one sentence"),
    (allowing(resources=["*"], reason="x" * 201), "allow.0.reason: .*at most 200"),
    (allowing(resources=["cases/math.jsonl"]), "'cases/math.jsonl' is no ARN, arn:PART.*not *"),
    (allowing(resources=["arn:aws:s3:::"]), "is no ARN"),
    (allowing(resources=["arn:aws-cn:s3:::cases/a"]), r"lookup.: allow.0: .*'aws-cn'.* of aws:"),
    (allowing(resources=["arn:*:s3:::a"], reason="x"), r"allow.0: .* the partition '\*'"),
    (allowing(resources=["arn:aws:s3:::${aws:username}/a"]), "a variable of IAM's: .*no user"),
    (allowing(resources=["arn:aws:s3:::cases/ü"]), r"'.*\\xfc' holds what no ARN does"),
    (allowing(resources=["arn:aws:s3:::cases/\x00"]), "holds what no ARN does"),
    (allowing(resources=[f"{OBJECT}\n"]), "holds what no ARN does"),
    (allowing(condition=7), "allow.0.condition: must be an object, not 7"),
    (allowing(condition="x"), "allow.0.condition: .*, not 'x'"),
    (allowing(condition={}), "allow.0: condition: it is empty, and so allows always"),
    (allowing(condition={"StringEquals": {}}), "condition: StringEquals tests no key"),
    (allowing(condition={"StringEquals": "x"}), "condition.StringEquals: must be an object"),
    (allowing(condition={"StringEqual": {"a": "b"}}), "'StringEqual'. Did you mean 'StringEquals'"),
    (allowing(condition={"NullIfExists": {"a": "b"}}), "no operator 'NullIfExists'"),
    (allowing(condition={"Bool": {"a:b": {}}}), "condition: a:b is compared with a value"),
    (allowing(condition={"Bool": {"a:b": []}}), "condition: a:b is compared with a value"),
    (allowing(condition={"StringLike": {"a:b": "${aws:username}"}}), "a variable of IAM's"),
    (allowing(condition={"ForAllValues:StringLike": {"a:b": "c"}}), "'ForAll.* needs a `reason`"),
    *(
        (allowing(condition={"StringEquals": {key: "b"}}), f"condition: '{shown}' is no key, such")
        for key, shown in (("", ""), ("prefix", "prefix"), ("a b:c", "a b:c"), ("a:b\n", r"a:b\\n"))
    ),
    *(
        (allowing(condition={operator: {"a:b": ["1", value]}}), f"compares a:b with {wanted}")
        for operator, value, wanted in (
            ("NumericLessThan", "seven", "numbers"),
            ("NumericEqualsIfExists", "0x7", "numbers"),
            ("ForAnyValue:DateLessThan", "2026-13", "dates"),
        )
    ),
    (allowing(condition={"Bool": {"a:b": "yes"}}), "Bool compares a:b with true or false, not"),
    (allowing(condition={"Null": {"a:b": 1}}), "Null compares a:b with true or false, not '1'"),
    (allowing(condition={"NotIpAddress": {"a:b": "10.0.0.0/33"}}), "with addresses, such as 10"),
    (allowing(condition={"StringLike": {"a:b": "\x00"}}), "holds what no policy does"),
    (allowing(condition={"StringLike": {"a:b": "東京"}}), "holds what no policy does"),
    *(
        (given, rf"deployments.0: {next(iter(given))}: \S+…: CDK or CloudFormation would put some")
        for given in (
            allowing(resources=["arn:aws:s3:::{{resolve:ssm:bucket}}/a"]),
            allowing(condition={"StringLike": {"{{resolve:ssm:b}}:c": "d"}}),
            allowing(resources=["*"], reason="${Token[TOKEN.1]}"),
            {"environment": {"AB": "x{{resolve:secretsmanager:key}}"}},
            {"environment": {"AB": "${Token[TOKEN.1]}"}},
            {"settings": {"metrics_namespace": "#{Token[TOKEN.1]}"}},
            {"parameters": {"deep": [{"er": "{{resolve:ssm:x}}"}]}},
            {"judge": {"models": [{"key": "{{resolve:ssm-secure:x}}"}]}},
        )
    ),
    *(
        (allowing(resources=[f"arn:aws:{service}:::a"], reason="x"), "is no ARN, arn:PARTITION")
        for service in ("", "*", "s?", "S3")
    ),
    *(
        (allowing(**{field: "x"}), f"allow.0.{field} is not a setting")
        for field in ("Effect", "effect", "NotAction", "NotResource", "Principal", "Sid")
    ),
    (
        {"allow": [allowing(resources=[f"{OBJECT}{n}"])["allow"][0] for n in range(200)]},
        "allow: the policies of its role take 2.... characters, and IAM's most is 10240: put",
    ),
    *(
        ({"environment": {name: "x"}}, f"environment: '{name}': names that begin with {begin} are")
        for name, begin in (
            ("REWARD_X", "REWARD_"),
            ("POWERTOOLS_LOG_LEVEL", "POWERTOOLS_"),
            ("AWS_REGION", "AWS_"),
            ("LAMBDA_TASK_ROOT", "LAMBDA_"),
            ("_HANDLER", "_"),
        )
    ),
    *(
        ({"environment": {name: "x"}}, "environment: .* is no name of a variable")
        for name in ("A", "", "1A", "A-B", "A B", "ÄÄ", "AB\n")
    ),
    ({"environment": {"AB": 7}}, "environment.AB: must be a string"),
    *(
        ({"environment": {"AB": f"x{value}"}}, f"environment: 'AB'{wanted}")
        for value, wanted in (
            ("\0", " holds what no variable can: write text$"),
            ("\ud800", " holds what no variable can: write text$"),
        )
    ),
    (allowing(actions=["q" * 10_000 + ":X"]), "no service of IAM's is called 'qq*.* … q*'$"),
    ({"environment": {"AB": "x" * 4096}}, "settings and variables take 4... bytes of environment"),
    *(
        ({"secrets": {"KEY": arn}}, f"'KEY': {arn} lacks the six characters .* describe-secret")
        for arn in (SECRET[:-1], SECRET[:-7], f"{SECRET}-v2", SECRET.replace("-a", "_a"))
    ),
    ({"secrets": {"KEY": SECRET.replace("us-east-1", "us-west-2")}}, "secrets.KEY: .*us-west-2"),
    ({"secrets": {"KEY": SECRET.replace("arn:aws", "arn:aws-cn")}}, "in the partition aws-cn"),
    ({"secrets": {"KEY": {"arn": SECRET, "key": "alias/x"}}}, "secrets.KEY.key: write a key's ARN"),
    (
        {"secrets": {"KEY": {"arn": SECRET, "key": KEY.replace("us-east-1", "us-west-2")}}},
        "secrets.KEY: .*key/.* is of us-west-2",
    ),
    ({"secrets": {"KEY": {"arm": SECRET}}}, r"KEY.arn is missing|arm is not a setting"),
    ({"secrets": {"KEY": {"arn": SECRET, "kye": KEY}}}, "kye is not a setting. Did you mean 'key'"),
    ({"secrets": {"REWARD_KEY": SECRET}}, "'REWARD_KEY': names that begin with REWARD_"),
    ({"secrets": {"KEY": f"{PARAMETER}*"}}, "'KEY': write the ARN"),
    ({"secrets": {"KEY": SECRET}, "environment": {"KEY": "x"}}, "secrets.KEY: `environment` has"),
    ({"vpc": {}}, "vpc.subnets is missing"),
    ({"vpc": VPC | {"subnets": []}}, "vpc.subnets: must name 1 at least$"),
    ({"vpc": {"subnets": VPC["subnets"]}}, "vpc.security_groups is missing"),
    ({"vpc": VPC | {"subnets": ["vpc-01234567"]}}, "vpc.subnets.0: write a subnet's id"),
    ({"vpc": VPC | {"subnet": []}}, "vpc.subnet is not a setting. Did you mean 'subnets'"),
]


@pytest.mark.parametrize(("given", "message"), WRONG, ids=str)
def test_what_cannot_be_given_is_one_sentence(given, message):
    with pytest.raises(BadStage, match=message) as caught:
        stage(**given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "value",
    ["hunter2", {"arn": "hunter2"}, {"value": "hunter2"}, ["hunter2"], {"arn": SECRET, "key": 7}],
)
def test_a_secret_s_value_is_refused_and_never_repeated(value):
    with pytest.raises(BadStage) as caught:
        stage(secrets={"KEY": value})
    assert "hunter2" not in str(caught.value)


def test_a_variable_of_a_secret_holds_its_arn():
    made = stage(secrets={"KEY": SECRET}, environment={"CASES": "x"}).deployments[0]
    assert made.variables() == {"CASES": "x", "KEY": SECRET}


def test_without_rights_a_verifier_writes_its_log_and_no_more():
    assert set(statements_of({})) == {"logs"}
    assert set(statements_of({"environment": {"CASES": "x"}})) == {"logs"}


def test_a_role_may_what_was_stated_and_nothing_else():
    condition = {"Bool": {"aws:SecureTransport": True}}
    found = statements_of(allowing(condition=condition) | {"secrets": {"KEY": SECRET}, "vpc": VPC})
    assert found["stated"] == [
        {
            "Sid": "Stated1",
            "Effect": "Allow",
            "Action": ["s3:GetObject"],
            "Resource": [OBJECT],
            "Condition": condition,
        }
    ]
    (reading,) = found["secrets"]  # AWS's own key needs no right
    assert (reading["Action"], reading["Resource"]) == (["secretsmanager:GetSecretValue"], [SECRET])
    assert set(found) == {"logs", "stated", "secrets", "network"}


def test_a_judge_keeps_its_models_beside_what_it_is_given():
    found = statements_of({"reward": "reference", "judge": JUDGE} | allowing())
    assert set(found) == {"logs", "judge", "stated"}


@pytest.mark.parametrize(("immutable", "ending"), [(False, ""), (True, "--*")])
def test_to_a_function_s_own_code_the_network_is_denied(immutable, ending):
    *_, denied = statements_of({"vpc": VPC, "immutable": immutable})["network"]
    assert denied["Effect"] == "Deny"
    function = PLACE.arn("lambda", f"function:SageMaker-reward-dev-lookup{ending}")
    assert denied["Condition"] == {"ArnLike": {"lambda:SourceFunctionArn": [function]}}


def test_as_many_statements_as_iam_takes_are_taken():
    many = [allowing(resources=[f"{OBJECT}{n}"])["allow"][0] for n in range(80)]
    made = stage(allow=many)
    documents = of_function(PLACE, made, made.deployments[0]).values()
    size = sum(len(json.dumps(each, separators=(",", ":"))) for each in documents)
    assert MAX_INLINE_POLICIES - 2500 < size <= MAX_INLINE_POLICIES


def test_a_secret_of_another_account_has_a_key_of_its_own():
    """The account's own key decrypts there alone ("Access secrets from a different account")."""

    def of(account, secret):
        given = [{"name": "lookup", "reward": "gsm8k", "secrets": {"KEY": secret}}]
        about = {"region": "us-east-1", "deployments": given}
        about |= {"account": account} if account else {}
        return stage_of({"dev": about}, "dev", HERE)

    other = "999999999999"
    assert of("123456789012", SECRET)
    assert of(other, {"arn": SECRET, "key": KEY})
    assert of(other, PARAMETER)  # which may be plain text
    assert of(None, SECRET)
    with pytest.raises(BadStage, match=f"secrets.KEY: .*of another account .* {other}, .*`key`"):
        of(other, SECRET)


@pytest.mark.parametrize("region", ["cn-north-1", "us-gov-west-1"])
def test_rights_are_of_the_stage_s_partition(region):
    partition = {"cn-north-1": "aws-cn", "us-gov-west-1": "aws-us-gov"}[region]
    assert stage(region=region, **allowing(resources=[f"arn:{partition}:s3:::cases/a"]))
    with pytest.raises(BadStage, match="no role reaches across"):
        stage(region=region, **allowing())


SERVICES = [
    # how actions begin, and clients that botocore has for them
    ("athena", {"athena"}),
    ("states", {"stepfunctions"}),
    ("elasticfilesystem", {"efs"}),
    ("bedrock", {"bedrock", "bedrock-runtime", "bedrock-agent-runtime"}),
    ("es", {"es", "opensearch"}),
    ("aoss", {"opensearchserverless"}),
    ("cassandra", {"keyspaces"}),
    ("tag", {"resourcegroupstaggingapi"}),
    ("iot", {"iot", "iot-data"}),
    ("sagemaker-mlflow", set()),
    ("rds-db", set()),
]


@pytest.mark.parametrize(("prefix", "called"), SERVICES)
def test_what_is_allowed_ships_with_its_client(prefix, called):
    assert known(prefix)
    assert known(prefix.upper())
    (made,) = stage(**allowing(actions=[f"{prefix}:GetX"])).deployments
    assert services(made) >= called
    assert bool(services(made)) == bool(called)


def test_a_secret_ships_with_the_client_of_its_store():
    (made,) = stage(secrets={"KEY": PARAMETER, "OTHER": SECRET}).deployments
    assert services(made) == {"ssm", "secretsmanager"}


@pytest.mark.parametrize("service", ["nosuch", "atena", "", "Athena", "athena "])
def test_a_service_that_botocore_does_not_have_is_refused(service):
    with pytest.raises(BadStage, match=f"aws_services: botocore has no service '{service}'"):
        stage_of({"dev": {"region": "us-east-1", "aws_services": [service]}}, "dev", HERE)
    assert service not in clients()


GIVEN = {
    "nothing": ({}, False),
    "variables": ({"environment": {"MODE": "strict"}}, False),
    "rights": (allowing(), True),
    "secrets": ({"secrets": {"LOOKUP_KEY": SECRET}}, True),
    "a network": ({"vpc": VPC}, True),
    "tracing": ({"tracing": True}, True),
}


@pytest.mark.parametrize("name", GIVEN)
def test_a_function_that_is_given_more_than_a_log_has_a_role_of_its_own(name):
    given, another = GIVEN[name]
    assert needs_another_role(stage(**given).deployments[0]) == another


def test_the_logs_of_functions_are_granted_in_both_forms_and_once():
    function = PLACE.arn("lambda", "function:reward-dev-")
    granted = [*versions_of(f"{function}gsm8k"), *generations_of(f"{function}math")]
    gsm8k, math = (
        PLACE.arn("logs", f"log-group:/aws/lambda/reward-dev-{name}") for name in ("gsm8k", "math")
    )
    assert logs_of(PLACE, granted) == [gsm8k, f"{gsm8k}:*", math, f"{math}:*"]
    assert only_versions(granted) == [f"{function}gsm8k:*", *generations_of(f"{function}math")]
