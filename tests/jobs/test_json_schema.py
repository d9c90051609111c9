"""A document against a service's schema: our subset, beside the library that checks all of it."""

from time import monotonic

import pytest

from reward_functions.jobs.json_schema import BadSchema, matches, quick, schema_problems
from reward_functions.local.training_double.agent_rft import SCHEMA

# Each with values that fit and values that do not. Source: "JSON Schema Validation", 2020-12.
CASES = [
    ({"type": "string"}, ["", "a"], [1, None, [], {}, True]),
    ({"type": ["string", "null"]}, ["a", None], [0, False]),
    ({"type": "integer"}, [1, 1.0, -3], [1.5, True, "1"]),
    ({"type": "number"}, [1, 1.5], [True, "1"]),
    ({"enum": ["a", 1]}, ["a", 1], ["b", True]),
    ({"const": 0}, [0], [False, 1]),
    ({"minimum": 1, "exclusiveMaximum": 3}, [1, 2.9, "text"], [0, 3]),
    ({"minLength": 1, "maxLength": 2}, ["a", "ab", 5], ["", "abc"]),
    ({"pattern": "^a+$"}, ["a", "aa", 1], ["b", "ab"]),
    ({"pattern": "b"}, ["abc"], ["ac"]),
    ({"required": ["a"]}, [{"a": None}, 1], [{}, {"b": 1}]),
    ({"properties": {"a": {"type": "string"}}}, [{}, {"a": "x", "b": 1}], [{"a": 1}]),
    ({"properties": {"a": {}}, "additionalProperties": False}, [{"a": 1}], [{"b": 1}]),
    ({"additionalProperties": {"type": "string"}}, [{"a": "x"}], [{"a": 1}]),
    ({"items": {"type": "string"}, "maxItems": 1}, [[], ["a"]], [[1], ["a", "b"]]),
    ({"anyOf": [{"type": "string"}, {"minimum": 2}]}, ["a", 2], [1]),
    ({"oneOf": [{"minimum": 1}, {"maximum": 5}]}, [0, 6], [3]),
    ({"allOf": [{"minimum": 1}, {"maximum": 5}]}, [3], [0, 6]),
    ({"$defs": {"a": {"type": "string"}}, "properties": {"b": {"$ref": "#/$defs/a"}}},
     [{"b": "x"}], [{"b": 1}]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "fits", "breaks"), CASES, ids=lambda case: str(case)[:40])
def test_a_value_fits_as_the_library_says(schema, fits, breaks):
    jsonschema = pytest.importorskip("jsonschema")
    known = jsonschema.Draft202012Validator(schema)
    for expected, values in ((True, fits), (False, breaks)):
        for value in values:
            assert (not schema_problems(schema, value)) == expected, value
            assert known.is_valid(value) == expected, value


def test_the_doubles_schema_is_a_schema():
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft7Validator.check_schema(SCHEMA)


HOSTILE = [
    {"$ref": "#"},
    {"$ref": "#/nowhere"},
    {"properties": {"a": {"$ref": "#/properties/a"}}},
    {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
    [],
    "schema",
    None,
]


@pytest.mark.parametrize("schema", HOSTILE, ids=str)
def test_a_schema_without_an_end_is_the_services_fault(schema):
    with pytest.raises(BadSchema):
        schema_problems(schema, {"a": 1})


SLOW = [
    *(r"^(a+)+$", r"^(a|a)*$", r"(a*)*b", r"^(?=a+b)a", r"^(a+)\1$", r".*.*.*b"),
    *("a" * 600, r"^([a-z]+)+$", r"(x+x+)+y", "(a?){40}a{40}"),
]


@pytest.mark.parametrize("pattern", SLOW, ids=lambda each: each[:20])
def test_a_pattern_that_could_take_long_is_not_tried(pattern):
    assert not quick(pattern)
    began = monotonic()
    assert matches(pattern, "a" * 1_000 + "!")
    assert monotonic() - began < 10


ROLE = "arn:aws:iam::123456789012:role/r"

# Patterns of botocore's models, which a schema of SageMaker's would have.
USUAL = {
    r"^arn:aws[a-z\-]*:iam::\d{12}:role/?[a-zA-Z_0-9+=,.@\-_/]+$": ROLE,
    r"^(https|s3)://([^/]+)/?(.*)$": "s3://bucket/key",
    r"^\d+\.\d+\.5$": "1.0.5",
    r"^[a-zA-Z0-9]{1,63}$": "name",
}  # fmt: skip


@pytest.mark.parametrize("pattern", USUAL)
def test_a_usual_pattern_is_tried(pattern):
    assert quick(pattern)
    assert matches(pattern, USUAL[pattern])
    assert not matches(pattern, "\x00")
