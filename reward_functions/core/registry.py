"""The registry: every reward function in our folders and in other packages' entry points.

A file `verifiers/NAME.py` or `judges/NAME.py` that defines a `RewardSpec` called NAME is registered
by being there.
Another package registers through the entry-point group `reward_functions`, under a name qualified
by its own: `acme.length`. `get` imports the one module a name points to, so that a Lambda pays for
the reward it serves and for nothing else; only `installed` walks.

A plug-in is another package's code, and may raise, exit or print while it is imported. It is then
broken, alone, and every other reward is there; what it prints goes to standard error, because
standard output holds results.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.declaring import NAME
from reward_functions.core.errors import BrokenPlugin, UnknownReward
from reward_functions.core.spec import RewardSpec
from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.metadata import EntryPoint

FOLDERS: Final = (
    "reward_functions.verifiers",
    "reward_functions.judges",
    "reward_functions.shapers",
)
ENTRY_POINT_GROUP: Final = "reward_functions"


def get(name: str) -> RewardSpec:
    """The reward function of this name.

    Raises:
        UnknownReward: no reward has this name; the message suggests the nearest.
        BrokenPlugin: the package that registered it cannot be imported, or registered no reward.
    """
    found = _builtin(name) or _plugin(name)
    if found is None:
        near = did_you_mean(name, _names())
        if ".py:" in name:
            near = f": give its file alone, {name.partition(':')[0]}, and decorate the function "
            near += "with @reward_function"
        elif name.endswith(".py"):  # a command or an adapter takes a path, this function a name
            near = ": import the reward from this file"
        elif "." in name and "Did you mean" not in near:  # of a package that is not installed here
            near = ": install its package, such as by `pip install --editable .` in its folder"
        raise UnknownReward(f"no reward function is called {name!r}{near}")
    return found


class Installed(NamedTuple):
    """The rewards that can be used, by name, and why other packages' others cannot."""

    specs: dict[str, RewardSpec]
    broken: tuple[BrokenPlugin, ...]


def specs() -> dict[str, RewardSpec]:
    """Every reward function by name: ours in alphabetical order, then other packages'.

    A package's entry point that cannot be used is left out; `installed` says why.
    """
    return installed().specs


def installed() -> Installed:
    """Every reward function by name, and every entry point that cannot be used."""
    found = {spec.name: spec for stem in sorted(_stems()) if (spec := _builtin(stem))}
    broken: list[BrokenPlugin] = []
    for point in sorted(_entry_points(), key=lambda point: point.name):
        try:
            if point.name in found:
                raise _broken(point, "another package registers a reward of this name")
            found[point.name] = _loaded(point)
        except BrokenPlugin as error:
            broken.append(error)
    return Installed(found, tuple(broken))


def distribution(name: str) -> str | None:
    """The installed distribution that registers a reward; None for ours, and for unknown ones."""
    found = (point.dist for point in _entry_points() if point.name == name)
    return next((dist.name for dist in found if dist is not None), None)


def _names() -> Iterator[str]:
    """The names for a suggestion. No other package is loaded: a broken one must not fail here."""
    yield from (stem for stem in _stems() if _builtin(stem))
    yield from (point.name for point in _entry_points())


def _stems() -> Iterator[str]:
    for folder in FOLDERS:
        yield from (found.name for found in iter_modules(import_module(folder).__path__))


def _builtin(name: str) -> RewardSpec | None:
    """The spec in the file of that stem; None where there is no such file, or it holds none."""
    if not NAME.fullmatch(name) or "." in name:
        return None
    for folder in FOLDERS:
        try:
            module = import_module(f"{folder}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{folder}.{name}":
                raise
            continue
        spec = getattr(module, name, None)
        if isinstance(spec, RewardSpec):
            return spec
    return None


def _plugin(name: str) -> RewardSpec | None:
    if "." not in name:
        return None
    return next((_loaded(point) for point in _entry_points() if point.name == name), None)


def _entry_points() -> list[EntryPoint]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - 15 ms a Lambda does not need

    return list(entry_points(group=ENTRY_POINT_GROUP))


def _loaded(point: EntryPoint) -> RewardSpec:
    if "." not in point.name:
        raise _broken(
            point, f"it must be qualified by its package's name, such as 'acme.{point.name}'"
        )
    spec = _imported(point)
    if spec is None:
        raise _broken(point, "it is not a reward function")
    if spec.name != point.name:
        raise _broken(
            point,
            f"it declares the name {spec.name!r}; write @reward_function(name={point.name!r}, …)",
        )
    return spec


def _imported(point: EntryPoint) -> RewardSpec | None:
    """What an entry point names; None where that is no reward. Its signature is read here too."""
    try:
        with redirect_stdout(sys.stderr):
            found = point.load()
            return found if isinstance(found, RewardSpec) and found.parameters is not None else None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # another package may call exit() where it is imported
        raise _broken(point, _cause(error)) from error


def _broken(point: EntryPoint, why: str) -> BrokenPlugin:
    package = point.dist.name if point.dist is not None else ""
    of = f" of {package}" if package else ""
    message = f"entry point {point.name!r}{of} ({point.value}): {why}"
    return BrokenPlugin(message, point.name, package)


def _cause(error: BaseException) -> str:
    """What an import raised, on one line, be it an exception that cannot say what it is."""
    from traceback import format_exception_only  # noqa: PLC0415 - nothing has gone wrong until now

    return " ".join(format_exception_only(error)[-1].split())
