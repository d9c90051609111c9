"""Every class of settings refuses a wrong variable in the sentence that `settings.jsonl` records.

A case is a class, what differs from variables that it accepts (null: one that is not set), and the
message; with null for a message the variables are accepted. `fields` are a stage's words for those
of a function.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.feedback.settings import FeedbackSettings
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.serve.forwarder import ForwarderSettings
from reward_functions.serving.settings import LambdaSettings

ACCEPTED = {
    "function": {"REWARD_NAME": "gsm8k"},
    "feedback": {
        "FEEDBACK_STAGE": "dev",
        "FEEDBACK_FUNCTIONS": '{"arn:aws:lambda:us-east-1:000000000000:function:":["a","a--*"]}',
        "FEEDBACK_BUCKETS": '["results"]',
        "FEEDBACK_QUEUE": "https://sqs.us-east-1.amazonaws.com/000000000000/results",
        "FEEDBACK_DEAD_LETTERS": "https://sqs.us-east-1.amazonaws.com/000000000000/dead",
        "FEEDBACK_OUTBOX": "dynamodb://outbox?region=us-east-1",
    },
    "rollouts": {},
    "forwarder": {"AGENT_ENDPOINT": "https://agent.example.com"},
    "fields": {"name": "gsm8k"},
}

READ = {
    "function": LambdaSettings.from_env,
    "feedback": FeedbackSettings.from_env,
    "rollouts": RolloutSettings.from_env,
    "forwarder": ForwarderSettings.from_env,
    "fields": LambdaSettings.of,
}

CASES = [*map(json.loads, Path(__file__).with_name("settings.jsonl").read_text().splitlines())]


def variables(case):
    """The environment of a case."""
    environ = ACCEPTED[case["class"]] | case["given"]
    return {name: value for name, value in environ.items() if value is not None}


def name_of(case):
    return f"{case['class']}-{json.dumps(case['given'])[:60]}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_message_is_the_recorded_one(case):
    message = None
    try:
        READ[case["class"]](variables(case))
    except ConfigurationError as error:
        message = str(error)
    assert message == case["message"]
