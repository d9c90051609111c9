"""The files of a data set's folder, by split: as the Hugging Face hub has them, or `save_to_disk`.

    FOLDER/data/train-00000-of-00002.parquet      FOLDER/train.jsonl
    FOLDER/state.json, data-00000-of-00001.arrow  FOLDER/dataset_dict.json, FOLDER/train/state.json

A folder of several splits is read by `FOLDER/SPLIT`, whether or not that is a folder itself.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reward_functions.core.suggest import did_you_mean
from reward_functions.data.json_rows import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDINGS: Final = (".parquet", ".jsonl", ".jsonl.gz", ".json", ".csv", ".csv.gz", ".tsv", ".arrow")

OWN: Final = frozenset(
    {
        "dataset_info.json",
        "state.json",
        "dataset_dict.json",
        "dataset_infos.json",
        "report.json",  # of `reward data prepare`
    }
)
"""Files about a data set, beside its rows."""

MAX_FILES: Final = 20_000
_SHARD: Final = re.compile(r"-\d{1,8}(?:-of-\d{1,8})?(?:-[0-9a-f]{1,40})?$")


def files_of(path: str) -> list[Path] | None:
    """The files to read for a path, in their order; None where it is a file itself, or nothing.

    Raises:
        BadInput: a folder holds no rows, or several splits; or it has no such split.
    """
    folder = Path(path)
    if not path:
        return None
    if folder.is_dir():
        return _only(folder, splits_of(folder))
    if folder.exists() or not folder.parent.is_dir() or folder.suffix:
        return None
    if not _is_data_set(folder.parent):
        return None
    splits = splits_of(folder.parent)
    if folder.name not in splits:
        raise BadInput(
            f"{folder.parent} has no split {folder.name!r}{did_you_mean(folder.name, splits)}"
        )
    return splits[folder.name]


def _is_data_set(folder: Path) -> bool:
    """Whether a folder looks like a data set's, and not like one where a name was mistyped."""
    signs = ("dataset_dict.json", "data/*", "*-of-*", "*/*-of-*")
    return any(next(folder.glob(sign), None) is not None for sign in signs)


def _only(folder: Path, splits: dict[str, list[Path]]) -> list[Path]:
    if not splits:
        raise BadInput(f"{folder}: a folder without rows: no {', '.join(ENDINGS)}")
    if len(splits) > 1:
        names = " or ".join(str(folder / name) for name in sorted(splits)[:8])
        raise BadInput(f"{folder} holds several splits: name one, {names}")
    return next(iter(splits.values()))


def splits_of(folder: Path) -> dict[str, list[Path]]:
    """The files of each split, without those of hidden folders, such as git's.

    Raises:
        BadInput: there is too much to look through.
    """
    if (folder / "state.json").is_file():
        return {"data": _saved(folder)}
    splits: dict[str, list[Path]] = {}
    for path in sorted(_files(folder)):
        splits.setdefault(_split(path.relative_to(folder)), []).append(path)
    return splits


def _files(folder: Path) -> Iterator[Path]:
    """The files of rows below a folder. What vanishes meanwhile is passed over."""
    seen = 0
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        seen += len(folders) + len(names)
        if seen > MAX_FILES:
            raise BadInput(f"{folder}: more than {MAX_FILES:,} files; name the one to read")
        for name in names:
            path = Path(place, name)
            hidden = name.startswith(".") or name in OWN
            if name.endswith(ENDINGS) and not hidden and path.is_file():
                yield path


def _split(inside: Path) -> str:
    """The split a file belongs to: its name without the shard, below its configuration."""
    stem = next(
        inside.name.removesuffix(ending)
        for ending in sorted(ENDINGS, key=len, reverse=True)
        if inside.name.endswith(ending)
    )
    name = _SHARD.sub("", stem)
    above = [part for part in inside.parts[:-1] if part != "data"]
    if inside.suffix == ".arrow" and name == "data":
        return "-".join(above) or name
    return "-".join([*above, name])


def _saved(folder: Path) -> list[Path]:
    """The files of a data set saved to disk, in the order it names them.

    Raises:
        BadInput: `state.json` names none, or one elsewhere.
    """
    try:
        listed = json.loads((folder / "state.json").read_bytes())["_data_files"]
        names = [str(each["filename"]) for each in listed]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadInput(
            f"{folder / 'state.json'} does not say which files the rows are in"
        ) from None
    if any(Path(name).name != name for name in names):
        raise BadInput(f"{folder / 'state.json'} names a file of another folder")
    return [folder / name for name in names]
