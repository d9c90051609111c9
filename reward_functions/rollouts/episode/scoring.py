r"""A pinned reward for episodes: what scores a record says so, and another reward is refused.

    scorer = Scorer.of("math", parameters={"tolerance": 0.01})
    score = scorer.score(request, "… \boxed{18}")
    record = {"reward": score.value, "scorer": scorer.pin.json()}
    scorer.require(Pin.read(record["scorer"]))      # ScorerMismatch, where it is another

`samples` says where it finds the ground truth.

**A digest of the sources** a reward consists of: change one byte of them, and it is another.

Covered, by path and content:

| what | how it is found |
| --- | --- |
| the module that defines the reward | by its name |
| modules of `reward_functions`, and of its own package or beside its file | by their imports |
| the prompt of a judge | by the name of its module |
| data beside a module | by a string that names it |
| the shipped rubrics | with the module that reads them |
| a rubric of one's own | by the parameter that names the file |

and, of a combination of rewards, its parts, their names, and its weights and thresholds; of a
function, its defaults and what it has closed over; of an object, its fields: see below.

Not covered: installed packages such as sympy, Python itself, and the model that a judge asks. Rooms
of `reward_functions` that score nothing are passed over: a change of the command line makes no
reward another.

**The parameters of a reward beside its source**, as text that is the same in every process:

| value | written as |
| --- | --- |
| plain data, and lists, mappings and sets of it | its value |
| a function, a `functools.partial` | its name, and what it holds, likewise |
| a declared reward | its name and version |
| anything else: a client, a tokenizer | its type |

A function holds its defaults, what it has closed over and, if it is a method, its object; an object
holds its fields, but those that begin with an underscore.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cached_property, partial
from hashlib import sha256
from os.path import isfile
from pathlib import Path, PurePath
from re import Pattern
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import reward_functions
from reward_functions.core import registry
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import (
    BadParameter,
    BadReference,
    ConfigurationError,
    DatasetError,
    NoJudge,
    RewardError,
)
from reward_functions.core.jsons import json_kind
from reward_functions.core.mentions import mentions
from reward_functions.core.spec import UNIT_SCALE, RewardSpec, Scale, spec_of
from reward_functions.core.types import Sample, Score, Unscored
from reward_functions.rollouts.episode.samples import REFERENCE, Given, sample_of
from reward_functions.rollouts.request.errors import EnvironmentFailure, ScorerMismatch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reward_functions.core.asking import Ask
    from reward_functions.core.spec import RewardFunction

NAME: Final = re.compile(r"[!-~]{1,200}")
DIGEST: Final = re.compile(r"[0-9a-f]{64}")

SHOWN: Final = 12
"""Digits of a digest in a sentence."""

LONGEST: Final = 300
"""Characters of the parameters in a sentence."""

OURS: Final = "reward_functions"

PACKAGE: Final = Path(reward_functions.__file__).parent

SCORE_NOTHING: Final = frozenset({"cdk", "cli", "rollouts", "serving", "testing", "tools"})

FOLDERS: Final = {"reward_functions.judge_runtime.rubric_file": "judges/rubrics"}
"""A module, and the folder whose files it finds by name."""

PROMPT: Final = ".md"
"""A judge's prompt has the name of its module."""

INSTALLED: Final = frozenset({"site-packages", "dist-packages"})
"""What lies beside a module there is not its author's."""

PLAIN: Final = (type(None), str, bytes, int, float, complex, Enum, PurePath, Pattern)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """The reward that scored a record.

    Args:
        name: of the reward; `module.function` of a plain function.
        version: that it declares; 0 of a plain function.
        digest: of its sources: see `sources_of`.
        parameters: all that have a value, defaults among them; JSON data.
    """

    name: str
    version: int
    digest: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in sorted(self.parameters.items()))
        shown = given if len(given) <= LONGEST else f"{given[:LONGEST]}…"
        return f"{self.name} version {self.version} (sources {self.digest[:SHOWN]}{shown})"

    def json(self) -> dict[str, Any]:
        """It as JSON data."""
        return asdict(self)

    @classmethod
    def read(cls, given: Any) -> Pin:
        """A pin from JSON data, which has its four fields and no others.

        Raises:
            ScorerMismatch: it is no pin. The message names the field.
        """
        if not isinstance(given, dict):
            raise ScorerMismatch(f"the record's scorer is {json_kind(given)}, not a pin")
        for name, valid in _FIELDS.items():
            if name not in given:
                raise ScorerMismatch(f"the record's scorer has no {name}: it is not a pin")
            if not valid(given[name]):
                raise ScorerMismatch(f"the {name} of the record's scorer is not that of a pin")
        if given.keys() != _FIELDS.keys():
            raise ScorerMismatch("the record's scorer has other fields than a pin")
        return cls(**given)


