"""Around a run: where rows come from, which are written, and what crosses between processes."""

import io
import os
import pickle
import signal
import sys
from hashlib import sha256
from queue import SimpleQueue
from threading import Event, Thread
from types import SimpleNamespace

import pytest

from reward_functions import Score, get, score_batch
from reward_functions.core.errors import BadReference, ConfigurationError
from reward_functions.core.spec import Scale
from reward_functions.core.types import Evidence, Outcome, Scored, Unscored
from reward_functions.reports.score_report.digest import CUT, RowFacts
from reward_functions.scoring import interpreters
from reward_functions.scoring.interpreters import (
    InterpreterDied,
    Interpreters,
    listen,
    packed,
    received,
    unpacked,
    write_object,
)
from reward_functions.scoring.results import result_line, row_object
from reward_functions.scoring.rows import Unread
from reward_functions.scoring.run import (
    Selection,
    Source,
    calls_left,
    ends_are_interrupts,
    kept_verdicts,
    spooled,
)

TEXT = b"{}\n"

FACTS = [
    ("d", RowFacts(0.0, "", 1, 30, 0)),
    ("b", RowFacts(1.0, "", 1, 10, CUT)),
    ("c", RowFacts(None, "", 1, 40, 0, ("E", "", "us", ""))),
    ("a", RowFacts(0.5, "", 1, 20, 0)),
    ("e", RowFacts(1.0, "", 1, 50, 0)),
]


@pytest.mark.parametrize(
    ("only", "sort", "limit", "rows"),
    [
        (None, None, None, "dbcae"),
        (None, None, 2, "db"),
        (None, None, 0, ""),
        ("minimum", None, None, "d"),
        ("maximum", None, None, "be"),
        ("partial", None, None, "a"),
        ("unscored", None, None, "c"),
        ("truncated", None, None, "b"),
        ("disagree", None, None, "ca"),
        ("disagree", "id", None, "ac"),
        (None, "id", None, "abcde"),
        (None, "-id", 2, "ed"),
        (None, "value", None, "dabec"),
        (None, "-value", None, "beadc"),
        (None, "length", None, "badce"),
        (None, "-length", 3, "ecd"),
        ("maximum", "-length", None, "eb"),
    ],
)
def test_the_rows_that_are_written(only, sort, limit, rows):
    selection = Selection(Scale(0.0, 1.0), only, sort)
    chosen = [selection.add(at, name, facts) for at, (name, facts) in enumerate(FACTS)]
    found = selection.positions(limit, [2, 3])
    assert "".join(FACTS[at][0] for at in found) == rows
    if limit is None and only != "disagree":
        assert sum(chosen) == len(rows)
    assert selection.in_order == (sort is None and only != "disagree")


def test_disagreement_needs_labels():
    Selection(Scale(0.0, 1.0), "disagree").require_labels("right")
    Selection(Scale(0.0, 1.0), "minimum").require_labels(None)
    with pytest.raises(ConfigurationError, match="--label FIELD"):
        Selection(Scale(0.0, 1.0), "disagree").require_labels(None)
    assert list(Selection(Scale(0.0, 1.0), "disagree").positions(None)) == []


def test_a_source_is_its_bytes_and_notices_a_change(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"{}\n")
    source = Source(str(path))
    assert (source.piped, source.again()) == (False, str(path))
    assert source.digest() == sha256(b"{}\n").hexdigest()
    source.require_unchanged()
    path.write_bytes(b"{}\n\n")
    with pytest.raises(ConfigurationError, match=r"rows\.jsonl changed while it was scored"):
        source.require_unchanged()
    path.unlink()
    with pytest.raises(ConfigurationError, match="changed while"):
        source.require_unchanged()


def test_a_folder_is_its_names_and_their_bytes(tmp_path):
    def digest(*texts, first=0):
        for path in tmp_path.iterdir():
            path.unlink()
        for at, text in enumerate(texts, first):
            (tmp_path / f"train-{at}.jsonl").write_bytes(text)
        return Source(str(tmp_path)).digest()

    found = [
        digest(TEXT, TEXT),
        digest(TEXT, TEXT, first=1),
        digest(TEXT, b"[]"),
        digest(TEXT),
    ]
    assert len({*found, sha256(TEXT).hexdigest()}) == 5
    listed = "\n".join(f"train-{at}.jsonl {sha256(TEXT).hexdigest()}" for at in range(2))
    assert found[0] == digest(TEXT, TEXT) == sha256(listed.encode()).hexdigest()


@pytest.mark.parametrize("fifo", [False, True])
def test_what_comes_through_a_pipe_is_read_as_often_as_needed(fifo, tmp_path, monkeypatch):
    text = b'{"a": 1}\n' * 3
    if fifo:
        name = str(tmp_path / "pipe")
        os.mkfifo(name)
        writer = Thread(target=(tmp_path / "pipe").write_bytes, args=(text,))
        writer.start()
    else:
        name = "-"
    before = SimpleNamespace(buffer=io.BytesIO(text))
    monkeypatch.setattr(sys, "stdin", before)
    with spooled(name) as source:
        assert (source.piped, source.file) == (True, "-")
        for _ in range(2):
            assert source.again() == "-"
            assert sys.stdin.buffer.read() == text
            assert source.digest() == sha256(text).hexdigest()
        source.require_unchanged()
    assert sys.stdin is before


