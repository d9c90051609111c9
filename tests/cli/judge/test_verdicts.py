"""`reward score` with a judge: what was paid for is kept, and what is not known is not a number."""

import json
import re
import signal
from threading import Event
from time import sleep

import pytest

from tests import commands
from tests.commands import PIPE, Command
from tests.judge_runtime.conftest import serve
from tests.waiting import PATIENCE, until

__all__ = ["serve"]

PROMPT = "Which city is the capital of Australia?"


def row(number):
    said = f"It is the city of Canberra, number {number}."
    messages = [{"role": "user", "content": PROMPT}, {"role": "assistant", "content": said}]
    return {"id": f"s-{number}", "messages": messages, "reference_answer": "Canberra"}


@pytest.fixture
def rows(write):
    return write("rows.jsonl", [row(number) for number in range(5)])


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "kept.sqlite3"


def test_a_finished_file_is_scored_again_without_a_call(reward, serve, settings, rows, kept):
    server = serve()
    command = ("score", "reference", rows, "--judge", settings(server), "--explain")
    first = reward(*command, "--verdicts", kept)
    again = reward(*command, "--verdicts", kept)
    assert len(server.requests) == 5
    assert again.stdout == first.stdout
    assert "judge calls 0 · answers 0 · verdicts kept earlier 5" in again.stderr
    assert "because" in first.stdout  # the judge's own reason
    assert reward(*command, "--no-verdicts").exit_code == 0
    assert len(server.requests) == 10


def test_verdicts_are_kept_in_the_users_state_folder(
    reward, serve, settings, rows, tmp_path, monkeypatch
):
    monkeypatch.delenv("RFT_VERDICTS")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    reward("score", "reference", rows, "--judge", settings(serve()))
    shown = reward("judge", "verdicts").stdout
    assert re.search(r"verdicts +5", shown)
    assert (tmp_path / "state/reward-functions/verdicts.sqlite3").is_file()
    assert re.search(r"removed +0", reward("judge", "verdicts", "--clear", "--older", 1).stdout)
    assert re.search(r"removed +5", reward("judge", "verdicts", "--clear").stdout)
    assert re.search(r"verdicts +0", reward("judge", "verdicts").stdout)


def test_a_verifier_makes_no_file(reward, rows, kept):
    reward("score", "exact_match", rows, "--verdicts", kept)
    assert not kept.exists()


def test_a_state_folder_that_cannot_be_written_costs_nothing(
    reward, serve, settings, rows, tmp_path, monkeypatch
):
    monkeypatch.delenv("RFT_VERDICTS")
    (tmp_path / "state").write_text("a file")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    ran = reward("score", "reference", rows, "--judge", settings(serve()))
    assert ran.exit_code == 0
    assert "this run keeps no verdicts" in ran.stderr


UNUSABLE = [
    (("--verdicts", "rows.jsonl"), "rows.jsonl is not a store of verdicts"),
    (("--verdicts", "."), "verdicts cannot be kept in ."),
    (("--verdicts", "x.sqlite3", "--no-verdicts"), "leave --verdicts out"),
]


@pytest.mark.parametrize(("options", "said"), UNUSABLE, ids=[said for _, said in UNUSABLE])
def test_what_is_no_store_is_one_sentence(
    reward, serve, settings, rows, monkeypatch, options, said
):
    monkeypatch.chdir(rows.parent)
    before = rows.read_text()
    server = serve()
    ran = reward("score", "reference", rows, "--judge", settings(server), *options)
    assert ran.exit_code == 2
    assert said in ran.stderr
    assert not server.requests
    assert rows.read_text() == before


def test_ctrl_c_says_what_is_kept_and_the_same_command_goes_on(serve, settings, write, tmp_path):
    reached, going_on = Event(), Event()

    def verdict(talk):
        if len(server.requests) >= 20:
            reached.set()
            going_on.wait(30)
        return {"same": "yes"}

    server = serve(verdict=verdict)
    rows = write("many.jsonl", [row(number) for number in range(60)])
    judge = json.loads(settings(server)) | {"concurrency": 4, "max_concurrency": 4}
    out = tmp_path / "out.jsonl"
    command = [
        *("score", "reference", str(rows), "--judge", json.dumps(judge), "-o", str(out)),
    ]
    with Command(command, stderr=PIPE) as running:
        assert reached.wait(60)
        running.send_signal(signal.SIGINT)
        going_on.set()
        said = running.communicate(timeout=60)[1]
    assert running.returncode == 130
    kept = int(
        re.search(r"kept in \S+/out.jsonl.partial, (\d+) verdicts are kept; to go on: ", said)[1]
    )
    assert kept == len(server.requests)
    assert not out.exists()
    (tmp_path / "out.jsonl.partial").unlink()  # the verdicts alone are enough to go on
    done = commands.run(command, stderr=PIPE)
    assert done.returncode == 0
    assert f"verdicts kept earlier {kept}" in done.stderr
    assert len(server.requests) == 60
    assert len(out.read_text().splitlines()) == 60


