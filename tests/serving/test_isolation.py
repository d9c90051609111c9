"""Somebody else's reward in a process of its own: a sample that blocks costs its own score alone.

No test waits for a deadline: its own clock jumps to it when every other sample is scored.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import re
import signal
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from socket import SHUT_WR
from threading import Barrier, Thread
from types import SimpleNamespace

import pytest

from reward_functions import get, weighted
from reward_functions.core.asking import ScriptedAsk
from reward_functions.core.errors import BadReference, DeadlineReached, ProcessEnded, SampleBlocked
from reward_functions.core.spec import Example, Needs, reward_function
from reward_functions.core.types import Message, Metric, Sample, Score, Scored, Unscored
from reward_functions.serving import handler
from reward_functions.serving import isolation as run
from reward_functions.serving.handler import FailedWarmUp, bind
from reward_functions.serving.isolation import Isolation, forked
from reward_functions.serving.isolation.forked import ChildEnded, Forked, waited
from reward_functions.serving.isolation.service import Answer, Batch, service
from reward_functions.serving.settings import LambdaSettings

LONG = 120.0
"""Seconds of a batch, which no test takes."""


def forever():
    while True:
        pass


def unstoppable():
    while True:
        with suppress(BaseException):
            time.sleep(60)


class BadTable(BadReference):
    """A class of the reward's own that takes more than a message."""

    def __init__(self, table, row):
        super().__init__(f"table {table} has no row {row}")


BLOCKS = {
    "sleep": lambda: time.sleep(3600),
    "compute": forever,
    "C code that holds the lock": lambda: re.fullmatch("(a+)+b", "a" * 80),
    "swallow": unstoppable,
}
ENDS = {"exit": lambda: os._exit(3), "killed": lambda: os.kill(os.getpid(), signal.SIGKILL)}
SHORT = {
    "slow": lambda: time.sleep(0.3),
    "bug": lambda: 1 / 0,
    "sys.exit": lambda: sys.exit(1),
    "reference": lambda: BadTable("t", 3),
}
KEPT = []
"""What the reward keeps between samples."""


def behave(sample):
    """Do what the response names, or earn what it says."""
    code = sample.response
    if code == "reference":
        raise BadTable("t", 3)
    for table in (BLOCKS, ENDS, SHORT):
        if code in table:
            table[code]()
            return Score(0.5)
    KEPT.append(code)
    if code == "pid":
        return Score(float(os.getpid()))
    return Score(float(len(KEPT) if code == "kept" else code))


SCALE = (0.0, 1e9)
moody = reward_function(version=1, scale=SCALE, name="moody")(behave)
threaded = reward_function(version=1, scale=SCALE, name="threaded", needs=Needs(workers=4))(behave)


def sample_of(text, prompt="?"):
    return Sample(id=text, messages=(Message("user", prompt), Message("assistant", text)))


class Jumping:
    """A clock at the deadline once all have begun, and all are decided but what blocks."""

    def __init__(self, monkeypatch, begun, decided):
        self.begun, self.decided, self.left = set(), {}, (begun, decided)
        self.real, take = time.monotonic, run.Run._take

        def watched(of, task, message):
            take(of, task, message)
            self.begun |= task.seen
            self.decided = of._answers

        monkeypatch.setattr(run.Run, "_take", watched)
        monkeypatch.setattr(run, "monotonic", self)

    def __call__(self):
        begun, decided = self.left
        over = len(self.begun) >= begun and len(self.decided) >= decided
        return self.real() + LONG * over


@pytest.fixture
def scored(monkeypatch):
    """The results of a batch, by whatever each response is; patience is short."""
    monkeypatch.setattr(run, "PATIENCE", 0.0)
    monkeypatch.setattr(run, "LEAST_PATIENCE", 0.05)
    made = []

    def score(codes, spec=moody, isolation=None):
        codes = list(codes)
        blocked = sum(code in BLOCKS for code in codes)
        if blocked:
            Jumping(monkeypatch, len(codes), len(codes) - blocked)
        isolation = isolation or Isolation(spec)
        made.append(isolation)
        samples = [sample_of(code) for code in codes]
        results = isolation.score(samples, deadline=time.monotonic() + LONG)
        assert [result.id for result in results] == codes
        return results

    yield score
    for isolation in made:
        isolation.end()


def values(results):
    return [each.score.value if isinstance(each, Scored) else type(each.error) for each in results]


