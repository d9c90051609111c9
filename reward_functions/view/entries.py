"""A result in a list: one line of facts, and its worst finding."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal, get_args

Kind = Literal[
    "scores",
    "run",
    "audit",
    "comparison",
    "calibration",
    "evaluation",
    "baseline",
    "rollouts",
    "trajectories",
    "job",
    "metrics",
    "page",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")

NAMED: Final = 200
"""Characters of a name that a file says."""

READABLE: Final = 60
"""Characters of a slug that repeat the name."""

DIGITS: Final = 12
"""Hexadecimal digits of a slug that tell names apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts of a file, as far as it was read.

    Args:
        reward: its name; "" where the file does not say.
        version: of the reward; "" as above.
        rows: rows, prompts or answers that it is about; None where it counts none.
        mean: of the rewards; None where nothing has one.
        unscored: rows without a reward; None where rows are not counted.
        finding: the worst, as one sentence; "" where nothing is wrong.
        progress: how far it is, while it is written or read; "" of one that is complete.
        problem: why it cannot be read; "" where it can.
    """

    reward: str = ""
    version: str = ""
    rows: int | None = None
    mean: float | None = None
    unscored: int | None = None
    finding: str = ""
    progress: str = ""
    problem: str = ""

    def __post_init__(self) -> None:
        """Cut what a file says of itself: the list keeps it of every file."""
        for name in ("reward", "version", "progress"):
            object.__setattr__(self, name, getattr(self, name)[:NAMED])


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A result in the list.

    Args:
        name: relative to the folder, with slashes.
        kind: what it is.
        time: of its last change, in seconds since 1970.
        facts: what it says.
    """

    name: str
    kind: Kind
    time: float
    facts: Facts

    @property
    def slug(self) -> str:
        """Its name in addresses and of its page in a bundle: ASCII, without a slash."""
        return slug_of(self.name)

    @property
    def reward(self) -> str:
        """The reward and its version, in words."""
        known = self.facts
        return f"{known.reward} {known.version}".strip()


def slug_of(name: str) -> str:
    """A name as one part of an address; two names never share one."""
    digest = sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:DIGITS]
    return f"{_UNSAFE.sub('-', name)[-READABLE:].strip('-.') or 'result'}-{digest}"
