"""What the base install can do, and the line that it prints for what it cannot."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from importlib.util import find_spec, module_from_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from reward_functions.core import extras
from reward_functions.core.extras import EXTRAS, Extra, MissingExtra, missing, require
from reward_functions.local.scripted_judge import scripted_judge
from tests.architecture.sources import tree
from tests.architecture.test_shape import OURS, tops
from tests.base_install import base_install

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

ROWS = [
    ("a", r"\boxed{(x+1)^2}", "x^2+2x+1"),
    ("b", "the capital is Paris", "Paris"),
    ("c", "#### 42", "42"),
]


def row(id, reference, *turns):
    said = [{"role": role, "content": text} for role, text in turns]
    return json.dumps({"id": id, "messages": said, "reference_answer": reference})


@pytest.fixture(scope="module")
def base():
    return base_install()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("rows")
    asked = [("user", "How many are 6 boxes of 7 loaves?")]
    rows = [row(name, reference, *asked, ("assistant", text)) for name, text, reference in ROWS]
    (found / "rows.jsonl").write_text("\n".join(rows))
    prompts = [
        row(str(n), str(6 * n), ("user", f"How many are 6 boxes of {n} loaves?")) for n in range(20)
    ]
    (found / "prompts.jsonl").write_text("\n".join(prompts))
    return found


@pytest.fixture(scope="module")
def said(base, folder):
    """What every command of the tables said, and its status; all in one process."""
    lines = [*WORKS, *REFUSED, DOCTOR]
    with scripted_judge() as address:
        ran = base.commands([arguments(line, f"{address}/v1") for line in lines], folder)
    return dict(zip(lines, ran, strict=True))


WORKS = [
    "--version",
    "list",
    "show math",
    "explain gsm8k --response 42 --reference 42",
    r"explain math --response \boxed{\sin(x)^2+\cos(x)^2} --reference 1",
    "score gsm8k rows.jsonl --report page.html -o rewards.jsonl",
    "score math rows.jsonl --format table",
    "score reference rows.jsonl --judge JUDGE",
    "judge probe reference --judge JUDGE",
    "judge estimate reference --prompts 9 --judge JUDGE",
    "audit math",
    "audit finqa",
    "init --reward-only mine",
    "init rehearsed --data prompts.jsonl --reward gsm8k --yes",
    "score mine.py rows.jsonl",
    "data lint prompts.jsonl",
    "data stats rows.jsonl",
    "data split prompts.jsonl --by prompt --out parts",
    "audit gsm8k prompts.jsonl --allow-undecided --without FN-VALUE",
    "data generate gsm8k --out made",
    "demo",
    "local status",
]
"""Commands that need no extra."""

REFUSED = {
    "deployed list": "aws",
    "deployed invoke math rows.jsonl": "aws",
    "audit math@dev": "aws",
    "deployed rollback math --yes": "aws",
    "deployed prune math --yes": "aws",
    "data upload rows.jsonl s3://bucket/rows.jsonl": "aws",
    "job list": "aws",
    "job show name": "aws",
    "job watch name": "aws",
    "job metrics name": "aws",
    "job stop name": "aws",
    "job diagnose name": "aws",
    "job deploy-model name": "aws",
    "job cleanup name": "aws",
    "score reference rows.jsonl --judge BEDROCK": "aws",
    "judge probe reference --judge BEDROCK": "aws",
    "rollouts run agent.py:agent rows.jsonl": "rollouts",
    "rollouts doctor": "rollouts",
    "local runtime": "rollouts",
    "lock": "deploy",
    "invoke math rows.jsonl": "local",
    "local up": "local",
    "local down": "local",
    "view .": "view",
}
"""Commands that need an extra, and which."""

DOCTOR = "doctor --json"

GROUPS = {"data", "deployed", "job", "judge", "local", "rollouts"}


def arguments(line, address):
    ours = {"model": "m", "backend": "openai", "endpoint": address}
    amazons = {"model": "m", "region": "us-east-1"}
    judges = {"JUDGE": ours, "BEDROCK": amazons}
    return [
        json.dumps({"models": [judges[word]]}) if word in judges else word
        for word in line.split(" ")
    ]


def command_of(line):
    """The words of a command that come before its arguments."""
    first, *rest = line.split(" ")
    return f"{first} {rest[0]}" if first in GROUPS else first


def test_the_doctor_runs_on_the_base_and_names_the_extra_that_asks_aws(said):
    status, output, error = said[DOCTOR]
    found = {each["question"]: each for each in json.loads(output)}
    assert (status, error) == (1, "")
    assert found["boto3"]["verdict"] == "failure"
    assert found["boto3"]["message"].endswith(EXTRAS["boto3"].line)
    assert {"packages", "region", "node", "disk"} <= set(found)


@pytest.mark.parametrize("line", WORKS)
def test_what_scoring_takes_works_on_the_base_alone(said, line):
    status, output, error = said[line]
    assert not error
    assert status in {0, 1}, output


def test_a_page_is_written_on_the_base_alone(said, folder):
    assert "<html" in (folder / "page.html").read_text()


def test_a_judge_on_an_openai_compatible_server_scores_on_the_base_alone(said):
    assert "unscored 0" in said["score reference rows.jsonl --judge JUDGE"][1]


@pytest.mark.parametrize(("line", "extra"), REFUSED.items(), ids=REFUSED)
def test_a_command_whose_extra_is_missing_prints_the_line_to_type(said, line, extra):
    status, output, error = said[line]
    typed = rf"pip install 'reward-functions\[{extra}\]'"
    assert re.fullmatch(rf"error: reward {command_of(line)} needs [^\n]+: {typed}\n", output), error
    assert status == 2


HELP = """
import contextlib, io, sys
from typer.main import get_command
from reward_functions.cli import app

