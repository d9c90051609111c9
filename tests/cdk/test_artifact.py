"""The artifacts: the same from the same, complete, and nothing beside; neighbours stand still."""

from __future__ import annotations

import ast
import marshal
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib.util import MAGIC_NUMBER, find_spec
from pathlib import Path
from threading import Event
from time import time
from zipfile import ZipFile

import pytest

from reward_functions import get, specs
from reward_functions.cdk.artifact import artifact as module
from reward_functions.cdk.artifact import closure, parts, pins
from reward_functions.cdk.artifact.artifact import NotLoaded, TooLarge
from reward_functions.cdk.artifact.cache import MOST, Cache
from reward_functions.cdk.artifact.closure import LAPTOP, row
from reward_functions.cdk.artifact.interpreter import NoInterpreter, here
from reward_functions.cdk.artifact.packages import BadPackage
from reward_functions.cdk.artifact.parts import TASK
from reward_functions.cdk.artifact.pins import our_pins, pins_of_every_reward
from reward_functions.cdk.artifact.pruning import AWS_SERVICES, RULES, matches, prune
from reward_functions.cdk.constructs.artifacts import Artifacts
from reward_functions.cdk.model.stages import Stage
from reward_functions.local.function_runtime import LocalRuntime
from reward_functions.serving.settings import LambdaSettings
from tests.cdk.wheels import hash_of, wheel

ROOT = Path(__file__).parents[2]

ARCHITECTURE, PYTHON = here()

PYTHON_HERE = Path(sys.executable)

pytestmark = pytest.mark.usefixtures("followed_once")

FOREIGN = {"architecture": "arm64", "python": "3.13"}

MAX_ZIPPED, MAX_UNZIPPED = 25_000_000, 100_000_000
"""What we allow our own pins; a stage may have what Lambda takes."""


def artifacts(folder=ROOT, interpreter=PYTHON_HERE, **fields):
    """The artifacts of a stage, for this machine unless its fields say otherwise."""
    given = {"name": "test", "region": "us-east-1", "deployments": ["gsm8k", "math"]}
    target = {} if "python" in fields else {"emulated": True}
    return Artifacts(Stage.model_validate(given | target | fields), folder, interpreter)


HERE = artifacts()


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The artifact of a reward for this machine, by its name; whether it loads is asked below."""
    folder = tmp_path_factory.mktemp("artifact")

    def build(reward):
        path = folder / f"{reward}.zip"
        if not path.is_file():
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(module, "fault", lambda *_, **__: None)
                HERE.artifact(reward).build(path)
        return path

    return build


@pytest.fixture(scope="session")
def unpacked(built):
    """What Lambda would unpack, by the reward's name; what several zips hold is written once."""
    written = {}

    def unpack(reward):
        path = built(reward)
        folder = path.with_suffix("")
        if folder.is_dir():
            return folder
        with ZipFile(path) as archive:
            entries = archive.infolist()
            for parent in {(folder / entry.filename).parent for entry in entries}:
                parent.mkdir(parents=True, exist_ok=True)
            for entry in entries:
                same = (entry.filename, entry.CRC, entry.file_size)
                if same in written:
                    os.link(written[same], folder / entry.filename)
                else:
                    written[same] = archive.extract(entry, folder)
        return folder

    return unpack


def names_in(path):
    with ZipFile(path) as archive:
        return archive.namelist()


@pytest.fixture(scope="session")
def served(built, unpacked):
    """What an interpreter that has the zip of a reward alone prints, by the reward's name.

    One interpreter has the zips that hold the same files of others' packages, one after the other:
    whatever it keeps of these is what the next zip holds.
    """
    printed, groups = {}, {}
    for reward in specs():
        with ZipFile(built(reward)) as archive:
            entries = archive.infolist()
        theirs = [each for each in entries if not each.filename.startswith("reward_functions")]
        same = frozenset((each.filename, each.CRC) for each in theirs)
        groups.setdefault(same, []).append(reward)
    for same, rewards in groups.items():
        first = unpacked(rewards[0])
        folders = [first, *(beside(first, same, built(reward)) for reward in rewards[1:])]
        pairs = [*zip(rewards, map(str, folders), strict=True)]
        said = alone(first, SERVED.format(pairs=pairs))
        printed |= dict(zip(rewards, said, strict=True))
    return printed


