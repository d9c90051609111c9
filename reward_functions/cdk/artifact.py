"""The one Lambda artifact: a zip that every function of a stage runs from, built without Docker.

    artifact = Artifact(architecture="arm64", python="3.13", interpreter=interpreter("3.13"))
    artifact.build(folder / f"{artifact.fingerprint()}.zip")

In it are this project as it is installed, the pinned runtime requirements as wheels of the target's
own platform, and the packages of the stage; less what a function never reads; and bytecode of the
target's version. `fingerprint` is a digest of everything that goes in, so that equal inputs are one
asset wherever they are built, and known before it is built.

A bundle for this machine, which the local AWS emulator runs, is copied from the installed packages
where their versions are the pinned ones. That needs no network.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import reward_functions
from reward_functions.cdk import pruning
from reward_functions.cdk.interpreter import NoInterpreter, here
from reward_functions.cdk.packages import normalised, uv
from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reward_functions.cdk.packages import Package
    from reward_functions.serving.catalogue import Architecture

PROJECT: Final = "reward-functions"

PLATFORMS: Final[dict[Architecture, str]] = {
    "arm64": "aarch64-manylinux_2_28",
    "x86_64": "x86_64-manylinux_2_28",
}
"""uv's names. Lambda's Python 3.12 and later run on Amazon Linux 2023, whose glibc is 2.34."""

MAX_ZIPPED: Final = 25 * 1000 * 1000
MAX_UNZIPPED: Final = 100 * 1000 * 1000
"""Our own budgets, in bytes; Lambda's limits are twice that, and 250 MB."""

EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest time a zip can hold. The bytecode is compiled to ignore it."""

LAPTOP: Final = frozenset({"cdk", "cli", "testing", "tools"})
"""Packages that no function runs and the zip leaves out."""

RECORDS: Final = ("METADATA", "entry_points.txt")
"""What our own dist-info adds: name, version and rewards. The rest of it names machine paths."""

TASK: Final = "/var/task"
"""Where Lambda unpacks the zip."""

PIN: Final = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


COST: Final = (
    "no interpreter of Python {python} answers here, so the artifact carries no bytecode: "
    "a cold start takes more than half as long again, and hard algebra five times as long to load. "
    "Install Python {python}, or name one with -c interpreter=PATH"
)
"""Processor time of the unpacked zip, Python 3.11: `gsm8k` to its first response 89 and 143 ms,
the algebra's imports 0.25 and 1.24 s."""


class TooLarge(ConfigurationError):
    """The artifact is over its budget. The message names the largest packages."""


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """What goes into the zip.

    Args:
        architecture: Lambda's name of the processor.
        python: the runtime's minor version, such as `3.13`.
        interpreter: of that version, to compile with; without one there is no bytecode.
        packages: the stage's own.
        aws_services: what these call through boto3, beyond `pruning.AWS_SERVICES`.
        installed: take the pinned requirements from this environment, where it holds just them.
    """

    architecture: Architecture
    python: str
    interpreter: Path | None
    packages: tuple[Package, ...] = ()
    aws_services: tuple[str, ...] = ()
    installed: bool = False

    def fingerprint(self) -> str:
        """A digest of everything that goes in, and of how it is put together.

        Raises:
            BadPackage: a package cannot be built.
        """
        digest = sha256()
        for name, content in self._inputs():
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        return digest.hexdigest()

    def _inputs(self) -> Iterator[tuple[str, bytes]]:
        target = {
            "architecture": self.architecture,
            "python": self.python,
            "bytecode": self.interpreter is not None,
            "aws_services": sorted(set(self.aws_services)),
            "packages": sorted(package.fingerprint() for package in self.packages),
        }
        yield "target", json.dumps(target).encode()
        yield "pins", pins().read_bytes()
        for module in (__file__, pruning.__file__):
            yield Path(module).name, Path(module).read_bytes()
        for path, source in _project():
            yield path, source.read_bytes()

    def build(self, path: Path) -> None:
        """Write the zip; whatever goes wrong, there is either the whole of it or nothing.

        Raises:
            BadPackage: a requirement or a package of the stage cannot be had.
            TooLarge: it is over its budget.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=path.parent, prefix="artifact-") as scratch:
            tree = Path(scratch) / "tree"
            self.lay_out(tree)
            zipped = Path(scratch) / "artifact.zip"
            _zip(tree, zipped)
            _check_budget(tree, zipped)
            zipped.replace(path)

    def lay_out(self, tree: Path) -> None:
        """The contents of the zip, as a folder.

        Raises:
            BadPackage: a requirement or a package of the stage cannot be had.
            NoInterpreter: the interpreter compiles nothing.
        """
        tree.mkdir()
        if not (
            self.installed and (self.architecture, self.python) == here() and _copy_installed(tree)
        ):
            self._install(tree, "--require-hashes", "--no-deps", "--requirement", str(pins()))
        if self.packages:
            self._add_packages(tree)
        for name, source in _project():
            target = tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        pruning.prune(tree, self.aws_services)
        if self.interpreter is not None:
            _compile(tree, self.interpreter)

    def _add_packages(self, tree: Path) -> None:
        """The stage's packages and what they need, under our pins and without ourselves."""
        with TemporaryDirectory() as folder:
            ourselves = Path(folder) / "ourselves.txt"
            ourselves.write_text(PROJECT)
            limits = Path(folder) / "pins.txt"
            limits.write_text("\n".join("==".join(pin) for pin in PIN.findall(pins().read_text())))
            self._install(
                tree,
                *("--excludes", str(ourselves), "--constraints", str(limits)),
                *(package.requirement(Path(folder)) for package in self.packages),
            )

    def _install(self, tree: Path, *arguments: str) -> None:
        uv(
            *("pip", "install", "--target", str(tree), "--only-binary", ":all:"),
            *("--python", sys.executable, "--python-version", self.python),
            *("--python-platform", PLATFORMS[self.architecture], "--link-mode", "copy"),
            *arguments,
            doing=f"installing for {self.architecture} and Python {self.python}",
        )


