"""The scoreboard reads files of several shapes, counts verdicts, and shows what a run wrote."""

import gzip
import json
import sys
from dataclasses import asdict

import pytest

from tests.scoreboard import __main__ as command
from tests.scoreboard import board, page, rivals, sets

ROWS = [
    {"gold": "5", "pred": "5", "label": True},
    {"gold": "5", "pred": "6", "label": False},
    {"gold": "5", "pred": "5", "label": False},
    {"gold": "5", "pred": "6", "label": True},
    {"gold": "", "pred": "6", "label": True},
]


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    return path


def test_every_verdict_is_counted_once_and_every_loss_is_listed(rows):
    ((line, losses),) = board.scored(rows, "math", "2026-11-22")
    assert line.ours == board.Count(right=2, wrong_paid=1, right_refused=1, unscored=1)
    assert (line.rows, line.labelled_right) == (5, 3)
    assert [loss["kind"] for loss in losses] == ["wrong_paid", "right_refused", "unscored"]
    assert all(loss["reason"] for loss in losses)


def test_messages_and_zipped_files_are_read(tmp_path):
    said = [{"role": "user", "content": "6 × 7?"}, {"role": "assistant", "content": "#### 42"}]
    row = {"messages": said, "reference_answer": "42", "metadata": {"is_correct": True}}
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(row).encode()))
    ((line, losses),) = board.scored(path, "gsm8k", "2026-11-22")
    assert line.ours.right == 1
    assert losses == []


def test_a_row_that_cannot_be_read_is_unscored_and_listed(rows):
    rows.write_text(rows.read_text() + 'no JSON\n{"gold": "5", "pred": "5"}\n')
    ((line, losses),) = board.scored(rows, "math", "2026-11-22")
    assert (line.rows, line.ours.unscored) == (7, 3)
    assert [loss["reason"] for loss in losses[-2:]] == [
        "the row is not an object of JSON",
        "the row has no label: none of label, correct, is_correct",
    ]


def test_a_file_without_labels_is_refused(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"gold": "5", "pred": "5"}\n')
    with pytest.raises(SystemExit, match="label"):
        list(board.scored(path, "math", "2026-11-22"))


SOLUTIONS = {
    "So it is $\\boxed{5}$.": False,
    "It is $\\boxed{5}$ or rather $\\boxed{6}$.": True,
    "$=\\boxed{-15}x^3$": True,
    "$=3-\\boxed{2}$": True,
    "$\\boxed{\\frac{1}{2}}$ apples": False,
}


@pytest.mark.parametrize(("solution", "artefact"), SOLUTIONS.items())
def test_an_artefact_is_a_solution_whose_last_box_need_not_be_its_answer(solution, artefact):
    (row,) = sets.solutions([{"id": "a", "solution": solution, "problem": ""}])
    assert row.artefact == artefact


def test_math_verify_judges_every_row_and_is_asked_once(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(rivals, "KEPT", tmp_path / "kept")
    with rivals.Rivals(print, workers=1) as asked:
        ((line, _),) = board.scored(rows, "math", "2026-11-22", [asked])
    assert line.rivals["math-verify"].wrong_paid == 1
    assert sum(asdict(line.rivals["math-verify"]).values()) == len(ROWS)
    ((again, _),) = board.scored(rows, "math", "2026-11-22", [rivals.Rivals(print)])
    assert again.rivals == line.rivals


def test_a_file_of_several_kinds_of_references_is_several_lines(tmp_path, monkeypatch):
    path = tmp_path / "unseen" / "theoremqa.jsonl"
    path.parent.mkdir()
    answers = [(5, "5"), (True, "yes"), ([1, 2], "(1, 2)"), ("(b)", "b")]
    rows = [{"gold": gold, "pred": pred, "label": True} for gold, pred in answers]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    monkeypatch.setitem(sets.KNOWN, "unseen/theoremqa.jsonl", sets.kinds_of_theoremqa())
    lines = [line for line, _ in board.scored(path, "math", "2026-11-22")]
    assert [line.rows for line in lines] == [2, 1, 1]
    assert lines[1].file == "unseen/theoremqa.jsonl, booleans"


def test_what_others_make_of_the_rows_stands_in_a_table_of_its_own():
    counts = {"right": 9, "wrong_paid": 1, "right_refused": 0, "unscored": 0}
    line = {"file": "a", "reward": "math", "version": 1, "rows": 10, "artefacts": 0}
    line |= {"source": "b", "licence": "c", "sha256": "d" * 64, "date": "e", "ours": counts}
    shown = page.markdown([{**line, "rivals": {"prime_math": counts}}])
    assert "| a | 90.00% (1 / 0) |  | 90.00% (1 / 0) |  |" in shown
    assert "prime_math" not in page.markdown([{**line, "rivals": {}}])


def test_a_number_of_a_table_is_right_and_its_tenfold_is_not():
    asked = {"uid": "a", "question": "how much?", "answer": "1,2.5", "scale": "million"}
    words = {**asked, "uid": "b", "answer": ["a", "b"]}
    right, wrong = sets.tables([{"questions": [{**asked, "answer": "-2.5"}, words]}])
    assert (right.response, right.right) == ("ANSWER: -2.5 million", True)
    assert (wrong.response, wrong.right) == ("ANSWER: -25.000000 million", False)


def test_a_run_writes_its_record_and_its_losses(rows, tmp_path, monkeypatch, capsys):
    out = tmp_path / "made" / "board.json"
    arguments = [str(rows), "--alone", "--markdown", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["scoreboard", *arguments])
    command.main()
    (line,) = json.loads(out.read_text())
    assert page.markdown([line]) in capsys.readouterr().out
    assert len(command.lost_rows(out).read_text().splitlines()) == 3


def test_without_files_it_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sets, "SHARED", tmp_path)
    monkeypatch.setattr(sys, "argv", ["scoreboard"])
    command.main()
    assert "not there" in capsys.readouterr().err
