r"""The clause after an answer that says when it holds: for all x, (k ∈ ℤ), where C is a constant.

One clause at the end is read, or a \forall at the beginning. Its words come from the tables here;
with a word that is in none of them, the answer is not read at all.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.symbolic.budget import Unreadable
from reward_functions.symbolic.expr.nodes import (
    Braces,
    Given,
    Listing,
    NamedSet,
    Node,
    Relation,
    Symbol,
    Union,
)
from reward_functions.symbolic.parsing.cursor import END

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reward_functions.symbolic.parsing.lexer import Token

_BEGINS: Final = frozenset("for where when whenever if with provided given forall".split())
"""Words that begin a clause."""

_FILLERS: Final = frozenset(
    "for all every any each some an a the is are be being that given such as arbitrary fixed "
    "constant constants parameter forall constant real number numbers".split()
)
"""Words of a clause that restrict nothing."""

_KINDS: Final = {
    "integer": "Z",
    "integers": "Z",
    "natural": "N",
    "naturals": "N",
    "rational": "Q",
    "rationals": "Q",
}
_SIGNED_KINDS: Final = {
    ("positive", "Z"): "Z+",
    ("non-negative", "Z"): "N0",
    ("nonnegative", "Z"): "N0",
}
_KIND_WORDS: Final = frozenset((*_KINDS, "positive", "nonnegative"))
_EXCEPTIONS: Final = frozenset("except excluding besides".split())
_MARKS: Final = _BEGINS | _EXCEPTIONS
_OPENING: Final = frozenset(("(", "[", "{", "\\{"))
_CLOSING: Final = frozenset((")", "]", "}", "\\}"))
_MARGINS: Final = frozenset(",;.:")


class _Clause(NamedTuple):
    """An answer's tokens, and those of the clause that says when it holds."""

    body: list[Token]
    clause: list[Token]
    exception: bool = False


def with_clause(stream: list[Token], parse: Callable[[list[Token]], Node]) -> Node | None:
    """An answer with its clause; None where it has none that is read."""
    if not any(token.kind == "∈" or token.text.lower() in _MARKS for token in stream):
        return None
    found = _split(stream)
    try:
        return _together(found, parse) if found and found.body else None
    except Unreadable:
        return None


def _together(found: _Clause, parse: Callable[[list[Token]], Node]) -> Node:
    """The tree of an answer and its clause; raises as the parser does."""
    if found.exception:
        return _without(parse(found.body), parse(found.clause))
    conditions = _conditions(found.clause, parse)
    body = parse(found.body)
    if isinstance(body, Given):
        raise Unreadable("two clauses after an answer")
    if _stated(body) & {name for each in conditions for name in _stated(each)}:
        raise Unreadable("a clause that gives another value")
    return Given(body, conditions) if conditions else body


def _without(body: Node, taken: Node) -> Node:
    """A set without some numbers."""
    if not isinstance(body, NamedSet):
        raise Unreadable("an exception from something else than a set")
    if isinstance(taken, Relation) and taken.operators == ("=",):
        taken = taken.operands[1]
    items = taken.items if isinstance(taken, Listing | Braces) else (taken,)
    return Union((body, Braces(items)), minus=True)


def _split(stream: list[Token]) -> _Clause | None:
    """The answer and its clause, by the first word outside brackets that begins one."""
    if _begins(stream[0]):
        end = _first(stream, lambda token: token.kind == ",")
        universal = stream[0].kind == "command" and end is not None
        return _Clause(stream[end + 1 :], stream[:end]) if universal and end else None
    last = stream[-1]
    if last.kind == ")":
        opening = _opening(stream)
        inside = stream[opening + 1 : -1]
        if opening > 0 and inside and (_begins(inside[0]) or _locates(inside)):
            return _Clause(_trimmed(stream[:opening]), inside)
    start = _first(stream, lambda token: _begins(token) or token.text in _EXCEPTIONS)
    if start is None:
        return None
    return _Clause(
        _trimmed(stream[:start]),
        stream[start + (stream[start].text in _EXCEPTIONS) :],
        exception=stream[start].text in _EXCEPTIONS,
    )


def _begins(token: Token) -> bool:
    return token.kind in ("letters", "command") and token.text.lower() in _BEGINS


def _locates(inside: Sequence[Token]) -> bool:
    """Whether brackets hold a statement about where letters lie: (k ∈ ℤ)."""
    return any(token.kind == "∈" for token in inside)


def _first(stream: Sequence[Token], wanted: Callable[[Token], bool]) -> int | None:
    """The place of the first wanted token outside brackets."""
    depth = 0
    for place, token in enumerate(stream):
        depth += (token.kind in _OPENING) - (token.kind in _CLOSING)
        if not depth and wanted(token):
            return place
    return None


def _opening(stream: Sequence[Token]) -> int:
    """The place of the bracket that the last token closes; -1 where there is none."""
    depth = 0
    for place in range(len(stream) - 1, -1, -1):
        depth += (stream[place].kind in _CLOSING) - (stream[place].kind in _OPENING)
        if not depth:
            return place
    return -1


def _trimmed(body: list[Token]) -> list[Token]:
    while body and body[-1].kind in _MARGINS:
        body = body[:-1]
    return body


def _conditions(clause: list[Token], parse: Callable[[list[Token]], Node]) -> tuple[Node, ...]:
    """The conditions that a clause states; none where every word of it restricts nothing."""
    if sum(map(_begins, clause)) > 1:
        raise Unreadable("two clauses after an answer")
    words = {token.text.lower() for token in clause if token.kind == "letters"}
    kept = _trimmed(
        [
            token
            for token, after in pairwise([*clause, END])
            if not (token.kind in ("letters", "command") and _is_word(token.text.lower(), after))
        ]
    )
    if not kept:
        raise Unreadable("a clause about nothing")
    tree = parse(kept)
    found = tree.items if isinstance(tree, Listing) else (tree,)
    kind = _kind(words)
    conditions = [
        Relation((each, NamedSet(kind)), ("∈",)) if isinstance(each, Symbol) and kind else each
        for each in found
    ]
    if not all(isinstance(each, Relation | Symbol) for each in conditions):
        raise Unreadable("a clause that is no condition")
    return tuple(each for each in conditions if isinstance(each, Relation))


def _is_word(word: str, after: Token) -> bool:
    """Whether a run of letters is a word of the tables; an "a" is one only before another word."""
    if word == "a":
        return after.kind == "letters" and len(after.text) > 1
    return word in _BEGINS or word in _FILLERS or word in _KIND_WORDS


def _kind(words: set[str]) -> str:
    """The set of numbers that the words of a clause name."""
    kind = next((_KINDS[word] for word in words if word in _KINDS), "")
    signs = [_SIGNED_KINDS.get((word, kind)) for word in words & {"positive", "nonnegative"}]
    if None in signs:
        raise Unreadable("a clause about numbers of another kind")
    return next((each for each in signs if each), kind)


def _stated(node: Node) -> set[str]:
    """The names that an equation gives a value to."""
    match node:
        case Relation((Symbol(name), *_), operators) if set(operators) <= {"=", "≈"}:
            return {name}
        case Listing(items):
            return set().union(*map(_stated, items))
    return set()
