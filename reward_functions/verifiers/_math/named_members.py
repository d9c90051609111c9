r"""An answer that names its members one by one: `\boxed{Ann: 7, Bob: 9}`, "center \boxed{2}, …".

Words that tell which member is which are no part of a value. They do tell an order, so that such
an answer is the reference only where each member is the one at the same place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re
from reward_functions.extraction.candidates.boxes import COMMAND, labelled_boxes
from reward_functions.extraction.cues import endings
from reward_functions.extraction.cues import sentences as words
from reward_functions.extraction.cues.compiling import says
from reward_functions.verifiers._math.verdict import same_value

if TYPE_CHECKING:
    from reward_functions.extraction.answer import Answer

MAX_MEMBERS: Final = 8
"""Members that are compared one by one."""

MAX_LENGTH: Final = 1000
"""Characters of a reference or an answer that is split."""

_MARK: Final = re.compile(r"[()\[\]{},;]")


def by_name(found: Answer, text: str, reference: str) -> str:
    """The members of an answer without their names, as a list; "" where they are not the reference.

    Args:
        found: the final answer.
        text: the response it was found in, whose other boxes may hold the other members.
        reference: the reference.
    """
    if (
        found.kind not in ("box", "statement")
        or "," not in reference
        or len(reference) > MAX_LENGTH
    ):
        return ""
    wanted = members(reference)
    if not 1 < len(wanted) <= MAX_MEMBERS:
        return ""
    if found.kind == "statement":
        return _line_by_line(found.text, text, len(wanted))
    if found.boxes == 1 and text.count(COMMAND) == len(wanted):
        given = labelled_boxes(text)
    elif ":" in found.text and len(found.text) <= MAX_LENGTH:
        given = _unlabelled(found.text)
    else:
        return ""
    if len(given) != len(wanted) or not all(map(same_value, wanted, given)):
        return ""
    return ", ".join(given)


def _line_by_line(statement: str, text: str, count: int) -> str:
    """The last lines of a response, each of which gives a name its value; "" for any others.

    The first of them is what the statement of the answer was taken for.
    """
    lines = [line.strip(" \t$.,;*-") for line in text[-MAX_LENGTH:].splitlines() if line.strip()]
    last = lines[-count:]
    named = len(last) == count and all(words.NAMED_LINE.fullmatch(line) for line in last)
    return ", ".join(last) if named and last[0] == statement.strip(" $.,;") else ""


def _unlabelled(text: str) -> list[str]:
    """The values of a list whose every member has a name of its own."""
    named = [words.NAMED_MEMBER.fullmatch(member) for member in members(text)]
    found = [match for match in named if match and not says(match["name"], endings.OPEN)]
    names = {match["name"].strip().lower() for match in found}
    return [match["value"] for match in found] if len(names) == len(named) else []


def members(text: str) -> list[str]:
    """The parts of a list between its commas, but for those within brackets."""
    members, start, depth = [], 0, 0
    for mark in _MARK.finditer(text):
        if mark[0] in "([{":
            depth += 1
        elif mark[0] in ")]}":
            depth -= 1
        elif depth == 0:
            members.append(text[start : mark.start()])
            start = mark.end()
    return [*members, text[start:]]
