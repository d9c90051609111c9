r"""Whether a regular expression can take more than linear time: proved on its automaton, not timed.

It can take exponential time when a loop reads one text in two ways, and quadratic time when two
loops behind one another read the same text: what is between them can be shared out in as many ways
as it is long. A search is a loop as well, which reads anything before the match. What is behind the
last loop must be able to fail, or nothing is tried again.
"""

from __future__ import annotations

import re
import re._parser as parser
from collections import defaultdict
from itertools import product

from tests.architecture.automata import MANY, SAMPLES, WORD, Alphabet, Automaton


def growth(pattern, flags=0, *, searched=True, whole=False):
    """The verdict on a pattern: "linear", "quadratic …" or "exponential …", with an example.

    Args:
        pattern: its source.
        flags: its flags.
        searched: whether a match may begin anywhere, as in `search`, `finditer`, `sub`, `split`.
        whole: whether it must end with the text, as in `fullmatch`.
    """
    tree = parser.parse(pattern, flags)
    if not _loops(tree):
        return "linear"
    flags = tree.state.flags
    alphabet = Alphabet(_samples(tree))
    return _growth(Automaton(tree, flags, alphabet, searched=searched, whole=whole))


def _loops(tree):
    """Whether anything repeats without an end."""
    ends = re.findall(r"REPEAT, \(\d+, (MAXREPEAT|\d+)", repr(tree.data))
    return any(end == "MAXREPEAT" or int(end) >= MANY for end in ends)


def _samples(tree):
    """One character for each class that the pattern tells apart."""
    shown = repr(tree.data)
    named = {chr(int(each)) for each in re.findall(r"LITERAL, (\d+)", shown)}
    ends = re.findall(r"RANGE, \((\d+), (\d+)\)", shown)
    named |= {chr(int(each)) for pair in ends for each in pair}
    sets = set()
    _collect(tree, sets)
    every, folded = Alphabet({*SAMPLES, *named}), tree.state.flags & re.IGNORECASE
    told = [every.read(*each, folded=folded) for each in sets]
    kept = {}
    for char in every.chars:
        key = (bool(WORD(char)), char == "\n", *(char in each for each in told))
        kept.setdefault(key, char)
    return sorted(kept.values())


def _collect(items, sets):
    """The sets of characters that a pattern names."""
    for kind, value in items:
        name = str(kind)
        if name in ("LITERAL", "NOT_LITERAL"):
            sets.add(("LITERAL", int(value)))
        elif name == "IN":
            sets.add((name, tuple((str(k), v) for k, v in value)))
        elif "REPEAT" in name:
            _collect(value[2], sets)
        elif name == "SUBPATTERN":
            _collect(value[3], sets)
        elif name == "ATOMIC_GROUP":
            _collect(value, sets)
        elif name in ("BRANCH", "GROUPREF_EXISTS"):
            for branch in value[1] if name == "BRANCH" else value[1:]:
                _collect(branch or [], sets)
        elif name in ("ASSERT", "ASSERT_NOT"):
            _collect(value[1], sets)


def _growth(automaton):
    reads = automaton.reads()
    graph = defaultdict(set)
    for start, _, by_char in _told_apart(reads):
        graph[start].update(*by_char.values())
    component = _components(graph, list(automaton.steps))
    twice = _read_twice(reads, component, automaton.accepting)
    if twice:
        return f"exponential: a loop reads {twice!r} in two ways"
    loops = {c: min(c) for c in component.values()}
    reach, back = _reach(graph, loops), _reach(_turned(graph), loops)
    for one, two in product(loops, repeat=2):
        if one is two or two.isdisjoint(reach[one]):
            continue
        if automaton.accepting & two:
            continue
        if _outside(automaton, one, two):
            continue
        shared = _shared(reads, one, two, reach[one] & back[two])
        if shared:
            return f"quadratic: two loops share {shared!r}"
    return "linear"


def _told_apart(reads):
    """(state, character, successors), once for characters that share their successors."""
    return {
        (start, id(each)): (start, char, each) for (start, char), each in reads.items()
    }.values()


def _outside(automaton, one, two):
    """Whether the first loop is in an atomic group without the second: it gives nothing back."""
    groups = set.intersection(*(set(automaton.inside[state]) for state in one))
    inside = [automaton.inside[state] for state in two]
    return any(not any(group in each for each in inside) for group in groups)


