"""What a stage adds to the artifact: a project's folder, a wheel, or a pinned requirement."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from zipfile import BadZipFile, ZipFile

from uv import find_uv_bin

from reward_functions.core.errors import ConfigurationError

PINNED: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(\[[A-Za-z0-9._,-]+\])?==[^\s;=*]+")


class BadPackage(ConfigurationError):
    """A package that cannot be found, built or installed. The message names it."""


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
            BadPackage: there is no such path, or the requirement is not pinned.
        """
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

    def requirement(self, folder: Path) -> str:
        """What to install: the requirement, or a wheel; a project is built into `folder`.

        Raises:
            BadPackage: its build failed.
        """
        if isinstance(self.source, str):
            return self.source
        if self.source.is_file():
            return str(self.source)
        built = folder / self.name
        uv(
            *("build", "--wheel", "--python", sys.executable),
            *("--out-dir", str(built), str(self.source)),
            doing=f"building {self}",
        )
        return str(next(built.glob("*.whl")))

    def fingerprint(self) -> str:
        """A digest of what would be installed.

        Raises:
            BadPackage: its build failed, or it is not a wheel.
        """
        with TemporaryDirectory() as folder:
            what = self.requirement(Path(folder))
            digest = sha256(self.name.encode())
            if isinstance(self.source, str):
                digest.update(what.encode())
                return digest.hexdigest()
            try:
                with ZipFile(what) as wheel:
                    for entry in sorted(wheel.namelist()):
                        digest.update(entry.encode() + b"\0" + wheel.read(entry) + b"\0")
            except BadZipFile:
                raise BadPackage(f"{self} is not a wheel") from None
        return digest.hexdigest()

    def __str__(self) -> str:
        return self.source if isinstance(self.source, str) else self.source.name


def normalised(name: str) -> str:
    """A distribution's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def uv(*arguments: str, doing: str) -> None:
    """Run uv, quietly.

    Raises:
        BadPackage: it failed; the message ends with uv's output.
    """
    # Standard output belongs to jsii and to the CDK command line.
    done = subprocess.run(  # noqa: S603 - our own tool, no shell
        [find_uv_bin(), *arguments, "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        output = " ".join(done.stdout.split())
        raise BadPackage(f"{doing} failed: {output}")


def _project_name(folder: Path) -> str:
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
        return normalised(project["project"]["name"])
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError):
        raise BadPackage(f"{folder.name}: its pyproject.toml names no project") from None
