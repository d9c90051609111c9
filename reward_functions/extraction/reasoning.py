"""Setting reasoning aside: what a policy thinks is not what it answers.

Three notations are known. Tags (`<think>`, `<thinking>`, `<reasoning>`, `<thought>`; Amazon Nova
writes the second), token pairs (`<|begin_of_thought|>`), and the channels of OpenAI's harmony
format (gpt-oss), of which only `final` is addressed to the user.

A section that is never closed runs to the end of the text. A closing tag without an opener ends a
section that began with the text: chat templates that open the section in the prompt produce it.

Tokens that open and end a turn, which some trainers leave in, are no part of it either.
"""

from __future__ import annotations

import re
from typing import Final

_NAMED: Final = (
    r"(?:(?P<close>/)?"
    r"(?:think|thinking|reasoning|reasoning_content|thought|scratchpad|reflection|seed:think)\s{0,8}[>\]▷]"
    r"|(?<=<)\|(?:begin|(?P<end>end))_of_thought\|>)"
)
# All alternatives begin with one set, so that the search skips to the next character of it.
_TAG: Final = re.compile(r"[<\[◁]" + _NAMED, re.IGNORECASE)
_ANGLED_TAG: Final = re.compile("<" + _NAMED, re.IGNORECASE)
"""The same where nothing else opens one: a search for one character costs a tenth."""
_OTHER_TAG: Final = re.compile(r"\[(?=[/tTrRsS])").search
# A character is looked for at a fiftieth of a pattern's price, and a pattern that begins with one
# at a tenth of any other's.
_SIGNS: Final = (
    ("<", re.compile(r"<[tTrRsS/|]").search),
    ("[", re.compile(r"\[[tT/]").search),
    ("◁", re.compile("◁").search),
)
_FINAL_CHANNEL: Final = re.compile(
    r"<\|channel\|>\s{0,8}final\b[^<]{0,80}(?:<\|constrain\|>[^<]{0,80})?<\|message\|>"
)
_ANALYSIS: Final = re.compile(r"analysis(?=[A-Z\\<$\d])")
_END_OF_MESSAGE: Final = re.compile(r"<\|(?:end|return|call|start)\|>")
_START_TOKEN: Final = re.compile(r"<(?:s|bos|\|begin_of_text\||｜begin▁of▁sentence｜)>")
_ENDS: Final = (
    "</s>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|end_of_solution|>",
    "<|return|>",
    "<|eos|>",
    "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
)
_END_TOKENS: Final = re.compile(rf"(?:\s|{'|'.join(map(re.escape, _ENDS))})*\Z")
_CHANNEL: Final = "<|channel|>"
MAX_END: Final = 80
"""Characters of the tokens that end a turn; there are one or two."""

_STRIPPED_FINAL: Final = "assistantfinal"
"""What is left of harmony's markers when a tokenizer drops its special tokens while decoding."""


def without_reasoning(text: str) -> str:
    """The part of a response that is addressed to the reader; may be empty. Linear."""
    text = within_turn(text)
    if "<" in text and _CHANNEL in text:
        return _final_channel(text)
    if text.startswith("analysis") and (_STRIPPED_FINAL in text or _ANALYSIS.match(text)):
        return text.rpartition(_STRIPPED_FINAL)[2] if _STRIPPED_FINAL in text else ""
    for character, signs in _SIGNS:
        if character in text and signs(text):
            return _outside_tags(text)
    return text


def within_turn(text: str) -> str:
    """The text between the tokens that open and end a turn: one that opens it, any that end it.

    `<s>` and `</s>` are such tokens, and also strike out what is between them. `<s>` opens a turn
    where the text begins with it, unless its `</s>` stands before the end.
    """
    if text.startswith("<"):
        opening = _START_TOKEN.match(text)
        if opening and not _strikes(text, opening):
            text = text[opening.end() :]
    if text.endswith(_ENDS) and "<s>" not in text:
        return _without_end_tokens(text)
    return text


def _strikes(text: str, opening: re.Match[str]) -> bool:
    """Whether a tag that may open a turn strikes out a part of the text."""
    if opening[0] != "<s>":
        return False
    struck, closing, rest = text[opening.end() :].partition("</s>")
    return bool(closing) and "<s>" not in struck and bool(_without_end_tokens(rest).strip())


def _without_end_tokens(text: str) -> str:
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
    tags = _TAG if "◁" in text or _OTHER_TAG(text) else _ANGLED_TAG
    kept: list[str] = []
    start = 0
    thinking = False
    for tag in tags.finditer(text):
        if not (tag["close"] or tag["end"]):
            if not thinking:
                kept.append(text[start : tag.start()])
            thinking = True
            continue
        if not thinking:
            kept.clear()
        thinking = False
        start = tag.end()
    if not thinking:
        kept.append(text[start:])
    return "".join(kept)
