"""The Lambda artifact of one reward: a zip, built without Docker, and its digest before that.

    artifacts = Artifacts(stage, folder, interpreter(stage.python))
    artifact = artifacts.artifact("gsm8k")
    artifact.build(out / f"{artifact.digest}.zip")

It holds what this reward, or the handler of another function, can reach and nothing else. That is
our own files (see `closure`), our pinned requirements as wheels of the target's own platform, and
the algebra (sympy) where it is reached. The packages of the stage follow where the reward comes
from one of them, and bytecode of the target's version. The digest covers everything that goes in,
so that equal inputs are one asset wherever they are built, and rewards with equal digests share one
zip.

The parts are kept between runs; see `parts`. A bundle for this machine, which the local AWS
emulator runs, is copied from the installed packages where their versions are the pinned ones. That
needs no network.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, NamedTuple
from zipfile import ZipFile

from reward_functions.cdk.artifact import closure
from reward_functions.cdk.artifact.cache import Cache
from reward_functions.cdk.artifact.packages import normalised
from reward_functions.cdk.artifact.parts import OurFiles, append, check_tops, digest_of, kept
from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reward_functions.cdk.artifact.parts import Kept, Part
    from reward_functions.cdk.artifact.target import Target

MAX_UNZIPPED: Final = 250 * 1024 * 1024
"""Lambda's limit, in bytes ("Lambda quotas"). A zip that comes from S3 has no other."""

LARGEST: Final = 3
"""How many of the largest parts a message names."""


class TooLarge(ConfigurationError):
    """The artifact is over the limit of what runs it. The message names the largest packages."""


class Budget(NamedTuple):
    """How large an artifact may be, in bytes.

    Args:
        whose: the service's name.
        unzipped: of all files.
        zipped: of the zip; None where there is no limit.
    """

    whose: str
    unzipped: int
    zipped: int | None = None


@dataclass(frozen=True)
class Contents:
    """The contents of a zip.

    Args:
        parts: what is kept between runs, in order.
        files: our own, by their place in the zip.
    """

    parts: tuple[Part, ...]
    files: Mapping[str, Path]

    @property
    def ours(self) -> OurFiles:
        """Our own files as a part."""
        return OurFiles(self.files)