def leaves(command, path):
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from leaves(inner, [*path, name])

command = get_command(app)
for path in leaves(command, []):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        status = command.main([*path, "--help"], standalone_mode=False)
    assert not status and "Usage" in said.getvalue(), (path, status)
    print(*path)
"""


def test_every_command_says_what_it_does(base, folder):
    ran = base.run("-c", HELP, cwd=folder)
    assert ran.returncode == 0, ran.stderr
    helped = set(ran.stdout.splitlines())
    assert {*map(command_of, [*WORKS[1:], *REFUSED]), *GROUPS} <= helped


def test_the_deployment_says_what_it_needs(base, folder):
    ran = base.run("-c", "from reward_functions.cdk.app.entry import main; main()", cwd=folder)
    assert (ran.returncode, ran.stderr) == (
        1,
        f"reward-functions: reward-cdk-app needs the AWS CDK: {EXTRAS['aws_cdk'].line}\n",
    )


SKIPPED = """
from unittest import SkipTest
from reward_functions import get
from reward_functions.testing import CONTRACT, hostile_responses

# tests/conformance sends the long ones.
hostile = [(name, text) for name, text in hostile_responses() if len(text) < 1000]
assert len(hostile) > 50
for name, holds in CONTRACT.items():
    try:
        holds(get("gsm8k"), *([hostile] if "hostile" in name else []))
    except SkipTest as reason:
        print(name, reason)
"""


def test_the_contract_holds_on_the_base_and_skips_what_needs_a_lambda(base, folder):
    ran = base.run("-c", SKIPPED, cwd=folder)
    line = EXTRAS["aws_lambda_powertools"].line
    assert ran.stdout == (
        "the_lambda_scores_like_a_direct_call the handler needs Powertools for AWS Lambda: "
        f"{line}\n"
    ), ran.stderr


PYTHON = {
    "from reward_functions.rollouts import RolloutApp": "rollouts",
    "import reward_functions.rollouts.strands": "strands",
    "from reward_functions.judge_runtime.aws import client; client('s3', timeout=1)": "aws",
    "from reward_functions.local.function_runtime import LocalRuntime; LocalRuntime({})": "local",
}


def test_python_hears_the_same_sentence(base, folder):
    program = f"""
from reward_functions import RewardError
for code in {list(PYTHON)}:
    try:
        exec(code)
    except RewardError as error:
        print(error, isinstance(error, ImportError))
