"""What differs between two records, new names and old ones being the same."""

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from tests.recorder.recording import file_of, key

FIELDS = ("version", "score", "error", "rule", "reason", "answer", "asked")
"""What is compared, beside the metrics. The rest of a line is for its reader."""

INCOMPARABLE = 0.0002
"""The share of rows that may differ by the machine. One that is short of memory spoils a handful;
an engine that is never there spoils far more, and that is a failure."""

SHOWN_KINDS = 12
"""Kinds of difference printed for each field of each reward."""

SHOWN_ROWS = 3
"""Rows printed for each kind."""

WIDTH = 90
"""Characters of a value in a printed difference, from the end, where answers stand."""


@dataclass
class Comparison:
    """Two records, side by side.

    Args:
        same: how many rows came out the same.
        differing: how many did not.
        kinds: the new lines that differ, by (reward, field) and by (old value, new value).
        gone: lines that the old record alone has.
        added: lines that the new record alone has.
        engine: lines that differ, on either side by the machine.
    """

    same: int = 0
    differing: int = 0
    kinds: dict = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    gone: list = field(default_factory=list)
    added: list = field(default_factory=list)
    engine: list = field(default_factory=list)

    def fails(self, *, allow_missing):
        """Whether something differs that must not."""
        missing = bool(self.gone or self.added) and not allow_missing
        spoilt = len(self.engine) > INCOMPARABLE * (self.same + len(self.engine))
        return bool(self.kinds) or missing or spoilt


def read(path):
    """The lines of a record."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def compare(old, new, names, *, ignored=()):
    """Two records, line by line.

    Args:
        old: its lines.
        new: its lines, under new names or, as in two records of one checkout, under the old ones.
        names: the tables from the old names to the new ones.
        ignored: fields that may differ.
    """
    found, met = Comparison(), set()
    pairs = [(names.renewed(line), line) for line in old]
    known = {key(pair[1]): pair for pair in pairs} | {key(pair[0]): pair for pair in pairs}
    for line in new:
        pair = known.get(key(line))
        if pair is None:
            found.added.append(line)
            continue
        met.add(id(pair))
        changes = min((_changes(before, line, ignored) for before in pair), key=len)
        if not changes:
            found.same += 1
        elif any(map(names.rests_on_the_engine, (*pair, line))):
            found.engine.append(line)
        else:
            found.differing += 1
            for name, values in changes.items():
                found.kinds[line["reward"], name][values].append(line)
    found.gone = [pair[0] for pair in pairs if id(pair) not in met]
    return found


def _changes(old, new, ignored):
    """(old value, new value) by field, of the fields that differ."""
    before, now = _flat(old), _flat(new)
    return {
        name: (before.get(name), now.get(name))
        for name in before | now
        if name not in ignored and before.get(name) != now.get(name)
    }


def _flat(line):
    """A field for each metric; their order counts too, since it stands on the wire."""
    metrics = {f"metric {name}": (value, kind) for name, value, kind in line["metrics"]}
    order = tuple(name for name, *_ in line["metrics"])
    fields = {name: line[name] for name in FIELDS} | {"asked": tuple(line["asked"])}
    return {**fields, "metrics": order, **metrics}


def report(found):
    """The comparison in lines of text."""
    for (reward, name), kinds in sorted(found.kinds.items()):
        yield f"{reward}, {name}: {sum(map(len, kinds.values())):,} rows differ"
        most = sorted(kinds.items(), key=lambda kind: -len(kind[1]))
        for (old, now), rows in most[:SHOWN_KINDS]:
            yield f"  {_short(old)} → {_short(now)}: {len(rows):,}"
            yield from (f"      {_named(line)}" for line in rows[:SHOWN_ROWS])
        if len(most) > SHOWN_KINDS:
            yield f"  … and {len(most) - SHOWN_KINDS:,} other kinds"
    for side, rows in (("old", found.gone), ("new", found.added)):
        counts = Counter((line["reward"], file_of(line)) for line in rows)
        yield from (
            f"in the {side} record only: {count:,} rows of {reward} from {file}"
            for (reward, file), count in counts.most_common()
        )
    yield from (f"not comparable: engine: {_named(line)}" for line in found.engine)
    yield (
        f"{found.same:,} rows the same, {found.differing:,} differ, "
        f"{len(found.gone):,} in the old record only, {len(found.added):,} in the new one only, "
        f"{len(found.engine):,} not comparable: engine"
    )


def _named(line):
    parameters = json.dumps(line["parameters"]) if line["parameters"] else ""
    judge = f"[{line['judge']}]" if line["judge"] else ""
    about = " ".join(filter(None, (line["where"], parameters, judge)))
    return f"{about}  {_short(line['reference'])} ⟵ {_short(line['response'])}"


def _short(value):
    """A value on one line; `repr` lets no control character reach the terminal."""
    shown = repr(value)
    return shown if len(shown) <= WIDTH else f"…{shown[-WIDTH:]}"
