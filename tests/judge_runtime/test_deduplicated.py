"""Equal questions of a file of any size: who shares an answer, and what is remembered."""

from __future__ import annotations

from threading import Event, Thread
from types import SimpleNamespace

import pytest

from reward_functions.core.asking import Verdict
from reward_functions.core.errors import JudgeUnavailable
from reward_functions.judge_runtime.usage import Account
from reward_functions.judge_runtime.wrappers import deduplicated
from reward_functions.judge_runtime.wrappers.deduplicated import Deduplicated


@pytest.fixture
def asked(monkeypatch):
    """The keys that were passed on by an `Ask` that remembers three."""
    monkeypatch.setattr(deduplicated, "KEPT", 3)
    return []


def asking(asked, answer=lambda key: Verdict({"same": key})):
    def ask(question, *, deadline):
        asked.append(question.key)
        return answer(question.key)

    whole = Deduplicated(ask, Account())
    return lambda keys: [whole(SimpleNamespace(key=key))["same"] for key in keys]


SHARED = {
    "equal ones": ("aaa", "a"),
    "as many as are remembered": ("abcabc", "abc"),
    "the oldest is forgotten": ("abcda", "abcda"),
    "one that was asked again is young": ("abcada", "abcd"),
}


@pytest.mark.parametrize(("keys", "passed"), SHARED.values(), ids=SHARED)
def test_the_last_questions_are_shared(keys, passed, asked):
    assert asking(asked)(keys) == list(keys)
    assert "".join(asked) == passed


def test_a_failure_is_shared_as_long_as_it_is_remembered(asked):
    def fails(key):
        raise JudgeUnavailable(key, "busy")

    ask = asking(asked, fails)
    for key in "aabcda":
        with pytest.raises(JudgeUnavailable, match=key):
            ask(key)
    assert "".join(asked) == "abcda"


def test_a_question_under_way_is_never_forgotten(asked):
    begun, go_on = Event(), Event()

    def answer(key):
        if key == "slow":
            begun.set()
            assert go_on.wait(30)
        return Verdict({"same": key})

    ask = asking(asked, answer)
    found = []
    first = Thread(target=lambda: found.extend(ask(["slow"])))
    first.start()
    assert begun.wait(30)
    ask("abcdef")
    second = Thread(target=lambda: found.extend(ask(["slow"])))
    second.start()
    go_on.set()
    first.join(30)
    second.join(30)
    assert found == ["slow"] * 2
    assert asked.count("slow") == 1
