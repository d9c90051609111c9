"""Import an object that a user named by `module:attribute` or `file.py:attribute`.

A file is imported as a script is run: from where it is, with its neighbours importable. A module is
found as `python -m` finds it, from the current folder too. A mistake in the user's code is one
sentence that names its line.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError, RewardError
from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from types import CodeType, ModuleType

IMPORT_ERRORS: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    RuntimeError,
    SyntaxError,
    SystemExit,
    TypeError,
    ValueError,
)
"""What a mistake in a user's file raises while it is imported."""


def named(place: str) -> Any:
    """Import the object of a name such as `my_agent:agent` or `agents/mine.py:agent`.

    Raises:
        ConfigurationError: it leads nowhere, or what it leads through cannot be imported.
        OSError: the file cannot be read.
    """
    where, _, attribute = place.rpartition(":")
    if not where or not attribute:
        raise ConfigurationError(f"{place!r} is not MODULE:NAME, such as my_agent:agent")
    module = imported(Path(where)) if where.endswith(".py") else _module(where)
    if not hasattr(module, attribute):
        public = [name for name in vars(module) if not name.startswith("_")]
        raise ConfigurationError(f"{where} has no {attribute!r}{did_you_mean(attribute, public)}")
    return getattr(module, attribute)


def _module(name: str) -> ModuleType:
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return import_module(name)
    except RewardError:
        raise
    except IMPORT_ERRORS as error:
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            raise ConfigurationError(f"there is no module {name!r} here") from None
        raise ConfigurationError(f"{name}: {_words(error)}") from error


def imported(path: Path) -> ModuleType:
    """The module of a user's file.

    Raises:
        ConfigurationError: it cannot be imported; the message names the line.
        OSError: it cannot be read.
    """
    path.open("rb").close()  # a file that cannot be read says so before anything else does
    loader = _Script(path.stem, str(path.absolute()))
    location = spec_from_file_location(path.stem, path, loader=loader)
    if location is None or path.suffix != ".py":
        raise ConfigurationError(f"{path}: what is imported is a .py file")
    module = module_from_spec(location)
    if str(path.parent.resolve()) not in sys.path:
        sys.path.append(str(path.parent.resolve()))
    # Dataclasses and pickles look their module up by name; one that is taken stays as it is.
    sys.modules.setdefault(path.stem, module)
    try:
        loader.exec_module(module)
    except RewardError:
        raise
    except IMPORT_ERRORS as error:
        raise ConfigurationError(f"{_place(error, path)}: {_words(error)}") from error
    return module


class _Script(SourceFileLoader):
    """Compiles its file every time, as a script is compiled.

    Bytecode is keyed by seconds and size: that of a file changed within a second is stale.
    """

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def last_line(error: BaseException, path: Path) -> int | None:
    """The last line of a file that ran before an error; None where none did."""
    lines, origin = [], str(path.absolute())
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == origin:
            lines.append(step.tb_lineno)
        step = step.tb_next
    return lines[-1] if lines else None


def _place(error: BaseException, path: Path) -> str:
    line = error.lineno if isinstance(error, SyntaxError) else last_line(error, path)
    return f"{path}, line {line}" if line else str(path)


def _words(error: BaseException) -> str:
    """What a user's file raised while it was imported."""
    if isinstance(error, SystemExit):
        return f"called sys.exit({error.code!r})"
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
