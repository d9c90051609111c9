"""A foreign function in an interpreter of its own, and what it may do there."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import pytest

from reward_functions.audit import targets
from reward_functions.audit.child import led_to
from reward_functions.audit.engine import audit
from reward_functions.audit.targets import ChildFunction, audit_target
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Sample, Scored, sample
from tests.waiting import until

MINE = '''
import asyncio
import functools
import os
import sys
import time

from reward_functions import reward_function
from reward_functions.core.types import Score

SEEN = []
print("imported")


class Own(Score):
    """A class that the parent cannot import."""


def obeys(completion, reference):
    """Does what it is told."""
    match completion:
        case "exit":
            sys.exit("saying " + completion)
        case "die":
            os._exit(4)
        case "abort":
            os.abort()
        case "hang":
            time.sleep(600)
        case "interrupt":
            raise KeyboardInterrupt
        case "ask":
            input()
        case "raise":
            raise ValueError(completion)
        case "print":
            print(completion)
            print(completion, file=sys.stderr)
            os.write(1, completion.encode())
            os.system("echo " + completion)
    return reference in completion


def numbers(completion, reference):
    if "Infinity" in completion:
        time.sleep(600)
    if "1e999" in completion:
        raise OverflowError(completion)
    return completion.strip() == f"#### {reference}"


def batch(completions, answer, **kwargs):
    if "die" in completions:
        os._exit(4)
    if "hang" in completions:
        time.sleep(600)
    return [float(gold in each) for each, gold in zip(completions, answer)]


def talks(completions, **kwargs):
    return [each[0]["content"] == "4" for each in completions]


def counts(response):
    SEEN.append(response)
    return len(SEEN)


def slow(response):
    os.kill(os.getpid(), 9)


def one(completions, **kwargs):
    return 0.5


def own(sample):
    return Own(0.5, reason="mine" * (sys.path[0] == os.getcwd()))


def process(response):
    return os.getpid()


def descends(response):
    if not os.fork():
        time.sleep(600)
    time.sleep(600)


async def waits(completion, answer):
    await asyncio.sleep(0)
    return answer in completion[-1]["content"]


@reward_function
def mine(sample):
    return sample.response == sample.reference


class Rewards:
    def accuracy(self, completion, reference):
        return reference in completion

    @staticmethod
    def static(completion, reference):
        return reference in completion


rewards = Rewards()
partial = functools.partial(obeys)
number = 3
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a user's module, which is the current one."""
    made = tmp_path_factory.mktemp("users")
    (made / "my_rewards.py").write_text(MINE)
    (made / "my_package").mkdir()
    (made / "my_package" / "__init__.py").write_text("")
    (made / "my_package" / "rewards.py").write_text(
        "def plain(completion, reference): return 1.0\n"
    )
    (made / "broken.py").write_text("import nothing_that_exists\ndef f(text): return 1.0\n")
    (made / "leaves.py").write_text("raise SystemExit(2)\n")
    (made / "raises.py").write_text("class Odd(Exception): pass\nraise Odd('first\\nlast')\n")
    (made / "undecorated.py").write_text("def f(text): return 1.0\n")
    (made / "dies.py").write_text("import os\nos._exit(5)\n")
    before = os.getcwd()  # noqa: PTH109 - as it was
    os.chdir(made)
    yield made
    os.chdir(before)


@pytest.fixture(scope="module")
def obeys(folder):
    """One function for many tests, with a second for a row."""
    target = audit_target("my_rewards.py:obeys", seconds=1)
    yield target
    target.close()


def rows(*texts):
    return [sample(each, "4", prompt="2 + 2?", id=str(at)) for at, each in enumerate(texts)]


def values(results):
    return [each.score.value if isinstance(each, Scored) else None for each in results]


def error(result):
    return str(result.error)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123 - a zombie is gone
        return stat.read().split()[2] != "Z"


