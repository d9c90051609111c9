"""Setting reasoning aside: what a policy thinks is not what it answers.

Three notations are known. Tags (`<think>`, `<thinking>`, `<reasoning>`, `<thought>`; Amazon Nova
writes the second), token pairs (`<|begin_of_thought|>`), and the channels of OpenAI's harmony
format (gpt-oss), of which only `final` is spoken.

A section that is never closed runs to the end of the text. A closing tag without an opener ends a
section that began with the text: chat templates that open the section in the prompt produce it.
"""

from __future__ import annotations

import re
from typing import Final

_TAG: Final = re.compile(
    r"[<\[◁](?P<close>/)?"
    r"(?:think|thinking|reasoning|reasoning_content|thought|scratchpad|reflection|seed:think)\s{0,8}[>\]▷]"
    r"|<\|(?:begin|(?P<end>end))_of_thought\|>",
    re.IGNORECASE,
)
# A character is looked for at a fiftieth of a pattern's price, and a pattern that begins with one
# at a tenth of any other's.
_SIGNS: Final = {"<": re.compile(r"<[tTrRsS/|]"), "[": re.compile(r"\[[tT/]"), "◁": re.compile("◁")}
_CLOSINGS: Final = ("</", "[/", "◁/", "end_of_thought", "END_OF_THOUGHT")
_FINAL_CHANNEL: Final = re.compile(
    r"<\|channel\|>\s{0,8}final\b[^<]{0,80}(?:<\|constrain\|>[^<]{0,80})?<\|message\|>"
)
_ANALYSIS: Final = re.compile(r"analysis(?=[A-Z\\<$\d])")
_END_OF_MESSAGE: Final = re.compile(r"<\|(?:end|return|call|start)\|>")
_END_TOKENS: Final = re.compile(
    r"(?:\s|</s>|<\|(?:eot_id|eom_id|im_end|end|endoftext|end_of_text|return|eos)\|>|<end_of_turn>"
    r"|<｜end▁of▁sentence｜>)*\Z"
)
_CHANNEL: Final = "<|channel|>"
MAX_END: Final = 80
"""Characters of the tokens that end a turn; there are one or two."""

_STRIPPED_FINAL: Final = "assistantfinal"
"""What is left of harmony's markers when a tokenizer drops its special tokens while decoding."""


def without_reasoning(text: str) -> str:
    """The part of a response that is addressed to the reader; may be empty. Linear."""
    if text.endswith(">"):
        text = _without_end_tokens(text)
    if _CHANNEL in text:
        return _final_channel(text)
    if text.startswith("analysis") and (_STRIPPED_FINAL in text or _ANALYSIS.match(text)):
        return text.rpartition(_STRIPPED_FINAL)[2] if _STRIPPED_FINAL in text else ""
    for character, signs in _SIGNS.items():
        if character in text and signs.search(text):
            return _outside_tags(text)
    return text


def _without_end_tokens(text: str) -> str:
    """The text before the tokens that end a turn, which some trainers leave in."""
    if "<s>" in text:  # "<s>…</s>" is struck out
        return text
    tail = text[-MAX_END:]
    return text[: len(text) - len(tail)] + tail[: _END_TOKENS.search(tail).start()]  # type: ignore[union-attr]


def _final_channel(text: str) -> str:
    """The last `final` message of a harmony conversation; nothing when it was never reached."""
    start = None
    for message in _FINAL_CHANNEL.finditer(text):
        start = message.end()
    if start is None:
        return ""
    end = _END_OF_MESSAGE.search(text, start)
    return text[start : end.start() if end else len(text)]


def _outside_tags(text: str) -> str:
    if not any(map(text.__contains__, _CLOSINGS)):
        first = _TAG.search(text)
        return text[: first.start()] if first else text
    spoken: list[str] = []
    start = 0
    thinking = False
    for tag in _TAG.finditer(text):
        if not (tag["close"] or tag["end"]):
            if not thinking:
                spoken.append(text[start : tag.start()])
            thinking = True
            continue
        if not thinking:
            spoken.clear()
        thinking = False
        start = tag.end()
    if not thinking:
        spoken.append(text[start:])
    return "".join(spoken)
