"""CONTRIBUTING.md and the glossary lead somewhere: rooms, files, and what to look for in them."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.architecture.test_walls import INNER

ROOT = Path(__file__).parents[2]
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
GLOSSARY = ROOT / "docs" / "glossary.md"

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
SPAN = re.compile(r"`([^`]+)`")
PART_COLUMNS = ["part", "what it is", "may import"]
MAP_COLUMNS = ["to", "go to", "look for"]
WORD = re.compile(r"^- \*\*(?:\[(?P<word>[^\]]+)\]\((?P<code>\S+)\)|[^*]+)\*\*: .+[.]$")


class Row(NamedTuple):
    """One row of a table."""

    page: Path
    cells: list[str]


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def rows(page, columns):
    """The rows of every table with these columns."""
    lines = iter(page.read_text().splitlines())
    for line in lines:
        if line.startswith("|") and cells(line) == columns:
            next(lines)  # the rule below the columns
            for below in lines:
                if not below.startswith("|"):
                    break
                yield Row(page, cells(below))


def allowed(table):
    """The rooms of a table in their order, and what each may import."""
    found = {}
    for room, _, imports in (row.cells for row in table):
        (name,) = SPAN.findall(room)
        found[name] = set(found) if imports == "all above" else set(SPAN.findall(imports))
    return found


def test_the_table_of_the_parts_of_symbolic_is_the_one_that_is_tested():
    told = allowed(rows(CONTRIBUTING, PART_COLUMNS))
    assert told == INNER["symbolic"]
    assert list(told) == list(INNER["symbolic"])


MAP = [
    *((row, row.cells[1], row.cells[2]) for row in rows(CONTRIBUTING, MAP_COLUMNS)),
]


def test_there_is_a_map():
    assert MAP


def test_a_word_has_one_meaning_and_leads_to_code():
    words = [line for line in GLOSSARY.read_text().splitlines() if line.startswith("- ")]
    assert [line for line in words if not WORD.match(line)] == []
    named = [found["word"] for line in words if (found := WORD.match(line)) and found["word"]]
    assert len(named) == len(set(named)) > 0


@pytest.mark.parametrize(("row", "where", "what"), MAP, ids=[row.cells[0] for row, _, _ in MAP])
def test_a_row_leads_to_files_that_hold_what_it_names(row, where, what):
    targets = [row.page.parent / target for target in LINK.findall(where)]
    missing = [str(target) for target in targets if not target.exists()]
    assert not missing
    texts = [target.read_text() for target in targets if target.is_file()]
    held = "\n".join([*map(str, targets), *texts])
    named = SPAN.findall(what)
    assert not [name for name in named if not re.search(rf"\b{re.escape(name)}\b", held)]
