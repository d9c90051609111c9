"""The file that an interrupt leaves: what is kept of it, what is not, and whose it is."""

import json
import sys
from contextlib import contextmanager, suppress
from io import BytesIO
from threading import Event, Thread
from time import sleep

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.reports.score_report.digest import RowFacts
from reward_functions.reports.score_report.reasons import DATA
from reward_functions.scoring import cuts
from reward_functions.scoring.engines.pool import side_by_side
from reward_functions.scoring.journal import MARK, Journal, beside, unnamed
from reward_functions.scoring.places import Object
from reward_functions.scoring.results import RowResult

IDENTITY = {"file": "rows.jsonl", "reward": "gsm8k 8"}
SCORED = RowFacts(0.1, 'it "differs"\t', 7, 12, 0)
OURS = RowFacts(None, "no time", 7, 12, 1, ("DeadlineReached", "", "the function", "wait"))
THEIRS = RowFacts(None, "no id", 0, 0, 2, ("BadSample", "", DATA, "write an id"))


def result(name, facts):
    error = {"error": {"message": f"input line 1: {facts.reason}"}} if facts.error else {}
    line = json.dumps({"id": name, "aggregate_reward_score": facts.value, **error})
    return RowResult(name, line, facts, error["error"]["message"] if error else "")


RESULTS = [result("a", SCORED), result("b", OURS), result("c", THEIRS)]


def read(results):
    """The same, as JSON gives the facts back."""
    return [(each.id, each.line, json.dumps(each.facts), each.message) for each in results]


def test_results_are_read_as_they_were_added_in_any_order():
    with unnamed(4) as journal:
        journal.add([3, 0], RESULTS[:2])
        journal.add([1], RESULTS[2:])
        assert (len(journal), journal.done, journal.written, journal.kept) == (4, 3, 3, 0)
        assert [at in journal for at in range(4)] == [True, True, False, True]
        assert read([journal[3], journal[0], journal[1]]) == read(RESULTS)
        assert list(journal.lines([0, 1, 3])) == [RESULTS[at].line for at in (1, 2, 0)]
        journal.add([2], RESULTS[:1])
        assert read([journal[2], journal[0]]) == read([RESULTS[0], RESULTS[1]])


class Interrupted(BytesIO):
    """A file in which an interrupt comes once, after so many bytes of what is written."""

    after = None

    def writelines(self, lines):
        kept, self.after = self.after, None
        if kept is None:
            return super().writelines(lines)
        self.write(b"".join(lines)[:kept])
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    "written",
    [0, 1, -2, -1, sys.maxsize],
    ids=["nothing", "a byte", "a line and a part", "all but its end", "all"],
)
def test_rows_that_are_written_as_an_interrupt_comes_are_kept_once(written):
    stream = Interrupted()
    journal = Journal(stream, 4)
    journal.add([0], RESULTS[:1])
    stream.after = written
    with pytest.raises(KeyboardInterrupt):
        journal.add([3, 1], RESULTS[1:])
    assert journal.done == journal.written == stream.getvalue().count(b"\n") == 3
    assert read([journal[0], journal[3], journal[1]]) == read(RESULTS)
    journal.add([2], RESULTS[2:])
    assert read([journal[2], journal[1]]) == read([RESULTS[2]] * 2)


@contextmanager
def interrupted(output, rows=4, **options):
    """A journal that an interrupt ends."""
    with suppress(KeyboardInterrupt), beside(output, IDENTITY, rows, **options) as journal:
        yield journal
        raise KeyboardInterrupt


@pytest.fixture
def left(tmp_path):
    """A file that an interrupt left."""
    output = tmp_path / "out.jsonl"
    with interrupted(output, resume=False) as journal:
        journal.add([2, 0, 1], RESULTS)
    return output, tmp_path / "out.jsonl.partial"


def test_what_is_gone_on_with_keeps_all_but_failures_of_ours(left):
    output, partial = left
    with beside(output, IDENTITY, 4, resume=True) as journal:
        assert (journal.kept, journal.done, journal.written) == (2, 2, 0)
        assert [at in journal for at in range(4)] == [False, True, True, False]
        assert read([journal[2], journal[1]]) == read([RESULTS[0], RESULTS[2]])
        journal.add([0], RESULTS[:1])
        assert list(journal.lines([2, 0, 1])) == [RESULTS[at].line for at in (0, 0, 2)]
    assert not partial.exists(), "it is whole"


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        (lambda text: text[:-1], {2}),
        (lambda text: text[:-9], {2}),
        (lambda text: text + b"{}\tnot facts\n", {2, 1}),
        (lambda text: text + b'{}\t[9, 0.5, "", 1, 1, 0]\n', {2, 1}),
        (lambda text: text + b'{}\t["3", 0.5, "", 1, 1, 0]\n', {2, 1}),
        (lambda text: text.replace(b"\t[0, null", b"\t[0; null"), {2}),
    ],
)  # fmt: skip
def test_a_line_that_was_cut_off_is_dropped_with_all_after_it(change, kept, left):
    output, partial = left
    partial.write_bytes(change(partial.read_bytes()))
    with beside(output, IDENTITY, 4, resume=True) as journal:
        assert {at for at in range(4) if at in journal} == kept
        journal.add([3], RESULTS[:1])
        assert read([journal[3], journal[2]]) == read([RESULTS[0], RESULTS[0]])


