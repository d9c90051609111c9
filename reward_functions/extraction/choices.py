"""Lettered choices: the options a question offers, and the one an answer picks."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core import patterns as re
from reward_functions.extraction.cues import choices as words
from reward_functions.extraction.markup import plain
from reward_functions.quantities.numerals import Quantity, quantity, same
from reward_functions.quantities.unicode_forms import folded, typeset
from reward_functions.quantities.units import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

MAX_INTEGER: Final = 10**15
"""Integers among the options are shorter than this; longer ones take time to print."""

MAX_CHOICE: Final = 2000
"""Characters of an answer that may still be one choice and its text."""

USUAL: Final = 4
"""Options from which no other way of marking them is looked for."""

KEPT: Final = 64
"""Prompts whose options are kept: all responses of a group answer the same one."""

_STYLE: Final = r"\\(?:(?:text|math)(?:bf|rm)?|mbox|bf|rm)\s?\{\s?"
_SPACE: Final = r"(?:[\s~]|\\[,;:! ]|\\q?quad\b)"
_WIDE: Final = "）．：、"
"""Marks of full width, which stand without a space."""
_BEHIND_MARK: Final = rf"(?:{_SPACE}{{1,4}}|(?<=[{_WIDE}])|(?=[^\x00-\x7f]))"
_MARKS: Final = (
    re.compile(
        rf"\$?(?:{_STYLE})?[(\[（](?P<letter>[A-Z])[)\]）](?:{_SPACE}{{0,3}}\}})?{_SPACE}{{0,4}}"
    ),
    re.compile(
        rf"^[ \t*$-]{{0,8}}(?:{_STYLE})?(?P<letter>[A-Z])[).:{_WIDE}][*}}]{{0,3}}"
        rf"(?:{_BEHIND_MARK}|(?<=\.)(?![A-Z]\.))",
        re.MULTILINE,
    ),
    re.compile(rf"(?<![A-Za-z_$\\])(?P<letter>[A-Z])[).:{_WIDE}]{_BEHIND_MARK}"),
)
"""How the letters of options are marked; one way at a time."""

_FIRST: Final = "AF"
_NEXT: Final = {
    each: frozenset(LETTERS[at + 1 : at + (3 if each == "H" else 2)])
    for at, each in enumerate(LETTERS)
}
_LINE_END: Final = re.compile(r"\n|\\n(?![a-z])|[.?!]\s+(?=[A-Z])")
_SEPARATOR: Final = re.compile(
    rf"^{_SPACE}{{1,9}}|(?:{_SPACE}|\\n(?![a-z])|\\\\|[;,，；]|\$\$){{1,20}}+$"
)
_LETTERED: Final = re.compile(
    rf"\s*(?:\*\*|\$)?{words.CALLED}(?P<style>{_STYLE})?(?P<opened>[(\[])?(?P<letter>[A-Za-z])"
    rf"(?P<closed>[)\]])?(?P<point>[.:),])?{_SPACE}{{0,4}}(?P<end>\}})?(?P<after>[.:,])?(?:\*\*|\$)?"
    rf"(?:{_SPACE}{{0,6}}(?P<text>[^\s].*))?",
    re.DOTALL,
)
_LETTER: Final = re.compile(r"[(\[]?([A-Za-z])[)\]]?(?:\s?[.:,)-]|(?=\s)|$)\s*")
_LAYOUT: Final = re.compile(r"[$\s]|\\(?:left|right)(?![a-z])|(?<=\\)[dt](?=frac)")
_ARGUMENT: Final = re.compile(r"(\}|\\sqrt)(\w)")
"""An argument of one character, which may as well stand in braces."""
_BEHIND: Final = re.compile(r"(\S.*?)(?<!\s)\s*+[(\[]([A-Z])[)\]]")


@lru_cache(KEPT)
def options_in(prompt: str) -> Mapping[str, str]:
    """The options a prompt lists, by letter: "(A) …", "A) …" one a line, or in a row.

    Letters run from A, or from F as every second question of the ACT does, without a gap but for I;
    the last run counts, so that worked examples before the question do not. Where letters are
    marked in several ways, the way counts that marks most of them. Empty when there are fewer than
    two.
    """
    most: dict[str, str] = {}
    for marks in _MARKS:
        most = max(most, _last_run(prompt, marks), key=len)
        if len(most) >= USUAL:
            break
    return most


def lettered(answer: str) -> tuple[str, str] | None:
    r"""The letter of a choice and the text after it, "" without one: `(C) 39`, `\text{C}`.

    None where the answer does not begin with a marked letter; a bare capital is one when it is all.
    """
    found = _LETTERED.fullmatch(answer) if len(answer) <= MAX_CHOICE else None
    if found is None:
        return None
    letter, text = found["letter"].upper(), (found["text"] or "").strip()
    joined = "," in (found["point"], found["after"], text[:1]) or text[:2].islower()
    if joined and words.LETTERS_ONLY.fullmatch(text):
        return None
    bracketed = found["opened"] and found["closed"]
    if letter != found["letter"] and not (bracketed or found["style"]):
        return None
    if text and not (
        bracketed or found["point"] or found["closed"] or (found["style"] and found["end"])
    ):
        return None
    return letter, text.removesuffix("}") if found["style"] and not found["end"] else text


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

    Picked by letter ("B", "(b)", "B. Paris", `\text{(B)}`) or by the option's text. A text after
    the letter must not speak against it, as far as the options are known; two letters pick nothing.
    """
    whole = typeset(plain(answer[:MAX_CHOICE])).strip(" .'\"`")
    answer = words.LEAD.sub("", whole, count=1)
    match = _LETTER.match(answer)
    if match:
        letter, rest = match[1].upper(), answer[match.end() :].strip()
        marked = _is_letter(match[0], rest)
    else:
        behind = _BEHIND.fullmatch(answer)
        letter, rest = (behind[2], behind[1]) if behind else ("", answer)
        marked = behind is not None
    if not marked or (options and letter not in options) or words.LETTERS_ONLY.fullmatch(rest):
        return _by_text(answer, options) or (whole != answer and _by_text(whole, options)) or None
    listed = match is not None and "," in match[0]
    if listed and words.ANOTHER.match(rest):
        return None
    if not rest or letter not in options:
        return letter
    if _same(_unbracketed(rest), options[letter]) or not (
        listed or speaks_against(_unbracketed(rest), letter, options)
    ):
        return letter
    return _by_text(answer, options)


