"""A statement's condition: what IAM would refuse, never match, or read as more than it says.

Sources: "IAM JSON policy elements: Condition operators"; "Set operators for multivalued context
keys", by which `ForAllValues` is true of a request that has no such key; the pattern of policy
documents in IAM's API.
"""

from __future__ import annotations

import re
from ipaddress import ip_network
from typing import TYPE_CHECKING, Final

from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import JsonValue

OPERATORS: Final = frozenset(
    """
    StringEquals StringNotEquals StringEqualsIgnoreCase StringNotEqualsIgnoreCase StringLike
    StringNotLike NumericEquals NumericNotEquals NumericLessThan NumericLessThanEquals
    NumericGreaterThan NumericGreaterThanEquals DateEquals DateNotEquals DateLessThan
    DateLessThanEquals DateGreaterThan DateGreaterThanEquals Bool BinaryEquals IpAddress
    NotIpAddress ArnEquals ArnLike ArnNotEquals ArnNotLike Null
    """.split()
)

EMPTY_IS_TRUE: Final = "ForAllValues:"

KEY: Final = re.compile(r"[^\s:]+:(?:.*\S)?")

WRITTEN: Final = re.compile("[ -~\xa1-\xff]*")
"""What a policy is written in: printable characters of Latin-1."""

SHAPES: Final = {
    "Numeric": (re.compile(r"[+-]?[0-9]+(\.[0-9]+)?"), "numbers"),
    "Date": (
        re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?|\d+", re.ASCII),
        "dates, such as 2026-11-30T00:00:00Z",
    ),
    "Bool": (re.compile("true|false", re.IGNORECASE), "true or false"),
    "Null": (re.compile("true|false", re.IGNORECASE), "true or false"),
}
"""What operators compare with, by how their names begin; the others take any text."""


def check_condition(condition: Mapping[str, Mapping[str, JsonValue]]) -> None:
    """Whether IAM takes a condition, and it says something.

    Raises:
        ValueError: it does not; the message is one sentence.
    """
    if not condition:
        raise ValueError("condition: it is empty, and so allows always: leave it out")
    for operator, tests in condition.items():
        base = _base(operator)
        if base not in OPERATORS:
            near = did_you_mean(base, OPERATORS).partition(";")[0]
            raise ValueError(f"condition: IAM has no operator {operator!r}{near}")
        if not tests:
            raise ValueError(f"condition: {operator} tests no key")
        for key, value in tests.items():
            _check_key(key)
            _check_values(base, key, value if isinstance(value, list) else [value])


def open_operators(condition: Mapping[str, object]) -> Iterator[str]:
    """Operators that are true where the request says nothing, though they read otherwise."""
    yield from (each for each in condition if each.startswith(EMPTY_IS_TRUE))


def literal(text: str) -> None:
    """Whether IAM reads a text of a policy as it is written.

    Raises:
        ValueError: it would put something else into its place.
    """
    if "${" in text:
        raise ValueError(
            f"{text!r} holds a variable of IAM's: a function's role has no user, so write out what "
            "it stands for"
        )


def _base(operator: str) -> str:
    base = re.sub(r"^(ForAnyValue|ForAllValues):", "", operator)
    return base if base == "NullIfExists" else base.removesuffix("IfExists")


def _check_key(key: str) -> None:
    if not KEY.fullmatch(key) or not WRITTEN.fullmatch(key):
        raise ValueError(f"condition: {key!a} is no key, such as s3:prefix")
    literal(key)


def _check_values(base: str, key: str, values: list[JsonValue]) -> None:
    if not values or not all(isinstance(each, str | bool | int | float) for each in values):
        raise ValueError(f"condition: {key} is compared with a value, or with a list of values")
    for each in map(str, values):
        if not WRITTEN.fullmatch(each):
            raise ValueError(f"condition: {each!a} holds what no policy does: write it in Latin-1")
        literal(each)
        if wanted := _misses(base, each):
            raise ValueError(f"condition: {base} compares {key} with {wanted}, not {each!r}")


def _misses(base: str, value: str) -> str:
    """What an operator compares with, where this is none of it; else empty."""
    if "IpAddress" in base:
        return "" if _is_network(value) else "addresses, such as 10.0.0.0/16"
    for begin, (shape, wanted) in SHAPES.items():
        if base.startswith(begin) and not shape.fullmatch(value):
            return wanted
    return ""


def _is_network(value: str) -> bool:
    try:
        ip_network(value, strict=False)
    except ValueError:
        return False
    return True