def _turned(graph):
    turned = defaultdict(set)
    for start, ends in graph.items():
        for end in ends:
            turned[end].add(start)
    return turned


def _reach(graph, loops):
    found = {}
    for loop in loops:
        seen, todo = set(loop), list(loop)
        while todo:
            for end in graph[todo.pop()]:
                if end not in seen:
                    seen.add(end)
                    todo.append(end)
        found[loop] = seen
    return found


def _read_twice(reads, component, accepting):
    forward = _pairs(reads, component, accepting)
    for (one, two, char), text in forward.items():
        if one == "twice":
            return text
        if one != two and _meets_again(reads, component, one, two, char):
            return text
    return None


def _pairs(reads, component, accepting):  # noqa: C901 - one search
    """Pairs of states of a loop that one text leads to from one state, with that text."""
    found = {}
    todo = []
    for start, char, by_char in _told_apart(reads):
        if start not in component:
            continue
        if accepting & component[start]:
            continue
        for follow, ends in by_char.items():
            inner = [end for end in ends if end in component[start]]
            if len(set(inner)) < len(inner):
                return {("twice", "twice", follow): char + follow}
            for one, two in product(inner, repeat=2):
                if one < two and (one, two, follow) not in found:
                    found[one, two, follow] = char + follow
                    todo.append((one, two, follow))
    while todo:
        one, two, char = todo.pop()
        text = found[one, two, char]
        for follow, ends in reads.get((one, char), {}).items():
            others = reads.get((two, char), {}).get(follow, ())
            for a, b in product(ends, others):
                if a == b or a not in component[one] or b not in component[two]:
                    continue
                key = (min(a, b), max(a, b), follow)
                if key not in found:
                    found[key] = text + follow
                    todo.append(key)
    return found


def _meets_again(reads, component, one, two, char):
    seen, todo = {(one, two, char)}, [(one, two, char)]
    while todo:
        a, b, c = todo.pop()
        for follow, ends in reads.get((a, c), {}).items():
            for x, y in product(ends, reads.get((b, c), {}).get(follow, ())):
                if x not in component[one] or y not in component[one]:
                    continue
                if x == y:
                    return True
                if (x, y, follow) not in seen:
                    seen.add((x, y, follow))
                    todo.append((x, y, follow))
    return False


def _shared(reads, one, two, between):
    """A text that the first loop reads, that leads from it to the second, and that that reads."""
    starts = [
        (p, p, q, char)
        for p, char in reads if p in one
        for q in two if (q, char) in reads
    ]  # fmt: skip
    if not any(m == b for _, m, b, _ in _walk(reads, one, two, between, starts)):
        return None
    for start in starts:
        p, _, q, char = start
        walked = _walk(reads, one, two, between, [start])
        if (p, q, q, char) in walked:
            return walked[p, q, q, char]
    return None


def _walk(reads, one, two, between, starts):
    """Where three readers of one text come to: in the first loop, between, in the second."""
    seen = {}
    todo = [(start, "") for start in starts]
    while todo:
        (a, m, b, c), text = todo.pop()
        firsts, middles = reads[a, c], reads.get((m, c), {})
        for follow, thirds in reads[b, c].items():
            if follow not in firsts or follow not in middles:
                continue
            for x, y, z in product(
                one.intersection(firsts[follow]),
                between.intersection(middles[follow]),
                two.intersection(thirds),
            ):
                key = (x, y, z, follow)
                if key not in seen:
                    seen[key] = text + follow
                    todo.append((key, text + follow))
    return seen


def _components(steps, states):  # noqa: C901, PLR0912 - Tarjan's algorithm
    """The strongly connected components that hold a cycle, each state by its component."""
    index, low, stack, on, out = {}, {}, [], set(), {}
    for root in states:
        if root in index:
            continue
        work = [(root, iter(steps.get(root, ())))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            state, following = work[-1]
            for end in following:
                if end not in index:
                    index[end] = low[end] = len(index)
                    stack.append(end)
                    on.add(end)
                    work.append((end, iter(steps.get(end, ()))))
                    break
                if end in on:
                    low[state] = min(low[state], index[end])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[state])
                if low[state] == index[state]:
                    group = set()
                    while True:
                        each = stack.pop()
                        on.discard(each)
                        group.add(each)
                        if each == state:
                            break
                    if len(group) > 1 or state in steps.get(state, ()):
                        for each in group:
                            out[each] = frozenset(group)
    return out
