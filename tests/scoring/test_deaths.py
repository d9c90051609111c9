"""Interpreters that die, versions that do not say why, and folders that hold something else."""

import json
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest

from reward_functions import get, sample
from reward_functions.core.errors import ConfigurationError, NoJudge
from reward_functions.scoring import Plan, Run
from reward_functions.scoring import shard as working
from reward_functions.scoring.asked import pinned, unpinned
from reward_functions.scoring.facts import _float
from reward_functions.scoring.folder import RunIncomplete, RunNotUsable, Unreadable, runs_below
from reward_functions.scoring.interpreters import DEATHS, InterpreterDied, RowInterpreters, unpacked
from reward_functions.scoring.invoked import Invoked
from reward_functions.scoring.results import exit_message
from reward_functions.scoring.rows import Unread, samples_in
from reward_functions.scoring.run import _end_calls, _judge_digest
from reward_functions.scoring.scorers import here
from reward_functions.scoring.shard import work, worked
from reward_functions.testing import wire_row

SPEC = get("gsm8k")


def rows(count):
    for at in range(count):
        one = sample(f"#### {at}", f"{at}", id=f"r{at}")
        yield Unread(f"input line {at + 1}", at, wire_row(one))


class Dying(RowInterpreters):
    """Interpreters in this process, which die of some rows."""

    def __init__(self, *deadly):
        super().__init__(SPEC, "gsm8k", {}, 1, explain=False)
        self.deadly, self.batches = set(deadly), []

    def asked(self, content):
        given = unpacked(content)
        self.batches.append([row.position for row in given])
        if self.deadly & {row.position for row in given}:
            raise EOFError("signal 9")
        return here(SPEC, SPEC.bind({}))(given)


def messages(results):
    return [each.message.partition(": ")[2] for each in results]


TWICE = "the interpreter that scored it died twice: "


def test_a_row_that_an_interpreter_dies_of_is_alone_without_a_score():
    scorer = Dying(2)
    found = scorer(list(rows(5)))
    assert messages(found) == ["", "", f"{TWICE}it ended with signal 9", "", ""]
    assert [each.id for each in found] == [f"r{at}" for at in range(5)]
    assert scorer.batches == [[0, 1, 2, 3, 4], [0], [1], [2], [3], [4]]
    assert json.loads(found[2].line)["error"]["type"] == InterpreterDied.__name__


def test_after_so_many_deaths_no_row_is_tried_any_more():
    scorer = Dying(*range(DEATHS))
    found = scorer(list(rows(DEATHS + 2)))
    assert messages(found)[:DEATHS] == [f"{TWICE}it ended with signal 9"] * DEATHS
    more = f"{TWICE}those of the rows before it ended, too often to go on"
    assert messages(found)[DEATHS:] == [more] * 2
    assert len(scorer.batches) == 1 + DEATHS
    assert messages(Dying(*range(DEATHS - 1))(list(rows(DEATHS + 1))))[DEATHS - 1 :] == ["", ""]


FLAG = {"type": "Metric", "value": 1.0}


@pytest.mark.parametrize(
    ("flags", "error", "words"),
    [
        (["out_of_time"], "DeadlineReached", "the version had no time for it"),
        (["bad_reference"], "NotReadable", "the row or its reference cannot be used"),
        (["unscored"], "NotScored", "the version could not score it"),
        (["imputed", "unscored"], "NotScored", "the version could not score it"),
        ([], None, ""),
    ],
)
def test_a_flag_of_a_version_says_why_a_row_has_no_score(flags, error, words):
    def answered(event):
        given = json.loads(event)
        given = given["body"] if isinstance(given, dict) else given
        metrics = [FLAG | {"name": name} for name in flags]
        return json.dumps(
            [
                {"id": row["id"], "aggregate_reward_score": 0.5, "metrics_list": metrics}
                for row in given
            ]
        ).encode()

    (found,) = Invoked(SPEC, answered, ours=False)(list(rows(1)))
    row = json.loads(found.line)
    assert row.get("error", {}).get("type") == error
    assert words in found.message
    assert (row["aggregate_reward_score"] is None) == bool(error)


@pytest.fixture
def plan(tmp_path):
    def made(reward="gsm8k", **options):
        path = tmp_path / "rows.jsonl"
        path.write_text("".join(f"{json.dumps(row.content)}\n" for row in rows(40)))
        options = {"shard_mb": 0.002} | options
        return Plan.of(str(path), str(tmp_path / "runs" / "one"), reward, **options)

    return made


@pytest.fixture
def run(plan):
    given = plan()
    return Run.begun(given.place, given.asked, given.shards)


def scored(run, **options):
    shard = run.shards()[1]
    return shard, work(run, "score", shard, here(SPEC, SPEC.bind({})), **options)


def test_a_shard_that_is_done_is_not_scored_again(run):
    shard, first = scored(run)
    assert (first.rows, first.unscored, first.complete) == (first.rows, 0, True)
    before = run.place.read(shard.results)
    again = work(run, "score", shard, lambda _: pytest.fail("it is done"))
    assert (again.rows, again.unscored) == (first.rows, 0)
    assert run.place.read(shard.results) == before


@pytest.mark.parametrize(
    ("error", "field"),
    [
        (RunNotUsable("no row"), "unusable"),
        (RunIncomplete("stopped"), "error"),
        (OSError(5, "io"), "error"),
    ],
)
def test_what_ends_a_shard_is_in_its_answer(error, field, run, monkeypatch):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(working, "_scored", fails)
    shard, done = scored(run)
    assert (done.part, getattr(done, field)) == (shard.part, str(error))
    assert not done.complete
    assert (shard.failed in {each.name for each in run.place.objects()}) == isinstance(
        error, OSError
    )


