"""Lettered choices: the options a question offers, and the one an answer picks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from reward_functions.extraction.cues import choices as words
from reward_functions.extraction.markup import plain
from reward_functions.quantities.unicode_forms import folded, typeset

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

MAX_INTEGER: Final = 10**15
"""Integers among the options are shorter than this; longer ones take time to print."""

MAX_CHOICE: Final = 2000
"""Characters of an answer that may still be one choice and its text."""

_LINE: Final = re.compile(r"^[ \t*-]*[(\[]?([A-Z])[)\].:][ \t*]+(\S[^\n]*)$", re.MULTILINE)
_INLINE: Final = re.compile(r"\(([A-Z])\)\s*([^()\n]+)")
_LETTER: Final = re.compile(r"[(\[]?([A-Za-z])[)\]]?(?:\s?[.:,)-]|(?=\s)|$)\s*")
_BEHIND: Final = re.compile(r"(\S.*?)\s*[(\[]([A-Z])[)\]]")


def options_in(prompt: str) -> dict[str, str]:
    """The options a prompt lists, by letter: one a line, else in a row as "(A) … (B) …".

    Letters must run from A without a gap; the last run counts, so that worked examples before the
    question do not. Empty when there are fewer than two.
    """
    return _last_run(_LINE.findall(prompt)) or _last_run(_INLINE.findall(prompt))


def options_of(listed: Any) -> dict[str, str]:
    """The options a data set lists; empty when it lists none this function knows.

    Known are a list of strings, an object by letter, and `{"text": […], "label": […]}`.
    """
    if isinstance(listed, dict) and isinstance(listed.get("text"), list):
        labels = listed.get("label")
        letters = labels if isinstance(labels, list) else list(LETTERS)
        listed = dict(zip(map(str, letters), listed["text"], strict=False))
    if isinstance(listed, list):
        listed = dict(zip(LETTERS, listed, strict=False))
    if not isinstance(listed, dict) or not all(map(_is_scalar, listed.values())):
        return {}
    return {str(letter).upper(): str(text) for letter, text in listed.items()}


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | float) or (isinstance(value, int) and abs(value) < MAX_INTEGER)


def choice(answer: str, options: Mapping[str, str]) -> str | None:
    r"""The letter of the one option an answer picks, or None.

    Picked by letter ("B", "(b)", "B. Paris", `\text{(B)}`) or by the option's text. When both are
    given they must agree, as far as the options are known; two letters pick nothing.
    """
    answer = words.LEAD.sub("", typeset(plain(answer[:MAX_CHOICE])).strip(" .'\"`"), count=1)
    match = _LETTER.match(answer)
    if match:
        letter, rest = match[1].upper(), answer[match.end() :].strip()
        marked = _is_letter(match[0], rest)
    else:
        behind = _BEHIND.fullmatch(answer)
        letter, rest = (behind[2], behind[1]) if behind else ("", answer)
        marked = behind is not None
    if not marked or (options and letter not in options) or words.ANOTHER.fullmatch(rest):
        return _by_text(answer, options)
    if not rest or letter not in options or _same(_unbracketed(rest), options[letter]):
        return letter
    return _by_text(answer, options)


def picked(text: str) -> str | None:
    """The letter that a sentence picks: "So B is correct.", "I choose (B)."; None without one."""
    found = None
    for match in words.PICKED.finditer(text[-MAX_CHOICE:]):
        found = match
    return (found[1] or found[2]) if found else None


def _unbracketed(text: str) -> str:
    return text[1:-1] if text[:1] in "([" and text[-1:] in ")]" else text


def _is_letter(mark: str, rest: str) -> bool:
    """Whether it is a choice, not the word "a": alone, or marked off from what follows."""
    return not rest or not mark.strip().isalpha() or rest.startswith("(")


def _by_text(answer: str, options: Mapping[str, str]) -> str | None:
    letters = [letter for letter, text in options.items() if _same(answer, text)]
    return letters[0] if len(letters) == 1 else None


def _same(first: str, second: str) -> bool:
    return folded(plain(first)).rstrip(".") == folded(plain(second)).rstrip(".")


def _last_run(found: Iterable[tuple[str, str]]) -> dict[str, str]:
    run: dict[str, str] = {}
    for letter, text in found:
        if letter == "A":
            run = {}
        if letter == LETTERS[len(run) % len(LETTERS)]:
            run[letter] = text.strip()
    return run if len(run) > 1 else {}
