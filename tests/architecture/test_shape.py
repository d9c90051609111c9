"""The shape of the project, held by reading its source and by starting fresh interpreters.

A rule of every file is one test, which names the files that break it: a test for each rule of each
file would be thousands, and most of their time pytest's own.
"""

import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import reward_functions
from tests.architecture.sources import nodes, tree

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "reward_functions"
HERE = [ROOT / "infra", ROOT / "helpers"]
OURS = sorted(PACKAGE.rglob("*.py"))
SOURCES = sorted([*OURS, *(path for top in HERE for path in top.rglob("*.py"))])


def name_of(path):
    return str(path.relative_to(ROOT))


@cache
def imports(path):
    """Every module a file imports, wherever the import stands."""
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}: relative import"
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def tops(path):
    """The packages that a file imports."""
    return {module.partition(".")[0] for module in imports(path)}


def wrong(paths, found):
    """What is found in files where nothing should be, by the file's name."""
    return {name_of(path): each for path in paths if (each := found(path))}


LAPTOP = {"audit", "aws", "calibration", "cli", "data", "jobs", "local", "reports", "scoring"}
COMPAT = "reward_functions/rollouts/compat"
POLICY = "reward_functions/rollouts/policy"
RLLM = "reward_functions/rollouts/compat/rllm"
HOMES = {
    # A heavy package, and the rooms or files that may import it.
    "sympy": {"symbolic"},
    "pydantic": {
        *("serving", "cdk", *LAPTOP),
        f"{COMPAT}/sagemaker_rft/models.py",
        f"{COMPAT}/verifying.py",
        *(f"{POLICY}/langchain.py", f"{RLLM}/types.py"),
    },
    "aws_lambda_powertools": {"serving", "feedback"},
    "boto3": {"reward_functions/judge_runtime/aws.py", "rollouts", "feedback", *LAPTOP},
    "botocore": {"judge_runtime", "rollouts", "feedback", "cdk", *LAPTOP},
    "urllib3": {"judge_runtime", "rollouts", *LAPTOP},
    "aws_cdk": {"cdk"},
    "typer": {"cli", "reward_functions/local/scripted_judge.py"},
    "rich": {"cli"},
    "pyarrow": {"reward_functions/data/rows/tables.py"},
    "bedrock_agentcore": {"reward_functions/rollouts/serve/agentcore/bedrock_host.py"},
    "starlette": {"reward_functions/rollouts/serve/agentcore/bedrock_host.py", "view"},
    "uvicorn": {"view"},
    "openai": {
        *(f"{POLICY}/{name}.py" for name in ("agents", "langchain", "openai", "strands")),
        *LAPTOP,
    },
    "agents": {f"{POLICY}/agents.py"},
    "httpx": {
        *(f"{POLICY}/{name}.py" for name in ("httpx", "openai")),
        f"{COMPAT}/sagemaker_rft/adapters/langchain.py",
        "reward_functions/jobs/drivers/openai.py",
    },
    "opentelemetry": {"reward_functions/rollouts/record/telemetry.py"},
    "strands": {
        f"{POLICY}/strands.py",
        f"{RLLM}/strands/__init__.py",
    },
    "langchain_core": {f"{POLICY}/langchain.py"},
    "langchain_openai": {f"{POLICY}/langchain.py"},
}


def strangers(path):
    """The heavy packages that a file imports and that have their homes elsewhere."""
    here = {path.relative_to(PACKAGE).parts[0], name_of(path)}
    return {top for top in tops(path) & HOMES.keys() if not here & HOMES[top]}


def test_heavy_packages_stay_where_they_belong():
    assert wrong(OURS, strangers) == {}


def test_the_oracle_of_the_tests_is_no_part_of_the_library():
    oracle = {"math_verify", "latex2sympy2_extended", "antlr4", "tests"}
    assert wrong(SOURCES, lambda path: tops(path) & oracle) == {}


@pytest.mark.parametrize("pins", ["runtime", "base"])
def test_the_oracle_is_pinned_for_development_only(pins):
    assert "math-verify" not in (ROOT / "requirements" / f"{pins}.txt").read_text()
    assert "math-verify" in (ROOT / "requirements" / "dev.txt").read_text()


def calls(path, *names):
    return [
        node.lineno
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
    ]


def test_nobody_prints_and_nobody_evaluates():
    never = ("print", "eval", "exec", "compile", "sympify", "parse_expr")
    assert wrong(SOURCES, lambda path: calls(path, *never)) == {}


