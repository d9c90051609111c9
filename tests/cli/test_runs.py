"""`reward score … --on` and `reward runs`: what is refused, what is printed, what a kill leaves."""

import json
import os
import signal
from pathlib import Path
from time import sleep

import pytest
from typer.testing import CliRunner

from reward_functions import sample
from reward_functions.cli import app
from reward_functions.scoring.engines import ENGINES, engine_of, engine_row
from reward_functions.scoring.folder import Run
from reward_functions.scoring.places import place_of
from reward_functions.testing import wire_row
from tests.commands import Command


def run(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


def write_rows(path, count, **fields):
    rows = (wire_row(sample(f"#### {at % 3}", "1", id=f"r{at}")) | fields for at in range(count))
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "rows.jsonl", 30)
    return tmp_path


HERE = ("score", "gsm8k", "rows.jsonl")
RUN = (*HERE, "--on", "processes", "--concurrency", "1", "-o", "run", "--shard-mb", "0.002")


def test_a_run_from_its_plan_to_its_results(folder):
    planned = run(*RUN, "--plan")
    assert planned.exit_code == 0
    for line in ("shards   3", "rows     about", "at once  1 on processes"):
        assert line in planned.stdout
    assert not Path("run").exists()
    done, alone = run(*RUN), run(*HERE)
    assert done.exit_code == 0, done.output
    assert not done.stdout
    figures = "samples 30 · mean 0.3333"
    assert figures in done.stderr
    assert "reward runs fetch" in done.stderr
    assert run("runs", "fetch", "run").stdout == alone.stdout
    assert run("runs", "fetch", "run", "-o", "out.jsonl").exit_code == 0
    assert Path("out.jsonl").read_text() == alone.stdout
    listed = run("runs", "list")
    assert "finished" in listed.stdout
    assert "3 of 3" in listed.stdout
    assert json.loads(run("runs", "list", "--json").stdout)[0]["state"] == "finished"
    shown = run("runs", "show", "run")
    assert "finished" in shown.stdout
    assert figures in shown.stderr
    assert json.loads(run("runs", "show", "run", "--json").stdout)["figures"]["rows"] == 30
    watched = run("runs", "watch", "run")
    assert (watched.exit_code, figures in watched.stderr) == (0, True)
    again = run(*RUN)
    assert again.exit_code == 2
    assert "holds this run already: add --resume" in again.stderr


def test_what_is_missing_is_shown_and_resumed(folder):
    assert run(*RUN).exit_code == 0
    whole = run("runs", "fetch", "run").stdout
    here = Run.opened(place_of("run"))
    lost = here.shards()[1]
    here.place.delete(lost.facts)
    here.place.delete("summary.json")
    here.place.write(lost.failed, b'{"error": "the function is gone"}')
    shown = run("runs", "show", "run")
    assert "2 of 3" in shown.stdout
    assert "not finished" in shown.stdout
    assert "1 part failed: the function is gone" in shown.stderr
    missing = run("runs", "fetch", "run", "-o", "out.jsonl")
    assert missing.exit_code == 2
    assert "1 of 3 parts are missing; resume the run" in missing.stderr
    assert not Path("out.jsonl").exists()
    assert run("runs", "cancel", "run").stdout == "cancelled: 2 of 3 parts done\n"
    assert "cancelled" in run("runs", "list").stdout
    assert run("runs", "watch", "run").exit_code == 1
    assert run("runs", "resume", "run", "--concurrency", "1").exit_code == 0
    assert run("runs", "fetch", "run").stdout == whole
    assert "failed" not in run("runs", "show", "run").stderr