@pytest.mark.parametrize("place", [0, 2, 4])
@pytest.mark.parametrize("kind", [*BLOCKS, *ENDS])
def test_a_sample_that_blocks_costs_its_own_score_and_no_other(scored, kind, place):
    codes = ["1", "2", "3", "4"]
    codes.insert(place, kind)
    expected = [1.0, 2.0, 3.0, 4.0]
    expected.insert(place, SampleBlocked if kind in BLOCKS else ProcessEnded)
    assert values(scored(codes)) == expected


def test_of_several_that_block_each_costs_its_own_score(scored):
    codes = ["sleep", "1", "exit", "swallow", "2", "killed", "sleep"]
    assert values(scored(codes)) == [
        *(SampleBlocked, 1.0, ProcessEnded, SampleBlocked, 2.0, ProcessEnded, SampleBlocked)
    ]


def test_more_that_block_than_may_go_on_are_killed_and_the_rest_is_scored(scored, monkeypatch):
    monkeypatch.setattr(run, "MAX_ASIDE", 1)
    assert values(scored(["sleep", "sleep", "sleep", "1"])) == [*[SampleBlocked] * 3, 1.0]


def test_a_slow_sample_counts_whenever_it_answers(scored):
    assert values(scored(["1", "slow", "2", "slow"])) == [1.0, 0.5, 2.0, 0.5]


def test_patience_is_a_tenth_of_the_time_left_or_twice_the_longest_sample(monkeypatch):
    clock = [5.0]
    monkeypatch.setattr(run, "monotonic", lambda: clock[0])
    batch = run.Run(lambda: None, [sample_of("1")] * 9, deadline=95.0, threads=1, startup=0.0)
    task = run._Task(None, range(9), fresh=False, alone=False)

    def patience():
        batch._extend(task)
        return task.until - clock[0]

    assert patience() == 30.0, "nothing has begun: no sample can be the cause"
    batch._take(task, run.Begun(0))
    assert patience() == 9.0
    clock[0] = 13.0
    batch._take(task, run.Answer(0, 1.0, then=1))
    assert patience() == 16.0
    clock[0] = 65.0
    batch._take(task, run.Answer(1, 1.0, then=2))
    assert patience() == 10.0, "a third of what is left at most"
    task.fresh, batch.startup = True, 2.5
    assert patience() == 12.5, "a fresh child has the time of a start besides"


@pytest.mark.parametrize("kind", ["sleep", "C code that holds the lock", "exit"])
def test_in_threads_those_beside_it_are_scored_too(scored, kind):
    results = values(scored(["1", "2", kind, "3", "4", "5"], threaded))
    assert results[:2] + results[3:] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert issubclass(results[2], SampleBlocked | ProcessEnded)


def test_a_batch_is_waited_for_and_not_asked_after_without_end(scored, monkeypatch):
    looks, waits = [], []
    monkeypatch.setattr(
        run, "waited", lambda children, seconds: waits.append(waited(children, seconds))
    )
    messages = Forked.messages
    monkeypatch.setattr(Forked, "messages", lambda self: looks.append(self) or messages(self))
    assert values(scored(["slow", "1"])) == [0.5, 1.0]
    assert len(waits) >= 2
    assert len(looks) <= 2 * len(waits) + 2 < 100


def test_what_was_not_reached_by_the_deadline_says_so():
    isolation = Isolation(moody)
    results = isolation.score([sample_of("1"), sample_of("2")], deadline=time.monotonic())
    assert values(results) == [DeadlineReached] * 2
    isolation.end()


def test_a_child_is_waited_for_no_longer_than_the_batch_has(monkeypatch):
    waits, ask = [], Forked.ask
    monkeypatch.setattr(
        Forked, "ask", lambda self, asked, **given: waits.append(given) or ask(self, asked, **given)
    )
    for seconds in (1.0, LONG):
        isolation = Isolation(moody)
        isolation.score([sample_of("1")], deadline=time.monotonic() + seconds)
        isolation.end()
    assert [given["seconds"] for given in waits[:1]] < [1.0]
    assert waits[-1] == {"seconds": run.SENDING}


@pytest.mark.parametrize("threads", [2, 3])
def test_a_child_scores_as_many_samples_at_once_as_it_has_threads(threads):
    together = Barrier(threads, timeout=LONG)

    @reward_function(name="together")
    def waits_for_the_others(sample):
        together.wait()
        return 1.0

    said, samples = [], [sample_of(str(at)) for at in range(threads)]
    batch = Batch(samples, range(threads), time.monotonic() + LONG, threads)
    serving = Thread(target=service(waits_for_the_others, {}, None), args=(batch, said.append))
    serving.start()
    serving.join(LONG)
    assert {each.place: each.value for each in said if isinstance(each, Answer)} == dict.fromkeys(
        range(threads), 1.0
    )