CATCHES_ALL = {
    "reward_functions/core/batch.py",  # whatever a reward function raises, and
    "reward_functions/core/combine.py",  # what a part of a composite does, to name the part;
    "reward_functions/core/registry.py",  # another package's import may raise or exit, alone;
    "reward_functions/symbolic/cas/worker.py",  # whatever sympy does, in a process of its own; and
    "reward_functions/cdk/custodian/index.py",  # CloudFormation waits for an answer of any kind;
    "reward_functions/core/looking.py",  # a look at the account is worth less than a synthesis; and
    "reward_functions/rollouts/serve/agentcore/apps.py",  # a result may raise when it is read;
    "reward_functions/rollouts/collect/batches.py",  # a thread's end would hang its batch;
    "reward_functions/rollouts/collect/calls.py",  # one row's accident ends no batch;
    "reward_functions/rollouts/episode/background.py",  # what an agent raises ends no thread;
    "reward_functions/rollouts/policy/calls.py",  # what ends a policy call is recorded, and raised;
    "reward_functions/rollouts/policy/answers.py",  # … and what breaks an answer off
    "reward_functions/rollouts/record/spans.py",  # a span names what ends it;
    "reward_functions/export/trackers.py",  # a tracker's own package, once a run is written
    "reward_functions/audit/child.py",  # a user's module may raise anything when it is imported,
    "reward_functions/audit/conventions.py",  # … and a user's function when it is called;
    "reward_functions/rollouts/compat/verifying_runner.py",  # a user's reward, in its own process;
    "reward_functions/rollouts/episode/run.py",  # a result may raise when it is read;
    "reward_functions/rollouts/record/recording.py",  # an agent's objects, when they are read
    "reward_functions/rollouts/record/sink.py",  # a record that is lost loses no rollout
    "reward_functions/rollouts/report/reporter.py",  # its thread's end would end all reports;
    "reward_functions/rollouts/episode/policy_ping.py",  # a ping that fails hides no reward;
    "reward_functions/rollouts/drive/agents.py",  # an agent's code ends its own rollout
    "reward_functions/feedback/path.py",  # one message's accident harms no neighbour
    "reward_functions/feedback/scoring.py",  # … nor one call's
    "reward_functions/rollouts/record/relay/calls.py",  # what ends a call is marked, and raised
    "reward_functions/rollouts/episode/pooling.py",  # a failed reset costs an agent
    "reward_functions/core/http_server/server.py",  # one head's accident ends no server
    "reward_functions/core/threads.py",  # its thread hands it to whoever waits
}


