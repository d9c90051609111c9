"""What the base install leaves out: what to type, where it is missing and not broken."""

import sys
from types import ModuleType

import pytest

from reward_functions.core.extras import EXTRAS, Extra, MissingExtra, missing, require

LINE = "pip install 'reward-functions[wandb]'"


@pytest.fixture
def without(monkeypatch):
    """Modules that are not installed here, whatever is."""

    def made(*names):
        found = {**EXTRAS, **{name: Extra("wandb", "Weights") for name in names}}
        monkeypatch.setattr("reward_functions.core.extras.EXTRAS", found)

    return made


def test_what_is_missing_is_the_line_to_type(without):
    without("no_such_module")
    with pytest.raises(MissingExtra, match=r"^the page needs Weights: ") as raised:
        require("json", "no_such_module", by="the page")
    assert str(raised.value).endswith(LINE)
    assert (raised.value.name, raised.value.extra.name) == ("no_such_module", "wandb")
    again = raised.value.needed_by("the command")
    assert str(again) == f"the command needs Weights: {LINE}"
    assert (again.name, again.extra) == (raised.value.name, raised.value.extra)


def test_another_extra_may_be_proposed(without):
    without("no_such_module")
    with pytest.raises(MissingExtra, match=r"^it needs more: .*\[other\]'$"):
        require("no_such_module", by="it", extra=Extra("other", "more"))


def test_what_is_installed_is_not_refused(monkeypatch):
    by_hand = ModuleType("by_hand")
    by_hand.__spec__ = None
    monkeypatch.setitem(sys.modules, "by_hand", by_hand)
    require("json", "by_hand", by="it")


def test_a_failed_import_comes_down_to_an_extra_or_to_none(without):
    without("no_such_module", "json")
    found = missing(ModuleNotFoundError(name="no_such_module.part"), "it")
    assert str(found) == f"it needs Weights: {LINE}"
    assert missing(ModuleNotFoundError(name="json"), "it") is None, "installed, and broken"
    assert missing(ModuleNotFoundError(name="of_nobody"), "it") is None
    assert missing(ModuleNotFoundError(), "it") is None
    assert str(missing(found, "another")) == f"another needs Weights: {LINE}"
