"""The part of the language of Logs Insights that saved queries use: fields and filters."""

from __future__ import annotations

import re

WORDS = re.compile(
    r"/[^/]*/|\"[^\"]*\"|\b(filter|fields|stats|sort|display|limit|by|as|and|or|asc|desc|like|not)\b"
    r"|\b[a-z]+(?=\()|\b\d\w*\b"
)
"""Of the language: strings, patterns, commands, functions, numbers."""

OWN = {"@timestamp", "@log"}
"""Fields that Insights has of every line."""


def fields(query):
    """The fields that a query reads, without those that it names itself."""
    made = set(re.findall(r"\bas (\w+)", query.text))
    return set(re.findall(r"@?[A-Za-z][\w.]*", WORDS.sub(" ", query.text))) - made - OWN


def flat(line, path=""):
    """A line's fields, by the names that Insights discovers them under."""
    found = {}
    for name, value in line.items():
        found[f"{path}{name}"] = value
        if isinstance(value, dict):
            found |= flat(value, f"{path}{name}.")
    return found


def chosen(query, lines):
    """The lines that a query's filters let through, as their fields."""
    conditions = [
        condition.strip(" ()").split(" or ")
        for command in query.lines
        if command.startswith("filter ")
        for condition in re.sub(r"\((\w[\w.]*)\)", r"[\1]", command.removeprefix("filter ")).split(
            " and "
        )
    ]
    return [
        line
        for line in map(flat, lines)
        if all(any(_holds(line, each.strip()) for each in some) for some in conditions)
    ]


def _holds(line, condition):
    if there := re.fullmatch(r"ispresent\[([\w.]+)\]", condition):
        return there[1] in line
    if like := re.fullmatch(r"([\w.]+) like /(.*)/", condition):
        return re.search(like[2], str(line.get(like[1], ""))) is not None
    name, value = re.fullmatch(r"([\w.]+) = \"(.*)\"", condition).groups()
    return line.get(name) == value