def beside(first, same, path):
    """Unpack our own part of a zip, and link the rest to a folder that holds the same."""
    folder = path.with_name(f"{path.stem}-ours")
    with ZipFile(path) as archive:
        ours = [each for each in archive.namelist() if each.startswith("reward_functions")]
        archive.extractall(folder, ours)
    for top in {name.partition("/")[0] for name, _ in same} - {"__pycache__"}:
        (folder / top).symlink_to(first / top)
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


FEW = {"annotated-types", "jmespath", "python-dateutil", "six", "typing-extensions"}


def test_two_builds_are_one_file(tmp_path, monkeypatch):
    """Nothing of the first is kept for the second. What is built is what the reward reaches."""
    few = tmp_path / "runtime.txt"
    few.write_text("\n".join(str(pin) for pin in our_pins() if pin.name in FEW))
    monkeypatch.setattr(pins, "pins", lambda: few)
    monkeypatch.setattr(closure, "all_files", dict)
    monkeypatch.setattr(module, "fault", lambda *_, **__: None)  # it needs all pins
    made = []
    for name in ("once", "again"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
        path = tmp_path / f"{name}.zip"
        artifacts().artifact("gsm8k").build(path)
        made.append(path.read_bytes())
    assert made[0] == made[1]
    names = names_in(path)
    assert {"six.py", "dateutil/tz/tz.py", "reward_functions/verifiers/gsm8k.py"} < {*names}
    assert sum(name.endswith(".pyc") for name in names) > 100


def test_no_file_is_in_it_twice(built):
    names = names_in(built("math"))
    assert len(names) == len(set(names))


def test_our_own_pins_are_within_our_budget(built):
    with ZipFile(built("math")) as archive:
        assert built("math").stat().st_size <= MAX_ZIPPED
        assert sum(entry.file_size for entry in archive.infolist()) <= MAX_UNZIPPED


def test_the_algebra_is_where_it_is_reached(built):
    tops = {
        reward: {name.partition("/")[0] for name in names_in(built(reward))}
        for reward in ("gsm8k", "math", "math_then_judge", "reference")
    }
    assert {"sympy", "mpmath"} <= tops["math"] & tops["math_then_judge"]
    assert not {"sympy", "mpmath"} & (tops["gsm8k"] | tops["reference"])
    assert built("gsm8k").stat().st_size < built("math").stat().st_size / 2


@pytest.mark.parametrize("reward", ["gsm8k", "math", "reference"])
def test_nothing_is_in_it_that_a_function_never_reads(unpacked, reward):
    tree = unpacked(reward)
    files = [path.relative_to(tree) for path in tree.rglob("*") if path.is_file()]
    assert not {path.parts[0] for path in files} & {"infra", "helpers", "aws_cdk", "rich", "typer"}
    assert not [path for rule in RULES for path in matches(tree, rule)]
    ours = [".".join(path.parts) for path in files if path.parts[0] == "reward_functions"]
    assert not {row(name) for name in ours} & LAPTOP


def test_every_distribution_says_its_name_and_version(unpacked):
    """Libraries ask for it, and so do scanners."""
    algebra = {"mpmath", "sympy"}
    names = {pin.name for pin in pins_of_every_reward()} | algebra | {"reward-functions"}
    found = alone(
        unpacked("math"),
        "from importlib.metadata import distributions\n"
        f"print(*sorted(d.name for d in distributions(path=[{str(unpacked('math'))!r}])))",
    )
    assert {name.lower().replace("_", "-") for name in found[0].split()} == names
    asked = "from importlib.metadata import version; print(version('sympy'))"
    assert alone(unpacked("math"), asked) == ["1.14.0"]


def test_no_path_of_this_machine_is_in_it(unpacked):
    ours = str(ROOT).encode()
    assert not [
        path
        for path in unpacked("math").rglob("*.*")
        if path.is_file() and ours in path.read_bytes()
    ]


def test_every_module_has_bytecode_that_its_runtime_takes_unchecked(unpacked):
    tree = unpacked("math")
    sources = {path.relative_to(tree) for path in tree.rglob("*.py")}
    compiled = sorted(tree.rglob("*.pyc"))
    tag = sys.implementation.cache_tag
    assert {
        path.relative_to(tree).parents[1] / path.name.replace(f".{tag}.pyc", ".py")
        for path in compiled
    } == sources
    for path in compiled:
        header = path.read_bytes()[:8]
        assert header[:4] == MAGIC_NUMBER
        assert int.from_bytes(header[4:], "little") == 0b01  # hash-based, and never compared


def test_a_traceback_names_lambda_s_own_paths(unpacked):
    (compiled,) = unpacked("gsm8k").glob("reward_functions/core/__pycache__/batch.*.pyc")
    code = marshal.loads(compiled.read_bytes()[16:])
    assert code.co_filename == f"{TASK}/reward_functions/core/batch.py"


SERVED = """
import sys
from importlib import invalidate_caches
from pathlib import Path
model = {{"model": "m", "backend": "openai", "endpoint": "http://localhost:1/v1"}}
for name, folder in {pairs}:
    for each in [each for each in sys.modules if each.partition(".")[0] == "reward_functions"]:
        del sys.modules[each]
    sys.path[0] = folder
    invalidate_caches()
    from reward_functions.serving.handler import bind
    from reward_functions.serving.settings import LambdaSettings
    from reward_functions.core.registry import get
    from reward_functions.core.batch import score_batch
    ours = [each for top, each in sys.modules.items() if top.startswith("reward_functions")]
    assert all(Path(each.__file__).is_relative_to(folder) for each in ours)
    spec = get(name)
    judge = {{"models": [model]}} if spec.needs.judge else None
    bind(LambdaSettings(name=name, judge=judge))
    for example in spec.examples:
        (result,) = score_batch(spec.bound_to_example(example), [example.sample()], workers=1)
        assert result.score.value == example.score, example
    print(spec.name)
"""


@pytest.mark.parametrize("name", specs())
def test_every_reward_scores_its_examples_from_its_own_zip_alone(served, name):
    """An emulator's or a laptop's own packages could hide what is missing."""
    assert served[name] == name


CLIENTS = """
import boto3
for service in {services}:
    print(boto3.client(service, region_name="us-east-1").meta.service_model.service_name)
"""


def test_every_client_we_make_still_builds(unpacked):
    services = sorted(AWS_SERVICES)
    assert alone(unpacked("gsm8k"), CLIENTS.format(services=services)) == services


MAKES = ("client", "create_client", "resource")

CLIENT = re.compile(rf"\.\s*(?:{'|'.join(MAKES)})\b")


def test_no_source_makes_a_client_that_was_pruned():
    made = {
        node.args[0].value
        for path in (ROOT / "reward_functions").rglob("*.py")
        if row(".".join(path.relative_to(ROOT).parts)) not in LAPTOP
        and CLIENT.search(path.read_text())
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in MAKES
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


@pytest.fixture(scope="module")
def as_installed(tmp_path_factory):
    """The files of our pins by their names, as uv installs them."""
    tree = tmp_path_factory.mktemp("pins")
    (tree / ".lock").touch()
    names = {
        "/".join(part for part in file.parts if part != "..")
        for each in parts._installed(our_pins())
        for file in each.files
    }
    for folder in {name.rpartition("/")[0] for name in names}:
        (tree / folder).mkdir(parents=True, exist_ok=True)
    for name in names:
        os.mknod(f"{tree}/{name}")
    return tree


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.pattern)
def test_every_rule_of_pruning_finds_something_in_our_pins(as_installed, rule):
    assert [*matches(as_installed, rule)]


# What moves a digest, and what does not.


def changed(monkeypatch, name, text="\n# changed\n"):
    """Let a file of ours read as if it had changed."""
    target, real = closure.PACKAGE / name, Path.read_bytes
    assert target.is_file()
    monkeypatch.setattr(
        Path, "read_bytes", lambda path: real(path) + (text.encode() if path == target else b"")
    )


REWARDS = ("exact_match", "finqa", "gsm8k", "math", "multiple_choice", "reference", "rubric")


def digests():
    fresh = artifacts()
    return {reward: fresh.artifact(reward).digest for reward in REWARDS}


@pytest.fixture(scope="module")
def unchanged():
    """The digests of our files as they are."""
    return digests()


@pytest.mark.parametrize(
    ("name", "moved"),
    [
        ("verifiers/gsm8k.py", {"gsm8k"}),
        ("verifiers/_math/verdict.py", {"math"}),
        ("finqa/executor.py", {"finqa"}),
        ("symbolic/compare/scalars.py", {"math"}),
        ("judge_runtime/prices.toml", {"reference", "rubric"}),
        ("judge_runtime/panel.py", {"reference", "rubric"}),
        ("judges/reference.md", {"reference"}),
        ("judges/rubrics/reasoning.toml", {"rubric"}),
        ("serving/handler.py", set(REWARDS)),
        ("aws/catalogue.py", set()),
        ("cdk/artifact/artifact.py", set()),
        ("cli/scoring.py", set()),
    ],
)
def test_a_change_moves_the_rewards_that_reach_it_and_no_others(
    monkeypatch, unchanged, name, moved
):
    changed(monkeypatch, name)
    after = digests()
    assert {reward for reward in REWARDS if unchanged[reward] != after[reward]} == moved


def test_a_change_that_is_taken_back_has_moved_nothing(monkeypatch, unchanged):
    with monkeypatch.context() as patch:
        changed(patch, "serving/handler.py")
        assert digests() != unchanged
    assert digests() == unchanged


@pytest.mark.parametrize(
    "other",
    [
        {"interpreter": None},
        FOREIGN,
        {"architecture": "x86_64", "python": "3.13"},
        {"architecture": "arm64", "python": "3.12"},
    ],
    ids=str,
)
def test_another_target_is_another_artifact(other):
    assert artifacts(**other).artifact("gsm8k").digest != HERE.artifact("gsm8k").digest


def test_the_digest_does_not_know_who_built_it_nor_the_stage():
    elsewhere = artifacts(
        interpreter=Path("/somewhere/else/python"), name="other", deployments=["gsm8k"]
    )
    assert elsewhere.artifact("gsm8k").digest == HERE.artifact("gsm8k").digest


def test_a_pin_moves_those_that_carry_it(monkeypatch, unchanged, tmp_path):
    listed = tmp_path / "runtime.txt"
    listed.write_text(pins.pins().read_text().replace("sympy==1.14.0", "sympy==1.14.1"))
    monkeypatch.setattr(pins, "pins", lambda: listed)
    after = digests()
    assert {reward for reward in REWARDS if unchanged[reward] != after[reward]} == {"math"}


def test_what_only_packages_call_moves_no_reward_of_ours():
    more = artifacts(aws_services=["athena"])
    assert more.artifact("gsm8k").digest == HERE.artifact("gsm8k").digest


def test_a_client_that_a_deployment_s_rights_are_for_ships_with_its_reward():
    athena = {"actions": ["athena:GetQueryResults"], "resources": ["*"], "reason": "A list."}
    given = [{"name": "a", "reward": "gsm8k", "allow": [athena]}, "gsm8k", "math"]
    made = artifacts(aws_services=["glue", "s3"], deployments=given)
    assert made.services("gsm8k") == {"athena", "glue"}
    assert made.services("math") == {"glue"}


# Limits, bytecode, the cache.


SHOP = "CREATE TABLE birds (name); INSERT INTO birds VALUES ('heron');"


@pytest.mark.parametrize("given", ["databases", "databases/shop.sql"])
def test_databases_are_in_the_zip_as_a_folder_or_as_one_file(tmp_path, monkeypatch, given):
    (tmp_path / "databases" / "spider").mkdir(parents=True)
    places = {"databases/shop.sql", "databases/spider/spider.sql"}
    for place in places:
        (tmp_path / place).write_text(SHOP, encoding="utf-8")
    (tmp_path / "beside.sql").write_text(SHOP, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    queries = {"name": "queries", "reward": "sql_result", "parameters": {"databases": given}}
    without = artifacts(tmp_path, deployments=["sql_result"]).artifact("sql_result")
    carrying = artifacts(tmp_path, deployments=[queries]).artifact("sql_result")
    carried = {*carrying.contents.files} - {*without.contents.files}
    assert carried == {place for place in places if place.startswith(given)}
    carrying.build(tmp_path / "one.zip")
    with ZipFile(tmp_path / "one.zip") as archive:
        archive.extractall(tmp_path / "task", carried)
    monkeypatch.chdir(tmp_path / "task")
    gold = {"sql": "SELECT name FROM birds", "database": "shop.sql"}
    assert get("sql_result")("SELECT name FROM birds", gold, databases=given).value == 1.0


def test_a_file_that_a_parameter_names_is_in_the_zip_under_its_path(tmp_path, monkeypatch):
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "invoice.json").write_text('{"type": "object"}', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    invoice = {
        "name": "invoice",
        "reward": "json_fields",
        "parameters": {"schema": "schemas/invoice.json", "fields": '{"total": "number±0.01"}'},
    }
    without = artifacts(tmp_path, deployments=["json_fields"]).artifact("json_fields")
    carrying = artifacts(tmp_path, deployments=[invoice]).artifact("json_fields")
    name = "schemas/invoice.json"
    assert {*carrying.contents.files} - {*without.contents.files} == {name}
    first = carrying.digest
    carrying.build(tmp_path / "one.zip")
    with ZipFile(tmp_path / "one.zip") as archive:
        assert archive.read(name) == b'{"type": "object"}'
    (tmp_path / name).write_text("{}", encoding="utf-8")
    assert artifacts(tmp_path, deployments=[invoice]).artifact("json_fields").digest != first


def test_a_validator_is_carried_where_it_is_reached():
    parts = {
        reward: str(artifacts(deployments=[reward]).artifact(reward).contents.parts)
        for reward in ("gsm8k", "json_fields")
    }
    assert "jsonschema-rs" not in parts["gsm8k"]
    assert "jsonschema-rs" in parts["json_fields"]


def test_over_lambda_s_limit_there_is_no_zip(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "MAX_UNZIPPED", 1000)
    with pytest.raises(TooLarge, match=r"over Lambda's limit of.*largest parts are .*botocore"):
        HERE.artifact("gsm8k").build(tmp_path / "artifact.zip")
    assert not list(tmp_path.iterdir())


def test_a_file_that_no_python_compiles_keeps_nobody_from_bytecode(tmp_path, capfd):
    (tmp_path / "template.py").write_text("class {{ name }}: pass\n")
    (tmp_path / "module.py").write_text("x = 1\n")
    parts.compile_tree(tmp_path, PYTHON_HERE)
    assert [path.name.partition(".")[0] for path in tmp_path.rglob("*.pyc")] == ["module"]
    written = capfd.readouterr()
    assert "template.py" in written.err
    assert not written.out  # which belongs to jsii


def test_an_interpreter_that_compiles_nothing_is_reported(tmp_path):
    (tmp_path / "module.py").write_text("x = 1\n")
    with pytest.raises(NoInterpreter, match="compiled nothing"):
        parts.compile_tree(tmp_path, Path("/bin/false"))


def test_a_strict_stage_without_an_interpreter_is_refused():
    with pytest.raises(NoInterpreter, match=r"strict: no interpreter.*uv python install 3\.13"):
        _ = artifacts(interpreter=None, strict=True, **FOREIGN).artifact("gsm8k").digest


def test_what_is_kept_is_whole_and_made_once(tmp_path):
    cache = Cache(tmp_path / "cache")
    made = []

    def make(folder):
        made.append(folder)
        (folder / "file").write_text("whole")

    def fail(folder):
        (folder / "file").write_text("half")
        raise BadPackage("no such wheel")

    with pytest.raises(BadPackage):
        cache.folder_of("key", fail)
    assert not list(cache.folder.iterdir())
    for _ in range(2):
        assert (cache.folder_of("key", make) / "file").read_text() == "whole"
    assert len(made) == 1


def test_who_finds_somebody_building_the_same_waits_and_builds_nothing(tmp_path):
    cache, made, begun, end = Cache(tmp_path), [], Event(), Event()

    def make(folder):
        made.append(folder)
        begun.set()
        end.wait()

    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(cache.folder_of, "key", make)]
        begun.wait()
        asked += [pool.submit(cache.folder_of, "key", make) for _ in range(2)]
        end.set()
        assert {each.result() for each in asked} == {tmp_path / "key"}
    assert len(made) == 1


def test_where_nothing_can_be_locked_the_first_of_two_is_kept(tmp_path):
    cache = Cache(tmp_path)

    def slower(folder):
        (folder / "file").write_text("second")
        cache.folder_of("key", lambda faster: (faster / "file").write_text("first"))

    assert (cache.folder_of("key", slower) / "file").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


def test_what_nobody_used_for_long_is_forgotten(tmp_path):
    cache = Cache(tmp_path)
    old = cache.folder_of("old", lambda folder: None)
    os.utime(old, (0, 0))
    cache.folder_of("new", lambda folder: None)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_of_what_lies_idle_the_latest_are_kept(tmp_path):
    cache, now = Cache(tmp_path), time()
    for hours in range(2, MOST + 4):
        folder = cache.folder_of(f"{hours}", lambda folder: None)
        os.utime(folder, (now, now - 3600 * hours))
    cache.folder_of("new", lambda folder: None)
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {"new", *(f"{hours}" for hours in range(2, MOST + 2))}


def test_a_home_that_cannot_be_written_is_no_obstacle(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert Cache.of_user(tmp_path / "mine").folder == tmp_path / "mine"


def refuse(kind):
    def refused(*_args, **_kwargs):
        raise kind("no")

    return refused


def test_nobody_s_home_is_no_obstacle(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", refuse(RuntimeError))
    assert Cache.of_user(tmp_path / "mine").folder == tmp_path / "mine"


def test_a_cache_whose_time_may_not_be_set_is_no_obstacle(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(os, "utime", refuse(PermissionError))
    assert Cache.of_user(tmp_path / "mine").folder == tmp_path / "mine"


def test_what_another_user_put_there_is_made_again_elsewhere(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache, set_time = Cache.of_user(tmp_path / "mine"), os.utime
    theirs = cache.folder_of("key", lambda folder: None)

    def utime(path, *times):
        return refuse(PermissionError)() if path == theirs else set_time(path, *times)

    monkeypatch.setattr(os, "utime", utime)
    assert cache.folder_of("key", lambda folder: None) == tmp_path / "mine" / "key"


SPOILT = {
    "a byte": lambda path: path.write_bytes(path.read_bytes()[:-1] + b"x"),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:9]),
    "gone": Path.unlink,
    "no sum": lambda path: path.with_name(parts.SUM).unlink(),
    "a binary sum": lambda path: path.with_name(parts.SUM).write_bytes(b"\xff"),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_a_kept_zip_that_was_spoilt_is_built_again(tmp_path, spoil):
    (tmp_path / "module.py").write_text("x = 1\n")
    part = parts.OurFiles({"module.py": tmp_path / "module.py"})
    cache, target = Cache(tmp_path / "cache"), HERE.target
    (path,) = {parts.kept([part], target, cache).zip for _ in range(2)}
    whole = path.read_bytes()
    spoil(path)
    assert parts.kept([part], target, cache).zip == path
    assert path.read_bytes() == whole
    assert len(list(cache.folder.iterdir())) == 1


def test_dot_files_are_no_part_of_our_rooms(monkeypatch, tmp_path):
    rooms = tmp_path / "reward_functions"
    for name in ("core/.DS_Store", ".idea/x.xml", "core/batch.py", "core/__pycache__/a.pyc"):
        (rooms / name).parent.mkdir(parents=True, exist_ok=True)
        (rooms / name).touch()
    monkeypatch.setattr(closure, "PACKAGE", rooms)
    assert [*closure.all_files()] == ["reward_functions/core/batch.py"]


# Wheels of another platform, from a folder in place of an index.

MANYLINUX = {"arm64": "manylinux_2_17_aarch64", "x86_64": "manylinux_2_17_x86_64"}


@pytest.fixture
def index(monkeypatch, tmp_path):
    """A pin `native` for both processors, with the hashes of its wheels."""
    folder = tmp_path / "wheels"
    tags = [*MANYLINUX.values(), "macosx_11_0_arm64"]
    hashes = [hash_of(wheel(folder, "native", tag=f"cp313-cp313-{tag}")) for tag in tags]
    pinned = tmp_path / "runtime.txt"
    pinned.write_text(f"native==1.0 {' '.join(hashes)}\n")
    monkeypatch.setattr(pins, "pins", lambda: pinned)
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return pinned


@pytest.mark.parametrize("architecture", MANYLINUX)
def test_wheels_are_the_target_s_own_whoever_builds(index, tmp_path, architecture):
    target = artifacts(interpreter=None, architecture=architecture, python="3.13")
    tree = tmp_path / "tree"
    target.artifact("gsm8k").lay_out(tree)
    assert MANYLINUX[architecture] in (tree / "native.py").read_text()
    assert (tree / "reward_functions" / "core" / "batch.py").is_file()
    assert not list(tree.rglob("*.pyc"))


LAYOUT_OF_NOW = (1, "5a022f036b9bba58")


def test_the_same_inputs_give_the_same_zip_or_the_layout_is_another(index, tmp_path):
    """Raise `parts.LAYOUT` with a change of how zips are made, and write both down here."""
    tree = tmp_path / "tree"
    tree.mkdir()
    requirements = parts.Requirements(
        pins=our_pins(), target=artifacts(interpreter=None, **FOREIGN).target
    )
    requirements.lay_out(tree / "pins")
    (tree / "module.py").write_text("x = 1\n")
    parts.append(tmp_path / "zip", tree)
    with ZipFile(tmp_path / "zip") as archive:
        made = [
            (each.filename, each.date_time, each.external_attr, archive.read(each))
            for each in archive.infolist()
        ]
    assert (parts.LAYOUT, sha256(repr(made).encode()).hexdigest()[:16]) == LAYOUT_OF_NOW


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
    target = artifacts(interpreter=None, **FOREIGN)
    with pytest.raises(BadPackage, match=r"installing for arm64 and Python 3.13 failed: .*native"):
        target.artifact("gsm8k").build(tmp_path / "built" / "artifact.zip")
    assert not list((tmp_path / "built").iterdir())


def test_what_is_missing_in_a_foreign_artifact_is_found_by_its_files(index, tmp_path):
    target = artifacts(interpreter=None, **FOREIGN)
    with pytest.raises(NotLoaded, match="imports aws_lambda_powertools, which is not in the art"):
        target.artifact("gsm8k").build(tmp_path / "built" / "artifact.zip")
    assert not list((tmp_path / "built").iterdir())


@pytest.mark.skipif(find_spec("awslambdaric") is None, reason="AWS's runtime client is for Linux")
@pytest.mark.parametrize("name", ["gsm8k", "math"])
def test_the_zip_answers_under_lambda_s_own_runtime_client(unpacked, name):
    with LocalRuntime(LambdaSettings(name=name).to_env(), folder=unpacked(name)) as runtime:
        example = specs()[name].examples[0]
        turn = {"role": "assistant", "content": example.response}
        event = [{"id": "a", "messages": [turn], "reference_answer": example.reference}]
        (reported,) = runtime.invoke(event).payload
    assert (reported["id"], reported["aggregate_reward_score"]) == ("a", example.score)
