"""Answers that a program reads, JSON, calls and queries: other spellings, and wrong by little."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core import patterns as re

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CODE: Final = re.compile(r'["`;]|^\s*+(?:select|with)\s', re.IGNORECASE)

CALL: Final = "<tool_call>"
"""Begins a call as Hermes models write it, which is how right calls are written."""

_QUERY: Final = re.compile(r"(?i)(?:^|(?<=\n))select\s[^;`]{1,20000}")

_LABELS: Final = 40
"""Characters of a text that could be a label, which is given for every field."""


def decoded(text: str) -> Any:
    """The object or array that a text is; None for any other text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def is_code(text: str) -> bool:
    """Whether a text is a query, a call or JSON: a number there may have one spelling only."""
    return bool(_CODE.search(text))


def json_forms(value: Any) -> Mapping[str, str]:
    """A JSON value in other spellings (RFC 8259), by the name of the spelling."""
    return {
        "names in another order": json.dumps(_turned(value)),
        "on several lines": json.dumps(value, indent=2, ensure_ascii=False),
        "without spaces": json.dumps(value, separators=(",", ":"), ensure_ascii=False),
        "whole numbers with a point": json.dumps(_pointed(value), ensure_ascii=False),
    }


def _turned(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _turned(value[name]) for name in reversed(value)}
    return [_turned(each) for each in value] if isinstance(value, list) else value


def _pointed(value: Any) -> Any:
    """The value with 3.0 for 3, where a double holds the number exactly."""
    if isinstance(value, dict):
        return {name: _pointed(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_pointed(each) for each in value]
    return float(value) if type(value) is int and abs(value) < 1 << 53 else value


def other_objects(right: str, wrong: str) -> list[str]:
    """Objects that are the right one but for something; none where the right answer is no object.

    Args:
        right: the answer.
        wrong: the right answer to another row, whose values are exchanged with it; "" for none.
    """
    value = decoded(right)
    if not isinstance(value, dict) or not value:
        return []
    other = decoded(wrong)
    return [json.dumps(each) for each in _changed(value, other if isinstance(other, dict) else {})]


def _changed(right: dict[str, Any], other: Mapping[str, Any]) -> Iterator[Any]:
    yield dict.fromkeys(right)
    yield {**right, "unasked": "anything"}
    yield {"answer": right}
    yield dict(list(right.items())[1:])
    labels = [each for each in right.values() if isinstance(each, str) and len(each) <= _LABELS]
    if labels and len(right) > 1:
        yield dict.fromkeys(right, labels[0])
    for name, each in right.items():
        if isinstance(each, list | dict) and each:
            yield {**right, name: type(each)()}
        if type(each) is int:
            yield {**right, name: each + 1}
        if isinstance(each, list) and each and isinstance(each[0], dict):
            yield {**right, name: [*each, {**each[0], **dict.fromkeys(each[0])}]}
            yield from _exchanged(right, name)
        if name in other and other[name] != each:
            yield {**right, name: other[name]}


def _exchanged(right: dict[str, Any], name: str) -> Iterator[Any]:
    """Two records of an array that have each other's value of one field."""
    made = deepcopy(right)
    first, *rest = made[name]
    for second in rest:
        shared = [each for each in first if second.get(each, first[each]) != first[each]]
        if len(shared) > 1:
            first[shared[0]], second[shared[0]] = second[shared[0]], first[shared[0]]
            yield made
            return


def other_calls(right: str) -> list[str]:
    """Calls of tools that are not the right ones; none where the right answer calls none."""
    if CALL not in right:
        return []
    return [
        *(f"{right}\n" * 100, f"{right}\nor\n{right}", f"{right} or not"),
        *(f"<think>{right}", f"For example: {right}", f"`{right}`"),
        right.replace('"arguments": {', '"arguments": {"": 0, ', 1),
        right.replace('"name": "', '"name": " ', 1),
        right.replace("}}", '}, "arguments": {}}', 1),
        right.replace(CALL, f"{CALL}[", 1),
        CALL * 1000,
    ]


def other_queries(right: str) -> list[str]:
    """Queries that are not the right one; none where the right answer is no query."""
    found = _QUERY.search(right)
    if not found:
        return []
    before, query, after = right[: found.start()], found[0].strip(), right[found.end() :]
    tried = [
        *("SELECT 42", "SELECT NULL", "SELECT * FROM sqlite_master", "SELECT 1 WHERE 0"),
        *("SELECT randomblob(900000000)", "ATTACH '/tmp/x' AS x", "PRAGMA database_list"),
        f"{query}; {query}",
        f"{query} EXCEPT {query}",
        f"SELECT * FROM ({query}) LIMIT 0",  # noqa: S608 - it is to be refused
        f"SELECT * FROM ({query}) UNION ALL SELECT * FROM ({query})",  # noqa: S608 - likewise
        f"-- {query}",
    ]
    return [f"{before}{each}\n{after}" for each in tried]


EMPTY_FORMS: Final = (
    *(". " * 60, "[] " * 20, "<<>> ** **", '""', "null", "a\n******\na", "P.S.", "_ " * 400),
    "Section 1 Section 2 Section 3",
    "1. 2. 3. 4. 5. 6.",
    "My answer is yes. My answer is no. My answer is maybe.",
)
"""Marks of the forms that IFEval's instructions ask for, with nothing in them."""


def empty_forms(reference: Any) -> tuple[str, ...]:
    """`EMPTY_FORMS`, where a reference lists instructions for a program to check; else none."""
    listed = reference.get("instruction_id_list") if isinstance(reference, dict) else reference
    ids = listed if isinstance(listed, list) else ()
    named = (each.get("id") if isinstance(each, dict) else each for each in ids)
    return EMPTY_FORMS if ids and all(":" in str(each) for each in named) else ()
