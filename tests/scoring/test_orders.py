"""Batches that keep what a reward compares, orders that end an interpreter, and names of files."""

import errno
import itertools
import json
from math import inf
from types import SimpleNamespace

import pytest

from reward_functions import sample
from reward_functions.core.errors import ConfigurationError
from reward_functions.scoring import Plan, Run
from reward_functions.scoring import shard as working
from reward_functions.scoring.engines.processes import _ordered
from reward_functions.scoring.file import naming
from reward_functions.scoring.rows import Unread
from reward_functions.scoring.run import LONGEST, MOMENT, Pieces
from reward_functions.scoring.scorers import BATCH_BYTES, batches, here
from reward_functions.scoring.shard import work
from reward_functions.scoring.shards import Done, Shard
from reward_functions.testing import wire_row

HALF = BATCH_BYTES // 2


def unread(prompts, sizes=None):
    for at, prompt in enumerate(prompts):
        row = wire_row(sample("#### 1", "1", prompt=prompt, id=f"r{at}"))
        yield Unread(f"input line {at + 1}", at, row, "", sizes[at] if sizes else 1)


@pytest.mark.parametrize(
    ("prompts", "sizes", "most", "groups", "found"),
    [
        ("abcde", None, 2, "none", [2, 2, 1]),
        ("abcd", None, 2, "none", [2, 2]),
        ("abcd", None, 9, "none", [4]),
        ("", None, 2, "none", []),
        ("abcd", [HALF, HALF, HALF, HALF], 9, "none", [2, 2]),
        ("abcd", [HALF, HALF + 1, HALF, HALF], 9, "none", [1, 1, 2]),
        ("abc", [3 * HALF, 1, 1], 9, "none", [1, 2]),
        ("aaabbc", None, 2, "adjacent", [3, 2, 1]),
        ("aabbbc", None, 2, "adjacent", [2, 3, 1]),
        ("aaaa", None, 2, "adjacent", [4]),
        ("abab", None, 2, "anywhere", [4]),
        ("abab", [HALF] * 4, 9, "anywhere", [4]),
    ],
)
def test_batches_do_not_cut_what_is_compared(prompts, sizes, most, groups, found):
    made = list(batches(unread(prompts, sizes), most, groups=groups))
    assert [len(each) for each in made] == found
    assert [row.position for each in made for row in each] == [*range(len(prompts))]


def test_a_row_that_is_no_sample_is_no_row_of_a_group_before_it():
    rows = [*unread("aa"), Unread("input line 3", 2, {"messages": 7}), *unread("a")]
    assert [len(each) for each in batches(rows, 1, groups="adjacent")] == [2, 1, 1]


SHARD = Shard(3, "lines", "rows.jsonl", 10, "etag", 0, 10)


class Asked:
    """Interpreters that answer, or end in the way an error says."""

    def __init__(self, *answers):
        self.answers, self.orders = list(answers), []

    def asked(self, order):
        self.orders.append(order)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.parametrize(
    ("answers", "seconds", "error", "orders", "stopped"),
    [
        ([Done(3, rows=5).item()], inf, "", 1, []),
        ([], 0.0, "interrupted", 0, []),
        ([EOFError("signal 9"), Done(3, rows=5).item()], inf, "", 2, []),
        ([EOFError("signal 9")] * 2, inf, "the interpreter that did it ended with signal 9", 2, []),
        ([ConfigurationError("sys.exit")], inf, "sys.exit", 1, ["sys.exit"]),
    ],
)
def test_an_order_that_ends_its_interpreter_is_given_once_more_row_by_row(
    answers, seconds, error, orders, stopped
):
    asked, stops = Asked(*answers), []
    place = SimpleNamespace(address="run")
    run = SimpleNamespace(place=place, stop=stops.append)
    done = _ordered(asked, run, "score", SHARD, lambda: seconds)
    assert (done.part, done.error, done.rows) == (3, error, 0 if error else 5)
    assert [bool(each.get("apart")) for each in asked.orders] == [False, True][:orders]
    assert stops == stopped


@pytest.mark.parametrize(
    ("name", "error", "named"),
    [
        ("out.jsonl", OSError(errno.ENOSPC, "full", "/tmp/x"), "out.jsonl"),
        ("out.jsonl", OSError(errno.ENOSPC, "full"), "out.jsonl"),
        (None, OSError(errno.ENOSPC, "full"), "standard output"),
        (None, OSError(errno.ENOSPC, "full", "rows.jsonl"), "rows.jsonl"),
        ("out.jsonl", BrokenPipeError(errno.EPIPE, "closed"), None),
    ],
)
def test_an_error_of_writing_names_what_was_typed(name, error, named):
    with pytest.raises(OSError) as raised, naming("outside"), naming(name):  # noqa: PT011
        raise error
    expected = "outside" if (name, named) == (None, "rows.jsonl") else named
    assert raised.value.filename == expected
    assert raised.value.errno == error.errno


@pytest.mark.parametrize(
    ("seconds", "sizes"),
    [
        ([0.0] * 9, [1, 2, 4, 4, 4]),
        ([MOMENT / 2] * 15, [1] * 15),
        ([MOMENT / 2 - 1e-9] * 9, [1, 2, 4, 4, 4]),
        ([0.0, 0.0, MOMENT] + [0.0] * 9, [1, 2, 4, 4, 4]),
        ([0.0, 0.0, MOMENT + 1e-9] + [0.0] * 9, [1, 2, 4, 2, 4, 2]),
        ([9 * MOMENT] * 15, [1] * 15),
    ],
)
def test_pieces_take_a_moment_each(seconds, sizes):
    cut = Pieces(enumerate(unread("a" * 15)), largest=4)
    found = []
    for piece in cut:
        found.append(len(piece.rows))
        cut.took(piece, seconds[len(found) - 1])
    assert found == sizes


def test_a_piece_of_long_rows_has_fewer():
    cut = Pieces(enumerate(unread("a" * 6, [LONGEST, 1, 1, LONGEST + 1, 1, 1])), largest=4)
    found = []
    for piece in cut:
        found.append(piece.positions)
        cut.took(piece, 0.0)
    assert found == [[0], [1, 2], [3], [4, 5]]


@pytest.mark.parametrize(("more", "batches_done"), [(0.0, 3), (-0.5, 1), (-25.0, 0)])
def test_a_batch_begins_where_there_is_time_for_two_such(more, batches_done, tmp_path, monkeypatch):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row.content)}\n" for row in unread("abc")))
    plan = Plan.of(str(path), str(tmp_path / "run"), "gsm8k")
    run = Run.begun(plan.place, plan.asked, plan.shards)
    ticks = itertools.count(step=10.0)
    monkeypatch.setattr(working, "monotonic", lambda: next(ticks))
    monkeypatch.setattr(working, "BATCH_ROWS", 1)
    spec = plan.asked.spec
    done = work(
        run,
        "score",
        plan.shards[0],
        here(spec, spec.bind({})),
        left=lambda: working.RESERVE + 20.0 + more,
    )
    assert (done.rows, done.complete) == (batches_done, batches_done == 3)
