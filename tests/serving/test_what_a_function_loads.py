"""Every function as Lambda starts it and asks it once, and the packages that this loads."""

from __future__ import annotations

import json
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

EXPECTED = {
    (algebra, judged): (MATHEMATICS if algebra else LAMBDA) | (CLIENTS if judged else set())
    for algebra, judged in ALIKE
}

REWARDS = """
import json, os, sys

def ask(name, needed):
    os.environ["REWARD_NAME"] = name
    for each in [each for each in sys.modules if each.partition(".")[0] == "reward_functions"]:
        del sys.modules[each]
    from reward_functions.serving import handler as module
    report = module.handler({"reward_functions": {"self_test": "recorded"}})
    assert report["examples"] and not report["failures"], report
    assert sys.modules.keys() >= needed, name

(first, *others) = eval(sys.argv[1])
for names, needed, environ in [first, *others]:
    # The first is in all the others. They begin with it, each in a process of its own.
    if names is first[0] or not (child := os.fork()):
        os.environ.update(environ)
        for name in names:
            ask(name, needed)
        print(json.dumps(sorted({each.partition(".")[0] for each in sys.modules})), flush=True)
        if names is not first[0]:
            os._exit(0)
    elif os.waitpid(child, 0)[1]:
        sys.exit(1)
"""

AGENT = "https://agent.example.com"

FEEDBACK = "import reward_functions.feedback.handler"

FORWARDER = """
from reward_functions.rollouts.servers.forwarder import handler
assert handler({"metadata": {}})["errorType"] == "ValidationError"
"""


def loaded(program, *arguments):
    """The packages that a program has loaded when it ends, or whenever it says so."""
    program += "\nimport json, sys\nprint(json.dumps([*sys.modules]))"
    keys = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "x")
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={"PATH": os.environ["PATH"], "AWS_REGION": "us-east-1", "AGENT_ENDPOINT": AGENT} | keys,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    modules = [json.loads(line) for line in ran.stdout.splitlines()]
    packages = [{name.partition(".")[0] for name in each} for each in modules]
    return [each - sys.stdlib_module_names - OF_PYTHON for each in packages]


@pytest.fixture(scope="module")
def by_kind():
    """What the rewards of each kind have loaded."""
    judge = {"REWARD_JUDGE": JUDGE}
    asked = [(ALIKE[kind], EXPECTED[kind], judge if kind[1] else {}) for kind in ALIKE]
    said = loaded(REWARDS, repr(asked))
    assert len(said) == len(ALIKE) + 1
    return dict(zip(ALIKE, said, strict=False))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.parametrize("alike", ALIKE, ids=["verifiers", "judges", "algebra", "algebra, judged"])
def test_a_reward_loads_what_its_answer_takes(by_kind, alike):
    assert ALIKE[alike]
    assert by_kind[alike] == EXPECTED[alike]


def test_what_scores_deferred_episodes_starts_without_clients():
    assert loaded(FEEDBACK) == [LAMBDA]


def test_what_forwards_refuses_a_bad_event_with_nothing_loaded():
    assert loaded(FORWARDER) == [{"reward_functions"}]
