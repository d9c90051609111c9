"""The artifact: the same from the same, within its budget, complete, and nothing beside."""

from __future__ import annotations

import ast
import marshal
import os
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from importlib.util import MAGIC_NUMBER, find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

from reward_functions import specs
from reward_functions.cdk import artifact as module
from reward_functions.cdk.artifact import (
    LAPTOP,
    MAX_UNZIPPED,
    MAX_ZIPPED,
    TASK,
    Artifact,
    TooLarge,
    pins,
)
from reward_functions.cdk.interpreter import NoInterpreter, here
from reward_functions.cdk.packages import BadPackage, Package
from reward_functions.cdk.pruning import AWS_SERVICES, prune
from reward_functions.serving.settings import LambdaSettings
from reward_functions.tools.local_runtime import LocalRuntime

ROOT = Path(__file__).parents[2]

ARCHITECTURE, PYTHON = here()

HERE = Artifact(
    architecture=ARCHITECTURE, python=PYTHON, interpreter=Path(sys.executable), installed=True
)


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The artifact for this machine."""
    path = tmp_path_factory.mktemp("artifact") / "artifact.zip"
    HERE.build(path)
    return path


@pytest.fixture(scope="session")
def unpacked(built):
    """What Lambda would unpack."""
    folder = built.parent / "task"
    with ZipFile(built) as archive:
        archive.extractall(folder)
    return folder


def alone(folder, code, **environment):
    """What some code prints in an interpreter that has this folder and the standard library."""
    script = f"import sys; sys.path.insert(0, {str(folder)!r})\n{code}"
    done = subprocess.run(
        [sys.executable, "-S", "-I", "-B", "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_two_builds_are_one_file(built, tmp_path):
    HERE.build(tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == built.read_bytes()


def test_it_is_within_its_budget(built):
    with ZipFile(built) as archive:
        assert built.stat().st_size <= MAX_ZIPPED
        assert sum(entry.file_size for entry in archive.infolist()) <= MAX_UNZIPPED


def test_nothing_is_in_it_that_a_function_never_reads(unpacked):
    files = [path.relative_to(unpacked) for path in unpacked.rglob("*") if path.is_file()]
    folders = {part for path in files for part in path.parts[:-1]}
    assert not folders & {"tests", "benchmarks", "bin", "share"}
    assert not [path for path in files if path.suffix in {".pyi", ".c", ".rst"}]
    assert not {path.parts[0] for path in files} & {"infra", "helpers", "aws_cdk", "rich", "typer"}
    rooms = {path.parts[1] for path in files if path.parts[0] == "reward_functions"}
    assert not rooms & LAPTOP
    assert {"core", "serving", "verifiers", "judges"} <= rooms


def test_of_other_packages_records_none_stays(unpacked):
    records = {
        path.name: sorted(each.name for each in path.iterdir())
        for path in unpacked.glob("*.dist-info")
    }
    (ours,) = records
    assert ours.startswith("reward_functions-")
    assert records[ours] == ["METADATA", "entry_points.txt"]


def test_no_path_of_this_machine_is_in_it(unpacked):
    ours = str(ROOT).encode()
    assert not [
        path for path in unpacked.rglob("*.*") if path.is_file() and ours in path.read_bytes()
    ]


def test_every_module_has_bytecode_that_its_runtime_takes_unchecked(unpacked):
    sources = {path.relative_to(unpacked) for path in unpacked.rglob("*.py")}
    compiled = sorted(unpacked.rglob("*.pyc"))
    tag = sys.implementation.cache_tag
    assert {
        path.relative_to(unpacked).parents[1] / path.name.replace(f".{tag}.pyc", ".py")
        for path in compiled
    } == sources
    for path in compiled:
        header = path.read_bytes()[:8]
        assert header[:4] == MAGIC_NUMBER
        assert int.from_bytes(header[4:], "little") == 0b01  # hash-based, and never compared


def test_a_traceback_names_lambda_s_own_paths(unpacked):
    (compiled,) = unpacked.glob("reward_functions/core/__pycache__/batch.*.pyc")
    code = marshal.loads(compiled.read_bytes()[16:])
    assert code.co_filename == f"{TASK}/reward_functions/core/batch.py"


SERVED = """
import json, os
from importlib import import_module
from reward_functions.core.registry import specs
from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings
model = {"model": "m", "backend": "openai", "endpoint": "http://localhost:1/v1"}
for name, spec in specs().items():
    bind(LambdaSettings(name=name, judge={"models": [model]} if spec.needs.judge else None))
    print(name)