def pins() -> Path:
    """The runtime requirements with their hashes: in the installed wheel, or in the checkout."""
    here = Path(__file__)
    carried = here.with_name("runtime.txt")
    return carried if carried.is_file() else here.parents[2] / "requirements" / "runtime.txt"


def _project() -> Iterator[tuple[str, Path]]:
    """This project's own files by their place in the zip, in order, without `LAPTOP`."""
    package = Path(reward_functions.__file__).parent
    for path in sorted(path for path in package.rglob("*") if path.is_file()):
        inside = path.relative_to(package)
        if inside.parts[0] not in LAPTOP and "__pycache__" not in inside.parts:
            yield f"{package.name}/{inside.as_posix()}", path
    ours = distribution(PROJECT)
    for record in sorted(ours.files or ()):
        if record.name in RECORDS and record.parent.suffix == ".dist-info":
            yield record.as_posix(), Path(str(record.locate()))


def _copy_installed(tree: Path) -> bool:
    """Copy the pinned distributions from this environment; False where another version is here."""
    wanted = PIN.findall(pins().read_text())
    found = list(_installed(wanted))
    if len(found) < len(wanted):
        return False
    for each in found:
        for path in each.files or ():
            if ".." not in path.parts and "__pycache__" not in path.parts:
                target = tree / path
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(path.locate()), target)
    return True


def _installed(wanted: Iterable[tuple[str, str]]) -> Iterator[Distribution]:
    """Those of the distributions that are here, in these versions."""
    for name, version in wanted:
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue
        if found.version == version and found.files:
            yield found


def _compile(tree: Path, interpreter: Path) -> None:
    """Bytecode beside every source, found valid without a look at the source's time."""
    subprocess.run(  # noqa: S603 - an interpreter that was asked who it is, no shell
        [
            *(str(interpreter), "-P", "-S", "-m", "compileall", "-q", "-j", "0"),
            *("--invalidation-mode", "unchecked-hash", "-s", str(tree), "-p", TASK, str(tree)),
        ],
        env={"PYTHONHASHSEED": "0"},  # sets among constants are written in the order of hashes
        stdout=sys.stderr,  # standard output belongs to jsii
        # A file that no Python compiles, such as a template, is named there and harms nobody.
        check=False,
    )
    if not any(tree.rglob("*.pyc")):
        raise NoInterpreter(f"{interpreter} compiled nothing")


def _zip(tree: Path, path: Path) -> None:
    """The same bytes for the same files: in order, without times, owners or other permissions."""
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for file in sorted(file for file in tree.rglob("*") if file.is_file()):
            entry = ZipInfo(file.relative_to(tree).as_posix(), EPOCH)
            entry.compress_type = ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, file.read_bytes())


def _check_budget(tree: Path, zipped: Path) -> None:
    sizes: dict[str, int] = {}
    for file in tree.rglob("*"):
        if file.is_file():
            top = file.relative_to(tree).parts[0]
            sizes[top] = sizes.get(top, 0) + file.stat().st_size
    for size, budget, how in (
        (zipped.stat().st_size, MAX_ZIPPED, "zipped"),
        (sum(sizes.values()), MAX_UNZIPPED, "unzipped"),
    ):
        if size > budget:
            largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:3]
            shown = ", ".join(f"{normalised(each)} {sizes[each] / 1e6:.0f} MB" for each in largest)
            raise TooLarge(
                f"the artifact is {size / 1e6:.1f} MB {how}, over its budget of "
                f"{budget / 1e6:.0f} MB; the largest parts are {shown}"
            )
