"""`--map prompt=question,response=completion,reference=answer`: the user says what stands where."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.data.rows.columns import Columns, top
from reward_functions.data.rows.shapes import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TARGETS: Final = ("prompt", "response", "reference", "id", "system", "messages")
"""What a column can be mapped to; `messages` is a prompt that is a list, or a whole exchange."""

_BETWEEN: Final = re.compile(r",(?=[ ]{0,4}[A-Za-z_]{1,40}=)")
"""A comma separates two pairs where a target follows: the name of a column may hold one."""


class RowOptions(NamedTuple):
    """How the rows of a file are read.

    Args:
        map: path by target, as `parse_map` reads it.
        shape: the name of a shape; None to recognise it.
    """

    map: Mapping[str, str] = {}
    shape: str | None = None

    @classmethod
    def parse(cls, pairs: Sequence[str] | None, shape: str | None) -> RowOptions:
        """What was typed after `--map` and `--rows`.

        Raises:
            ConfigurationError: a target or a shape is unknown, or a pair is not PART=COLUMN.
        """
        if shape is not None and shape not in BY_NAME:
            raise ConfigurationError(
                f"--rows {shape}: no shape of rows is called so{did_you_mean(shape, BY_NAME)}"
            )
        return cls(parse_map(pairs or ()), shape)


def parse_map(typed: Sequence[str]) -> dict[str, str]:
    """The path of every target.

    Raises:
        ConfigurationError: a target is unknown or named twice, or a pair is not PART=COLUMN.
    """
    found: dict[str, str] = {}
    for pair in (pair.strip() for pairs in typed for pair in _BETWEEN.split(pairs)):
        target, equals, path = pair.partition("=")
        if not equals or not path.strip():
            raise ConfigurationError(f"--map takes PART=COLUMN, not {pair!r}")
        if target not in TARGETS:
            raise ConfigurationError(
                f"--map: {target!r} is not a part of a sample{did_you_mean(target, TARGETS)}"
            )
        if target in found:
            raise ConfigurationError(f"--map names {target} twice")
        found[target] = path.strip()
    if "messages" in found and "prompt" in found:
        raise ConfigurationError("--map names prompt and messages: a row has one of them")
    return found


def overlaid(columns: Columns | None, mapping: Mapping[str, str]) -> Columns:
    """The columns of a shape, where any, with those that the user named in place of its own.

    A column that the user gave a part is no other part's.
    """
    base = columns or Columns(needed=())
    named = set(mapping.values()) | {top(path, {}) for path in mapping.values()}
    kept: dict[str, Any] = {
        part: tuple(path for path in paths if path not in named)
        for part, paths in base._asdict().items()
        if part != "needed"
    }
    needed = set(base.needed)
    for target, path in mapping.items():
        part = "prompt" if target == "messages" else target
        kept[part] = (path,)
        needed |= {part} & {"prompt", "response"}
    return Columns(**kept, needed=tuple(sorted(needed)))
