"""The engine's process: bounded, replaceable, alone, and gone when its caller is."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from pathlib import Path

import pytest
import sympy

from reward_functions.core.batch import score_batch
from reward_functions.core.deadlines import DEADLINE
from reward_functions.core.errors import (
    AlgebraOutOfTime,
    EngineFailed,
    EngineUnavailable,
    ScoringError,
)
from reward_functions.core.spec import reward_function
from reward_functions.core.types import Message, Sample, Score, Scored, Unscored
from reward_functions.symbolic import Outcome
from reward_functions.symbolic.budget import Unreadable
from reward_functions.symbolic.cas import client, protocol, to_sympy, worker
from reward_functions.symbolic.cas import solver as solver_module
from reward_functions.symbolic.cas.client import SolverClient
from reward_functions.symbolic.expr.functions import BY_NAME, Function
from reward_functions.symbolic.expr.nodes import (
    Apply,
    Constant,
    Integral,
    Iterated,
    Measured,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
)
from reward_functions.symbolic.verdict import differ, unknown


def number(value):
    return Number(Fraction(value))


X, K = Symbol("x"), Symbol("k")
THIRD = Integral(Power(X, number(2)), X, number(0), number(1))
ENDLESS = Iterated("sum", Apply("sin", (Power(K, K),)), K, number(1), number(9_000))
HUNGRY = Integral(Power(Sum((X, *map(Symbol, "abcd"))), number(150)), X, number(0), number(1))


@pytest.fixture(scope="module")
def solver():
    started = SolverClient()
    yield started
    started.end()


QUICK = """
import os, socket, sys
sys.path[:] = sys.argv[2:]
from reward_functions.symbolic.cas import protocol
from reward_functions.symbolic.verdict import same
mine, other = [socket.socket(fileno=int(each)) for each in sys.argv[1].split(",")]
if os.fork() == 0:
    mine, other = other, mine
other.close()
protocol.send(mine, protocol.READY)
while True:
    protocol.receive(mine)
    protocol.send(mine, protocol.reply(same("sympy", "")))
