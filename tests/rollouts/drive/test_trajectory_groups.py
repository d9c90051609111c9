"""What the rollouts of a row took: means over its trajectories, joined by the rollout's id."""

from math import isfinite

import pytest

from reward_functions.rollouts.drive.trajectories import (
    DRAWN,
    MOST_TURNS,
    group_sheet,
    page,
    use_in,
)
from reward_functions.rollouts.record.sink import TrajectorySink
from reward_functions.rollouts.record.statistics import statistics_of
from reward_functions.rollouts.record.types import (
    TokenUsage,
    ToolCall,
    ToolResult,
    Trajectory,
    Turn,
)
from tests.parsed_page import harmless
from tests.rollouts.drive.test_figures import record


def turn(index=0, *, tokens=5, calls=0, text=0, **more):
    made = tuple(ToolCall(id=f"{at}", name="t", recovered=at < text) for at in range(calls))
    usage = TokenUsage(input=10, output=tokens)
    return Turn(index=index, response={"role": "assistant"}, tool_calls=made, usage=usage, **more)


def used(tmp_path, trajectories, records):
    sink = TrajectorySink(tmp_path / "t.jsonl")
    (tmp_path / "t.jsonl").touch()
    assert all(sink.keep(each) for each in trajectories)
    return use_in(tmp_path / "t.jsonl", records)


RECORDS = [record(1, 0, 1.0), record(1, 1, 0.0), record(2, 0, 1.0), record(3, 0)]


# what is in the file → of each row: trajectories, turns, tool calls, text calls, tokens out
FILES = [
    ([], []),
    ([("1-0", [turn()])], [(1, 1, 1.0, 0.0, 0.0, 5.0)]),
    ([("1-0", [turn()]), ("1-1", [turn(), turn(1)])], [(1, 2, 1.5, 0.0, 0.0, 7.5)]),
    ([("2-0", [turn(calls=3, text=2)])], [(2, 1, 1.0, 3.0, 2.0, 5.0)]),
    ([("2-0", [turn(tokens=None)])], [(2, 1, 1.0, 0.0, 0.0, None)]),
    ([("1-0", [turn()]), ("1-1", [turn(tokens=None)])], [(1, 2, 1.0, 0.0, 0.0, None)]),
    ([("2-0", [turn(discarded=True, calls=1), turn(1)])], [(2, 1, 1.0, 0.0, 0.0, 10.0)]),
    ([("2-0", [turn(error="TimeoutError")])], [(2, 1, 0.0, 0.0, 0.0, 0.0)]),
    ([("foreign", [turn()])], []),
    ([("1-0", [turn()]), ("1-0", [turn(), turn(1)])], [(1, 1, 2.0, 0.0, 0.0, 10.0)]),  # the last
    ([("2-0", [turn()]), ("1-0", [])], [(1, 1, 0.0, 0.0, 0.0, 0.0), (2, 1, 1.0, 0.0, 0.0, 5.0)]),
]


@pytest.mark.parametrize(("kept", "groups"), FILES)
def test_what_the_rollouts_of_a_row_took(tmp_path, kept, groups):
    trajectories = [Trajectory(id=id_, turns=tuple(turns)) for id_, turns in kept]
    found = used(tmp_path, trajectories, RECORDS)
    assert [
        (g.row, g.trajectories, g.turns, g.tool_calls, g.recovered, g.output_tokens)
        for g in found.groups
    ] == groups
    assert found.statistics.trajectories == sum(group[1] for group in groups)


def test_the_table_has_the_rows_with_the_most_turns(tmp_path):
    records = [record(row, 0, 1.0) for row in range(1, 31)]
    kept = [
        Trajectory(id=f"{row}-0", turns=tuple(turn(at) for at in range(row)))
        for row in range(1, 31)
    ]
    sheet = group_sheet(used(tmp_path, kept, records).groups)
    assert [cells[1] for cells in sheet.rows] == [
        str(row) for row in range(30, 30 - MOST_TURNS, -1)
    ]


# rewards of episodes → the finding against them
UNREWARDED = [
    (
        [None, None],
        ["2 of 2 (100.0%) episodes have no reward: a trainer learns nothing"],
    ),
    ([None, (), (0.0,)], ["2 of 3 (66.7%) episodes have no reward: a trainer learns nothing"]),
    ([(0.0,), (1.0, 0.5)], []),
    ([], []),
]


@pytest.mark.parametrize(("rewards", "found"), UNREWARDED)
def test_episodes_without_a_reward_are_a_finding_of_their_page(rewards, found):
    episodes = [
        Trajectory(id=f"{at}", turns=(turn(),), rewards=each) for at, each in enumerate(rewards)
    ]
    concerns = page(statistics_of(episodes)).concerns
    assert [each.kind for each in concerns] == ["unscored"] * len(found)
    assert all(each.words.startswith(words) for each, words in zip(concerns, found, strict=True))


def test_names_that_a_policy_invents_do_not_make_the_page_longer():
    """Tools, reasons to end and failures of which each turn has its own; one has no name."""
    count = 2 * DRAWN
    turns = [
        Turn(
            index=at,
            tool_calls=(ToolCall(id="c", name=f"tool {at}" if at else ""),),
            finish_reason=f"end {at}",
            error=f"error {at}" if at % 2 else "",
        )
        for at in range(2 * count)
    ]
    html = page(statistics_of([Trajectory(id="1", turns=tuple(turns))])).html()
    parsed = harmless(html)
    assert parsed.text.count(f"{count - DRAWN} more rows are not shown") == 2
    assert parsed.text.count("ended by") == DRAWN
    assert len(html) < 200_000


@pytest.mark.parametrize("seconds", [1.7e308, -1.7e308])
def test_seconds_whose_sum_overflows_have_their_pages(seconds):
    result = ToolResult(call_id="0", content="", seconds=seconds)
    each = [
        turn(at, calls=1, began=seconds, seconds=seconds, tool_results=(result,)) for at in (0, 1)
    ]
    episode = Trajectory(id="1", turns=tuple(each))
    statistics = statistics_of([episode] * 3)
    assert isfinite(statistics.seconds)
    assert isfinite(statistics.tools["t"].seconds)
    harmless(page(statistics).html())
    harmless(page(episode).html())
