"""Extraction: which part of a response is its final answer.

The one door to this folder. `visible_response` sets aside what is no part of the answer,
`final_answer` finds the answer in the rest, and neither raises. The names are loaded when they are
asked for, since most rewards need few of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reward_functions.extraction.answer import Answer as Answer
    from reward_functions.extraction.answer import NoAnswer as NoAnswer
    from reward_functions.extraction.reasoning import without_reasoning as without_reasoning
    from reward_functions.extraction.selection import boxed_answer as boxed_answer
    from reward_functions.extraction.selection import final_answer as final_answer
    from reward_functions.extraction.selection import hash_answer as hash_answer
    from reward_functions.extraction.selection import stated_answer as stated_answer
    from reward_functions.extraction.visible import visible_response as visible_response

_HOMES = {
    "Answer": "answer",
    "NoAnswer": "answer",
    "boxed_answer": "selection",
    "final_answer": "selection",
    "hash_answer": "selection",
    "stated_answer": "selection",
    "visible_response": "visible",
    "without_reasoning": "reasoning",
}
"""The module of each name."""

__all__ = [
    "Answer",
    "NoAnswer",
    "boxed_answer",
    "final_answer",
    "hash_answer",
    "stated_answer",
    "visible_response",
    "without_reasoning",
]


def __getattr__(name: str) -> object:
    """A name of this folder, loaded by its first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
