"""The objects that a run scores: one, or those of a folder, or below an address of S3.

Of a folder on disk they are those that `reward score` reads of it, in their order. Below an address
of S3 they are all objects with the ending of a format that is read, by name, but for those that
begin with `.` or `_`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from reward_functions.data.json_rows import BadInput
from reward_functions.data.rows.formats import ENDINGS, OWN, files_of
from reward_functions.scoring.places import SCHEME, place_of

if TYPE_CHECKING:
    from boto3.session import Session

    from reward_functions.scoring.places import Object, Place


def source_of(text: str, session: Session | None = None) -> tuple[Place, list[Object]]:
    """The place that is meant, and its objects in the order they are scored in.

    Args:
        text: a file, a folder, the address of an object, or how addresses of objects begin; one
            that ends with a slash is no object.
        session: boto3's.

    Raises:
        BadInput: the source has no file.
        ConfigurationError: no address.
        AwsFailed, OSError: they cannot be listed.
    """
    return _below(text, session) if text.startswith(SCHEME) else _on_disk(text)


def _on_disk(text: str) -> tuple[Place, list[Object]]:
    files = files_of(text)
    paths = [Path(text)] if files is None else files
    above = Path(os.path.commonpath([os.path.abspath(path.parent) for path in paths]))  # noqa: PTH100
    place = place_of(str(above))
    objects = []
    for path in paths:
        name = Path(os.path.abspath(path)).relative_to(above).as_posix()  # noqa: PTH100
        found = place.found(name)
        if found is None and (text == "-" or path.exists()):
            raise BadInput(
                f"{text}: a run over shards reads rows more than once: write them into a file, or "
                "leave --on out"
            )
        if found is None:
            raise FileNotFoundError(2, "No such file or directory", text)
        objects.append(found)
    return place, objects


def _below(text: str, session: Session | None) -> tuple[Place, list[Object]]:
    bucket, slash, key = text.removeprefix(SCHEME).partition("/")
    if key and not key.endswith("/"):
        above, _, name = key.rpartition("/")
        place = place_of(f"{SCHEME}{bucket}/{above}", session)
        if found := place.found(name):
            return place, [found]
    place = place_of(f"{SCHEME}{bucket}{slash}{key}", session)
    objects = [each for each in place.objects() if _holds_rows(each.name)]
    if not objects:
        raise BadInput(f"{text}: no object of rows stands there: no {', '.join(ENDINGS)}")
    return place, objects


def _holds_rows(name: str) -> bool:
    parts = name.split("/")
    hidden = any(part.startswith((".", "_")) for part in parts)
    return name.endswith(ENDINGS) and not hidden and parts[-1] not in OWN
