"""Every page of the gallery keeps the rules, and every rule finds what breaks it."""

import json
from itertools import chain
from pathlib import Path

import pytest

from reward_functions.reports.pages.charts.rows import strips
from reward_functions.reports.pages.page import Page, Section
from reward_functions.reports.sheets import Sheet
from tests.gallery.hostile import UNBROKEN
from tests.gallery.parsed import parsed
from tests.gallery.rows import ROWS, made
from tests.gallery.rules import LARGEST, RULES, findings

ROOT = Path(__file__).parents[3]
HOSTILE = [name for name in ROWS if name.endswith("-hostile")]


@pytest.mark.parametrize("name", ROWS)
def test_a_page_keeps_the_rules(name):
    assert findings(made(name)) == []


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_words_are_on_the_page_as_words(name):
    """Else the page would keep the rules for want of anything that breaks them."""
    text = parsed(made(name)).text
    assert "</style></svg><script>alert(1)" in text
    assert UNBROKEN[:40] in text


@pytest.fixture(scope="module")
def page():
    """One that has everything and breaks nothing."""
    table = Sheet("Table", ["name", "count"], [["a", "1"]])
    drawing = strips("Drawing", [("group", [0.0, 1.0])], x="reward")
    return Page("Title", sections=[Section("Heading", [table, drawing])]).html()


BROKEN = [
    # in the page, instead of it, what is found
    ("<h1>", "<h1>2</h1><h1>", "one h1: there are 2"),
    ("<h1>Title</h1>", "<h1> </h1>", "one h1: it is empty"),
    ("<h2 ", "<h2>x</h2><h4>y</h4><h2 ", "headings without gaps: h4 below h2"),
    (' lang="en"', "", "a language a title and a viewport: no lang"),
    ("<title>Title<", "<title><", "a language a title and a viewport: no title"),
    ("initial-scale=1", "maximum-scale=1", "a language a title and a viewport: no viewport"),
    ('<meta charset="utf-8">', "", "a language a title and a viewport: no charset"),
    ("default-src 'none'", "default-src *", "a policy that allows its own style and script"),
    ("<title>", '<meta http-equiv="refresh" content="1"><title>', "script alone: refresh"),
    ("<h1>", "<script></script><h1>", "nothing that runs or sends: <script>"),
    ("<script type=", "<script src=", "one script that is ours: it has other attributes"),
    ("const element", "const other", "one script that is ours: there are 1, or it is another"),
    ("<h1>", '<form action="#"></form><h1>', "nothing that runs or sends: <form>"),
    ("<h1>", '<h1 onclick="x">', "nothing that runs or sends: <h1 onclick>"),
    ("<h1>", '<a href=" javascript:x">x</a><h1>', "nothing that runs or sends: <a href="),
    ('role="img"', 'role="group"', "pictures have names: an svg"),
    ("<h1>", '<img src="x.png" alt=""><h1>', "nothing that is fetched: <img src>"),
    ("<h1>", '<svg role="img" aria-label="x"><use href="x#y"/></svg><h1>', "fetched: <use href>"),
    ("<h1>", '<h1 style="background: URL(x)">', "nothing that is fetched: <h1 style>"),
    ("<style>", "<style>@import 'x';", "nothing that is fetched: a style sheet"),
    (' role="img"', "", "pictures have names: an svg"),
    ("<h1>", "<img><h1>", "pictures have names: an img"),
    (' scope="col"', "", "tables say what their heads head: a th without scope: 'name'"),
    (">a</th>", "></th>", "tables say what their heads head: a th without words"),
    ("<h1>", '<p id="section-1">x</p><h1>', "ids are unique and are there: 'section-1' comes 2"),
    ("<h1>", '<a href="#none">x</a><h1>', "ids are unique and are there: nothing has the id"),
    ("</main>", "</main><p>x</p>", "everything is in one main: <p> beside it"),
    ('tabindex="0"', "", "what scrolls can be reached by keyboard: a table in <div>"),
    ('aria-label="Table"', "", "what scrolls can be reached by keyboard: it has no name"),
    ("<h1>", "<h1>\x1b", "no character that hides or commands: U+001B in <h1>"),
    ("<h1>", '<h1 title="\u202e">', "no character that hides or commands: U+202E in <h1>"),
    ("<h1>", "<h1>\ud800", "no character that hides or commands: U+D800 in <h1>"),
    ("@media print", "@media none", "colours follow the reader: no '@media print'"),
    ("</h1>", "", "strict HTML: </main> where <h1> is open"),
    ("</h1>", "</b></h1>", "strict HTML: </b> where <h1> is open"),
    ("</html>", "", "strict HTML: <html> stays open"),
    ("</html>", "</html>x", "strict HTML: text outside of the html element"),
    ("<h1>", '<h1 id="a" id="b">', "strict HTML: <h1> has an attribute twice"),
    ("<h1>", "<b/><h1>", "strict HTML: <b/> closes itself"),
    ("<h1>", "<!-- x --><h1>", "strict HTML: a comment"),
    ("<!doctype html>", "", "strict HTML: no <!doctype html>"),
    ("Title", "x" * LARGEST, "size: "),
]


@pytest.mark.parametrize(("there", "instead", "found"), BROKEN)
def test_what_breaks_a_rule_is_found(page, there, instead, found):
    assert there in page
    broken = findings(page.replace(there, instead, 1))
    assert any(found in each for each in broken), broken


def test_every_rule_is_broken_by_a_row_and_by_no_sound_page(page):
    broken = [findings(page.replace(there, instead, 1)) for there, instead, _ in BROKEN]
    found = {each.partition(":")[0] for each in chain(*broken)}
    assert found == {*(rule.__name__.replace("_", " ") for rule in RULES), "strict HTML", "size"}
    assert findings(page) == []


def test_the_lock_of_the_browser_has_hashes_and_no_address_of_a_registry():
    lock = json.loads((ROOT / "requirements" / "pages" / "package-lock.json").read_text())
    packages = [package for name, package in lock["packages"].items() if name]
    assert packages
    assert all(package["integrity"].startswith("sha512-") for package in packages)
    assert not any("resolved" in package for package in packages)
