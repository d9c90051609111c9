"""The rows of a job's file as its service reads them: converted on the way to it.

Nova's jobs read rows as they are; those of open weights read verl's (`rows.writing`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from reward_functions.data.atomic import named
from reward_functions.data.json_rows import BadInput
from reward_functions.data.rows.reading import prompts_of
from reward_functions.data.rows.writing import write
from reward_functions.jobs.configuration import BadJob

if TYPE_CHECKING:
    from pathlib import Path


def converted(file: Path, shape: str) -> Path:
    """A file of the same rows in a shape, beside the first; the file itself where none is asked.

    Args:
        file: of any shape that `reward data` reads.
        shape: one of `rows.writing.WRITERS`; "" for the file's own bytes.

    Raises:
        BadJob: a row cannot be read, or is not of its file's shape.
        OSError: the file cannot be read, or the other not be written.
    """
    if not shape:
        return file
    made = file.with_name(f"{file.stem}.{shape}.jsonl")
    try:
        with named(made), made.open("w", encoding="utf-8") as lines:
            for row in prompts_of(str(file)):
                content = write(row.content, shape).content
                lines.write(json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n")
    except (BadInput, ValueError) as error:
        raise BadJob(f"data: {str(error).replace(f'{file.parent}/', '')}") from None
    return made
