"""Every row of every table that maps to functions is called, and every table is listed.

A row that names the wrong function is found when it is called, and else by a user: `"ceil"` named
`sympy.limit` for months. `ROWS` calls the rows. `TYPES` hold classes that values are compared with:
the tests of what reads them try values of other types.
"""

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

TYPES = {
    "cdk.app.schema:BY_A_STRING",
    "judge_runtime.config_reading:_EITHER",
    "judge_runtime.config_reading:_TYPES",
    "rollouts.report.deferred.record:FIELDS",
    "rollouts.report.deferred.record:MESSAGE",
    "rollouts.report.deferred.record:METADATA",
    "rollouts.report.deferred.record:SAMPLE",
    "rollouts.report.deferred.record:SCORER",
    "rollouts.episode.endings:FAILURES",
    "rollouts.record.jsonl:_TOOL_CALL",
    "rollouts.record.jsonl:_TOOL_RESULT",
    "rollouts.record.jsonl:_TRAJECTORY",
    "rollouts.record.jsonl:_TURN",
    "aws.deployed.catalogue:WORDS",
}


WEIGHED = {"symbolic.cas.weights:NUMBERS", "symbolic.cas.weights:POLYNOMIALS"}
"""Weights of functions of sympy's: tests/symbolic/cas/test_weights.py calls each row."""

ASKED = {"jobs.preflight:CHECKS"}
"""Questions whose answers say what was asked: tests/jobs/test_preflight*.py has each."""


SERVED = {
    "local.training_double.server:REST",
    *(
        f"local.training_double.{each}:OPERATIONS"
        for each in ("agent_rft", "bedrock", "hub", "mlflow", "sagemaker")
    ),
}
"""Operations of AWS: tests/local/training_double calls them by boto3, which their answers fit, and
each asks for the right that has its name."""


def test_every_table_of_functions_is_listed():
    assert len(ROWS) == sum(len(module.ROWS) for module in MODULES)
    assert ROWS.keys().isdisjoint(TYPES)
    elsewhere = TYPES | WEIGHED | ASKED | SERVED
    assert elsewhere <= found().keys() <= ROWS.keys() | elsewhere


@pytest.mark.parametrize("name", ROWS)
def test_each_row_is_called_and_does_what_its_name_says(name):
    rows, told, expected = table(name), ROWS[name].told, ROWS[name].expected
    assert rows
    assert rows.keys() == expected.keys()
    assert {key: told(key, row) for key, row in rows.items()} == expected


@pytest.mark.parametrize("name", ROWS)
def test_a_row_with_the_function_of_any_other_row_is_noticed(name):
    rows, (told, expected, alike) = dict(table(name)), ROWS[name]
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
