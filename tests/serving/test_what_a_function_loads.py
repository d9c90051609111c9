"""Every function as Lambda starts it and asks it once, and the packages that this loads."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from reward_functions import specs

LAMBDA = frozenset("aws_lambda_powertools botocore jmespath reward_functions".split())

MATHEMATICS = LAMBDA | {"mpmath"}

ALGEBRA = {"math", "math_then_judge"}
"""They load `MATHEMATICS`, what else there is `LAMBDA`, and a judge what its clients are."""

ALIKE = {
    (algebra, judged): [
        name
        for name, spec in specs().items()
        if (name in ALGEBRA, spec.needs.judge) == (algebra, judged)
    ]
    for algebra in (False, True)
    for judged in (False, True)
}
"""Rewards of which none may load more than another, by whether they do algebra and are judges."""

CLIENTS = frozenset("boto3 certifi dateutil s3transfer six urllib3".split())

OF_PYTHON = frozenset("__main__ __mp_main__ _distutils_hack typing_extensions".split())
"""What the interpreter, its environment and Powertools' types bring."""

JUDGE = '{"models": [{"model": "amazon.nova-lite-v1:0", "region": "us-east-1"}]}'

REWARDS = """
import os, sys
for name in {names}:
    os.environ["REWARD_NAME"] = name
    for each in [each for each in sys.modules if each.partition(".")[0] == "reward_functions"]:
        del sys.modules[each]
    from reward_functions.serving import handler as module
    report = module.handler({{"reward_functions": {{"self_test": "recorded"}}}})
    assert report["examples"] and not report["failures"], report
    assert sys.modules.keys() >= {needed}, name
"""

FEEDBACK = "import reward_functions.feedback.handler"

FORWARDER = """
from reward_functions.rollouts.servers.forwarder import handler
assert handler({"metadata": {}})["errorType"] == "ValidationError"
"""


def loaded(program, **environ):
    """The packages that a program has loaded when it ends."""
    program += "\nimport sys\nprint(*{name.partition('.')[0] for name in sys.modules})"
    keys = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "x")
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": os.environ["PATH"], "AWS_REGION": "us-east-1"} | keys | environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return set(ran.stdout.split()) - sys.stdlib_module_names - OF_PYTHON


@pytest.mark.parametrize("alike", ALIKE, ids=["verifiers", "judges", "algebra", "algebra, judged"])
def test_a_reward_loads_what_its_answer_takes(alike):
    algebra, judged = alike
    expected = (MATHEMATICS if algebra else LAMBDA) | (CLIENTS if judged else set())
    program = REWARDS.format(names=ALIKE[alike], needed=expected)
    assert ALIKE[alike]
    assert loaded(program, **({"REWARD_JUDGE": JUDGE} if judged else {})) == expected


def test_what_scores_deferred_episodes_starts_without_clients():
    assert loaded(FEEDBACK) == LAMBDA


def test_what_forwards_refuses_a_bad_event_with_nothing_loaded():
    assert loaded(FORWARDER, AGENT_ENDPOINT="https://agent.example.com") == {"reward_functions"}
