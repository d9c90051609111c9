"""A document against a service's schema: what a refusal says, and whose draft counts."""

import pytest

from reward_functions.jobs.drivers.agent_rft import schema_problems
from reward_functions.local.training_double.agent_rft import SCHEMA

CASES = {
    # a schema, a document, and the sentences
    "fits": ({"required": ["a"]}, {"a": 1}, []),
    "a member is missing": (
        *({"required": ["a"]}, {}, ['the document: "a" is a required property']),
    ),
    "a place within": (
        {"properties": {"a": {"properties": {"b": {"type": "string"}}}}},
        {"a": {"b": 1}},
        ['a.b: 1 is not of type "string"'],
    ),
    "an item of a list": (
        {"properties": {"a": {"items": {"maximum": 1}}}},
        {"a": [1, 2]},
        ["a[1]: 2 is greater than the maximum of 1"],
    ),
    "an unknown member": (
        {"properties": {"a": {}}, "additionalProperties": False},
        {"b": 1},
        ["the document: Additional properties are not allowed ('b' was unexpected)"],
    ),
    "a draft of its own": (
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "properties": {"a": {"maximum": 1, "exclusiveMaximum": True}},
        },
        {"a": 1},
        ["a: 1 is greater than or equal to the maximum of 1"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_names_the_place_and_the_rule(case):
    schema, document, sentences = CASES[case]
    assert schema_problems(schema, document) == sentences


def test_the_doubles_schema_is_a_schema():
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft7Validator.check_schema(SCHEMA)
