"""CONTRIBUTING.md and the glossary lead somewhere: files, and what to look for in them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
GLOSSARY = ROOT / "docs" / "glossary.md"

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
SPAN = re.compile(r"`([^`]+)`")
TASK = re.compile(r"^- (?P<task>.+?): (?P<where>\[.+)$", re.MULTILINE)
WORD = re.compile(r"^- \*\*(?:\[(?P<word>[^\]]+)\]\((?P<code>\S+)\)|[^*]+)\*\*: .+[.]$")


MAP = [(found["task"], found["where"]) for found in TASK.finditer(CONTRIBUTING.read_text())]


def test_there_is_a_map():
    assert len(MAP) > 100
    assert len(dict(MAP)) == len(MAP)


def test_a_word_has_one_meaning_and_leads_to_code():
    words = [line for line in GLOSSARY.read_text().splitlines() if line.startswith("- ")]
    assert [line for line in words if not WORD.match(line)] == []
    named = [found["word"] for line in words if (found := WORD.match(line)) and found["word"]]
    assert len(named) == len(set(named)) > 0


@pytest.mark.parametrize(("task", "where"), MAP, ids=[task for task, _ in MAP])
def test_a_task_leads_to_files_that_hold_what_it_names(task, where):
    targets = [ROOT / target for target in LINK.findall(where)]
    missing = [str(target) for target in targets if not target.exists()]
    assert targets, task
    assert not missing
    texts = [target.read_text() for target in targets if target.is_file()]
    held = "\n".join([*map(str, targets), *texts])
    named = SPAN.findall(where.partition("; ")[0])
    assert not [name for name in named if not re.search(rf"\b{re.escape(name)}\b", held)]
