"""Runs over shards: the joined parts are the bytes of `reward score`, on each engine and format.

`direct` asks the handler of a function that is not deployed. What ends a worker is a part that is
missing, and a part that is missing is what a resumed run scores.
"""

import gzip
import io
import json
import random
from uuid import uuid4

import pytest

from reward_functions import scoring
from reward_functions.aws.failures import AwsFailed
from reward_functions.core.errors import ConfigurationError
from reward_functions.data.json_rows import BadInput
from reward_functions.scoring.engines import Engine
from reward_functions.scoring.engines.direct import Direct
from reward_functions.scoring.engines.processes import Processes
from reward_functions.scoring.folder import OtherRun, Run, RunIncomplete, RunNotUsable
from reward_functions.scoring.invoked import Invoked
from reward_functions.scoring.places import place_of
from reward_functions.scoring.plan import Plan
from reward_functions.scoring.scorers import here
from reward_functions.scoring.shard import order_of, work, worked
from tests.scoring.test_scorers import SPEC, Version

ARN = "arn:aws:lambda:us-east-1:123456789012:function:gsm8k:3"

MB = 1 << 20


class Local(Engine):
    """An engine of this thread alone, which counts what it did."""

    name, remote = "local", False

    def __init__(self, stop_after=None, left=None):
        self.did, self.stop_after, self.left = [], stop_after, left

    def run(self, run, task, shards):
        scorer = here(SPEC, SPEC.bind({}))
        for shard in shards:
            if task == "score":
                if self.stop_after is not None and len(self.did) >= self.stop_after:
                    raise KeyboardInterrupt
                self.did.append(shard.part)
            more = {"left": self.left} if self.left else {}
            yield work(run, task, shard, scorer, **more)


def deployed(**hostile):
    """The direct engine with a version that is not deployed."""
    version = Version(**hostile)
    return Direct(3, scorer=lambda _run: Invoked(SPEC, version))


ENGINES = {
    "local": (Local, {}),
    "processes": (lambda: Processes(2), {}),
    "direct": (deployed, {"function": ARN}),
}


def samples(count, *, ids=True, seed=36):
    draw = random.Random(seed)
    for at in range(count):
        answer = draw.choice((at, at + 1, "none"))
        row = {"question": f"how many, {at % 7}? \u2028é", "answer": f"{at}"}
        row["response"] = f"so it is\n#### {answer}" + "😀" * draw.randrange(3)
        if at % 11 == 5:
            row["answer"] = "no number"
        if at % 13 == 6:
            row["question"] = None
        if ids and at % 5:
            row["id"] = f"row {at}"
        yield row


def lines(rows, between="\n", end="\n"):
    return (between.join(json.dumps(row, ensure_ascii=False) for row in rows) + end).encode()


def csv(rows):
    import csv as module

    stream = io.StringIO()
    writer = module.DictWriter(stream, ["question", "answer", "response"])
    writer.writeheader()
    for each in rows:
        writer.writerow({name: each[name] or "" for name in ("question", "answer", "response")})
    return stream.getvalue().encode()


def parquet(rows):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as module

    table = pyarrow.Table.from_pylist([{"id": None, **row} for row in rows])
    stream = io.BytesIO()
    module.write_table(table, stream, row_group_size=17)
    return stream.getvalue()


FORMATS = {
    "jsonl": ("rows.jsonl", lambda: lines(samples(120))),
    "without ids": ("rows.jsonl", lambda: lines(samples(120, ids=False))),
    "crlf, blank lines, no end": (
        "rows.jsonl",
        lambda: b"\xef\xbb\xbf\n \r\n" + lines(samples(60), "\r\n\r\n", ""),
    ),
    "gzip": ("rows.jsonl.gz", lambda: gzip.compress(lines(samples(90)), mtime=0)),
    "csv": ("rows.csv", lambda: csv(samples(90))),
    "array": ("rows.json", lambda: json.dumps(list(samples(90))).encode()),
    "parquet": ("rows.parquet", lambda: parquet(samples(90))),
    "several responses": (
        "rows.jsonl",
        lambda: lines({**row, "response": ["#### 1", "#### 2"]} for row in samples(40)),
    ),
}


@pytest.fixture
def made(tmp_path):
    """A file of a format, and what `reward score` writes of it."""

    def make(name, content):
        path = tmp_path / "in" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        out = tmp_path / "expected.jsonl"
        done = scoring.score_file(SPEC, path, out)
        return path, out.read_bytes(), done

    return make


def joined(run):
    stream = io.BytesIO()
    run.join(stream)
    return stream.getvalue()


def planned(path, tmp_path, size=None, **more):
    mb = 64 if size is None else size / MB
    return Plan.of(str(path), str(tmp_path / "run"), "gsm8k", shard_mb=mb, **more)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", FORMATS)
