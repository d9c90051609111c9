"""A file of rows, split into parts by group: no group stands on two sides.

The rows are written as JSON, in the shape that they have, and all parts take their names together.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from reward_functions.data.atomic import Together
from reward_functions.data.rows.reading import AS_FOUND, objects_of, prompts_of
from reward_functions.data.splitting import Overlaps, assigned

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reward_functions.data.json_rows import Row
    from reward_functions.data.rows.shapes import RowOptions
    from reward_functions.data.splitting import Leak


@dataclass(slots=True)
class Parted:
    """The parts of a file, and their rows.

    Args:
        paths: the file of each part.
        parts: the part of each group.
        rows: written, by part.
        leaks: what the parts share.
    """

    paths: Mapping[str, Path]
    parts: Mapping[str, str]
    rows: Counter[str] = field(default_factory=Counter)
    leaks: list[Leak] = field(default_factory=list)


def parted(
    file: str,
    folder: Path,
    *,
    shares: Mapping[str, float],
    seed: int,
    group: Callable[[Row], str],
    options: RowOptions = AS_FOUND,
) -> Parted:
    """Split a file, which is read twice.

    Args:
        file: its path.
        folder: where to write; made where it is missing.
        shares: of the parts, by name.
        seed: of the shuffle.
        group: of a row.
        options: how the rows are read.

    Raises:
        BadInput: a row cannot be read, or `group` raises it.
        BadRatio: a part would stay empty.
        OSError: a file cannot be read or written.
    """
    groups = [group(row) for row in prompts_of(file, options, whole=True)]
    paths = {part: folder / f"{part}.jsonl" for part in shares}
    done, overlaps = Parted(paths, assigned(groups, shares, seed)), Overlaps()
    with Together(spared=[Path(file)]) as files:
        files.folder(folder)
        streams = {part: files.opened(path) for part, path in paths.items()}
        read = prompts_of(file, options)
        for found, row, named in zip(objects_of(file), read, groups, strict=True):
            part = done.parts[named]
            streams[part].write(f"{json.dumps(found.content)}\n")
            overlaps.add(part, str(row.content.get("id", row.where)), row.content)
            done.rows[part] += 1
    done.leaks = overlaps.leaks()
    return done