"""
"""A worker of two processes that finds everything equal: starting it takes no time."""


@pytest.fixture
def quick(monkeypatch):
    """A client of such workers."""
    monkeypatch.setattr(client, "_BOOTSTRAP", QUICK)
    started = SolverClient()
    yield started
    started.end()


def answered(solver):
    return solver.compare(THIRD, number(Fraction(1, 3)))


def test_a_request_is_answered(solver):
    found = answered(solver)
    assert (found.outcome, found.rule) == (Outcome.EQUAL, "sympy")
    assert solver.compare(THIRD, number(3)).different


def test_calls_used_up_are_undecided_and_the_next_request_is_served(solver):
    answered(solver)
    process = solver._worker.process.pid
    found = solver.compare(ENDLESS, number(1), calls=5_000)
    assert (found.outcome, found.rule) == (Outcome.UNDECIDED, "budget")
    assert found.reason == "too much algebra: the calls are used up"
    assert answered(solver).equal
    assert solver._worker.process.pid == process


def test_however_few_calls_there_are_a_request_is_answered(solver):
    assert solver.compare(ENDLESS, number(1), calls=0).rule == "budget"


def test_the_last_call_that_is_free_decides_every_time(solver):
    """The smallest number of calls that suffices suffices again, on the other line as well."""
    low, high = 0, 20_000
    while low + 1 < high:
        middle = (low + high) // 2
        decided = solver.compare(THIRD, number(Fraction(1, 3)), calls=middle).equal
        low, high = (low, middle) if decided else (middle, high)
    with ThreadPoolExecutor(4) as pool:
        asked = [high, low] * 4
        found = pool.map(
            lambda calls: solver.compare(THIRD, number(Fraction(1, 3)), calls=calls).equal, asked
        )
        assert list(found) == [True, False] * 4


def test_a_blown_fuse_is_asked_once_more_alone_and_then_undecided(solver, monkeypatch):
    answered(solver)
    asked = []
    turn = client._Worker._turn

    def noted(self, *, alone):
        asked.append(alone)
        return turn(self, alone=alone)

    monkeypatch.setattr(client._Worker, "_turn", noted)
    monkeypatch.setattr(client, "SECONDS", 0.001)
    found = solver.compare(ENDLESS, number(1))
    assert (found.outcome, found.rule) == (Outcome.UNDECIDED, "budget")
    assert asked == [False, True]
    monkeypatch.undo()
    assert answered(solver).equal


def test_who_works_alone_waits_for_all_lines_and_holds_them(solver):
    answered(solver)
    worker = solver._worker
    with ExitStack() as others, ThreadPoolExecutor(1) as pool:
        others.enter_context(worker.line())

        def alone():
            with worker.line(alone=True):
                return len(worker._free)

        waiting = pool.submit(alone)
        while not worker._queue:
            time.sleep(0.001)
        assert len(worker._free) == len(worker.lines) - 1
        others.close()
        assert waiting.result() == 0
    assert len(worker._free) == len(worker.lines)


@contextmanager
def deadline(seconds):
    """A batch that has so many seconds left."""
    token = DEADLINE.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        DEADLINE.reset(token)


def test_a_request_after_the_deadline_is_not_worked_at(solver):
    answered(solver)
    with deadline(0), pytest.raises(AlgebraOutOfTime):
        answered(solver)
    assert answered(solver).equal


def test_a_thread_waits_for_its_turn_until_the_deadline(solver):
    answered(solver)
    with ExitStack() as others:
        for _ in solver._worker.lines:
            others.enter_context(solver._worker.line())
        with deadline(0.01), pytest.raises(AlgebraOutOfTime):
            answered(solver)
    assert answered(solver).equal


def test_a_worker_that_is_still_starting_at_the_deadline_goes_on_starting(monkeypatch):
    slow = "import time; time.sleep(60)"
    monkeypatch.setattr(client, "_BOOTSTRAP", slow)
    starting = SolverClient()
    with deadline(0.05), pytest.raises(AlgebraOutOfTime):
        answered(starting)
    assert starting._worker.process.poll() is None
    starting.end()


@pytest.mark.skipif(sys.platform != "linux", reason="the children of a process are listed in /proc")
def test_a_working_child_that_stops_is_given_up_at_the_deadline(solver):
    with meddled(solver, signal.SIGSTOP):
        lines = list(solver._worker.lines)
        with deadline(0.5), pytest.raises(AlgebraOutOfTime):
            solver.compare(ENDLESS, number(1), calls=10**9)
    assert solver._worker.lines == lines
    assert answered(solver).equal


@pytest.mark.skipif(sys.platform != "linux", reason="the children of a process are listed in /proc")
def test_a_working_child_that_stops_holds_nobody_up_and_is_no_fault_of_the_answer(
    solver, monkeypatch
):
    """Without a deadline the wait on the wall ends it, and it is asked again."""
    monkeypatch.setattr(client, "HANGING", 4.0)  # a busy machine takes one to begin
    with meddled(solver, signal.SIGSTOP):
        assert solver.compare(ENDLESS, number(1), calls=20_000).rule == "budget"
    assert answered(solver).equal


def misnamed():
    """The function of a name called with the arguments of another, as a wrong row of a table is."""
    BY_NAME["misnamed"] = Function("misnamed", sympy="limit")
    try:
        to_sympy.Conversion(X).expression(Apply("misnamed", (X,)))
    finally:
        del BY_NAME["misnamed"]


TROUBLES = [
    (misnamed, TypeError, True),
    (lambda: solver_module._point(None, 0), AttributeError, True),
    (lambda: to_sympy.Conversion(X).expression(Constant("no constant")), KeyError, True),
    (lambda: sympy.sin(None), AttributeError, False),
    (lambda: sympy.I < 1, TypeError, False),
    (lambda: to_sympy.Conversion(X).expression(Symbol("a_k").name), Unreadable, False),
]
"""What raises an exception, its type, and whether it is a bug of ours."""


@pytest.mark.parametrize(("trouble", "kind", "ours"), TROUBLES)
def test_a_bug_is_ours_where_our_line_raised_it(trouble, kind, ours):
    with pytest.raises(kind) as raised:
        trouble()
    place = worker.our_line(raised.value)
    assert bool(place) is ours
    assert place is None or place.startswith("reward_functions.symbolic.")


def test_a_bug_in_the_working_child_is_replied_as_one(monkeypatch):
    monkeypatch.setitem(BY_NAME, "ceil", Function("ceil", sympy="limit"))
    budget = protocol.Budget(1, 1.0, 1.0)
    tree = Iterated("sum", Apply("ceil", (K,)), K, number(1), Symbol("n"))
    said = protocol.bug_of(worker._reply(protocol.request(budget, tree, number(1))))
    assert said is not None
    assert said.startswith("TypeError at reward_functions.symbolic.expr.functions:")


def test_a_bug_of_ours_in_the_worker_is_unscored_and_named(solver, monkeypatch):
    said = protocol.bug("TypeError", "reward_functions.symbolic.cas.to_sympy:1")
    answered(solver)
    monkeypatch.setattr(protocol, "receive", lambda channel: receive(channel) and said)
    with pytest.raises(EngineFailed, match=r"TypeError at reward_functions\S+:1"):
        answered(solver)
    monkeypatch.undo()
    assert answered(solver).equal


def test_what_a_reply_says_of_a_bug_is_one_line_of_ascii():
    assert protocol.bug_of(b"bug Type\nError\xff at x:1") == "Type?Error? at x:1"
    assert protocol.bug_of(protocol.reply(unknown("sympy", "bug "))) is None


receive = protocol.receive


@pytest.mark.skipif(sys.platform != "linux", reason="the children of a process are listed in /proc")
def test_a_request_whose_working_child_is_killed_is_asked_again(solver):
    with meddled(solver, signal.SIGKILL):
        lines = list(solver._worker.lines)
        assert solver.compare(ENDLESS, number(1), calls=20_000).rule == "budget"
    assert solver._worker.lines == lines
    assert answered(solver).equal


@contextmanager
def meddled(solver, ending):
    """Somebody sends a signal to the next process that the worker forks."""
    answered(solver)
    before = processes_of(solver._worker.process.pid)
    meddler = threading.Thread(target=signal_the_first_child_of, args=(before, ending))
    meddler.start()
    yield
    meddler.join()


@pytest.mark.skipif(sys.platform != "linux", reason="the size of a process is listed in /proc")
def test_memory_used_up_is_undecided_and_the_next_request_is_served(solver):
    found = solver.compare(HUNGRY, number(1), calls=10**9)
    assert (found.outcome, found.rule) == (Outcome.UNDECIDED, "budget")
    assert "memory" in found.reason
    assert answered(solver).equal


SWALLOWED = """
import os, sys
from reward_functions.symbolic.cas import protocol, solver, worker
from reward_functions.symbolic.verdict import unknown

