"""A page: its structure, and that nothing of its data gets out of its place."""

import pytest

from reward_functions.reports.pages.charts.drawing import CELL, inline, printable
from reward_functions.reports.pages.charts.rows import strips
from reward_functions.reports.pages.page import (
    LONG,
    QUOTED,
    SENTENCE,
    Case,
    Page,
    Section,
    Warned,
    quoted,
)
from reward_functions.reports.sheets import Sheet
from tests.parsed_page import harmless

HOSTILE = "</title></style><script>alert('1')</script><b onclick=x>\x1b[31m\u202e\x00&\"\ud800"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>&\"'", "&lt;b&gt;&amp;&quot;&#x27;"),
        ("\x1b[31mred", "\\x1b[31mred"),  # a terminal's escape
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),  # these reverse the line
        ("a\nb\tc", "a\\nb\\tc"),
        ("\ud800", "\\ud800"),  # half a character, which no file of UTF-8 can hold
        ("\ufffe", "\\ufffe"),  # no character: XML refuses it
        ("é模😀", "é模😀"),
        ("x" * (CELL + 1), "x" * CELL + "…"),
    ],
)
def test_a_string_of_data_is_harmless_on_one_line(text, shown):
    assert inline(text) == shown


def test_a_quotation_keeps_its_lines_and_the_ends_of_a_long_text():
    assert quoted("a\n\tb\r<") == "a\n\tb\\r<"
    shown = quoted("a" * 10_000_000 + "z")
    assert shown.startswith("a" * (QUOTED // 2))
    assert shown.endswith("z")
    assert "9,996,001 characters left out" in shown
    assert quoted("a" * QUOTED) == "a" * QUOTED


def test_what_is_printable_stays_as_it_is():
    assert printable(printable(HOSTILE)) == printable(HOSTILE)


def everything(words):
    sheet = Sheet(words, [words, "", words], [[words, words, "1"]], words, words=[""])
    parts = [
        words,
        Warned(words),
        sheet,
        strips(words, [(words, [0.0])], x=words),
        strips(words, [(words, [0.0])], x=words),
        Case(words, [(words, words)], [(words, words)], [sheet], [(words, words)]),
    ]
    return Page(words, words, [words], [(words, words)], [Section(words, parts)] * LONG)


def test_no_string_gets_out_of_its_place():
    page = everything(HOSTILE).html()
    parsed = harmless(page)
    assert parsed.tags["b"] == 0
    assert parsed.text.count("<script>") > 10
    page.encode()


@pytest.mark.parametrize(
    "words",
    [
        "<script>alert(1)</script>",
        "</pre></title><b>",
        '" onclick="x" \'',
        "{{ page }} {{ 7 * 7 }}",
        "{% raw %}",
        "{# gone #}",
        "&lt;b&gt; &amp;",
    ],
)
def test_what_a_model_writes_is_read_as_it_was_written(words):
    """In every place of a text; as markup or a template it would be read otherwise."""
    parsed, usual = harmless(everything(words).html()), harmless(everything("usual").html())
    assert parsed.text == usual.text.replace("usual", words)
    assert parsed.tags == usual.tags


def test_a_command_between_backticks_stays_words():
    words = "run `reward <b> {{ 7 * 7 }}` and `"
    page = Page("t", words, [words], [], [Section("a", [words, Warned(words)])]).html()
    code = "<code>reward &lt;b&gt; {{ 7 * 7 }}</code>"
    assert page.count(f"run {code} and `") == 4


def test_a_page_has_everything_in_its_order():
    parsed = harmless(everything("w").html())
    assert parsed.headings == [(1, "w"), *[(2, "w"), (3, "w")] * LONG]
    assert parsed.tags["nav"] == 1
    assert parsed.tags["main"] == 1
    assert parsed.tags["figure"] == 2 * LONG
    assert parsed.tags["article"] == parsed.tags["details"] == LONG
    assert parsed.tags["table"] == 2 * LONG


def test_charts_that_follow_one_another_stand_side_by_side():
    chart = strips("s", [("g", [0.0])], x="reward")
    page = Page("t", sections=[Section("a", [chart, chart, "words", chart])]).html()
    assert page.count('<div class="charts">') == 2


def test_a_table_is_named_once():
    """Its section's heading is its title, or else a caption."""
    own, other = Sheet("a", ["h"], [["x"]]), Sheet("b", ["h"], [["x"]])
    page = Page("t", sections=[Section("a", [own, other])]).html()
    assert page.count("<caption>") == 1
    assert "<caption>b</caption>" in page


def test_a_column_without_a_name_has_no_empty_heading():
    """axe calls an empty heading a finding: empty-table-header."""
    page = Page("t", sections=[Section("a", [Sheet("a", ["", "is"], [["x", "1"]])])]).html()
    assert '<thead><tr><td></td><th scope="col" class="number">is</th></tr></thead>' in page
    assert '<td class="number">1</td>' in page


def test_a_row_of_another_length_than_the_heads_is_an_error():
    sheet = Sheet("a", ["one", "two"], [["x"]])
    with pytest.raises(ValueError, match="zip"):
        Page("t", sections=[Section("a", [sheet])]).html()


def test_an_empty_page_is_a_page():
    parsed = harmless(Page("nothing").html())
    assert parsed.headings == [(1, "nothing")]
    assert parsed.tags["nav"] == parsed.tags["section"] == 0


def test_a_sentence_is_longer_than_a_cell_and_bounded():
    page = Page("t", warnings=["x" * 10_000]).html()
    assert "x" * SENTENCE + "…" in page
    assert "x" * (SENTENCE + 1) not in page


def test_the_reader_decides_on_light_or_dark_and_print_has_no_list_of_sections():
    page = Page("t").html()
    assert "@media screen and (prefers-color-scheme: dark)" in page
    assert "@media print" in page
    assert 'name="viewport" content="width=device-width, initial-scale=1"' in page
    assert '<html lang="en">' in page
