"""Requests held to a service's model, rule by rule: what the service would refuse, and no more."""

from datetime import UTC, datetime

import pytest
from botocore.model import ShapeResolver

from reward_functions.aws.request_validation import problems

SHAPES = ShapeResolver(
    {
        "Name": {"type": "string", "min": 2, "max": 4, "pattern": "[a-z]*"},
        "Word": {"type": "string", "enum": ["one", "two"]},
        "Count": {"type": "integer", "min": 1, "max": 3},
        "Share": {"type": "double", "min": 0, "max": 1},
        "Free": {"type": "long"},
        "Flag": {"type": "boolean"},
        "When": {"type": "timestamp"},
        "Names": {"type": "list", "member": {"shape": "Name"}, "min": 1, "max": 2},
        "Counts": {"type": "map", "key": {"shape": "Name"}, "value": {"shape": "Count"}, "max": 1},
        "One": {
            "type": "structure",
            "union": True,
            "members": {"a": {"shape": "Name"}, "b": {"shape": "Count"}},
        },
        "Any": {"type": "structure", "members": {}, "document": True},
        "Whole": {
            "type": "structure",
            "required": ["name"],
            "members": {
                "name": {"shape": "Name"},
                "names": {"shape": "Names"},
                "inner": {"shape": "Whole"},
                "one": {"shape": "One"},
            },
        },
    }
)


def found(kind, value):
    return list(problems(SHAPES.get_shape_by_name(kind), value, "at"))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("Name", "ab"),
        ("Name", "abcd"),
        ("Word", "two"),
        ("Count", 1),
        ("Count", 3),
        ("Share", 0),
        ("Share", 1.0),
        ("Free", -(2**60)),
        ("Flag", False),
        ("When", datetime.now(UTC)),
        ("Names", ["ab"]),
        ("Names", ["ab", "cd"]),
        ("Counts", {}),
        ("Counts", {"ab": 1}),
        ("One", {"a": "ab"}),
        ("Any", {"of": [object()]}),
        ("Any", 7),
        ("Whole", {"name": "ab", "names": None}),
        ("Whole", {"name": "ab", "inner": {"name": "ab", "one": {"b": 2}}}),
    ],
)
def test_what_keeps_to_every_rule_is_taken(kind, value):
    assert found(kind, value) == []


MUST = "failed to satisfy constraint: Member must"


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        ("Name", "a", [f"'at' {MUST} have length greater than or equal to 2"]),
        ("Name", "abcde", [f"'at' {MUST} have length less than or equal to 4"]),
        ("Name", "A", [f"'at' {MUST} have length greater than or equal to 2"]),
        ("Name", "aB", [f"'at' {MUST} satisfy regular expression pattern: [a-z]*"]),
        ("Name", "a\n", [f"'at' {MUST} satisfy regular expression pattern: [a-z]*"]),
        ("Name", 7, [f"'at' {MUST} be a string"]),
        ("Word", "on", [f"'at' {MUST} satisfy enum value set: [one, two]"]),
        ("Count", 0, [f"'at' {MUST} have value greater than or equal to 1"]),
        ("Count", 4, [f"'at' {MUST} have value less than or equal to 3"]),
        ("Count", True, [f"'at' {MUST} be a integer"]),
        ("Count", "1", [f"'at' {MUST} be a integer"]),
        ("Share", float("nan"), [
            f"'at' {MUST} have value greater than or equal to 0",
            f"'at' {MUST} have value less than or equal to 1",
        ]),
        ("Flag", 1, [f"'at' {MUST} be a boolean"]),
        ("Names", [], [f"'at' {MUST} have length greater than or equal to 1"]),
        ("Names", ["ab"] * 3, [f"'at' {MUST} have length less than or equal to 2"]),
        ("Names", ["ab", "c"], [f"'at.2.member' {MUST} have length greater than or equal to 2"]),
        ("Counts", {"ab": 1, "cd": 2}, [f"'at' {MUST} have length less than or equal to 1"]),
        ("Counts", {"a": 9}, [
            f"'at.key' {MUST} have length greater than or equal to 2",
            f"'at.value' {MUST} have value less than or equal to 3",
        ]),
        ("One", {}, ["'at' failed to satisfy constraint: exactly one member must be set"]),
        ("One", {"a": "ab", "b": 1}, ["constraint: exactly one member must be set"]),
        ("Whole", {}, [f"'at.name' {MUST} not be null"]),
        ("Whole", {"name": None}, [f"'at.name' {MUST} not be null"]),
        ("Whole", {"name": "ab", "x" * 99: 1}, [f"at: extraneous key [{'x' * 64}] is not perm"]),
        ("Whole", {"name": "ab", "inner": {"name": "a"}}, [f"'at.inner.name' {MUST} have length"]),
    ],
)  # fmt: skip
def test_the_first_rules_that_are_broken_are_said_and_no_value(kind, value, words):
    said = found(kind, value)
    assert [each in text for each, text in zip(words, said, strict=True)] == [True] * len(words)


def test_at_the_top_a_place_is_a_members_name():
    whole = SHAPES.get_shape_by_name("Whole")
    said = list(problems(whole, {"names": [7], "more": 1}))
    assert said == [
        "#: extraneous key [more] is not permitted",
        f"Value at 'name' {MUST} not be null",
        f"Value at 'names.1.member' {MUST} be a string",
    ]
