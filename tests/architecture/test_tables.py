"""Every row of every table that maps to functions is called, and every table is listed.

A row that names the wrong function is found when it is called, and else by a user: `"ceil"` named
`sympy.limit` for months. `ROWS` calls the rows. `TYPES` hold classes that values are compared with:
the tests of what reads them try values of other types.
"""

from pathlib import Path

import pytest

from tests.architecture.called import (
    datasets,
    doubles,
    mathematics,
    notation,
    promises,
    rollouts,
    stacks,
    texts,
    tools,
)
from tests.architecture.called.rows import outcome, table, wrong
from tests.architecture.tables import found

REPOSITORY = Path(__file__).parents[2]

MODULES = (
    datasets,
    doubles,
    mathematics,
    notation,
    promises,
    rollouts,
    stacks,
    texts,
    tools,
)

ROWS = {name: rows for module in MODULES for name, rows in module.ROWS.items()}
FILES = {name: Path(module.__file__).name for module in MODULES for name in module.ROWS}

TYPES = {
    "cdk.app.schema:BY_A_STRING",
    "judge_runtime.config_reading:_EITHER",
    "judge_runtime.config_reading:_TYPES",
    "rollouts.report.deferred:FIELDS",
    "rollouts.report.deferred:MESSAGE",
    "rollouts.report.deferred:METADATA",
    "rollouts.report.deferred:SAMPLE",
    "rollouts.report.deferred:SCORER",
    "rollouts.episode.results:FAILURES",
    "rollouts.record.jsonl:_TOOL_CALL",
    "rollouts.record.jsonl:_TOOL_RESULT",
    "rollouts.record.jsonl:_TRAJECTORY",
    "rollouts.record.jsonl:_TURN",
    "aws.deployed.catalogue:WORDS",
    "scoring.invoked:_BASES",
}


ELSEWHERE = {
    "symbolic.cas.weights:NUMBERS": "tests/symbolic/cas/test_weights.py",
    "symbolic.cas.weights:POLYNOMIALS": "tests/symbolic/cas/test_weights.py",
    "symbolic.expr.functions:FUNCTIONS": "tests/symbolic/test_functions.py",
    **dict.fromkeys(
        (f"verifiers._instructions.checks:{name}" for name in ("RELATIONS", "ROWS", "KINDS")),
        "tests/verifiers/test_instructions.py",
    ),
    **dict.fromkeys(
        (f"audit.conventions:{name}" for name in ("_TRL", "_VERL", "_ROLLOUT", "_LOGS")),
        "tests/audit/test_conventions.py",
    ),
    "audit.conventions:CONVENTIONS": "tests/audit/test_conventions.py",
    "audit.corpus:CLASSES": "tests/audit/test_corpus.py",
    "audit.corpus:LAYOUTS": "tests/audit/test_corpus.py",
    "verifiers.json_fields:TEXTS": "tests/verifiers/test_json_fields.py",
    "audit.rendering:FORMATS": "tests/audit/test_rendering.py",
    "audit.timing:FLOODS": "tests/audit/test_rendering.py",
    "view.kinds:LINES": "tests/view/test_library.py",
    "view.records:DOCUMENTS": "tests/view/test_library.py",
    "view.shown:SORTS": "tests/view/test_app.py",
    "jobs.preflight:CHECKS": "tests/jobs/test_preflight_service.py",
    # By boto3, which their answers fit; each asks for the right that has its name.
    "local.training_double.agent_rft:OPERATIONS": "tests/local/training_double/test_agent_jobs.py",
    "local.training_double.bedrock:OPERATIONS": "tests/local/training_double/test_bedrock.py",
    "local.training_double.hub:OPERATIONS": "tests/local/training_double/test_sagemaker_hub.py",
    "local.training_double.mlflow:OPERATIONS": "tests/local/training_double/test_sagemaker.py",
    "local.training_double.sagemaker:OPERATIONS": "tests/local/training_double/test_sagemaker.py",
    "export.trackers:TRACKERS": "tests/export/test_trackers.py",
    "local.training_double.server:REST": "tests/local/training_double/test_bedrock.py",
}
"""Tables whose rows another test calls."""


def test_every_table_of_functions_is_listed():
    assert len(ROWS) == sum(len(module.ROWS) for module in MODULES)
    assert ROWS.keys().isdisjoint(TYPES)
    others = TYPES | ELSEWHERE.keys()
    assert others <= found().keys() <= ROWS.keys() | others
    assert all((REPOSITORY / test).is_file() for test in ELSEWHERE.values())


def rows_of(name):
    """The rows of a table, of which each has what comes of it."""
    rows, expected = table(name), ROWS[name].expected
    told = f"in tests/architecture/called/{FILES[name]}, for a row of {name}"
    assert not (new := rows.keys() - expected.keys()), f"add what comes of {sorted(new)} {told}"
    assert not (gone := expected.keys() - rows.keys()), f"take out {sorted(gone)} {told}"
    return rows


@pytest.mark.parametrize("name", ROWS)
def test_each_row_is_called_and_does_what_its_name_says(name):
    rows, told, expected = rows_of(name), ROWS[name].told, ROWS[name].expected
    assert rows
    assert {key: told(key, row) for key, row in rows.items()} == expected


def test_a_row_that_nobody_calls_is_named_with_the_file(monkeypatch):
    monkeypatch.setitem(table("symbolic.parsing.commands:COMMANDS"), "acme", None)
    with pytest.raises(AssertionError, match=r"add .*\['acme'\] in tests/.*/called/notation\.py"):
        rows_of("symbolic.parsing.commands:COMMANDS")


@pytest.mark.parametrize("name", ROWS)
def test_a_row_with_the_function_of_any_other_row_is_noticed(name):
    rows, (told, expected, alike) = dict(rows_of(name)), ROWS[name]
    others = {id(row): (key, row) for key, row in rows.items()}.values()
    unnoticed = [
        (key, each)
        for key, row in rows.items()
        for other, theirs in others
        if {key, other} not in map(set, alike)
        for each in wrong(row, theirs)
        if outcome(told, key, each) == expected[key]
    ]
    assert not unnoticed
