"""`--report FILE`: what a command shows, as a page too."""

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.rollouts.drive.records import written
from tests.parsed_page import harmless
from tests.rollouts.drive.test_figures import RECORDS

COMMANDS = [
    ["job", "plan", "--offline"],
    ["job", "baseline"],
    ["rollouts", "report", "rollouts.jsonl"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_page_ends_in_html_which_is_said_before_anything_is_done(command, tmp_path):
    ran = CliRunner().invoke(app, [*command, "--report", str(tmp_path / "page.pdf")])
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "a page is called NAME.html, not " in " ".join(ran.stderr.split())
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_rollouts_has_a_page(tmp_path):
    file, page = tmp_path / "rollouts.jsonl", tmp_path / "page.html"
    file.write_text("".join(written(RECORDS)))
    ran = CliRunner().invoke(app, ["rollouts", "report", str(file), "--report", str(page)])
    assert ran.exit_code == 0, ran.stderr
    assert "the page is" in ran.stderr
    assert "Rows that earn the least" in harmless(page.read_text()).text


def test_a_page_that_cannot_be_written_is_one_line(tmp_path):
    file = tmp_path / "rollouts.jsonl"
    file.write_text("".join(written(RECORDS)))
    gone = tmp_path / "none" / "page.html"
    ran = CliRunner().invoke(app, ["rollouts", "report", str(file), "--report", str(gone)])
    assert ran.exit_code == 2
    assert ran.stderr.startswith("error: ")
