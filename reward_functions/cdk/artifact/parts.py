"""The parts of a zip: our pinned requirements, the algebra, the packages of the stage, our rooms.

A part is laid out and compiled once and kept, with the zip of itself and the parts below it. The
zip of a deployment is a copy of one of these, followed by our own few files: the sixth artifact of
a stage costs a tenth of a second.

    our pins ── algebra ── packages of the stage ── our files that the reward reaches
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from hashlib import file_digest, sha256
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Protocol
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from reward_functions.cdk.artifact import pruning, records, target
from reward_functions.cdk.artifact.interpreter import NoInterpreter
from reward_functions.cdk.artifact.packages import BadPackage
from reward_functions.cdk.artifact.pins import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reward_functions.cdk.artifact.cache import Cache
    from reward_functions.cdk.artifact.packages import Wheel
    from reward_functions.cdk.artifact.pins import Pin
    from reward_functions.cdk.artifact.target import Target

EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest time a zip can hold. The bytecode is compiled to ignore it."""

TASK: Final = "/var/task"
"""Where Lambda unpacks the zip."""

LAYOUT: Final = 1
"""How a zip is put together. Raise it when the same inputs give another zip, as a test will find:
all deployments then move once."""

SUM: Final = "zip.sum"
"""The file beside a kept zip that holds its size and its digest."""

MODULES: Final = (".py", ".pyc", ".so")

REMOVED: Final = frozenset(
    """
    aifc asynchat asyncore audioop cgi cgitb chunk crypt distutils imghdr imp mailcap msilib nis
    nntplib ossaudiodev pipes smtpd sndhdr spwd sunau telnetlib uu xdrlib
    """.split()
)
"""Modules that left Python with 3.12 and 3.13, for which packages of these names stand in."""

BUILDERS: Final = tuple(Path(str(each.__file__)) for each in (pruning, records, target))
"""Sources that decide what a part looks like, beside this one: what others built is not used."""


class Part(Protocol):
    """One part of a zip."""

    def inputs(self) -> Any:
        """Everything that goes in, as JSON: equal inputs are equal files."""

    def lay_out(self, tree: Path) -> None:
        """Fill an empty folder; raises BadPackage where something cannot be had."""


@dataclass(frozen=True, kw_only=True)
class Requirements:
    """Some of our pins, less what no function reads.

    Args:
        pins: which.
        target: for what.
        services: what is called through boto3, beyond `pruning.AWS_SERVICES`.
    """

    pins: tuple[Pin, ...]
    target: Target
    services: frozenset[str] = frozenset()

    def inputs(self) -> Any:
        """The pins and the rules by which they are pruned."""
        return {
            "pins": [str(pin) for pin in self.pins],
            "services": sorted(pruning.AWS_SERVICES | self.services),
            "rules": [rule.pattern for rule in pruning.RULES],
        }

    def lay_out(self, tree: Path) -> None:
        """Copy what is installed, where that is what is pinned; else install it."""
        copied = self.target.installed and self.target.is_here and self._copy(tree)
        if not copied:
            with TemporaryDirectory() as folder:
                listed = Path(folder) / "pins.txt"
                listed.write_text("\n".join(map(str, self.pins)), encoding="utf-8")
                self.target.install(tree, "--require-hashes", "--requirement", str(listed))
        pruning.prune(tree, self.services)

    def _copy(self, tree: Path) -> bool:
        """Copy from this environment; False where another version is here."""
        found = list(_installed(self.pins))
        if len(found) < len(self.pins):
            return False
        for each in found:
            for path in each.files or ():
                if ".." not in path.parts and "__pycache__" not in path.parts:
                    copy = tree / path
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(str(path.locate()), copy)
        return True