def found(megabytes, ending):
    def decide(reference, candidate):
        held = bytearray(megabytes << 20)
        if ending == "raise":
            raise AttributeError("a lookup that got no memory")
        return unknown("sympy", "sympy does not show it")

    solver.decide = decide
    worker._bounded(60.0)
    return protocol.finding_of(worker._reply(b"")).rule

protocol.trees_of = lambda request: (None, None)
for case in sys.argv[1:]:
    megabytes, ending = case.split()
    if os.fork() == 0:
        print(case, found(int(megabytes), ending), flush=True)
        os._exit(0)
    os.wait()
"""
"""Requests that take so many megabytes, and a MemoryError in each that sympy does not pass on."""

RULES = {"40 raise": "budget", "40 return": "budget", "2 raise": "sympy", "2 return": "sympy"}


@pytest.mark.skipif(sys.platform != "linux", reason="the size of a process is listed in /proc")
def test_a_lack_of_memory_that_sympy_swallows_is_the_budgets():
    command = [sys.executable, "-c", SWALLOWED, *RULES]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [" ".join(each) for each in RULES.items()]


@pytest.mark.parametrize("ending", [signal.SIGSEGV, signal.SIGABRT])
def test_a_working_child_whose_stack_cannot_grow_has_used_up_its_memory(ending):
    found = protocol.finding_of(worker._reply_for_ending(-ending))
    assert (found.outcome, found.rule) == (Outcome.UNDECIDED, "budget")


def test_the_same_request_gets_the_same_finding_whatever_came_before(solver):
    before = answered(solver)
    solver.compare(ENDLESS, number(1), calls=5_000)
    assert answered(solver) == before


def test_an_interrupt_leaves_no_reply_for_the_next_request(quick, monkeypatch):
    answered(quick)
    lines = list(quick._worker.lines)
    with monkeypatch.context() as patched:
        patched.setattr(protocol, "finding_of", lambda message: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            answered(quick)
    assert len(quick._worker.lines) == len(lines) - 1
    assert answered(quick).equal


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_dies_is_replaced(quick, ending):
    answered(quick)
    dead = quick._worker.process.pid
    os.killpg(dead, ending)
    assert answered(quick).equal
    assert quick._worker.process.pid != dead


def test_a_worker_that_stops_is_replaced(quick, monkeypatch):
    answered(quick)
    stopped = quick._worker.process.pid
    os.killpg(stopped, signal.SIGSTOP)
    monkeypatch.setattr(client, "HANGING", 0.5)
    assert quick.compare(number(1), number(1)).equal
    assert quick._worker.process.pid != stopped


def test_one_process_of_a_worker_may_die(solver):
    answered(solver)
    worker = solver._worker
    os.kill(worker.process.pid, signal.SIGKILL)
    for _ in range(4):
        assert answered(solver).equal
    assert solver._worker is worker


def signal_the_first_child_of(parents, ending):
    for _ in range(10_000):
        found = set().union(*map(children_of, parents)) - parents
        if found:
            os.kill(found.pop(), ending)
            return
        time.sleep(0.001)


def processes_of(parent):
    """A process and its descendants."""
    return {parent}.union(*map(processes_of, children_of(parent)))


def children_of(parent):
    try:
        return set(map(int, Path(f"/proc/{parent}/task/{parent}/children").read_text().split()))
    except OSError:  # it has just ended
        return set()


def test_a_worker_that_cannot_start_is_our_fault(monkeypatch):
    monkeypatch.setattr(client, "_BOOTSTRAP", "raise SystemExit(3)")
    with pytest.raises(EngineUnavailable, match="does not start"):
        SolverClient().start()
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(EngineUnavailable, match="cannot start"):
        SolverClient().start()
    monkeypatch.setattr(sys, "executable", None)
    with pytest.raises(EngineUnavailable, match="path of an interpreter"):
        SolverClient().start()
    assert issubclass(EngineUnavailable, ScoringError)


def test_a_worker_that_dies_each_time_is_our_fault(monkeypatch):
    ready = (
        "import sys, socket\n"
        "lines = [socket.socket(fileno=int(each)) for each in sys.argv[1].split(',')]\n"
        "for line in lines: line.sendall(b'\\0\\0\\0\\5ready')\n"
        "lines[-1].recv(4)"
    )
    monkeypatch.setattr(client, "_BOOTSTRAP", ready)
    dying = SolverClient()
    with pytest.raises(EngineUnavailable, match="died 3 times"):
        answered(dying)
    dying.end()


def test_a_sample_without_engine_is_unscored_and_the_next_is_scored(monkeypatch):
    broken = SolverClient()
    monkeypatch.setattr(client, "_BOOTSTRAP", "raise SystemExit(3)")

    @reward_function(version=1, name="hard")
    def hard(sample):
        if sample.response == "hard":
            answered(broken)
        return Score(1.0)

    turns = [Message(role="assistant", content=text) for text in ("hard", "easy")]
    samples = [Sample(id=turn.content, messages=(turn,)) for turn in turns]
    first, second = score_batch(hard, samples)
    assert isinstance(first, Unscored)
    assert isinstance(first.error, EngineUnavailable)
    assert isinstance(second, Scored)


def test_threads_share_one_worker_and_wait_their_turn(solver):
    wanted = [number(Fraction(1, 3)), number(3)] * 4
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda each: solver.compare(THIRD, each), wanted))
    assert [each.equal for each in found] == [True, False] * 4


def test_threads_are_served_in_the_order_of_asking(solver):
    answered(solver)
    worker = solver._worker
    order = []

    def ask(name):
        with worker.line():
            order.append(name)

    with ExitStack() as others:
        for _ in worker.lines:
            others.enter_context(worker.line())
        threads = [threading.Thread(target=ask, args=(name,)) for name in range(4)]
        for waiting, thread in enumerate(threads, 1):
            thread.start()
            while len(worker._queue) < waiting:
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3]


def test_who_waits_for_a_worker_that_dies_gets_another(quick):
    answered(quick)
    worker = quick._worker
    with ThreadPoolExecutor(1) as pool, ExitStack() as others:
        for _ in worker.lines:
            others.enter_context(worker.line()).idle = False
        waiting = pool.submit(answered, quick)
        while not worker._queue:
            time.sleep(0.001)
        others.close()
        assert waiting.result().equal
    assert quick._worker is not worker


def run(code, *options):
    """What a fresh interpreter prints; the engine's process may be slow to start."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *options, "-c", PREAMBLE + code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.split()


