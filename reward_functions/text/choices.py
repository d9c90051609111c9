"""Lettered choices: the options a question offers, and the one an answer picks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from reward_functions.text.latex import plain
from reward_functions.text.normal import folded, typeset

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

MAX_CHOICE: Final = 2000
"""Characters of an answer that may still be one choice and its text."""

_LINE: Final = re.compile(r"^[ \t*-]*[(\[]?([A-Z])[)\].:][ \t*]+(\S[^\n]*)$", re.MULTILINE)
_INLINE: Final = re.compile(r"\(([A-Z])\)\s*([^()\n]+)")
_LETTER: Final = re.compile(r"[(\[]?([A-Za-z])[)\]]?(?:[.:,)]|(?=\s)|$)\s*")
_ANOTHER: Final = re.compile(r"[\s,/&]*(?:or|and)?\s*[(\[]?[A-Z][)\]]?(?!\w|['’])", re.IGNORECASE)


def options_in(prompt: str) -> dict[str, str]:
    """The options a prompt lists, by letter: one a line, else in a row as "(A) … (B) …".

    Letters must run from A without a gap; the last run counts, so that worked examples before the
    question do not. Empty when there are fewer than two.
    """
    return _last_run(_LINE.findall(prompt)) or _last_run(_INLINE.findall(prompt))


def options_of(listed: Any) -> dict[str, str]:
    """The options a data set lists, as a list or by letter; empty when it is neither."""
    if isinstance(listed, list) and len(listed) <= len(LETTERS):
        return {letter: str(text) for letter, text in zip(LETTERS, listed, strict=False)}
    if isinstance(listed, dict):
        return {str(letter).upper(): str(text) for letter, text in listed.items()}
    return {}


def choice(answer: str, options: Mapping[str, str]) -> str | None:
    r"""The letter of the one option an answer picks, or None.

    Picked by letter ("B", "(b)", "B. Paris", `\text{(B)}`) or by the option's text. When both are
    given they must agree, as far as the options are known; two letters pick nothing.
    """
    answer = typeset(plain(answer[:MAX_CHOICE])).rstrip(".").strip()
    match = _LETTER.match(answer)
    letter = match[1].upper() if match else ""
    rest = answer[match.end() :].strip() if match else answer
    if match and _is_letter(match[0], rest) and (not options or letter in options):
        agrees = not rest or letter not in options or _same(rest, options[letter])
        return letter if agrees and not _ANOTHER.fullmatch(rest) else _by_text(answer, options)
    return _by_text(answer, options)


def _is_letter(mark: str, rest: str) -> bool:
    """Whether it is a choice, not the word "a": alone, or marked off from what follows."""
    return not rest or not mark.strip().isalpha()


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
