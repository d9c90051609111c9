"""The settings of a feedback path: written and read again, and refused in one sentence."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.feedback.settings import FeedbackSettings

MATH = "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-reward-dev-math"
SETTINGS = FeedbackSettings(
    stage="dev",
    functions=(MATH, f"{MATH}--*"),
    buckets=("results",),
    queue="https://sqs.us-east-1.amazonaws.com/000000000000/results",
    dead_letters="https://sqs.us-east-1.amazonaws.com/000000000000/dead",
    outbox="dynamodb://outbox?region=us-east-1",
)


@pytest.mark.parametrize(
    "settings", [SETTINGS, replace(SETTINGS, endpoint="http://127.0.0.1:1", receives=5)]
)
def test_what_is_written_is_read(settings):
    assert FeedbackSettings.from_env(settings.to_env() | {"PATH": "/bin"}) == settings


WRONG = {
    "FEEDBACK_STAGE": ("", "FEEDBACK_STAGE is empty"),
    "FEEDBACK_OUTBOX": (None, "FEEDBACK_OUTBOX is not set"),
    "FEEDBACK_FUNCTIONS": (f'{{"{MATH}:": ["7"]}}', "without a qualifier"),
    "FEEDBACK_BUCKETS": ("results", "FEEDBACK_BUCKETS is not a JSON list of strings"),
    "FEEDBACK_RECEIVES": ("0", "FEEDBACK_RECEIVES is not from 1 to 1,000"),
    "FEEDBACK_BUCKET": ("results", "Did you mean"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_variable_is_named(name):
    value, message = WRONG[name]
    environ = SETTINGS.to_env() | {name: value}
    given = {name: value for name, value in environ.items() if value is not None}
    with pytest.raises(ConfigurationError, match=message) as error:
        FeedbackSettings.from_env(given)
    assert name in str(error.value)


@pytest.mark.parametrize("text", ["[]", "{}", "[1]", '[""]', "[" * 9999, "\x00"])
def test_a_list_of_names_is_one(text):
    with pytest.raises(ConfigurationError, match="FEEDBACK_BUCKETS"):
        FeedbackSettings.from_env(SETTINGS.to_env() | {"FEEDBACK_BUCKETS": text})


@pytest.mark.parametrize("text", ["[]", "{}", "[1]", '{"a": "b"}', '{"": [1]}', "{", "1"])
def test_what_names_functions_is_an_object_of_lists(text):
    with pytest.raises(ConfigurationError, match="FEEDBACK_FUNCTIONS"):
        FeedbackSettings.from_env(SETTINGS.to_env() | {"FEEDBACK_FUNCTIONS": text})


STAGE = "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-reward-dev-"
BEGUN = [
    # the ends of ARNs, and what is written once
    (("math", "gsm8k--*"), STAGE),
    (("math", "math-strict", "math--*"), STAGE),
    (("math-a", "math-b--*"), f"{STAGE}math-"),
    (("math",), STAGE),
]


@pytest.mark.parametrize(("ends", "begin"), BEGUN)
def test_what_all_arns_share_is_written_once(ends, begin):
    settings = replace(SETTINGS, functions=tuple(STAGE + end for end in ends))
    environ = settings.to_env()
    assert [*json.loads(environ["FEEDBACK_FUNCTIONS"])] == [begin]
    assert FeedbackSettings.from_env(environ) == settings
