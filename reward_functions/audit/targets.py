"""The target of an audit: a reward here, any function, a deployment. One row of a table is a kind.

    the text                                     what it is
    arn:aws:lambda:…, NAME@STAGE                 a deployment, invoked in batches
    NAME, mix.toml, my.py                        a reward, in this process
    my.py:FUNCTION, package.module:FUNCTION,     any function, in an interpreter of its own; one
    package.module.FUNCTION                      that is decorated is a reward, in this process

The first row that knows a text takes it. An object of Python is a reward, or is called where it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.audit import conventions
from reward_functions.audit.child import Answer, Child, Decorated, Ended, Hung, Silent, led_to
from reward_functions.audit.target import AuditTarget
from reward_functions.core.batch import score_batch
from reward_functions.core.combine import Composition
from reward_functions.core.errors import BadSample, ConfigurationError, InvalidScore, UnknownReward
from reward_functions.core.registry import get, specs
from reward_functions.core.spec import RewardSpec, spec_of
from reward_functions.core.suggest import did_you_mean
from reward_functions.core.types import Unscored
from reward_functions.judge_runtime.backends.replay import Replay
from reward_functions.scoring import rewards
from reward_functions.scoring.interpreters import InterpreterDied
from reward_functions.testing import CredulousAsk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boto3.session import Session

    from reward_functions.core.spec import RewardFunction
    from reward_functions.core.types import RewardResult, Sample, Score

DIGITS: Final = 16
"""Of a digest."""

FORMS: Final = (
    "a target is a reward's name, a composite's file, FILE.py:FUNCTION, MODULE:FUNCTION, "
    "DEPLOYMENT@STAGE or the ARN of a function"
)

DEPLOYMENT: Final = re.compile(r"arn:.*|[\w.-]+@[\w.-]+", re.DOTALL)

FUNCTION: Final = re.compile(r"[^:\n]+\.py:[\w.]+|\w+(?:\.\w+)*:[\w.]+|\w+(?:\.\w+)+")


DEATHS: Final = 16
"""Of one function's interpreters; the rows that are left then are not tried."""

AT_FIRST: Final = 5
"""The same before it has scored a single row: one that hangs on each would take minutes."""

SECONDS: Final = 10.0
"""That a function which is no reward may take for a row."""

IMPORTING: Final = 120.0
"""Seconds that an import may take."""

SLOW: Final = 2.0
"""Seconds of an import that are worth a word."""

PIPED: Final = 256
"""Rows that wait in the pipe of a function which takes one at a time."""


