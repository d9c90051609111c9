"""The systems that this runs on: Linux and macOS; Windows with WSL.

`require_posix` is the one place that decides. Scoring by most rewards needs nothing of it; a
command always needs it.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from reward_functions.core.errors import ConfigurationError

POSIX_MODULES: Final = ("fcntl", "resource")
"""Modules of the standard library that Windows has not."""


class NotThisSystem(ConfigurationError):
    """A feature needs Linux or macOS. The message names WSL.

    Args:
        what: needs it, such as a command.
    """

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} needs Linux or macOS: on Windows, install WSL with `wsl --install`, and "
            "reward-functions inside it"
        )


def require_posix(what: str) -> None:
    """Refuse at once what cannot work on this system. Nothing is imported.

    Raises:
        NotThisSystem: this is Windows, or a Python without its POSIX modules.
    """
    if not all(map(_is_there, POSIX_MODULES)):
        raise NotThisSystem(what)


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # it was put into sys.modules by hand, without a spec
        return True
