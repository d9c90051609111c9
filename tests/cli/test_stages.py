"""`reward stage`: what a synth would refuse, what would stand, and who said what."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from reward_functions.cdk.app import preview
from reward_functions.cdk.app.preview import AT_REST, at_rest
from reward_functions.cdk.model.stages import stage_of
from reward_functions.cli import app
from tests.cdk.wheels import wheel

ROOT = Path(__file__).parents[2]
DEV = {"region": "us-east-1", "deployments": ["gsm8k"]}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    # Whether this machine has Lambda's Python is none of these tests' business.
    monkeypatch.setattr(preview, "interpreter", lambda python, given: given or sys.executable)

    def ran(*arguments, stages=None, **context):
        if stages is not None:
            written = {"app": "reward-cdk-app", "context": {"stages": stages, **context}}
            (tmp_path / "cdk.json").write_text(json.dumps(written))
        return CliRunner().invoke(app, ["stage", *arguments])

    return ran


def test_it_prints_what_would_stand(run):
    given = {
        "name": "flexible",
        "reward": "gsm8k",
        "parameters": {"flexible": True},
        "response_mode": "envelope",
        "immutable": True,
    }
    ran = run("check", stages={"dev": {**DEV, "deployments": ["math", given], "strict": True}})
    assert ran.exit_code == 0
    lines = [line.split() for line in ran.output.splitlines()]
    assert ["dev:", "us-east-1,", "the", "account", "that", "deploys"] in lines
    assert ["flexible", "gsm8k", "8", "envelope,", "immutable", "flexible=true"] in lines
    assert ["strict:", "true"] in lines
    assert ["lock:", "not", "needed"] in lines


def test_json_has_the_same_and_the_functions_names(run):
    (found,) = json.loads(run("check", "--json", stages={"dev": DEV}).stdout)
    assert (found["ok"], found["lock"], found["notices"]) == (True, "not needed", [])
    assert found["dollars_a_month"] == pytest.approx(0.7 + 3)
    (function,) = found["deployments"]
    assert function["function"] == "SageMaker-reward-dev-gsm8k"
    assert (function["reward"], function["version"], function["models"]) == ("gsm8k", 8, [])


def test_all_stages_are_checked_and_one_that_is_refused_hides_no_other(run):
    broken = {**DEV, "deployments": ["gsm9k"]}
    ran = run("check", "--all", stages={"one": DEV, "two": broken, "three": DEV})
    assert ran.exit_code == 1
    assert "two: would be refused\n  stage 'two', deployment 'gsm9k': " in ran.output
    assert "three: us-east-1" in ran.output
    both = json.loads(run("check", "--all", "--json").stdout)
    assert [each["ok"] for each in both] == [True, False, True]
    assert "Did you mean 'gsm8k'?" in both[1]["error"]


@pytest.mark.parametrize(
    ("arguments", "stages", "sentence"),
    [
        (["check", "--stage", "dve"], {"dev": DEV}, "there is no stage 'dve' in cdk.json. Did you"),
        (["show", "--stage", "dve"], {"dev": DEV}, "there is no stage 'dve' in cdk.json. Did you"),
        (["check", "--all", "--stage", "dev"], {"dev": DEV}, "--all and --stage exclude"),
        (["check"], {"a": DEV, "b": DEV}, "which stage? Say --stage NAME; there are a, b"),
        (["check"], {}, "cdk.json names no stages"),
        (["check"], None, "there is no cdk.json here"),
    ],
)  # fmt: skip
def test_what_cannot_be_looked_at_exits_with_2(run, arguments, stages, sentence):
    ran = run(*arguments, stages=stages)
    assert (ran.exit_code, sentence in " ".join(ran.output.split())) == (2, True), ran.output


def test_without_a_name_it_is_the_stage_that_cdk_takes(run):
    stages = {"a": DEV, "b": DEV}
    assert json.loads(run("check", "--json", stages=stages, stage="b").stdout)[0]["stage"] == "b"


def test_what_stands_behind_a_comma_is_named_by_its_line(run, tmp_path):
    (tmp_path / "cdk.json").write_text('{"app": "x",\n "context": {,}}')
    ran = run("check")
    assert (ran.exit_code, "cdk.json, line 2, column 14: not JSON" in ran.output) == (2, True)


def test_what_is_extended_is_a_stage_like_any_and_everything_is_inherited(run):
    stages = {"base": {"production": True}, "dev": {"extends": "base", **DEV}}
    both = json.loads(run("check", "--all", "--json", stages=stages).stdout)
    assert both[0]["error"] == "stage 'base': region is missing"
    assert both[1]["options"] == {"production": True}
    stages["dev"]["production"] = False
    assert json.loads(run("check", "--stage", "dev", "--json", stages=stages).stdout)[0]["ok"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"tags": []}, "tags: must be an object"),
        ({"tags": {"team": 7}}, "tags.team: must be a string, not 7"),
        (
            {"deployments": [{"reward": "gsm8k", "parameters": None}]},
            "parameters: must be an object",
        ),
        ({"deployments": "gsm8k"}, "deployments: must be a list, not 'gsm8k'"),
        ({"deployments": [None]}, "deployments.0: must be an object"),
        ({"job_rights": 1}, "job_rights: must be an object, not 1"),
        ({"strict": "perhaps"}, "strict: must be true or false, not 'perhaps'"),
        ({"keep_versions": "ten"}, "keep_versions: must be a whole number, not 'ten'"),
        ({"callers": {"accounts": 7}}, "callers.accounts: must be a list, not 7"),
        ({"forwarders": [{}]}, "forwarders.0.name is missing"),
    ],
)
def test_what_a_field_must_be_is_said_in_the_words_of_json(run, given, sentence):
    (found,) = json.loads(run("check", "--json", stages={"dev": {**DEV, **given}}).stdout)
    assert found["error"].endswith(sentence)


def test_a_byte_order_mark_is_passed_over_as_the_cdk_does(run, tmp_path):
    run("check", stages={"dev": DEV})
    (tmp_path / "cdk.json").write_text((tmp_path / "cdk.json").read_text(), encoding="utf-8-sig")
    assert run("check").exit_code == 0


@pytest.mark.parametrize(
    "text",
    [
        '{"context": {"stages": {"dev": {"region": "us-east-1", "region": "eu-west-1"}}}}',
        '{"context": {"stages": {"dev": {}, "region": {}, "region": {}}}}',
        '{"app": "x", "region": 1, "context": {}, "region": 2}',
    ],
)
def test_a_key_that_a_merge_left_twice_is_refused(run, tmp_path, text):
    (tmp_path / "cdk.json").write_text(text)
    ran = run("check")
    assert (ran.exit_code, "'region' stands twice in one object" in ran.output) == (2, True)


def test_show_has_every_setting_and_who_said_it(run):
    stages = {"dev": {**DEV, "tags": {"team": "a"}}, "prod": {"extends": "dev", "strict": True}}
    shown = json.loads(run("show", "--stage", "prod", stages=stages).stdout)
    assert shown["extends"] == ["dev"]
    assert shown["from"] == {
        "region": "dev",
        "deployments": "dev",
        "tags.team": "dev",
        "strict": "prod",
    }
    assert shown["settings"]["keep_versions"] == 10
    assert [each["name"] for each in shown["settings"]["deployments"]] == ["gsm8k"]


def test_the_schema_is_written_and_takes_the_file_beside_it(run, tmp_path):
    assert run("schema", "--out", "cdk.schema.json", stages={"dev": DEV}).exit_code == 0
    schema = json.loads((tmp_path / "cdk.schema.json").read_text())
    assert Draft202012Validator(schema).is_valid(json.loads((tmp_path / "cdk.json").read_text()))
    assert json.loads(run("schema").stdout) == schema
    assert json.loads(run("schema", "--of", "stages").stdout)["$defs"] == schema["$defs"]


@pytest.fixture
def packaged(tmp_path):
    """A stage with a wheel that requires something, or with a folder."""
    wheel(tmp_path, "acme", requires=["acme_common"])
    project = tmp_path / "mine"
    project.mkdir()
    (project / "pyproject.toml").write_text(
        '[project]\nname = "mine"\nversion = "1"\ndependencies = ["acme_common"]\n'
    )
    return lambda name, **more: {"dev": {**DEV, "packages": [name], **more}}


@pytest.mark.parametrize("path", ["acme-1.0-py3-none-any.whl", "mine"])
def test_a_lock_that_is_missing_is_a_notice_and_an_error_in_a_strict_stage(run, packaged, path):
    (found,) = json.loads(run("check", "--json", stages=packaged(path)).stdout)
    assert (found["lock"], len(found["notices"])) == ("missing", 1)
    (found,) = json.loads(run("check", "--json", stages=packaged(path, strict=True)).stdout)
    assert "is strict, and reward-functions.dev.lock is missing" in found["error"]


@pytest.mark.parametrize(
    ("project", "lock"),
    [
        ("", "not needed"),
        ('dependencies = ["Reward_Functions[deploy]>=0.1"]', "not needed"),
        (
            'dependencies = ["reward-functions"]\n[project.optional-dependencies]\nx = ["y"]',
            "missing",
        ),
        ('dynamic = ["version", "readme"]', "not needed"),
        ('dynamic = ["dependencies"]', "undecided"),
        ("dynamic = 7", "undecided"),
        ("dependencies = [7]", "undecided"),
        ('optional-dependencies = ["x"]', "undecided"),
        ('dependencies = []\ndynamic = ["optional-dependencies"]', "undecided"),
    ],
)
def test_no_lock_is_asked_for_that_reward_lock_would_not_write(
    run, packaged, tmp_path, project, lock
):
    (tmp_path / "mine" / "pyproject.toml").write_text(f'[project]\nname = "mine"\n{project}\n')
    (found,) = json.loads(run("check", "--json", stages=packaged("mine")).stdout)
    assert (found["lock"], len(found["notices"])) == (lock, int(lock != "not needed"))


@pytest.mark.parametrize("path", ["acme-1.0-py3-none-any.whl", "mine"])
def test_a_lock_that_is_none_or_was_edited_is_refused(run, packaged, tmp_path, path):
    lock = tmp_path / "reward-functions.dev.lock"
    lock.write_text("acme-common @ https://evil.example/x.whl\n")
    (found,) = json.loads(run("check", "--json", stages=packaged(path)).stdout)
    assert "by an address" in found["error"]
    lock.write_text("# content: " + "0" * 64 + "\nacme-common==1.0\n")
    (found,) = json.loads(run("check", "--json").stdout)
    assert "is not as it was written" in found["error"] or "is stale" in found["error"]


def test_the_price_is_the_one_of_the_documentation(tmp_path):
    four = {**DEV, "deployments": ["gsm8k", "math", "finqa", "exact_match"]}
    stage = stage_of({"dev": four}, "dev", tmp_path)
    assert at_rest(stage) == pytest.approx(2.50 + 3.00)
    assert at_rest(stage.model_copy(update={"customer_key": True})) == pytest.approx(6.50)
    assert at_rest(stage.model_copy(update={"emulated": True})) == 0
    assert len({price.thing for price in AT_REST}) == len(AT_REST)


@pytest.mark.parametrize(
    ("more", "dollars"),
    [
        ({"feedback": {}}, 0.50),
        ({"forwarders": [{"name": "a", "endpoint": "https://agent.example.com"}]}, 0.30),
        ({"forwarders": [{"name": "a", "queue": True}]}, 0.40),
        (
            {
                "forwarders": [
                    {"name": "a", "queue": "https://sqs.us-east-1.amazonaws.com/123456789012/a"}
                ]
            },
            0.30,
        ),
    ],
)
def test_so_is_what_a_stage_has_beside_its_functions(tmp_path, more, dollars):
    plain, larger = (stage_of({"dev": DEV | each}, "dev", tmp_path) for each in ({}, more))
    assert at_rest(larger) - at_rest(plain) == pytest.approx(dollars)


def test_neither_node_nor_the_cdk_is_loaded(tmp_path):
    written = {"app": "reward-cdk-app", "context": {"stages": {"dev": DEV}}}
    (tmp_path / "cdk.json").write_text(json.dumps(written))
    program = (
        "import sys\n"
        "from reward_functions.cli import app\n"
        "sys.argv = ['reward', 'stage', 'check', '--json']\n"
        "try:\n    app()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'aws_cdk', 'jsii', 'boto3', 'sympy'} & set(sys.modules)), file=sys.stderr)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert json.loads(ran.stdout)[0]["ok"], ran.stdout
    assert ran.stderr.strip() == "[]"
