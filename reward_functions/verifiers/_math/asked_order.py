r"""Values with names, in the order in which the prompt asks for the names: "for (x, y)".

That is the last list or tuple of exactly these names, and not where they first appear: "Solve
y = 2x + 1 and x + y = 4 for (x, y)" asks for x first.
"""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re
from reward_functions.extraction.cues import lists
from reward_functions.verifiers._math.named_members import MAX_LENGTH, MAX_MEMBERS, members

TAIL: Final = 20_000
"""Characters at the end of a prompt that are looked at."""

BETWEEN: Final = 80
"""Characters between two names of one list, at most."""

_TUPLES: Final = re.compile(r"\(([^()=]{1,200})\)\s*=\s*\(([^()=]{1,400})\)")
_LAYOUT: Final = re.compile(r"\\(?:left|right|displaystyle)(?![a-zA-Z])|\\[\s,;:!]|[\s{}$]")
_SIZE: Final = re.compile(r"\\(?:left|right)(?![a-zA-Z])")


def in_asked_order(named: str, prompt: str, *, solutions: bool = False) -> str:
    """The values of `y=2, x=1` as a tuple in the order asked for; "" where none is asked for.

    Args:
        named: an answer or a reference that gives each of its values a name.
        prompt: the question, or nothing.
        solutions: whether values of one letter, x_1 = 2, x_2 = -1, may be solutions in any order.
    """
    values = _values(named) if prompt and named.count("=") and len(named) <= MAX_LENGTH else {}
    letters = {name.partition("_")[0] for name in values}
    if len(values) < 2 or (solutions and len(letters) == 1):  # noqa: PLR2004 - one has no order
        return ""
    for chain in reversed(_chains(prompt[-TAIL:], frozenset(values))):
        if len(chain) == len(values) and set(chain) == set(values):
            return f"({', '.join(values[name] for name in chain)})"
    return ""


def asks_for_names(prompt: str, count: int) -> bool:
    """Whether the last list of names in a prompt has so many of them: "What are B, E?"."""
    chains = [chain for chain in _chains(prompt[-TAIL:], frozenset()) if len(chain) > 1]
    return bool(chains) and len(set(chains[-1])) == count


def has_named_blanks(prompt: str) -> bool:
    """Whether a prompt leaves places for values with names: "then a = ____, b = ____"."""
    return len(lists.NAMED_BLANK.findall(prompt[-TAIL:])) > 1


def _values(named: str) -> dict[str, str]:
    """The values by their names; nothing unless each has another name."""
    named = named.strip(" $.")
    pairs = _TUPLES.fullmatch(named)
    if pairs:
        left, right = members(pairs[1]), members(pairs[2])
        found = list(zip(left, right, strict=False)) if len(left) == len(right) else []
    else:
        parts = [part for piece in members(named) for part in lists.AND.split(piece)]
        found = [(part.partition("=")[0], part.partition("=")[2]) for part in parts]
    names = [_normal(name) for name, _ in found]
    valid = all(value.strip() and "=" not in value for _, value in found)
    spelled = all(lists.NAMED.fullmatch(name) for name in names)
    if not valid or not spelled or len(set(names)) < len(names) or len(names) > MAX_MEMBERS:
        return {}
    return {name: value.strip(" $") for name, (_, value) in zip(names, found, strict=True)}


def _chains(prompt: str, names: frozenset[str]) -> list[list[str]]:
    """The lists of names in a prompt, in their order.

    A lone letter that is none of the names stands in a list as well: it is then another list.
    """
    prompt = lists.BLANK.sub(" ", _SIZE.sub("", prompt))
    chains: list[list[str]] = []
    end = 0
    for token in lists.NAMED.finditer(prompt):
        name = _normal(token[0])
        if name not in names and not lists.LONE.fullmatch(name):
            continue
        between = prompt[end : token.start()] if token.start() - end <= BETWEEN else ""
        if chains and lists.JOINT.fullmatch(lists.FILLER.sub("", between)):
            chains[-1].append(name)
        else:
            chains.append([name])
        end = token.end()
    return chains


def _normal(name: str) -> str:
    """A name without layout, its Greek letters as commands."""
    bare = _LAYOUT.sub("", name).replace("dfrac", "frac").replace("tfrac", "frac")
    return bare.translate(lists.GREEK)