def test_what_a_judge_answered_is_written_after_each_batch(run, monkeypatch):
    paid = replace(run, asked=replace(run.asked, usd=1.0))
    monkeypatch.setattr(working, "PAID_ROWS", 1)
    shard = paid.shards()[0]
    written = []
    keep = working.Part.write

    def write(self, done):
        written.append(done.next_row)
        keep(self, done)

    monkeypatch.setattr(working.Part, "write", write)
    done = work(paid, "score", shard, here(SPEC, SPEC.bind({})))
    assert written == [*range(1, done.rows + 1), None]


def test_an_order_of_a_run_that_is_not_there_is_answered(run, tmp_path):
    shard = run.shards()[0]
    order = {"run": str(tmp_path / "nowhere"), "task": "score", "shard": shard.item()}
    answer = worked(order)
    assert answer["part"] == shard.part
    assert "holds no run: there is no run.json" in answer["error"]


def test_a_folder_of_another_version_holds_no_run_of_this_one(run):
    for text in (b"{", b"[]", b'{"reward": "gsm8k"}', b"7"):
        run.place.write("run.json", text)
        with pytest.raises(ConfigurationError, match="is not of this version of the project"):
            Run.opened(run.place)


def test_facts_that_cannot_be_read_say_what_to_remove(run):
    shard, _ = scored(run)
    facts = json.loads(run.place.read(shard.facts))
    run.place.write(shard.facts, json.dumps(facts | {"facts": {}}).encode())
    with pytest.raises(Unreadable, match=f"{shard.facts} cannot be read: remove it, and resume"):
        Run.opened(run.place).facts()


def test_runs_below_a_folder_are_those_of_its_folders(run, tmp_path):
    (tmp_path / "runs" / "other").mkdir()
    found = runs_below(str(tmp_path / "runs"))
    assert [each.place.address for each in found] == [run.place.address]
    assert runs_below(run.place.address)[0].figures()["rows"] == 0
    assert runs_below(str(tmp_path / "none")) == []


@pytest.mark.parametrize(
    ("reward", "options", "error", "words"),
    [
        ("reference", {}, NoJudge, "reference asks a judge model"),
        ("pairwise", {"function": "arn:aws:lambda:us-east-1:123456789012:function:f:3"},
         ConfigurationError, r"shards may part them: say that they .*\(--adjacent-groups\)"),
        ("gsm8k", {"stage": "dev", "parameters": {"strict": True}}, ConfigurationError,
         "has its own version and parameters: leave the others out"),
        ("gsm8k", {"stage": "dev", "function": "arn"}, ConfigurationError, "leave the others out"),
        ("gsm8k", {"function": "arn:aws:lambda:us-east-1:123456789012:function:f"},
         ConfigurationError, "names no version"),
    ],
)  # fmt: skip
def test_what_cannot_be_planned_is_refused(reward, options, error, words, plan):
    with pytest.raises(error, match=words):
        plan(reward, **options)


def test_a_run_of_another_version_of_a_reward_is_not_gone_on_with(plan):
    given = plan()
    other = replace(given.asked, version=1)
    run = Run.begun(given.place, other, given.shards)
    done = work(run, "score", run.shards()[0])
    assert "the run is of version 1 of gsm8k, and version" in done.error


def test_how_rows_are_read_is_kept_and_of_no_rows_is_nothing(plan):
    rows = plan().asked.rows
    assert pinned(unpinned(rows)) == rows
    empty = unpinned({})
    assert (empty.check, empty.usual, empty.canonical) == (None, None, False)


def test_rows_of_python_are_read_as_those_of_a_file():
    given = [wire_row(sample("#### 1", "1", id="a")), {"id": "b", "messages": 7}]
    samples, places = samples_in(given)
    assert [each.id for each in samples] == ["a", "b"]
    assert places == ["row 1", "row 2"]


class Account:
    """A judge's account, with some calls under way."""

    def __init__(self, under_way):
        self.under_way, self.ended = under_way, []

    def end(self, how):
        self.ended.append(how)


@pytest.mark.parametrize(
    ("count", "kind", "said"),
    [
        (0, KeyboardInterrupt, []),
        (1, KeyboardInterrupt, ["waiting for 1 call under way; Ctrl-C again leaves them"]),
        (1_200, KeyboardInterrupt, ["waiting for 1,200 calls under way; Ctrl-C again leaves them"]),
        (3, ValueError, None),
        (3, None, None),
    ],
)
def test_after_an_interrupt_calls_under_way_are_waited_for_and_no_other_begins(count, kind, said):
    account, notes = Account(count), []
    _end_calls(SimpleNamespace(account=account), notes.append, kind)
    assert notes == (said or [])
    assert len(account.ended) == (said is not None)
    _end_calls(len, notes.append, kind)
    assert notes == (said or [])


def test_a_judge_is_known_by_its_settings(tmp_path):
    path = tmp_path / "judge.json"
    path.write_text('{"a": 1}')
    assert _judge_digest(None) is None
    assert _judge_digest(str(path)) == _judge_digest('{"a": 1}')
    assert len({_judge_digest(text) for text in ('{"a": 1}', ' {"a": 1}', '{"a": 2}')}) == 3


def test_who_asked_for_the_end_is_named():
    assert exit_message(SystemExit(3)) == "a reward: called sys.exit(3)"


def test_a_sum_that_no_float_holds_is_infinite():
    assert _float(Fraction(1, 4)) == 0.25
    assert _float(Fraction(10) ** 400) == float("inf")
