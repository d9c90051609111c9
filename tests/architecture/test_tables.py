"""Every row of every table that maps to functions is called by a test, and every table is listed.

A row that names the wrong function is found when it is called, and else by a user: `"ceil"` named
`sympy.limit` for months. `CALLED` has the tables whose rows are called here. `TYPES` hold classes
that values are compared with. `ELSEWHERE` says which tests call the rows of the others.
"""

import math
import operator
from fractions import Fraction
from importlib import import_module
from math import isclose
from pathlib import Path
from types import SimpleNamespace

import pytest

from reward_functions.symbolic.budget import Work
from reward_functions.symbolic.cas import protocol, to_sympy
from reward_functions.symbolic.expr.nodes import Apply, Number, Symbol
from reward_functions.symbolic.numeric.ball import NoValue
from reward_functions.symbolic.numeric.ball_double import DoubleArithmetic
from reward_functions.symbolic.numeric.evaluate import Evaluation, Interpretation
from reward_functions.tools.score_report.row_facts import CUT
from tests.architecture.tables import found

ROOT = Path(__file__).parents[2]
POINTS = (Fraction(-3, 2), Fraction(3, 10), Fraction(3, 2))


def table(name):
    module, _, attribute = name.partition(":")
    return getattr(import_module(f"reward_functions.{module}"), attribute)


# ---- functions of mathematics


def evaluated(name, *values):
    """What our own arithmetic says; None where there is no value."""
    tree = Apply(name, tuple(Number(Fraction(each)) for each in values))
    try:
        numbers = DoubleArithmetic(real=True)
        return Evaluation(numbers, {}, Work(), Interpretation()).value(tree)[0]
    except NoValue:
        return None


def to_sympy_functions(rows):
    """Each says what our own arithmetic says, at each point where both have a real value."""
    for name in rows:
        checked = 0
        for point in POINTS:
            values = (point, Fraction(1, 2)) if name in ("max", "min") else (point,)
            ours = evaluated(name, *values)
            tree = Apply(name, tuple(Number(each) for each in values))
            theirs = complex(to_sympy.Conversion(tree).expression(tree).evalf())
            if ours is not None:
                assert isclose(ours, theirs.real, abs_tol=1e-12), name
                assert abs(theirs.imag) < 1e-12, name
                checked += 1
        assert checked, name


DERIVED = {
    "tan": math.tan(0.3),
    "cot": 1 / math.tan(0.3),
    "sec": 1 / math.cos(0.3),
    "csc": 1 / math.sin(0.3),
    "arccot": math.atan(1 / 0.3),
    "tanh": math.tanh(0.3),
    "coth": 1 / math.tanh(0.3),
    "sech": 1 / math.cosh(0.3),
    "csch": 1 / math.sinh(0.3),
    "arcsec": math.acos(1 / 1.5),
    "arccsc": math.asin(1 / 1.5),
    "ceil": 2.0,
    "sgn": 1.0,
    "re": 1.5,
    "im": 0.0,
    "conj": 1.5,
    "arg": 0.0,
}
"""At 0.3 the first nine, and at 1.5 the others."""

AT_FIRST = 9


def derived_functions(rows):
    """Values that a table of mathematics has."""
    assert isclose(evaluated("log_", 2, 8), 3.0)
    numbers = DoubleArithmetic(real=False)
    turned, _ = rows["cis"](numbers, numbers.rational(Fraction(0)))
    assert isclose(abs(turned - 1), 0.0, abs_tol=1e-12)
    assert rows.keys() == DERIVED.keys() | {"log_", "cis"}
    for place, (name, value) in enumerate(DERIVED.items()):
        point = Fraction(3, 10) if place < AT_FIRST else Fraction(3, 2)
        assert isclose(
            abs(rows[name](numbers, numbers.rational(point))[0] - value), 0, abs_tol=1e-12
        )


def functions_of_many(rows):
    values = {"gcd": 4, "lcm": 24, "max": 12, "min": 8}
    assert {name: evaluated(name, 8, 12) for name in rows} == values


def constants_of_sympy(rows):
    assert {name: str(value) for name, value in rows.items()} == {
        "π": "pi",
        "e": "E",
        "i": "I",
        "∞": "oo",
    }


def kinds_of_nodes(rows):
    """Each survives the wire under its own name, whatever its fields hold."""
    for name, kind in rows.items():
        bare = object.__new__(kind)
        for field in kind.__dataclass_fields__:
            object.__setattr__(bare, field, "x")
        packed = protocol._packed(bare)
        assert packed[0] == name == kind.__name__
    assert protocol._unpacked(protocol._packed(Symbol("x"))) == Symbol("x")


# ---- others