HUNG = {
    "rows": ("reference", r"0 of 60 scored, and nothing is kept; 4 calls were left without"),
    "a group": ("group", r"0 of 60 scored, and nothing is kept; \d+ calls? w\w+ left without"),
}


@pytest.mark.parametrize(("judge", "said"), HUNG.values(), ids=HUNG)
def test_a_judge_that_never_answers_does_not_hold_ctrl_c_back(
    serve, settings, write, tmp_path, judge, said
):
    going_on = Event()

    def verdict(talk):
        going_on.wait(60)
        return {}

    server = serve(verdict=verdict)
    rows = write("many.jsonl", [row(number) for number in range(60)])
    config = json.loads(settings(server)) | {"concurrency": 4, "max_concurrency": 4}
    command = [
        *(
            "score",
            judge,
            str(rows),
            "--judge",
            json.dumps(config),
            "-o",
            str(tmp_path / "out.jsonl"),
        ),
    ]
    with Command(command, stderr=PIPE) as running:
        until(lambda: server.requests)
        sleep(0.5)
        running.send_signal(signal.SIGINT)
        try:
            printed = running.communicate(timeout=PATIENCE)[1]
        finally:
            running.kill()
            going_on.set()
    assert running.returncode == 130
    assert re.search(said, printed)
    assert not (tmp_path / "out.jsonl").exists()


PRICES = [
    ({}, "dollars unknown"),
    ({"prices": {"some-judge": [0, 0]}}, "dollars 0.0000"),
    ({"prices": {"some-judge": [1000, 1000]}}, "dollars 0.6000"),
]


@pytest.mark.parametrize(("priced", "said"), PRICES, ids=[said for _, said in PRICES])
def test_an_unknown_price_is_not_nothing(reward, serve, settings, rows, priced, said):
    judge = json.dumps(json.loads(settings(serve())) | priced)
    assert said in reward("score", "reference", rows, "--judge", judge).stderr


def test_a_price_that_is_known_in_part_is_at_least(reward, serve, settings, rows):
    judge = json.loads(settings(serve()))
    judge["models"].append(judge["models"][0] | {"model": "another"})
    judge["prices"] = {"another": [1000, 1000]}
    ran = reward("score", "reference", rows, "--judge", json.dumps(judge))
    assert "dollars at least 0.6000" in ran.stderr


def test_a_spent_budget_has_a_name_of_its_own(reward, serve, settings, rows):
    judge = json.loads(settings(serve())) | {"prices": {"some-judge": [1, 1]}, "max_usd": 0.0001}
    ran = reward("score", "reference", rows, "--judge", json.dumps(judge))
    assert ran.exit_code == 2
    error = json.loads(ran.stdout.splitlines()[0])["error"]
    assert error["type"] == "BudgetReached"
    assert "max_usd is reached: 0.0001 dollars" in error["message"]


def test_a_dead_judge_is_said_once(reward, serve, settings, write):
    server = serve(schedule=lambda call, text: "401")
    rows = write("many.jsonl", [row(number) for number in range(200)])
    ran = reward("score", "reference", rows, "--judge", settings(server))
    assert ran.exit_code == 2
    assert len(server.requests) < 50  # ten, and what was on its way
    (line,) = [line for line in ran.stderr.splitlines() if "not asked any more" in line]
    assert "after 10 refusals in a row: some-judge at 127.0.0.1" in line
    assert "401" in line


def test_an_explanation_shows_the_judges_reason_and_no_python(reward, serve, settings):
    said = ("--response", "It is the city of Canberra.", "--reference", "Canberra")
    ran = reward("explain", "reference", *said, "--judge", settings(serve()))
    assert "same: yes: because" in ran.stdout
    assert "{'" not in ran.stdout
    assert "checksum" not in ran.stdout


def test_the_json_of_a_judge_is_a_structure(reward, serve, settings, rows):
    ran = reward("score", "reference", rows, "--judge", settings(serve()), "--explain")
    found = json.loads(ran.stdout.splitlines()[0])["explanation"]["normal_answer"]
    first = {"criterion": "same", "decision": "yes", "reason": "because", "quotation": None}
    assert found[0] == first
    assert [each["criterion"] for each in found[1:]] == ["addressed_to_judge", "confidence"]
