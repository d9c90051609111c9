"""The CDK app: from a checkout, and from the wheel in somebody else's repository."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from zipfile import ZipFile

import pytest

from reward_functions.cdk.artifact.closure import LAPTOP, row
from reward_functions.cdk.artifact.interpreter import NoInterpreter
from reward_functions.cdk.model.stages import BadStage, stage_of
from reward_functions.core.errors import ConfigurationError
from tests.cdk.conftest import LOOPBACK, STAGES
from tests.wheel import (
    ROOT,
    example_installed,
    kept,
    repository_with_packages_of_our_names,
    sources_digest,
)


def context_of(folder, context=None):
    """The context of a folder's `cdk.json`, and more."""
    return json.loads((folder / "cdk.json").read_text())["context"] | (context or {})


def app_of(context, out=None):
    """The CDK's app with this checkout's context and more, in this process."""
    import aws_cdk as cdk

    where = None if out is None else str(out)
    return cdk.App(
        context=context_of(ROOT, context), outdir=where, builtin_cloud_formation_validation=False
    )


def built(context, out=None):
    """The stack of that app, in this process."""
    from reward_functions.cdk.app.app import build

    return build(app_of(context, out), ROOT)


def synth_installed(wheel, repository, out):
    """The console script of the wheel, as the CDK command line runs it in another repository."""
    given = json.dumps(context_of(repository))
    assert json.loads((repository / "cdk.json").read_text())["app"] == "reward-cdk-app"
    return wheel.run(
        repository, "reward-cdk-app", CDK_OUTDIR=str(out), CDK_CONTEXT_JSON=given, **LOOPBACK
    )


@pytest.fixture(scope="module")
def wheel():
    return example_installed()


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    return repository_with_packages_of_our_names(tmp_path_factory.mktemp("acme"))


@pytest.fixture(scope="module")
def deployed(wheel, repository):
    """The example's assembly, made by the installed wheel in the example's repository."""

    def make(folder):
        done = synth_installed(wheel, repository, folder)
        assert done.returncode == 0, done.stderr

    return kept(f"assembly-{sources_digest()}", make)


def test_a_team_deploys_from_its_own_repository(deployed):
    template = json.loads((deployed / "RewardFunctions-local.template.json").read_text())
    deployments = [
        json.loads(each["Properties"]["Environment"]["Variables"]["REWARD_PARAMETERS"])
        for each in template["Resources"].values()
        if each["Type"] == "AWS::Lambda::Function" and "Environment" in each["Properties"]
    ]
    assert deployments == [{"most": 10}, {}, {}]


SERVED = """
import os
os.environ.update(REWARD_NAME="acme.length", REWARD_PARAMETERS='{"most": 5}')
from reward_functions.serving.handler import handler
turn = {"role": "assistant", "content": "six ch"}
(row,) = handler([{"id": "a", "messages": [turn], "reference_answer": "x"}])
print(row["aggregate_reward_score"])
"""


def names_in(path):
    with ZipFile(path) as archive:
        return archive.namelist()


def theirs(out):
    """The one zip of an assembly that holds the team's package."""
    zips = out.glob("artifact.*.zip")
    (path,) = [path for path in zips if "acme_rewards/length.py" in names_in(path)]
    return path


def test_two_deployments_of_one_reward_share_a_zip_and_ours_is_another(deployed):
    assert len([*deployed.glob("artifact.*.zip")]) == 2


def test_the_team_s_reward_is_served_from_the_zip_alone(deployed, tmp_path):
    with ZipFile(theirs(deployed)) as archive:
        archive.extractall(tmp_path)
    assert (tmp_path / "acme_rewards-1.0.0.dist-info" / "entry_points.txt").is_file()
    done = subprocess.run(
        [
            sys.executable,
            "-S",
            "-I",
            "-c",
            f"import sys; sys.path[:0] = [{str(tmp_path)!r}]{SERVED}",
        ],
        capture_output=True,
        text=True,
        check=True,
        env={},
    )
    assert done.stdout.splitlines()[-1] == "0.0"