def blanket(path):
    """The lines where a file catches everything."""
    return [
        handler.lineno
        for handler in nodes(path)
        if isinstance(handler, ast.ExceptHandler)
        and (
            handler.type is None
            or {"Exception", "BaseException"}
            & {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
        )
    ]


def test_everything_is_caught_in_few_places_only():
    """In each of them once."""
    found = wrong(SOURCES, blanket)
    assert {name: len(lines) for name, lines in found.items()} == dict.fromkeys(CATCHES_ALL, 1)


def test_every_server_is_a_server_of_core():
    """`tests/local/test_local_servers.py` sends what a web page can cause to each of them."""
    found = {name_of(path) for path in SOURCES if {"http.server", "socketserver"} & imports(path)}
    assert found == {"reward_functions/core/http_server/server.py"}


def test_no_regex_has_a_possessive_group():
    """They match wrongly before CPython 3.11.5 (gh-106052), Debian 12's python3 among them."""
    possessive = re.compile(r"\)[?*+}]\+")
    assert wrong(SOURCES, lambda path: possessive.findall(path.read_text())) == {}


def test_every_module_opens_with_its_idea():
    assert [name_of(path) for path in SOURCES if not ast.get_docstring(tree(path))] == []


LISTED = [
    *("core/http_server", "cli/job", "cli/rollouts", "feedback"),
    *("aws", "aws/deployed", "reports", "local"),
    *(f"local/{name}" for name in ("emulator", "loopback_service")),
    *("local/runtime_double", "local/training_double", "jobs", "jobs/evaluation"),
    *(f"cdk/{name}" for name in ("app", "artifact", "constructs", "limits", "model", "policies")),
    "rollouts",
    *(f"rollouts/{name}" for name in ("collect", "compat", "drive", "episode", "policy", "record")),
    *("rollouts/report", "rollouts/request", "rollouts/serve"),
    *("rollouts/record/exchange", "rollouts/record/relay", "rollouts/serve/agentcore"),
    "rollouts/report/outbox",
]


@pytest.mark.parametrize("package", LISTED)
def test_a_package_of_many_modules_lists_each_of_them(package):
    folder = PACKAGE / package
    docstring = ast.get_docstring(tree(folder / "__init__.py"))
    modules = {path.name for path in folder.glob("[!_]*.py")}
    rooms = {f"{path.parent.name}/" for path in folder.glob("*/__init__.py")}
    assert {name for name in modules | rooms if name not in docstring} == set()


def loaded_by(code):
    """The modules a fresh interpreter has loaded after running some code."""
    script = f"{code}\nimport json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return {module.partition(".")[0] for module in json.loads(done.stdout.splitlines()[-1])}


FIRST_ANSWER = r"""
from reward_functions import *
turn = Message(role="assistant", content="\\boxed{1,234}")
assert get("math")(Sample(id="s", messages=(turn,), reference="1234")).value == 1.0
"""
ADAPTERS = [path.stem for path in PACKAGE.glob("adapters/[!_]*.py")]
HEAVY = {"sympy", "mpmath", "boto3", "botocore", "aws_lambda_powertools", "aws_cdk", "pydantic"}


@pytest.mark.parametrize(
    "code",
    [
        "import reward_functions",
        "import reward_functions; reward_functions.specs()",
        "from reward_functions import *; get('gsm8k')",
        "from reward_functions import *; get('math')",
        FIRST_ANSWER,
        "\n".join(f"import reward_functions.adapters.{name}" for name in ADAPTERS),
    ],
    ids=["import", "discovery", "get", "get math", "a first numeric answer", "adapters"],
)
def test_discovery_and_the_first_answer_are_light(code):
    assert not loaded_by(code) & (HEAVY | {"typer", "rich", "multiprocessing", "asyncio"})


SYMPY_FILES = {"to_sympy.py", "solver.py", "weights.py", "worker.py"}


def algebra(path):
    """sympy, and the files that may import it, as far as a file imports them."""
    inner = {
        module.rpartition(".")[2] + ".py"
        for module in imports(path)
        if module.startswith("reward_functions.symbolic.cas.")
    }
    return tops(path) & {"sympy"} | inner & SYMPY_FILES


def test_sympy_is_imported_by_the_worker_and_what_only_it_imports():
    allowed = {path for path in OURS if path.parent.name == "cas" and path.name in SYMPY_FILES}
    assert wrong([path for path in OURS if path not in allowed], algebra) == {}


def test_the_handler_loads_no_algebra_no_sdk_and_no_models():
    modules = loaded_by("import reward_functions.serving.handler")
    assert not modules & {"sympy", "mpmath", "aws_cdk", "typer", "rich", "pydantic"}


JUDGING = """
from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings
from reward_functions import sample
from reward_functions.testing import wire_row
there = {"backend": "openai", "endpoint": "http://localhost:1/v1"}
judge = {"models": [{"model": "m", "region": "us-east-1", **there}]}
function = bind(LambdaSettings(name="reference", judge=judge))
assert function([wire_row(sample("Paris", "Paris"))])[0]["aggregate_reward_score"] == 1.0
"""


def test_a_judge_of_another_server_starts_without_algebra_and_without_an_sdk():
    """`tests/serving/test_what_a_function_loads.py` has Amazon's, and each verifier."""
    modules = loaded_by(JUDGING)
    assert not modules & {"sympy", "mpmath", "aws_cdk", "typer", "rich", "boto3"}


def test_the_public_surface_is_what_it_says():
    assert reward_functions.__all__ == sorted(reward_functions.__all__)
    assert all(hasattr(reward_functions, name) for name in reward_functions.__all__)
    public = {name for name in vars(reward_functions) if not name.startswith("_")}
    folders = {path.name.removesuffix(".py") for path in PACKAGE.iterdir()}
    late = {"Any", "TYPE_CHECKING", "import_module"}  # with which a rare name is loaded
    combined = {"cascade", "clipped", "gated", "weighted"}
    assert (public | combined) - folders - late == set(reward_functions.__all__)


@pytest.mark.parametrize("path", sorted((PACKAGE / "judges").glob("[a-z]*.py")), ids=name_of)
def test_a_judge_writes_questions_and_reads_verdicts_and_nothing_else(path):
    allowed = {"__future__", "reward_functions", "typing", "collections", "re", "hashlib", "string"}
    assert tops(path) <= allowed | {"dataclasses", "threading"}
    assert not calls(path, "open", "input")
    assert path.with_suffix(".md").exists() == bool(calls(path, "prompt_of"))


OF_ITS_OWN = {
    "reward_functions/verifiers/json_fields.py": {"jsonschema_rs"},
    "reward_functions/verifiers/instructions.py": {"html"},
    # The one verifier that reads files of its user's: its databases, for reading alone.
    "reward_functions/verifiers/_sql/database.py": {"os", "pathlib", "sqlite3", "sys", "threading"},
    "reward_functions/verifiers/_sql/gold.py": {"pathlib"},
    "reward_functions/verifiers/sql_result.py": {"pathlib"},
}
"""What one verifier imports, and no other."""


@pytest.mark.parametrize("path", sorted((PACKAGE / "verifiers").rglob("[a-z]*.py")), ids=name_of)
def test_a_verifier_does_no_input_or_output(path):
    assert tops(path) <= OF_ITS_OWN.get(name_of(path), set()) | {
        *("__future__", "reward_functions", "re", "typing", "dataclasses", "collections"),
        *("fractions", "functools", "decimal", "math", "enum", "random"),
        *("datetime", "itertools", "json", "operator", "unicodedata"),
    }
    assert not calls(path, "open", "input")
