"""The catalogue by a stand-in for Parameter Store: what is there, and what is no record."""

from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError

from reward_functions.aws.arn import BadArn, FunctionArn
from reward_functions.aws.deployed import catalogue
from reward_functions.aws.deployed.catalogue import (
    NotDeployed,
    deployment_named,
    deployment_of,
    deployments,
    find,
    names_in,
    other_stages,
    stage_record,
    write,
)
from reward_functions.aws.failures import AwsFailed
from tests.aws.deployed.test_versions import ARN, RECORD


class Store:
    """Parameters by their names; a code for what may not be done."""

    def __init__(self, values, **codes):
        self.values, self.codes = values, codes
        self.put = []

    def _refuse(self, code):
        raise ClientError({"Error": {"Code": code, "Message": "no"}}, "any")

    def get_parameter(self, **asked):
        if code := self.codes.get("get"):
            self._refuse(code)
        if asked["Name"] not in self.values:
            self._refuse("ParameterNotFound")
        return {"Parameter": {"Value": self.values[asked["Name"]]}}

    def get_paginator(self, _):
        def paginate(**asked):
            if code := self.codes.get("list"):
                self._refuse(code)
            assert asked["Recursive"]
            found = {k: v for k, v in self.values.items() if k.startswith(asked["Path"])}
            return [{"Parameters": [{"Name": k, "Value": v}]} for k, v in found.items()]

        return SimpleNamespace(paginate=paginate)

    def put_parameter(self, **asked):
        if code := self.codes.get("put"):
            self._refuse(code)
        self.put.append(asked)


def place(name, stage="dev"):
    return catalogue.deployment_parameter(stage, name)


@pytest.fixture
def store(monkeypatch):
    def made(*names, more=(), **codes):
        values = {
            place(name): RECORD.model_copy(update={"name": name}).model_dump_json()
            for name in names
        }
        found = Store(values | dict(more), **codes)
        monkeypatch.setattr(catalogue, "_client", lambda *_: found)
        return found

    return made


def test_a_deployment_is_found_by_its_name_or_by_its_function(store):
    store("gsm8k")
    assert find("gsm8k", "dev") == RECORD
    assert list(deployments("dev")) == [RECORD]
    assert deployment_named("gsm8k", "dev") == (FunctionArn.parse(f"{ARN}:7"), RECORD)
    assert deployment_named(f"{ARN}:3", "dev") == (FunctionArn.parse(f"{ARN}:3"), RECORD)
    with pytest.raises(BadArn):
        deployment_named("arn:aws:s3:::bucket", "dev")


@pytest.mark.parametrize(
    ("arn", "known"),
    [
        (ARN, True),
        (f"{ARN}:live", True),
        (f"{ARN}--0a1b2c3d", True),
        (ARN.replace("us-east-1", "eu-west-1"), False),
        (ARN.replace("123456789012", "210987654321"), False),
        (ARN.replace(":SageMaker-", ":acme-SageMaker-"), False),
        (ARN.replace(":SageMaker-", ":acmeSageMaker-"), False),
        (ARN.replace("-dev-", "-prod-"), False),
        (ARN.replace("gsm8k", "math"), False),
        ("arn:aws:lambda:us-east-1:123456789012:function:of-nobody", False),
    ],
)
def test_a_function_is_of_a_deployment_by_its_name_place_and_account(arn, known, store):
    store("gsm8k")
    assert (deployment_of(FunctionArn.parse(arn), "dev") is not None) == known


@pytest.mark.parametrize(
    ("names", "codes", "asked", "words"),
    [
        (["gsm8k"], {}, "gsm8", "has no deployment 'gsm8'. Did you mean 'gsm8k'"),
        ([], {}, "gsm8k", "stage 'dev' has no deployments in this account and region: deploy it"),
        (["math"], {}, "SageMaker-reward-dev-math", "the name of a function: .* is called 'math'"),
        (["math"], {}, "acme-SageMaker-reward-dev-math:3", "its deployment is called 'math'"),
        (["gsm8k"], {"get": "ValidationException"}, "a b", "has no deployment 'a b'"),
        (
            [],
            {"list": "AccessDeniedException"},
            "x",
            "has no deployment 'x'; `reward deployed list",
        ),
    ],
)
def test_what_is_not_deployed_is_said_with_what_may_be_meant(names, codes, asked, words, store):
    store(*names, **codes)
    with pytest.raises(NotDeployed, match=words):
        find(asked, "dev")


@pytest.mark.parametrize(
    ("codes", "hint"),
    [
        ({"get": "AccessDeniedException"}, True),
        ({"get": "ThrottlingException"}, False),
        ({"list": "ThrottlingException"}, False),
    ],
)
def test_a_catalogue_that_cannot_be_read_is_no_empty_one(codes, hint, store, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REWARD_STAGE", raising=False)
    store(**codes)
    with pytest.raises(AwsFailed, match="reading the catalogue") as raised:
        find("gsm8k", "dev")
    assert not isinstance(raised.value, NotDeployed)
    assert ("nobody typed a stage" in str(raised.value)) == hint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not a .* of this version: the value: Invalid JSON"),
        ("{}", "of this version: name: Field required"),
        ('{"name": 7}', "of this version: name: Input should be a valid string"),
    ],
)
def test_what_is_no_record_is_named_and_not_quoted(text, words, store):
    store(more={place("gsm8k"): text}.items())
    with pytest.raises(AwsFailed, match=words) as raised:
        find("gsm8k", "dev")
    assert "pydantic" not in str(raised.value)
    assert "input_value" not in str(raised.value)


def test_a_stage_that_is_not_there_is_not_deployed(store):
    store()
    with pytest.raises(NotDeployed, match="stage 'dev' has no deployments"):
        stage_record("dev")
    store(get="ThrottlingException")
    with pytest.raises(AwsFailed, match="reading the catalogue") as raised:
        stage_record("dev")
    assert not isinstance(raised.value, NotDeployed)


def test_other_stages_are_those_of_other_names(store):
    more = {place("a", "prod"): "1", place("b", "prod"): "2", place("c", "old"): "3"}
    store("gsm8k", more=more.items())
    assert other_stages("dev") == {"prod": ["1", "2"], "old": ["3"]}
    assert set(other_stages("none")) == {"dev", "prod", "old"}


def test_functions_of_records_that_cannot_be_read_have_no_prefix():
    assert names_in("dev", ["{", "{}"]).prefix == ""
    assert names_in("dev", []).stage == "dev"


def test_a_record_is_written_over_the_one_that_is_there(store):
    found = store()
    write("dev", RECORD)
    ((asked),) = found.put
    assert asked == {
        "Name": place("gsm8k"),
        "Value": RECORD.model_dump_json(),
        "Type": "String",
        "Overwrite": True,
    }
    store(put="AccessDeniedException")
    with pytest.raises(AwsFailed, match="writing the catalogue"):
        write("dev", RECORD)
