"""Docstrings, notebooks and strings of rewards show as they are, and none of them acts."""

import base64
import json

import pytest

from docs.site import accessible, docstrings, markdown, notebooks

DOCSTRING = """The rank.

    of = code(here)

Args:
    first: one,
        on two lines.
    *rest: the <others>.

Returns:
    A number.

Raises:
    ValueError: never.
"""


def test_a_docstring_becomes_a_field_list():
    assert docstrings.markdown(DOCSTRING) == (
        "The rank.\n\n    of = code(here)\n\n"
        ":param first: one, on two lines.\n"
        ":param rest: the \\<others>.\n"
        ":raises ValueError: never.\n"
        ":returns: A number."
    )


def test_columns_of_a_docstring_stay_columns():
    assert docstrings.body("One.\n\na.py     this\nbb/      that") == (
        "One.\n\n```text\na.py     this\nbb/      that\n```"
    )


@pytest.mark.parametrize("nothing", [None, ""])
def test_no_docstring_is_no_text(nothing):
    assert docstrings.markdown(nothing) == ""


STRINGS = [
    (markdown.code, "a|b", "`a|b`"),
    (markdown.code, "`x`", "`` `x` ``"),
    (markdown.code, "", "`   `"),
    (markdown.code, "two\nlines", "`two lines`"),
    (markdown.prose, "<script> `<b>` *x*", "\\<script> `<b>` \\*x\\*"),
    (markdown.visible, "a\u202eb\x1b[1m", "a\\u202eb\\x1b[1m"),
    (markdown.fenced, "```\n</code>", "````text\n```\n</code>\n````"),
]


@pytest.mark.parametrize(("shown", "text", "expected"), STRINGS)
def test_a_string_shows_as_it_is(shown, text, expected):
    assert shown(text) == expected


def test_a_bar_ends_no_cell():
    assert markdown.table(["a"], [["x|y\nz"]]).splitlines()[-1] == "| x\\|y z |"


def notebook(folder, *outputs, first="# A title"):
    cells = [
        {"cell_type": "markdown", "source": [first]},
        {"cell_type": "code", "source": "1 + 1", "outputs": list(outputs)},
    ]
    path = folder / "00_sums.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "cells": cells}))
    return path


def shown(**data):
    return {
        "output_type": "display_data",
        "data": {k.replace("_", "/"): v for k, v in data.items()},
    }


def test_a_notebook_shows_its_code_and_what_it_printed(tmp_path):
    printed = {"output_type": "stream", "text": ["\x1b[1m2\x1b[0m\n"]}
    page = notebooks.page(notebook(tmp_path, printed))
    assert page.text.startswith("# A title\n\n```python\n1 + 1\n```\n\n")
    assert page.text.endswith(":class: notebook-output\n\n2\n```\n")


def test_a_printed_fence_ends_no_block(tmp_path):
    page = notebooks.page(
        notebook(tmp_path, {"output_type": "stream", "text": "```\n# no heading"})
    )
    assert page.text.count("\n```\n") == 2


def test_a_picture_stands_beside_the_page(tmp_path):
    data = {"image/png": base64.b64encode(b"PNG").decode(), "text/plain": "rewards ](x) by step"}
    page = notebooks.page(notebook(tmp_path, {"output_type": "display_data", "data": data}))
    assert page.files == {"00_sums-1-0.png": b"PNG"}
    assert "![rewards x by step](00_sums-1-0.png)" in page.text


def test_a_table_keeps_its_cells(tmp_path):
    page = notebooks.page(notebook(tmp_path, shown(text_html="<table><tr><td>1</td></tr></table>")))
    assert "<td>1</td>" in page.text


ACTIVE = [
    "<script>alert(1)</script>",
    "<img src=x>",
    "<td onclick=x()>",
    "<iframe srcdoc='x'></iframe>",
    "<a href='javascript:x'>x</a>",
    "<svg><use xlink:href='https://example.org/x.svg'/></svg>",
    "<p style='background: url(https://example.org/x)'>",
    "<style>@import 'https://example.org/x.css'</style>",
]


@pytest.mark.parametrize("html", ACTIVE)
def test_html_that_acts_or_fetches_ends_the_build(tmp_path, html):
    with pytest.raises(notebooks.BadNotebook, match="00_sums-1-0"):
        notebooks.page(notebook(tmp_path, shown(text_html=html)))


def test_a_blank_line_in_html_ends_no_block(tmp_path):
    page = notebooks.page(notebook(tmp_path, shown(text_html="<p>a</p>\n````\n<p>b</p>")))
    assert page.text.count("\n````\n") == 0


BAD = ["{", "[]", '{"cells": 1}', '{"worksheets": []}']


@pytest.mark.parametrize("text", BAD)
def test_what_is_not_a_notebook_is_named(tmp_path, text):
    path = tmp_path / "01_bad.ipynb"
    path.write_text(text)
    with pytest.raises(notebooks.BadNotebook, match=r"01_bad\.ipynb"):
        notebooks.page(path)


def test_a_notebook_begins_with_its_heading(tmp_path):
    with pytest.raises(notebooks.BadNotebook, match="no heading"):
        notebooks.page(notebook(tmp_path, first="no title"))


SIGNATURE = '<em class="sig-param">a</em>'

MENDED = [
    ('<p class="caption" role="heading">', 'aria-level="2"'),
    ('<aside class="sidebar-drawer">', 'aria-label="Pages"'),
    ('<aside class="toc-drawer no-toc">', 'class="toc-drawer no-toc" aria-label'),
    ("<pre>x</pre>", '<pre tabindex="0">x</pre>'),
    ('<th class="head"><p></p></th>', '<td class="head"></td>'),
    ('<div id="search-results">', "<h1>Search</h1>"),
    (
        f'sig-paren">(</span><dl><dd>{SIGNATURE}</dd></dl>\n<span class="sig-paren">)',
        f'<span class="lines"><span class="line">{SIGNATURE}</span></span>',
    ),
]


@pytest.mark.parametrize(("theme", "expected"), MENDED)
def test_the_theme_is_mended(theme, expected):
    assert expected in accessible.mended(theme)
