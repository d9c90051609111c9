"""A page: its structure, and that nothing of its data gets out of its place."""

from base64 import b64encode
from hashlib import sha256

import pytest

from reward_functions.reports.pages.charts.drawing import CELL, inline, printable
from reward_functions.reports.pages.charts.rows import strips, tallies
from reward_functions.reports.pages.page import (
    LAST,
    LONG,
    QUOTED,
    SENTENCE,
    Case,
    Concern,
    Listed,
    Page,
    Section,
    SideBySide,
    Warned,
    ending,
    excerpt,
    one_line,
    policy,
    quoted,
)
from reward_functions.reports.sheets import Sheet
from tests.gallery.parsed import parsed
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
        strips(words, [(words, [0.0])], x=words).captioned(words),
    ]
    concerns = [Concern("other", words), Concern("labels", words)]
    return Page(
        words,
        words,
        [words],
        [(words, words)],
        [
            *[Section(words, parts)] * LONG,
            Section(
                words,
                [
                    Listed(sheet, "rows", ["case"]),
                    SideBySide(words, [Case(words, anchor="case")], "group", words),
                    Case(words, links=[(words, "group")]),
                ],
            ),
        ],
        concerns=concerns,
    )


def test_no_string_gets_out_of_its_place():
    page = everything(HOSTILE).html()
    found = harmless(page)
    assert found.tags["b"] == 0
    assert found.text.count("<script>") > 10
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
    found, usual = harmless(everything(words).html()), harmless(everything("usual").html())
    assert found.text == usual.text.replace("usual", words)
    assert found.tags == usual.tags


def test_a_command_between_backticks_stays_words():
    words = "run `reward <b> {{ 7 * 7 }}` and `"
    page = Page("t", words, [words], [], [Section("a", [words, Warned(words)])]).html()
    code = "<code>reward &lt;b&gt; {{ 7 * 7 }}</code>"
    assert page.count(f"run {code} and `") == 4


def test_a_page_has_everything_in_its_order():
    found = harmless(everything("w").html())
    last = [(2, "w"), (3, "w"), (4, "w"), (3, "w")]
    assert found.headings == [(1, "w"), *[(2, "w"), (3, "w")] * LONG, *last]
    assert found.tags["nav"] == 1
    assert found.tags["main"] == 1
    assert found.tags["figure"] == 3 * LONG
    assert found.tags["figcaption"] == found.tags["details"] == LONG
    assert found.tags["article"] == LONG + 2
    assert found.tags["table"] == 2 * LONG + 1


def test_a_page_begins_with_its_worst_finding_and_leads_to_its_section():
    concerns = [
        Concern("truncation", "cut"),
        Concern("reasons", "no ####"),
        Concern("unscored", "3 rows", "b"),
        Concern("reasons", "another"),
        Concern("labels", "recall is 66 %", "b"),
        Concern("failed", "it failed", "no section"),
    ]
    sections = [Section("a", []), Section("b", [])]
    page = Page("t", "the figures", ["warned"], sections=sections, concerns=concerns).html()
    words = [each.words for each in parsed(page).all("p")]
    assert words == [
        *("Worst finding. it failed", "the figures", "Also. recall is 66 % b"),
        *("Also. 3 rows b", "Also. no ####", "Also. another", "Also. cut", "Note. warned"),
    ]
    assert [each.attributes["href"] for each in parsed(page).all("a")] == ["#section-2"] * 2


def test_a_bar_leads_to_its_rows_and_a_row_to_its_case():
    bars = tallies("Reasons", [("a", 2), ("b", 1)], x="rows", links=["rows-a", ""])
    listed = Listed(Sheet("Rows of a", ["row"], [["one"], ["two"]]), "rows-a", ["case-one", ""])
    case = Case("one", anchor="case-one", links=[("back", "rows-a")])
    page = Page("t", sections=[Section("a", [bars, listed, case])]).html()
    links = [(each.attributes["href"], each.words) for each in parsed(page).all("a")]
    assert links == [("#rows-a", "aa: 2"), ("#case-one", "one"), ("#rows-a", "back")]
    (drawing,) = parsed(page).all("svg")
    assert drawing.attributes["role"] == "group"
    assert harmless(page)


def test_only_the_script_that_the_policy_names_may_run():
    (script,) = parsed(Page("t").html()).all("script")
    digest = b64encode(sha256(script.text.encode()).digest()).decode()
    assert policy() == (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    )


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
    found = harmless(Page("nothing").html())
    assert found.headings == [(1, "nothing")]
    assert found.tags["nav"] == found.tags["section"] == 0


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


@pytest.mark.parametrize(
    ("text", "room", "shown"),
    [
        ("", 10, ""),
        ("x" * LAST, LAST, "x" * LAST),
        ("x" * (LAST + 1), LAST, f"… {'x' * LAST}"),
        ("ab" * LAST, LAST - 1, f"… {'ab' * (LAST // 4)}"),
        ("<" * LAST, LAST, f"… {'<' * (LAST // 4)}"),
        ("xy", 1, "… y"),
        ("<", 1, "<"),
    ],
)
def test_the_end_of_a_text_takes_the_room_there_is(text, room, shown):
    assert ending(text, room) == shown


@pytest.mark.parametrize(
    ("text", "room", "shown"),
    [
        (" a\n b\t\tc ", 10, "a b c"),
        ("x" * 10, 10, "x" * 10),
        ("x" * 11, 10, "x" * 5 + " … " + "x" * 5),
        ("a" * 50 + "b" * 50, 10, "aaaaa … bbbbb"),
        ("a" * 500 + "b" * 500, 10_000, "a" * 90 + " … " + "b" * 90),
    ],
)
def test_a_line_has_its_two_ends(text, room, shown):
    assert one_line(text, room) == shown


@pytest.mark.parametrize(("size", "left_out"), [(100, 0), (101, 1), (161, 61), (10_000, 9_900)])
def test_an_excerpt_says_how_much_is_left_out(size, left_out):
    text = "x" * size
    shown = excerpt(text, 100)
    assert (f"… {left_out:,} characters left out …" in shown) == bool(left_out)
    assert shown.count("x") == 100