def test_rows_that_are_no_samples_keep_their_place():
    isolation, row = Isolation(moody), Unscored("b", BadReference("none"))
    samples = [sample_of("1"), row, sample_of("2")]
    results = isolation.score(samples, deadline=time.monotonic() + LONG)
    assert results[1] is row
    assert values(results)[::2] == [1.0, 2.0]
    child = isolation._idle
    assert isolation.score([row], deadline=time.monotonic() + LONG) == [row]
    assert isolation.score([], deadline=time.monotonic() + LONG) == []
    assert isolation._idle is child, "it was asked for nothing"
    isolation.end()


def test_of_two_batches_at_once_one_child_waits_for_the_next_and_the_other_ends():
    isolation = Isolation(moody)
    first = isolation._taken() or isolation._fresh()
    results = isolation.score([sample_of("2")], deadline=time.monotonic() + LONG)
    kept = isolation._idle
    isolation._keep(first)
    assert values(results) == [2.0]
    assert isolation._idle is kept
    assert first.channel.fileno() == -1, "it was ended"
    isolation._keep(None)
    assert isolation._idle is kept, "a batch whose child ended keeps none"
    isolation.end()


def test_one_child_serves_batch_after_batch_and_keeps_what_the_reward_keeps(scored):
    isolation = Isolation(moody)
    (first, kept), (second, more) = (
        values(scored(["pid", "kept"], isolation=isolation)) for _ in range(2)
    )
    assert first == second != os.getpid()
    assert more == kept + 2
    assert KEPT == [], "the reward has run in this process"
    scored(["exit", "1"], isolation=isolation)
    (third,) = values(scored(["pid"], isolation=isolation))
    assert third != second


def test_a_child_that_ended_between_batches_is_replaced(scored):
    isolation = Isolation(moody)
    (pid,) = values(scored(["pid"], isolation=isolation))
    os.kill(int(pid), signal.SIGKILL)
    time.sleep(0.01)
    assert values(scored(["1", "2"], isolation=isolation)) == [1.0, 2.0]


def ended(pid):
    """Whether a process ends, or has; the kernel may take a moment, and keep its exit status."""
    for _ in range(4000):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.005)
    return False


def test_no_child_is_left_at_work_when_the_results_are_there(scored):
    forked = []

    class Counted(Isolation):
        def _fresh(self):
            forked.append(super()._fresh())
            return forked[-1]

    isolation = Counted(moody)
    scored(["1", "swallow", "2", "sleep"], isolation=isolation)
    isolation.end()
    assert len(forked) > 1
    assert all(ended(child.pid) for child in forked)


def test_an_exception_keeps_its_name_and_whose_fault_it_is(scored):
    bug, ended, reference = scored(["bug", "sys.exit", "reference"])
    assert type(bug.error).__name__ == "ZeroDivisionError"
    assert type(ended.error) is ProcessEnded
    assert isinstance(reference.error, BadReference)
    assert type(reference.error).__name__ == "BadTable"
    assert str(reference.error) == "table t has no row 3"


def test_the_words_of_a_foreign_exception_stay_in_the_child(scored):
    (result,) = scored(["a secret"])
    assert type(result.error).__name__ == "ValueError"
    assert str(result.error) == ""


def test_metrics_come_back_and_the_evidence_stays():
    @reward_function(version=1, metrics=["length"])
    def measured(sample):
        return Score(1.0, (Metric("length", 3.0),), answer=lambda: "no text", reason="…")

    isolation = Isolation(measured)
    (result,) = isolation.score([sample_of("x")], deadline=time.monotonic() + LONG)
    assert result.score == Score(1.0, (Metric("length", 3.0),))
    isolation.end()


def test_a_reward_that_looks_at_its_group_sees_it_whole():
    @reward_function(version=1, scale=SCALE, needs=Needs(group=True))
    def crowd(sample, group):
        if sample.response == "exit":
            os._exit(1)
        return Score(float(len(group)))

    isolation = Isolation(crowd)
    samples = [sample_of("a", "p"), sample_of("exit", "p"), sample_of("b", "p"), sample_of("c")]
    results = isolation.score(samples, deadline=time.monotonic() + LONG)
    assert values(results) == [3.0, ProcessEnded, 3.0, 1.0]
    isolation.end()