"""
    ran = base.run("-c", program, cwd=folder)
    heard = [line.rpartition(": ")[2] for line in ran.stdout.splitlines()]
    lines = [f"pip install 'reward-functions[{extra}]' True" for extra in PYTHON.values()]
    assert heard == lines, ran.stderr


# The table.


def brought(name):
    """The distributions that an extra brings, those of the extras it names included."""
    found = set()
    for line in PROJECT["optional-dependencies"][name]:
        wanted = Requirement(line)
        if wanted.name == PROJECT["name"]:
            found |= {each for inner in wanted.extras for each in brought(inner)}
        else:
            found.add(wanted.name)
    return found


DISTRIBUTIONS = {
    "agents": "openai-agents",
    "aws_cdk": "aws-cdk-lib",
    "botocore": "boto3",
    "distributed": "dask",
    "langchain_core": "langchain-openai",
    "mlflow": "mlflow-skinny",
    "opentelemetry": "opentelemetry-api",
    "strands": "strands-agents",
}
"""The distribution to ask for, where it is not called as the module is."""


def test_every_module_of_the_table_comes_with_the_extra_that_it_names():
    assert {
        module: extra.name
        for module, extra in EXTRAS.items()
        if DISTRIBUTIONS.get(module, module.replace("_", "-")) not in brought(extra.name)
    } == {}


def test_every_extra_is_in_the_table_or_made_of_others():
    named = {extra.name for extra in EXTRAS.values()} | {"rollouts"}
    assert set(PROJECT["optional-dependencies"]) - named == {"all"}


def test_all_is_every_extra_but_the_hosts():
    hosts = {"dask", "inspect", "ray", "trl", "verifiers", "verl"}
    hosts |= {"mlflow", "pandas", "tensorboard", "trackio", "wandb"}
    own = set(PROJECT["optional-dependencies"]) - {"all"} - hosts
    assert brought("all") == {each for name in own for each in brought(name)}


BASE_MODULES = {"jinja2", "mpmath", "pydantic", "rich", "sympy", "typer", "urllib3"}


def test_what_is_imported_is_of_the_base_or_of_the_table():
    assert {Requirement(line).name for line in PROJECT["dependencies"]} == BASE_MODULES
    known = BASE_MODULES | EXTRAS.keys() | sys.stdlib_module_names | {"reward_functions", "jsii"}
    known |= {"snapshot_restore_py"}  # of Lambda's own runtime, and imported there alone
    known |= {"starlette"}  # what AgentCore's app is made of
    of_hosts = {"anyio", "openenv", "rllm", "torch"}
    assert {
        str(path): rest
        for path in OURS
        if (rest := tops(path) - known - (of_hosts if path.parent.name == "adapters" else set()))
    } == {}


def test_no_module_of_the_base_needs_an_extra_to_be_imported():
    """An import of an extra stands in the function that needs it, but for whole parts of one."""
    clients = ("agents", "httpx", "langchain", "openai", "strands")
    names = (*(f"policy/{name}.py" for name in clients), "collect/")
    names += ("compat/rllm/strands/", "compat/sagemaker_rft/adapters/")
    single = ("serve/agentcore/bedrock_host.py", "policy/boto3_events.py", "record/telemetry.py")
    frameworks = (f"rollouts/{name}" for name in (*names, *single))
    parts = ("cdk/", "feedback/", *frameworks, "serving/observability.py", "adapters/")
    parts += ("data/rows/tables.py",)
    # Tests of the toolkits that these stand in for replace their `boto3`.
    parts += ("rollouts/compat/nova_forge.py", "rollouts/compat/sagemaker_rft/reward_verifier.py")
    parts += ("rollouts/compat/agentcore_rl/client.py",)
    found = {
        str(path.relative_to(ROOT / "reward_functions")): sorted(at_top(path) & EXTRAS.keys())
        for path in OURS
    }
    assert {name for name, each in found.items() if each and not name.startswith(parts)} == set()


def at_top(path):
    """The packages that a module imports while it is imported."""
    left, found = list(tree(path).body), set()
    while left:
        node = left.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module.partition(".")[0])
        elif not isinstance(node, (ast.FunctionDef, ast.If)):
            left += [each for each in ast.iter_child_nodes(node) if isinstance(each, STATEMENTS)]
    return found


STATEMENTS = (ast.stmt, ast.ExceptHandler)


@pytest.fixture
def nothing_installed(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda _: None)


@pytest.mark.parametrize("module", EXTRAS)
def test_a_failed_import_of_the_table_becomes_its_line(nothing_installed, module):
    for name in (module, f"{module}.inner"):
        found = missing(ModuleNotFoundError("no", name=name), "reward x")
        assert str(found) == f"reward x needs {EXTRAS[module].brings}: {EXTRAS[module].line}"
        assert (found.name, found.extra) == (module, EXTRAS[module])


ASKING = {
    "compat.rllm.strands": "strands",
    "policy.agents": "agents",
    "policy.httpx": "openai",
    "policy.langchain": "langchain",
    "policy.openai": "openai",
    "policy.strands": "strands",
    "record.telemetry": "otel",
}
"""Rooms and modules of `rollouts` that are nothing without an extra."""


@pytest.mark.parametrize("name", ASKING)
def test_a_room_of_rollouts_asks_for_its_extra_before_it_imports_it(monkeypatch, name):
    module = f"reward_functions.rollouts.{name}"
    spec = find_spec(module)  # which imports what it lies in
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra) as raised:
        spec.loader.exec_module(module_from_spec(spec))
    assert str(raised.value).startswith(f"{module.replace('.policy', '')} needs ")
    assert raised.value.extra.name == ASKING[name]


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("no name"),
        ModuleNotFoundError("of the user", name="acme"),
        ModuleNotFoundError("begins alike", name="boto3_extras"),
        ModuleNotFoundError("of the base", name="sympy.core"),
        ModuleNotFoundError("ours", name="reward_functions.nothing"),
    ],
    ids=str,
)
def test_another_failed_import_is_a_bug_and_stays_one(nothing_installed, error):
    assert missing(error, "reward x") is None


def test_a_package_that_is_there_and_broken_is_not_missing():
    assert missing(ModuleNotFoundError("half", name="boto3.half"), "reward x") is None


def test_a_command_says_its_own_name_and_the_extra_that_was_proposed(nothing_installed):
    rollouts = Extra("rollouts", "AWS's SDK, boto3")
    with pytest.raises(MissingExtra) as raised:
        require("boto3", by="a part", extra=rollouts)
    assert str(raised.value).startswith("a part needs")
    said = missing(raised.value, "reward rollouts run")
    assert str(said) == f"reward rollouts run needs AWS's SDK, boto3: {rollouts.line}"
