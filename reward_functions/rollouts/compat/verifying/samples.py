"""What is a sample of reinforcement fine-tuning: a row of the table a rule.

| field | what it is |
| --- | --- |
| `messages` | a list of at least one; the system message first, and one of the user's |
| `messages[].role` | one of `ROLES`, in any case |
| `messages[].content` | a string or a list, not empty |
| `id` | a string that is not empty, or absent |
| `tools` | functions with a name, a description and parameters of type object; each name once |
| `reference_answer` | a string or an object, not empty, or absent |

Source: the data set rules of amzn-nova-forge 1.4.10.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.jsons import json_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

ROLES: Final = frozenset({"system", "user", "assistant", "tool", "bot", "developer"})
MEMBERS: Final = frozenset({"role", "content", "tool_calls", "tool_call_id"})
"""Of a message."""

Problem = tuple[str, str]
"""A field, and what is wrong with it."""


def problems_of(sample: Any) -> list[Problem]:
    """What is wrong with a sample; empty where nothing is."""
    if not isinstance(sample, dict):
        return [("sample", f"is {json_kind(sample)}, not an object")]
    return [
        *_identity(sample.get("id")),
        *_messages(sample.get("messages")),
        *_tools(sample.get("tools")),
        *_reference(sample.get("reference_answer")),
    ]


def _identity(given: Any) -> Iterator[Problem]:
    if given is not None and not (isinstance(given, str) and given.strip()):
        yield "id", "is not a string that says something"


def _messages(given: Any) -> Iterator[Problem]:
    if not isinstance(given, list) or not given:
        yield "messages", "is not a list of at least one message"
        return
    roles = []
    for position, message in enumerate(given):
        where = f"messages -> {position}"
        if not isinstance(message, dict):
            yield where, f"is {json_kind(message)}, not an object"
            continue
        yield from _message(where, message)
        role = message.get("role")
        roles.append(role.lower() if isinstance(role, str) else None)
    if "user" not in roles:
        yield "messages", "has no message of the user"
    if "system" in roles and roles[0] != "system":
        yield "messages", "has a system message that is not the first"


def _message(where: str, message: dict[str, Any]) -> Iterator[Problem]:
    for name in sorted(message.keys() - MEMBERS, key=str):
        yield f"{where} -> {name}", "is no field of a message"
    role, content = message.get("role"), message.get("content")
    if role is not None and not (isinstance(role, str) and role.lower() in ROLES):
        yield f"{where} -> role", f"is none of {', '.join(sorted(ROLES))}"
    if content is None:
        return
    if not isinstance(content, str | list):
        yield f"{where} -> content", f"is {json_kind(content)}, not a string or a list"
    elif not (content.strip() if isinstance(content, str) else content):
        yield f"{where} -> content", "is empty"


def _tools(given: Any) -> Iterator[Problem]:
    if given is None:
        return
    if not isinstance(given, list) or not given:
        yield "tools", "is not a list of at least one tool"
        return
    names = []
    for position, tool in enumerate(given):
        where = f"tools -> {position}"
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or tool.get("type") != "function":
            yield where, 'is not {"type": "function", "function": {…}}'
            continue
        names.append(function.get("name"))
        for name in ("name", "description"):
            value = function.get(name)
            if not (isinstance(value, str) and value.strip()):
                yield f"{where} -> function -> {name}", "is not a string that says something"
        parameters = function.get("parameters")
        if not (isinstance(parameters, dict) and parameters.get("type") == "object"):
            yield f"{where} -> function -> parameters", "is not a schema of type object"
    if len({repr(name) for name in names}) != len(names):
        yield "tools", "has two tools of one name"


def _reference(given: Any) -> Iterator[Problem]:
    if given is None:
        return
    if not isinstance(given, str | dict):
        yield "reference_answer", f"is {json_kind(given)}, not a string or an object"
    elif not (given.strip() if isinstance(given, str) else given):
        yield "reference_answer", "is empty"