def test_rows_without_a_score_are_a_status(folder):
    write_rows(folder / "rows.jsonl", 6, reference_answer="no number")
    assert run(*RUN).exit_code == 2
    assert run("runs", "watch", "run").exit_code == 2
    with Path("rows.jsonl").open("a") as rows:
        rows.write(json.dumps(wire_row(sample("#### 1", "1"))) + "\n")
    typed = (*RUN[:-3], "run2", "--max-unscored")
    ended = run(*typed, "0.5")
    assert ended.exit_code == 1
    assert "6 of 7 rows are without a score, more than 50%" in ended.stderr
    assert "to go on: reward runs resume" in ended.stderr
    assert run(*typed, "0.9", "--resume").exit_code == 1


def test_nothing_measured_is_a_status_of_its_own(folder):
    write_rows(folder / "rows.jsonl", 6, reference_answer="no number")
    ended = run(*RUN, "--max-unscored", "0.5")
    assert ended.exit_code == 2
    assert "6 of 6 rows are without a score" in ended.stderr
    assert run("runs", "watch", "run").exit_code == 2
    assert run("runs", "cancel", "run").exit_code == 0
    assert run("runs", "watch", "run").exit_code == 2


def test_a_resumed_run_may_allow_more_rows_without_a_score(folder):
    with Path("rows.jsonl").open("a") as rows:
        rows.write(json.dumps(wire_row(sample("#### 1", "none"))) + "\n")
    assert run(*RUN, "--max-unscored", "0").exit_code == 1
    watched = run("runs", "watch", "run")
    assert watched.exit_code == 1
    assert "1 of 31 rows are without a score, more than 0%" in watched.stderr
    assert "finished" not in run("runs", "list").stdout.replace("not finished", "")
    resumed = run("runs", "resume", "run", "--max-unscored", "0.5")
    assert (resumed.exit_code, "unscored 1" in resumed.stderr) == (1, True), resumed.stderr
    assert "finished" in run("runs", "list").stdout


DIES = """
import os
from pathlib import Path
from reward_functions import Sample, Score, reward_function

@reward_function(version=1)
def dies(sample: Sample) -> Score:
    if sample.id == "r7" and not Path("healthy").exists():
        os._exit(9)
    return Score(1.0)
"""


def test_a_row_that_our_failure_left_is_asked_again_and_said(folder):
    Path("dies.py").write_text(DIES)
    typed = ("score", "./dies.py", *RUN[2:])
    assert run(*typed).exit_code == 1
    Path("healthy").touch()
    for again in (("runs", "resume", "run", "--concurrency", 1), (*typed, "--resume")):
        ran = run(*again)
        assert ran.exit_code == 0, ran.output
    assert "1 rows that" not in ran.stderr
    alone = run("score", "./dies.py", "rows.jsonl")
    assert run("runs", "fetch", "run").stdout == alone.stdout


def test_results_are_fetched_in_the_forms_of_reward_score(folder):
    assert run(*RUN).exit_code == 0
    for form in ("json", "jsonl"):
        alone = run(*HERE, "--format", form)
        assert run("runs", "fetch", "run", "--format", form).stdout == alone.stdout
    run("runs", "fetch", "run", "--format", "json", "-o", "out.json")
    assert len(json.loads(Path("out.json").read_text())) == 30
    refused = run("runs", "fetch", "run", "-o", "run/part-000000.jsonl")
    assert refused.exit_code == 2
    assert "lies in the run's own folder" in refused.stderr


def test_a_line_that_is_no_row_leaves_a_run_that_is_not_usable(folder):
    write_rows(folder / "rows.jsonl", 40)
    with Path("rows.jsonl").open("a") as rows:
        rows.write("\n" * 40 + "7\n")
    ran = run(*RUN)
    assert ran.exit_code == 2
    assert "rows.jsonl, line 81" in ran.stderr
    for command in ("show", "watch", "fetch", "resume"):
        refused = run("runs", command, "run")
        assert refused.exit_code == 2, command
        assert "rows.jsonl, line 81" in refused.stderr
    assert "unusable" in run("runs", "list").stdout


