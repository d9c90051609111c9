"""IFEval: 541 prompts with 834 instructions that a program can check; and rows of RLVR-IFeval.

A record of IFEval has `key`, `prompt`, `instruction_id_list` and `kwargs`, an object of arguments
for each instruction, where null stands for none. One of RLVR-IFeval, with which Tülu 3 was trained,
has `messages` and `ground_truth`, JSON in a string: `func_name` and the arguments of a function,
which is one instruction of IFEval's (`public.toml`). Left out are those that ask for about a
number, and those with options of their own: no instruction of IFEval's says that. There is no
official split. Source: Zhou et al., Instruction-Following Evaluation for Large Language Models,
2023 (arXiv 2311.07911), github.com/google-research/google-research (Apache-2.0); Lambert et al.,
Tülu 3, 2024 (arXiv 2411.15124), github.com/allenai/open-instruct (Apache-2.0).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from reward_functions.data.records import Dropped, Row, digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.data.records import Record

AROUND: Final = "it asks for about a number"
UNKNOWN: Final = "IFEval has no such instruction"

EXACTLY: Final = "exactly"
"""In a function, what names the argument that says "exactly": such functions have no other."""


def ifeval_row(record: Record, functions: Mapping[str, Mapping[str, str]]) -> Row | Dropped:
    """The row of a record, or why it is left out.

    Args:
        record: of IFEval, or of RLVR-IFeval.
        functions: of RLVR-IFeval: the id of the instruction, and what its arguments are called.

    Raises:
        BadRecord: a field is missing or cannot be read.
    """
    trained = record.get("ground_truth", None) is not None
    question = _asked_last(record) if trained else record.text("prompt")
    name = f"ifeval-{digest(question)}"
    if not trained:
        ids, listed = record.strings("instruction_id_list"), record.get("kwargs")
        if not isinstance(listed, list) or len(listed) != len(ids):
            raise record.bad("kwargs", "is no list as long as instruction_id_list")
        arguments = [_given(record, each) for each in listed]
    else:
        found = _of_function(record, functions)
        if isinstance(found, str):
            return Dropped(name, found)
        ids, arguments = [found[0]], [found[1]]
    return Row(
        id=name,
        system="",
        question=question.strip(),
        reference={"instruction_id_list": ids, "kwargs": arguments},
        metadata={"prompt": digest(question)},
        split=record.split,
        counted=f"{len(ids)} instruction{'s' * (len(ids) > 1)}",
    )


def _asked_last(record: Record) -> str:
    """The last user turn."""
    messages = record.get("messages")
    if isinstance(messages, list):
        for message in reversed(messages):
            if isinstance(message, dict) and message.get("role") == "user":
                content = message.get("content")
                if isinstance(content, str) and content.strip():
                    return content
    raise record.bad("messages", "has no user turn with a text")


def _given(record: Record, arguments: Any) -> dict[str, Any]:
    if not isinstance(arguments, dict):
        raise record.bad("kwargs", "holds what is no object")
    return {name: value for name, value in arguments.items() if value is not None}


def _of_function(
    record: Record, functions: Mapping[str, Mapping[str, str]]
) -> tuple[str, dict[str, Any]] | str:
    """The instruction that a function checks, with its arguments; or why there is none."""
    try:
        given = json.loads(record.text("ground_truth"))
    except (ValueError, RecursionError):
        raise record.bad("ground_truth", "is not JSON") from None
    if not isinstance(given, dict) or not isinstance(given.get("func_name"), str):
        raise record.bad("ground_truth", "names no function")
    function = functions.get(given["func_name"])
    if function is None:
        return UNKNOWN
    if given.get("quantifier") == "around":
        return AROUND
    arguments = {
        ours: given[theirs] for theirs, ours in function.items() if given.get(theirs) is not None
    }
    exact = {function[EXACTLY]: EXACTLY} if EXACTLY in function else {}
    return function["id"], arguments | exact