@dataclass(frozen=True, kw_only=True)
class Packages:
    """The packages of a stage and what they require, untouched.

    Args:
        wheels: those that no index is asked for.
        pins: what the lock names, our own pins aside.
        target: for what.
        lock: the lock's name and the command that writes it, for a message.
    """

    wheels: tuple[Wheel, ...]
    pins: tuple[Pin, ...]
    target: Target
    lock: tuple[str, str]

    def inputs(self) -> Any:
        """The contents of the wheels, and the locked versions with their hashes."""
        return {
            "wheels": {wheel.name: _digest(wheel.entries()) for wheel in self.wheels},
            "pins": [str(pin) for pin in self.pins],
        }

    def lay_out(self, tree: Path) -> None:
        """Install them: by hash, and the wheels by their paths."""
        tree.mkdir()
        if self.pins:
            self._install_locked(tree)
        if self.wheels:
            self.target.install(tree, *(str(wheel.path) for wheel in self.wheels))
        own = {name for wheel in self.wheels for name in wheel.installed()}
        records.tidy(tree, {wheel.name for wheel in self.wheels if wheel.built}, own)
        _check_distributions(tree)
        _check_standard(tree)

    def _install_locked(self, tree: Path) -> None:
        name, remedy = self.lock
        with TemporaryDirectory() as folder:
            listed = Path(folder) / name
            listed.write_text("\n".join(map(str, self.pins)), encoding="utf-8")
            try:
                self.target.install(
                    tree,
                    *("--require-hashes", "--requirement", str(listed)),
                    doing=f"installing what {name} names",
                )
            except BadPackage as error:
                if "hash" not in str(error).lower():
                    raise
                raise BadPackage(
                    f"an index serves other files than {name} names; where the new ones are meant, "
                    f"run {remedy} --upgrade: {error}"
                ) from None


@dataclass(frozen=True)
class OurFiles:
    """Files of this project, and its record.

    Args:
        files: by their place in the zip.
    """

    files: Mapping[str, Path]

    def inputs(self) -> Any:
        """The digest of their contents."""
        return _digest(self.contents())

    def contents(self) -> Iterator[tuple[str, bytes]]:
        """Names and contents."""
        yield from ((name, path.read_bytes()) for name, path in self.files.items())
        ours = distribution(PROJECT)
        text = f"Name: {ours.name}\nVersion: {ours.version}\n\n".encode()
        folder = f"{ours.name.replace('-', '_')}-{ours.version}.dist-info"
        yield f"{folder}/METADATA", records.metadata(text)

    def lay_out(self, tree: Path) -> None:
        """Copy them."""
        for name, content in self.contents():
            copy = tree / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)


@dataclass(frozen=True, slots=True)
class Kept:
    """Parts that are laid out, compiled and zipped.

    Args:
        trees: a folder for each of them.
        zip: all of them; None without any.
    """

    trees: tuple[Path, ...]
    zip: Path | None


def digest_of(parts: Iterable[Part], target: Target) -> str:
    """A digest of everything that goes into a zip, 64 hexadecimal digits."""
    facts = [LAYOUT, target.facts(), *(part.inputs() for part in parts)]
    return sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def kept(parts: Sequence[Part], target: Target, cache: Cache) -> Kept:
    """Parts from the cache, built where they are not there.

    Raises:
        BadPackage: something cannot be had.
        NoInterpreter: the interpreter compiles nothing.
    """
    if not parts:
        return Kept((), None)
    *below, top = parts
    base = kept(below, target, cache)

    def make(folder: Path) -> None:
        tree, zipped = folder / "tree", folder / "zip"
        top.lay_out(tree)
        check_tops((*base.trees, tree))
        if target.interpreter is not None:
            compile_tree(tree, target.interpreter)
        if base.zip is not None:
            shutil.copyfile(base.zip, zipped)
        append(zipped, tree)
        (folder / SUM).write_text(_sum(zipped), encoding="utf-8")

    key = f"{digest_of(parts, target)[:32]}-{_builders(target)}"
    folder = cache.folder_of(key, make, _is_whole)
    return Kept((*base.trees, folder / "tree"), folder / "zip")