from reward_functions.symbolic.cas import solver
from importlib.metadata import version
print(version("reward-functions"))
"""


def test_every_reward_is_served_without_site_packages(unpacked):
    """An emulator's or a laptop's own packages could hide what is missing."""
    *served, version = alone(unpacked, SERVED)
    assert served == [*specs()]
    assert version == module.distribution("reward-functions").version


CLIENTS = """
import boto3
for service in {services}:
    print(boto3.client(service, region_name="us-east-1").meta.service_model.service_name)
"""


def test_every_client_we_make_still_builds(unpacked):
    services = sorted(AWS_SERVICES)
    assert alone(unpacked, CLIENTS.format(services=services)) == services


def test_no_source_makes_a_client_that_was_pruned():
    made = {
        node.args[0].value
        for path in (ROOT / "reward_functions").rglob("*.py")
        if path.relative_to(ROOT / "reward_functions").parts[0] not in LAPTOP
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("client", "create_client", "resource")
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }
    assert made <= AWS_SERVICES


def test_a_stage_s_packages_may_call_more(tmp_path):
    for service in ("dynamodb", "ec2", "s3"):
        model = tmp_path / "botocore" / "data" / service / "2012-08-10"
        model.mkdir(parents=True)
        (model / "service-2.json.gz").touch()
        (model / "examples-1.json").touch()
    prune(tmp_path, ["dynamodb"])
    left = sorted(path.name for path in (tmp_path / "botocore" / "data").iterdir())
    assert left == ["dynamodb", "s3"]
    assert not list(tmp_path.rglob("examples-1.json"))


def test_the_fingerprint_tells_apart_whatever_makes_another_zip():
    others = [
        replace(HERE, python="3.99"),
        replace(HERE, architecture="arm64" if ARCHITECTURE == "x86_64" else "x86_64"),
        replace(HERE, interpreter=None),
        replace(HERE, aws_services=("dynamodb",)),
    ]
    assert len({each.fingerprint() for each in (HERE, *others)}) == 5


def test_the_fingerprint_does_not_say_who_built_it():
    elsewhere = replace(HERE, interpreter=Path("/somewhere/else/python"), installed=False)
    assert elsewhere.fingerprint() == HERE.fingerprint()


def test_the_fingerprint_follows_pins_and_sources(monkeypatch, tmp_path):
    before = HERE.fingerprint()
    changed = tmp_path / "runtime.txt"
    changed.write_bytes(pins().read_bytes() + b"\n")
    monkeypatch.setattr(module, "pins", lambda: changed)
    assert HERE.fingerprint() != before
    monkeypatch.undo()
    assert HERE.fingerprint() == before


@pytest.mark.parametrize("budget", ["MAX_ZIPPED", "MAX_UNZIPPED"])
def test_over_the_budget_there_is_no_zip(monkeypatch, tmp_path, budget):
    def lay_out(self, tree):
        tree.mkdir()
        (tree / "large").mkdir()
        (tree / "large" / "file").write_bytes(os.urandom(2000))
        (tree / "small").write_bytes(b"")

    monkeypatch.setattr(Artifact, "lay_out", lay_out)
    monkeypatch.setattr(module, budget, 1000)
    with pytest.raises(TooLarge, match=r"over its budget.*largest parts are large"):
        HERE.build(tmp_path / "artifact.zip")
    assert not list(tmp_path.iterdir())


def test_a_file_that_no_python_compiles_keeps_nobody_from_bytecode(tmp_path, capfd):
    (tmp_path / "template.py").write_text("class {{ name }}: pass\n")
    (tmp_path / "module.py").write_text("x = 1\n")
    module._compile(tmp_path, Path(sys.executable))
    assert [path.name.partition(".")[0] for path in tmp_path.rglob("*.pyc")] == ["module"]
    written = capfd.readouterr()
    assert "template.py" in written.err
    assert not written.out  # which belongs to jsii


def test_an_interpreter_that_compiles_nothing_is_reported(tmp_path):
    (tmp_path / "module.py").write_text("x = 1\n")
    with pytest.raises(NoInterpreter, match="compiled nothing"):
        module._compile(tmp_path, Path("/bin/false"))


def wheel(folder, name, platform, *requires):
    """A wheel that holds one module, which tells the platform, and registers a reward."""
    record = f"{name}-1.0.dist-info"
    path = folder / f"{name}-1.0-cp313-cp313-{platform}.whl"
    with ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", f"PLATFORM = {platform!r}\n")
        needs = "".join(f"Requires-Dist: {each}\n" for each in requires)
        archive.writestr(
            f"{record}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needs}"
        )
        if requires:
            archive.writestr(
                f"{record}/entry_points.txt", f"[reward_functions]\n{name}.size = {name}:size\n"
            )
        archive.writestr(
            f"{record}/WHEEL",
            f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp313-cp313-{platform}\n",
        )
        archive.writestr(f"{record}/RECORD", "")
    return sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def index(monkeypatch, tmp_path):
    """A package `native` for both processors, pinned by the hashes of its wheels."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    platforms = ["manylinux_2_17_aarch64", "manylinux_2_17_x86_64", "macosx_11_0_arm64"]
    hashes = [f"--hash=sha256:{wheel(folder, 'native', each)}" for each in platforms]
    pinned = tmp_path / "runtime.txt"
    pinned.write_text(f"native==1.0 {' '.join(hashes)}\n")
    monkeypatch.setattr(module, "pins", lambda: pinned)
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    return pinned