def test_a_signal_to_end_is_an_interrupt_and_then_what_it_was():
    before = [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGHUP)]

    def ends():
        with ends_are_interrupts():
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt):
        ends()
    assert [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGHUP)] == before
    inside = []

    def elsewhere():
        with ends_are_interrupts():
            inside.append(signal.getsignal(signal.SIGTERM))

    thread = Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert inside == before[:1]


class Account(dict):
    """What a judge did."""

    under_way = 3


def judge(failure=None, **more):
    account = Account(judge_answers=5.0, judge_cache_hits=2.0)
    return SimpleNamespace(account=account, store=SimpleNamespace(failure=failure), **more)


def test_what_is_kept_and_left_of_a_judge():
    assert (kept_verdicts(judge()), calls_left(judge())) == (7, 3)
    assert kept_verdicts(judge(failure="full")) == 0
    assert kept_verdicts(SimpleNamespace(account=Account())) == 0
    assert (kept_verdicts(len), calls_left(len)) == (0, 0)


@pytest.mark.parametrize(
    ("evidence", "outcome", "rule", "answer"),
    [
        (None, None, None, None),
        (Evidence("number"), None, "number", None),
        (Evidence("number", answer=[1, 2]), None, "number", "1, 2"),
        (Evidence("number", outcome=Outcome.UNDECIDED), Outcome.UNDECIDED.value, "number", None),
    ],
)
def test_a_score_is_explained_by_its_evidence(evidence, outcome, rule, answer):
    scored = Scored("a", Score(0.5, answer="so", reason="why", evidence=evidence))
    found = row_object(scored, explain=True)["explanation"]
    assert found == {
        "answer": "so",
        "reason": "why",
        "outcome": outcome,
        "rule": rule,
        "normal_answer": answer,
        "normal_reference": None,
    }
    assert "explanation" not in row_object(scored)


def test_a_judges_score_is_explained_by_its_decisions():
    spec = get("reference")
    example = next(each for each in spec.examples if each.verdicts)
    (result,) = score_batch(spec.bound_to_example(example), [example.sample()])
    decided = row_object(result, explain=True, reward="reference")["explanation"]["normal_answer"]
    assert {*decided[0]} == {"criterion", "decision", "reason", "quotation"}
    assert all(each["decision"] and each["criterion"] for each in decided)
    assert all(each[name] != "" for each in decided for name in ("reason", "quotation"))


def test_what_has_no_score_has_its_error_and_its_place():
    unscored = Unscored("a", BadReference("there is none"))
    error = {"type": "BadReference", "message": "input line 3: there is none"}
    row = {"id": "a", "aggregate_reward_score": None, "error": error}
    assert row_object(unscored, "input line 3") == row
    assert row_object(unscored, explain=True)["explanation"] is None
    assert row_object(unscored)["error"]["message"] == "there is none"
    assert result_line(unscored, "input line 3").startswith('{"id": "a", "aggregate_reward_score"')
    assert result_line(Scored("a", Score(0.5))).startswith('{"id": "a", "aggregate_reward_score"')


def test_an_object_crosses_a_pipe_whole_or_not_at_all():
    stream = io.BytesIO()
    write_object(stream, {"a": [1, 2]})
    write_object(stream, None)
    whole = stream.getvalue()
    stream.seek(0)
    assert [received(stream), received(stream)] == [{"a": [1, 2]}, None]
    first = len(pickle.dumps({"a": [1, 2]}, protocol=pickle.HIGHEST_PROTOCOL)) + 8
    for size in (0, 3, 7, 8, first - 1):
        with pytest.raises(EOFError):
            received(io.BytesIO(whole[:size]))


def test_rows_cross_a_pipe_at_any_depth():
    deep = {}
    for _ in range(500):
        deep = {"a": deep}
    rows = [Unread("input line 1", 0, {"messages": []}, "", 7), Unread("input line 2", 1, deep)]
    assert unpacked(packed(rows)) == rows


def test_an_interpreter_whose_parent_is_gone_ends(monkeypatch):
    ends = []
    monkeypatch.setattr(interpreters, "sleep", ends.append)
    monkeypatch.setattr(os, "_exit", ends.append)
    stream, questions, alone = io.BytesIO(), SimpleQueue(), Event()
    for each in ("first", "second"):
        write_object(stream, each)
    stream.seek(0)
    listen(stream, questions, alone)
    assert [questions.get() for _ in range(3)] == ["first", "second", None]
    assert (alone.is_set(), ends) == (True, [interpreters.GRACE, 1])
    listen(io.BytesIO(), questions)
    assert questions.get() is None


def test_interpreters_that_are_closed_have_no_answer():
    with Interpreters(1, "interpreters") as made:
        made.close()
        with pytest.raises(InterpreterDied, match="the command ends"):
            made.asked("x")
