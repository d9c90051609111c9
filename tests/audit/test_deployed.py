"""A deployment is audited through its ARN alone: what is right passes, what is wrong is found."""

import pytest

from reward_functions import sample
from reward_functions.audit.engine import audit
from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings
from tests.lambda_api import Function, lambda_api

ALIAS = "arn:aws:lambda:us-east-1:123456789012:function:SageMaker-rewards-dev-gsm8k:live"

ROWS = [
    sample("", str(at * 4 + 17), prompt=f"What is {at} times 4, plus 17?", id=f"r{at}")
    for at in range(12)
]

right = bind(LambdaSettings(name="gsm8k", service="audited", log_level="CRITICAL"))


def flags_dropped(rows):
    """What could not be scored is 0, and no metric says so."""
    results = right(rows, None)
    for each in results:
        each["metrics_list"] = [
            metric | {"value": 0.0} if metric["name"] in FLAGS else metric
            for metric in each["metrics_list"]
        ]
    return results


FLAGS = ("bad_reference", "unscored", "imputed")


def ids_shifted(rows):
    """Each result has the id of the next row."""
    results = right(rows, None)
    ids = [each["id"] for each in results]
    return [each | {"id": name} for each, name in zip(results, ids[1:] + ids[:1], strict=True)]


def reversed_order(rows):
    return right(rows, None)[::-1]


def scores_shifted(rows):
    """Every id stands where it should, with the result of the row before it."""
    results = right(rows, None)
    return [
        each | {"id": row["id"]}
        for each, row in zip(results[-1:] + results[:-1], rows, strict=True)
    ]


@pytest.fixture
def audited(monkeypatch):
    """The audit of an alias, and how often its function was asked."""
    functions = {}
    with lambda_api(functions) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", address)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        monkeypatch.delenv("AWS_PROFILE", raising=False)

        def audited(handler):
            functions[ALIAS] = Function([handler])
            return audit(ALIAS, ROWS, without=["EX-HOSTILE"], allow_undecided=True)

        yield audited


def found(done):
    return {each.id for each in done.findings if each.verdict == "broken"}


def test_an_alias_that_scores_as_it_should_passes(audited):
    done = audited(lambda rows: right(rows, None))
    assert (done.failures, found(done), done.status) == ([], set(), 0)
    assert (done.target["kind"], done.target["name"]) == (
        "deployment",
        "SageMaker-rewards-dev-gsm8k",
    )


WRONG = {
    # the function: (the finding, what it says)
    flags_dropped: ("CONTRACT", "earns 0, and no metric says that this is no score"),
    ids_shifted: ("CONTRACT", "order"),
    reversed_order: ("CONTRACT", "order"),
    scores_shifted: ("DETERMINISM", "shuffled or alone"),
}


@pytest.mark.parametrize("handler", WRONG)
def test_one_that_is_wrong_is_found(handler, audited):
    name, says = WRONG[handler]
    done = audited(handler)
    (finding,) = [each for each in done.findings if each.id == name]
    assert finding.verdict == "broken"
    assert says in finding.message
    assert done.failures
    assert done.status in (
        1,
        2,
    )  # 2 where no batch is answered in order, so that no row has a score


SOURCE = """
def handler(rows, context):
    results = [scored(row) for row in rows]
    names = [each["id"] for each in results]
    return [each | {"id": name} for each, name in zip(results, names[1:] + names[:1])]


def scored(row):
    try:
        value = float(row["messages"][-1]["content"].split()[-1] == row["reference_answer"])
    except Exception:
        value = 0.0
    metric = {"name": "right", "value": value, "type": "Metric"}
    return {"id": row["id"], "aggregate_reward_score": value, "metrics_list": [metric]}
"""
"""Somebody else's in Lambda: each result has the id of the next, and what fails is 0."""


def test_on_the_local_aws_a_wrong_alias_is_found(
    deployed_function, root_session, local_aws, monkeypatch
):
    """tests/deploy has one that is right."""
    for name, value in local_aws.environment.items():
        monkeypatch.setenv(name, value)
    client, function = root_session.client("lambda"), deployed_function(SOURCE)
    version = client.publish_version(FunctionName=function)["Version"]
    alias = client.create_alias(FunctionName=function, Name="live", FunctionVersion=version)
    done = audit(alias["AliasArn"], ROWS[:2], classes=["EX-LIST"], repeat=2, allow_undecided=True)
    (contract,) = [each for each in done.findings if each.id == "CONTRACT"]
    assert not done.passed
    assert "order" in contract.message
    assert "earns 0, and no metric says that this is no score" in contract.message