def test_a_function_of_a_file_is_scored_in_an_interpreter_of_its_own(obeys):
    assert obeys.kind == "function"
    assert obeys.name == "obeys"
    assert obeys.convention == "plain: completion is the response"
    assert obeys.described.startswith(
        "my_rewards.py:obeys, a function in an interpreter of its own; plain: completion is"
    )
    assert len(obeys.digest) == 16
    assert (obeys.version, obeys.spec, obeys.scale, obeys.calls) == ("", None, None, 0)
    results = obeys.score(rows("It is 4", "5", "raise", "4"))
    assert values(results) == [1.0, 0.0, None, 1.0]
    assert error(results[2]) == "it raised ValueError at my_rewards.py, line 35"
    assert [each.id for each in results] == ["0", "1", "2", "3"]
    assert obeys.probe(rows("4", "5")) == []
    assert obeys.score([]) == []


def test_a_row_that_ends_the_interpreter_costs_the_others_nothing(obeys):
    results = obeys.score(
        rows("4", "exit", "5", "die", "4", "interrupt", "hang", "4", "abort", "5")
    )
    assert values(results) == [1.0, None, 0.0, None, 1.0, None, None, 1.0, None, 0.0]
    assert [error(results[at]) for at in (1, 3, 5, 6, 8)] == [
        "it called sys.exit",
        "its interpreter ended with status 4",
        "its interpreter ended with signal SIGINT",
        "no score after 1 s",
        "its interpreter ended with signal SIGABRT",
    ]
    assert "4 of its interpreters ended" in obeys.described


def test_what_it_prints_goes_nowhere_and_is_said_once(folder, capfd):
    target = ChildFunction("my_rewards.py:obeys")
    assert values(target.score(rows("print", "4", "ask"))) == [0.0, 1.0, None]
    assert target.described.count("what it prints is dropped") == 1
    target.close()
    assert capfd.readouterr() == ("", "")


def test_a_batch_that_dies_is_scored_row_by_row(folder):
    target = ChildFunction("my_rewards.py:batch", seconds=1)
    assert values(target.score(rows("4", "die", "5", "hang", "4"))) == [1.0, None, 0.0, None, 1.0]
    assert target.convention == "TRL: completions as texts"
    (breach,) = target.probe(rows("4", "die"))
    assert breach == "2 rows at once: its interpreter ended with status 4"
    target.close()


def test_a_function_of_messages_takes_them_in_the_next_interpreter_too(folder):
    target = ChildFunction("my_rewards.py:talks")
    assert values(target.score(rows("4", "5"))) == [1.0, 0.0]
    target.close()
    assert values(target.score(rows("4"))) == [1.0]
    assert target.convention == "TRL: completions as messages"
    target.close()


def test_the_file_of_a_function_is_known_by_every_name(folder):
    for place in ("my_rewards.py:obeys", "my_rewards:obeys", "my_rewards.py:mine"):
        target = audit_target(place)
        assert target.code == str(folder / "my_rewards.py")
        target.close()
    assert audit_target(led_to("my_rewards:obeys")).code == str(folder / "my_rewards.py")


def test_an_interpreter_knows_the_columns_of_the_rows(folder):
    target = ChildFunction("my_rewards.py:talks")
    target.columns = {"prompt": False}
    (breach,) = target.probe(rows("4", "5"))
    assert "a text, so TRL passes completions as texts, and it takes messages" in breach
    target.close()
    target.columns = {"prompt": True}
    assert values(target.score(rows("4", "5"))) == [1.0, 0.0]
    target.close()


def test_one_number_for_many_rows_breaks_the_contract(folder):
    target = ChildFunction("my_rewards.py:one")
    assert target.probe(rows("4", "5")) == [
        "it returns a value of type float for 2 rows, not a list"
    ]
    assert values(target.score(rows("4", "5"))) == [None, None]
    target.close()


def test_one_interpreter_scores_all_so_that_a_state_is_kept(folder):
    target = ChildFunction("my_rewards.py:counts")
    assert values(target.score(rows(*"abcdefgh"))) == [*range(1, 9)]
    assert values(target.score(rows(*"ab"))) == [9, 10]
    target.close()


def test_interpreters_are_not_begun_for_ever(folder, monkeypatch):
    monkeypatch.setattr(targets, "DEATHS", 2)
    target = ChildFunction("my_rewards.py:slow")
    results = target.score(rows(*"abcdefgh"))
    assert values(results) == [None] * 8
    assert error(results[0]) == "its interpreter ended with signal SIGKILL"
    assert error(results[-1]) == "too many interpreters ended before it"
    target.close()


