r"""Words that this project no longer uses: not in its names, its help, or its documentation.

A row of `RETIRED` holds a word, where it must not stand, and the word that replaced it (see
docs/glossary.md). Ordinary English and mathematics pass: only names that this project defines are
read, so `math.floor` is nobody's; prose is read in help texts and on pages, where `\lfloor` is
another word; strings and test cases are not read at all.
"""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.main import get_command

from reward_functions.cli import app
from tests.architecture.sources import nodes
from tests.architecture.test_walls import ROOMS

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    # A decision's text is of its time.
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "adr"),
]
NAME, HELP, DOCS = "name", "help", "docs"
PROSE = f"{HELP} {DOCS}"
EVERYWHERE = f"{NAME} {PROSE}"
NOT_MATHEMATICS = " ".join(ROOMS.keys() - {"quantities", "symbolic"})


class Word(NamedTuple):
    """A word that is retired.

    Args:
        word: in a name its parts, joined by underscores whatever the case, or with a capital all of
            it; in prose, the words.
        where: of `NAME`, `HELP` and `DOCS`.
        instead: what to write.
        rooms: whose names are read; all of them where empty.
    """

    word: str
    where: str
    instead: str
    rooms: str = ""


RETIRED = [
    # rewards and their contract
    Word("ceiling", NAME, "limit", "symbolic"),
    Word("spread", NAME, "std"),
    Word("to blame", PROSE, "failure attribution"),
    Word("is no sample", PROSE, "is not a valid sample"),
    Word("are no samples", PROSE, "are not valid samples"),
    Word("told", NAME, "result, message, row, reported"),
    Word("said", NAME, "visible, stated, message"),
    Word("heard", NAME, "reply, received, result"),
    Word("knob", EVERYWHERE, "parameter"),
    Word("floor", NAME, "minimum", NOT_MATHEMATICS),
    Word("floor", PROSE, "minimum"),
    # The human ceiling of a calibration is the field's own word.
    Word("ceiling", NAME, "maximum", "core verifiers judges serving testing cli cdk"),
    Word("oracle", NAME, "gold_response"),
    Word("oracle", HELP, "gold response"),
    Word("sibling", EVERYWHERE, "group, or another response to the prompt"),
    Word("company", NAME, "group"),
    Word("families", NAME, "groups", "core serving"),
    Word("reward_spread", EVERYWHERE, "reward_std"),
    Word("zero_share", EVERYWHERE, "frac_reward_min"),
    Word("blame", NAME, "attribution"),
    Word("blame table", PROSE, "table of failure attribution"),
    Word("gaming example", PROSE, "attack"),
    # mathematics
    Word("survey", NAME, "traits"),
    Word("telling", NAME, "integrality_sensitive", "symbolic"),
    Word("bent", NAME, "piecewise", "symbolic"),
    Word("stepped", NAME, "integer_step", "symbolic"),
    Word("crossing", NAME, "breakpoint", "symbolic"),
    Word("hinge", NAME, "breakpoint", "symbolic"),
    Word("warranted", NAME, "admitted"),
    Word("rehearsal", NAME, "warmup", "symbolic"),
    Word("rehearsed", NAME, "bound_to_example"),
    Word("supervisor", NAME, "client"),
    Word("engine", NAME, "solver", "symbolic"),
    Word("Shapes", NAME, "a class named for the dispatch"),
    Word("circular", NAME, "trigonometry", "symbolic"),
    Word("spoken", NAME, "visible_response", "extraction"),
    Word("trouble", NAME, "disqualifying_cue", "extraction"),
    Word("part_of_more", NAME, "inside_larger_formula"),
    Word("rival", NAME, "conflicting_answer"),
    Word("dress", NAME, "markup"),
    Word("warrant", NAME, "admission"),
    Word("restating", NAME, "restatement"),
    # judges
    Word("Bench", NAME, "JudgePool"),
    Word("bench", NAME, "pool", "judge_runtime judges serving cli tools testing"),
    Word("sitting", NAME, "BatchJudge"),
    Word("sit", NAME, "for_batch", "judge_runtime"),
    Word("seat", NAME, "PanelMember"),
    Word("Judging", NAME, "JudgeConfig"),
    Word("judging", NAME, "config", "judge_runtime serving cdk"),
    Word("juror", EVERYWHERE, "panel member"),
    Word("jury", EVERYWHERE, "panel"),
    Word("juries", PROSE, "panels"),
    Word("quorum", EVERYWHERE, "min_votes"),
    Word("doubt", NAME, "escalation", "judge_runtime judges"),
    Word("Once", NAME, "Deduplicated"),
    Word("WithStandIn", NAME, "WithFallback"),
    Word("stand_in", NAME, "fallback"),
    Word("Remembered", NAME, "Cached"),
    Word("Patient", NAME, "Retrying"),
    Word("Paced", NAME, "RateLimited"),
    Word("pace", NAME, "rate_limit"),
    Word("shelf", NAME, "CacheBackend"),
    Word("shelves", NAME, "backends"),
    Word("Warm", NAME, "LRUCache"),
    Word("Table", NAME, "DynamoDBCache", "judge_runtime"),
    Word("Memory", NAME, "TieredCache"),
    Word("neutral", NAME, "sanitize", "judge_runtime"),
    Word("ladder", EVERYWHERE, "output modes, or the tiers of equality"),
    Word("rung", EVERYWHERE, "output mode, or tier"),
    Word("surest", EVERYWHERE, "preferred"),
    Word("steadiness", EVERYWHERE, "consistency"),
    Word("leanings", EVERYWHERE, "bias"),
    Word("bait", NAME, "AttackTarget", "tools cli"),
    Word("blow", NAME, "AttackOutcome"),
    Word("asked_by", NAME, "scorer_for"),
    Word("examined", NAME, "run_attacks"),
    Word("unusable", NAME, "invalid", "tools"),
    Word("judge warm", PROSE, "judge probe"),
    # deployment and tools
    Word("embedded AWS", PROSE, "local AWS emulator"),
    Word("emulated stage", PROSE, "stage for the local AWS emulator"),
    Word("fitted", NAME, "shrink_to_limit"),
    Word("last words", PROSE, "log tail"),
    Word("a child could apply", PROSE, "scripted judge model"),
    # packages and files of before
    Word("reward_functions.judges.attacks", PROSE, "reward_functions.judge_runtime.attack_corpus"),
    Word("helpers.cli", PROSE, "reward_functions.cli"),
    Word("infra.app:main", PROSE, "reward-cdk-app"),
    Word("reward_functions.text", PROSE, "reward_functions.extraction, or quantities"),
    Word("symbolic/worker.py", PROSE, "symbolic/cas/worker.py"),
    Word("symbolic/supervisor.py", PROSE, "symbolic/cas/client.py"),
]