@dataclass(frozen=True)
class Artifact:
    """The zip that a function runs from. Nothing is read before its digest is asked for.

    Args:
        reader: finds what goes in.
        target: for what.
        entry_points: finds the modules that must be importable from it, each with the words that
            name its deployment in a message.
        environment: what Lambda would set, for the import of these modules.
        budget: how large it may be; Lambda's where not given.
    """

    reader: Callable[[], Contents]
    target: Target
    entry_points: Callable[[], Mapping[str, str]] = dict
    environment: Mapping[str, str] = field(default_factory=dict)
    budget: Budget | None = None

    @cached_property
    def contents(self) -> Contents:
        """What goes in."""
        return self.reader()

    @cached_property
    def digest(self) -> str:
        """Of everything that goes in, and of how it is put together: 64 hexadecimal digits."""
        return digest_of((*self.contents.parts, self.contents.ours), self.target)

    def build(self, path: Path) -> None:
        """Write the zip; after any failure, the whole of it exists or nothing.

        Raises:
            BadPackage: a requirement or a package of the stage cannot be had.
            NotLoaded: an entry point cannot be imported from it.
            TooLarge: it is over Lambda's limit, or another service's.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=path.parent, prefix="artifact-") as scratch:
            zipped, ours = Path(scratch) / "zip", Path(scratch) / "tree"
            base = self._base(path.parent)
            if base.zip is not None:
                shutil.copyfile(base.zip, zipped)
            self._lay_out_ours(ours, path.parent)
            check_tops((*base.trees, ours))
            append(zipped, ours)
            _check_size(zipped, self.budget or Budget("Lambda", MAX_UNZIPPED))
            task = Path(scratch) / "task"
            _join(task, (*base.trees, ours))
            self._check_loading(task)
            zipped.replace(path)

    def lay_out(self, tree: Path) -> None:
        """The contents of the zip, as a folder.

        Raises:
            BadPackage: a requirement or a package of the stage cannot be had.
        """
        for part in self._base(tree.parent).trees:
            shutil.copytree(part, tree, dirs_exist_ok=True)
        self._lay_out_ours(tree, tree.parent)

    def _base(self, folder: Path) -> Kept:
        return kept(self.contents.parts, self.target, Cache.of_user(folder / ".parts"))

    def _lay_out_ours(self, tree: Path, folder: Path) -> None:
        """Our files with the bytecode of the whole rooms, which are compiled once for rewards."""
        everything = OurFiles({**closure.all_files(), **self.contents.files})
        zipped = kept([everything], self.target, Cache.of_user(folder / ".parts")).zip
        wanted = {name for name, _ in self.contents.ours.contents()}
        with ZipFile(str(zipped)) as archive:  # which was found whole
            for name in archive.namelist():
                if name in wanted or _source_of(name) in wanted:
                    archive.extract(name, tree)

    def _check_loading(self, task: Path) -> None:
        modules = self.entry_points()
        found = fault([*modules], [task], runner=self.target.runner, environment=self.environment)
        if found is not None:
            raise NotLoaded(
                f"{modules[found.module]}: {found.module} cannot be imported from its artifact: "
                f"{found.cause}"
            )


def build_all(artifacts: Mapping[Path, Artifact]) -> None:
    """Build several, each at its path, where nothing is there yet.

    The first is built alone: it makes the parts that the others share.

    Raises:
        ConfigurationError: one cannot be built; see `Artifact.build`.
    """
    missing = [(artifact, path) for path, artifact in artifacts.items() if not path.is_file()]
    for artifact, path in missing[:1]:
        artifact.build(path)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(lambda each: each[0].build(each[1]), missing[1:]):
            pass


def _source_of(bytecode: str) -> str:
    """The source that bytecode was compiled from."""
    folder, _, name = bytecode.partition("__pycache__/")
    return f"{folder}{name.partition('.')[0]}.py"


def _join(folder: Path, trees: Iterable[Path]) -> None:
    """One folder of links, as Lambda unpacks the zip: which file of two hides the other shows."""
    folder.mkdir()
    for tree in trees:
        for path in tree.iterdir():
            place = folder / path.name
            if path.name != "__pycache__":
                place.symlink_to(path.absolute())
                continue
            place.mkdir(exist_ok=True)
            for each in path.iterdir():
                (place / each.name).symlink_to(each.absolute())


def _check_size(zipped: Path, budget: Budget) -> None:
    sizes: dict[str, int] = {}
    with ZipFile(zipped) as archive:
        for entry in archive.infolist():
            top = entry.filename.partition("/")[0]
            sizes[top] = sizes.get(top, 0) + entry.file_size
    total = sum(sizes.values())
    size = zipped.stat().st_size
    if budget.zipped is not None and size > budget.zipped:
        raise TooLarge(
            f"the artifact is {size / 1e6:.0f} MB zipped, over {budget.whose}'s limit of "
            f"{budget.zipped / 1e6:.0f} MB"
        )
    if total > budget.unzipped:
        largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:LARGEST]
        shown = ", ".join(f"{normalised(each)} {sizes[each] / 1e6:.0f} MB" for each in largest)
        raise TooLarge(
            f"the artifact is {total / 1e6:.0f} MB unzipped, over {budget.whose}'s limit of "
            f"{budget.unzipped / 1e6:.0f} MB; the largest parts are {shown}"
        )


SECONDS: Final = 120
"""What importing may take, on a busy machine; Lambda allows 10."""

OURS: Final = "reward_functions"

IMPORTED: Final = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
from importlib import import_module
from traceback import walk_tb
wrong = None
for module in json.loads(sys.argv[2]):
    try:
        import_module(module)
    except BaseException as error:  # a module may call sys.exit() where it is imported
        *_, (frame, _) = walk_tb(error.__traceback__)
        wrong = [module, type(error).__name__, str(error), frame.f_globals.get("__name__")]
        break
sys.stdout.write("\\n" + json.dumps(wrong))
"""