def test_random_numbers_that_a_module_seeds_are_the_same_in_every_child():
    @reward_function(version=1)
    def drawn(sample):
        return Score(random.random())

    state = random.getstate()
    expected = random.random()
    random.setstate(state)
    for _ in range(2):
        isolation = Isolation(drawn)
        results = isolation.score([sample_of("x")], deadline=time.monotonic() + LONG)
        assert values(results) == [expected]
        isolation.end()


def test_children_that_never_begin_end_the_batch_unscored(scored):
    isolation = Isolation(moody, begin=lambda: os._exit(5))
    results = scored(["1", "2"], isolation=isolation)
    assert values(results) == [ProcessEnded] * 2
    assert "exit status 5" in str(results[0].error)


def test_where_no_further_process_can_be_started_what_is_left_is_unscored(scored, monkeypatch):
    isolation = Isolation(moody)
    scored(["1"], isolation=isolation)

    def refused():
        raise BlockingIOError

    monkeypatch.setattr(isolation, "_fresh", refused)
    assert values(scored(["1", "exit", "2"], isolation=isolation)) == [1.0, *[ProcessEnded] * 2]


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own doing")
def test_a_child_ends_with_the_process_that_forked_it():
    def nested(request, say):
        child = Forked(lambda _, tell: (tell("here"), forever()))
        child.ask("", seconds=9)
        waited([child], None)
        say((child.pid, child.messages()))
        os._exit(0)

    parent = Forked(nested)
    parent.ask("", seconds=9)
    waited([parent], None)
    ((pid, said),) = parent.messages()
    assert said == ["here"]
    assert ended(pid)
    waited([parent], None)
    with pytest.raises(ChildEnded, match="exit status 0"):
        parent.messages()


def test_a_child_that_does_not_read_is_killed():
    child = Forked(lambda *_: forever())
    child.ask("", seconds=9)
    with pytest.raises(ChildEnded, match="killed"):
        child.ask("x" * 4_000_000, seconds=0.05)


def test_an_answer_that_is_too_long_to_be_one_ends_the_child(monkeypatch):
    answer = len(pickle.dumps("x" * 1000))
    for most, whole in ((answer, True), (answer - 1, False)):
        monkeypatch.setattr(forked, "MAX_ANSWER", most)
        child = Forked(lambda _, say: (say("x" * 1000), forever()))
        child.ask("", seconds=9)
        waited([child], None)
        if whole:
            assert child.messages() == ["x" * 1000]
        else:
            with pytest.raises(ChildEnded, match="killed"):
                child.messages()
        child.end()


def test_a_child_ends_with_its_channel_though_another_was_forked_after_it():
    first, second = (Forked(lambda request, say: say(request)) for _ in range(2))
    for child in (first, second):
        child.ask("here", seconds=9)
        waited([child], None)
        assert child.messages() == ["here"]
    assert first.end(9.0) == "exit status 0"
    assert second.end(9.0) == "exit status 0"


def test_what_a_child_printed_is_written_when_it_ends_by_itself(tmp_path, monkeypatch):
    with (tmp_path / "out").open("w+") as out:
        monkeypatch.setattr(sys, "stdout", out)
        child = Forked(lambda _, say: (print("printed"), say("done")))
        child.ask("", seconds=9)
        waited([child], None)
        assert child.messages() == ["done"]
        child.channel.shutdown(SHUT_WR)
        assert child.end(9.0) == "exit status 0"
    assert (tmp_path / "out").read_text() == "printed\n"


# The handler


def row(response):
    turns = [{"role": "user", "content": "?"}, {"role": "assistant", "content": response}]
    return {"id": response, "messages": turns, "reference_answer": "x"}


def serve(spec, **settings):
    return bind(LambdaSettings(name=spec.name, deadline_margin_ms=0, **settings), spec)


CONTEXT = SimpleNamespace(
    aws_request_id="r-1", get_remaining_time_in_millis=lambda: int(LONG * 1000)
)


def pids(results):
    return [int(result["aggregate_reward_score"]) for result in results]


def mixed(name, **parts):
    return weighted(parts, name=name)


@reward_function(version=1)
def tidy(sample):
    return Score(1.0)


@reward_function(version=1, needs=Needs(judge=True))
def asking(sample, ask):
    return Score(1.0)


