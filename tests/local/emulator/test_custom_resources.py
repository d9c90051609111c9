"""Custom resources on the local AWS: a function that ended without an answer fails them at once."""

from __future__ import annotations

import json
from itertools import count
from time import sleep

import pytest

ANSWER = """
import json, os, ssl, urllib.request

def answer(event):
    said = {"Status": "SUCCESS", "PhysicalResourceId": "made", "Data": {"Word": "said"}}
    request = urllib.request.Request(
        event["ResponseURL"], json.dumps(said).encode(), {"Content-Type": ""}, method="PUT"
    )
    urllib.request.urlopen(request, timeout=30).close()
"""

RAISES = "def handler(event, context):\n    raise ValueError('no such table')\n"

UNANSWERED = {
    "it raises": (RAISES, "no such table"),
    "it does not start": (RAISES.replace("handler", "handle"), "no attribute 'handler'"),
    "its process ends": ("import os\ndef handler(event, context):\n    os._exit(3)", "died"),
}
"""A function by how it ends, and what is said of its end."""

NUMBERS = count()


@pytest.fixture
def made(local_aws, deployed_function):
    """Make a stack of one custom resource: its outputs, and why it failed."""
    client = local_aws.client("cloudformation")
    stacks = []

    def make(source):
        resource = {
            "Type": "Custom::Thing",
            "Properties": {
                "ServiceToken": deployed_function(source),
                "ServiceTimeout": "3",
            },
        }
        template = {
            "Resources": {"Thing": resource},
            "Outputs": {"Word": {"Value": {"Fn::GetAtt": ["Thing", "Word"]}}},
        }
        name = f"asks-{next(NUMBERS)}"
        stacks.append(name)
        client.create_stack(StackName=name, TemplateBody=json.dumps(template), DisableRollback=True)
        while True:
            (stack,) = client.describe_stacks(StackName=name)["Stacks"]
            if not stack["StackStatus"].endswith("IN_PROGRESS"):
                break
            sleep(0.02)
        events = client.describe_stack_events(StackName=name)["StackEvents"]
        reasons = [
            each["ResourceStatusReason"]
            for each in events
            if (each["LogicalResourceId"], each["ResourceStatus"]) == ("Thing", "CREATE_FAILED")
        ]
        return [each["OutputValue"] for each in stack.get("Outputs", ())], reasons

    yield make
    for name in stacks:
        client.delete_stack(StackName=name)


@pytest.mark.parametrize("how", UNANSWERED)
def test_a_function_that_ends_before_it_answers_fails_the_resource_with_its_error(made, how):
    source, said = UNANSWERED[how]
    outputs, (why,) = made(source)
    assert outputs == []
    assert "the function failed before it answered: " in why
    assert said in why


@pytest.mark.parametrize("last", ["return None", "raise ValueError"])
def test_an_answer_stands_however_its_function_ends(made, last):
    handler = f"def handler(event, context):\n    answer(event)\n    {last}\n"
    assert made(ANSWER + handler) == (["said"], [])
