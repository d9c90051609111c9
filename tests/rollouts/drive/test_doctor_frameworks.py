"""Which frameworks are there, and whether rollouts are traced."""

import sys
from importlib.metadata import version

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.extras import EXTRAS
from reward_functions.rollouts.drive import doctor as doctor_frameworks
from reward_functions.rollouts.drive.doctor import FRAMEWORKS, frameworks, tracing


def test_each_framework_has_an_extra_that_brings_it():
    assert FRAMEWORKS.keys() <= EXTRAS.keys()


def test_what_is_installed_has_its_version_and_nothing_is_imported(monkeypatch):
    for module in FRAMEWORKS:
        monkeypatch.delitem(sys.modules, module, raising=False)
    found = frameworks({"openai": "openai", "strands": "strands-agents"})
    assert found.verdict == "ok"
    assert (
        f"openai {version('openai')}, strands-agents {version('strands-agents')}" in found.message
    )
    assert not FRAMEWORKS.keys() & sys.modules.keys()


def test_what_is_not_has_the_line_to_type():
    found = frameworks({"openai": "openai", "agents": "no-such-a", "strands": "no-such-b"})
    assert found.message.endswith("; the rest: pip install 'reward-functions[agents,strands]'")
    assert frameworks({"agents": "no-such"}).message.startswith("none is installed; ")


def test_tracing_is_off_unless_a_variable_says_so(monkeypatch):
    monkeypatch.delenv("REWARD_ROLLOUTS_OTEL", raising=False)
    assert tracing().message == "off; REWARD_ROLLOUTS_OTEL=1 turns it on"


def test_tracing_needs_somewhere_to_go(monkeypatch):
    monkeypatch.setenv("REWARD_ROLLOUTS_OTEL", "1")
    monkeypatch.setattr(doctor_frameworks, "find_spec", lambda name: None)
    assert (tracing().verdict, "opentelemetry-sdk" in tracing().message) == ("warning", True)
    monkeypatch.setattr(doctor_frameworks, "find_spec", lambda name: name)
    assert (tracing().verdict, tracing().message[:22]) == ("ok", "REWARD_ROLLOUTS_OTEL=1")


def test_tracing_without_the_extra_is_one_line(monkeypatch):
    monkeypatch.setenv("REWARD_ROLLOUTS_OTEL", "1")
    monkeypatch.setattr("reward_functions.core.extras._installed", lambda module: False)
    with pytest.raises(ConfigurationError, match=r"pip install 'reward-functions\[otel\]'"):
        tracing()
