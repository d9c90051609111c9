"""Rewards are found by file and by entry point; a wrong name suggests the right one."""

import sys
from importlib.metadata import EntryPoint, PathDistribution

import pytest

from reward_functions import Sample, Score, get, reward_function, specs
from reward_functions.core import registry
from reward_functions.core.errors import BrokenPlugin, UnknownReward


def plugin(name, value):
    return EntryPoint(name=name, value=value, group=registry.ENTRY_POINT_GROUP)


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
    with pytest.raises(UnknownReward, match="there are exact_match, finqa, group, gsm8k"):
        get("zzzzzz")


def test_a_plugin_is_found_by_its_qualified_name(installed):
    installed.append(plugin("acme.length", "acme_rewards:length"))
    assert get("acme.length").name == "acme.length"
    assert list(specs())[-1] == "acme.length"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("length", "acme_rewards:length", "must be qualified"),
        ("acme.other", "acme_rewards:length", "declares the name 'acme.length'"),
        ("acme.number", "acme_rewards:number", "not a reward function"),
        ("acme.gone", "acme_rewards:gone", "gone"),
        ("acme.away", "acme_nowhere:length", "acme_nowhere"),
    ],
)
def test_a_plugin_that_cannot_be_used_says_why(installed, name, value, message):
    installed.append(plugin(name, value))
    with pytest.raises(BrokenPlugin, match=message):
        specs()


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
