"""A table as text: every row and what there is to say about it."""

from reward_functions.reports.sheets import Sheet


def test_a_table_is_written_with_its_heads_its_rows_and_its_note():
    sheet = Sheet(
        "Rewards", ("reward", "mean", "why"), [("math", "0.5", "a|b")], "of 2 rows", ("why",)
    )
    assert list(sheet.markdown()) == [
        "## Rewards",
        "",
        "| reward | mean | why |",
        "| --- | ---: | --- |",
        r"| math | 0.5 | a\|b |",
        "",
        "of 2 rows",
    ]
    assert list(Sheet("None", ("reward",), []).markdown()) == [
        "## None",
        "",
        "| reward |",
        "| --- |",
    ]


def test_a_column_is_left_out_of_the_heads_and_of_every_row():
    sheet = Sheet("", ("reward", "mean", "course"), [("math", "0.5", "▁▂"), ("gsm8k", "1", "▃")])
    assert sheet.without("course").rows == [["math", "0.5"], ["gsm8k", "1"]]
    assert sheet.without("course").heads == ["reward", "mean"]
    assert sheet.without("another").rows == [list(row) for row in sheet.rows]
