"""What a job uses beside what is deployed: the same, newer, rolled back, gone, somebody else's."""

from __future__ import annotations

import pytest

from reward_functions.jobs.beside_deployed import beside_deployed
from reward_functions.serving.descriptions import description
from tests.jobs.memory import Driver, Service


@pytest.fixture
def gsm8k(stage):
    """Three versions: gsm8k 1, gsm8k 1 of other code, gsm8k 2."""
    function = stage.deployment(versions=1, live="1")
    for version, digest in ((1, "b" * 16), (2, "c" * 16)):
        stage.publish(function, Description=description("gsm8k", version, digest, "x"))
    return function


@pytest.fixture
def compared(stage):
    """(verdict, of what, message) of a job with this grader."""

    def made(grader, after=0):
        service = Service()
        job = service.begun(grader=grader)
        service.clock.sleep(after)
        found = beside_deployed(Driver(service).get(job.id), stage.stage, stage.session)
        return [(each.verdict, each.question, each.message) for each in found]

    return made


def deployed(stage, function, number, **members):
    """Let the catalogue give a version to jobs."""
    from reward_functions.aws.deployed.catalogue import find, write

    record = find("gsm8k", stage.stage, stage.session)
    arn = {"version_arn": f"{function}:{number}"}
    write(stage.stage, record.model_copy(update=arn | members), stage.session)


def test_the_same_version(stage, gsm8k, compared):
    deployed(stage, gsm8k, 2, digest="b" * 16)
    assert compared(f"{gsm8k}:2") == [
        ("ok", "function", f"gsm8k 1 of digest {'b' * 16} is stored"),
        ("ok", "deployment", "gsm8k gives this version to jobs"),
        ("ok", "scores", "gsm8k 1 in both, of the same code"),
    ]


def test_a_newer_one_with_the_same_scores(stage, gsm8k, compared):
    deployed(stage, gsm8k, 3, digest="d" * 16)
    assert compared(f"{gsm8k}:2")[1:] == [
        ("warning", "deployment", "gsm8k gives jobs version 3, and this job keeps version 2"),
        ("ok", "scores", "gsm8k 1 in both, of other code, and equal scores"),
    ]


def test_a_newer_one_with_other_scores(stage, gsm8k, compared):
    deployed(stage, gsm8k, 3, version=2)
    assert compared(f"{gsm8k}:2")[2] == (
        *("warning", "scores"),
        "gsm8k 2 is deployed, and the job's is gsm8k 1: the same response may earn another score",
    )
    deployed(stage, gsm8k, 3, version=1, parameters={"flexible": True})
    assert compared(f"{gsm8k}:2")[2] == (
        *("warning", "scores"),
        "gsm8k 1 in both, with other parameters: the same response may earn another score",
    )


def test_an_earlier_one_since_a_rollback(stage, gsm8k, compared):
    deployed(stage, gsm8k, 1)
    assert compared(f"{gsm8k}:3")[1] == (
        *("warning", "deployment"),
        "gsm8k was rolled back to version 1, and this job keeps version 3",
    )


@pytest.mark.parametrize(
    ("after", "then"),
    [(60, "the job fails when it asks again"), (3_600, "it cannot be asked again")],
)
def test_a_version_that_was_deleted(stage, gsm8k, compared, after, then):
    stage.lambda_.delete_function(FunctionName=gsm8k, Qualifier="2")
    assert compared(f"{gsm8k}:2", after) == [
        ("failure", "function", f"Lambda has no {gsm8k}:2 any more: {then}"),
        (
            "warning",
            "deployment",
            "gsm8k was rolled back to version 1, and this job keeps version 2",
        ),
    ]


def test_an_immutable_deployment_has_another_function_now(stage, compared):
    old, new = (stage.generation("math", digest * 8) for digest in "ab")
    stage.record("math", new)
    assert compared(old)[1] == (
        *("warning", "deployment"),
        f"math gives another to jobs now: {new}",
    )
    assert compared(new)[1][0] == "ok"


def test_what_moves_is_a_warning_of_its_own(stage, gsm8k, compared):
    assert compared(f"{gsm8k}:live")[0] == (
        *("warning", "grader"),
        f"{gsm8k}:live moves: a deployment changes the reward",
    )


def test_a_function_of_nobodys(stage, gsm8k, compared):
    function = stage.deployed_function("def handler(event, context): return []")
    stage.lambda_.publish_version(FunctionName=function)
    assert compared(f"{function}:1") == [
        ("ok", "function", "a function of somebody else's is stored"),
        ("unknown", "deployment", f"stage {stage.stage!r} has none of {function.split(':')[-1]}"),
    ]
    assert compared("") == [
        ("unknown", "grader", "the service does not say which function it asks")
    ]
