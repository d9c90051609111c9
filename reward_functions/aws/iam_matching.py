"""IAM policies matched against what is known of a call: their statements, patterns and conditions.

Known keys (`iam:PassedToService`, `aws:SourceArn`) are resolved in the document. A condition that
holds is taken out; a statement with one that does not hold goes, be it an Allow or a Deny. Unknown
keys stay as they are: the emulator's simulator, which takes no context, never applies them, and a
check of a trust policy calls them unknown.

Source: "IAM JSON policy elements: Condition operators" in the IAM user guide.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Context = dict[str, str]
"""What is known of a call, by condition key."""

IF_EXISTS: Final = "ifexists"


def _equal(actual: str, expected: str) -> bool:
    return actual == expected


def _equal_in_any_case(actual: str, expected: str) -> bool:
    return actual.casefold() == expected.casefold()


def like(actual: str, expected: str) -> bool:
    """Whether a value is of a pattern: a star is any text, a question mark one character."""
    return _glob(expected).fullmatch(actual) is not None


@cache
def _glob(pattern: str) -> re.Pattern[str]:
    wild = {"*": ".*", "?": "."}
    # Several stars in a row are one, and would take quadratic time each.
    pieces = re.findall(r"\*+|.", pattern, re.DOTALL)
    return re.compile("".join(wild.get(piece[0], re.escape(piece)) for piece in pieces), re.DOTALL)


OPERATORS: Final[dict[str, tuple[Callable[[str, str], bool], bool]]] = {
    # operator, lower case: how one value compares, and whether any value or none must
    "stringequals": (_equal, True),
    "stringnotequals": (_equal, False),
    "stringequalsignorecase": (_equal_in_any_case, True),
    "stringnotequalsignorecase": (_equal_in_any_case, False),
    "stringlike": (like, True),
    "stringnotlike": (like, False),
    "arnequals": (like, True),
    "arnlike": (like, True),
    "arnnotequals": (like, False),
    "arnnotlike": (like, False),
}


def resolved(document: Mapping[str, Any], context: Mapping[str, str]) -> dict[str, Any]:
    """A policy document without the conditions that this context decides.

    Args:
        document: as IAM has it.
        context: the values that are known, by condition key; keys compare in any case.
    """
    known = {key.casefold(): value for key, value in context.items()}
    kept = [_statement(each, known) for each in statements(document)]
    return {**document, "Statement": [each for each in kept if each is not None]}


def statements(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The statements of a document, which may be one without a list."""
    found = document.get("Statement", [])
    return [each for each in as_list(found) if isinstance(each, dict)]


def as_list(value: Any) -> list[Any]:
    """A value as a list; a policy writes a list of one without brackets."""
    return value if isinstance(value, list) else [value]


def _statement(statement: dict[str, Any], known: Mapping[str, str]) -> dict[str, Any] | None:
    """A statement with what is left of its conditions; None where one does not hold."""
    left: dict[str, Any] = {}
    for operator, keys in (statement.get("Condition") or {}).items():
        compare = OPERATORS.get(operator.casefold().removesuffix(IF_EXISTS))
        for key, expected in keys.items():
            actual = known.get(key.casefold())
            if compare is None or actual is None:
                left.setdefault(operator, {})[key] = expected
                continue
            holds, wanted = compare
            if any(holds(actual, str(each)) for each in as_list(expected)) is not wanted:
                return None
    rest = {key: value for key, value in statement.items() if key != "Condition"}
    return rest | ({"Condition": left} if left else {})
