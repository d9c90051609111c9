"""Splits that are made: by group, so that no page and no prompt stands on two sides.

Rows of one filing share its table, and rows of one prompt all but the responses; dealt out one by
one, the test rows would be known from training. Groups are shuffled by a seed, in an order that
does not depend on the file's, and each goes where most rows are still wanting: the sizes are as
near to the ratio as whole groups allow.
"""

from __future__ import annotations

import re
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAMES: Final = {2: ("train", "test"), 3: ("train", "val", "test")}
"""What the parts are called, by how many there are."""

PART: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")
"""What a part may be called: its file is called so."""


class BadRatio(ConfigurationError):
    """A ratio that cannot be split by. The message says why."""


def parse_ratio(text: str, names: str | None = None) -> dict[str, float]:
    """The shares of `80/10/10` or `90/10`, by the name of the part; they add up to 1.

    Args:
        text: the ratio.
        names: of the parts, `train/dev/test`; None for those of `NAMES`.

    Raises:
        BadRatio: it is nothing of that kind, or the names are not as many.
    """
    try:
        parts = [float(part) for part in text.split("/")]
    except ValueError:
        parts = []
    if len(parts) not in NAMES or not all(0 < part < float("inf") for part in parts):
        raise BadRatio(f"a ratio is two or three positive numbers, 80/10/10, not {text!r}")
    called = NAMES[len(parts)] if names is None else tuple(names.split("/"))
    if len(set(called)) < len(parts) or len(called) > len(parts):
        raise BadRatio(f"{len(parts)} parts need {len(parts)} names, not {names!r}")
    if not all(map(PART.fullmatch, called)):
        raise BadRatio(f"a part is called a name of letters, digits, - and _, not {names!r}")
    return {name: part / sum(parts) for name, part in zip(called, parts, strict=True)}


def assigned(groups: Sequence[str], shares: Mapping[str, float], seed: int) -> dict[str, str]:
    """The part every group goes to.

    Args:
        groups: the group of every row.
        shares: of the parts, by name.
        seed: of the shuffle.

    Raises:
        BadRatio: a part would stay empty, for want of groups.
    """
    sizes = Counter(groups)
    order = sorted(sizes)
    Random(seed).shuffle(order)  # noqa: S311 - the same shuffle in every run
    wanting = {name: share * len(groups) for name, share in shares.items()}
    parts: dict[str, str] = {}
    for group in order:
        part = max(wanting, key=wanting.__getitem__)
        parts[group] = part
        wanting[part] -= sizes[group]
    empty = wanting.keys() - parts.values()
    if empty:
        raise BadRatio(
            f"{len(sizes):,} group{'s are' if len(sizes) != 1 else ' is'} too few for "
            f"{len(shares)} parts: "
            f"{', '.join(sorted(empty))} would be empty"
        )
    return parts
