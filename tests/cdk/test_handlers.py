"""Artifacts of functions that are no rewards: what their handlers reach, and no more."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path
from zipfile import ZipFile

import pytest

from reward_functions.cdk.artifact import closure
from reward_functions.cdk.artifact.interpreter import NoInterpreter
from reward_functions.cdk.artifact.packages import normalised
from reward_functions.cdk.artifact.pins import BRINGS, our_pins, pins_for, pins_of_every_reward
from reward_functions.cdk.constructs.artifacts import Artifacts
from reward_functions.cdk.model.stages import Stage

ROOT = Path(__file__).parents[2]

FORWARDER = "reward_functions.rollouts.servers.forwarder"


def artifacts(interpreter=Path(sys.executable), **fields):
    given = {"name": "test", "region": "us-east-1", "deployments": ["gsm8k"], "emulated": True}
    return Artifacts(Stage.model_validate(given | fields), ROOT, interpreter)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The forwarder's zip, unpacked."""
    folder = tmp_path_factory.mktemp("forwarder")
    artifacts().of_handler(FORWARDER).build(folder / "zip")
    with ZipFile(folder / "zip") as archive:
        archive.extractall(folder / "task")
    return folder / "task"


def test_a_forwarder_carries_its_handler_and_the_pins_of_that_alone(built):
    assert (built / "reward_functions/rollouts/serve/forwarder.py").is_file()
    tops = {path.name for path in built.iterdir()}
    assert {"boto3", "botocore", "reward_functions"} <= tops
    assert not tops & {"pydantic", "pydantic_core", "aws_lambda_powertools", "sympy", "mpmath"}
    rooms = {path.name for path in (built / "reward_functions").iterdir() if path.is_dir()}
    assert "serving" not in rooms
    rows = {closure.row(f"reward_functions.{room}") for room in rooms}
    assert not rows & (closure.LAPTOP - {"reward_functions.rollouts"})
    assert list(built.glob("reward_functions/rollouts/serve/__pycache__/forwarder.*.pyc"))


def test_it_answers_from_its_zip_alone(built):
    code = (
        f"import sys; sys.path.insert(0, {str(built)!r})\n"
        f"from {FORWARDER} import handler\n"
        "print(handler({'metadata': {}})['errorType'])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-I", "-B", "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"AGENT_ENDPOINT": "https://agent.example.com"},
    )
    assert done.stdout.split() == ["ValidationError"], done.stderr


def test_a_change_moves_whoever_reaches_it(monkeypatch):
    def digests():
        made = artifacts()
        return made.artifact("gsm8k").digest, made.of_handler(FORWARDER).digest

    reward, forwarder = digests()
    found = closure.files
    place = "reward_functions/rollouts/serve/forwarder.py"

    def moved(names):
        files = found(names)
        return files | {place: Path(__file__)} if place in files else files

    monkeypatch.setattr(closure, "files", moved)
    assert digests()[0] == reward
    assert digests()[1] != forwarder


def test_no_reward_follows_an_import_into_the_rooms_beside_rewards():
    from reward_functions import Needs

    roots = [closure.HANDLER, FORWARDER]
    found = closure.reached(roots, Needs())
    assert closure.HANDLER in found
    assert not {closure.row(name) for name in found} & closure.BESIDE_REWARDS


def test_a_strict_stage_without_an_interpreter_is_refused():
    foreign = {"emulated": False, "architecture": "arm64", "python": "3.13", "strict": True}
    with pytest.raises(NoInterpreter, match="strict"):
        _ = artifacts(None, **foreign).of_handler(FORWARDER).digest


def brought(name, found):
    """A distribution and what it requires without extras, from the installed records."""
    if name not in found:
        found.add(name)
        for line in requires(name) or ():
            if "extra ==" not in line:
                brought(normalised(re.match(r"[\w.-]+", line)[0]), found)
    return found


@pytest.mark.parametrize("package", BRINGS)
def test_an_import_takes_what_its_distribution_requires(package):
    pinned = {pin.name for pin in our_pins()}
    assert brought(package.replace("_", "-"), set()) & pinned == BRINGS[package]


def test_every_pin_that_all_rewards_carry_is_somebodys():
    everybodys = {pin.name for pin in pins_of_every_reward()}
    assert frozenset().union(*BRINGS.values()) == everybodys


def test_what_is_imported_from_nowhere_takes_nothing():
    assert pins_for(["json", "reward_functions"]) == ()