@pytest.mark.parametrize("architecture", ["arm64", "x86_64"])
def test_wheels_are_the_target_s_own_whoever_builds(index, tmp_path, architecture):
    target = Artifact(architecture=architecture, python="3.13", interpreter=None)
    target.lay_out(tmp_path / "tree")
    platform = {"arm64": "aarch64", "x86_64": "x86_64"}[architecture]
    assert platform in (tmp_path / "tree" / "native.py").read_text()
    assert (tmp_path / "tree" / "reward_functions" / "core" / "batch.py").is_file()
    assert not list((tmp_path / "tree").rglob("*.pyc"))


@pytest.mark.parametrize("architecture", ["arm64", "x86_64"])
def test_a_pinned_requirement_joins_with_what_it_needs_and_without_us(
    index, tmp_path, architecture
):
    for platform in ("manylinux_2_17_aarch64", "manylinux_2_17_x86_64"):
        wheel(tmp_path / "wheels", "acme", platform, "reward-functions>=0.1", "extra")
        wheel(tmp_path / "wheels", "extra", platform)
    target = Artifact(
        architecture=architecture,
        python="3.13",
        interpreter=None,
        packages=(Package.of("acme==1.0", tmp_path),),
    )
    target.lay_out(tmp_path / "tree")
    platform = {"arm64": "aarch64", "x86_64": "x86_64"}[architecture]
    for name in ("native", "acme", "extra"):
        assert platform in (tmp_path / "tree" / f"{name}.py").read_text()
    records = {path.name for path in (tmp_path / "tree").glob("*.dist-info")}
    (ours,) = {name for name in records if name.startswith("reward_functions-")}
    assert records == {ours, "acme-1.0.dist-info"}  # whose entry points are looked for


def test_a_package_may_not_move_our_pins(index, tmp_path):
    for version in ("native==2.0", "native>1.0"):
        wheel(tmp_path / "wheels", "acme", "manylinux_2_17_aarch64", version)
        target = Artifact(
            architecture="arm64",
            python="3.13",
            interpreter=None,
            packages=(Package.of("acme==1.0", tmp_path),),
        )
        with pytest.raises(BadPackage, match="native"):
            target.build(tmp_path / "built" / "artifact.zip")


@pytest.mark.parametrize(
    "spoilt",
    [
        "native==1.0 --hash=sha256:" + "0" * 64,  # another file than was pinned
        "native==1.0",  # a pin without a hash
        "native==2.0 --hash=sha256:" + "0" * 64,
    ],
)
def test_what_is_not_what_was_pinned_is_not_installed(index, tmp_path, spoilt):
    index.write_text(spoilt + "\n")
    target = Artifact(architecture="arm64", python="3.13", interpreter=None)
    with pytest.raises(BadPackage, match=r"installing for arm64 and Python 3.13 failed: .*native"):
        target.build(tmp_path / "built" / "artifact.zip")
    assert not list((tmp_path / "built").iterdir())


@pytest.mark.skipif(find_spec("awslambdaric") is None, reason="AWS's runtime client is for Linux")
@pytest.mark.parametrize("name", ["gsm8k", "math"])
def test_the_zip_answers_under_lambda_s_own_runtime_client(unpacked, name):
    with LocalRuntime(LambdaSettings(name=name).to_env(), folder=unpacked) as runtime:
        example = specs()[name].examples[0]
        turn = {"role": "assistant", "content": example.response}
        event = [{"id": "a", "messages": [turn], "reference_answer": example.reference}]
        (reported,) = runtime.invoke(event).payload
    assert (reported["id"], reported["aggregate_reward_score"]) == ("a", example.score)