class InProcess(AuditTarget):
    """A reward of this process.

    Args:
        spec: its declaration.
        settings: its parameters, by name or `name=value` each.
        judge: the settings of its judge.
        bound: the reward with its parameters, where it is bound already.
        answers: the file of its judge's recorded answers.
        scripted: whether a script answers what its judge is asked.
        digest: of its file.
        max_usd: dollars that its judge may cost.

    Raises:
        ConfigurationError: it is a judge and nobody answers, or the answers cannot be read.
    """

    def __init__(
        self,
        spec: RewardSpec,
        settings: rewards.Parameters = (),
        judge: str | None = None,
        *,
        bound: RewardFunction | None = None,
        answers: str | None = None,
        scripted: bool = False,
        digest: str = "",
        max_usd: float | None = None,
    ) -> None:
        given = (
            settings if isinstance(settings, Mapping) else rewards.parameter_values(spec, settings)
        )
        if (answers or scripted) and not spec.needs.judge:
            raise ConfigurationError(f"{spec.name} asks no judge model: leave the answers out")
        self.spec, self.scale, self.scripted = spec, spec.scale, scripted
        self.code = conventions.code_file(spec.function)
        self.judges = spec.needs.judge and not (answers or scripted)
        self._recorded = bool(answers)
        self.name, self.version, self.digest = spec.name, str(spec.version), digest
        self.kind = "composite" if isinstance(spec.function, Composition) else "reward"
        held = getattr(bound, "keywords", {})
        self.parameters = given or {name: held[name] for name in held if name != "ask"}
        self._reward: RewardFunction
        if scripted:
            self._reward = partial(_by_script, spec, given)
        else:
            recorded = Replay(answers) if answers else None
            self._reward = bound or rewards.ready(
                spec, given, judge, answers=recorded, max_usd=max_usd
            )

    @property
    def described(self) -> str:
        """Its name, its version, and where it runs."""
        what = "a prototype" if self.version == "0" else f"version {self.version}"
        kind = ", a composite" * (self.kind == "composite")
        asked = "; a script answers what its judge is asked" * self.scripted
        recorded = "; recorded answers stand for its judge" * self._recorded
        return f"{self.name}{kind}, {what}, in this process{asked}{recorded}"

    @property
    def dollars(self) -> float | None:
        """See `AuditTarget`."""
        account = getattr(self._reward, "account", None)
        return account.usd if account and not account["judge_unpriced_calls"] else None

    def score(self, samples: Sequence[Sample], *, group: bool = False) -> list[RewardResult]:  # noqa: ARG002 - a batch is never cut here
        """See `AuditTarget`."""
        results = score_batch(self._reward, samples)
        account = getattr(self._reward, "account", None)
        self.calls = account["judge_calls"] if account else self.calls + len(samples) * self.judges
        return results

    def probe(self, samples: Sequence[Sample]) -> list[str]:
        """Scores that its own declaration excludes; number and order are `score_batch`'s care."""
        errors = [each.error for each in self.score(samples) if isinstance(each, Unscored)]
        return [*dict.fromkeys(str(each) for each in errors if isinstance(each, InvalidScore))]


def _by_script(spec: RewardSpec, given: Mapping[str, Any], sample: Sample) -> Score:
    """The score where the judge obeys every order outside a fence."""
    reward = spec.bind(given, ask=CredulousAsk(sample.response))
    return reward(sample, **({"group": [sample]} if spec.needs.group else {}))


class Called(AuditTarget):
    """A callable that Python gave, called in this process.

    Args:
        function: any callable.
    """

    def __init__(self, function: Any) -> None:
        self._adapted = conventions.Adapted(function)
        self.name, self.code = self._adapted.name, conventions.code_file(function)

    @property
    def convention(self) -> str:
        """See `AuditTarget`."""
        return self._adapted.described

    @property
    def described(self) -> str:
        """Its name, and how it is called."""
        return f"{self.name}, a function of this process, which nothing can end; {self.convention}"

    def score(self, samples: Sequence[Sample], *, group: bool = False) -> list[RewardResult]:
        """See `AuditTarget`."""
        self._adapted.columns = self.columns
        cut = [samples] if group else conventions.in_batches(samples)
        return [each for batch in cut for each in self._adapted.score(batch)]

    def probe(self, samples: Sequence[Sample]) -> list[str]:
        """See `AuditTarget`."""
        self._adapted.columns = self.columns
        return self._adapted.probe(samples[: conventions.PROBED])


