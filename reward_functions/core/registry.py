"""The registry: every reward function in our folders and in other packages' entry points.

A file `verifiers/NAME.py` or `judges/NAME.py` that defines a `RewardSpec` called NAME is registered
by being there.
Another package registers through the entry-point group `reward_functions`, under a name qualified
by its own: `acme.length`. `get` imports the one module a name points to, so that a Lambda pays for
the reward it serves and for nothing else; only `specs` walks.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import BrokenPlugin, UnknownReward
from reward_functions.core.spec import NAME, RewardSpec
from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.metadata import EntryPoint

FOLDERS: Final = ("reward_functions.verifiers", "reward_functions.judges")
ENTRY_POINT_GROUP: Final = "reward_functions"


def get(name: str) -> RewardSpec:
    """The reward function of this name.

    Raises:
        UnknownReward: there is none; the message suggests the nearest.
        BrokenPlugin: the package that registered it cannot be imported.
    """
    found = _builtin(name) or _plugin(name)
    if found is None:
        raise UnknownReward(f"no reward function is called {name!r}{did_you_mean(name, _names())}")
    return found


def specs() -> dict[str, RewardSpec]:
    """Every reward function by name: ours in alphabetical order, then other packages'.

    Raises:
        BrokenPlugin: an installed package's entry point cannot be used.
    """
    ours = {spec.name: spec for stem in sorted(_stems()) if (spec := _builtin(stem))}
    theirs = sorted(_entry_points(), key=lambda point: point.name)
    return ours | {point.name: _loaded(point) for point in theirs}


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
        raise BrokenPlugin(
            f"entry point {point.name!r} ({point.value}) must be qualified by its package's name, "
            f"such as 'acme.{point.name}'"
        )
    try:
        spec = point.load()
    except (ImportError, AttributeError) as error:
        raise BrokenPlugin(f"entry point {point.name!r} ({point.value}): {error}") from error
    if not isinstance(spec, RewardSpec):
        raise BrokenPlugin(f"entry point {point.name!r} ({point.value}) is not a reward function")
    if spec.name != point.name:
        raise BrokenPlugin(
            f"entry point {point.name!r} ({point.value}) declares the name {spec.name!r}; "
            f"write @reward_function(name={point.name!r}, …)"
        )
    return spec
