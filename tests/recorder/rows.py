"""What is scored: rows in the trainers' own JSON, and trials, which say by what they are scored.

A row is named by a hash of what it says, and a trial by its row, its reward and its parameters. A
file that moves, a line that is put above others and a new order change no name.
"""

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any


@dataclass(frozen=True)
class Row:
    """A sample on the wire, and where it stands in the data.

    Args:
        where: file and line, for a person; no part of its name.
        wire: `messages`, `reference_answer` and `metadata`, as a trainer sends them.
    """

    where: str
    wire: Mapping[str, Any]

    @cached_property
    def name(self):
        """Sixteen hex digits that rows share only when they say the same."""
        return digest({key: value for key, value in self.wire.items() if key != "id"})

    @property
    def file(self):
        """The file it stands in."""
        return self.where.partition(":")[0]

    @property
    def response(self):
        """The last message as far as it is one: a few rows are malformed on purpose."""
        turns = self.wire.get("messages")
        last = turns[-1] if isinstance(turns, list) and turns else None
        said = last.get("content") if isinstance(last, dict) else None
        return said if isinstance(said, str) else ""

    @property
    def reference(self):
        """The ground truth, in any shape."""
        return self.wire.get("reference_answer")

    def changed(self, where, response, reference):
        """The same prompt with another response and reference."""
        turns = [*self.wire["messages"][:-1], {"role": "assistant", "content": response}]
        return Row(where, {**self.wire, "messages": turns, "reference_answer": reference})


@dataclass(frozen=True)
class Trial:
    """Rows that one reward scores as one batch: one row, or several that answer one prompt.

    Args:
        reward: its name.
        rows: what it scores.
        parameters: other than the defaults.
        judge: who answers the questions of a judge, by name; "" for the script, or for nobody.
        answer: gives the fields of that one's verdict for a question.
        prefix: what the name of a mutated row begins with.
    """

    reward: str
    rows: tuple[Row, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    judge: str = ""
    answer: Callable[[Any], Mapping[str, str]] | None = None
    prefix: str = ""

    def name(self, row):
        """The name of one of its rows: siblings are a part of what is scored."""
        others = [other.name for other in self.rows if other is not row]
        return self.prefix + (digest([row.name, *others]) if others else row.name)


def row(where, response, reference, prompt="", **metadata):
    """A row of two turns."""
    turns = [{"role": "user", "content": prompt}, {"role": "assistant", "content": response}]
    return Row(where, {"messages": turns, "reference_answer": reference, "metadata": metadata})


def digest(value):
    """Sixteen hex digits of a JSON value, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()[:16]


def lines(path):
    """(where, object) of every line of a JSONL file; of TAT-QA's one array, of every question."""
    packed = path.read_bytes()
    text = (gzip.decompress(packed) if path.suffix == ".gz" else packed).decode()
    if ".jsonl" in path.suffixes:
        found = [json.loads(line) for line in text.split("\n") if line]
    else:
        found = [asked for page in json.loads(text) for asked in page["questions"]]
    for number, each in enumerate(found, 1):
        yield f"{path.parent.name}/{path.name}:{number}", each
