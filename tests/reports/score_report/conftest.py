"""A page of HTML as its readers see it: headings, facts, tables by title, cases."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest


class Read(HTMLParser):
    """The tables, facts and texts of a page."""

    def __init__(self, page):
        super().__init__()
        self.tables, self.facts, self.sections, self.cases = {}, {}, [], []
        self.paragraphs, self.quotations = [], []
        self._text, self._name, self._row = [], "", None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "div" and "wide" in given.get("class", ""):
            self._name = given["aria-label"]
            self.tables[self._name] = []
        if tag == "tr":
            self._row = []
        if tag in ("th", "td", "dt", "dd", "h2", "h3", "p", "pre", "summary"):
            self._text = []

    def handle_data(self, data):
        self._text.append(data)

    def handle_endtag(self, tag):
        text = "".join(self._text)
        if tag in ("th", "td") and self._row is not None:
            self._row.append(text)
        elif tag == "tr":
            self.tables[self._name].append(self._row)
        elif tag == "dt":
            self._fact = text
        elif tag == "dd":
            self.facts.setdefault(self._fact, text)
        elif tag == "h2":
            self.sections.append(text)
        elif tag == "h3":
            self.cases.append(text)
        elif tag == "p":
            self.paragraphs.append(text)
        elif tag == "pre":
            self.quotations.append(text)

    def cell(self, table, row, column):
        """One cell by its table, its row's name and its column's head."""
        heads, *rows = self.tables[table]
        return next(each for each in rows if each[0] == row)[heads.index(column)]


@pytest.fixture
def read():
    return Read
