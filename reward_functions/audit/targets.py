"""What is audited: a reward here, anybody's function, a deployment. One row of a table is a kind.

    the text                                     what it is
    arn:aws:lambda:…, NAME@STAGE                 a deployment, invoked in batches
    NAME, mix.toml, my.py                        a reward, in this process
    my.py:FUNCTION, package.module:FUNCTION,     any function, in an interpreter of its own; one
    package.module.FUNCTION                      that is decorated is a reward, in this process

The first row that knows a text takes it. An object of Python is a reward, or is called where it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from reward_functions.audit.conventions import PROBED, Adapted, batches
from reward_functions.core.batch import score_batch
from reward_functions.core.combine import Composition
from reward_functions.core.errors import ConfigurationError, InvalidScore, UnknownReward
from reward_functions.core.registry import get, specs
from reward_functions.core.spec import RewardSpec, spec_of
from reward_functions.core.suggest import did_you_mean
from reward_functions.core.types import Unscored
from reward_functions.scoring.rewards import (
    SUFFIXES,
    is_path,
    parameter_values,
    ready,
    reward_named,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boto3.session import Session

    from reward_functions.core.spec import RewardFunction, Scale
    from reward_functions.core.types import RewardResult, Sample
    from reward_functions.scoring.rewards import Parameters

DIGITS: Final = 16
"""Of a digest."""

FORMS: Final = (
    "a target is a reward's name, a composite's file, FILE.py:FUNCTION, MODULE:FUNCTION, "
    "DEPLOYMENT@STAGE or the ARN of a function"
)


class Target(Protocol):
    """What an audit scores with."""

    kind: str
    """ "reward", "composite", "function" or "deployment"."""

    name: str
    version: str
    """ "" where it has none."""

    digest: str
    """Of the code that scores; "" where it is not known."""

    @property
    def convention(self) -> str:
        """How it is called; "" of a reward."""

    @property
    def spec(self) -> RewardSpec | None:
        """As it is installed here."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Those that were set."""

    @property
    def scale(self) -> Scale | None:
        """None where it is not known."""

    judges: bool
    """Whether each score is a call that costs."""

    calls: int
    """So far, of a function or a model elsewhere."""

    @property
    def described(self) -> str:
        """What was chosen, in one line; it may say more once it has scored."""

    def score(self, samples: Sequence[Sample], *, group: bool = False) -> list[RewardResult]:
        """One result a sample, in order; never raises for a sample.

        Args:
            samples: in this order.
            group: send them at once, because those of one prompt are compared.
        """

    def probe(self, samples: Sequence[Sample]) -> list[str]:
        """What breaks the contract when a batch is sent as a trainer sends it, in sentences."""

    def close(self) -> None:
        """End what was begun for it."""


class InProcess:
    """A reward of this process.

    Args:
        spec: its declaration.
        settings: its parameters, by name or `name=value` each.
        judge: the settings of its judge.
        bound: the reward with its parameters, where it is bound already.
        digest: of its file.
    """

    convention = ""

    def __init__(
        self,
        spec: RewardSpec,
        settings: Parameters = (),
        judge: str | None = None,
        *,
        bound: RewardFunction | None = None,
        digest: str = "",
    ) -> None:
        given = settings if isinstance(settings, Mapping) else parameter_values(spec, settings)
        self.spec = spec
        self.name = spec.name
        self.version = str(spec.version)
        self.digest = digest
        self.kind = "composite" if isinstance(spec.function, Composition) else "reward"
        self.parameters: Mapping[str, Any] = given or _set_in(bound)
        self.scale = spec.scale
        self.judges = spec.needs.judge
        self.calls = 0
        self._reward = bound or ready(spec, given, judge)

    @property
    def described(self) -> str:
        """Its name, its version, and where it runs."""
        what = f"version {self.version}" if self.spec.version else "a prototype"
        kind = ", a composite" if self.kind == "composite" else ""
        return f"{self.name}{kind}, {what}, in this process"

    def score(self, samples: Sequence[Sample], *, group: bool = False) -> list[RewardResult]:  # noqa: ARG002 - a batch is never cut here
        """See `Target`."""
        self.calls += len(samples) * self.judges
        return score_batch(self._reward, samples)

    def probe(self, samples: Sequence[Sample]) -> list[str]:
        """Scores that its own declaration excludes; number and order are `score_batch`'s care."""
        found = (result.error for result in self.score(samples) if isinstance(result, Unscored))
        return list(dict.fromkeys(str(each) for each in found if isinstance(each, InvalidScore)))

    def close(self) -> None:
        """See `Target`."""


