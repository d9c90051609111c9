"""The CDK app: from a checkout, and from the wheel in somebody else's repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from uv import find_uv_bin

ROOT = Path(__file__).parents[2]
EXAMPLE = Path(__file__).parent / "example"

OFFLINE = {"UV_OFFLINE": "1", "UV_NO_BUILD_ISOLATION": "1", "CDK_VALIDATION": "false"}


def synth(folder, out, context=None, **environment):
    """The app as the CDK command line runs it, with `cdk.json` of a folder and further context."""
    reported = json.loads((folder / "cdk.json").read_text())["context"] | (context or {})
    return subprocess.run(
        [sys.executable, "-c", "from reward_functions.cdk.app import main; main()"],
        cwd=folder,
        env=os.environ
        | OFFLINE
        | {"CDK_OUTDIR": str(out), "CDK_CONTEXT_JSON": json.dumps(reported)}
        | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Where the wheels of this project and of the example's are installed."""
    folder = tmp_path_factory.mktemp("installed")
    for project in (ROOT, EXAMPLE):
        build = ["build", "--quiet", "--wheel", "--python", sys.executable]
        subprocess.run(
            [find_uv_bin(), *build, "--out-dir", str(folder / "wheels"), str(project)],
            check=True,
            env=os.environ | OFFLINE,
        )
    for wheel in (folder / "wheels").glob("*.whl"):
        install = ["pip", "install", "--quiet", "--no-deps", "--target", str(folder / "site")]
        subprocess.run(
            [find_uv_bin(), *install, "--python", sys.executable, str(wheel)],
            check=True,
            env=os.environ | OFFLINE,
        )
    return folder / "site"


@pytest.fixture(scope="module")
def deployed(site, tmp_path_factory):
    """The example's assembly, made by the installed wheel in a copy of the example's repository."""
    repository = tmp_path_factory.mktemp("acme") / "repository"
    shutil.copytree(EXAMPLE, repository)
    out = repository / "cdk.out"
    done = synth(repository, out, PYTHONPATH=str(site))
    assert done.returncode == 0, done.stderr
    return out


def test_a_team_deploys_from_its_own_repository(deployed):
    template = json.loads((deployed / "RewardFunctions-local.template.json").read_text())
    deployments = [
        json.loads(each["Properties"]["Environment"]["Variables"]["REWARD_PARAMETERS"])
        for each in template["Resources"].values()
        if each["Type"] == "AWS::Lambda::Function"
    ]
    assert deployments == [{}, {}, {"most": 10}]


SERVED = """
import os
os.environ.update(REWARD_NAME="acme.length", REWARD_PARAMETERS='{"most": 5}')
from reward_functions.serving.handler import handler
turn = {"role": "assistant", "content": "six ch"}
(reported,) = handler([{"id": "a", "messages": [turn], "reference_answer": "x"}])
print(reported["aggregate_reward_score"])
"""


def test_the_team_s_reward_is_served_from_the_zip_alone(deployed, tmp_path):
    (artifact,) = deployed.glob("artifact.*.zip")
    with ZipFile(artifact) as archive:
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


def test_a_package_that_the_stage_does_not_name_is_not_deployed(site, tmp_path):
    stages = {"dev": {"region": "us-east-1", "deployments": ["acme.length"]}}
    done = synth(EXAMPLE, tmp_path, {"stage": "dev", "stages": stages}, PYTHONPATH=str(site))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
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
def test_what_is_wrong_is_one_line(tmp_path, context, message):
    done = synth(ROOT, tmp_path, context)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"reward-functions: {message}"
    assert "Traceback" not in done.stderr


def synth_without_interpreter(folder, *, strict, bundled):
    stages = {"dev": {"region": "us-east-1", "python": "3.14", "strict": strict}}
    context = {"stage": "dev", "stages": stages, "aws:cdk:bundling-stacks": bundled}
    return synth(ROOT, folder, context, PATH="/nowhere", UV_PYTHON_INSTALL_DIR=str(folder))


@pytest.mark.parametrize("strict", [False, True])
def test_without_an_interpreter_the_cost_is_reported_where_nothing_is_built(tmp_path, strict):
    """`cdk destroy` of a strict stage needs none."""
    done = synth_without_interpreter(tmp_path, strict=strict, bundled=[])
    assert done.returncode == 0, done.stderr
    metadata = (tmp_path / "RewardFunctions-dev.metadata.json").read_text()
    assert "five times as long to load" in metadata


def test_without_an_interpreter_the_synth_of_a_strict_stage_ends(tmp_path):
    done = synth_without_interpreter(tmp_path, strict=True, bundled=["**"])
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("reward-functions: stage 'dev' is strict: no interpreter")
    assert not [*tmp_path.glob("*.zip")]
