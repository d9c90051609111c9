"""The rooms of the package: what each is, what it may import, and how many lines it may hold.

A row is a room, or a folder of a room with a place of its own in the order. It imports itself and
rows above it. Lines are those of code, without docstrings, comments and blanks; `target` is what
they are to come to. CONTRIBUTING.md shows the table: `make docs`.
"""

import ast
import io
import tokenize
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.architecture.sources import nodes

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "reward_functions"


class Room(NamedTuple):
    """One row of the walls."""

    what: str
    """A sentence of at most twelve words."""

    imports: frozenset[str]

    lines: int
    """The most lines of code that it may hold."""

    target: int

    import_share: int
    """The most percent of them that may be imports."""


def room(what, imports, lines, target, import_share):
    return Room(what, frozenset(imports.split()), lines, target, import_share)


LANGUAGE = "core quantities extraction"

ROOMS = {
    "core": room("What a reward is; the standard library only.", "", 3_130, 2_300, 10),
    "quantities": room("Numbers, number words, units, printed precision.", "core", 910, 830, 5),
    "extraction": room(
        "Which part of a response is its answer, unless taken back.",
        "core quantities",
        4_660,
        3_500,
        8,
    ),
    "symbolic": room(
        "Whether two mathematical answers are equal.", "core quantities", 12_640, 10_300, 13
    ),
    "finqa": room(
        "FinQA's records, programs, values, and its own words around answers.",
        LANGUAGE,
        2_070,
        1_900,
        11,
    ),
    "verifiers": room(
        "Rewards that decide by a rule, one a file.", f"{LANGUAGE} symbolic finqa", 3_900, 1_350, 17
    ),
    "judge_runtime": room(
        "How judges ask models: panel, retries, cache, prompts.", LANGUAGE, 2_340, 2_350, 14
    ),
    "judges": room(
        "Rewards that ask a model, each with its prompt.",
        f"{LANGUAGE} verifiers judge_runtime",
        820,
        700,
        13,
    ),
    "shapers": room("Rewards for the form of a response.", LANGUAGE, 650, 350, 11),
    "serving": room(
        "The reward Lambda, and nothing else.", "core symbolic judge_runtime", 1_590, 1_400, 13
    ),
    "rollouts": room(
        "Agents' episodes: how they end, and rewards that are counted once.",
        "core extraction",
        16_380,
        14_800,
        13,
    ),
    "feedback": room(
        "The Lambda that scores what agents deferred.", "core serving rollouts", 780, 800, 15
    ),
    "aws": room("Who signs, what fails, names, ARNs, S3.", "core serving", 1_130, 1_000, 11),
    "testing": room("What tests of rewards use, here and elsewhere.", "core serving", 540, 540, 9),
    "reports": room(
        "Tables, charts, pages, statistics, the summary of a scored file.",
        f"{LANGUAGE} judge_runtime judges",
        3_080,
        2_200,
        10,
    ),
    "data": room(
        "Rows of any shape, public data sets, lint, split, lengths.",
        f"{LANGUAGE} finqa judge_runtime serving reports",
        4_610,
        3_000,
        9,
    ),
    "aws.deployed": room(
        "Deployed functions: found, invoked, checked, rolled back, pruned.",
        "core serving aws testing reports data",
        1_700,
        1_050,
        10,
    ),
    "calibration": room(
        "Whether a judge may be trusted: people, cost.",
        "core extraction judge_runtime serving testing reports data",
        1_870,
        1_450,
        9,
    ),
    "scoring": room(
        "A file of responses scored, resumable, in processes or on clusters.",
        "core serving testing aws reports data aws.deployed judge_runtime calibration",
        4_035,
        1_000,
        14,
    ),
    "export": room(
        "Results as dataframes, and in experiment trackers.", "core reports data", 280, 300, 16
    ),
    "adapters": room(
        "What trainers and clusters call, one host a file.",
        "core serving scoring",
        1_130,
        1_010,
        20,
    ),
    "audit": room(
        "Whether a reward can be trained on; how two differ.",
        f"{LANGUAGE} finqa judge_runtime serving testing aws reports data aws.deployed"
        " calibration scoring",
        4_580,
        3_800,
        10,
    ),
    "jobs": room(
        "Training jobs of every service, a driver each: planned, started, watched, explained.",
        "core judge_runtime serving rollouts aws testing reports data aws.deployed calibration"
        " audit",
        9_250,
        7_000,
        9,
    ),
    "jobs.evaluation": room(
        "A tuned model compared with its base, prompt by prompt.",
        "core serving aws testing reports data aws.deployed calibration audit jobs",
        1_470,
        1_200,
        12,
    ),
    "rollouts.drive": room(
        "Agents run as a trainer runs them, on one machine.",
        "core rollouts serving feedback aws reports data aws.deployed",
        2_420,
        1_400,
        11,
    ),
    "cdk": room(
        "A stage: its `cdk.json`, AWS's limits, its stack and its app.",
        "core judge_runtime serving rollouts feedback aws scoring",
        8_380,
        7_700,
        12,
    ),
    "scaffold": room(
        "A folder to train with, made of one's own file.",
        f"{LANGUAGE} judge_runtime serving reports data scoring",
        830,
        650,
        14,
    ),
    "local": room(
        "AWS on a laptop: emulator, training double, runtime double.",
        "core extraction serving rollouts aws reports data aws.deployed audit jobs rollouts.drive"
        " cdk",
        7_500,
        6_300,
        11,
    ),
    "view": room(
        "Results of a folder in one list, on this machine.",
        "core rollouts reports data scoring audit jobs jobs.evaluation rollouts.drive",
        2_180,
        1_700,
        12,
    ),
    "cli": room(
        "Commands: arguments, calls, what is printed.",
        "core judge_runtime serving rollouts feedback adapters aws testing reports data"
        " aws.deployed calibration scoring export audit jobs jobs.evaluation rollouts.drive cdk"
        " scaffold local view",
        8_740,
        8_000,
        17,
    ),
}


def row_of(name, rows=ROOMS):
    """The row of a dotted name below the package, such as `rollouts.drive.figures`, or None."""
    while name and name not in rows:
        name = name.rpartition(".")[0]
    return name or None


@cache
def files():
    """The files of every row."""
    found = {name: [] for name in ROOMS}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = row_of(".".join(path.relative_to(PACKAGE).with_suffix("").parts))
        if name:
            found[name].append(path)
    return found


def lines_of(path):
    """The numbers of a file's lines of code, and of those that import."""
    silent = set()
    imports = set()
    for node in nodes(path):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                silent |= set(range(statement.lineno, statement.end_lineno + 1))
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports |= set(range(node.lineno, node.end_lineno + 1))
    code = _tokens(path) if _texts_hide(path, silent) else _written(path)
    return code - silent, imports


def _written(path):
    """The numbers of the lines that are neither blank nor a comment."""
    lines = enumerate(path.read_text().splitlines(), start=1)
    return {number for number, line in lines if line.strip() and line.lstrip()[0] != "#"}


def _texts_hide(path, silent):
    """Whether a text of several lines has such a line, which is of the text."""
    spans = {
        line
        for node in nodes(path)
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno > node.lineno
        for line in range(node.lineno, node.end_lineno + 1)
    }
    return not spans - silent <= _written(path)


def _tokens(path):
    """The numbers of the lines that a token stands on: this takes ten times as long."""
    quiet = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    code = set()
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type not in quiet | {tokenize.ENDMARKER}:
            code |= set(range(token.start[0], token.end[0] + 1))
    return code
