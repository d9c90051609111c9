"""The additions of a stage to its artifacts: a project's folder, a wheel, or a pinned requirement.

A folder is built into a wheel. Notes of its build tool about itself, and differences between two
machines with the same sources, stay out of the digest and out of the zip; see `records`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from email.parser import HeaderParser
from typing import TYPE_CHECKING, Final
from zipfile import BadZipFile, ZipFile

from uv import find_uv_bin

from reward_functions.cdk.artifact.records import canonical
from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

PINNED: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(\[[A-Za-z0-9._,-]+\])?==[^\s;=*]+")

REQUIRED: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

OURS_TO_SAY: Final = frozenset({"UV_COMPILE_BYTECODE"})
"""uv takes these variables for an argument, and refuses the opposite one beside it."""

LIBRARIES: Final = ("purelib/", "platlib/")
"""Folders of a wheel's `.data` that are installed beside its modules."""

NO_WHEEL: Final = ("no usable wheels", "no wheels", "building source distributions is disabled")
"""How uv says that a package has no wheel that it may take."""

WHEEL_REMEDY: Final = (
    "; where a package has no wheel for the target, build one (`uv build --wheel` in its source) "
    "and name the wheel's path in `packages`"
)


class BadPackage(ConfigurationError):
    """A package that cannot be found, built or installed. The message names it."""


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel on this machine.

    Args:
        name: the distribution's, normalised.
        path: the file.
        built: whether it was built just now, from a folder.
    """

    name: str
    path: Path
    built: bool

    def entries(self) -> Iterator[tuple[str, bytes]]:
        """Its entries of the zip, in order: names and contents.

        Raises:
            BadPackage: it is not a wheel.
        """
        try:
            with ZipFile(self.path) as archive:
                for name in sorted(archive.namelist()):
                    content = canonical(name, archive.read(name), built=self.built)
                    if content is not None:
                        yield name, content
        except BadZipFile:
            raise BadPackage(f"{self.path.name} is not a wheel") from None

    def installed(self) -> Iterator[str]:
        """Where its files lie once it is installed, scripts aside."""
        for name, _ in self.entries():
            top, _, rest = name.partition("/")
            if not top.endswith(".data"):
                yield name
            elif rest.startswith(LIBRARIES):
                yield rest.partition("/")[2]

    def requires(self) -> tuple[str, ...]:
        """The requirements that its metadata names, in order."""
        for name, content in self.entries():
            if name.endswith(".dist-info/METADATA"):
                found = HeaderParser().parsestr(content.decode(errors="replace"))
                return tuple(sorted(found.get_all("Requires-Dist") or ()))
        raise BadPackage(f"{self.path.name} is a wheel without metadata")

    def sources(self) -> Iterator[bytes]:
        """Its Python files."""
        return (content for name, content in self.entries() if name.endswith(".py"))

    @property
    def portable(self) -> bool:
        """Whether nothing in it is compiled, so that every machine builds the same."""
        return self.path.stem.endswith("-any")


@dataclass(frozen=True, slots=True)
class Package:
    """One of a stage's further packages.

    Args:
        name: the distribution's, normalised.
        source: a folder, a wheel, or the requirement as it was written.
    """

    name: str
    source: Path | str

    @classmethod
    def of(cls, text: str, folder: Path) -> Package:
        """The package that a string of `cdk.json` names.

        Args:
            text: a path, where it exists as one or looks like one; else a requirement.
            folder: where relative paths begin.

        Raises:
            BadPackage: there is no such path, the requirement is not pinned, or it is a URL.
        """
        if "://" in text:  # not shown: it may hold a password
            raise BadPackage("a package is a path or a requirement pinned as name==version, no URL")
        path = (folder / text).resolve()
        if path.suffix == ".whl" and path.is_file():
            return cls(normalised(path.name.partition("-")[0]), path)
        if (path / "pyproject.toml").is_file():
            return cls(_project_name(path), path)
        if text.startswith((".", "/", "~")) or "/" in text or path.exists():
            raise BadPackage(f"{text!r} is neither a wheel nor a folder with a pyproject.toml")
        match = PINNED.fullmatch(text)
        if match is None:
            raise BadPackage(
                f"{text!r} is neither a path nor a requirement pinned as name==version, "
                "without which two builds would differ"
            )
        return cls(normalised(match[1]), text)

    def wheel(self, folder: Path) -> Wheel | None:
        """Its wheel; None for a requirement, whose wheel an index has.

        Args:
            folder: where a project is built into.

        Raises:
            BadPackage: its build failed.
        """
        if isinstance(self.source, str):
            return None
        if self.source.is_file():
            return Wheel(self.name, self.source, built=False)
        out = folder / self.name
        uv(
            *("build", "--wheel", "--python", sys.executable),
            *("--out-dir", str(out), str(self.source)),
            doing=f"building {self}",
        )
        return Wheel(self.name, next(out.glob("*.whl")), built=True)

    def __str__(self) -> str:
        return self.source if isinstance(self.source, str) else self.source.name


def declared(folder: Path) -> tuple[str, ...] | None:
    """The requirements that a project's folder declares, with its extras, as its wheel will.

    None where its `pyproject.toml` leaves that to the build, which refuses what is no list.
    """
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    try:
        if {"dependencies", "optional-dependencies"} & {*project.get("dynamic", ())}:
            return None
        extras = project.get("optional-dependencies", {}).values()
        found = (*project.get("dependencies", ()), *(each for extra in extras for each in extra))
    except (AttributeError, TypeError):
        return None
    return found if all(isinstance(each, str) for each in found) else None


def insist_on_distinct(packages: Iterable[Package], stage: str) -> None:
    """A stage names no package twice.

    Raises:
        BadPackage: it does.
    """
    names = [package.name for package in packages]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadPackage(f"stage {stage!r}: `packages` names {twice} twice: leave one of them")


def normalised(name: str) -> str:
    """A distribution's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def required(requirement: str) -> str:
    """The name, normalised, of the distribution that a requirement names."""
    found = REQUIRED.match(requirement)
    return normalised(found[0]) if found else requirement


def uv(*arguments: str, doing: str) -> None:
    """Run uv, quietly.

    Raises:
        BadPackage: it failed; the message ends with uv's output, and with a remedy for a package
            that has no wheel.
    """
    # Standard output belongs to jsii and to the CDK command line.
    done = subprocess.run(  # noqa: S603 - our own tool, no shell
        [find_uv_bin(), *arguments, "--quiet", "--color", "never"],
        env={name: text for name, text in os.environ.items() if name not in OURS_TO_SAY},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        output = " ".join(done.stdout.split())
        remedy = WHEEL_REMEDY if any(words in output for words in NO_WHEEL) else ""
        raise BadPackage(f"{doing} failed: {output}{remedy}")


def _project_name(folder: Path) -> str:
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
        return normalised(project["project"]["name"])
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError):
        raise BadPackage(f"{folder.name}: its pyproject.toml names no project") from None
