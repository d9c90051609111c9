"""Every rule of the registry holds, lives where it says, and is the one that verdicts name."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

import reward_functions
from reward_functions import get, sample
from reward_functions.reports.rules.registry import FOLDER, SHARED, rows, rule_of
from tests.architecture.sources import nodes

CASES = Path(__file__).parents[2] / "cases"
PACKAGE = Path(reward_functions.__file__).parent
REWARDS = sorted(file.stem for file in FOLDER.glob("*.toml"))
RULES = [(reward, rule) for reward in REWARDS for rule in rows(reward)]
NAMED = [f"{reward}: {rule.id}" for reward, rule in RULES]

NAMES_A_RULE = {
    "same": 0,
    "differ": 0,
    "unknown": 0,
    "NoAnswer": 1,
    "Evidence": 0,
    "not_answered": 1,
}
"""Which argument of a call is the id of a rule."""

NAMES = re.compile(rf"\b(?:{'|'.join(NAMES_A_RULE)})\(|\b_RULE\b")

ROOMS = ("extraction", "symbolic", "finqa", "verifiers")


def named_rules():
    """(id, file) of every rule that the code of the verifiers names as a literal."""
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            for node in nodes(path) if NAMES.search(path.read_text()) else ():
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    at = NAMES_A_RULE.get(node.func.id)
                    if at is not None and len(node.args) > at:
                        for literal in ast.walk(node.args[at]):
                            if isinstance(literal, ast.Constant):
                                yield literal.value, path
                elif isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "_RULE":
                    yield ast.literal_eval(node.value), path


@cache
def scores():
    """The score of every example by file and id; `math` scores those that all share."""
    found = {}
    for file, rule in RULES:
        reward = get("math" if file == SHARED else file)
        example = sample(rule.response, rule.reference, prompt=rule.prompt)
        found[file, rule.id] = reward(example, **rule.parameters)
    return found


def test_the_registry_has_the_verifiers():
    assert {"finqa", "gsm8k", "math", "multiple_choice"} <= set(REWARDS)
    assert len(RULES) > 130


@pytest.mark.parametrize("reward", REWARDS)
def test_an_id_and_a_statement_stand_once(reward):
    for of in ("id", "statement"):
        values = [getattr(rule, of) for rule in rows(reward)]
        assert len(values) == len(set(values))
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.id) for rule in rows(reward))


@pytest.mark.parametrize(("reward", "rule"), RULES, ids=NAMED)
def test_the_example_of_a_rule_holds_and_names_a_rule(reward, rule):
    score = scores()[reward, rule.id]
    assert score.value == rule.score, score.reason
    assert score.evidence is not None
    assert rule_of("math" if reward == SHARED else reward, score.evidence.rule), score.evidence.rule


@pytest.mark.parametrize("place", sorted({rule.where for _, rule in RULES}))
def test_a_rule_lives_where_it_says(place):
    path, name = place.split("::")
    assert re.search(
        rf"(?:def|class) {name}\b|^{name}\b.* = ", (PACKAGE / path).read_text(), re.MULTILINE
    )


def test_what_the_code_names_is_a_rule_whose_example_it_decides():
    known = {rule.id for _, rule in RULES}
    named = dict(named_rules())
    assert {rule for rule in named if rule not in known} == set()
    own = {rule for (_, rule), score in scores().items() if score.evidence.rule == rule}
    assert {rule for rule in named if rule not in own} == set(), (
        "its own example is decided by another"
    )


@pytest.mark.parametrize("table", ["math", "differential", "answers"])
def test_every_verdict_names_a_rule(table):
    for line in (CASES / f"{table}.jsonl").read_text().splitlines():
        row = json.loads(line)
        case = sample(row["response"], row.get("reference", "5"), prompt=row.get("prompt", ""))
        score = get("math")(case)
        assert rule_of("math", score.evidence.rule), (row, score.evidence.rule)