def arithmetic_of_programs(rows):
    found_values = {name: rows[name](Fraction(6), Fraction(2)) for name in rows}
    assert found_values == {
        "add": 8,
        "subtract": 4,
        "multiply": 12,
        "divide": 3,
        "exp": 36,
        "greater": "yes",
    }


def rows_of_programs(rows):
    cells = [Fraction(1), Fraction(2), Fraction(6)]
    values = {"table_max": 6, "table_min": 1, "table_sum": 9, "table_average": 3}
    assert {name: rows[name](cells) for name in rows} == values


def aggregates(rows):
    values = {"mean": 0.4, "median": 0.2, "majority": 0.2, "minimum": 0.0}
    assert {name: rows[name]([0.0, 0.2, 0.2, 0.2, 1.4]) for name in rows} == pytest.approx(values)


def types_of_json(rows):
    held = {"object": {}, "array": [], "string": "", "boolean": True, "null": None}
    held |= {"number": 1.5, "integer": 2.0}
    for name, value in held.items():
        assert rows[name](value), name
        assert [other for other in rows if rows[other](value)] in (
            [name],
            ["number", "integer"],
        ), name
    assert rows.keys() == held.keys()


def bounds_of_json(rows):
    signs = {
        "minimum": operator.ge,
        "maximum": operator.le,
        "exclusiveMinimum": operator.gt,
        "exclusiveMaximum": operator.lt,
    }
    for name, (holds, words) in rows.items():
        for value in (1.0, 2.0, 3.0):
            assert holds(value, 2.0) is signs[name](value, 2.0), name
        assert words
    assert rows.keys() == signs.keys()


def chosen_rows(rows):
    scale = SimpleNamespace(minimum=0.0, maximum=1.0)

    def kept(value, signs=0):
        facts = SimpleNamespace(value=value, signs=signs)
        return {name for name in rows if rows[name](facts, scale)}

    assert kept(0.0) == {"minimum", "disagree"}
    assert kept(0.5) == {"partial", "disagree"}
    assert kept(0.5, signs=CUT) == {"partial", "truncated", "disagree"}
    assert kept(1.0) == {"maximum", "disagree"}
    assert kept(None) == {"unscored", "disagree"}


def conditions(rows):
    for name, (compare, wanted) in rows.items():
        assert compare("a/b", "a/b"), name
        assert not compare("a/b", "a/c"), name
        assert wanted is ("not" not in name), name
        assert compare("a/b", "a/*") is ("like" in name or "arn" in name), name
        assert compare("A", "a") is ("ignorecase" in name), name


def anchors(rows):
    """Each is asked for every kind of neighbours, and holds for some of them."""
    for name, holds in rows.items():
        asked = {holds(before, after) for before in range(8) for after in range(8)}
        assert asked == {True, False}, name


CALLED = {
    "symbolic.cas.to_sympy:_FUNCTIONS": to_sympy_functions,
    "symbolic.cas.to_sympy:_CONSTANTS": constants_of_sympy,
    "symbolic.cas.protocol:_KINDS": kinds_of_nodes,
    "symbolic.numeric.evaluate:_DERIVED": derived_functions,
    "symbolic.numeric.evaluate:_OF_MANY": functions_of_many,
    "finqa.executor:_ARITHMETIC": arithmetic_of_programs,
    "finqa.executor:_OVER_ROWS": rows_of_programs,
    "judge_runtime.aggregation:_AGGREGATES": aggregates,
    "tools.jobs.json_schema:_TYPES": types_of_json,
    "tools.jobs.json_schema:_BOUNDS": bounds_of_json,
    "cli._selection:_CHOSEN": chosen_rows,
    "tools.training_double.conditions:OPERATORS": conditions,
    "shapers._regex:ANCHORS": anchors,
}

TYPES = {
    "core.declared:TYPES",
    "judge_runtime.config_reading:_EITHER",
    "rollouts.agentcore.answers:STATUSES",
    "rollouts.deferred.record:FIELDS",
    "rollouts.deferred.record:MESSAGE",
    "rollouts.deferred.record:SAMPLE",
    "rollouts.deferred.record:SCORER",
    "rollouts.trajectories.jsonl:_TOOL_CALL",
    "rollouts.trajectories.jsonl:_TOOL_RESULT",
    "rollouts.trajectories.jsonl:_TRAJECTORY",
    "rollouts.trajectories.jsonl:_TURN",
    "tools.agentcore_double.double:STATUS",
    "tools.deployed.catalogue:WORDS",
    "tools.jobs.hyperparameters:TYPES",
    "tools.loopback_service.refusals:STATUS",
    "tools.loopback_service.validation:TYPES",
    "tools.rollouts.records:_SETUP",
    "tools.rollouts.records:_TYPES",
}