PREAMBLE = """
import os, sys, threading
from fractions import Fraction
from reward_functions.symbolic import warm
from reward_functions.symbolic.cas.client import CLIENT
from reward_functions.symbolic.expr.nodes import Integral, Number, Power, Symbol
x, n = Symbol("x"), lambda value: Number(Fraction(value))
third = Integral(Power(x, n(2)), x, n(0), n(1))
def right():
    return CLIENT.compare(third, n(Fraction(1, 3))).equal
"""


@pytest.fixture(scope="module")
def ended():
    """What a program said that has ended: its first requests come from threads that end.

    It runs where nothing has semaphores.
    """
    code = """
import multiprocessing.synchronize
class Missing:
    def __init__(self, *args, **kwargs):
        raise OSError(38, "Function not implemented")
multiprocessing.synchronize.SemLock = Missing
for _ in range(2):
    thread = threading.Thread(target=lambda: print(right()))
    thread.start()
    thread.join()
warm()
from reward_functions.symbolic import equal
assert equal("1,234", "1234").equal and equal("(x+1)^2", "x^2+2x+1").equal
print(right(), equal("x^2=4", "x=2").outcome.value, "sympy" in sys.modules)
print(CLIENT._worker.process.pid)
"""
    return run(code)


@pytest.fixture(scope="module")
def cut_short():
    """What a program said that ended without a goodbye, with a secret in its environment."""
    code = """
warm()
warm()
before = set(sys.modules)
from reward_functions.symbolic import equal
assert equal(r"\\sin^2 x", r"1 − \\cos^2 x").equal
assert equal(r"\\sqrt{2}+\\sqrt{3}", "3.14").outcome.value == "different"
assert equal(r"\\int_0^1 x^2\\,dx", r"\\frac13").equal
assert equal(r"\\{1,2\\}", "2, 1").equal and equal("(1,2]", r"1<x\\le 2").equal
late = [name for name in sys.modules if name not in before]
with open(f"/proc/{CLIENT._worker.process.pid}/environ") as file:
    print("secret" in file.read(), "mpmath" in before, "sympy" in sys.modules, *late)
print(CLIENT._worker.process.pid)
sys.stdout.flush()
os._exit(0)
"""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        return run(code)


