"""Objects to extract, drawn, and every change that makes one of them wrong.

python -m tests.verifiers.objects 10000      each object and each change, scored
"""

import json
import sys
from copy import deepcopy
from random import Random

from reward_functions import get, sample

NAMES = "sku name count price paid date note total currency city email phone".split()
WORDS = "heron otter badger falcon lynx beaver rabbit donkey pigeon salmon".split()


def value(random):
    """A leaf: a text, a whole number of any length, a decimal, a boolean."""
    return random.choice(
        [
            lambda: f"{random.choice(WORDS)} {random.randrange(100)}",
            lambda: random.randrange(10 ** random.choice([1, 3, 9, 17, 30])),
            lambda: round(random.uniform(-1000, 1000), 2),
            lambda: random.random() < 0.5,
        ]
    )()


def record(random):
    """An element of an array."""
    names = random.sample(NAMES, random.randint(2, 4))
    return {name: value(random) for name in names}


def records(seed, count):
    """Objects with leaves, an object within, and arrays of leaves and of objects."""
    random = Random(seed)
    for _ in range(count):
        found = {name: value(random) for name in random.sample(NAMES, random.randint(1, 4))}
        if random.random() < 0.5:
            found["inner"] = record(random)
        if random.random() < 0.5:
            shape = record(random)
            found["lines"] = [
                {name: value(random) for name in shape} for _ in range(random.randint(1, 5))
            ]
        if random.random() < 0.3:
            found["tags"] = random.sample(WORDS, random.randint(0, 4))
        if random.random() < 0.2:
            found["absent"] = None
        yield found


def places(found, path=()):
    """The paths of the leaves, as names and positions."""
    inner = (
        found.items()
        if isinstance(found, dict)
        else enumerate(found)
        if isinstance(found, list)
        else ()
    )
    for step, each in inner:
        yield from places(each, (*path, step)) if each not in ({}, []) else ()
    if not isinstance(found, dict | list) and found is not None:
        yield path


def holder(found, path):
    """What directly holds the value at a path."""
    for step in path[:-1]:
        found = found[step]
    return found


def changed(found, random, change):
    """A leaf becomes another value; None where the change makes none."""
    path = random.choice([*places(found)])
    at = holder(found, path)
    new = change(at[path[-1]])
    if new is None:
        return None
    at[path[-1]] = new
    return found


def neighbour(old):
    """The next whole number, of any length."""
    return old + 1 if type(old) is int else None


def other_kind(old):
    """The same as a text, or a text as a list of it."""
    return [old] if isinstance(old, str) else str(old)


def lose(found, random):
    """A leaf is left out."""
    path = random.choice([*places(found)])
    del holder(found, path)[path[-1]]
    return found


def add(found, random):
    """Something that nobody asked for."""
    found["unasked"] = random.choice([1, "x", None, {}, [1, 2], {"a": 1}])
    return found


def empty(found, random):
    """A container loses all it has."""
    full = [name for name in found if isinstance(found[name], dict | list) and found[name]]
    if not full:
        return None
    name = random.choice(full)
    found[name] = type(found[name])()
    return found


def swap(found, random):
    """Two records have each other's value of one field."""
    lines = found.get("lines", ())
    pairs = [
        (first, second, name)
        for at, first in enumerate(lines)
        for second in lines[at + 1 :]
        for name in first
        if len(first) > 1 and repr(first[name]) != repr(second[name])
    ]
    # Where they differ in nothing else, the two are only in another order.
    pairs = [
        (first, second, name)
        for first, second, name in pairs
        if any(repr(first[each]) != repr(second[each]) for each in first if each != name)
    ]
    if not pairs:
        return None
    first, second, name = random.choice(pairs)
    first[name], second[name] = second[name], first[name]
    return found


def twice(found, random):
    """An element of an array is given twice."""
    lines = found.get("lines") or found.get("tags")
    if not lines:
        return None
    lines.append(deepcopy(random.choice(lines)))
    return found


MUTATIONS = {
    "the next number": lambda found, random: changed(found, random, neighbour),
    "another kind": lambda found, random: changed(found, random, other_kind),
    "null": lambda found, random: changed(found, random, lambda _: {}),
    "words after it": lambda found, random: changed(
        found, random, lambda old: f"{old} (this is wrong)" if isinstance(old, str) else None
    ),
    "left out": lose,
    "added": add,
    "emptied": empty,
    "swapped": swap,
    "twice": twice,
}


def mutated(name, gold, seed):
    """An object with one change; None where it has no place for that."""
    return MUTATIONS[name](deepcopy(gold), Random(f"{name} {seed}"))


def main(count):
    """Score that many objects and each change of each; returns how many were paid too much."""
    reward = get("json_fields")
    tried, wrong = 0, []
    for gold in records(20_261_129, count):
        text = json.dumps(gold)
        if reward(text, gold).value != 1.0:
            wrong.append(("gold", gold))
        credit = reward.credit(sample("", gold))
        for name in MUTATIONS:
            other = mutated(name, gold, count)
            tried += other is not None
            if other is not None and not reward(json.dumps(other), gold).value <= credit < 1.0:
                wrong.append((name, gold, other))
    print(f"{count:,} objects, {tried:,} changes, {len(wrong)} paid wrongly")
    print(*wrong[:5], sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
