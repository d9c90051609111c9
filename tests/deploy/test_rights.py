"""A reward of one's own that reads a secret and an object, with exactly the rights it states.

The function is made here, of a deployed artifact with one more package in it and of the policies
that a stack would give it; so nothing is synthesised or deployed for it. What the emulator does not
enforce (keys, network interfaces) is decided by the documents: `tests/cdk/policies`.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass

import pytest

from reward_functions import sample
from reward_functions.aws.deployed import DeployedFunction
from reward_functions.aws.deployed.function import FunctionError
from reward_functions.cdk.artifact import closure
from reward_functions.cdk.model.stages import stage_of
from reward_functions.cdk.policies import permissions
from reward_functions.cdk.policies.documents import of_function
from reward_functions.cdk.policies.iam import Place
from tests.deploy.what import ROOT, STAGE

PLACE = Place("aws", "us-east-1", "000000000000")

BUCKET = "acme-cases"

REWARD = '''
import json
import os

import boto3
from aws_lambda_powertools.utilities import parameters

from reward_functions import Example, Score, reward_function


@reward_function(
    name="acme.lookup",
    version=1,
    examples=[Example("positive", response="Canberra", reference="cases/capital.json", score=1.0)],
)
def lookup(sample) -> Score:
    """The response is the answer that lies where the reference says.

    Args:
        sample: the response, with the key of an object as its reference.
    """
    field = parameters.get_secret(os.environ["LOOKUP_KEY"], force_fetch=True)
    s3 = boto3.client("s3")
    s3.list_objects_v2(Bucket=os.environ["CASES"], Prefix="cases/")
    found = s3.get_object(Bucket=os.environ["CASES"], Key=sample.reference)
    answer = json.loads(found["Body"].read())[field]
    return Score(1.0 if sample.response == answer else 0.0)
'''

PACKAGE = {
    "acme_lookup.py": REWARD,
    "acme_lookup-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: acme-lookup\n"
    "Version: 1.0\n",
    "acme_lookup-1.0.dist-info/entry_points.txt": (
        "[reward_functions]\nacme.lookup = acme_lookup:lookup\n"
    ),
}

ALLOW = [
    {"actions": ["s3:GetObject"], "resources": [f"arn:aws:s3:::{BUCKET}/cases/capital.json"]},
    {
        "actions": ["s3:ListBucket"],
        "resources": [f"arn:aws:s3:::{BUCKET}"],
        "condition": {"StringEquals": {"s3:prefix": "cases/"}},
    },
]

REFUSED = "AccessDenied|GetParameterError"

RIGHTS = ["s3:GetObject", "s3:ListBucket", "secretsmanager:GetSecretValue"]


@dataclass
class Lookup:
    """The function, and the policies of its role as they were stated."""

    stage: object
    arn: str
    role: str
    stated: dict

    def give(self, documents):
        """Let the role have these policies, and no others."""
        iam = self.stage.session.client("iam")
        for name in iam.list_role_policies(RoleName=self.role)["PolicyNames"]:
            iam.delete_role_policy(RoleName=self.role, PolicyName=name)
        for name, document in documents.items():
            if document["Statement"]:
                iam.put_role_policy(
                    RoleName=self.role, PolicyName=name, PolicyDocument=json.dumps(document)
                )

    def without(self, action):
        """The policies but for one right."""
        return {
            name: document
            | {"Statement": [each for each in document["Statement"] if each["Action"] != [action]]}
            for name, document in self.stated.items()
        }

    def score(self, *responses, reference="cases/capital.json"):
        function = DeployedFunction(self.arn, session=self.stage.session, attempts=1)
        samples = [sample(each, reference, id=each) for each in responses]
        return [told.score.value for told in function.score(samples)]


def archive_of(stage, function):
    """The zip that a function runs from."""
    found = stage.session.client("lambda").get_function(FunctionName=function)
    connection = stage.aws.connection(30)
    connection.request("GET", found["Code"]["Location"].partition("/_")[2].join(("/_", "")))
    archive = connection.getresponse().read()
    connection.close()
    return archive, found["Configuration"]


@pytest.fixture(scope="module")
def lookup(stage):
    session = stage.session
    s3, secrets, iam = (session.client(name) for name in ("s3", "secretsmanager", "iam"))
    lambda_, name = session.client("lambda"), "SageMaker-reward-local-lookup"
    s3.create_bucket(Bucket=BUCKET)
    for key in ("cases/capital.json", "cases/other.json"):
        s3.put_object(Bucket=BUCKET, Key=key, Body=json.dumps({"answer": "Canberra"}))
    secret = secrets.create_secret(Name="lookup-key", SecretString="answer")["ARN"]
    given = {
        "name": "lookup",
        "reward": "gsm8k",  # whose artifact carries the package
        "allow": ALLOW,
        "secrets": {"LOOKUP_KEY": secret},
        "environment": {"CASES": BUCKET},
    }
    about = {"region": "us-east-1", "emulated": True, "deployments": [given]}
    made = stage_of({STAGE: about}, STAGE, ROOT)
    (deployment,) = made.deployments
    archive, like = archive_of(stage, stage.catalogue["gsm8k"].function_arn)
    packed = io.BytesIO(archive)
    with zipfile.ZipFile(packed, "a") as whole:
        for path, text in PACKAGE.items():
            whole.writestr(path, text)
        # An artifact of ours holds no child for the rewards of others.
        for file in (closure.PACKAGE / "serving" / "isolation").glob("*.py"):
            whole.write(file, file.relative_to(closure.PACKAGE.parent))
    trust = json.dumps(permissions.trust_lambda())
    role = iam.create_role(RoleName="lookup", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    lambda_.create_function(
        FunctionName=name,
        Runtime=like["Runtime"],
        Handler=like["Handler"],
        Role=role,
        Timeout=60,
        Code={"ZipFile": packed.getvalue()},
        Environment={
            "Variables": like["Environment"]["Variables"]
            | deployment.variables()
            | {"REWARD_NAME": "acme.lookup"}
        },
    )
    found = Lookup(
        stage,
        PLACE.arn("lambda", f"function:{name}"),
        "lookup",
        of_function(PLACE, made, deployment),
    )
    found.give(found.stated)
    yield found
    found.give({})
    lambda_.delete_function(FunctionName=name)
    iam.delete_role(RoleName="lookup")
    secrets.delete_secret(SecretId=secret, ForceDeleteWithoutRecovery=True)
    for key in ("cases/capital.json", "cases/other.json"):
        s3.delete_object(Bucket=BUCKET, Key=key)
    s3.delete_bucket(Bucket=BUCKET)


def test_with_the_rights_it_states_it_scores(lookup):
    assert lookup.score("Canberra", "Sydney") == [1.0, 0.0]


@pytest.mark.parametrize("action", RIGHTS)
def test_without_one_of_them_there_is_an_exception_and_no_score(lookup, action):
    lookup.give(lookup.without(action))
    try:
        with pytest.raises(FunctionError, match=REFUSED):
            lookup.score("Canberra")
    finally:
        lookup.give(lookup.stated)


def test_these_are_all_that_it_has_beside_its_log(lookup):
    named = [
        action
        for document in lookup.stated.values()
        for statement in document["Statement"]
        for action in statement["Action"]
    ]
    assert sorted(each for each in named if not each.startswith("logs:")) == RIGHTS


def test_another_object_beside_the_one_it_may_read_is_out_of_reach(lookup):
    with pytest.raises(FunctionError, match=REFUSED):
        lookup.score("Canberra", reference="cases/other.json")