def test_a_first_line_that_was_cut_off_holds_nothing(left):
    output, partial = left
    partial.write_bytes(partial.read_bytes()[:20])
    with interrupted(output, resume=True) as journal:
        assert (journal.kept, journal.done) == (0, 0)
        journal.add([1], RESULTS[:1])
    with beside(output, IDENTITY, 4, resume=True) as journal:
        assert (journal.kept, 1 in journal) == (1, True)


def test_a_file_of_somebody_else_is_left_as_it_is(left):
    output, partial = left
    before = partial.read_bytes()
    for identity, resume, words in (
        (IDENTITY, False, "add --resume to go on with it"),
        (IDENTITY | {"reward": "math 3"}, True, "is of another run: it differs in reward; remove"),
    ):
        with pytest.raises(ConfigurationError, match=words):
            beside(output, identity, 4, resume=resume).__enter__()
        assert partial.read_bytes() == before
    for text in (b"my thesis\n", b"[1]\n", b"{}\n", b"x" * (1 << 20)):
        partial.write_bytes(text)
        with pytest.raises(ConfigurationError, match="is no file of an interrupted run; remove it"):
            beside(output, IDENTITY, 4, resume=True).__enter__()
        assert partial.read_bytes() == text


def test_a_file_that_another_run_writes_to_is_not_taken(tmp_path):
    output = tmp_path / "out.jsonl"
    with beside(output, IDENTITY, 2, resume=False) as journal:
        with pytest.raises(ConfigurationError, match="is being written by another run"):
            beside(output, IDENTITY, 2, resume=True).__enter__()
        journal.add([0], RESULTS[:1])
        assert read([journal[0]]) == read(RESULTS[:1])
        first = (tmp_path / "out.jsonl.partial").read_bytes().splitlines()[0]
    assert json.loads(first) == {MARK: True, **IDENTITY, "rows": 2}


@pytest.mark.parametrize(
    ("error", "added", "stays"),
    [(KeyboardInterrupt, 1, True), (KeyboardInterrupt, 0, False), (ValueError, 1, False)],
)
def test_a_file_stays_where_an_interrupt_ended_the_run_and_it_holds_something(
    error, added, stays, tmp_path
):
    def ends():
        with beside(tmp_path / "out", IDENTITY, 2, resume=False) as journal:
            journal.add(range(added), RESULTS[:added])
            raise error

    with pytest.raises(error):
        ends()
    assert (tmp_path / "out.partial").exists() == stays


def test_a_failure_leaves_what_an_earlier_interrupt_left(left):
    output, partial = left

    def fails():
        with beside(output, IDENTITY, 4, resume=True):
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - the one above
        fails()
    assert partial.exists()


class OneObject:
    """A place with a parquet file."""

    @contextmanager
    def opened(self, name, etag):
        yield BytesIO(b"PAR1")


@pytest.mark.parametrize(
    ("rows", "most", "groups"),
    [
        ([10] * 4, 50, [(0, 2), (2, 4)]),
        ([10] * 4, 49, [(0, 1), (1, 2), (2, 3), (3, 4)]),
        ([10] * 4, 1, [(0, 1), (1, 2), (2, 3), (3, 4)]),
        ([10, 10, 80], 20, [(0, 2), (2, 3)]),
        ([80, 10, 10], 20, [(0, 1), (1, 3)]),
        ([0, 0], 50, [(0, 2)]),
    ],
)
def test_groups_of_rows_are_cut_between_them(rows, most, groups, monkeypatch):
    monkeypatch.setattr(cuts, "rows_of_groups", lambda *_: rows)
    shards = cuts.shards_of(OneObject(), [Object("a.parquet", 100, "e")], most)
    assert [(each.start, each.end) for each in shards] == groups
    assert [each.part for each in shards] == [*range(len(groups))]
    assert {each.kind for each in shards} == {"groups"}


def test_shards_under_way_are_told_that_they_have_no_time_left_where_a_run_is_broken_off():
    begun, seen, broken = Event(), [], []

    def work(shard, left):
        if shard == 0:
            begun.wait()
            return "first"
        begun.set()
        for _ in range(2_000):
            if not left():
                seen.append(shard)
                break
            sleep(0.001)
        return shard

    ran = side_by_side([0, 1], work, 2, lambda: broken.append("off"))
    assert next(ran) == "first"
    closing = Thread(target=ran.close)
    closing.start()
    closing.join()
    assert (seen, broken) == ([1], ["off"])


def test_shards_that_all_ended_are_broken_off_by_nobody():
    broken = []
    ran = side_by_side([3, 4], lambda shard, left: (shard, left()), 2, lambda: broken.append("off"))
    assert sorted(ran) == [(3, float("inf")), (4, float("inf"))]
    assert broken == []