class ChildFunction(AuditTarget):
    """A function that an interpreter of its own calls.

    Args:
        place: as `led_to` takes it.
        seconds: that a row may take.
        digest: of its file.

    Raises:
        ConfigurationError: there is no such function, or it cannot be called with a response.
        Decorated: it is a reward.
    """

    def __init__(self, place: str, seconds: float = SECONDS, digest: str = "") -> None:
        self.digest = digest
        self._place, self._seconds = place, seconds
        self._deaths, self._most = 0, conventions.BATCH
        self._allowed = AT_FIRST
        self._process: Child | None = None
        self._seen = Answer()
        self._running()
        self.name, self.code = self._seen.name, self._seen.code

    @property
    def convention(self) -> str:
        """See `AuditTarget`."""
        return self._seen.described

    @property
    def described(self) -> str:
        """Where it runs, how it is called, and what was seen of it."""
        seen = self._seen
        words = [f"{self._place}, a function in an interpreter of its own; {seen.described}"]
        if seen.seconds > SLOW:
            words.append(f"its import took {seen.seconds:.1f} s")
        if seen.printed:
            words.append("what it prints is dropped")
        if self._deaths:
            words.append(f"{self._deaths} of its interpreters ended")
        return "; ".join(words)

    def score(self, samples: Sequence[Sample], *, group: bool = False) -> list[RewardResult]:
        """See `AuditTarget`."""
        most = len(samples) if group else self._most if self._seen.batch else PIPED
        cut = conventions.in_batches(samples, max(most, 1))
        return [each for batch in cut for each in self._scored(batch)]

    def _scored(self, samples: Sequence[Sample], *, alone: bool = False) -> list[RewardResult]:
        results: list[RewardResult] = []
        while left := samples[len(results) :]:
            if self._deaths >= self._allowed:
                died = InterpreterDied("too many interpreters ended before it")
                return results + [Unscored(each.id, died) for each in left]
            try:
                process = self._running()
                process.ask((left, alone, False, self.columns))
                while len(results) < len(samples):
                    self._seen = process.answer(self._seconds)
                    results += self._seen.results
                    self._allowed = DEATHS
            except BadSample as error:
                rest = [Unscored(left[0].id, error)] if len(left) == 1 else self._scored(left[:1])
                results += rest
            except Ended as error:
                self._forget()
                lost = samples[len(results) :]
                unit = 1 if alone or len(lost) < len(left) else self._unit(lost)
                if unit > 1:
                    self._most = max(1, self._most // 4)
                    results += self._scored(lost[:unit], alone=True)
                else:
                    died = InterpreterDied(str(error))
                    if isinstance(error, Silent):
                        died = Hung(f"no score after {self._seconds:g} s")
                    results.append(Unscored(lost[0].id, died))
        return results

    def _unit(self, samples: Sequence[Sample]) -> int:
        """How many rows the child works at first without a word."""
        return len(samples) if self._seen.batch else 1 if self._seen.settled else conventions.TRIED

    def probe(self, samples: Sequence[Sample]) -> list[str]:
        """See `AuditTarget`."""
        rows = samples[: conventions.PROBED]
        try:
            process = self._running()
            process.ask((rows, False, True, self.columns))
            self._seen = process.answer(self._seconds * (len(rows) + 2))
        except (BadSample, Ended) as error:
            self._forget()
            return [f"{len(rows)} rows at once: {error}"]
        return list(self._seen.breaches)

    def close(self) -> None:
        """See `AuditTarget`."""
        if self._process:
            self._process.end()
            self._process = None

    def _forget(self) -> None:
        self._deaths += 1
        self.close()

    def _running(self) -> Child:
        """The child; another one where that is gone."""
        if self._process:
            return self._process
        process = Child()
        try:
            process.ask((self._place, self._seen.messages, self._seen.settled))
            self._seen = process.answer(IMPORTING)
            self._process = process
        except Ended as error:
            raise ConfigurationError(f"{self._place} cannot be imported: {error}") from None
        finally:
            if not self._process:
                process.end()
        return process


class _Asked(NamedTuple):
    """A target as it was asked for; the fields are those of `audit_target`."""

    text: str
    parameters: rewards.Parameters
    judge: str | None
    stage: str
    session: Session | None
    seconds: float
    answers: str | None = None
    scripted: bool = False
    max_usd: float | None = None


def _deployed(asked: _Asked) -> AuditTarget:
    # The interpreter of a function imports this module, and asks AWS for nothing.
    home = import_module("reward_functions.audit.deployment")
    target: AuditTarget = home.deployed_target(asked.text, asked.stage, asked.session)
    return target


def _is_reward(text: str) -> bool:
    if text.endswith((".py", *rewards.SUFFIXES)):
        return True
    try:
        get(text)
    except UnknownReward:
        return False
    return True


def _reward(asked: _Asked) -> AuditTarget:
    try:
        spec = rewards.reward_named(asked.text)
    except FileNotFoundError:
        raise ConfigurationError(f"there is no file {asked.text}") from None
    return InProcess(
        spec,
        asked.parameters,
        asked.judge,
        answers=asked.answers,
        scripted=asked.scripted,
        digest=_digest(Path(asked.text)),
        max_usd=asked.max_usd,
    )


def _digest(path: Path) -> str:
    """The digest of a file; "" for anything else."""
    return sha256(path.read_bytes()).hexdigest()[:DIGITS] if path.suffix and path.is_file() else ""


def _function(asked: _Asked) -> AuditTarget:
    where, _, attribute = asked.text.rpartition(":" if ":" in asked.text else ".")
    place = f"{where}:{attribute}"
    try:
        child = ChildFunction(place, asked.seconds, _digest(Path(where)))
    except Decorated:
        return _of_python(
            led_to(place), asked.parameters, asked.judge, asked.answers, scripted=asked.scripted
        )
    if asked.parameters:
        child.close()
        raise ConfigurationError(f"{asked.text} is no reward: bind its parameters in its file")
    return child


class TargetKind(NamedTuple):
    """One kind of target.

    Attributes:
        knows: whether a text means one of it.
        opened: the target that it means.
    """

    knows: Callable[[str], object]
    opened: Callable[[_Asked], AuditTarget]


KINDS: Final = (
    TargetKind(DEPLOYMENT.fullmatch, _deployed),
    TargetKind(_is_reward, _reward),
    TargetKind(FUNCTION.fullmatch, _function),
)
"""In the order in which they are tried."""


def audit_target(
    target: object,
    *,
    parameters: rewards.Parameters = (),
    judge: str | None = None,
    stage: str = "",
    session: Session | None = None,
    seconds: float = SECONDS,
    answers: str | None = None,
    scripted: bool = False,
    max_usd: float | None = None,
) -> AuditTarget:
    """The target that a text or an object means.

    Args:
        target: as the table above has it; a path; or a reward or any callable of Python.
        parameters: of a reward, by name or `name=value` each.
        judge: the settings of a judge.
        stage: whose catalogue knows an ARN.
        session: boto3's; the caller's own where not given.
        seconds: that a function which is no reward may take for a row.
        answers: the file of a judge's recorded answers, in place of a model.
        scripted: whether a script answers a judge; it obeys every order outside a fence.
        max_usd: dollars that a judge of this process may cost.

    Raises:
        ConfigurationError: nothing is meant by it, or it cannot be used; one sentence.
    """
    if isinstance(target, Path):
        target = str(target)
    if not isinstance(target, str):
        return _of_python(target, parameters, judge, answers, scripted=scripted)
    asked = _Asked(target, parameters, judge, stage, session, seconds, answers, scripted, max_usd)
    for kind in KINDS:
        if kind.knows(target):
            return _answered(asked, kind.opened(asked))
    raise UnknownReward(f"no reward is called {target!r}{did_you_mean(target, specs())}; {FORMS}")


def _answered(asked: _Asked, opened: AuditTarget) -> AuditTarget:
    if (asked.answers or asked.scripted) and not isinstance(opened, InProcess):
        opened.close()
        raise ConfigurationError(f"{asked.text} is no judge of this process: it asks its own model")
    return opened


def _of_python(
    target: Any,
    parameters: rewards.Parameters,
    judge: str | None,
    answers: str | None = None,
    *,
    scripted: bool = False,
) -> AuditTarget:
    spec = spec_of(target) if callable(target) else None
    if isinstance(target, RewardSpec):
        return InProcess(target, parameters, judge, answers=answers, scripted=scripted)
    if answers or scripted:
        raise ConfigurationError(
            f"{conventions.called_name(target)} is bound already, or is no judge"
        )
    if parameters:
        why = "is bound already: bind its parameters with it" if spec else "is no reward: bind them"
        raise ConfigurationError(f"{spec.name if spec else conventions.called_name(target)} {why}")
    return InProcess(spec, bound=target) if spec else Called(target)
