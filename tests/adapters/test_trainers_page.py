"""The pages of trainers: their Python runs, beside doubles of the hosts; dotted names exist.

What the hosts make of these lines, `make adapters` runs in the hosts themselves.
"""

import re
import sys
import tomllib
from importlib import import_module
from types import ModuleType

import pytest

from reward_functions.adapters.verl import compute_score
from tests.adapters.calls import VERL
from tests.walkthrough import ROOT, blocks

PAGE = "\n".join(
    (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("trainers", "trainers-reference")
)

BLOCKS = [block for block in blocks(PAGE) if block.language == "python"]

DOTTED = sorted(set(re.findall(r"(?<=[\"`/])reward_functions\.adapters\.\w+(?:[:.]\w+)?", PAGE)))
"""What a configuration names: `MODULE`, or `MODULE:NAME`."""

THEIRS = {"rows": [], "dataset": []}
"""What a reader has already."""

JUDGE = """
[[models]]
model = "judge"
backend = "openai"
endpoint = "http://127.0.0.1:9/v1"
"""


class Host:
    """Stands for whatever a host's module holds: a class that takes anything, or a decorator."""

    def __init__(self, *_, **__):
        pass

    def __call__(self, made):
        return made


DOUBLES = {
    "trl": ("GRPOConfig", "GRPOTrainer"),
    "inspect_ai": ("Task",),
    "inspect_ai.scorer": ("Score", "accuracy", "mean", "scorer", "stderr"),
    "inspect_ai.solver": ("generate",),
    "openenv": (),
    "openenv.core": (),
    "openenv.core.env_server": (),
    "openenv.core.env_server.interfaces": ("Environment",),
    "openenv.core.rubrics": ("Rubric",),
    "swift": (),
    "swift.rewards": (),
}


@pytest.fixture
def hosts(monkeypatch):
    made = {}
    for name, held in DOUBLES.items():
        made[name] = ModuleType(name)
        made[name].__path__ = []
        for each in held:
            setattr(made[name], each, Host)
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(made[parent], last, made[name])
        monkeypatch.setitem(sys.modules, name, made[name])
    made["swift.rewards"].orms = {}


def first_names(block):
    return block.text.partition("\n\n")[0][-60:]


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("block", BLOCKS, ids=first_names)
def test_a_block_runs_alone(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "judge.toml").write_text(JUDGE)
    held = dict(THEIRS, __name__="page")
    exec(compile(block.text, "a page of trainers", "exec"), held)
    for environment in [each for name, each in held.items() if name == "Sums"]:
        environment()


@pytest.mark.usefixtures("hosts")
def test_the_composite_of_the_page_scores_where_a_trainer_passes_no_tokens():
    (block,) = (each for each in BLOCKS if "tutor = weighted(" in each.text)
    held = dict(THEIRS, __name__="page")
    exec(compile(block.text, "a page of trainers", "exec"), held)
    assert compute_score(**VERL, reward=held["tutor"])["score"] > 0.7


@pytest.mark.parametrize("dotted", DOTTED)
def test_what_a_configuration_names_exists(dotted):
    module, _, name = dotted.partition(":")
    found = import_module(module)
    assert not name or callable(getattr(found, name))


def test_what_is_found_and_run_is_all_there_is():
    assert len(BLOCKS) == 9
    assert {name.split(".")[2].partition(":")[0] for name in DOTTED} == {
        "rllm",
        "verifiers",
        "verl",
    }
    for block in blocks(PAGE):
        if block.language == "toml":
            tomllib.loads(block.text)


def test_the_arguments_of_verl_are_those_of_its_function():
    (named,) = re.findall(r"custom_reward_function\.path=pkg://(\S+) \\\n", PAGE)
    (function,) = re.findall(r"custom_reward_function\.name=(\w+)", PAGE)
    own = {"reward", "on_unscored", "prompt", "judge"}
    score = getattr(import_module(named), function)
    assert own <= set(score.__kwdefaults__)
    parameters = set(re.findall(r"\+reward\.custom_reward_function\.reward_kwargs\.(\w+)", PAGE))
    assert parameters == {"reward", "rounded", "unit", "on_unscored", "prompt"}
