"""Where a command goes that is told nothing: the stage and the region, and who says them."""

import json

import pytest
from botocore.exceptions import NoCredentialsError

from reward_functions.aws.failures import AwsFailed, in_words
from reward_functions.aws.shell import (
    DEFAULT_STAGE,
    STAGE_VARIABLE,
    BadShell,
    default_stage,
    region_of,
    stage_hint,
)
from reward_functions.aws.written_stages import emulator_hint

STAGES = {
    "dev": {"region": "eu-west-1"},
    "prod": {"extends": "dev"},
    "far": {"extends": "prod", "region": "us-west-2"},
    "loop": {"extends": "back"},
    "back": {"extends": "loop"},
    "lost": {"extends": "nobody"},
    "odd": {"extends": 7},
}


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """An empty folder, in a shell that names nothing."""
    for name in (STAGE_VARIABLE, "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def project(folder, stages=STAGES, **context):
    text = json.dumps({"context": {"stages": stages, **context}})
    (folder / "cdk.json").write_text(text)


@pytest.mark.parametrize(
    ("variable", "job", "stages", "chosen", "name", "origin"),
    [
        ("typed", 'stage = "job"', STAGES, "prod", "typed", STAGE_VARIABLE),
        ("", 'stage = "job"', STAGES, "prod", "job", "that of job.toml"),
        ("", "stage = 7", STAGES, "prod", "prod", "that of cdk.json"),
        ("", "", STAGES, "prod", "prod", "that of cdk.json"),
        ("", None, STAGES, "prod", "prod", "that of cdk.json"),
        ("", None, {"only": {}}, None, "only", "that of cdk.json"),
        ("", None, {"only": {}, "none": 7}, 7, "only", "that of cdk.json"),
        ("", None, STAGES, None, DEFAULT_STAGE, "the default"),
        ("", None, {}, "prod", DEFAULT_STAGE, "the default"),
        ("", None, [], "prod", DEFAULT_STAGE, "the default"),
        ("", None, None, None, DEFAULT_STAGE, "the default"),
    ],
)
def test_the_stage_of_a_command_that_is_given_none(
    variable, job, stages, chosen, name, origin, folder, monkeypatch
):
    monkeypatch.setenv(STAGE_VARIABLE, variable)
    if job is not None:
        (folder / "job.toml").write_text(job)
    if stages is not None:
        project(folder, stages, stage=chosen)
    assert default_stage() == (name, origin)
    if name == "job":
        assert default_stage(job_file=False) == ("prod", "that of cdk.json")


@pytest.mark.parametrize("text", ["stage = ", "[" * 10_000, b"\xff"])
def test_a_job_file_that_is_no_toml_may_name_the_stage(text, folder):
    path = folder / "job.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadShell, match=r"job\.toml is not TOML, and it may name the stage"):
        default_stage()
    assert default_stage(job_file=False).name == DEFAULT_STAGE


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"context": 7}', "[" * 100_000])
def test_a_cdk_json_that_cannot_be_read_says_nothing(text, folder):
    (folder / "cdk.json").write_text(text)
    assert default_stage() == (DEFAULT_STAGE, "the default")
    assert region_of() is None


@pytest.mark.parametrize(
    ("stage", "region"),
    [
        ("dev", "eu-west-1"),
        ("prod", "eu-west-1"),
        ("far", "us-west-2"),
        ("", "eu-west-1"),
        ("loop", None),
        ("lost", None),
        ("odd", None),
        ("none", None),
    ],
)
def test_the_region_of_a_stage_is_that_of_the_one_it_extends(stage, region, folder):
    project(folder)
    assert region_of(stage) == (region and (region, "cdk.json"))


@pytest.mark.parametrize(
    ("given", "variables", "profile", "found"),
    [
        ("us-east-2", ["AWS_REGION"], "eu-west-3", ("us-east-2", "--region")),
        ("", ["AWS_REGION", "AWS_DEFAULT_REGION"], "eu-west-3", ("us-east-1", "AWS_REGION")),
        ("", ["AWS_DEFAULT_REGION"], "eu-west-3", ("us-east-1", "AWS_DEFAULT_REGION")),
        ("", [], "eu-west-3", ("eu-west-3", "the profile")),
        ("", [], None, ("eu-west-1", "cdk.json")),
    ],
)
def test_the_region_is_that_of_the_first_who_names_one(
    given, variables, profile, found, folder, monkeypatch
):
    project(folder)
    for name in variables:
        monkeypatch.setenv(name, "us-east-1")
    if profile:
        (folder / "config").write_text(f"[default]\nregion = {profile}\n")
    assert region_of("dev", given) == found


@pytest.mark.parametrize("written", [7, "", None])
def test_a_stage_without_a_region_names_none(written, folder):
    project(folder, {"dev": {"region": written}})
    assert region_of("dev") is None


@pytest.mark.parametrize(
    ("endpoint", "words"), [(None, "--region: AWS has no region 'us-eats-1'"), ("http://x", None)]
)
def test_a_region_that_aws_does_not_have_is_refused(endpoint, words, monkeypatch):
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    if endpoint:
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
        assert region_of("", "us-eats-1").name == "us-eats-1"
        return
    with pytest.raises(BadShell, match=words) as raised:
        region_of("", "us-eats-1")
    assert "Did you mean 'us-east-1'" in str(raised.value)
    with pytest.raises(BadShell, match=r"AWS has no region 'x'$"):
        region_of("", "x")


def test_a_hint_is_of_a_stage_that_nobody_typed(folder, monkeypatch):
    assert "'dev' is the default: if you mean another, type --stage NAME" in stage_hint("dev")
    assert stage_hint("prod") == ""
    project(folder, stage="prod")
    assert "'prod' is that of cdk.json" in stage_hint("prod")
    monkeypatch.setenv(STAGE_VARIABLE, "prod")
    assert stage_hint("prod") == ""


EMULATED = {
    "a stage of the emulator": ({"dev": {}, "here": {"extends": "dev", "emulated": True}}, "here"),
    "no stage of it": (STAGES, ""),
    "another word": ({"dev": {"emulated": "yes"}}, ""),
    "no stages": ({}, ""),
}


@pytest.mark.parametrize(("stages", "name"), EMULATED.values(), ids=EMULATED)
def test_without_credentials_a_stage_of_the_emulator_is_pointed_at(stages, name, folder):
    project(folder, stages)
    expected = (
        f'; the stage {name!r} is on the local emulator: `eval "$(reward local up --print-env)"`'
    )
    assert emulator_hint().startswith(expected if name else "")
    assert bool(emulator_hint()) == bool(name)
    with pytest.raises(AwsFailed) as raised, in_words("asking"):
        raise NoCredentialsError
    assert str(raised.value) == (
        f"asking: no AWS credentials; log in, or set AWS_PROFILE{emulator_hint()}"
    )
