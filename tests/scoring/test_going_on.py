"""A run that is gone on with: which rows are asked again, and what is refused before it begins."""

import json
from dataclasses import replace

import pytest

from reward_functions import scoring
from reward_functions.aws.failures import AwsFailed
from reward_functions.core.errors import ConfigurationError
from reward_functions.scoring import invoked
from reward_functions.scoring.engines.aws import Aws
from reward_functions.scoring.engines.direct import Direct
from reward_functions.scoring.engines.processes import Processes
from reward_functions.scoring.folder import OtherRun, Run, RunIncomplete
from reward_functions.scoring.going import go_on, require_affordable
from reward_functions.scoring.invoked import WAITS, Invoked
from reward_functions.scoring.places import place_of
from reward_functions.scoring.prices import bill_of
from reward_functions.scoring.scorers import scorer_of
from reward_functions.scoring.shards import Shard
from tests.lambda_api import Function, lambda_api, refusal, scored
from tests.scoring.test_runs import ARN, Local, joined, lines, made, planned, samples  # noqa: F401
from tests.scoring.test_scorers import SPEC, Version


def direct(version, **more):
    return Direct(2, scorer=lambda _run: Invoked(SPEC, version, **more))


def test_rows_that_our_failure_left_without_a_score_are_asked_again_and_no_others(made, tmp_path):  # noqa: F811
    path, expected, done = made("rows.jsonl", lines(samples(60)))
    killed = ["row 17", "row 18", "row 41"]
    plan = planned(path, tmp_path, 3_000, function=ARN)
    run = plan.start(direct(Version(kills=killed)))
    assert run.facts().unscored == done.unscored + 3
    heard, version = [], Version()
    run = plan.start(direct(version), resume=True, hear=heard.append)
    assert sorted(name for batch in version.asked for name in batch) == killed
    assert [each.rows for each in heard if each.kind == "again"] == [3]
    assert joined(run) == expected
    found = run.facts()
    assert (len(found), found.unscored) == (done.rows, done.unscored)
    assert found.figures() == done.summary.figures()
    assert found.repeated_ids() == done.summary.repeated_ids()
    assert found.errors() == done.summary.errors()
    assert found.reasons() == done.summary.reasons()
    assert found.groups() == done.summary.groups()
    assert found.without_response == done.summary.without_response
    go_on(run, direct(version))
    assert len(version.asked) == len({*map(tuple, version.asked)}) <= 3, "nothing is asked twice"


def test_rows_that_fail_again_are_asked_again_by_the_next_who_goes_on(made, tmp_path):  # noqa: F811
    path, expected, _ = made("rows.jsonl", lines(samples(60)))
    plan = planned(path, tmp_path, 3_000, function=ARN)
    run = plan.start(direct(Version(kills=["row 17", "row 31"])))
    heard = []
    for left in (["row 31"], []):
        run = go_on(run, direct(Version(kills=left)), heard.append)
    assert [each.rows for each in heard if each.kind == "again"] == [2, 1]
    assert joined(run) == expected