class NotLoaded(ConfigurationError):
    """An entry point cannot be imported from its artifact. The message names module and cause."""


class Fault(NamedTuple):
    """Why a module cannot be imported."""

    module: str
    cause: str


def fault(
    modules: Sequence[str],
    trees: Sequence[Path],
    *,
    runner: Path | None,
    environment: Mapping[str, str],
) -> Fault | None:
    """The first of some modules that cannot be imported from some folders; None where all can.

    Args:
        modules: dotted names.
        trees: the folders, which together are the artifact.
        runner: the target's Python, where this machine has one that runs there.
        environment: of the function.
    """
    if runner is not None:
        return _import(modules, trees, runner, environment)
    return next(filter(None, (_look_for(module, trees) for module in modules)), None)


def _import(
    modules: Sequence[str], trees: Sequence[Path], runner: Path, environment: Mapping[str, str]
) -> Fault | None:
    # The command line names its output folder from where it stands.
    arguments = [json.dumps([str(tree.absolute()) for tree in trees]), json.dumps(modules)]
    try:
        done = subprocess.run(  # noqa: S603 - an interpreter that was asked who it is, no shell
            [str(runner), "-I", "-S", "-B", "-c", IMPORTED, *arguments],
            cwd=trees[-1],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return Fault(modules[-1], f"importing it took longer than {SECONDS} s")
    try:
        found = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        return Fault(modules[-1], f"the interpreter ended with status {done.returncode}")
    if found is None:
        return None
    module, kind, message, where = found
    return Fault(module, f"{kind} in {where}: {' '.join(message.split())}")


def _look_for(module: str, trees: Sequence[Path]) -> Fault | None:
    """The same by the files alone."""
    followed = {module.partition(".")[0], OURS}
    seen: set[str] = set()
    waiting = [(module, module)]
    while waiting:
        name, importing = waiting.pop()
        top = name.partition(".")[0]
        if name in seen or top in sys.stdlib_module_names:
            continue
        seen.add(name)
        wanted = name if top in followed else top
        path = _file(wanted, trees)
        if path is None:
            cause = f"{importing} imports {wanted}" if importing != wanted else "it"
            return Fault(module, f"{cause}, which is not in the artifact")
        if top in followed and path.suffix == ".py":
            waiting += [(each, name) for each in _imports_of(path, name, trees)]
    return None


def _file(module: str, trees: Sequence[Path]) -> Path | None:
    """The file of a module, or the folder of a package without one."""
    for tree in trees:
        path = tree.joinpath(*module.split("."))
        places = (path / "__init__.py", path.with_name(f"{path.name}.py"), path)
        native = path.parent.glob(f"{path.name}.*.so")
        if found := next((place for place in (*places, *native) if place.exists()), None):
            return found
    return None


def _imports_of(path: Path, name: str, trees: Sequence[Path]) -> Iterator[str]:
    """What a module imports whenever it is imported itself."""
    package = (name if path.name == "__init__.py" else name.rpartition(".")[0]).split(".")
    for node in _statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            stem = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join(filter(None, (*stem, node.module)))
            yield module
            members = (f"{module}.{alias.name}" for alias in node.names)
            yield from (member for member in members if _file(member, trees))


def _statements(path: Path) -> list[ast.stmt]:
    """Those of a module; none, where it is written in a newer Python than this one."""
    try:
        return ast.parse(path.read_bytes()).body
    except (SyntaxError, ValueError):
        return []
