"""Which files a reward carries: what it imports, however it does, and no neighbour's."""

from __future__ import annotations

from hashlib import sha256

import pytest

from reward_functions import Needs, specs
from reward_functions.cdk.artifact import closure

ALL = specs()


def files_of(name):
    return closure.files(
        closure.reached([closure.HANDLER, closure.module_of(name)], ALL[name].needs)
    )


def rooms_of(name):
    return {path.split("/")[1] for path in files_of(name)}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import a.b", {"a.b"}),
        ("from a import b", {"a", "a.b"}),
        ("def f():\n    from a import b", {"a", "a.b"}),
        ("from .a import b\nfrom . import c", set()),
        ("try:\n    import a\nexcept ImportError:\n    import b", {"a", "b"}),
        ("X = 'reward_functions.core.batch'", {"reward_functions.core.batch"}),
        (
            "X = 'import reward_functions.core.batch; run()'",
            {"reward_functions.core.batch"},
        ),
        ('"""See reward_functions.core.batch."""', set()),
        ("if TYPE_CHECKING:\n    import a", set()),
        ("if typing.TYPE_CHECKING:\n    import a\nelse:\n    import b", {"b"}),
        ("if not typing.TYPE_CHECKING:\n    import a", {"a"}),
        ("if HERE and typing.TYPE_CHECKING:\n    import a", {"a"}),
        ("class {{ template }}", set()),
        (b"\xff\x00", set()),
    ],
)
def test_an_import_counts_wherever_it_stands(source, found):
    assert closure.mentions(source).modules == found


@pytest.mark.parametrize(
    ("name", "never"),
    [
        ("exact_match", {"symbolic", "finqa"}),
        ("gsm8k", {"symbolic", "finqa"}),
        ("finqa", {"symbolic"}),
        ("math", {"finqa"}),
        ("reference", {"symbolic", "finqa"}),
    ],
)
def test_a_reward_carries_no_room_that_it_does_not_use(name, never):
    assert not rooms_of(name) & never


ASKS = {"math_then_judge": ("math", "reference")}
"""A reward, and those it is made of."""


@pytest.mark.parametrize("name", ALL)
def test_a_reward_carries_itself_and_no_other(name):
    folders = ("reward_functions/verifiers/", "reward_functions/judges/")
    carried = {path.removesuffix(".py") for path in files_of(name) if path.startswith(folders)}
    own = {name, *ASKS.get(name, ())}
    others = {f"{folder}{other}" for folder in folders for other in ALL if other not in own}
    assert not carried & others
    assert any(path.endswith(f"/{name}.py") for path in files_of(name))


VERIFIERS = [name for name, spec in ALL.items() if not spec.needs.judge]


@pytest.mark.parametrize("name", VERIFIERS)
def test_what_judges_read_moves_no_verifier(name):
    ours = {path for path in files_of(name) if path.startswith("reward_functions/judge")}
    # The settings of a judge are read wherever settings are.
    assert ours == {
        "reward_functions/judge_runtime/__init__.py",
        "reward_functions/judge_runtime/config.py",
        "reward_functions/judge_runtime/config_reading.py",
        "reward_functions/judges/__init__.py",
    }


@pytest.mark.parametrize("name", [name for name, spec in ALL.items() if spec.needs.judge])
def test_a_judge_carries_its_prompt_and_the_prices(name):
    (asking,) = ASKS.get(name, (name,))[-1:]
    assert {
        f"reward_functions/judges/{asking}.md",
        "reward_functions/judge_runtime/prices.toml",
        "reward_functions/judge_runtime/rules.md",
        "reward_functions/judge_runtime/master_keys.txt",
    } <= files_of(name).keys()
    rubrics = [path for path in files_of(name) if "/judges/rubrics/" in path]
    assert len(rubrics) == (4 if name == "rubric" else 0)


UNREAD = {
    # for laptops: what attacks judges and keeps verdicts, says which version stands, looks at a
    # shell; for rewards that are not ours: their processes; and a marker
    "core/http_server/__init__.py",
    "core/http_server/messages.py",
    "core/http_server/server.py",
    "core/importing.py",
    "core/local_requests.py",
    "core/loopback.py",
    "core/looking.py",
    "core/mentions.py",
    "judge_runtime/attack_corpus.py",
    "judge_runtime/attacks.jsonl",
    "judge_runtime/verdict_store.py",
    "serving/descriptions.py",
    "serving/isolation/__init__.py",
    "serving/isolation/service.py",
    "serving/isolation/forked.py",
    "py.typed",
}


def test_of_the_runtime_rooms_only_these_files_are_carried_by_no_reward():
    carried = {path for name in ALL for path in files_of(name)}
    left = closure.all_files().keys() - carried
    assert left == {f"reward_functions/{name}" for name in UNREAD}


def test_a_folder_is_kept_out_while_its_room_goes_in(monkeypatch):
    rollouts, out = "reward_functions.rollouts", "reward_functions.rollouts.compat"
    beside, module = frozenset({rollouts}), f"{out}.nova_forge"
    whole = closure.all_files(beside).keys()
    assert module in closure.reached([module], Needs(), beside=beside)
    monkeypatch.setattr(closure, "ROWS", closure.ROWS | {out: closure.NOBODY})
    monkeypatch.setattr(closure, "LAPTOP", closure.LAPTOP | {out})
    left = closure.all_files(beside).keys()
    compat = "reward_functions/rollouts/compat/"
    assert left == {name for name in whole if not name.startswith(compat)} != whole
    assert closure.reached([module], Needs(), beside=beside) <= {"reward_functions", rollouts} | {
        name for name in closure.modules() if not name.startswith(out)
    }


def test_sympy_is_reached_by_what_compares_mathematics():
    reaching = {
        name
        for name, spec in ALL.items()
        if "sympy"
        in closure.imported_packages(
            closure.reached([closure.HANDLER, closure.module_of(name)], spec.needs)
        )
    }
    assert reaching == {"math", "math_then_judge"}


@pytest.mark.parametrize(
    ("source", "reached"),
    [
        (b"from reward_functions import Score", False),
        (b"from reward_functions.symbolic import equal", True),
        (b"from reward_functions import get\nR = get('math')", True),
        (b"from reward_functions import get\nR = get('gsm8k')", False),
        (b"from reward_functions.verifiers import math", True),
    ],
)
def test_somebody_else_s_code_reaches_the_algebra_by_import_or_by_a_reward_s_name(source, reached):
    found = closure.reached_by_theirs([source], Needs())
    assert ("sympy" in closure.imported_packages(found)) == reached


def test_what_is_kept_between_syntheses_is_what_the_sources_mention(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    read = closure.known.__wrapped__()
    source = closure.modules()[closure.HANDLER].read_bytes()
    assert read[sha256(source).hexdigest()] == closure.mentions(source)
    (kept,) = tmp_path.glob("reward-functions/mentions-*/*")
    assert closure.known.__wrapped__() == read
    kept.write_text("{}")
    assert closure.known.__wrapped__() == read, "somebody changed it: it is made again"
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert closure.known.__wrapped__() == {}, "nothing can be kept: each source is read"