def _set_in(bound: RewardFunction | None) -> dict[str, Any]:
    """The parameters that a partial holds."""
    held: dict[str, Any] = {}
    while isinstance(bound, partial):
        held = bound.keywords | held
        bound = bound.func
    return {name: value for name, value in held.items() if name != "ask"}


class Called:
    """A callable that Python gave, called in this process.

    Args:
        function: any callable.
        settings: further arguments, by name or `name=value` each.
    """

    kind, version, digest = "function", "", ""
    judges, calls, spec, scale = False, 0, None, None

    def __init__(self, function: Any, settings: Parameters = ()) -> None:
        self.parameters = arguments(settings)
        self._adapted = Adapted(function, self.parameters)
        self.name = self._adapted.name

    @property
    def convention(self) -> str:
        """See `Target`."""
        return self._adapted.described

    @property
    def described(self) -> str:
        """Its name, and how it is called."""
        return f"{self.name}, a function of this process, which nothing can end; {self.convention}"

    def score(self, samples: Sequence[Sample], *, group: bool = False) -> list[RewardResult]:
        """See `Target`."""
        cut = [samples] if group else batches(samples)
        return [each for batch in cut for each in self._adapted.score(batch)]

    def probe(self, samples: Sequence[Sample]) -> list[str]:
        """See `Target`."""
        return self._adapted.probe(samples[:PROBED])

    def close(self) -> None:
        """See `Target`."""


def arguments(settings: Parameters) -> dict[str, Any]:
    """Arguments of a function as typed, `name=value` each; a value is JSON, or a text.

    Raises:
        ConfigurationError: a setting without "=".
    """
    if isinstance(settings, Mapping):
        return dict(settings)
    held: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ConfigurationError(f"an argument is written name=value, not {setting!r}")
        try:
            held[name] = json.loads(value)
        except ValueError:
            held[name] = value
    return held


class Asked(NamedTuple):
    """A target as it was asked for; the fields are those of `target_of`."""

    text: str
    parameters: Parameters
    judge: str | None
    stage: str
    session: Session | None
    seconds: float


class Kind(NamedTuple):
    """One kind of target.

    Attributes:
        knows: whether a text means one of it.
        opened: the target that it means.
    """

    knows: Callable[[str], bool]
    opened: Callable[[Asked], Target]


def _is_reward(text: str) -> bool:
    if text.endswith((".py", *SUFFIXES)):
        return True
    try:
        get(text)
    except UnknownReward:
        return False
    return True


def _reward(asked: Asked) -> Target:
    try:
        spec = reward_named(asked.text)
    except FileNotFoundError:
        raise ConfigurationError(f"there is no file {asked.text}; {FORMS}") from None
    digest = _digest(Path(asked.text)) if is_path(asked.text) else ""
    return InProcess(spec, asked.parameters, asked.judge, digest=digest)


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()[:DIGITS]


KINDS: Final = (Kind(_is_reward, _reward),)
"""In the order in which they are tried."""


def target_of(
    target: object,
    *,
    parameters: Parameters = (),
    judge: str | None = None,
    stage: str = "",
    session: Session | None = None,
    seconds: float = 10.0,
) -> Target:
    """What a text or an object means.

    Args:
        target: as the table above has it; a path; or a reward or any callable of Python.
        parameters: of a reward, or further arguments of a function: by name, or `name=value` each.
        judge: the settings of a judge.
        stage: whose catalogue knows an ARN.
        session: boto3's; the caller's own where not given.
        seconds: that a function which is no reward may take for a row.

    Raises:
        ConfigurationError: nothing is meant by it, or it cannot be used; one sentence.
    """
    if isinstance(target, Path):
        target = str(target)
    if not isinstance(target, str):
        return _of_python(target, parameters, judge)
    asked = Asked(target, parameters, judge, stage, session, seconds)
    for kind in KINDS:
        if kind.knows(target):
            return kind.opened(asked)
    raise UnknownReward(f"no reward is called {target!r}{did_you_mean(target, specs())}; {FORMS}")


def _of_python(target: Any, parameters: Parameters, judge: str | None) -> Target:
    spec = spec_of(target) if callable(target) else None
    if spec is None:
        return Called(target, parameters)
    if isinstance(target, RewardSpec):
        return InProcess(spec, parameters, judge)
    if parameters:
        raise ConfigurationError(f"{spec.name} is bound already: bind its parameters with it")
    return InProcess(spec, bound=target)
