r"""The part of a response that can hold its answer: one pipeline, in this order.

    markers        `<s>`, `<|im_end|>`, `5<eoa>`         core.turn_markers.within_turn
    reasoning      `<think>…</think>`, channels          reasoning.without_reasoning
    prompt echo    a verbatim copy of the prompt         here
    ends of lines  the same markers                      core.turn_markers.without_line_ends
    JSON           `{"answer": "5"}` at its end          json_answer.with_json_answer
    Unicode        zero-width characters and their kin   quantities.unicode_forms.visible
    invisible      `\phantom{…}`, `~~…~~`, comments      invisible.strip_invisible

The echo goes before anything is taken out of the response: a copy is only one while it is verbatim.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re
from reward_functions.core.turn_markers import HEADING, within_turn, without_line_ends
from reward_functions.extraction.choices import choice, options_in
from reward_functions.extraction.invisible import strip_invisible
from reward_functions.extraction.json_answer import with_json_answer
from reward_functions.extraction.reasoning import without_reasoning
from reward_functions.quantities.unicode_forms import folded, half_width

if TYPE_CHECKING:
    from collections.abc import Iterator

MIN_ECHO: Final = 16
"""Characters from which a copy of the prompt is an echo. Shorter prompts ("2+3?") may be part of an
honest answer."""

MAX_ECHOED: Final = 20_000
"""Characters of a prompt whose sentences are compared; of longer ones only whole copies are."""

KEPT: Final = 64
"""Prompts that are kept folded: all responses of a group answer the same one."""

_STATING: Final = ("####", "\\boxed{", "nswer is", "nswer:")
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|\n")


def visible_response(
    response: str, prompt: str = "", *, reference: str = "", include_reasoning: bool = False
) -> str:
    """The part of a response that can hold its answer.

    Args:
        response: what the policy wrote.
        prompt: what it was asked. A copy of it is no answer, and neither is a response that is
            nothing but sentences of a prompt that states an answer, but for case and white space.
        reference: what a right answer is: a marker of a turn that it contains is text.
        include_reasoning: search reasoning sections as well.
    """
    read = within_turn if include_reasoning else without_reasoning
    text = read(response, reference)
    if len(prompt) >= MIN_ECHO:
        text = _without_echo(text, prompt)
    return half_width(strip_invisible(with_json_answer(without_line_ends(text, reference))))


def _without_echo(text: str, prompt: str) -> str:
    """The response without the prompt; nothing where it only repeats its sentences.

    A right answer said in the words of the prompt's format example is an answer, and so is the
    line of one option.
    """
    bare, asked = _read(prompt)
    if prompt in text:
        text = _behind_template(text, prompt).replace(prompt, "\n")
    if bare:
        text = text.replace(bare, "\n")
    if not asked:
        return text
    if not all(folded(each) in asked for each in _sentences(text) if each.strip()):
        return text
    if not any(len(each) >= MIN_ECHO for each in _sentences(text)):
        return text
    return text if _is_option(text.strip(), prompt) else ""


def _behind_template(text: str, prompt: str) -> str:
    """The bare value that a heading right behind a copy of the prompt opens; else the text.

    "### Response:" ends the template that the prompt was put into. Words behind it are read with
    all before them, as words of a prompt are.
    """
    before, _, behind = text.partition(prompt)
    heading = HEADING.match(behind)
    if not heading or any(map(before.count, _STATING)):
        return text
    value = behind[heading.end() :]
    return text if any(map(str.isalpha, value)) else value


def _is_option(text: str, prompt: str) -> bool:
    """Whether a text is one option of the prompt, with or without its letter."""
    return "\n" not in text and choice(text, options_in(prompt)) is not None


def _sentences(text: str) -> Iterator[str]:
    """One by one: the first one tells most responses from an echo."""
    start = 0
    for end in _SENTENCES.finditer(text):
        yield text[start : end.start()]
        start = end.end()
    yield text[start:]


@lru_cache(KEPT)
def _read(prompt: str) -> tuple[str, str]:
    """A prompt without its markers, "" where it has none; and folded, "" where it states nothing.

    None of the sentences of a prompt that states nothing is an answer.
    """
    bare = within_turn(prompt)
    told = bare != prompt and len(bare) >= MIN_ECHO
    stating = len(prompt) <= MAX_ECHOED and any(map(prompt.__contains__, _STATING))
    return bare if told else "", folded(prompt) if stating else ""
