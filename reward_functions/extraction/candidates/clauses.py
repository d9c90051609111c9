r"""Read a sentence: the subject and the value of each of its main clauses.

"As n grows, the number of paths of length n = 4 that we count is 70 when x = 2." says one thing:
the number of paths is 70. Subordinate clauses go first, then each verb that is left has its subject
before it and its value after it, up to the next clause. Formulas and brackets hide what is in them.
A sentence of any other build says nothing.

All functions are linear in the length of the sentence.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core import patterns as re
from reward_functions.extraction.cues import clauses as words

if TYPE_CHECKING:
    from collections.abc import Sequence

_MARK: Final = re.compile(r"\$\$?|\\[()\[\]{}$]|[()\[\]{}]")
_CLOSING: Final = {"\\(": "\\)", "\\[": "\\]", "$$": "$$", "$": "$"}
HIDDEN: Final = "\0"
"""Stands for a character of a formula or a bracket."""

_BORDERS: Final = ("joins", "steps", "pause")
_VERBS: Final = ("verb", "limit")
_ANY: Final = ("verb", "limit", "has", "sign")


class Clause(NamedTuple):
    """A main clause.

    Args:
        subject: what it is about, in small letters, with formulas and brackets hidden.
        written: the same as it is written, with what is subordinate in it.
        verb: the kind of its verb: "verb", "limit", "has", "sign".
        value: what stands right after the verb, as it is written.
        rest: what stands after that, as the subject.
        behind: all after the verb, with what is subordinate, as it is written.
        joined: what joins the clause to the one before it.
    """

    subject: str
    written: str
    verb: str
    value: str
    rest: str
    behind: str
    joined: str


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int
    place: int


def main_clauses(sentence: str) -> tuple[list[Clause], list[str]]:
    """The main clauses of a sentence without its full stop, and the conditions that it names."""
    tokens = [
        _Token(each.lastgroup or "", each[0].lower(), each.start(), each.end(), place)
        for place, each in enumerate(words.TOKEN.finditer(hidden(sentence)))
    ]
    main, conditions = _without_subordinates(tokens)
    return _clauses(main, sentence), [sentence[start:end].strip() for start, end in conditions]


def hidden(text: str) -> str:
    """The text with formulas and brackets blotted out, as long as it was."""
    shown: list[str] = []
    depth, closing, at = 0, "", 0
    for mark in _MARK.finditer(text):
        sign, inside = mark[0], bool(closing or depth)
        if closing:
            if sign == closing and (sign != "$" or _closes(text, at, mark.start())):
                closing = ""
        elif sign in _CLOSING:
            closing = "" if depth else _CLOSING[sign]
        else:
            depth = max(0, depth + (sign[-1] in "([{") - (sign[-1] in ")]}"))
        if inside is not bool(closing or depth):
            shown.append(HIDDEN * (mark.end() - at) if inside else text[at : mark.start()])
            at = mark.end() if inside else mark.start()
    rest = text[at:]
    unclosed = depth or closing not in ("", "$")  # a lone dollar sign is money
    return "".join(shown) + (HIDDEN * len(rest) if unclosed else rest)


def _closes(text: str, opening: int, closing: int) -> bool:
    """Whether a dollar sign closes a formula: spaced on neither side, or around no word."""
    spaced = text[opening + 1].isspace()
    if spaced is not text[closing - 1].isspace():
        return False
    return not (spaced and words.WORD.search(text, opening, closing))


def _without_subordinates(tokens: Sequence[_Token]) -> tuple[list[_Token], list[tuple[int, int]]]:
    """The tokens of the main clauses, and where the conditions stand."""
    main: list[_Token] = []
    conditions: list[tuple[int, int]] = []
    ahead = _verbs_ahead(tokens)
    place, behind = 0, False
    while place < len(tokens):
        token = tokens[place]
        if token.kind != "opens":
            opens = token.kind == "steps" or (token.kind in _BORDERS and ahead[place])
            behind = not opens and (behind or token.kind in _VERBS)
            main.append(token)
            place += 1
            continue
        leads = not behind and (not main or main[-1].kind in _BORDERS)
        if behind:
            end = _end_behind(tokens, place, ahead)
        else:
            end = _end_before(tokens, place, ahead, leads=leads)
        if token.text in words.CONDITIONS:
            conditions.append((token.end, tokens[end - 1].end))
        if behind and _counts(tokens[place:end]):
            main.extend(tokens[place:end])
        place = end
    return main, conditions


def _verbs_ahead(tokens: Sequence[_Token]) -> list[str]:
    """Behind each token, the kind of the first verb up to the next border; "" for none."""
    ahead = [""] * len(tokens)
    found = ""
    for place in range(len(tokens) - 1, -1, -1):
        ahead[place] = found
        kind = tokens[place].kind
        if kind in _VERBS or (kind == "has" and not found):
            found = kind
        elif kind in _BORDERS:
            found = ""
    return ahead


def _end_behind(tokens: Sequence[_Token], start: int, ahead: Sequence[str]) -> int:
    """Where a subordinate clause behind its main verb ends: where another main clause begins."""
    waiting = tokens[start].text not in words.VERBLESS
    for place in range(start + 1, len(tokens)):
        kind = tokens[place].kind
        if kind in _ANY or _is_own_verb(tokens, start, place):
            waiting = False
        elif kind == "steps" or (kind in _BORDERS and not waiting and ahead[place]):
            return place
    return len(tokens)


def _end_before(tokens: Sequence[_Token], start: int, ahead: Sequence[str], *, leads: bool) -> int:
    """Where a subordinate clause before its main verb ends: at that verb, or at its comma."""
    opened = tokens[start].text
    waiting = opened not in words.VERBLESS
    named = False
    for place in range(start + 1, len(tokens)):
        token = tokens[place]
        if waiting:
            own = token.kind in _ANY or _is_own_verb(tokens, start, place)
            waiting = not own
            if not leads or token.kind not in ("pause", "steps"):
                continue
        if token.kind in ("pause", "steps") or token.kind == "verb":
            return place
        if token.kind == "limit" and opened != "as":
            return place
        if (token.kind == "sign" and named) or (token.kind == "has" and ahead[place] not in _VERBS):
            return place
        named = named or (token.kind == "word" and len(token.text) > 1)
    return len(tokens)


def _counts(part: Sequence[_Token]) -> bool:
    """Whether a part without a verb has a number of its own: with remainder 3, for a total of 9."""
    if part[0].text not in words.VERBLESS or any(
        token.kind == "sign" or token.text in words.RELATIONS for token in part
    ):
        return False
    counted = any(token.text[:1].isdigit() or HIDDEN in token.text for token in part)
    return counted and part[0].text != "at" and [token.text for token in part[:2]] != ["for", "the"]


def _is_own_verb(tokens: Sequence[_Token], start: int, place: int) -> bool:
    """Whether a word is the verb of a subordinate clause: the angle that lands, if she accepts."""
    word = tokens[place]
    if place == start + 2:
        return tokens[start + 1].text in words.PRONOUNS
    return (
        place == start + 1
        and tokens[start].text in words.RELATIVES
        and word.kind == "word"
        and len(word.text) > 1
        and word.text not in words.NO_VERBS
    )


def _clauses(tokens: Sequence[_Token], sentence: str) -> list[Clause]:
    """The clauses of the last step of the tokens; none where two verbs stand in one."""
    tokens = tokens[_last_step(tokens) :]
    kinds = _kinds(tokens)
    verbs = [at for at, token in enumerate(tokens) if token.kind in kinds]
    clauses: list[Clause] = []
    begin, first = 0, -1
    for verb, following in pairwise([*verbs, len(tokens)]):
        first = verb if first < 0 else first
        border = max(
            (at for at in range(verb, following) if tokens[at].kind in _BORDERS), default=-1
        )
        if following == len(tokens):
            border = following
        elif border < 0:
            if "sign" in kinds:
                continue  # a chain: what stands first is what stands last
            return []
        clauses.append(_clause(tokens, sentence, (begin, first, verb, border)))
        begin, first = border + 1, -1
    return clauses


def _last_step(tokens: Sequence[_Token]) -> int:
    """Where the last step with a verb begins: behind "so" or "which means"."""
    verb = False
    for place in range(len(tokens) - 1, -1, -1):
        verb = verb or tokens[place].kind in _ANY
        if verb and tokens[place].kind == "steps":
            return place + 1
    return 0


def _kinds(tokens: Sequence[_Token]) -> tuple[str, ...]:
    """The kinds of verbs that count: others only where there is no copula."""
    found = {token.kind for token in tokens}
    if not found.isdisjoint(_VERBS):
        return _VERBS
    return ("sign",) if "sign" in found else ("has",)


def _clause(tokens: Sequence[_Token], sentence: str, places: tuple[int, int, int, int]) -> Clause:
    """The clause that begins, has its first and its last verb, and ends at these places."""
    begin, verb, last, end = places
    until = tokens[end].start if end < len(tokens) else len(sentence)
    value = last
    while value + 1 < end and tokens[value + 1].place == tokens[value].place + 1:
        if tokens[value + 1].kind == "pause":
            break
        value += 1
    return Clause(
        subject=" ".join(token.text for token in tokens[begin:verb]),
        written=sentence[tokens[begin].start : tokens[verb].start].strip(" ,;"),
        verb=tokens[last].kind,
        value=sentence[tokens[last].end : tokens[value].end].strip(),
        rest=" ".join(token.text for token in tokens[value + 1 : end]),
        behind=sentence[tokens[verb].end : until],
        joined=tokens[begin - 1].text if begin else "",
    )