PLACES = [
    ("my_rewards:obeys", "my_rewards:obeys"),
    ("my_rewards.obeys", "my_rewards:obeys"),
    ("my_package.rewards:plain", "my_package.rewards:plain"),
    ("my_package.rewards.plain", "my_package.rewards:plain"),
    ("./my_rewards.py:obeys", "./my_rewards.py:obeys"),
    ("my_package/rewards.py:plain", "my_package/rewards.py:plain"),
    ("my_rewards.py:rewards.accuracy", "my_rewards.py:rewards.accuracy"),
    ("my_rewards.py:Rewards.static", "my_rewards.py:Rewards.static"),
]


SPEECHLESS = """
from os import _exit
from time import sleep

def hangs(response):
    sleep(60)

def wakes(response):
    if response != "4":
        _exit(1)
    return 1.0
"""


@pytest.mark.parametrize(("name", "seconds", "tried"), [("hangs", 0.2, 2), ("wakes", 60.0, 3)])
def test_one_that_never_scored_a_row_is_given_up_early(tmp_path, monkeypatch, name, seconds, tried):
    monkeypatch.setattr(targets, "AT_FIRST", 2)
    monkeypatch.setattr(targets, "DEATHS", 3)
    path = tmp_path / "speechless.py"
    path.write_text(SPEECHLESS)
    target = targets.ChildFunction(f"{path}:{name}", seconds=seconds)
    try:
        results = target.score(rows("4", *map(str, range(10, 30))))
        assert target.described.endswith(f"{tried} of its interpreters ended")
    finally:
        target.close()
    assert error(results[-1]) == "too many interpreters ended before it"
    assert isinstance(results[0], Scored) == (name == "wakes")


@pytest.mark.parametrize(("text", "place"), PLACES)
def test_the_places_of_a_function(read_here, monkeypatch, text, place):
    seen = []
    monkeypatch.setattr(targets, "ChildFunction", lambda *asked: seen.append(asked) or seen)
    assert audit_target(text, seconds=3) is seen
    assert seen[0][:2] == (place, 3)
    assert callable(read_here(place))


def test_a_bound_method_and_an_async_function(folder):
    for text in ("my_package.rewards.plain", "my_rewards.py:rewards.accuracy", "my_rewards:waits"):
        target = audit_target(text)
        assert target.name == text.replace(":", ".").rpartition(".")[2]
        assert values(target.score(rows("4"))) == [1.0]
        target.close()


