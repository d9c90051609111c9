"""Setting reasoning aside: what a policy thinks is not what it answers.

Three notations are known. Tags (`<think>`, `<thinking>`, `<reasoning>`, `<thought>`; Amazon Nova
writes the second), token pairs (`<|begin_of_thought|>`), and the channels of OpenAI's harmony
format (gpt-oss), of which only `final` is addressed to the user.

A section that is never closed runs to the end of the text. A closing tag without an opener ends a
section that began with the text: chat templates that open the section in the prompt produce it.

The markers that open and end a turn are no part of it either (`core.turn_markers`).
"""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re
from reward_functions.core.turn_markers import THOUGHTS, within_turn

_NAMED: Final = (
    r"(?:(?P<close>/)?"
    rf"(?:{'|'.join(THOUGHTS)})\s{{0,8}}[>\]▷]"
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
_CHANNEL: Final = "<|channel|>"

_STRIPPED_FINAL: Final = "assistantfinal"
"""What is left of harmony's markers when a tokenizer drops its special tokens while decoding."""


def without_reasoning(text: str, kept: str = "") -> str:
    """The part of a response that is addressed to the reader; may be empty. Linear.

    Args:
        text: what the policy wrote.
        kept: the reference: a marker of a turn that it contains is text.
    """
    text = within_turn(text, kept)
    if "<" in text and _CHANNEL in text:
        return _final_channel(text)
    if text.startswith("analysis") and (_STRIPPED_FINAL in text or _ANALYSIS.match(text)):
        return text.rpartition(_STRIPPED_FINAL)[2] if _STRIPPED_FINAL in text else ""
    return _outside_tags(text) if _shows_tag(text) else text


def may_hold_reasoning(text: str) -> bool:
    """Whether any notation may open or close reasoning in a response; in most none does."""
    return _shows_tag(text) or "analysis" in text


def _shows_tag(text: str) -> bool:
    for character, signs in _SIGNS:  # noqa: SIM110 - half the price of `any`
        if character in text and signs(text):
            return True
    return False


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