_FIELDS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "name": lambda value: isinstance(value, str) and bool(NAME.fullmatch(value)),
    "version": lambda value: type(value) is int and value >= 0,
    "digest": lambda value: isinstance(value, str) and bool(DIGEST.fullmatch(value)),
    "parameters": lambda value: isinstance(value, dict),
}


class Scorer:
    """A reward that scores episodes, and its pin. Made by `of`; safe to use from many threads."""

    def __init__(
        self,
        reward: RewardFunction,
        *,
        source: object,
        name: str,
        version: int,
        parameters: Mapping[str, Any],
        scale: Scale = UNIT_SCALE,
    ) -> None:
        self._reward = reward
        self._source = source
        self._parameters = dict(parameters)
        self.name = name
        self.version = version
        self.scale = scale

    def __repr__(self) -> str:
        return f"Scorer({self.name!r}, version={self.version})"

    @classmethod
    def of(
        cls,
        reward: str | RewardSpec | RewardFunction | Callable[[Sample], Score | float] | Scorer,
        *,
        version: int | None = None,
        parameters: Mapping[str, Any] | None = None,
        ask: Ask | None = None,
    ) -> Scorer:
        """A scorer of a reward.

        Args:
            reward: the name of one, a declaration, one with parameters bound, or a plain function
                of a `Sample` that returns a `Score` or a number.
            version: that it has to have; any where None.
            parameters: beside those that are bound.
            ask: answers the questions of a judge.

        Raises:
            UnknownReward: there is none of that name.
            BadParameter: a parameter it does not have, a wrong value, or one that is not JSON.
            ScorerMismatch: it has another version.
            NoJudge: it is a judge, and nobody answers its questions.
            ConfigurationError: it compares the responses of a group, or is no reward.
        """
        if isinstance(reward, Scorer):
            return reward
        given: Any = registry.get(reward) if isinstance(reward, str) else reward
        bound: dict[str, Any] = {}
        while isinstance(given, partial):
            if given.args:
                raise BadParameter("a parameter of a pinned reward has a name")
            given, bound = given.func, given.keywords | bound
        answering = bound.pop("ask", None)
        chosen = bound | dict(parameters or {})
        _require_json(chosen)
        spec = spec_of(given)
        made = cls._declared(spec, chosen, ask or answering) if spec else cls._plain(given, chosen)
        if version is not None and version != made.version:
            raise ScorerMismatch(f"{made.name} has version {made.version} here, not {version}")
        return made

    @classmethod
    def _declared(cls, spec: RewardSpec, chosen: Mapping[str, Any], ask: Ask | None) -> Scorer:
        if spec.needs.judge and ask is None:
            raise NoJudge(f"{spec.name} asks a judge model, and none is named")
        if spec.needs.group:
            raise ConfigurationError(f"{spec.name} compares responses: it scores no single episode")
        defaults = {
            name: parameter.default
            for name, parameter in spec.parameters.items()
            if parameter.has_default
        }
        accepted = {name: spec.parameter(name).accept(value) for name, value in chosen.items()}
        return cls(
            spec.bind(chosen, ask=ask),
            source=spec,
            name=spec.name,
            version=spec.version,
            parameters=defaults | accepted,
            scale=spec.scale,
        )

    @classmethod
    def _plain(cls, function: Any, chosen: Mapping[str, Any]) -> Scorer:
        if not callable(function):
            raise ConfigurationError(f"a reward is a name or a function, not {json_kind(function)}")
        named = function if hasattr(function, "__qualname__") else type(function)

        def reward(sample: Sample, /) -> Score:
            result = function(sample, **chosen)
            return result if isinstance(result, Score) else Score(float(result))

        return cls(
            reward,
            source=function,
            name=f"{named.__module__}.{named.__qualname__}",
            version=0,
            parameters=chosen,
        )

    @cached_property
    def pin(self) -> Pin:
        """Pin a reward; its sources are read once.

        Raises:
            ConfigurationError: its source is not in a file.
        """
        return Pin(
            name=self.name,
            version=self.version,
            digest=digest_of(self._source, self._parameters),
            parameters=self._parameters,
        )

    def require(self, pin: Pin) -> None:
        """Refuse a reward that is not the one of a pin.

        Raises:
            ScorerMismatch: it is another, of another version, other sources or parameters.
        """
        if pin != self.pin:
            raise ScorerMismatch(f"the record was scored by {pin}, and this is {self.pin}")

    sample_of = staticmethod(sample_of)

    def score(self, request: Given, response: str) -> Score:
        """Score a response to a request.

        Args:
            request: a trainer's request, a row of a data set, or a sample.
            response: what the policy wrote at last.

        Raises:
            DatasetError: the row is the cause; BadReference where it has no reference that is read.
            ConfigurationError: the caller is, such as NoJudge.
            EnvironmentFailure: we are; the cause is chained. Its text holds no prompt.
        """
        sample = sample_of(request, response)
        result = score_batch(self._reward, [sample], workers=1)[0]
        if not isinstance(result, Unscored):
            return result.score
        error = result.error
        if isinstance(error, BadReference) and sample.reference is None:
            raise BadReference(f"the request has no reference: none of {', '.join(REFERENCE)}")
        if isinstance(error, DatasetError | ConfigurationError):
            raise error
        why = str(error) if isinstance(error, RewardError) else type(error).__name__
        raise EnvironmentFailure(f"{self.name} could not score the episode: {why}") from error