def test_joined_parts_are_the_bytes_of_reward_score(form, engine, made, tmp_path):
    name, content = FORMATS[form]
    path, expected, done = made(name, content())
    begin, more = ENGINES[engine]
    run = planned(path, tmp_path, 2_000, **more).start(begin())
    assert joined(run) == expected
    found = run.facts()
    assert (len(found), found.unscored) == (done.rows, done.unscored)
    assert found.figures() == done.summary.figures()
    assert found.groups() == done.summary.groups()
    assert found.repeated_ids() == done.summary.repeated_ids()
    assert found.errors() == done.summary.errors()
    assert found.reasons() == done.summary.reasons()
    assert run.state().finished


@pytest.mark.parametrize("size", [1, 50, 1_000, None])
def test_shards_of_any_size_give_the_same_bytes(size, made, tmp_path):
    path, expected, _ = made("rows.jsonl", lines(samples(12)))
    assert joined(planned(path, tmp_path, size).start(Local())) == expected


def test_objects_of_a_folder_are_scored_as_one_source(tmp_path):
    rows = list(samples(60, ids=False))
    folder = place_of(str(tmp_path / "in"))
    for part in range(4):
        folder.write(f"rows-{part:05}.jsonl", lines(rows[part * 15 : part * 15 + 15]))
    folder.write("rows-00004.jsonl", b"")
    expected = tmp_path / "all.jsonl"
    scoring.score_file(SPEC, tmp_path / "in", expected)
    run = planned(tmp_path / "in", tmp_path, 1_500).start(Local())
    assert joined(run) == expected.read_bytes()


def test_the_same_bytes_come_of_orders_that_cross_a_wire(made, tmp_path):
    path, expected, _ = made("rows.jsonl", lines(samples(60)))
    run = planned(path, tmp_path, 2_000).start(Local())
    for shard in run.shards():
        run.place.delete(shard.facts)
        order = json.loads(json.dumps(order_of(run, "score", shard)))
        assert len(json.dumps(order)) < 1_000
        assert worked(order)["part"] == shard.part
    assert joined(run) == expected


@pytest.mark.parametrize("stop", [0, 1, 4])
def test_a_resumed_run_scores_what_is_missing(stop, made, tmp_path):
    path, expected, _ = made("rows.jsonl", lines(samples(120)))
    plan = planned(path, tmp_path, 2_000)
    with pytest.raises(KeyboardInterrupt):
        plan.start(Local(stop_after=stop))
    run = Run.opened(plan.place)
    with pytest.raises(RunIncomplete, match="parts are missing"):
        joined(run)
    second = Local()
    assert joined(planned(path, tmp_path, 2_000).start(second, resume=True)) == expected
    assert second.did == list(range(stop, len(plan.shards)))


@pytest.mark.parametrize("gone", ["results", "facts"])
def test_a_part_without_its_facts_or_results_is_scored_again(gone, made, tmp_path):
    path, expected, _ = made("rows.jsonl", lines(samples(120)))
    plan = planned(path, tmp_path, 2_000)
    run = plan.start(Local())
    draw = random.Random(7)
    lost = sorted(draw.sample(range(len(plan.shards)), 3))
    for part in lost:
        run.place.delete(getattr(run.shards()[part], gone))
    second = Local()
    assert joined(plan.start(second, resume=True)) == expected
    assert second.did == lost


def test_a_shard_short_of_time_goes_on_where_it_was(made, tmp_path, monkeypatch):
    monkeypatch.setattr("reward_functions.scoring.shard.BATCH_ROWS", 10)
    path, expected, _ = made("rows.jsonl", lines(samples(45)))
    looks = iter([60.0, 60.0, 0.0] * 20)
    engine = Local(left=lambda: next(looks))
    heard = []
    run = planned(path, tmp_path).start(engine, hear=heard.append)
    assert joined(run) == expected
    assert [each.done.next_row for each in heard if each.kind == "short"] == [20, 40]
    assert [each.name for each in run.place.objects("part-000000.b")] == []


@pytest.mark.parametrize(
    ("at", "line"), [(3, b"[1, 2]"), (40, b"{"), (88, b"7"), (89, b'{"a": \xff}')]
)
def test_a_line_that_is_no_row_makes_the_run_unusable(at, line, made, tmp_path):
    rows = [lines([row]) for row in samples(90)]
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"".join([*rows[:at], line + b"\n", *rows[at:]]))
    if at < 32:  # among the first rows
        with pytest.raises(BadInput, match=rf"rows\.jsonl, line {at + 1}"):
            planned(path, tmp_path, 2_000)
        return
    plan = planned(path, tmp_path, 2_000)
    with pytest.raises(RunNotUsable, match=rf"rows\.jsonl, line {at + 1}"):
        plan.start(Local())
    run = Run.opened(plan.place)
    assert not run.state().finished
    for refused in (lambda: joined(run), run.finish, lambda: plan.start(Local(), resume=True)):
        with pytest.raises(RunNotUsable):
            refused()


