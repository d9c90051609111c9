"""`reward score --report` and `--label`: a page beside the results, or nothing at all."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from html import unescape

import pytest
from typer.testing import CliRunner

from reward_functions import sample
from reward_functions.cli import app
from reward_functions.testing import wire_row


def rows(*responses, **fields):
    return "".join(
        json.dumps(wire_row(sample(text, "7", prompt=f"p{at // 2}", id=str(at))) | fields) + "\n"
        for at, text in enumerate(responses)
    )


@pytest.fixture
def score(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REWARD_JUDGE", raising=False)

    def run(text, *arguments, reward="gsm8k"):
        (tmp_path / "rows.jsonl").write_text(text)
        return CliRunner().invoke(app, ["score", reward, "rows.jsonl", *arguments])

    return run


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def words(page):
    """The text of a page."""
    body = page.partition("<body>")[2]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def test_a_page_appears_beside_the_results(score, tmp_path):
    text = rows("#### 7", "no", "#### 6", "no")
    ran = score(text, "--report", "page.html", "-o", "out.jsonl", "-p", "flexible=true")
    assert ran.exit_code == 0
    assert ran.stdout == ""
    assert ran.stderr.splitlines()[-1] == "the page is page.html"
    shown = words((tmp_path / "page.html").read_text())
    assert "Rewards of gsm8k Worst finding. 3 of 4 scored rows earn the minimum" in shown
    assert "4 of 4 rows scored; mean 0.25" in shown
    assert "file rows.jsonl" in shown
    assert sha256(text.encode()).hexdigest() in shown
    assert "flexible=true" in shown
    assert re.search(r"made 20\d\d-\d\d-\d\d \d\d:\d\d UTC", shown)
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 4
    assert names(tmp_path) == ["out.jsonl", "page.html", "rows.jsonl"]


def test_without_a_page_the_results_are_the_same(score):
    text = rows("#### 7", "no")
    assert score(text).stdout == score(text, "--report", "page.html").stdout != ""


def test_a_page_of_rows_without_a_score_is_written_and_is_no_pass(score, tmp_path):
    ran = score(rows("#### 7", "no", reference_answer=None) + '{"id": "x"}\n', "--report", "a.html")
    assert ran.exit_code == 2
    shown = words((tmp_path / "a.html").read_text())
    assert "No row could be scored" in shown
    assert "BadReference 2 the data set there is no reference" in shown
    assert "BadSample 1 the data set messages is missing" in shown


def test_a_page_of_nothing(score, tmp_path):
    assert score("", "--report", "page.html").exit_code == 2
    assert not (tmp_path / "page.html").exists()
    ran = score("", "--report", "page.html", "--allow-empty")
    assert ran.exit_code == 0
    assert "The file holds no samples" in words((tmp_path / "page.html").read_text())


def test_standard_input_has_no_checksum(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["score", "gsm8k", "-", "--report", "page.html"]
    assert CliRunner().invoke(app, arguments, input=rows("#### 7")).exit_code == 0
    shown = words((tmp_path / "page.html").read_text())
    assert "file standard input" in shown
    assert "SHA-256" not in shown


REFUSED = {
    "another ending": (["--report", "page.pdf"], "a page is called NAME.html, not 'page.pdf'"),
    "no name": (["--report", ""], "a page is called NAME.html, not ''"),
    "the samples": (["--report", "link.html"], "link.html holds the samples; write"),
    "the results": (["--report", "o.html", "-o", "./o.html"], "o.html is to hold the results and"),
    "no folder": (["--report", "no/page.html"], "no/page.html: the folder no does not exist"),
    "a folder": (["--report", "folder.html"], "folder.html: Is a directory"),
    "no label": (["--label", "corect"], "no row has a label 'corect'. Did you mean 'correct'?"),
    "labels of another kind": (["--label", "note"], "values of 'note' are not labels, such as 'a'"),
}


@pytest.mark.parametrize(("arguments", "complaint"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_used_is_one_line_and_nothing_is_written(
    arguments, complaint, score, tmp_path
):
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "link.html").symlink_to("rows.jsonl")
    given = arguments if "-o" in arguments else [*arguments, "-o", "out.jsonl"]
    ran = score(rows("#### 7", correct=True, note="a"), *given)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert complaint in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert names(tmp_path) == ["folder.html", "link.html", "rows.jsonl"]
    assert (tmp_path / "rows.jsonl").read_text() == rows("#### 7", correct=True, note="a")


def test_results_and_page_appear_together_or_not_at_all(score, tmp_path, monkeypatch):
    def full(*_args, **_options):
        raise OSError(28, "No space left on device")

    (tmp_path / "page.html").write_text("before")
    monkeypatch.setattr("reward_functions.scoring.file._page", full)
    ran = score(rows("#### 7"), "--report", "page.html", "-o", "out.jsonl")
    assert ran.exit_code == 2
    assert ran.stderr == "error: page.html: No space left on device\n"
    assert names(tmp_path) == ["page.html", "rows.jsonl"]
    assert (tmp_path / "page.html").read_text() == "before"


def test_labels_alone_are_answered_in_the_terminal(score):
    text = "".join(
        json.dumps(wire_row(sample(text, "7", id=str(at), review={"ok": label}))) + "\n"
        for at, (text, label) in enumerate(
            [("#### 7", 1), ("#### 7", 1), ("no", 1), ("no", 0), ("#### 7", 0)]
        )
    )
    ran = score(text, "--label", "review.ok", "-o", "out.jsonl")
    assert ran.exit_code == 0
    shown = [line.split() for line in ran.stderr.splitlines()]
    assert ["correct", "2", "1", "0"] in shown
    assert ["incorrect", "1", "1", "0"] in shown
    assert ["precision", "66.7%", "20.8%", "to", "93.9%", "2", "of", "3"] in shown
    assert ["accuracy", "60.0%", "23.1%", "to", "88.2%", "3", "of", "5"] in shown
    assert "A reward above 0.5 counts as correct." in ran.stderr


def test_a_hostile_reason_cannot_repaint_the_terminal(score, tmp_path):
    (tmp_path / "loud.py").write_text(
        "from reward_functions import Score, reward_function\n"
        "@reward_function(version=1)\n"
        "def loud(sample):\n"
        '    return Score(0.0, reason="\\x1b[2J[bold]" + sample.response)\n'
    )
    ran = score(rows("\x1b]0;x\x07\u202e"), "--report", "page.html", reward="./loud.py")
    assert ran.exit_code == 0
    assert not set(ran.stderr) & {"\x1b", "\x07", "\u202e"}
    assert not set((tmp_path / "page.html").read_text()) & {"\x1b", "\x07", "\u202e"}


def test_what_a_judge_cost_is_on_the_page(score, tmp_path):
    answers = tmp_path / "answers.jsonl"
    answers.write_text("")
    settings = {"models": [{"model": "m", "backend": "replay", "answers": str(answers)}]}
    arguments = ("--judge", json.dumps(settings), "--report", "page.html")
    assert score(rows("7", "eight"), *arguments, reward="reference").exit_code == 2
    shown = words((tmp_path / "page.html").read_text())
    assert "judge m (replay)" in shown
    assert "judge cost 0.0000 dollars" in shown
    assert str(answers) not in shown
