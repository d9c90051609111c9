"""Tables in terminals of 80, 100 and 160 columns: no name and no number is broken or cut."""

import math

import pytest

from reward_functions.cli._console import output
from reward_functions.cli._fitting import print_sheet
from reward_functions.jobs.figures import Series, by_position, overview
from reward_functions.jobs.hyperparameters import hyperparameters
from reward_functions.jobs.plan import plan
from reward_functions.jobs.plan_sheets import sheets
from reward_functions.reports.sheets import Sheet
from tests.jobs.test_plan import GIVEN, SIZES, asked

WIDTHS = (80, 100, 160)

NAMES = [
    "critic_rewards_mean",
    "critic_rewards_mean_weighted",
    "actor_entropy",
    "response_length_mean",
    "response_length_clip_ratio",
    "training_loss",
]

FIGURES = [
    Series(name, "training", "step", tuple((at, 0.1234 + math.sin(at) * 10) for at in range(60)))
    for name in NAMES
]

ARN = "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-reward-production-gsm8k:17"


@pytest.fixture
def printed(capsys, monkeypatch):
    def shown(sheet, width=None):
        if width is None:
            monkeypatch.delenv("COLUMNS", raising=False)
        else:
            monkeypatch.setenv("COLUMNS", str(width))
        print_sheet(sheet, output())
        return capsys.readouterr().out

    return shown


@pytest.mark.parametrize("width", WIDTHS)
def test_the_hyperparameters_of_a_plan_are_whole(printed, width):
    planned = plan(asked(hyperparameters=GIVEN), sizes=SIZES)
    _, sheet, _ = sheets(planned)
    text = printed(sheet, width)
    assert max(map(len, text.splitlines())) <= width
    words = text.split()
    for name in hyperparameters("bedrock"):
        assert name in words
    for value in ("4096", "0.0001", "512", "(AWS"):
        assert value in words
    assert ("no room for AWS's samples, AWS's SDK" in text) == (width == 80)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_course_of_a_figure_is_as_wide_as_the_terminal_allows(printed, width):
    text = printed(overview(FIGURES, "Figures"), width)
    lines = [line for line in text.splitlines() if any(name in line for name in NAMES)]
    assert [line.split()[0] for line in lines] == NAMES  # one line each
    assert max(map(len, text.splitlines())) <= width
    bars = {sum(char in "▁▂▃▄▅▆▇█" for char in line) for line in lines}
    assert len(bars) == 1
    assert 8 <= bars.pop() <= 40


@pytest.mark.parametrize("width", WIDTHS)
def test_steps_are_numbered_and_no_two_heads_read_alike(printed, width):
    text = printed(by_position(FIGURES, "By step", 10), width)
    assert max(map(len, text.splitlines()[1:])) <= width or "no room" in text
    head, first = text.splitlines()[2], text.splitlines()[4]
    shown = head.split()[1:]
    assert shown == NAMES[: len(shown)]
    assert first.split()[0] == "50"
    assert ("no room for training_loss" in text) == (len(shown) < len(NAMES))
    assert "the newest 10 of 60; --csv FILE writes all" in " ".join(text.split())


def test_what_is_piped_is_whole(printed):
    text = printed(by_position(FIGURES, "By step", 10))
    assert text.splitlines()[2].split()[1:] == NAMES
    assert "no room" not in text


@pytest.mark.parametrize("width", [40, 80])
def test_what_fits_no_table_is_a_few_lines_with_every_name_whole(printed, width):
    """The terminal wraps an ARN, and so it can be copied."""
    pairs = Sheet("The job", ["", "is"], [["grader", ARN], ["rows", "7"]], words=("is",))
    assert printed(pairs, width).splitlines()[2:4] == [f"grader  {ARN}", "rows    7"]
    more = Sheet(
        "Seen", ["what", "times", "where"], [["denied", "3", f"in {ARN}"]], words=("where",)
    )
    assert printed(more, width).splitlines()[2:5] == ["denied", "  times 3", f"  in {ARN}"]


@pytest.mark.parametrize("width", [10, 80, None])
def test_a_table_without_rows_has_its_heads(printed, width):
    empty = Sheet("Rows", ["row", "what"], [], words=("what",), note="none")
    text = printed(empty, width)
    assert "Rows" in text
    assert "none" in text
    assert ("what" in text) == (width != 10)


HOSTILE = "a\ud800\x1b[31m\u202eb"


@pytest.mark.parametrize("width", [200, 20])
@pytest.mark.parametrize("part", ["title", "heads", "note", "rows", "spare"])
def test_every_text_of_a_table_is_harmless(printed, width, part):
    """A figure's name is a head, and a trajectory's status stands in a note."""
    given = {
        "title": HOSTILE,
        "heads": [HOSTILE, "number"],
        "note": HOSTILE,
        "rows": [[HOSTILE, "1" * 20]],
        "spare": ["name", HOSTILE],
    }
    whole = {"title": "t", "heads": ["name", "number"], "rows": [["c" * 30, "1" * 20]]}
    if part == "spare":
        whole["heads"] = ["name", HOSTILE]
    text = printed(Sheet(**whole | {part: given[part]}), width)
    assert not any(each in text for each in ("\ud800", "\x1b", "\u202e"))
    assert text.encode()


def test_a_row_without_a_word_has_a_line_in_a_narrow_terminal(printed):
    sheet = Sheet("t", ("a name", "another"), [("", ""), ("x" * 30, "y" * 30)], words=("another",))
    assert "–" in printed(sheet, 20)