def test_what_is_decorated_is_a_reward_of_this_process(folder, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    target = audit_target("my_rewards.py:mine")
    assert (target.kind, target.described) == ("reward", "mine, a prototype, in this process")
    assert values(target.score(rows("4", "5"))) == [1.0, 0.0]
    with pytest.raises(ConfigurationError, match=r"my_rewards\.py:obeys is no reward"):
        audit_target("my_rewards.py:obeys", parameters=["a=1"])


def test_objects_of_the_users_stay_in_the_child(folder):
    target = ChildFunction("my_rewards.py:own")
    (result,) = target.score(rows("4"))
    assert (result.score.value, result.score.reason) == (0.5, "mine")
    target.close()


@pytest.fixture
def read_here(folder, monkeypatch):
    """Imports what a child would; this process forgets it afterwards."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("my_rewards", "broken", "raises", "leaves"):
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, name)
    return led_to


@pytest.mark.parametrize(
    ("place", "notes"),
    [
        ("my_rewards.py:obey", "my_rewards.py has no 'obey'. Did you mean 'obeys'?"),
        ("my_rewards:obey", "my_rewards has no 'obey'. Did you mean 'obeys'?"),
        ("my_rewards.py:rewards.nothing", "no attribute 'nothing'"),
        ("nobody.py:obeys", "there is no file nobody.py"),
        ("nobody:obeys", "there is no module 'nobody' here"),
        ("broken.py:f", "broken.py, line 1: ModuleNotFoundError: No module named 'nothing_that"),
        ("broken:f", "broken: ModuleNotFoundError: No module named 'nothing_that_exists'"),
        ("raises.py:f", "raises.py: Odd: first last"),
        ("leaves.py:f", "leaves.py, line 1: called sys.exit(2)"),
    ],
)
def test_a_place_that_leads_nowhere_is_one_sentence(read_here, place, notes):
    with pytest.raises(ConfigurationError) as refused:
        read_here(place)
    assert notes in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("my_rewards.py:Rewards", "Rewards is a class: name a function, or what it makes"),
        ("nobody.obeys", "there is no module 'nobody' here"),
        ("dies.py:f", "dies.py:f cannot be imported: its interpreter ended with status 5"),
        ("undecorated.py", "`reward audit` takes a plain one by its name, undecorated.py:NAME"),
    ],
)
def test_what_is_no_function_is_one_sentence(folder, text, notes):
    with pytest.raises(ConfigurationError) as refused:
        audit_target(text)
    assert notes in str(refused.value)


def test_an_import_that_takes_long_is_said(folder, monkeypatch):
    monkeypatch.setattr(targets, "SLOW", 0.0)
    target = ChildFunction("my_rewards.py:counts")
    assert re.search(r"its import took \d+\.\d s", target.described)
    target.close()
    (folder / "hangs.py").write_text("import time\ntime.sleep(600)\n")
    monkeypatch.setattr(targets, "IMPORTING", 0.5)
    with pytest.raises(ConfigurationError, match=r"cannot be imported: it took over 0\.5 s"):
        ChildFunction("hangs.py:f")


def test_a_row_that_cannot_be_sent_is_unscored(obeys):
    nested = []
    for _ in range(100_000):
        nested = [nested]
    odd = Sample(id="odd", messages=rows("4")[0].messages, reference="4", metadata={"deep": nested})
    first, second = rows("4", "5")
    results = obeys.score([first, odd, second])
    assert values(results) == [1.0, None, 0.0]
    assert "cannot be sent: RecursionError" in error(results[1])


def test_it_ends_with_all_that_it_began(folder):
    target = ChildFunction("my_rewards.py:process", seconds=5)
    (pid,) = values(target.score(rows("4")))
    assert alive(int(pid))
    target.close()
    assert not alive(int(pid))
    target.close()
    target = ChildFunction("my_rewards.py:descends", seconds=0.5)
    group = target._process._process.pid
    assert values(target.score(rows("4"))) == [None]
    until(lambda: not group_lives(group))
    target.close()


def group_lives(group):
    listed = subprocess.run(["ps", "-o", "pgid="], capture_output=True, text=True, check=False)
    return str(group) in listed.stdout.split()


def test_it_ends_with_its_parent(folder):
    program = (
        "from reward_functions.audit.targets import ChildFunction\n"
        "from reward_functions.core.types import sample\n"
        "target = ChildFunction('my_rewards.py:process')\n"
        "print(int(target.score([sample('4')])[0].score.value), flush=True)\n"
        "target.score([sample('hang')] * 3) or input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    ) as parent:
        pid = int(parent.stdout.readline())
        assert alive(pid)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        until(lambda: not alive(pid))


def test_answers_on_which_it_hangs_are_a_finding_of_their_own(folder):
    data = [{"prompt": f"{at}?", "answer": str(at)} for at in range(40, 43)]
    asked = {"classes": ["EX-NUMBER"], "repeat": 1, "seconds": 0.4}
    done = audit("my_rewards.py:numbers", data, **asked)
    found = {each.id: each for each in done.findings}
    assert found["HUNG"].message.endswith(" of 3 prompts have an answer with no score after 0.4 s")
    assert {row.response for row in found["HUNG"].rows} == {"#### Infinity"}
    message = found["UNSCORED"].message
    assert f"{found['HUNG'].count} × no score after 0.4 s" in message
    assert " × it raised OverflowError at my_rewards.py, line " in message
    shown = [row.reason for row in found["UNSCORED"].rows]
    assert len(set(shown[:2])) == 2
    assert done.status == 1


def test_its_interpreter_imports_nothing_that_asks_aws_or_a_model():
    """A function waits for this before its first row, and again whenever one hangs."""
    heavy = {"asyncio", "boto3", "botocore", "numpy", "pydantic", "rich", "sympy", "unittest"}
    asked = "import sys, reward_functions.audit.child; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert not heavy & {*done.stdout.split()}
