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

Another comment holds a digest of the file: a line that was edited or deleted, by hand or by a
merge, is refused. So is a requirement by an address, whose content nobody pinned.

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

from reward_functions.cdk.artifact.packages import required, uv
from reward_functions.cdk.artifact.pins import PROJECT, our_pins, parsed, stray
from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reward_functions.cdk.artifact.packages import Package, Wheel
    from reward_functions.cdk.artifact.pins import Pin
    from reward_functions.cdk.artifact.target import Target

HEAD: Final = """\
# What the packages of stage {stage} require; `reward lock --stage {stage}` writes it. Commit it.
# inputs: {inputs}
"""

INPUTS: Final = re.compile(r"^# inputs: ([0-9a-f]{64})$", re.MULTILINE)

CONTENT: Final = re.compile(r"^# content: ([0-9a-f]{64})\n", re.MULTILINE)
"""A digest of everything but this line."""

State = Literal["missing", "stale", "changed", "current"]

ADDRESSED: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*+\s*+(\[[^]]*\]\s*+)?@")
"""A requirement by an address (PEP 508): whatever lies there when somebody builds."""

FORMAT: Final = (
    *("--format", "requirements.txt", "--generate-hashes", "--no-header", "--no-annotate"),
    *("--no-emit-index-url", "--no-emit-find-links", "--no-emit-build-options"),
    *("--no-emit-index-annotation", "--no-emit-marker-expression", "--no-universal"),
)
"""Whatever a project's `[tool.uv]` says: no address, and this target's versions alone."""

BY_ADDRESS: Final = (
    "by an address, where everybody may find another file: "
    "name its wheel or its folder in `packages`, and delete the lock where one holds that line"
)

SHOWN: Final = 40
"""So much of a line a message shows."""


class BadLock(ConfigurationError):
    """The lock is missing, stale, or not a lock. The message names the remedy."""


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one distribution: a version is None where it was, or is, not there."""

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
        beside: whose packages they are, where not the rewards': a stage may have another lock.
    """

    stage: str
    folder: Path
    packages: Sequence[Package]
    wheels: Mapping[str, Wheel]
    target: Target
    beside: str = ""

    @property
    def path(self) -> Path:
        """The file."""
        kind = f".{self.beside}" if self.beside else ""
        return self.folder / f"reward-functions.{self.stage}{kind}.lock"

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
        """Whether it is there, as it was written, and from what is to be resolved now.

        Raises:
            BadLock: it is no lock.
        """
        if not self.path.exists():
            return "missing"
        text = self._text()
        self._insist_on_pins(text)
        found = INPUTS.search(text)
        if found is None or found[1] != self.inputs():
            return "stale"
        return "current" if _unedited(text) else "changed"

    def insist_on_unedited(self) -> None:
        """Refuse a lock that was edited by hand.

        Raises:
            BadLock: it is no lock, or somebody changed it.
        """
        text = self._text()
        self._insist_on_pins(text)
        if not _unedited(text):
            raise self._edited()

    def read(self) -> tuple[Pin, ...]:
        """The distributions, by name.

        Raises:
            BadLock: it is missing or stale, or somebody changed it.
        """
        state = self.state()
        if state == "missing":
            raise BadLock(f"{self.path.name} is missing: run {self.remedy} and commit it")
        if state == "stale":
            raise BadLock(
                f"{self.path.name} is stale, as the stage's packages, what they require, our pins "
                f"or the target changed: run {self.remedy} and commit it"
            )
        if state == "changed":
            raise self._edited()
        return parsed(self._text())

    def write(self, *, upgrade: bool = False) -> tuple[Change, ...]:
        """Resolve, and write the lock; returns what changed.

        Versions that the lock has and that still fit stay.

        Args:
            upgrade: take the newest versions instead.

        Raises:
            BadPackage: nothing fits, or an index does not answer.
            BadLock: the file cannot be written, what it has is no lock, or something is required
                by an address.
        """
        before = self._before()
        self._insist_on_names()
        resolved = self._resolved(upgrade=upgrade)
        self._insist_on_pins(resolved)
        after = parsed(resolved)
        text = HEAD.format(stage=self.stage, inputs=self.inputs()) + resolved
        head = f"# content: {_content(text)}\n"
        try:
            self.path.write_text(head + text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise BadLock(f"{self.path.name} cannot be written: {error.strerror}") from None
        return changes(before, after)

    def _edited(self) -> BadLock:
        return BadLock(
            f"{self.path.name} is not as it was written: restore it, or run "
            f"`reward lock --stage {self.stage} --upgrade` and commit it"
        )

    def _before(self) -> tuple[Pin, ...]:
        if not self.path.exists():
            return ()
        text = self._text()
        self._insist_on_pins(text)
        return parsed(text)

    def _insist_on_names(self) -> None:
        """No wheel requires by an address what `packages` does not name."""
        for name, wheel in self.wheels.items():
            for each in wheel.requires():
                if ADDRESSED.match(each) and required(each) not in {*self.wheels, PROJECT}:
                    raise BadLock(f"{name} requires {required(each)} {BY_ADDRESS}")

    def _insist_on_pins(self, text: str) -> None:
        line = stray(text)
        if line is None:
            return
        if ADDRESSED.match(line):
            raise BadLock(f"stage {self.stage!r} requires {required(line)} {BY_ADDRESS}")
        raise BadLock(
            f"{self.path.name} has a line that is no pinned version ({line[:SHOWN]!r}): "
            f"delete the file, and run {self.remedy}"
        )

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
                *FORMAT,
                *self.target.resolution(folder),
                *(f"--no-emit-package={name}" for name in self.wheels),
                *self._instead(folder),
                *(["--upgrade"] if upgrade else []),
                doing=f"resolving the packages of stage {self.stage!r}",
            )
            return out.read_text(encoding="utf-8")

    def _wanted(self) -> Iterable[str]:
        for package in self.packages:
            wheel = self.wheels.get(package.name)
            yield f"{package.name} @ {wheel.path.as_uri()}" if wheel else str(package)

    def _instead(self, folder: Path) -> Iterable[str]:
        """What lets the stage's wheels stand for those that another requires by an address."""
        addressed = {
            required(each)
            for wheel in self.wheels.values()
            for each in wheel.requires()
            if ADDRESSED.match(each)
        }
        if both := sorted(addressed & self.wheels.keys()):
            overrides = folder / "overrides.txt"
            lines = (f"{name} @ {self.wheels[name].path.as_uri()}" for name in both)
            overrides.write_text("\n".join(lines), encoding="utf-8")
            yield from ("--overrides", str(overrides))

    def _requires(self, wheel: Wheel) -> bool:
        return any(required(each) != PROJECT for each in wheel.requires())


def changes(before: Iterable[Pin], after: Iterable[Pin]) -> tuple[Change, ...]:
    """The differences between two locks, by name."""
    old = {pin.name: pin.version for pin in before}
    new = {pin.name: pin.version for pin in after}
    return tuple(
        Change(name, old.get(name), new.get(name))
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    )


def _unedited(text: str) -> bool:
    content = CONTENT.search(text)
    return content is not None and content[1] == _content(text)


def _content(text: str) -> str:
    return sha256(CONTENT.sub("", text).encode()).hexdigest()