def test_a_row_that_ends_the_version_is_alone_without_a_score(made, tmp_path):
    path, expected, _ = made("rows.jsonl", lines(samples(60)))
    engine = deployed(kills=["row 17"], blocks=["row 31"])
    found = joined(planned(path, tmp_path, 3_000, function=ARN).start(engine))
    differ = [
        json.loads(mine)["id"]
        for mine, theirs in zip(found.splitlines(), expected.splitlines(), strict=True)
        if mine != theirs
    ]
    assert differ == ["row 17", "row 31"]


CHANGES = {
    "another input": (lambda path: path.write_bytes(lines(samples(50, seed=1))), {}, "its inputs"),
    "another size of shards": (lambda _: None, {"size": 3_000}, "the size of shards"),
    "another version": (lambda _: None, {"function": ARN}, "the version of the function"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_run_of_something_else_is_not_gone_on_with(change, made, tmp_path):
    path, _, _ = made("rows.jsonl", lines(samples(50)))
    with pytest.raises(KeyboardInterrupt):
        planned(path, tmp_path, 2_000).start(Local(stop_after=1))
    act, more, named = CHANGES[change]
    act(path)
    plan = planned(path, tmp_path, **{"size": 2_000, **more})
    with pytest.raises(OtherRun, match=named):
        plan.start(Local(), resume=True)


def test_a_run_is_gone_on_with_only_where_that_is_asked(made, tmp_path):
    path, _, _ = made("rows.jsonl", lines(samples(9)))
    planned(path, tmp_path).start(Local())
    with pytest.raises(OtherRun, match="add --resume"):
        planned(path, tmp_path).start(Local())


def test_a_folder_of_somebody_elses_is_left_alone(made, tmp_path):
    path, _, _ = made("rows.jsonl", lines(samples(9)))
    place_of(str(tmp_path / "run")).write("thesis.tex", b"")
    with pytest.raises(OtherRun, match=r"thesis\.tex"):
        planned(path, tmp_path).start(Local())


def test_an_input_that_changes_meanwhile_is_refused(made, tmp_path):
    path, _, _ = made("rows.jsonl", lines(samples(50)))
    plan = planned(path, tmp_path, 2_000)
    path.write_bytes(lines(samples(50, seed=2)))
    with pytest.raises(RunIncomplete, match="is another object"):
        plan.start(Local())


def test_a_cancelled_run_begins_no_part(made, tmp_path):
    path, expected, _ = made("rows.jsonl", lines(samples(50)))
    plan = planned(path, tmp_path, 2_000)
    with pytest.raises(RunIncomplete, match="cancelled"):
        plan.start(
            Local(),
            hear=lambda event: event.kind == "done" and Run.opened(plan.place).stop(),
        )
    assert Run.opened(plan.place).state().stopped
    assert joined(plan.start(Local(), resume=True)) == expected


def test_a_part_that_was_changed_is_not_handed_out(made, tmp_path):
    path, _, _ = made("rows.jsonl", lines(samples(50)))
    run = planned(path, tmp_path, 2_000).start(Local())
    run.place.write(run.shards()[1].results, b"{}\n")
    with pytest.raises(RunIncomplete, match="is not what its facts say"):
        joined(run)


def test_too_many_rows_without_a_score_end_a_run(made, tmp_path):
    path, _, _ = made("rows.jsonl", lines(samples(90)))
    plan = planned(path, tmp_path, 2_000, max_unscored=0.05)
    with pytest.raises(RunIncomplete, match="more than 5%"):
        plan.start(Local())
    run = planned(path, tmp_path, 2_000, max_unscored=0.5).start(Local(), resume=True)
    assert run.state().finished
    assert Run.opened(run.place).asked.max_unscored == 0.5, "for who goes on with it later"


REFUSED = {
    "no rows": ("rows.jsonl", b"", {}, "holds no rows"),
    "no such file": (None, b"", {}, "No such file"),
    "a shard of nothing": ("rows.jsonl", lines(samples(3)), {"size": 0}, "more than 0"),
    "no version": ("rows.jsonl", lines(samples(3)), {"function": ARN[:-2]}, "names no version"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_planned_is_said_before_anything_is_written(case, tmp_path):
    name, content, more, message = REFUSED[case]
    path = tmp_path / (name or "rows.jsonl")
    if name:
        path.write_bytes(content)
    with pytest.raises((ConfigurationError, OSError), match=message):
        planned(path, tmp_path, **{"size": 100, **more})
    assert not (tmp_path / "run").exists()


def test_direct_needs_a_version(made, tmp_path):
    path, _, _ = made("rows.jsonl", lines(samples(3)))
    with pytest.raises(ConfigurationError, match="--stage"):
        planned(path, tmp_path).start(Direct())


def test_an_estimate_is_arithmetic(made, tmp_path):
    path, _, done = made("rows.jsonl", lines(samples(1_200)))
    found = planned(path, tmp_path, 50_000, function=ARN).estimate()
    size, work = path.stat().st_size, found.work
    assert work.bytes == size
    assert work.shards == -(-size // 50_000)
    assert work.rows == pytest.approx(done.rows, rel=0.2)
    assert found.calls == max(work.shards, -(-work.rows // 500))


def test_a_run_in_s3_gives_the_same_bytes(local_aws, monkeypatch, tmp_path):
    for name, value in local_aws.environment.items():
        monkeypatch.setenv(name, value)
    bucket = f"runs-{uuid4().hex[:12]}"
    local_aws.client("s3").create_bucket(Bucket=bucket)
    folder, rows = place_of(f"s3://{bucket}/in"), list(samples(90, ids=False))
    for part in range(3):
        folder.write(f"rows-{part:05}.jsonl", lines(rows[part * 30 : part * 30 + 30]))
    folder.write("_SUCCESS", b"")
    folder.write("report.json", b"{}")
    here = place_of(str(tmp_path / "in"))
    for each in folder.objects("rows"):
        here.write(each.name, folder.read(each.name))
    scoring.score_file(SPEC, tmp_path / "in", tmp_path / "expected.jsonl")
    expected = (tmp_path / "expected.jsonl").read_bytes()
    source, out = f"s3://{bucket}/in/", f"s3://{bucket}/out/run"
    plan = Plan.of(source, out, "gsm8k", shard_mb=2_000 / MB)
    with pytest.raises(KeyboardInterrupt):
        plan.start(Local(stop_after=2))
    run = Plan.of(source, out, "gsm8k", shard_mb=2_000 / MB).start(Local(), resume=True)
    assert joined(run) == expected
    one = Plan.of(f"{source}rows-00001.jsonl", f"{out}-one", "gsm8k")
    assert [each.name for each in one.shards] == ["rows-00001.jsonl"]
    with pytest.raises(BadInput, match="no object of rows"):
        Plan.of(f"s3://{bucket}/nothing/", out, "gsm8k")


@pytest.mark.parametrize("engine", ["processes", "direct"])
def test_an_interrupt_keeps_what_shards_have(engine, made, tmp_path, monkeypatch):
    monkeypatch.setattr("reward_functions.scoring.shard.BATCH_ROWS", 5)
    path, expected, _ = made("rows.jsonl", lines(samples(200)))
    begin, more = ENGINES[engine]

    def interrupted(event):
        if event.kind == "done" and event.task == "score":
            raise KeyboardInterrupt

    plan = planned(path, tmp_path, 6_000, **more)
    with pytest.raises(KeyboardInterrupt):
        plan.start(begin(), hear=interrupted)
    run = Run.opened(plan.place)
    assert run.state().done >= 1
    second = Local()
    assert joined(plan.start(second, resume=True)) == expected
    assert not [each for each in run.place.objects() if ".begun." in each.name]


def test_a_shard_that_fails_is_given_again(made, tmp_path, monkeypatch):
    path, expected, _ = made("rows.jsonl", lines(samples(60)))
    failures = iter([AwsFailed("broken off", kind="network")] * 2)
    reading = place_of(str(tmp_path)).__class__.opened

    def opened(self, name, etag=""):
        if etag and (error := next(failures, None)):
            raise error
        return reading(self, name, etag)

    plan = planned(path, tmp_path, 2_000)
    monkeypatch.setattr("reward_functions.scoring.places.Folder.opened", opened)
    heard = []
    assert joined(plan.start(Local(), hear=heard.append)) == expected
    assert [each.kind for each in heard].count("failed") == 2


def test_a_shard_that_fails_for_ever_is_named(made, tmp_path, monkeypatch):
    path, _, _ = made("rows.jsonl", lines(samples(60)))

    def invoke(_event):
        raise AwsFailed("the function is gone", "ResourceNotFoundException")

    plan = planned(path, tmp_path, 2_000, function=ARN)
    engine = Direct(2, scorer=lambda _run: Invoked(SPEC, invoke))
    with pytest.raises(RunIncomplete, match=r"run: the function is gone"):
        plan.start(engine)
