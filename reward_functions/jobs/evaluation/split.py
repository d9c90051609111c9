"""The split that models are compared on: rows that no training has seen, each prompt once.

    a prompt of the training or validation file, to the letter     refused
    the same but for punctuation and capitals                      refused
    another question about a page of the training file             a warning
    a prompt that stands twice in the split                        asked once

Paraphrases are not found. `data.splitting` compares; a prompt is its last user turn.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Sample
from reward_functions.data.json_rows import Row
from reward_functions.data.rows.formats import scan_file
from reward_functions.data.rows.reading import AS_FOUND, scan_rows
from reward_functions.data.rows.shapes import UnknownShape
from reward_functions.data.splitting import Overlaps, normal
from reward_functions.jobs.asking import chosen
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from reward_functions.data.json_rows import BadInput
    from reward_functions.data.rows.shapes import RowOptions
    from reward_functions.data.splitting import Leak
    from reward_functions.jobs.asking import AskedPrompt

SPLIT: Final = "the split"

REFUSED: Final = ("prompt", "near-duplicate")
"""Kinds of leaks that a split is refused for."""


class SharedPrompts(ConfigurationError):
    """A split of which a model has seen prompts."""


@dataclass(frozen=True, slots=True)
class Split:
    """What is asked.

    Args:
        prompts: each once, in the order drawn.
        rows: of the file that are valid samples.
        repeated: rows that ask what another row asks.
        unread: rows that are not valid samples.
        warnings: what the split shares with the job's files and is not refused for.
        compared: the files it was compared with, by what they are; their SHA-256 is not kept.
    """

    prompts: tuple[AskedPrompt, ...]
    rows: int
    repeated: int
    unread: int
    warnings: tuple[str, ...]
    compared: tuple[str, ...]


def untouched(
    file: Path,
    seen: Mapping[str, Path],
    *,
    most: int | None = None,
    seed: int = 0,
    allow: str = "",
    rows: RowOptions = AS_FOUND,
) -> Split:
    """The prompts of a split that shares none with what a job has seen.

    Args:
        file: of any format and shape.
        seen: the job's files, by what they are, such as "the training file".
        most: prompts that are asked at most; None for all.
        seed: of the draw.
        allow: why a split that shares prompts is taken all the same; "" refuses it.
        rows: how the file's rows are read, and those of a job's file of no known shape.

    Raises:
        SharedPrompts: it shares prompts, or a file of the job has no prompt to compare with.
        BadJob: no row has a prompt.
        OSError: a file cannot be read.
    """
    overlaps = Overlaps()
    for what, path in seen.items():
        _remember(overlaps, what, path, rows)
    samples: dict[str, Sample] = {}
    unread = 0
    for where, row, sample in _read(scan_rows(str(file), rows, responses=False, whole=True), file):
        if sample is None:
            unread += 1
            continue
        overlaps.add(SPLIT, where, row)
        samples[where] = sample
    leaks = [leak for leak in overlaps.leaks() if leak.files[1] == SPLIT]
    refused = [leak for leak in leaks if leak.shared in REFUSED]
    if refused and not allow:
        raise SharedPrompts(_refusal(refused[0], file))
    first = {_asked(sample): where for where, sample in reversed(samples.items())}
    asked = set(first.values())
    kept = {where: sample for where, sample in samples.items() if where in asked}
    prompts = chosen(list(kept.values()), list(kept), most or len(samples), seed)
    shared = [f"{_shared(leak)}: taken because {allow}" for leak in refused]
    shared += [_shared(leak) for leak in leaks if leak.shared not in REFUSED]
    repeated = len(samples) - len(kept)
    return Split(tuple(prompts), len(samples), repeated, unread, tuple(shared), tuple(seen))


def _remember(overlaps: Overlaps, what: str, path: Path, rows: RowOptions) -> None:
    found = 0
    for where, row, _ in _read(_trained_on(path, rows), path):
        # A file of S3 lies in a folder of the moment, whose name tells nobody anything.
        overlaps.add(what, where.replace(str(path), what, 1), row)
        found += bool(row.get("messages"))
    if not found:
        raise SharedPrompts(
            f"{path} is {what}, and no row of it has a prompt to compare the split with: give the "
            "file that the job was trained on with --train"
        )


def _trained_on(path: Path, rows: RowOptions) -> Iterator[Row | BadInput]:
    """The rows of a job's file: of a known shape, else read as the split is, else as they are.

    Without references a file is of no known shape, and has prompts all the same.
    """
    for options in (AS_FOUND, rows):
        try:
            yield from scan_rows(str(path), options, responses=False, whole=True)
        except UnknownShape:  # before the first row
            continue
        return
    yield from scan_file(str(path))


def _read(
    rows: Iterator[Row | BadInput], path: Path
) -> Iterator[tuple[str, dict[str, Any], Sample | None]]:
    """(place, the row with its prompt as turns, the sample where it is one)."""
    for at, row in enumerate(rows):
        if not isinstance(row, Row):
            yield f"{path.name}, row {at + 1}", {}, None
            continue
        sample = decode_row(row.content, at)
        if isinstance(sample, Sample):
            turns = [asdict(turn) for turn in sample.context]
            yield row.where, {"messages": turns, "metadata": dict(sample.metadata)}, sample
        else:
            yield row.where, {"messages": _prompt(row.content)}, None


def _prompt(row: Mapping[str, Any]) -> list[Any]:
    """The turns of a row in the shape of serverless customization: `prompt`, turns or a string."""
    given = row.get("prompt", row.get("messages"))
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return given if isinstance(given, list) else []


def _asked(sample: Sample) -> str:
    """What two rows share that ask the same; rows that name their prompt may differ in more."""
    named = sample.metadata.get("prompt")
    whole = "\n".join(f"{turn.role} {normal(turn.content)}" for turn in sample.context)
    return f"{whole}\n{named}" if isinstance(named, str) else whole


def _shared(leak: Leak) -> str:
    one, other = leak.example
    rows = "1 row" if leak.rows == 1 else f"{leak.rows:,} rows"
    return (
        f"{rows} of the split and {leak.files[0]} share a {leak.shared}, such as {other} and {one}"
    )


def _refusal(leak: Leak, file: Path) -> str:
    return (
        f"{file} is no untouched split, for {_shared(leak)}: leave such rows out (`reward data "
        "split` makes files that share none), or say why it is taken with --allow-leak REASON"
    )
