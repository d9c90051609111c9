"""The names of jobs, and their tags: what AWS takes, whatever is asked for."""

from __future__ import annotations

import re

import pytest
from botocore.session import get_session

from reward_functions.aws.deployed import FunctionArn
from reward_functions.jobs import preparing
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.grader import PinnedGrader
from reward_functions.jobs.tags import ALLOWED, MAX_KEY, MAX_VALUE, fitting, tag, tags
from tests.jobs.memory import Driver, Service

GRADER = PinnedGrader(
    FunctionArn.parse(
        "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-reward-dev-gsm8k:7"
    ),
    deployment="gsm8k",
    reward="gsm8k",
    version=3,
    digest="0123456789abcdef",
)


def limits(shape):
    """What botocore's model of Bedrock says of a string."""
    found = get_session().get_service_model("bedrock").shape_for(shape).metadata
    return found["min"], found["max"], found["pattern"]


@pytest.mark.parametrize("shape", ["JobName", "CustomModelName", "IdempotencyToken"])
@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("gsm8k", "gsm8k"),
        ("word_problems", "word-problems"),  # a deployment may have underscores, a job none
        ("SageMaker-reward-dev-math--0a1b2c3d", "SageMaker-reward-dev-math-0a1b2c3d"),
        ("f" * 64, "f" * 40),
        ("a" * 39 + "_b", "a" * 39),  # the cut leaves no hyphen at the end
        ("_.-", "job"),
    ],
)
def test_every_name_is_one_that_aws_takes(shape, text, prefix):
    assert preparing.prefix_of(text) == prefix
    name = f"{prefix}-0a1b2c3d-{preparing.MAX_RUNS}"
    least, most, pattern = limits(shape)
    assert least <= len(name) <= most
    assert re.fullmatch(pattern, name)


def test_runs_are_counted_by_the_service():
    service = Service()
    driver = Driver(service)
    assert preparing.next_run("a-1", driver) == ("a-1-1", None)
    first = service.begun(name="a-1-1")
    assert preparing.next_run("a-1", driver) == ("a-1-1", first)
    assert preparing.next_run("a-1", driver, again=True) == ("a-1-2", None)
    second = service.begun(name="a-1-2")
    assert preparing.next_run("a-1", driver) == ("a-1-2", second)


def test_runs_have_an_end(monkeypatch):
    monkeypatch.setattr(preparing, "MAX_RUNS", 2)
    service = Service()
    for run in (1, 2):
        service.begun(name=f"a-1-{run}")
    with pytest.raises(BadJob, match="a-1 ran 2 times already"):
        preparing.next_run("a-1", Driver(service), again=True)


def test_the_tags_say_which_reward_and_which_configuration():
    made = tags(GRADER, stage="dev", digest="0a1b2c3d", rows=120, own={"team": "maths"})
    assert made == {
        "reward-functions:deployment": "gsm8k",
        "reward-functions:reward": "gsm8k",
        "reward-functions:version": "3",
        "reward-functions:function-version": "7",
        "reward-functions:digest": "0123456789abcdef",
        "reward-functions:configuration": "0a1b2c3d",
        "reward-functions:stage": "dev",
        "reward-functions:rows": "120",
        "team": "maths",
    }
    assert tag(made, "reward") == "gsm8k"
    assert tag({}, "reward") == ""


@pytest.mark.parametrize(
    ("reason", "fits"),
    [
        ("the demo is today", "the demo is today"),
        ("two\nlines\tand  spaces", "two lines and spaces"),
        ("50 % & <b>…</b>", "50 . . .b.../b."),
        ("ünïcode\u2028", ".n.code"),
        ("x" * 300, "x" * 256),
    ],
)
def test_a_reason_is_cut_to_what_a_tag_may_hold(reason, fits):
    assert fitting(reason) == fits
    _, most, pattern = limits("TagValue")
    assert len(fits) <= most
    assert re.fullmatch(pattern, fits, re.ASCII)


def test_the_limits_of_tags_are_those_of_the_service():
    assert limits("TagKey")[1:] == (MAX_KEY, limits("TagValue")[2])
    assert limits("TagValue")[1] == MAX_VALUE
    assert limits("TagKey")[2] == f"[{ALLOWED}]*"


@pytest.mark.parametrize(
    ("own", "complaint"),
    [
        ({"aws:x": "1"}, "tags: 'aws:x' begins with aws:, which AWS keeps to itself"),
        ({"AWS:x": "1"}, "begins with aws:"),
        ({"reward-functions:reward": "math"}, "has a name that this project gives"),
        ({"": "1"}, "tags: '' is empty"),
        ({"k" * 129: "1"}, "has a name of 129 characters; 128 are allowed"),
        ({"k": "v" * 257}, "has a value of 257 characters; 256 are allowed"),
        ({"k": "a&b"}, "has '&' in its value; letters, digits, spaces and . _ : / = + @ - are"),
        ({f"k{at}": "" for at in range(50)}, "tags: 50 beside 7 of ours are more than the 50"),
    ],
)
def test_a_tag_of_the_users_that_aws_refuses_is_refused_here(own, complaint):
    with pytest.raises(BadJob) as refusal:
        tags(GRADER, stage="dev", digest="0a1b2c3d", own=own)
    assert complaint in str(refusal.value)
