"""The role of a job is read and simulated before a job fails for it; the emulator's IAM decides."""

from __future__ import annotations

import json
from itertools import count

import pytest
from botocore.exceptions import ClientError

from reward_functions.tools.deployed.arn import FunctionArn
from reward_functions.tools.jobs.checks.role import Uses, role_findings
from reward_functions.tools.jobs.checks.trust import trust_finding

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

    def made(rights=RIGHTS, path="/", denied=()):
        name = f"training-{next(NUMBERS)}"
        iam.create_role(
            RoleName=name, Path=path, AssumeRolePolicyDocument=json.dumps(trust(**conditions()))
        )
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
        self.session, self.operations = session, operations

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
        # IAM keeps no such document; a double, or a client that does not decode, may show one
        ({"Statement": ["x", 3, None]}, "unknown"),
        ("{}", "unknown"),
        (None, "unknown"),
        (trust(StringEquals="x"), "unknown"),
        ({"Statement": [trust()["Statement"][0] | {"Condition": None}]}, "unknown"),
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
    assert trust_finding(document, "us-east-1", ACCOUNT).verdict == verdict


@pytest.mark.parametrize(
    ("region", "partition"),
    [("us-east-1", "aws"), ("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")],
)
def test_every_partition_has_its_own_arns(region, partition):
    job = f"arn:{partition}:bedrock:{region}:{ACCOUNT}:model-customization-job/*"
    document = trust(ArnEquals={"aws:SourceArn": job})
    assert trust_finding(document, region, ACCOUNT).verdict == "ok"
