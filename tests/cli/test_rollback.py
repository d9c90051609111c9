"""`reward deployed rollback`: the alias, then the catalogue; each failure says what has moved."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from reward_functions.aws.catalogue import deployment_parameter
from reward_functions.aws.deployed import FunctionArn, find
from reward_functions.cli import app
from reward_functions.serving.descriptions import description


def run(*arguments):
    return CliRunner().invoke(app, ["deployed", "rollback", *arguments])


@pytest.fixture
def gsm8k(stage):
    """A deployment with three versions, of which the last is live; the second is unlike it."""
    function = stage.deployment(versions=1, live="1")
    stage.publish(
        function,
        {"REWARD_PARAMETERS": '{"flexible": true}', "REWARD_RESPONSE_MODE": "envelope"},
        Timeout=30,
        MemorySize=2048,
        Description=description("gsm8k", 4, "a" * 16, "x"),
    )
    stage.publish(function)
    live(stage, function, "3")
    stage.record("gsm8k", function, "3")
    return function


def live(stage, function, version):
    stage.lambda_.update_alias(FunctionName=function, Name="live", FunctionVersion=version)


def pointed(stage, function):
    """What `live` points to, and what the catalogue gives to jobs."""
    alias = stage.lambda_.get_alias(FunctionName=function, Name="live")
    record = find("gsm8k", stage.stage, stage.session)
    return alias["FunctionVersion"], FunctionArn.parse(record.version_arn).qualifier


def test_live_and_the_catalogue_name_the_version_before(stage, gsm8k):
    ran = run("gsm8k", "-s", stage.stage, "--yes")
    assert ran.exit_code == 0, ran.stderr
    assert ran.stdout == (
        f"`live` of gsm8k points to version 2, and new jobs get\n{gsm8k}:2\n"
        "jobs that run keep their version; the next deployment with changed code or settings moves "
        "`live` again\n"
    )
    assert pointed(stage, gsm8k) == ("2", "2")
    record = find("gsm8k", stage.stage, stage.session)
    assert record.model_dump() == {
        "name": "gsm8k",
        "reward": "gsm8k",
        "version": 4,
        "digest": "a" * 16,
        "parameters": {"flexible": True},
        "composite": None,
        "response_mode": "envelope",
        "version_arn": f"{gsm8k}:2",
        "alias_arn": f"{gsm8k}:live",
        "function_arn": gsm8k,
        "timeout_seconds": 30,
        "memory_mb": 2048,
        "architecture": "x86_64",
        "python": "3.13",
    }


UNLIKE = {
    "2": f"is gsm8k 4 of digest {'a' * 16}, the catalogue has gsm8k 1 of digest {'0' * 16}",
    "4": "has the code of the catalogue, gsm8k 1; its settings differ",
}


@pytest.mark.parametrize(("version", "words"), UNLIKE.items(), ids=UNLIKE)
def test_what_a_version_differs_in_is_said_first(stage, gsm8k, version, words):
    stage.publish(gsm8k, MemorySize=4096, Description=description("gsm8k", 1, "0" * 16, "y"))
    ran = run("gsm8k", "-s", stage.stage, "--yes", "--to", version)
    assert ran.stderr == f"gsm8k: `live` points to version 3; version {version} {words}\n"


def test_any_version_can_be_named_also_a_later_one(stage, gsm8k):
    for version in ("1", "3"):
        assert run("gsm8k", "-s", stage.stage, "--yes", "--to", version).exit_code == 0
        assert pointed(stage, gsm8k) == (version, version)


def test_an_alias_that_shared_its_invocations_shares_them_no_more(stage, gsm8k):
    weights = {"AdditionalVersionWeights": {"1": 0.5}}
    stage.lambda_.update_alias(FunctionName=gsm8k, Name="live", RoutingConfig=weights)
    assert run("gsm8k", "-s", stage.stage, "--yes", "--to", "3").exit_code == 0
    assert "RoutingConfig" not in stage.lambda_.get_alias(FunctionName=gsm8k, Name="live")


@pytest.mark.parametrize(
    ("report", "complaint"),
    [
        ({"failures": ["example 1 (attack) earns 1 in the place of 0"]}, "example 1 (attack) earn"),
        ({"failures": [], "unavailable": ["example 0 has no judge"]}, "example 0 has no judge"),
        ([], "it has none, and answers as to a trainer"),
        ("{", "it has none"),
    ],
)
def test_a_version_that_does_not_pass_its_self_test_is_not_made_live(
    stage, gsm8k, report, complaint
):
    stage.publish(gsm8k, {"REPORT": json.dumps(report)})
    ran = run("gsm8k", "-s", stage.stage, "--yes", "--to", "4")
    assert (ran.exit_code, ran.stdout) == (2, "")
    problem = ran.stderr.splitlines()[-1]
    assert problem.startswith(f"error: nothing has moved: {gsm8k}:4 does not pass its self-test: ")
    assert complaint in problem
    assert pointed(stage, gsm8k) == ("3", "3")


def test_a_deployment_that_moves_the_alias_meanwhile_is_not_undone(stage, gsm8k, monkeypatch):
    from reward_functions.aws.deployed import versions as rollback

    def meanwhile(function):
        live(stage, gsm8k, "1")

    monkeypatch.setattr(rollback, "require_self_test", meanwhile)
    ran = run("gsm8k", "-s", stage.stage, "--yes")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "error: nothing has moved: moving live of SageMaker-reward-" in ran.stderr
    assert pointed(stage, gsm8k) == ("1", "3")


def test_a_catalogue_that_cannot_be_written_is_said_and_repaired(stage, gsm8k, monkeypatch):
    from reward_functions.aws.deployed import versions as rollback
    from reward_functions.aws.failures import AwsFailed

    def denied(*_):
        raise AwsFailed("writing the catalogue: not allowed: x", "AccessDeniedException")

    with monkeypatch.context() as patched:
        patched.setattr(rollback, "write", denied)
        ran = run("gsm8k", "-s", stage.stage, "--yes")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.splitlines()[-1] == (
        "error: `live` points to version 2 now, and the catalogue still gives version 3 to jobs: "
        "writing the catalogue: not allowed: x; then run `reward deployed rollback gsm8k --stage "
        f"{stage.stage} --to 2`"
    )
    assert pointed(stage, gsm8k) == ("2", "3")
    assert run("gsm8k", "-s", stage.stage, "--yes", "--to", "2").exit_code == 0
    assert pointed(stage, gsm8k) == ("2", "2")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["gsm8k", "--yes", "--to", "9"], "gsm8k has no version 9 any more; Lambda stores 1, 2, 3"),
        (
            ["gsm8k", "--yes", "--to", "3"],
            "`live` of gsm8k points to version 3 already, and so doe",
        ),
        (["gsm8k", "--yes", "--to", "0"], "0 is less than 1"),
        (["gsm8k", "--yes", "--to", "live"], "'live' is not a whole number"),
        (["gsm9k", "--yes"], "has no deployment 'gsm9k'. Did you mean 'gsm8k'?"),
        (["gsm8k"], "a rollback asks first, and there is no terminal to ask on: add --yes"),
    ],
)
def test_what_cannot_be_done_is_one_line(stage, gsm8k, arguments, complaint):
    ran = run("-s", stage.stage, *arguments)
    assert (ran.exit_code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert complaint in ran.stderr
    assert pointed(stage, gsm8k) == ("3", "3")


def test_the_first_version_has_none_before_it(stage):
    stage.deployment(versions=2, live="1")
    ran = run("gsm8k", "-s", stage.stage, "--yes")
    assert ran.stderr == "error: gsm8k has no version before 1, which `live` points to\n"


def test_a_version_that_is_gone_is_passed_over(stage, gsm8k):
    stage.lambda_.delete_function(FunctionName=gsm8k, Qualifier="2")
    assert run("gsm8k", "-s", stage.stage, "--yes").exit_code == 0
    assert pointed(stage, gsm8k) == ("1", "1")


def test_an_immutable_deployment_has_no_alias_to_move(stage):
    names = [stage.generation("math", digest * 8) for digest in "ab"]
    stage.record("math", names[1])
    ran = run("math", "-s", stage.stage, "--yes")
    assert (ran.exit_code, ran.stderr.count("\n")) == (2, 1)
    assert (
        "math is immutable and has no alias to move: give the job one of its functi" in ran.stderr
    )
    assert f"{names[0]}, {names[1]}, or deploy the earlier code again" in ran.stderr


def test_a_version_that_no_deployment_published_is_refused(stage, gsm8k):
    stage.publish(gsm8k, Description="by hand")
    ran = run("gsm8k", "-s", stage.stage, "--yes", "--to", "4")
    assert "version 4 of gsm8k does not say which reward and digest it is" in ran.stderr
    stage.publish(gsm8k, {"REWARD_RESPONSE_MODE": "xml"})
    ran = run("gsm8k", "-s", stage.stage, "--yes", "--to", "5")
    assert "version 5 of gsm8k cannot be used: REWARD_RESPONSE_MODE takes one of" in ran.stderr
    assert pointed(stage, gsm8k) == ("3", "3")


def test_a_deployment_whose_function_is_gone_is_reported(stage, gsm8k):
    stage.lambda_.delete_function(FunctionName=gsm8k)
    ran = run("gsm8k", "-s", stage.stage, "--yes")
    assert (ran.exit_code, ran.stderr.count("\n")) == (2, 1)
    assert "there is no such function, alias or version here" in ran.stderr
    stage.ssm.delete_parameter(Name=deployment_parameter(stage.stage, "gsm8k"))
    assert "has no deployments in this account" in run("gsm8k", "-s", stage.stage, "--yes").stderr