def test_the_first_request_may_come_from_a_thread_that_ends(ended):
    assert ended[:3] == ["True"] * 3


def test_no_semaphores_are_needed(ended):
    assert ended[3] == "different"


def test_sympy_is_never_loaded_here(ended, cut_short):
    assert (ended[4], cut_short[2]) == ("False", "False")


def test_after_warming_nothing_is_loaded_late(cut_short):
    assert (cut_short[1], cut_short[3:-1]) == ("True", [])


def test_the_environment_stays_behind(cut_short):
    assert cut_short[0] == "False"


def test_nothing_is_left_behind_at_exit(ended, cut_short):
    for *_, pid in (ended, cut_short):
        assert gone(int(pid))


def gone(pid):
    """Whether a process ends; it has a while, because the machine may be busy."""
    for _ in range(3000):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_a_forked_process_has_its_own_worker_and_leaves_the_parents_alone():
    code = f"from reward_functions.symbolic.cas import client\nclient._BOOTSTRAP = {QUICK!r}"
    code += """
CLIENT.start()
mine = CLIENT._worker.process.pid
busy = [CLIENT._starting, CLIENT._worker._changed]
for lock in busy:
    lock.acquire()  # as if other threads were at work during the fork
child = os.fork()
if child == 0:
    other = right() and CLIENT._worker.process.pid
    CLIENT.end()
    os._exit(0 if other and other != mine else 1)
for lock in busy:
    lock.release()
_, status = os.waitpid(child, 0)
print(status, right(), CLIENT._worker.process.pid == mine)
"""
    assert run(code) == ["0", "True", "True"]


TREES = [
    number(Fraction(-7, 3)),
    Number(Fraction(3, 2), Fraction(1, 10)),
    Measured(Constant("π"), (("m", Fraction(2)), ("s", Fraction(-1)))),
    Product((THIRD, ENDLESS), (HUNGRY,)),
]


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: type(tree).__name__)
def test_trees_and_findings_survive_the_wire(tree):
    budget = protocol.Budget(7, 1.5, 2.5)
    assert protocol.trees_of(protocol.request(budget, tree, X)) == (tree, X)
    assert protocol.budget_of(protocol.request(budget, tree, X)) == budget
    finding = differ("units", "m² is not m")
    assert protocol.finding_of(protocol.reply(finding)) == finding
    assert len(protocol.reply(unknown("names", "é" * 10_000))) < 4096


@pytest.mark.parametrize(
    "reply", [b"", b"[]", b"{}", b'["equal"]', b'["right","a","b"]', b'["equal",1,2]', b"\xff"]
)
def test_a_reply_of_any_other_form_is_refused(reply):
    with pytest.raises(ValueError):  # noqa: PT011 - of json, of the codec or of our own
        protocol.finding_of(reply)


def test_a_worker_that_was_launched_is_waited_for_by_the_first_request(quick):
    quick.launch()
    launched = quick._worker.process.pid
    quick.launch()
    assert answered(quick).equal
    assert quick._worker.process.pid == launched


def test_a_worker_that_died_while_it_was_starting_is_replaced(quick):
    quick.launch()
    launched = quick._worker.process.pid
    os.killpg(launched, signal.SIGKILL)
    with pytest.raises(EngineUnavailable, match="does not start"):
        answered(quick)
    assert answered(quick).equal
    assert quick._worker.process.pid != launched
