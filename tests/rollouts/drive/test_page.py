"""The page of a file of rollouts: what the tables say, drawn."""

from dataclasses import replace

from reward_functions.rollouts.drive.figures import BAR, LISTED, figures_of, sheets
from reward_functions.rollouts.drive.records import rollouts_of_rows, written
from reward_functions.rollouts.drive.report_page import concerns_of_rollouts, report_page
from tests.parsed_page import harmless
from tests.rollouts.drive.test_figures import RECORDS, record

HOSTILE = "</td><script>alert(1)</script>\x1b[31m\u202e"


def test_every_table_is_there_with_its_chart():
    figures = figures_of(RECORDS)
    parsed = harmless(report_page(figures).html())
    assert [words for order, words in parsed.headings if order == 2] == [
        *("Overview", "Without a reward", "Rewards and turns", "Rows that earn the least"),
    ]
    assert parsed.tags["svg"] == 7
    assert BAR not in parsed.text
    for sheet in sheets(figures):
        for row in sheet.without("share").rows:
            assert all(cell in parsed.text for cell in row)


def test_rollouts_without_a_reward_have_a_page_too():
    parsed = harmless(report_page(figures_of([record(1, 0), record(1, 1)])).html())
    assert "Without a reward" in parsed.text
    assert "Rewards" not in [words for _, words in parsed.headings]
    assert "none has a reward" in parsed.text


def test_the_page_begins_with_what_is_wrong():
    found = list(concerns_of_rollouts(figures_of(RECORDS)))
    assert [each.kind for each in found] == ["failed", "unscored", "reasons", "other"]
    never, without, equal, again = (each.words for each in found)
    assert never.startswith("2 of 6 rollouts never called the policy")
    assert "2 of 6 rollouts (33.3%) have no reward: never completed 1, HTTP 500 1." in without
    assert equal.startswith("50.0% of rows have equal rewards")
    assert again.startswith("1 reports came again")
    sound = [record(row, at, float(at), turns=1) for row in (1, 2) for at in (0, 1)]
    assert list(concerns_of_rollouts(figures_of(sound))) == []


def test_the_weakest_rows_have_their_responses_side_by_side():
    records = [
        replace(each, response=f"answer {each.rollout} {HOSTILE}", content={"prompt": HOSTILE})
        for each in RECORDS
    ]
    parsed = harmless(report_page(figures_of(records), weakest=records).html())
    titles = [words for order, words in parsed.headings if order == 3]
    assert titles[-2:] == ["row-1: mean reward 0.5", "row-2: mean reward 1"]
    assert "answer 1-0 </td><script>" in parsed.text
    assert "the row" in parsed.text
    assert "sample 0" not in report_page(figures_of(RECORDS), weakest=RECORDS).html()


def test_the_texts_of_some_rows_are_read_from_a_file(tmp_path):
    path = tmp_path / "rollouts.jsonl"
    kept = [replace(each, response=f"answer {each.rollout}") for each in RECORDS]
    again = replace(kept[2], response="a later one")
    path.write_text("".join(written([*kept, again])) + '{"record": 1, "torn')
    found = rollouts_of_rows(str(path), {2})
    assert [each.response for each in found] == ["a later one", "answer 2-1"]


def test_ids_and_errors_come_from_data_and_are_escaped():
    records = [replace(record(1, 0, 1.0), id=HOSTILE), record(2, 0, error=HOSTILE)]
    parsed = harmless(report_page(figures_of(records)).html())
    assert parsed.text.count("<script>") >= 2


def test_what_each_rollout_has_for_itself_does_not_make_the_page_longer():
    """Errors that name their rollout, and as many different numbers of turns."""
    failed = [record(row, 0, error=f"{HOSTILE} {row}", turns=row) for row in range(3 * LISTED)]
    html = report_page(figures_of(failed)).html()
    parsed = harmless(html)
    assert parsed.text.count(f"{2 * LISTED} more rows are not shown") == 2
    assert len(html) < 200_000