REFUSED = {
    "s3 without an engine": (
        ("score", "gsm8k", "s3://bucket/in/"),
        "s3://bucket/in/ is in S3: add --on direct or aws",
    ),
    "a run in s3 without an engine": ((*HERE, "-o", "s3://bucket/out"), "s3://bucket/out is in S3"),
    "no folder": ((*HERE, "--on", "processes"), "add -o, s3://… or a path"),
    "standard output": ((*HERE, "--on", "processes", "-o", "-"), "add -o, s3://… or a path"),
    "no such engine": ((*HERE, "--on", "proceses"), "Did you mean 'processes'?"),
    "an address too many": ((*RUN, "--on", "direct=here"), "the engine direct has no address"),
    "a stage of processes": ((*RUN, "--stage", "dev"), "--stage is nothing that processes has"),
    "processes that detach": ((*RUN, "--detach"), "--detach is nothing that processes has"),
    "a page": ((*RUN, "--report", "page.html"), "--report is of a run without --on"),
    "a form": ((*RUN, "--format", "json"), "--format is of `reward runs fetch`"),
    "no shards": ((*RUN[:-1], "inf"), "a shard of inf MB: more than 0"),
    "a row alone": ((*RUN, "--limit", "1"), "--limit is of a run without --on"),
    "a plan of this process": ((*HERE, "--plan"), "--plan is of a run on an engine"),
    "no dollars": ((*HERE, "--max-usd", "0"), "--max-usd is of a run on an engine"),
    "a cut": ((*HERE, "--max-unscored", "0"), "--max-unscored is of a run on an engine"),
    "no run": (("runs", "show", "."), "holds no run: there is no run.json"),
    "nothing in it": (("runs", "fetch", "nowhere"), "holds no run"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_one_sentence(case, folder):
    typed, said = REFUSED[case]
    ran = run(*typed)
    assert ran.exit_code == 2
    (line,) = ran.stderr.splitlines()
    assert line.startswith("error: ")
    assert said in line
    assert not Path("run").exists()


@pytest.mark.parametrize("name", ["ray", "dask"])
def test_an_engine_whose_package_is_missing_says_what_to_install(name, folder, monkeypatch):
    monkeypatch.setattr("reward_functions.core.extras.find_spec", lambda _: None)
    ran = run(*RUN, "--on", name)
    assert ran.exit_code == 2
    assert f"pip install 'reward-functions[{name}]'" in ran.stderr


def test_an_engine_has_its_address():
    assert engine_row("ray://host:10001") == ("ray", ENGINES["ray"], "ray://host:10001")
    assert engine_row("dask=tcp://host:8786") == ("dask", ENGINES["dask"], "tcp://host:8786")
    assert engine_of("processes", concurrency=3, stage="dev").concurrency == 3


SLOW = """
import time
from reward_functions import Sample, Score, reward_function

@reward_function(version=1)
def slow(sample: Sample) -> Score:
    time.sleep(0.004)
    return Score(float(len(sample.response) % 2))
"""


def test_a_client_that_is_killed_loses_no_part_and_no_byte(folder):
    Path("slow.py").write_text(SLOW)
    write_rows(folder / "rows.jsonl", 60)
    typed = ("score", "./slow.py", "rows.jsonl", "--on", "processes", "--concurrency", "1")
    with Command([*typed, "--shard-mb", "0.002", "-o", "run"]) as killed:
        while not list(Path("run").glob("part-*.facts.json")):
            sleep(0.01)
        os.kill(killed.pid, signal.SIGKILL)
    done = {each: each.stat().st_mtime_ns for each in Path("run").glob("part-*.facts.json")}
    assert 1 <= len(done) < len(Run.opened(place_of("run")).shards())
    assert run("runs", "resume", "run", "--concurrency", "1").exit_code == 0
    assert {each: each.stat().st_mtime_ns for each in done} == done
    alone = run("score", "./slow.py", "rows.jsonl")
    assert run("runs", "fetch", "run").stdout == alone.stdout