def _require_json(parameters: Mapping[str, Any]) -> None:
    try:
        same = json.loads(json.dumps(dict(parameters), allow_nan=False)) == dict(parameters)
    except (TypeError, ValueError):
        same = False
    if not same:
        raise BadParameter(
            "a parameter of a pinned reward is JSON data: another cannot be recorded"
        )


# The digest of its sources.


def digest_of(reward: object, parameters: Mapping[str, Any]) -> str:
    """The SHA-256 of the sources of a reward, in hexadecimal digits.

    Args:
        reward: a declaration, a function, or a combination of several.
        parameters: that are bound; the files that they name are read.

    Raises:
        ConfigurationError: its source is not in a file, as in a notebook.
    """
    parts = tuple(_parts(reward))
    files = {
        name: path
        for part in parts
        if part.module
        for name, path in sources_of(part.module).items()
    }
    found = sorted([*files.items(), *_named(parameters.values())])
    contents = [(name, sha256(path.read_bytes()).hexdigest()) for name, path in found]
    whole = json.dumps([contents, [part.label for part in parts]])
    return sha256(whole.encode()).hexdigest()


class _Part(NamedTuple):
    """A piece of a reward: code of a module, or a value that the code is given."""

    label: str
    module: str = ""


def _parts(reward: object) -> Iterator[_Part]:
    """What a reward is made of, in its order."""
    if isinstance(reward, RewardSpec):
        yield _Part(f"{reward.name} {reward.version}")
        yield from _parts(reward.function)
    elif isinstance(reward, partial):
        yield from _parts(reward.func)
        given = reward.keywords.items()
        yield from (_Part(f"{name}={value_text(value)}") for name, value in sorted(given))
    elif isinstance(reward, tuple):
        for each in reward:
            yield from _parts(each)
    elif callable(reward):
        named = reward if hasattr(reward, "__qualname__") else type(reward)
        yield _Part(named.__qualname__, named.__module__)
        if is_dataclass(reward):
            for each in fields(reward):
                yield from _parts(getattr(reward, each.name))
        else:
            yield _Part(value_text(held(reward)))
    else:
        yield _Part(value_text(reward))


def sources_of(module: str) -> dict[str, Path]:
    """The files of a reward, by what they are called wherever they are installed.

    Raises:
        ConfigurationError: the module has no file.
    """
    root = _path(module, beside=None)
    if root is None:
        raise ConfigurationError(
            f"the source of {module} is not in a file, so that nobody can pin it: "
            "put the reward into a module"
        )
    alone = "." not in module and root.parent.name not in INSTALLED
    beside = root.parent if alone else None
    found: dict[str, Path] = {}
    waiting, seen = [module], {""}
    while waiting:
        asked = waiting.pop()
        if asked in seen:
            continue
        seen.add(asked)
        name, path = _resolved(asked, module, beside)
        if path is None or name in found:
            continue
        found[name] = path
        waiting.append(name.rpartition(".")[0])
        waiting += mentions(path.read_bytes()).modules
    data = {
        f"{name}:{each.name}": each for name, path in found.items() for each in _data(name, path)
    }
    return found | data


