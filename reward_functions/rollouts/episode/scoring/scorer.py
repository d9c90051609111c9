r"""A pinned reward for episodes: what scores a record says so, and another reward is refused.

    scorer = Scorer.of("math", parameters={"tolerance": 0.01})
    score = scorer.score(request, "… \boxed{18}")
    record = {"reward": score.value, "scorer": scorer.pin.json()}
    scorer.require(Pin.read(record["scorer"]))      # ScorerMismatch, where it is another

`samples` says where it finds the ground truth.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

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
from reward_functions.core.spec import UNIT_SCALE, RewardSpec, Scale, spec_of
from reward_functions.core.types import Sample, Score, Unscored
from reward_functions.rollouts.episode.scoring.samples import REFERENCE, Given, sample_of
from reward_functions.rollouts.episode.scoring.sources import digest_of
from reward_functions.rollouts.request.errors import EnvironmentFailure, ScorerMismatch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reward_functions.core.asking import Ask
    from reward_functions.core.spec import RewardFunction

DIGEST: Final = re.compile(r"[0-9a-f]{64}")

SHOWN: Final = 12
"""Digits of a digest in a sentence."""

LONGEST: Final = 300
"""Characters of the parameters in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """Which reward scored a record.

    Args:
        name: of the reward; `module.function` of a plain function.
        version: that it declares; 0 of a plain function.
        digest: of its sources: see `sources`.
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
        return {
            "name": self.name,
            "version": self.version,
            "digest": self.digest,
            "parameters": dict(self.parameters),
        }

    @classmethod
    def read(cls, given: Any) -> Pin:
        """A pin from JSON data, which has its four fields and no others.

        Raises:
            ScorerMismatch: it is none. The message names the field.
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


def _is_version(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[!-~]{1,200}", value) is not None


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and DIGEST.fullmatch(value) is not None


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


_FIELDS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "name": _is_name,
    "version": _is_version,
    "digest": _is_digest,
    "parameters": _is_object,
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
        """Which reward this is; its sources are read once.

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
        """Nothing, where this reward is the one of a pin.

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