@pytest.mark.parametrize(
    ("spec", "isolated"),
    [
        (get("gsm8k"), False),
        (mixed("both", gsm8k=0.9, think_format=0.1), False),
        (moody, True),
        (mixed("mixed", gsm8k=0.9, moody=(tidy, 0.1)), True),
        (mixed("outer", gsm8k=0.9, inner=(mixed("inner", math=0.9, moody=(tidy, 0.1)), 0.1)), True),
        (asking, False),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_a_process_is_for_rewards_that_are_not_ours_and_ask_no_judge(spec, isolated):
    function = bind(LambdaSettings(name=spec.name), spec, ask=ScriptedAsk())
    assert (function.isolation is not None) == isolated


def test_with_a_deadline_a_process_scores_and_without_one_nothing_changes():
    function = serve(moody)
    assert pids(function([row("pid")], CONTEXT)) != [os.getpid()]
    assert pids(function([row("pid")])) == [os.getpid()]
    KEPT.clear()
    function.suspend()
    assert function.isolation._idle is None
    assert pids(function([row("pid")], CONTEXT)) != [os.getpid()]
    function.suspend()


def test_the_batch_is_answered_and_imputed_where_a_sample_blocks(scored, monkeypatch, capsys):
    function = serve(moody, max_unscored=0.5)
    Jumping(monkeypatch, 6, 5)
    codes = ["1", "1", "sleep", "1", "bug", "1"]
    results = function([row(code) for code in codes], CONTEXT)
    assert [result["aggregate_reward_score"] for result in results] == [1.0] * 6
    lines = map(json.loads, capsys.readouterr().out.splitlines())
    line = next(each for each in lines if each.get("message") == "batch scored")
    assert line["errors"] == {
        "SampleBlocked: the reward did not return before the deadline": 1,
        f"ZeroDivisionError at {__name__}:{SHORT['bug'].__code__.co_firstlineno}": 1,
    }
    function.suspend()


@pytest.fixture
def in_lambda(monkeypatch):
    monkeypatch.setenv(handler.RUNTIME_API, "127.0.0.1:1")


EXAMPLES = [Example("positive", response="1", score=1.0)]


def test_in_lambda_the_reward_never_runs_in_the_serving_process(in_lambda):
    spec = reward_function(version=1, scale=SCALE, name="moody", examples=EXAMPLES)(behave)
    function = serve(spec)
    report = function({"reward_functions": {"self_test": "recorded"}}, CONTEXT)
    assert (report["examples"], report["failures"]) == (1, [])
    # The example, and twice in the self-test: they are warm in the child that scores.
    assert pids(function([row("kept")], CONTEXT)) == [4]
    assert KEPT == []
    function.suspend()


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        ("1", FailedWarmUp, "gives its first example 1, not 0.25"),
        ("bug", FailedWarmUp, "fails on its first example: ZeroDivisionError"),
        ("exit", ProcessEnded, "exit status 3"),
    ],
)
def test_in_lambda_a_reward_that_cannot_start_says_why(in_lambda, code, error, words):
    example = Example("positive", response=code, score=0.25)
    with pytest.raises(error, match=words):
        serve(reward_function(version=1, name="moody", examples=[example])(behave))


def test_a_self_test_that_blocks_ends_at_the_deadline():
    example = Example("positive", response="sleep", score=1.0)
    isolation = Isolation(moody, calls={"call": partial(behave, example.sample())})
    with pytest.raises(DeadlineReached):
        isolation.call("call", deadline=time.monotonic() + 0.05)
    isolation.end()


def test_where_no_process_can_be_started_the_batch_is_scored_here_and_the_log_says_so(
    monkeypatch, capsys
):
    function = serve(moody)

    def refused():
        raise BlockingIOError

    monkeypatch.setattr(function.isolation, "_fresh", refused)
    assert pids(function([row("pid")], CONTEXT)) == [os.getpid()]
    KEPT.clear()
    assert "scored without a process of its own" in capsys.readouterr().out


def test_where_no_process_can_be_started_a_function_starts_all_the_same(
    in_lambda, monkeypatch, capsys
):
    def refused():
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refused)
    spec = reward_function(version=1, scale=SCALE, name="moody", examples=EXAMPLES)(behave)
    function = serve(spec)
    assert function({"reward_functions": {"self_test": "recorded"}}, CONTEXT)["failures"] == []
    KEPT.clear()
    assert capsys.readouterr().out.count("scored without a process of its own") == 2


def test_where_a_system_cannot_fork_the_log_says_so(monkeypatch, capsys):
    monkeypatch.delattr(os, "fork")
    assert serve(moody).isolation is None
    assert capsys.readouterr().out.count("scored without a process of its own") == 1
