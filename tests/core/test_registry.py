"""Rewards are found by file and by entry point; a wrong name suggests the right one."""

import importlib
import sys
from importlib.metadata import EntryPoint, PathDistribution

import pytest

from reward_functions import Sample, Score, get, reward_function, specs
from reward_functions.core import registry
from reward_functions.core.errors import BrokenPlugin, UnknownReward


def plugin(name, value):
    return EntryPoint(name=name, value=value, group=registry.ENTRY_POINT_GROUP)


def forget_modules(monkeypatch):
    """What is imported from here on is forgotten, and a file of this very moment is found."""
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    importlib.invalidate_caches()


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Entry points of an imaginary package `acme_rewards`, whose module is written to disk."""
    (tmp_path / "acme_rewards.py").write_text(
        "from reward_functions import Score, reward_function\n"
        "@reward_function(name='acme.length', version=1)\n"
        "def length(sample): return Score(0.0)\n"
        "number = 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "acme_rewards", raising=False)
    points = []
    monkeypatch.setattr(registry, "_entry_points", lambda: points)
    return points


def test_a_file_in_the_folder_is_registered_by_being_there():
    assert {"exact_match", "gsm8k", "math", "multiple_choice"} <= set(specs())
    assert all(name == spec.name for name, spec in specs().items())
    assert get("gsm8k") is specs()["gsm8k"]


@pytest.mark.parametrize(
    "name", ["", "_scores", "GSM8K", "gsm8k;", "../gsm8k", "a b", "os", "x" * 999]
)
def test_what_is_no_reward_is_unknown(name):
    with pytest.raises(UnknownReward):
        get(name)


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(UnknownReward, match="Did you mean 'gsm8k'"):
        get("gsm8")
    with pytest.raises(
        UnknownReward,
        match="there are answer_format, answer_text, exact_match, finqa, group",
    ):
        get("zzzzzz")
    with pytest.raises(UnknownReward, match=r"acme\.total': install its package"):
        get("acme.total")
    with pytest.raises(UnknownReward, match=r"mine\.py': import the reward from this file"):
        get("mine.py")


def test_a_plugin_is_found_by_its_qualified_name(installed):
    installed.append(plugin("acme.length", "acme_rewards:length"))
    assert get("acme.length").name == "acme.length"
    assert list(specs())[-1] == "acme.length"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("brevity", "acme_rewards:length", "must be qualified"),
        ("acme.other", "acme_rewards:length", "declares the name 'acme.length'"),
        ("acme.number", "acme_rewards:number", "not a reward function"),
        ("acme.gone", "acme_rewards:gone", "gone"),
        ("acme.away", "acme_nowhere:length", "acme_nowhere"),
    ],
)
def test_a_plugin_that_cannot_be_used_says_why(installed, name, value, message):
    installed.append(plugin(name, value))
    installed.append(plugin("acme.length", "acme_rewards:length"))
    with pytest.raises(BrokenPlugin, match=message):
        raise registry.installed().broken[0]
    assert list(specs())[-1] == "acme.length", "the others are listed"


IMPORTS = {
    "a mistake": "1 / 0",
    "a missing package": "import nowhere_at_all",
    "a syntax error": "def (:",
    "an exit": "raise SystemExit(3)",
    "a quiet exit": "import sys; sys.exit()",
    "no Exception at all": "class Own(BaseException): pass\nraise Own('so')",
    "an exception of several lines": "raise ValueError('one\\n two')",
    "an exception that cannot be written": (
        "class Mute(Exception):\n def __str__(self): raise ValueError\nraise Mute"
    ),
    "too deep": "def f(): f()\nf()",
    "a cancelled task": "import asyncio; raise asyncio.CancelledError",
    "an annotation that is nothing": (
        "from reward_functions import Score, reward_function\n"
        "@reward_function(name='bad.spec', version=1)\n"
        "def spec(sample, *, words: Nothing = 1): return Score(0.0)\n"
    ),
    "a declaration that contradicts itself": (
        "from reward_functions import reward_function\n"
        "@reward_function(name='bad.spec', version=-1)\n"
        "def spec(sample): return None\n"
    ),
}


@pytest.mark.parametrize("why", IMPORTS)
def test_whatever_a_plugin_raises_ends_with_that_plugin(installed, tmp_path, monkeypatch, why):
    (tmp_path / "bad.py").write_text(f"from __future__ import annotations\n{IMPORTS[why]}\n")
    forget_modules(monkeypatch)
    installed.append(plugin("bad.spec", "bad:spec"))
    installed.append(plugin("acme.length", "acme_rewards:length"))
    found = registry.installed()
    assert [error.name for error in found.broken] == ["bad.spec"]
    assert "\n" not in str(found.broken[0])
    assert {"gsm8k", "acme.length"} <= found.specs.keys()
    assert get("acme.length").name == "acme.length"
    with pytest.raises(BrokenPlugin, match=r"entry point 'bad\.spec' \(bad:spec\): "):
        get("bad.spec")
    with pytest.raises(UnknownReward, match=r"'acme\.length'"):
        get("acme.lenght")


def test_an_interrupt_is_the_user_s_and_no_plugin_s(installed, tmp_path, monkeypatch):
    (tmp_path / "bad.py").write_text("raise KeyboardInterrupt")
    forget_modules(monkeypatch)
    installed.append(plugin("bad.spec", "bad:spec"))
    with pytest.raises(KeyboardInterrupt):
        specs()


def test_what_a_plugin_prints_is_no_result(installed, tmp_path, monkeypatch, capsys):
    (tmp_path / "prints_on_import.py").write_text(
        "print('hello')\nfrom acme_rewards import length\n"
    )
    forget_modules(monkeypatch)
    installed.append(plugin("acme.length", "prints_on_import:length"))
    assert registry.installed().broken == ()
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "hello\n")


def test_two_packages_that_register_one_name_are_reported(installed):
    installed.append(plugin("acme.length", "acme_rewards:length"))
    installed.append(plugin("acme.length", "acme_rewards:number"))
    (broken,) = registry.installed().broken
    assert str(broken) == (
        "entry point 'acme.length' (acme_rewards:number): another package registers a reward of "
        "this name"
    )
    assert get("acme.length") is specs()["acme.length"]


def test_a_broken_plugin_names_its_package(installed, tmp_path):
    record = tmp_path / "Acme_Rewards-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: Acme_Rewards\nVersion: 1.0\n")
    (record / "entry_points.txt").write_text("[reward_functions]\nacme.away = nowhere:away\n")
    installed.extend(PathDistribution(record).entry_points)
    (broken,) = registry.installed().broken
    assert broken.package == "Acme_Rewards"
    assert str(broken) == (
        "entry point 'acme.away' of Acme_Rewards (nowhere:away): ModuleNotFoundError: No module "
        "named 'nowhere'"
    )


def test_a_broken_plugin_does_not_keep_ours_from_being_served(installed):
    installed.append(plugin("acme.away", "acme_nowhere:length"))
    assert get("gsm8k").name == "gsm8k"


def test_a_name_is_the_stem_of_its_file():
    @reward_function(version=1)
    def stem(sample: Sample) -> Score:
        return Score(0.0)

    assert stem.name == "stem"


def test_a_reward_is_traced_to_the_package_that_registers_it(installed, tmp_path):
    record = tmp_path / "Acme_Rewards-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: Acme_Rewards\nVersion: 1.0\n")
    (record / "entry_points.txt").write_text(
        "[reward_functions]\nacme.length = acme_rewards:length\n"
    )
    installed.extend(PathDistribution(record).entry_points)
    assert registry.distribution("acme.length") == "Acme_Rewards"
    assert registry.distribution("gsm8k") is None
    assert registry.distribution("acme.width") is None
