"""The reward a NAME on the command line means: a registered name, or the path of a Python file.

A file is imported as a script is run: from where it is, with its neighbours importable. That makes
a reward usable between `reward new` and the package it may end up in.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reward_functions import RewardError, RewardSpec, get
from reward_functions.core.errors import ConfigurationError, NoJudge

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType

    from reward_functions.core.asking import Ask, Question, Verdict
    from reward_functions.core.spec import RewardFunction

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


def is_path(name: str) -> bool:
    """Whether a NAME is meant as the path of a file."""
    return name.endswith(".py") or "/" in name or "\\" in name


def reward_named(name: str) -> RewardSpec:
    """The reward of a registered name, or in the file of a path.

    Raises:
        UnknownReward: no reward has this name.
        ConfigurationError: the file cannot be imported, or it is not clear which reward is meant.
        OSError: the file cannot be read.
    """
    return _in_file(Path(name)) if is_path(name) else get(name)


def ready(
    spec: RewardSpec,
    settings: Sequence[str],
    judge: str | None = None,
    *,
    answers: Ask | None = None,
) -> RewardFunction:
    """The reward with parameters as typed, `k=v` each, and with somebody to ask if it is a judge.

    Args:
        spec: the reward.
        settings: of its parameters.
        judge: its settings, as `--judge` takes them. Without them a judge scores the samples that
            need no model; the rest is unscored.
        answers: recorded ones, in place of any judge.

    Raises:
        BadParameter: an unknown parameter, or a value of the wrong type.
        BadJudge: the judge's settings cannot be used.
    """
    parameters = parameter_values(spec, settings)
    if not spec.needs.judge or answers is not None:
        return spec.bind(parameters, ask=answers)
    if judge is None:
        return spec.bind(parameters, ask=partial(_nobody, spec.name))
    from reward_functions.judge_runtime.panel import JudgePool
    from reward_functions.tools.judging.settings import load_judge_config

    return JudgePool(load_judge_config(judge)).batch(spec, parameters)


def _nobody(name: str, question: Question, /, *, deadline: float = inf) -> Verdict:  # noqa: ARG001
    raise NoJudge(
        f"{name} asks a judge model, and none is the default: give --judge FILE, or set "
        "REWARD_JUDGE"
    )


def parameter_values(spec: RewardSpec, settings: Sequence[str]) -> dict[str, object]:
    """The values of parameters as typed, `k=v` each.

    Raises:
        BadParameter: an unknown parameter, or a value of the wrong type.
        ConfigurationError: a setting without "=", or a parameter set twice.
    """
    values: dict[str, object] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ConfigurationError(f"a parameter is written name=value, not {setting!r}")
        if name in values:
            raise ConfigurationError(f"parameter {name!r} is set twice")
        values[name] = spec.parameter(name).parse(value)
    return values


def _in_file(path: Path) -> RewardSpec:
    module = _imported(path)
    found = {id(spec): spec for spec in vars(module).values() if isinstance(spec, RewardSpec)}
    namesakes = [spec for spec in found.values() if spec.name.rpartition(".")[2] == path.stem]
    candidates = namesakes or list(found.values())
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise ConfigurationError(f"{path}: no function in it is decorated with @reward_function")
    names = ", ".join(sorted(spec.name for spec in candidates))
    raise ConfigurationError(f"{path}: none of {names} is named like the file")


class _Script(SourceFileLoader):
    """Compiles its file every time, as a script is compiled.

    Bytecode is keyed by seconds and size: that of a file changed within a second is stale.
    """

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _imported(path: Path) -> ModuleType:
    path.open("rb").close()  # a file that cannot be read says so before anything else does
    loader = _Script(path.stem, str(path.absolute()))
    location = spec_from_file_location(path.stem, path, loader=loader)
    if location is None or path.suffix != ".py":
        raise ConfigurationError(f"{path}: a reward is a .py file")
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
        raise ConfigurationError(f"{_place(error, path)}: {_message(error)}") from error
    return module


def _place(error: BaseException, path: Path) -> str:
    """The file, and the last of its lines that ran."""
    if isinstance(error, SyntaxError):
        return f"{path}, line {error.lineno}"
    lines, origin = [], str(path.absolute())
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == origin:
            lines.append(step.tb_lineno)
        step = step.tb_next
    return f"{path}, line {lines[-1]}" if lines else str(path)


def _message(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"called sys.exit({error.code!r})"
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