ELSEWHERE = {
    "cdk.custodian.index:DUTIES": "tests/cdk/test_custodian.py",
    "cdk.custodian.index:SHAPE": "tests/cdk/test_custodian.py",
    "cdk.stages:MODELS": "tests/cdk/test_options.py",
    "core.declared:MADE": "tests/core/test_declared.py",
    "extraction.cues.compiling:_ANY": "tests/extraction/cues/test_lexicon.py",
    "feedback.settings:READ": "tests/feedback",
    "feedback.settings:WRITTEN": "tests/feedback",
    "judge_runtime.backends.replay:_FAILURES": "tests/judge_runtime",
    "rollouts.boto3_events:PREPARED": "tests/rollouts",
    "rollouts.deferred.record:_STRICT": "tests/rollouts/deferred",
    "rollouts.episodes.policy_ping:WAYS": "tests/rollouts/episodes",
    "rollouts.relay.anthropic_requests:PARTS": "tests/rollouts/relay",
    "rollouts.reporting.delivery:BY_CLASS": "tests/rollouts/reporting",
    "rollouts.reporting.delivery:BY_STATUS": "tests/rollouts/reporting",
    "rollouts.reporting.delivery:BY_TYPE": "tests/rollouts/reporting",
    "rollouts.reporting.delivery:UNSENDABLE": "tests/rollouts/reporting",
    "rollouts.scoring.scorer:_FIELDS": "tests/rollouts/scoring/test_scorer.py",
    "rollouts.strands.answers:READERS": "tests/rollouts/strands",
    "rollouts.transports.opening:_CLASSES": "tests/rollouts/transports",
    "shapers._regex:CATEGORIES": "tests/shapers",
    "shapers._regex:OF_LINES": "tests/shapers",
    "shapers.answer_format:_FORMS": "tests/shapers",
    "symbolic.numeric.ball_double:_CONSTANTS": "tests/symbolic/numeric",
    "symbolic.numeric.evaluate:_RULES": "tests/symbolic/numeric",
    "symbolic.numeric.traits:_RULES": "tests/symbolic/numeric",
    "symbolic.parsing.atoms:ATOMS": "tests/symbolic/test_cases.py",
    "symbolic.parsing.commands:COMMANDS": "tests/symbolic/test_cases.py",
    "symbolic.parsing.environments:ENVIRONMENTS": "tests/symbolic/test_cases.py",
    "symbolic.parsing.lexer:_OWN_RULES": "tests/symbolic/test_cases.py",
    "symbolic.parsing.postfixes:POSTFIXES": "tests/symbolic/test_cases.py",
    "testing.contract:CONTRACT": "tests/test_testing.py",
    "tools.calibration.page:CHARTS": "tests/tools/calibration/test_plots.py",
    "tools.datasets.generated.writing:ROWS": "tests/tools/datasets",
    "tools.datasets.other_answers:OTHER_KINDS": "tests/tools/datasets/test_other_answers.py",
    "tools.deployed.jobs:SERVICES": "tests/cdk/test_own_rights.py",
    "tools.deployed.reports:RENDERED": "tests/tools/test_check_reports.py",
    "tools.rollouts.page:CHARTS": "tests/gallery",
    "tools.rows.columns:_KINDS": "tests/tools/rows",
    "tools.rows.writing:WRITERS": "tests/tools/rows/test_writing.py",
    "tools.runtime_double.control:ACTIONS": "tests/tools",
    "tools.score_report.criteria:_BEST": "tests/tools",
    "tools.training_double.agent_jobs:OPERATIONS": "tests/tools/training_double",
    "tools.training_double.agent_jobs:SORTS": "tests/tools/training_double",
    "tools.training_double.aws_api:SAGEMAKER": "tests/tools/training_double",
    "tools.training_double.control:ACTIONS": "tests/tools/training_double/test_control.py",
    "tools.training_double.job_events:TARGETS": "tests/tools/training_double",
    "tools.training_double.sagemaker_mlflow:OPERATIONS": "tests/tools/training_double",
    "tools.training_double.tasks:_NEAR_MISSES": "tests/tools/training_double",
}


def test_every_table_of_functions_is_listed_with_what_calls_its_rows():
    listed = [*CALLED, *TYPES, *ELSEWHERE]
    assert len(listed) == len(set(listed))
    assert set(found()) == set(listed)


@pytest.mark.parametrize("name", CALLED)
def test_each_row_is_called_and_does_what_its_name_says(name):
    rows = table(name)
    assert rows
    CALLED[name](rows)


@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_the_tests_that_call_a_table_are_there(name):
    assert (ROOT / ELSEWHERE[name]).exists()