def test_the_zip_holds_the_runtime_packages_alone(deployed):
    names = names_in(theirs(deployed))
    rooms = {name.split("/")[1] for name in names if name.startswith("reward_functions/")}
    assert {"core", "serving", "verifiers", "judges", "symbolic"} <= rooms
    assert not {row(f"reward_functions.{room}") for room in rooms} & LAPTOP
    assert not {name.partition("/")[0] for name in names} & {"helpers", "infra", "tests"}


@pytest.fixture
def theirs_installed(wheel, repository, monkeypatch):
    """This process stands in the team's repository, whose package is installed."""
    monkeypatch.syspath_prepend(wheel.site)
    monkeypatch.chdir(repository)
    _forget_theirs()  # another test has a module of the name
    yield
    _forget_theirs()


def _forget_theirs():
    for name in [name for name in sys.modules if name.partition(".")[0] == "acme_rewards"]:
        del sys.modules[name]


def test_a_package_that_the_stage_does_not_name_is_not_deployed(
    theirs_installed, tmp_path, monkeypatch
):
    from reward_functions.cdk.app import app, entry

    stages = {"dev": {"region": "us-east-1", "deployments": ["acme.length"]}}
    made = app_of({"stage": "dev", "stages": stages}, tmp_path)
    monkeypatch.setattr(app.cdk, "App", lambda **_: made)
    with pytest.raises(SystemExit) as ended:
        entry.main()
    assert ended.value.code == (
        "reward-functions: stage 'dev', deployment 'acme-length': acme.length comes from "
        "acme-rewards, which the stage's packages do not name"
    )


@pytest.mark.parametrize(
    ("context", "message"),
    [
        (
            {"stage": "staging"},
            "there is no stage 'staging' in cdk.json; there are dev, local, prod",
        ),
        ({"stage": None}, "which stage? Say -c stage=NAME, or name one in the context of cdk.json"),
        (
            {"stage": "prod", "interpreter": "/nowhere/python"},
            "/nowhere/python does not answer as CPython 3.13",
        ),
    ],
)
def test_what_is_wrong_is_one_sentence(context, message):
    with pytest.raises(ConfigurationError) as raised:
        built(context)
    assert str(raised.value) == message


@pytest.fixture
def build_without_interpreter(tmp_path, monkeypatch):
    """Build a stage whose Python is nowhere; returns its stack."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path))

    def without(*, strict, bundled):
        stages = {"dev": {"region": "us-east-1", "python": "3.14", "strict": strict}}
        context = {"stage": "dev", "stages": stages, "aws:cdk:bundling-stacks": bundled}
        return built(context, tmp_path)

    return without


@pytest.mark.parametrize("strict", [False, True])
def test_without_an_interpreter_the_cost_is_reported_where_nothing_is_built(
    build_without_interpreter, strict
):
    """`cdk destroy` of a strict stage needs none."""
    stack = build_without_interpreter(strict=strict, bundled=[])
    warnings = [each.data for each in stack.node.metadata if each.type == "aws:cdk:warning"]
    assert [each for each in warnings if "five times as long to load" in each]


def test_without_an_interpreter_the_synth_of_a_strict_stage_ends(
    build_without_interpreter, tmp_path
):
    with pytest.raises(NoInterpreter, match=r"^stage 'dev' is strict: no interpreter"):
        build_without_interpreter(strict=True, bundled=["**"])
    assert not [*tmp_path.glob("*.zip")]


def test_a_null_of_cdk_json_is_the_default_for_the_synth_as_for_the_check(tmp_path):
    """CDK's bridge drops a null, and the stage would have the account of the one it extends."""
    import aws_cdk as cdk

    from reward_functions.cdk.app.app import stages_of

    dev = {"region": "us-east-1", "account": "123456789012", "tags": {"team": "rewards"}}
    nulls = {"extends": "dev", "account": None, "tags": {"team": None}}
    written = {"dev": dev, "local": {**nulls, "emulated": True}}
    app = cdk.App(context={"stages": written})
    bare = app.node.try_get_context("stages")
    assert bare["local"] == {"extends": "dev", "tags": {}, "emulated": True}
    assert stages_of(app, tmp_path) == bare
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"stages": written}}))
    stages = stages_of(app, tmp_path)
    assert stage_of(stages, "local", tmp_path).account == "000000000000"
    assert stage_of(stages, "local", tmp_path).tags == {}
    others = cdk.App(context={"stages": {"dev": dev}})
    assert stages_of(others, tmp_path) == {"dev": dev}, "the context decides"


