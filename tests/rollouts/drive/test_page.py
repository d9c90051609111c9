"""The page of a file of rollouts: what the tables say, drawn."""

from dataclasses import replace

from reward_functions.rollouts.drive.figures import BAR, figures_of, page, sheets
from tests.parsed_page import harmless
from tests.rollouts.drive.test_figures import RECORDS, record

HOSTILE = "</td><script>alert(1)</script>\x1b[31m\u202e"


def test_every_table_is_there_with_its_chart():
    figures = figures_of(RECORDS)
    parsed = harmless(page(figures).html())
    assert [words for order, words in parsed.headings if order == 2] == [
        *("Overview", "Rewards", "Without a reward", "Turns", "Rows that earn the least"),
    ]
    assert parsed.tags["svg"] == 5
    assert BAR not in parsed.text
    for sheet in sheets(figures):
        for row in sheet.without("share").rows:
            assert all(cell in parsed.text for cell in row)


def test_rollouts_without_a_reward_have_a_page_too():
    parsed = harmless(page(figures_of([record(1, 0), record(1, 1)])).html())
    assert "Without a reward" in parsed.text
    assert "Rewards" not in [words for _, words in parsed.headings]


def test_ids_and_errors_come_from_data_and_are_escaped():
    records = [replace(record(1, 0, 1.0), id=HOSTILE), record(2, 0, error=HOSTILE)]
    parsed = harmless(page(figures_of(records)).html())
    assert parsed.text.count("<script>") >= 2
