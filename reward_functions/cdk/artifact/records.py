"""Split a distribution's record (its `dist-info`): the part that every machine agrees on goes in.

Where and how something was installed differs between machines, and so does what a build tool of
another version writes about itself. Neither may move a deployment.

| file | from an index, or a wheel by its path | built from a folder of the stage |
| --- | --- | --- |
| METADATA | as it is | name, version and requirements |
| RECORD | without the files that stay out | the same, and without the record's own files |
| WHEEL | as it is | stays out: it names the build tool |
| `LOCAL` | stays out: it names the installer and paths | the same |
| everything else | as it is | as it is |
"""

from __future__ import annotations

import csv
from email.parser import HeaderParser
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

LOCAL: Final = frozenset(
    {"INSTALLER", "REQUESTED", "direct_url.json", "uv_build.json", "uv_cache.json"}
)

FIELDS: Final = ("Name", "Version", "Requires-Python", "Provides-Extra", "Requires-Dist")
"""What `importlib.metadata` and scanners of packages read. METADATA ends with the README, whose
change moves no deployment."""


def canonical(name: str, content: bytes, *, built: bool) -> bytes | None:
    """A file of a wheel as the zip holds it; None where it stays out.

    Args:
        name: its path in the wheel.
        content: its content there.
        built: whether the wheel was built from a folder of the stage.
    """
    folder, _, file = name.rpartition("/")
    if not folder.endswith(".dist-info"):
        return content
    if file in LOCAL or file == "RECORD" or (built and file == "WHEEL"):
        return None
    return metadata(content) if built and file == "METADATA" else content


def metadata(content: bytes) -> bytes:
    """METADATA with `FIELDS` alone, in their order."""
    found = HeaderParser().parsestr(content.decode("utf-8", errors="replace"))
    lines = [
        f"{field}: {value}" for field in FIELDS for value in sorted(found.get_all(field) or ())
    ]
    return "\n".join(["Metadata-Version: 2.1", *lines, ""]).encode()


def listed(record: Path) -> Iterator[tuple[str, str]]:
    """The files that a RECORD names, each with its hash and size where it says them."""
    for file, *content in csv.reader(record.read_text(encoding="utf-8").splitlines()):
        yield file, ",".join(content) if all(content) else ""


def tidy(tree: Path, built: Collection[str], own: Collection[str] = ()) -> None:
    """Make the records of an installed tree what every machine agrees on, and drop its scripts.

    Args:
        tree: the folder.
        built: the names of the distributions that were built from a folder.
        own: paths that are no scripts, as a package holds them.
    """
    _drop_scripts(tree / "bin", own)
    (tree / ".lock").unlink(missing_ok=True)
    for record in sorted(tree.glob("*.dist-info")):
        here = record.name.partition("-")[0].replace("_", "-").lower() in built
        for path in sorted(record.iterdir()):
            if path.is_file() and path.name != "RECORD":
                content = canonical(f"{record.name}/{path.name}", path.read_bytes(), built=here)
                if content is None:
                    path.unlink()
                elif here:
                    path.write_bytes(content)
        _rewrite(record / "RECORD", record.name if here else None)


def _drop_scripts(folder: Path, own: Collection[str]) -> None:
    """Scripts name this machine's interpreter; a package may be called `bin` as well."""
    for path in folder.glob("*"):
        if f"bin/{path.name}" in own:
            continue
        if path.is_file() and path.read_bytes()[:2] == b"#!":
            path.unlink()
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _rewrite(record: Path, own: str | None) -> None:
    """RECORD, in order, without what is not there and without the folder `own`."""
    if not record.is_file():
        return
    kept = [
        line
        for line in sorted(record.read_text(encoding="utf-8").splitlines())
        if (name := line.rsplit(",", 2)[0].strip('"'))
        and (record.parents[1] / name).is_file()
        and name.partition("/")[0] != own
    ]
    record.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8", newline="\n")
