r"""MATH: 12,500 competition problems with solutions, in the layout of Hendrycks et al.

A record is a file `<split>/<subject>/<n>.json` with `problem`, `level`, `type` and `solution`,
whose answer stands in a `\boxed{…}`. It is read from a folder, or from the tar archive it was
published as, which is not unpacked; or from the tables that the Hugging Face hub has, whose
subject may be called `subject`. Two official splits, train and test.

Source: Hendrycks et al., Measuring Mathematical Problem Solving With the MATH Dataset, 2021
(arXiv 2103.03874); github.com/hendrycks/math (MIT).
"""

from __future__ import annotations

import json
import tarfile
import zlib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.jsons import json_kind
from reward_functions.data.json_rows import BadInput
from reward_functions.data.records import BadRecord, Record, Row, digest, each
from reward_functions.data.rows.formats import ENDINGS
from reward_functions.data.sources import NAMES, PublicFile, records_of, split_files
from reward_functions.extraction.answer import Answer
from reward_functions.extraction.selection import boxed_answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.data.records import RecordOutcome

FILES: Final = (
    PublicFile(
        "https://people.eecs.berkeley.edu/~hendrycks/",
        "MATH.tar",
        "0fbe4fad0df66942db6c221cdcc95b298cc7f4595a2f0f518360cce84e90d9ac",
    ),
)

TABLES: Final = (*ENDINGS, ".ndjson", ".tsv.gz", ".json.gz")
"""How the names of files end that hold many problems, a row each."""

SYSTEM: Final = "You are a careful mathematician. You reason step by step and give exact answers."

REQUEST: Final = (
    "Reason step by step, and put the final answer, exact and simplified, in a box: \\boxed{…}"
)


def files(source: Path) -> list[Path]:
    """The files of a source that are read."""
    if source.is_dir() and next(_in_folder(source), None):
        return list(_problem_files(source))
    return [file for file, _ in split_files(source, merged=True)]


def outcomes(source: Path) -> Iterator[RecordOutcome]:
    """What becomes of every problem of a folder or tar archive, in the order of their names.

    Raises:
        ConfigurationError: there is no problem at all in it.
        OSError: it cannot be read.
    """
    found = False
    for outcome in each(_all_records(source), row_of):
        found = True
        yield outcome
    if not found:
        raise ConfigurationError(
            f"{source}: holds no problem at train/<subject>/<n>.json or test/<subject>/<n>.json"
        )


def row_of(record: Record) -> Row:
    """The row of a problem.

    Raises:
        BadRecord: a field is missing, or the solution has no answer in a box.
    """
    problem, solution = record.text("problem"), record.text("solution")
    answer = boxed_answer(solution)
    if not isinstance(answer, Answer):
        raise record.bad("solution", "has no answer in a box")
    name = record.name.replace("/", "-") or digest(problem)
    subject = record.text("type" if "type" in record.content else "subject")
    return Row(
        id="-".join(["math", *filter(None, [record.split]), name]),
        system=SYSTEM,
        question=problem.strip(),
        request=REQUEST,
        reference={"final_answer": answer.text},
        metadata={
            "subject": subject,
            "level": _level(record),
            "solution": solution.strip(),
        },
        split=record.split,
        counted=subject,
    )


def _all_records(source: Path) -> Iterator[Record | BadInput]:
    """The records of a source in either layout."""
    if source.is_dir() and next(_in_folder(source), None):
        yield from _records(_in_folder(source), source)
    elif source.is_dir() or source.name.endswith(TABLES):
        for file, split in split_files(source, merged=True):
            yield from records_of(file, split)
    else:
        yield from _records(_in_archive(source), source)


def _records(
    files: Iterator[tuple[PurePosixPath, bytes]], source: Path
) -> Iterator[Record | BadInput]:
    for path, content in files:
        split, subject = path.parts[-3:-1]
        where = f"{source}: {path}"
        try:
            record = json.loads(content)
        except (ValueError, RecursionError) as error:
            yield BadRecord(f"{where}: not JSON: {_decoding_error(error)}")
            continue
        if not isinstance(record, dict):
            yield BadRecord(f"{where}: not a JSON object but {json_kind(record)}")
            continue
        yield Record(record, where, NAMES[split], f"{subject}/{path.stem}")


def _level(record: Record) -> str:
    """The level as MATH writes it, "Level 5"; some tables hold the number alone."""
    level = record.get("level")
    if isinstance(level, int | float) and not isinstance(level, bool):
        return f"Level {level:g}"
    return record.text("level")


def _decoding_error(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}: {error.msg}"
    return "not UTF-8" if isinstance(error, UnicodeDecodeError) else "it cannot be decoded"


def _in_folder(folder: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The problems below a folder, which may be `train` or `test` itself."""
    for path in _problem_files(folder):
        yield _inside(folder, path), path.read_bytes()


def _problem_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*.json"), key=_natural):
        if _is_problem(_inside(folder, path)) and path.is_file():
            yield path


def _inside(folder: Path, path: Path) -> PurePosixPath:
    return PurePosixPath(Path(folder.resolve().name), path.relative_to(folder))


def _in_archive(archive: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                path = PurePosixPath(member.name)
                if member.isreg() and _is_problem(path):
                    stream = tar.extractfile(member)
                    assert stream is not None, "a regular member has content"
                    yield path, stream.read()
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise BadInput(f"{archive}: neither a folder nor a tar archive: {error}") from None


def _is_problem(path: PurePosixPath) -> bool:
    return (
        len(path.parts) > 2  # noqa: PLR2004 - split, subject, file
        and path.parts[-3] in {"train", "test"}
        and path.suffix == ".json"
        and not path.name.startswith(".")
    )


def _natural(path: Path) -> tuple[str, int, str]:
    """By subject, then by number: 2.json before 10.json."""
    return str(path.parent), int(path.stem) if path.stem.isdecimal() else -1, path.name