def _resolved(name: str, root: str, beside: Path | None) -> tuple[str, Path | None]:
    """The module of a dotted name, which may go on into it; no path where it is not followed."""
    top = root.partition(".")[0]
    while name:
        first, _, rest = name.partition(".")
        if first == OURS and rest.partition(".")[0] in SCORE_NOTHING:
            return name, None
        if first in {OURS, top}:
            path = _path(name, beside=None)
        else:
            path = None if beside is None else _path(name, beside=beside)
        if path is not None:
            return name, path
        name = name.rpartition(".")[0]
    return name, None


def _path(name: str, *, beside: Path | None) -> Path | None:
    """The file of a module, in its package or beside another; None where there is none."""
    first, *rest = name.split(".")
    if beside is None:
        file = getattr(sys.modules.get(name), "__file__", None) or ""
        if file.endswith(".py"):
            return Path(file)
        folders, parts = _folders(first), rest
    else:
        folders, parts = [beside], [first, *rest]
    places = ("/".join([str(folder), *parts]) for folder in folders)
    files = (file for at in places for file in (f"{at}.py", f"{at}/__init__.py"))
    # Thousands of names are no module: a Path of each would take most of the time.
    return next((Path(file) for file in files if isfile(file)), None)  # noqa: PTH113


def _folders(package: str) -> list[Path]:
    return [Path(each) for each in getattr(sys.modules.get(package), "__path__", ())]


def _data(name: str, path: Path) -> Iterator[Path]:
    """The files that are no modules and that a module reads."""
    strings = mentions(path.read_bytes()).strings
    beside = (path.parent / each for each in sorted(strings) if re.fullmatch(r"\w+\.\w+", each))
    yield from (each for each in beside if each.suffix != ".py" and each.is_file())
    if (prompt := path.with_suffix(PROMPT)).is_file():
        yield prompt
    if name in FOLDERS:
        yield from (each for each in sorted((PACKAGE / FOLDERS[name]).iterdir()) if each.is_file())


def _named(given: Iterable[Any]) -> Iterator[tuple[str, Path]]:
    """The files that parameters name, each by its content and not by its place."""
    for value in given:
        if isinstance(value, str) and re.fullmatch(r"[^\0\n]{1,1000}\.(?:toml|json|md|txt)", value):
            path = Path(value)
            if path.is_file():
                yield f":{path.name}", path


# What it was given beside them.


def held(given: object) -> dict[str, Any]:
    """The values that code was given beside its source, by name."""
    if isinstance(given, MethodType):
        return {"self": held(given.__self__), **held(given.__func__)}
    if isinstance(given, partial):
        return {"function": given.func, "arguments": given.args, **given.keywords}
    if isinstance(given, FunctionType):
        code = given.__code__
        closed = zip(code.co_freevars, given.__closure__ or (), strict=True)
        return {
            "line": code.co_firstlineno,  # all lambdas of a module have one name
            "defaults": given.__defaults__,
            "named defaults": given.__kwdefaults__,
            **{name: _content(cell) for name, cell in closed},
        }
    if is_dataclass(given) and not isinstance(given, type):
        return {each.name: getattr(given, each.name) for each in fields(given)}
    own = {} if isinstance(given, type) else getattr(given, "__dict__", {})
    return {name: value for name, value in own.items() if not name.startswith("_")}


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # of a name that has no value yet
        return None


def value_text(value: object, inside: tuple[int, ...] = ()) -> str:
    """A value by the table above.

    Args:
        value: any object; it may hold itself.
        inside: the ids of the values that it is part of.
    """
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, RewardSpec):
        return f"{value.name} {value.version}"
    if id(value) in inside:
        return "itself"
    within = (*inside, id(value))
    if isinstance(value, Mapping):
        pairs = (
            (value_text(name, within), value_text(each, within)) for name, each in value.items()
        )
        return f"{{{', '.join(sorted(': '.join(pair) for pair in pairs))}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(value_text(each, within) for each in value)}]"
    if isinstance(value, AbstractSet):
        return f"{{{', '.join(sorted(value_text(each, within) for each in value))}}}"
    named: Any = value if hasattr(value, "__qualname__") else type(value)
    name = f"{named.__module__}.{named.__qualname__}"
    if isinstance(value, FunctionType | MethodType | partial) or is_dataclass(value):
        return name + value_text(held(value), within)
    return name