@pytest.mark.parametrize(("stage", "shell"), [("local", {}), ("prod", LOOPBACK)])
def test_a_stage_and_a_shell_that_points_at_the_other_aws_end_the_synth(stage, shell, monkeypatch):
    for name, value in shell.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(BadStage, match="or choose an"):
        built({"stage": stage})


def test_what_destroys_builds_nothing_asks_nobody_and_says_what_is_left(
    tmp_path, monkeypatch, capsys
):
    def never(*_, **__):
        raise AssertionError

    for name in ("Artifacts.artifact", "deployed_before"):
        monkeypatch.setattr(f"reward_functions.cdk.app.app.{name}", never)
    monkeypatch.setenv("CDK_DEFAULT_ACCOUNT", "123456789012")
    built({"stage": "prod", "aws:cdk:bundling-stacks": []}, tmp_path)
    said = capsys.readouterr().err
    assert "cdk destroy fails there: detach the stage's policies for people first" in said
    assert "in s3://sagemaker-reward-prod-123456789012-us-east-1, and the log groups" in said
    assert "/aws/lambda/SageMaker-reward-prod-* and /aws/lambda/reward-custodian-prod; befo" in said
    assert "the stack RewardFunctions-prod is protected" in said
    assert "--no-enable-termination-protection --stack-name RewardFunctions-prod" in said


NAMED = re.compile(
    r"s3://([^, ]+)|the table ([^, ]+)|/aws/lambda/([^;, ]+)|(/aws/vendedlogs/[^;, ]+)"
)


def staying(stage):
    """What the app says that a destroy keeps: names, or their patterns."""
    from reward_functions.cdk.app.app import _kept

    return ["".join(groups) for groups in NAMED.findall(_kept(stage))]


def test_all_that_a_production_stage_keeps_is_named(synthesised):
    """By the deletion policies of its template."""
    resources = synthesised("everything").template["Resources"].values()
    stays = [
        each["Properties"][field].removeprefix("/aws/lambda/")
        for each in resources
        for field in ("BucketName", "TableName", "LogGroupName")
        if each.get("DeletionPolicy", "").startswith("Retain") and field in each["Properties"]
    ]
    named = staying(stage_of(STAGES, "everything", ROOT))
    assert [name for name in stays if not any(fnmatchcase(name, each) for each in named)] == []
    assert [each for each in named if not any(fnmatchcase(name, each) for name in stays)] == []


def test_what_a_stage_brought_is_not_its_own_to_keep():
    given = {
        "region": "us-east-1",
        "production": True,
        "name_prefix": "acme",
        "bucket": "acme-sagemaker-data",
        "verdict_cache": True,
        "forwarders": [{"name": "agent", "endpoint": "https://agent.example.com"}],
        "deployments": ["gsm8k"],
    }
    assert staying(stage_of({"main": given}, "main", ROOT)) == [
        "acme-reward-verdicts-main",
        "acme-SageMaker-reward-main-*",
        "acme-reward-custodian-main",
        "acme-SageMaker-rollouts-main-*",
    ]
