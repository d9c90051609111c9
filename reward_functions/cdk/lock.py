"""The lock of a stage: what the requirements of its packages resolve to, with hashes.

`reward-functions.STAGE.lock` lies beside `cdk.json` and is committed, so that everybody builds the
same artifact, until somebody asks for newer versions (`reward lock --stage STAGE --upgrade`). It is
a requirements file as pip and uv read it. A comment holds a digest of what was resolved:

| a change of | makes the lock |
| --- | --- |
| the stage's `packages`, or the requirements that they name | stale |
| our own pins, which limit every resolution | stale |
| the stage's `architecture` or `python` | stale |
| the code of a package, or its version | nothing: that is in the digest of the artifact |

A stage whose packages require nothing but this project needs no lock. No address of an index is in
it: uv asks the index that its own variables and settings name.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, Literal

from reward_functions.cdk.packages import normalised, uv
from reward_functions.cdk.pins import PROJECT, our_pins, parsed
from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reward_functions.cdk.packages import Package, Wheel
    from reward_functions.cdk.pins import Pin
    from reward_functions.cdk.target import Target

HEAD: Final = """\
# What the packages of stage {stage} require; `reward lock --stage {stage}` writes it. Commit it.
# inputs: {inputs}
"""

INPUTS: Final = re.compile(r"^# inputs: ([0-9a-f]{64})$", re.MULTILINE)

State = Literal["missing", "stale", "current"]

REQUIRED: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class BadLock(ConfigurationError):
    """The lock is missing, stale, or not a lock. The message names the remedy."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one distribution: a version is None where it was, or is, not there."""

    name: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        if self.before is None:
            return f"added {self.name} {self.after}"
        if self.after is None:
            return f"removed {self.name} {self.before}"
        return f"moved {self.name} {self.before} to {self.after}"


@dataclass(frozen=True, kw_only=True)
class Lock:
    """Where the lock of a stage lies, and what it has to answer.

    Args:
        stage: its name.
        folder: that of `cdk.json`.
        packages: the stage's.
        wheels: of those packages that no index is asked for, by name.
        target: what the artifacts are for.
    """

    stage: str
    folder: Path
    packages: Sequence[Package]
    wheels: Mapping[str, Wheel]
    target: Target

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / f"reward-functions.{self.stage}.lock"

    @property
    def remedy(self) -> str:
        """The command that writes it."""
        return f"`reward lock --stage {self.stage}`"

    @property
    def needed(self) -> bool:
        """Whether the packages require anything but this project."""
        return any(
            package.name not in self.wheels or self._requires(self.wheels[package.name])
            for package in self.packages
        )

    def inputs(self) -> str:
        """A digest of what is resolved."""
        resolved = {
            "requirements": sorted(
                str(package) for package in self.packages if package.name not in self.wheels
            ),
            "wheels": {name: wheel.requires() for name, wheel in sorted(self.wheels.items())},
            "pins": sorted(f"{pin.name}=={pin.version}" for pin in our_pins()),
            "target": [self.target.architecture, self.target.python],
        }
        return sha256(json.dumps(resolved).encode()).hexdigest()

    def state(self) -> State:
        """Whether it is there, and was resolved from what is to be resolved now."""
        if not self.path.exists():
            return "missing"
        found = INPUTS.search(self._text())
        return "current" if found and found[1] == self.inputs() else "stale"

    def read(self) -> tuple[Pin, ...]:
        """The distributions, by name.

        Raises:
            BadLock: it is missing or stale.
        """
        state = self.state()
        if state == "missing":
            raise BadLock(f"{self.path.name} is missing: run {self.remedy} and commit it")
        if state == "stale":
            raise BadLock(
                f"{self.path.name} is stale, as the stage's packages, what they require, our pins "
                f"or the target changed: run {self.remedy} and commit it"
            )
        return parsed(self._text())

    def write(self, *, upgrade: bool = False) -> tuple[Change, ...]:
        """Resolve, and write the lock; returns what changed.

        Versions that the lock has and that still fit stay.

        Args:
            upgrade: take the newest versions instead.

        Raises:
            BadPackage: nothing fits, or an index does not answer.
            BadLock: the file cannot be written.
        """
        before = parsed(self._text()) if self.path.exists() else ()
        resolved = self._resolved(upgrade=upgrade)
        after = parsed(resolved)
        head = HEAD.format(stage=self.stage, inputs=self.inputs())
        try:
            self.path.write_text(head + resolved, encoding="utf-8", newline="\n")
        except OSError as error:
            raise BadLock(f"{self.path.name} cannot be written: {error.strerror}") from None
        return changes(before, after)

    def _text(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise BadLock(
                f"{self.path.name} cannot be read: delete it, and run {self.remedy}"
            ) from None

    def _resolved(self, *, upgrade: bool) -> str:
        with TemporaryDirectory() as scratch:
            folder = Path(scratch)
            wanted, out = folder / "requirements.in", folder / "lock.txt"
            wanted.write_text("\n".join(self._wanted()), encoding="utf-8")
            if self.path.exists():
                out.write_text(self._text(), encoding="utf-8")
            uv(
                *("pip", "compile", str(wanted), "--output-file", str(out)),
                *("--generate-hashes", "--no-header", "--no-annotate"),
                *self.target.resolution(folder),
                *(f"--no-emit-package={name}" for name in self.wheels),
                *(["--upgrade"] if upgrade else []),
                doing=f"resolving the packages of stage {self.stage!r}",
            )
            return out.read_text(encoding="utf-8")

    def _wanted(self) -> Iterable[str]:
        for package in self.packages:
            wheel = self.wheels.get(package.name)
            yield f"{package.name} @ {wheel.path.as_uri()}" if wheel else str(package)

    def _requires(self, wheel: Wheel) -> bool:
        return any(_name(each) != PROJECT for each in wheel.requires())


def changes(before: Iterable[Pin], after: Iterable[Pin]) -> tuple[Change, ...]:
    """What differs between two locks, by name."""
    old = {pin.name: pin.version for pin in before}
    new = {pin.name: pin.version for pin in after}
    return tuple(
        Change(name, old.get(name), new.get(name))
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    )


def _name(requirement: str) -> str:
    found = REQUIRED.match(requirement)
    return normalised(found[0]) if found else requirement
