"""The role of a job is read and simulated before a job fails for it; the emulator's IAM decides."""

from __future__ import annotations

import json
from itertools import count

import boto3
import pytest
from botocore.exceptions import ClientError

from reward_functions.aws.arn import FunctionArn
from reward_functions.cdk.policies import permissions, sagemaker
from reward_functions.cdk.policies.documents import AGENTS, KINDS
from reward_functions.cdk.policies.iam import Place, versions_of
from reward_functions.jobs.role_checks import (
    Uses,
    actions,
    role_findings,
    trust_finding,
)
from reward_functions.jobs.services import SERVICES

BEDROCK = SERVICES["bedrock"]

ACCOUNT = "000000000000"
GRADER = FunctionArn.parse(f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:SageMaker-reward-dev-x:7")
USES = Uses(GRADER, ("s3://bucket/rft-data/jobs/x.jsonl",), "s3://bucket/rft-output/x/")
NUMBERS = count()

RIGHTS = {
    "lambda:InvokeFunction": str(GRADER),
    "s3:GetObject": "arn:aws:s3:::bucket/rft-data/*",
    "s3:PutObject": "arn:aws:s3:::bucket/rft-output/*",
}


def trust(service="bedrock.amazonaws.com", effect="Allow", **condition):
    statement = {"Effect": effect, "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return {
        "Version": "2012-10-17",
        "Statement": [statement | ({"Condition": condition} if condition else {})],
    }


def conditions(account=ACCOUNT, region="us-east-1", operator="ArnEquals"):
    job = f"arn:aws:bedrock:{region}:{account}:model-customization-job/*"
    return {
        "StringEquals": {"aws:SourceAccount": account},
        operator: {"aws:SourceArn": job},
    }


@pytest.fixture
def role(root_session, local_aws, monkeypatch):
    """Make a role with some rights; returns its ARN."""
    for name, value in local_aws.environment.items():
        monkeypatch.setenv(name, value)
    iam = root_session.client("iam")

    def made(rights=RIGHTS, path="/", denied=(), trusted=None):
        name = f"training-{next(NUMBERS)}"
        document = json.dumps(trusted or trust(**conditions()))
        iam.create_role(RoleName=name, Path=path, AssumeRolePolicyDocument=document)
        statements = [
            {"Effect": "Deny" if action in denied else "Allow", "Action": action, "Resource": on}
            for action, on in rights.items()
        ]
        document = {"Version": "2012-10-17", "Statement": statements}
        if statements:
            iam.put_role_policy(
                RoleName=name, PolicyName="rights", PolicyDocument=json.dumps(document)
            )
        return f"arn:aws:iam::{ACCOUNT}:role{path}{name}"

    return made


def findings(root_session, role, uses=USES):
    return list(role_findings(role, uses, "us-east-1", root_session))


def failures(found):
    return [each.message for each in found if each.verdict == "failure"]


@pytest.mark.parametrize("path", ["/", "/reward-functions/dev/"])
def test_a_role_with_its_rights_passes(root_session, role, path):
    found = findings(root_session, role(path=path))
    assert {each.question: each.verdict for each in found} == {"trust": "ok", "rights": "ok"}


@pytest.mark.parametrize(
    ("lacks", "sentence"),
    [
        ("lambda:InvokeFunction", "may not invoke the version: lambda:InvokeFunction on arn:aws"),
        ("s3:GetObject", "may not read s3://bucket/rft-data/jobs/x.jsonl"),
        ("s3:PutObject", "may not write below s3://bucket/rft-output/x/"),
    ],
)
def test_a_right_that_is_missing_is_named(root_session, role, lacks, sentence):
    (message,) = failures(findings(root_session, role({**RIGHTS, lacks: "arn:aws:x:::y"})))
    assert sentence in message
    assert "not allowed by any policy; deploy the stage again" in message


def test_a_right_that_is_denied_is_named_so(root_session, role):
    (message,) = failures(findings(root_session, role(denied={"s3:GetObject"})))
    assert "is denied by a policy" in message


def test_a_grant_of_the_plain_function_is_none_of_its_version(root_session, role):
    plain = {**RIGHTS, "lambda:InvokeFunction": str(GRADER).removesuffix(":7")}
    assert "may not invoke the version" in failures(findings(root_session, role(plain)))[0]


def test_a_folder_of_logs_is_read_below_it(root_session, role):
    logs = Uses(GRADER, ("s3://logs/AWSLogs/",), "s3://bucket/rft-output/x/")
    allowed = role({**RIGHTS, "s3:GetObject": "arn:aws:s3:::logs/AWSLogs/*"})
    assert not failures(findings(root_session, allowed, logs))
    assert failures(findings(root_session, role(), logs))


@pytest.mark.parametrize(
    ("role_arn", "sentence"),
    [
        (f"arn:aws:iam::{ACCOUNT}:role/nobody", "there is no role"),
        ("r", "'r' is not the ARN of a role"),
    ],
)
def test_a_role_that_is_not_there_is_a_failure(root_session, role, role_arn, sentence):
    (message,) = failures(findings(root_session, role_arn))
    assert sentence in message


class Denying:
    """A session whose IAM denies some operations."""

    def __init__(self, session, *operations):
        given = session.get_credentials()
        self.session = boto3.Session(
            given.access_key, given.secret_key, region_name=session.region_name
        )
        self.operations = operations

    def client(self, *arguments, **options):
        client = self.session.client(*arguments, **options)

        def refuse(params, model, **_):
            if model.name in self.operations:
                error = {"Error": {"Code": "AccessDenied", "Message": "no"}}
                raise ClientError(error, model.name)

        client.meta.events.register("before-call", refuse)
        return client


@pytest.mark.parametrize(
    ("operation", "question", "permission"),
    [
        ("GetRole", "trust", "iam:GetRole is not allowed here"),
        ("SimulatePrincipalPolicy", "rights", "iam:SimulatePrincipalPolicy is not allowed here"),
    ],
)
def test_what_may_not_be_read_is_unknown(root_session, role, operation, question, permission):
    found = findings(Denying(root_session, operation), role())
    unknown = {each.question: each.message for each in found if each.verdict == "unknown"}
    assert unknown == {question: permission}
    assert not failures(found)


def stating(**changed):
    """The trust of one statement, changed."""
    return {"Statement": [trust()["Statement"][0] | changed]}


def without(field, **changed):
    statement = stating(**changed)["Statement"][0]
    return {"Statement": [{name: value for name, value in statement.items() if name != field}]}


def both(**changed):
    """The usual Allow, and a Deny of the same, changed."""
    allow = trust()["Statement"][0]
    return {"Statement": [allow, allow | {"Effect": "Deny"} | changed]}


@pytest.mark.parametrize(
    ("document", "verdict"),
    [
        (trust(), "ok"),
        (trust(**conditions()), "ok"),
        (trust(**conditions(operator="ArnLike")), "ok"),
        (trust(["bedrock.amazonaws.com", "lambda.amazonaws.com"]), "ok"),
        (trust(**conditions(account="1" * 12)), "failure"),
        (trust(**conditions(region="us-west-2")), "failure"),
        (trust("lambda.amazonaws.com"), "failure"),
        (trust(effect="Deny"), "failure"),
        (trust(StringEquals={"aws:PrincipalTag/x": "y"}), "unknown"),
        (trust(DateLessThan={"aws:SourceAccount": "2026"}), "unknown"),
        ({"Statement": trust()["Statement"][0]}, "ok"),
        ({"Statement": []}, "failure"),
        ({}, "failure"),
        ({"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "sts:*"}]}, "ok"),
        ({"Statement": [{"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:*"}]},
         "failure"),
        # a plain string names nobody but "*": a service stands in an object of its own
        (stating(Principal="bedrock.amazonaws.com"), "failure"),
        (stating(Action="sts:Assume*"), "ok"),
        (stating(Action=["STS:assumeROLE"]), "ok"),
        (stating(Action="sts:AssumeRoleWith*"), "failure"),
        (without("Action", NotAction="s3:*"), "ok"),
        (without("Action", NotAction="sts:*"), "failure"),
        (without("Principal", NotPrincipal={"AWS": "*"}), "unknown"),
        # condition keys are not case-sensitive, their values are
        (trust(StringEquals={"AWS:sourceaccount": ACCOUNT}), "ok"),
        (trust(StringNotEquals={"aws:SourceAccount": ACCOUNT}), "failure"),
        (trust(StringEqualsIfExists={"aws:SourceAccount": ACCOUNT}), "ok"),
        # an explicit Deny overrides any Allow, where it applies
        (both(), "failure"),
        (both(Action="s3:GetObject"), "ok"),
        (both(Principal="*"), "failure"),
        (both(Condition={"StringEquals": {"aws:SourceAccount": "1" * 12}}), "ok"),
        (both(Condition={"StringEquals": {"aws:SourceAccount": ACCOUNT}}), "failure"),
        (both(Condition={"Bool": {"aws:SecureTransport": "false"}}), "unknown"),
    ],
)  # fmt: skip
def test_who_is_trusted(document, verdict):
    assert trust_finding(document, "us-east-1", ACCOUNT, BEDROCK).verdict == verdict


@pytest.mark.parametrize(
    ("region", "partition"),
    [("us-east-1", "aws"), ("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")],
)
def test_every_partition_has_its_own_arns(region, partition):
    job = f"arn:{partition}:bedrock:{region}:{ACCOUNT}:model-customization-job/*"
    document = trust(ArnEquals={"aws:SourceArn": job})
    assert trust_finding(document, region, ACCOUNT, BEDROCK).verdict == "ok"


def test_a_job_that_runs_as_no_role_has_no_trust_to_read():
    with pytest.raises(RuntimeError, match="OpenAI-compatible API run as no role"):
        trust_finding(trust(), "us-east-1", ACCOUNT, SERVICES["openai"])


PLACE = Place("aws", "us-east-1", ACCOUNT)
TRUSTS = {
    "bedrock": KINDS["bedrock"].trust(PLACE),
    "sagemaker": KINDS["sagemaker"].trust(PLACE),
    "agent-rft": KINDS[AGENTS].trust(PLACE),
}


@pytest.mark.parametrize("driver", [name for name, each in SERVICES.items() if each.role])
@pytest.mark.parametrize("trusted", TRUSTS)
def test_each_kind_of_job_is_trusted_by_the_role_that_is_made_for_it_and_by_no_other(
    driver, trusted
):
    found = trust_finding(TRUSTS[trusted], "us-east-1", ACCOUNT, SERVICES[driver])
    assert found.verdict == ("ok" if driver == trusted else "failure")
    assert SERVICES[driver].role.principal in found.message


@pytest.mark.parametrize("driver", [name for name, each in SERVICES.items() if each.role])
@pytest.mark.parametrize(
    ("region", "account"),
    [("us-west-2", ACCOUNT), ("us-east-1", "1" * 12), ("cn-north-1", ACCOUNT)],
)
def test_no_role_trusts_the_jobs_of_another_account_or_region(driver, region, account):
    assert trust_finding(TRUSTS[driver], region, account, SERVICES[driver]).verdict == "failure"


def tagging(*actions, effect="Allow", condition=None):
    statement = {
        "Effect": effect,
        "Principal": {"Service": "job.sagemaker.amazonaws.com"},
        "Action": [*actions],
    }
    return statement | ({"Condition": condition} if condition else {})


TAKEN, TAGGED = "sts:AssumeRole", "sts:TagSession"
UNKNOWN = {"Bool": {"aws:SecureTransport": "true"}}


@pytest.mark.parametrize(
    ("statements", "verdict", "sentence"),
    [
        ([tagging(TAKEN, TAGGED)], "ok", "may take the role on"),
        ([tagging(TAKEN), tagging(TAGGED)], "ok", "may take the role on"),
        ([tagging("sts:*")], "ok", "may take the role on"),
        ([tagging("sts:assumerole", "STS:TagSession")], "ok", "may take the role on"),
        ([tagging(TAKEN)], "failure", "does not trust job.sagemaker.amazonaws.com by sts:TagSess"),
        ([tagging(TAGGED)], "failure", "does not trust job.sagemaker.amazonaws.com by sts:Assume"),
        ([tagging("sts:SetSourceIdentity")], "failure", "job.sagemaker.amazonaws.com for jobs of"),
        ([tagging(TAKEN, TAGGED), tagging(TAGGED, effect="Deny")], "failure", "denies job.sage"),
        ([tagging(TAKEN), tagging(TAGGED, condition=UNKNOWN)], "unknown", "condition"),
        ([tagging(TAKEN, condition=UNKNOWN)], "failure", "by sts:TagSession"),
        ([], "failure", "does not trust job.sagemaker.amazonaws.com for jobs of"),
    ],
)
def test_a_multi_turn_job_takes_its_role_on_and_tags_its_session(statements, verdict, sentence):
    document = {"Version": "2012-10-17", "Statement": statements}
    found = trust_finding(document, "us-east-1", ACCOUNT, SERVICES["agent-rft"])
    assert (found.verdict, sentence in found.message) == (verdict, True)


FORWARDER = PLACE.arn("lambda", "function:SageMaker-agent")
RUNTIME = PLACE.arn("bedrock-agentcore", "runtime/agent-0123456789")
EVALUATOR = PLACE.arn("sagemaker", "hub-content/04ks/JsonDoc/gsm8k/1.0.0")
BASE = "arn:aws:sagemaker:us-east-1:aws:hub-content/SageMakerPublicHub/Model/qwen3-8b/1.2.0"
OF_SAGEMAKER = Uses(
    GRADER, USES.data, USES.output, "sagemaker", evaluator=EVALUATOR, base=BASE,
    packages="math", mlflow=PLACE.arn("sagemaker", "mlflow-app/app-1"), judge="openai.gpt-oss-20b",
)  # fmt: skip
OF_AGENT = Uses(None, USES.data, USES.output, "agent-rft", base=BASE, agent=FORWARDER)


def granting(*documents):
    """The statements of some documents, without the conditions that a simulation cannot meet."""
    statements = [each for document in documents for each in document["Statement"]]
    return {
        "Version": "2012-10-17",
        "Statement": [{k: v for k, v in each.items() if k != "Condition"} for each in statements],
    }


DATA = "arn:aws:s3:::bucket"
CUSTOMIZED = granting(
    permissions.train(versions_of(str(GRADER).removesuffix(":7")), DATA),
    sagemaker.customize(PLACE),
)
ROLLED_OUT = granting(sagemaker.roll_out(PLACE, agents=[FORWARDER, RUNTIME], bucket_arn=DATA))


@pytest.fixture
def made(root_session, role):
    """Make a role as the stage does, for a driver; returns its ARN."""

    def made(driver, document):
        arn = role({}, path="/service-role/", trusted=TRUSTS[driver])
        root_session.client("iam").put_role_policy(
            RoleName=arn.rpartition("/")[2], PolicyName="work", PolicyDocument=json.dumps(document)
        )
        return arn

    return made


@pytest.mark.parametrize(
    ("uses", "document"),
    [
        (OF_SAGEMAKER, CUSTOMIZED),
        (OF_SAGEMAKER._replace(grader=None, evaluator="", packages="", mlflow=""), CUSTOMIZED),
        (OF_AGENT, ROLLED_OUT),
        (OF_AGENT._replace(agent=f"{FORWARDER}:live"), ROLLED_OUT),
        (OF_AGENT._replace(agent=RUNTIME), ROLLED_OUT),
    ],
    ids=["graded", "preset", "forwarder", "alias", "runtime"],
)
def test_the_roles_of_sagemaker_s_jobs_may_do_what_preflight_asks_of_them(
    root_session, made, uses, document
):
    found = findings(root_session, made(uses.driver, document), uses)
    assert {each.question: each.verdict for each in found} == {"trust": "ok", "rights": "ok"}


LACKS = [
    # what a role lacks, what the job uses, the sentence
    ("lambda:InvokeFunction", OF_SAGEMAKER, "invoke the version: lambda:Inv"),
    ("sagemaker:DescribeHubContent", OF_SAGEMAKER, "may not read the evaluator: sagemaker:Desc"),
    ("sagemaker:CreateModelPackage", OF_SAGEMAKER, "may not make a model package"),
    ("sagemaker-mlflow:LogBatch", OF_SAGEMAKER, "may not write figures: sagemaker-mlflow:LogBatch"),
    ("logs:PutLogEvents", OF_SAGEMAKER, "may not write logs"),
    ("bedrock:InvokeModel", OF_SAGEMAKER, "may not ask the judge openai.gpt-oss-20b"),
    ("lambda:InvokeFunction", OF_AGENT, "name the agent in job_rights.agents of cdk.json"),
    (
        "bedrock-agentcore:InvokeAgentRuntime",
        OF_AGENT._replace(agent=RUNTIME),
        "may not ask the agent: bedrock-agentcore:InvokeAgentRuntime",
    ),
    ("sagemaker:CreateModelPackage", OF_AGENT, "deploy the stage again"),
]


@pytest.mark.parametrize(("lacks", "uses", "sentence"), LACKS, ids=[row[2] for row in LACKS])
def test_a_right_of_sagemaker_s_jobs_that_is_missing_is_named(
    root_session, made, lacks, uses, sentence
):
    document = CUSTOMIZED if uses.driver == "sagemaker" else ROLLED_OUT
    kept = [
        each | {"Action": [action for action in each["Action"] if action != lacks] or ["x:y"]}
        for each in document["Statement"]
    ]
    found = findings(root_session, made(uses.driver, document | {"Statement": kept}), uses)
    assert any(sentence in message for message in failures(found))


@pytest.mark.parametrize(
    ("driver", "sentence"),
    [
        ("sagemaker", "the stage has no such role: set sagemaker_role in cdk.json and deploy"),
        ("agent-rft", "the stage has no such role: name the agent in job_rights.agents"),
        ("bedrock", "the stage has no such role"),
    ],
)
def test_a_stage_without_the_role_says_what_makes_it(root_session, driver, sentence):
    (message,) = failures(findings(root_session, "", USES._replace(driver=driver)))
    assert sentence in message


def test_what_bedrock_s_jobs_are_asked_is_as_it_was():
    asked = [each.action for each in actions("aws", USES, f"us-east-1:{ACCOUNT}")]
    assert asked == ["lambda:InvokeFunction", "s3:GetObject", "s3:PutObject"]