@cache
def parts(name):
    """The words of a name: `zero_share`, `_Seat`, `REWARD_KNOBS`, `WithStandIn`."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return split.lower().strip("_").split("_")


def holds(name, word):
    """Whether a word, or its plural, is one of the words of a name, or several in a row."""
    if word[0].isupper():
        return name.strip("_") == word
    found, sought = parts(name), parts(word)
    plural = [*sought[:-1], f"{sought[-1]}s"]
    runs = [found[at : at + len(sought)] for at in range(len(found))]
    return sought in runs or plural in runs


def names(nodes):
    """(line, name) of all that a module defines: no name that it only uses."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.alias) and node.asname:
            yield node.lineno, node.asname


@cache
def defined():
    """(room, place) of whatever the project defines, modules included, by its name."""
    found = defaultdict(list)
    for top in ("reward_functions", "infra", "helpers"):
        for path in sorted((ROOT / top).rglob("*.py")):
            shown = path.relative_to(ROOT)
            room = shown.parts[1] if top == "reward_functions" else top
            found[path.stem].append((room, str(shown)))
            for line, name in names(nodes(path)):
                found[name].append((room, f"{shown}:{line}"))
    return found


def commands(command, path="reward"):
    """(path, text) of everything the command line prints as help."""
    yield path, command.help or ""
    for parameter in command.params:
        options = " ".join([*parameter.opts, *parameter.secondary_opts])
        yield f"{path} {options}", f"{options} {getattr(parameter, 'help', None) or ''}"
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{path} {name}")


@cache
def helped():
    """(place, text, text in lower case) of everything the command line prints as help."""
    return [(place, text, text.lower()) for place, text in commands(get_command(app))]


@cache
def written():
    """(place, text, text in lower case) of every line of the documentation."""
    return [
        (f"{page.name}:{number}", line, line.lower())
        for page in PAGES
        for number, line in enumerate(page.read_text().splitlines(), start=1)
    ]


def places(word):
    """Where a retired word stands."""
    written_so = {word.word.lower(), word.word.lower().replace("_", " ")}
    prose = re.compile(
        rf"(?<![\w\\-]){re.escape(word.word.replace('_', ' '))}s?(?![\w-])"
        rf"|(?<![A-Za-z0-9\\]){re.escape(word.word)}s?(?![A-Za-z0-9])",
        re.IGNORECASE,
    )
    for name in defined() if NAME in word.where else ():
        if holds(name, word.word):
            yield from (
                f"{place} {name}"
                for room, place in defined()[name]
                if not word.rooms or room in word.rooms.split()
            )
    for kind, texts in ((HELP, helped), (DOCS, written)):
        for place, text, lowered in texts() if kind in word.where else ():
            if any(each in lowered for each in written_so) and prose.search(text):
                yield place


@pytest.mark.parametrize("word", RETIRED, ids=[f"{row.word} ({row.where})" for row in RETIRED])
def test_a_retired_word_is_not_used(word):
    assert not list(places(word)), f"write {word.instead}"


@pytest.mark.parametrize(
    ("name", "word", "found"),
    [
        ("REWARD_KNOBS", "knob", True),
        ("WithStandIn", "stand_in", True),
        ("_Table", "Table", True),
        ("table", "Table", False),
        ("CacheTable", "Table", False),
        ("_Seat", "seat", True),
        ("Seating", "seat", False),
        ("zero_share", "zero_share", True),
        ("share_of_zero", "zero_share", False),
        ("lfloor", "floor", False),
    ],
)
def test_a_word_is_found_in_a_name(name, word, found):
    assert holds(name, word) == found


def test_a_name_that_is_only_used_is_nobodys():
    code = "from math import floor\nfrom math import ceil as up\nx = math.floor(floor(y))"
    assert [name for _, name in names(ast.walk(ast.parse(code)))] == ["up", "x"]