def speaks_against(text: str, letter: str, options: Mapping[str, str]) -> bool:
    """Whether a text marked by a letter speaks against it, and be it by doubt or another letter.

    Words that say nothing of the options say nothing here.
    """
    if words.REPORTED.search(text):
        return True
    named = words.NAMED.findall(text)
    return not (options.keys() - letter).isdisjoint(named) or differs(text, letter, options)


def differs(text: str, letter: str, options: Mapping[str, str]) -> bool:
    """Whether a text after a letter is another option's, or a formula not known to be its own."""
    if not text or letter not in options or _same(text, options[letter]):
        return False
    if is_another(text, letter, options):
        return True
    formula = words.MATHEMATICAL.search(text) and not words.WORD.search(text)
    return bool(formula) and None in (_quantity(options[letter]), _quantity(text))


def is_another(text: str, letter: str, options: Mapping[str, str]) -> bool:
    """Whether a text is another option's than that of the letter, or has another value."""
    if not text or letter not in options or _same(text, options[letter]):
        return False
    if any(_same(text, option) for option in options.values()) or words.OR_LETTER.search(text):
        return True
    mine, theirs = _quantity(options[letter]), _quantity(text)
    if mine is None or theirs is None or same(mine, theirs):
        return False
    known = all(each.unit and canonical(each.unit) for each in (mine, theirs))
    return known or mine.value != theirs.value


def is_option(text: str, letter: str, options: Mapping[str, str]) -> bool:
    """Whether a text is that of an option."""
    return letter in options and _same(_unbracketed(text), options[letter])


def _quantity(text: str) -> Quantity | None:
    return quantity(plain(_ARGUMENT.sub(r"\1{\2}", text)))


def picked(text: str) -> str | None:
    """The letter that a sentence picks: "So B is correct.", "I choose (B)."; None without one.

    A sentence that picks two letters, asks, or tells what holds on a condition or what others say,
    picks none.
    """
    tail = text[-MAX_CHOICE:]
    letter, ended = None, -1
    for match in words.PICKED.finditer(tail):
        start = max(tail.rfind(stop, 0, match.start()) for stop in ".?!\n") + 1
        chosen = match[match.lastindex or 0]
        if (
            words.ANOTHER.match(tail, match.end())
            or words.REPORTED.search(tail, start, match.start())
            or words.ASKED.match(tail, match.end())
            or (start <= ended and chosen != letter)
        ):
            letter = None
        else:
            letter = chosen
        ended = match.end()
    return letter


def _unbracketed(text: str) -> str:
    return text[1:-1] if text[:1] in "([" and text[-1:] in ")]" else text


def _is_letter(mark: str, rest: str) -> bool:
    """Whether it is a choice, not the word "a": alone, or marked off from what follows."""
    return not rest or not mark.strip().isalpha() or rest.startswith("(")


def _by_text(answer: str, options: Mapping[str, str]) -> str | None:
    letters = [letter for letter, text in options.items() if _same(answer, text)]
    return letters[0] if len(letters) == 1 else None


def _same(first: str, second: str) -> bool:
    return _bare(first) == _bare(second)


def _bare(text: str) -> str:
    """A text without what is no part of it, for a comparison as a whole."""
    bare = _LAYOUT.sub("", folded(plain(text)).rstrip(".?"))
    return _ARGUMENT.sub(r"\1{\2}", bare) if "\\" in bare else bare


def _last_run(prompt: str, marks: re.Pattern[str]) -> dict[str, str]:
    """The last run of marked letters, each with the text up to the next one."""
    runs: list[list[re.Match[str]]] = []
    for mark in marks.finditer(prompt):
        letter = mark["letter"]
        if runs and letter in _NEXT[runs[-1][-1]["letter"]]:
            runs[-1].append(mark)
        elif letter in _FIRST:
            runs.append([mark])
    behind = len(prompt)
    bare: dict[str, str] = {}
    for run in reversed(runs):
        ends = [*(mark.start() for mark in run[1:]), behind]
        behind = run[0].start()
        options = {
            mark["letter"]: _option(prompt[mark.end() : end], last=mark is run[-1])
            for mark, end in zip(run, ends, strict=True)
        }
        if len(run) > 1 and not any(map(words.NO_OPTION.fullmatch, options.values())):
            return options
        if len(run) > 1 and not any(options.values()):
            bare = bare or options
    return bare


def _option(text: str, *, last: bool) -> str:
    """The text of an option, without what parts it from the next one."""
    text = text.strip()
    if last:
        text = _LINE_END.split(text, maxsplit=1)[0]
    text = _SEPARATOR.sub("", text).strip()
    if text.count("$") % 2:  # one formula around all options
        text = (
            text.removesuffix("$").strip() if text.endswith("$") else text.removeprefix("$").strip()
        )
    return _SEPARATOR.sub("", text).strip()