def _sum(path: Path) -> str:
    """Size and digest of a file."""
    with path.open("rb") as file:
        return f"{path.stat().st_size} {file_digest(file, 'sha256').hexdigest()}"


def _is_whole(folder: Path) -> bool:
    """Whether what was kept is what was built: a disk, or a person, may have changed it."""
    try:
        expected = (folder / SUM).read_text(encoding="utf-8")
        return (folder / "tree").is_dir() and _sum(folder / "zip") == expected
    except (FileNotFoundError, UnicodeDecodeError):
        return False


def compile_tree(tree: Path, interpreter: Path) -> None:
    """Bytecode beside every source, found valid without a look at the source's time.

    Raises:
        NoInterpreter: the interpreter compiles nothing.
    """
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
    if any(tree.rglob("*.py")) and not any(tree.rglob("*.pyc")):
        raise NoInterpreter(f"{interpreter} compiled nothing")


def check_tops(trees: Iterable[Path]) -> None:
    """No part writes over another, nor hides it.

    Raises:
        BadPackage: one does.
    """
    seen: set[str] = set()
    for tree in trees:
        tops = _tops(tree)
        if both := sorted(tops & seen):
            raise BadPackage(
                f"two parts of the artifact hold {both[0]!r}: rename that of the stage's packages"
            )
        seen |= tops


def _check_distributions(tree: Path) -> None:
    """No distribution writes over a file of another, nor hides it by a module of that name."""
    seen: dict[str, tuple[str, str]] = {}
    for record in sorted(tree.glob("*.dist-info/RECORD")):
        owner = record.parent.name.partition("-")[0]
        for file, content in records.listed(record):
            module = _module(file)
            other, already = seen.setdefault(module, (owner, content))
            if other != owner and (not content or content != already):
                raise BadPackage(
                    f"{other} and {owner} both hold {file!r}: leave one of them out, "
                    "or rename that of the stage's packages"
                )


def _check_standard(tree: Path) -> None:
    """Nothing stands before a module of Python's own, which Lambda would find second."""
    if hidden := sorted(_tops(tree) & (sys.stdlib_module_names - REMOVED)):
        raise BadPackage(
            f"the stage's packages hold {hidden[0]!r}, which is a module of Python's own: rename it"
        )


def _tops(tree: Path) -> set[str]:
    """The names of a folder's modules and packages, and of its other files."""
    names = {path.name for path in tree.iterdir()} - {"__pycache__"}
    return {_module(name) for name in names}


def _module(file: str) -> str:
    """The path of a module without what makes it one; any other path as it is."""
    folder, slash, name = file.rpartition("/")
    if not name.endswith(MODULES):
        return file
    stem = name.partition(".")[0]
    return folder if slash and stem == "__init__" else f"{folder}{slash}{stem}"


def append(path: Path, tree: Path) -> None:
    """Add a folder to a zip: in order, without times, owners or other permissions."""
    with ZipFile(path, "a", ZIP_DEFLATED) as archive:
        for file in sorted(file for file in tree.rglob("*") if file.is_file()):
            entry = ZipInfo(file.relative_to(tree).as_posix(), EPOCH)
            entry.compress_type = ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, file.read_bytes())


def _digest(contents: Iterable[tuple[str, bytes]]) -> str:
    digest = sha256()
    for name, content in contents:
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _builders(target: Target) -> str:
    """Who lays out and compiles: another source, uv's wheels or this environment's copies."""
    about = [target.installed, sys.platform, str(target.interpreter)]
    sources = [Path(__file__), *BUILDERS]
    contents = ((path.name, path.read_bytes()) for path in sources)
    return sha256(f"{about} {_digest(contents)}".encode()).hexdigest()[:16]


def _installed(wanted: Iterable[Pin]) -> Iterator[Distribution]:
    """Those of the distributions that are here, in these versions."""
    for pin in wanted:
        try:
            found = distribution(pin.name)
        except PackageNotFoundError:
            continue
        if found.version == pin.version and found.files:
            yield found