def test_what_is_asked_again_and_short_of_time_goes_on_where_it_was(made, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr("reward_functions.scoring.shard.BATCH_ROWS", 1)
    path, expected, done = made("rows.jsonl", lines(samples(45)))
    plan = planned(path, tmp_path, function=ARN)
    run = plan.start(direct(Version(kills=["row 3", "row 7", "row 9"])))
    looks = iter([60.0, 0.0] * 20)
    run = go_on(run, Local(left=lambda: next(looks)))
    assert joined(run) == expected
    assert run.facts().figures() == done.summary.figures()
    assert [each.name for each in run.place.objects("part-000000.b")] == []


def test_rows_of_a_part_that_is_begun_are_asked_again_too(made, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr("reward_functions.scoring.shard.BATCH_ROWS", 5)
    path, expected, _ = made("rows.jsonl", lines(samples(45)))
    plan = planned(path, tmp_path, function=ARN)
    looks = iter([60.0, 60.0, 0.0])
    scorer = Invoked(SPEC, Version(kills=["row 3"]))
    run = Run.begun(plan.place, plan.asked, plan.shards)
    from reward_functions.scoring.shard import work

    short = work(run, "score", run.shards()[0], scorer, left=lambda: next(looks))
    assert short.next_row == 10
    version = Version()
    assert joined(go_on(run, direct(version))) == expected
    asked = [name for batch in version.asked for name in batch]
    assert asked[0] == "row 3"
    assert not {"row 1", "row 2", "row 4"} & set(asked)


def test_too_many_rows_without_a_score_leave_no_summary_however_they_were_scored(made, tmp_path):  # noqa: F811
    path, _, _ = made("rows.jsonl", lines(samples(90)))
    plan = planned(path, tmp_path, 2_000)
    run = plan.start(Local())
    run.place.delete("summary.json")
    strict = run.allowing(0.05)
    with pytest.raises(RunIncomplete, match="more than 5%"):
        go_on(strict, Local())
    assert Run.opened(plan.place).asked.max_unscored == 0.05
    assert go_on(strict.allowing(0.5), Local()).state().finished


def test_a_throttled_call_is_made_as_often_as_we_say_and_no_more(made, tmp_path, monkeypatch):  # noqa: F811
    path, _, _ = made("rows.jsonl", lines(samples(3)))
    monkeypatch.setattr(invoked, "WAITS", WAITS[:2])
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    plan = planned(path, tmp_path, function=ARN)
    run = Run.begun(plan.place, plan.asked, plan.shards)
    function = Function([refusal(429, "TooManyRequestsException", "slow down")] * 2 + [scored])
    waits = []
    with lambda_api({ARN: function}) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", address)
        scorer = scorer_of(run)
        scorer._sleep = waits.append
        from reward_functions.scoring.rows import rows_of

        assert len(scorer(list(rows_of(str(path))))) == 3
    assert (len(function.asked), waits) == (3, [1.0, 2.0])


LASTS = [
    # what a call fails with, and whether the run ends at once
    ("ResourceNotFoundException", None, True),
    ("AccessDeniedException", None, True),
    ("ExpiredTokenException", None, True),
    ("UnrecognizedClientException", None, True),
    ("", "clock", True),
    ("InternalServerException", None, False),
    ("KMSThrottled", None, False),
    ("", "network", False),
]


@pytest.mark.parametrize(("code", "kind", "lasts"), LASTS)
def test_what_waiting_does_not_mend_ends_a_run_at_once(code, kind, lasts, made, tmp_path):  # noqa: F811
    path, _, _ = made("rows.jsonl", lines(samples(60)))
    calls = []

    def invoke(event):
        calls.append(event)
        raise AwsFailed("it failed", code, kind)

    plan = planned(path, tmp_path, 2_000, function=ARN)
    engine = Direct(1, scorer=lambda _run: Invoked(SPEC, invoke, sleep=lambda _: None))
    with pytest.raises(RunIncomplete, match="it failed"):
        plan.start(engine)
    assert (len(calls) == 1) == lasts
    assert (Run.opened(plan.place).state().word == "stopped") == lasts


PRICED = [
    # of a version, by the machine, dollars of the judge: dollars, and whether all is priced
    ("", False, 0.0, 0.0, True),
    ("", False, 7.0, 7.0, True),
    ("", False, None, 0.0, False),
    (ARN, False, 0.0, pytest.approx(5.2e-5, rel=0.1), True),
    (ARN, True, 0.0, pytest.approx(3.5e-4, rel=0.5), True),
    (ARN, True, 7.0, pytest.approx(7.0003, rel=1e-4), True),
    (ARN, True, None, pytest.approx(3.5e-4, rel=0.5), False),
]


@pytest.mark.parametrize(("function", "machine", "usd", "dollars", "all_priced"), PRICED)
def test_the_bill_of_a_run_has_the_judge_and_what_aws_takes(
    function,
    machine,
    usd,
    dollars,
    all_priced,
    made,  # noqa: F811
    tmp_path,
):
    path, _, _ = made("rows.jsonl", lines(samples(30)))
    plan = planned(path, tmp_path, 2_000)
    asked = replace(plan.asked, about=1_000, function=function, usd=usd)
    found = bill_of(asked, plan.shards, 1_000, machine=machine)
    assert found.dollars == dollars
    assert ("--judge" not in found.unpriced) == all_priced
    run = Run(plan.place, asked)
    engine = Aws.__new__(Aws) if machine else Direct(1)
    if all_priced:
        require_affordable(run, plan.shards, found.dollars + 1e-9, engine)
        with pytest.raises(ConfigurationError, match="nothing is begun"):
            require_affordable(run, plan.shards, found.dollars - 1e-9, engine)
    else:
        with pytest.raises(ConfigurationError, match="name its settings with --judge"):
            require_affordable(run, plan.shards, 1e9, engine)


def test_a_folder_within_the_source_is_refused(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "rows.jsonl").write_bytes(lines(samples(9)))
    with pytest.raises(ConfigurationError, match="where its parts would be rows"):
        scoring.Plan.of(str(tmp_path / "in"), str(tmp_path / "in" / "run"), "gsm8k")
    plan = scoring.Plan.of(str(tmp_path / "in"), str(tmp_path / "in-run"), "gsm8k")
    assert plan.start(Local()).state().finished


@pytest.mark.parametrize("beside", [None, "other.jsonl"])
def test_a_file_of_rows_is_no_manifest_of_a_run(beside, made, tmp_path):  # noqa: F811
    path, _, _ = made("rows.jsonl", lines(samples(9)))
    folder = place_of(str(tmp_path / "run"))
    folder.write("manifest.jsonl", path.read_bytes())
    if beside:
        folder.write(beside, b"")
    with pytest.raises(OtherRun, match=r"run holds .*, and no run"):
        planned(path, tmp_path).start(Local())
    assert folder.read("manifest.jsonl") == path.read_bytes()


@pytest.mark.parametrize("size", [float("inf"), float("nan"), -1.0, 0.0])
def test_a_size_of_shards_that_is_none_is_refused(size, made, tmp_path):  # noqa: F811
    path, _, _ = made("rows.jsonl", lines(samples(9)))
    with pytest.raises(ConfigurationError, match="more than 0"):
        scoring.Plan.of(str(path), str(tmp_path / "run"), "gsm8k", shard_mb=size)


@pytest.mark.parametrize("engine", [Processes(10**9), Direct(10**9, lambda _: Local())])
def test_any_number_at_once_is_as_many_as_there_are_shards(engine, made, tmp_path):  # noqa: F811
    path, expected, _ = made("rows.jsonl", lines(samples(9)))
    more = {"function": ARN} if engine.name == "direct" else {}
    if more:
        engine._scorer = lambda _run: Invoked(SPEC, Version())
    assert joined(planned(path, tmp_path, **more).start(engine)) == expected


SHARD = {"part": 0, "kind": "lines", "name": "a", "size": 1, "etag": "e", "start": 0, "end": 1}

NONE = [
    {"part": "x/../../OUTSIDE"},
    {"part": -1},
    {"name": "../a"},
    {"name": "a/../../b"},
    {"name": "/etc/passwd"},
    {"etag": ""},
    {"more": 1},
]


@pytest.mark.parametrize("changed", NONE, ids=json.dumps)
def test_a_line_of_a_manifest_that_leads_elsewhere_is_none(changed):
    assert Shard.of(SHARD).name == "a"
    with pytest.raises(ValueError, match=r"is no object of a source|has other fields"):
        Shard.of(SHARD | changed)


def _cut(run, name):
    run.place.write(name, run.place.read(name)[:100])


def _begun_and_cut(run):
    shard = run.shards()[1]
    run.place.delete(shard.facts)
    run.place.write(shard.begun, b'{"facts": {"rew')


BROKEN = {
    "facts that are cut off": lambda run: _cut(run, run.shards()[1].facts),
    "facts of nothing": lambda run: run.place.write(run.shards()[1].facts, b'{"facts": {}}'),
    "facts that are a list": lambda run: run.place.write(run.shards()[1].facts, b"[]"),
    "results that are cut off": lambda run: _cut(run, run.shards()[1].results),
    "a begun part that is cut off": _begun_and_cut,
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_was_cut_off_is_a_sentence_and_is_done_once_more(what, made, tmp_path):  # noqa: F811
    path, expected, _ = made("rows.jsonl", lines(samples(60)))
    run = planned(path, tmp_path, 2_000).start(Local())
    BROKEN[what](run)
    with pytest.raises(ConfigurationError):
        joined(run)
    again = Local()
    assert joined(go_on(run, again)) == expected
    assert again.did == [1]


MANIFESTS = {
    "a line is missing": lambda text: text[text.index(b"\n") + 1 :],
    "a line is there twice": lambda text: text[: text.index(b"\n") + 1] + text,
    "it is empty": lambda _: b"",
    "a range is another": lambda text: text.replace(b'"start": 0', b'"start": 1'),
    "it is no text": lambda _: b"\xff",
    "numbers are words": lambda text: text.replace(b'"start": 0', b'"start": "a"'),
}


@pytest.mark.parametrize("change", MANIFESTS)
def test_a_manifest_that_is_another_is_never_joined(change, made, tmp_path):  # noqa: F811
    path, _, _ = made("rows.jsonl", lines(samples(60)))
    run = planned(path, tmp_path, 2_000).start(Local())
    run.place.write("manifest.jsonl", MANIFESTS[change](run.place.read("manifest.jsonl")))
    for act in (lambda: joined(run), lambda: go_on(run, Local()), run.facts):
        with pytest.raises(ConfigurationError, match="is not the one that the run began with"):
            act()


def test_of_two_runs_that_begin_in_a_folder_at_once_one_is_refused(made, tmp_path, monkeypatch):  # noqa: F811
    path, expected, _ = made("rows.jsonl", lines(samples(30)))
    one = planned(path, tmp_path)
    other = scoring.Plan.of(str(path), str(tmp_path / "run"), "exact_match")
    names = Run.names

    def late(run):
        found = names(run)
        monkeypatch.setattr(Run, "names", names)
        Run.begun(one.place, one.asked, one.shards)
        return found

    monkeypatch.setattr(Run, "names", late)
    with pytest.raises(OtherRun, match="holds another run"):
        other.start(Local())
    assert joined(one.start(Local(), resume=True)) == expected


def test_a_run_that_has_no_manifest_yet_gets_one(made, tmp_path):  # noqa: F811
    path, expected, _ = made("rows.jsonl", lines(samples(30)))
    plan = planned(path, tmp_path)
    Run.begun(plan.place, plan.asked, plan.shards).place.delete("manifest.jsonl")
    assert joined(plan.start(Local(), resume=True)) == expected


def test_a_pipe_is_a_sentence(tmp_path):
    with pytest.raises(ConfigurationError, match="reads rows more than once"):
        scoring.Plan.of("-", str(tmp_path / "run"), "gsm8k")


NAMED = [
    # where the run stands, what it is of, and whether anybody may go on with it
    ("s3://bucket/run", {"source": "/home/you"}, False),
    ("s3://bucket/run", {"source": "s3://bucket/in", "reward": "run/own.py"}, False),
    ("s3://bucket/run", {"source": "s3://bucket/in", "judge": {"models": []}}, False),
    ("s3://bucket/run", {"source": "s3://bucket/in"}, True),
    ("s3://bucket/run", {"source": "s3://bucket/in", "reward": "own.py", "function": ARN}, True),
    ("run", {"source": "/home/you", "reward": "own.py"}, True),
]


@pytest.mark.parametrize(("address", "changed", "may"), NAMED)
def test_a_run_in_s3_does_nothing_with_what_is_on_a_machine(address, changed, may, made, tmp_path):  # noqa: F811
    path, _, _ = made("rows.jsonl", lines(samples(3)))
    run = Run(place_of(address), replace(planned(path, tmp_path).asked, **changed))
    if may:
        run.require_portable()
    else:
        with pytest.raises(ConfigurationError, match="the command that began it"):
            run.require_portable()
