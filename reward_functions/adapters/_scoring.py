"""What every adapter does: name the reward, make samples of columns, score them as one batch."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from reward_functions.core.batch import score_batch
from reward_functions.core.errors import (
    BadComposite,
    BadParameter,
    BadSample,
    ConfigurationError,
    NoJudge,
)
from reward_functions.core.jsons import json_kind
from reward_functions.core.registry import get
from reward_functions.core.spec import RewardSpec, spec_of
from reward_functions.core.types import TOKENS, Message, Sample, Unscored
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.core.spec import RewardFunction
    from reward_functions.core.types import RewardResult


class Judges(Protocol):
    """What opens a judge for one batch: a `JudgePool` of `judge_runtime`."""

    def batch(
        self, spec: RewardSpec, parameters: Mapping[str, Any] | None = None
    ) -> RewardFunction:
        """The judge for the samples of one batch."""


class Bound(NamedTuple):
    """A reward as an adapter holds it; picklable where the reward and its judges are.

    Attributes:
        name: what the host calls it.
        function: scores one sample, unless it is a judge.
        spec: its declaration; None of a callable without one.
        judge: opens the judge for each batch; None of all other rewards.
        parameters: of the judge.
    """

    name: str
    function: RewardFunction
    spec: RewardSpec | None
    judge: Judges | None = None
    parameters: Mapping[str, Any] | None = None

    def for_batch(self) -> RewardFunction:
        """The reward for one batch. A judge shares answers and failures within a batch alone."""
        if self.judge is None or self.spec is None:
            return self.function
        return self.judge.batch(self.spec, self.parameters)


def bound(
    reward: str | RewardFunction,
    parameters: Mapping[str, Any],
    name: str | None = None,
    *,
    judge: Judges | None = None,
    unnamed: str = "",
) -> Bound:
    """A reward with its parameters.

    Args:
        reward: its name, the path of a .py file that holds it, that of a .toml or .json file which
            declares a composite, a spec, or any callable that scores a sample.
        parameters: of the reward, by name.
        name: in place of the reward's own.
        judge: the models that a judge asks, as a `JudgePool`.
        unnamed: the name of a callable that has none; "" where the host needs one.

    Raises:
        UnknownReward: no reward has this name.
        ConfigurationError: the .py file cannot be read or imported, or it is not clear which
            reward of it is meant.
        BadParameter: it has no such parameter, or takes no such value; a callable that declares
            none is given one, has no name, or cannot be called with one sample; a reward that is
            no judge is given models.
        NoJudge: it asks a judge model, and none is named.
        BadComposite: the file cannot be read, or declares none.
    """
    found = _named(reward) if isinstance(reward, str) else reward
    spec = spec_of(found)
    called = name or (spec.name if spec else getattr(found, "__name__", unnamed))
    if not called:
        raise BadParameter("this reward has no name of its own: pass name='…'")
    judges = isinstance(found, RewardSpec) and found.needs.judge
    if judge is not None and not judges:
        raise BadParameter(f"{called} asks no judge model here: leave judge=… out")
    if isinstance(found, RewardSpec):
        if judges and judge is None:
            raise NoJudge(
                f"{found.name} asks a judge model, and none is named: pass judge=JudgePool(config)"
            )
        if judges:
            return Bound(called, found.bind(parameters), found, judge, dict(parameters))
        return Bound(called, found.bind(parameters), found)
    if not callable(found):
        raise BadParameter(f"a reward is a name or a callable, not {type(found).__name__}")
    if parameters:
        raise BadParameter(
            f"{called} is bound already: bind {', '.join(map(repr, sorted(parameters)))} with it"
        )
    if spec is None:
        _require_of_samples(found, called)
    return Bound(called, found, spec)


def _named(reward: str) -> RewardSpec:
    """The reward of a name, in a file of its own, or of a file that declares a composite."""
    if not reward.endswith((".toml", ".json", ".py")):
        return get(reward)
    from reward_functions.scoring.rewards import reward_named  # noqa: PLC0415 - for files alone

    try:
        return reward_named(reward)
    except OSError as error:
        kind = ConfigurationError if reward.endswith(".py") else BadComposite
        raise kind(f"{reward} cannot be read: {error.strerror}") from error


OF_HOSTS: Final = frozenset(
    {"prompts", "completions", "completion", "responses", "response", "solution_str", "queries"}
)
"""First parameters of functions that a trainer takes as they are: no sample is called so."""


def _require_of_samples(function: object, called: str) -> None:
    """Refuse a callable without a declaration that cannot be called with one sample.

    Raises:
        BadParameter: it takes more, or completions.
    """
    try:
        signature = inspect.signature(function)  # type: ignore[arg-type]
    except (TypeError, ValueError):  # some of C have none
        return
    takes = [*signature.parameters]
    try:
        signature.bind(None)
    except TypeError:
        is_of_samples = False
    else:
        is_of_samples = takes[0] not in OF_HOSTS
    if not is_of_samples:
        raise BadParameter(
            f"{called} takes ({', '.join(takes)}) and not one sample: write a function of a sample "
            "and decorate it with @reward_function, or give yours to the trainer as it is"
        )


def check_column(name: str, column: Any, rows: int | None = None) -> None:
    """A column has a value for each row.

    Raises:
        BadSample: it is no column, or is of another length.
    """
    if not is_column(column):
        raise BadSample(f"{name} is {json_kind(column)}, not a list of one value a row")
    if rows is not None and len(column) != rows:
        raise BadSample(f"{name} is of length {len(column)}, and the responses are {rows}")


def is_column(value: Any) -> bool:
    """Whether a value may hold one value a row: a list, or what a data library has for one."""
    return hasattr(value, "__len__") and not (
        isinstance(value, str | bytes) or hasattr(value, "keys")
    )


def values(
    reward: RewardFunction,
    responses: Sequence[Any],
    references: Sequence[Any],
    prompts: Sequence[Any] | None = None,
    metadata: Sequence[Mapping[str, Any]] | None = None,
) -> list[RewardResult]:
    """Score columns as one batch: equal prompts are one group.

    Args:
        reward: scores one sample.
        responses: strings, or lists of turns `{"role": …, "content": …}` whose last one is scored.
        references: the ground truths; None where a reward needs none.
        prompts: strings, or lists of turns.
        metadata: further fields of each row.

    Returns:
        One result per response, in order. A row of another shape is an `Unscored` of its own.

    Raises:
        BadSample: a column is none, or they are of different lengths.
    """
    check_column("the column of responses", responses)
    check_column("the column of references", references, len(responses))
    for name, column in {"prompts": prompts, "metadata": metadata}.items():
        if column is not None:
            check_column(f"the column of {name}", column, len(responses))
    return score_batch(
        reward,
        [
            sample_of(
                str(at),
                responses[at],
                references[at],
                prompts[at] if prompts is not None else None,
                metadata[at] if metadata is not None else {},
            )
            for at in range(len(responses))
        ],
    )


def sample_of(
    identity: str, response: Any, reference: Any, prompt: Any, metadata: Mapping[str, Any]
) -> Sample | Unscored:
    """One row as a sample; an `Unscored` with `BadSample` where its turns have another shape."""
    if isinstance(response, str) and (prompt is None or isinstance(prompt, str)):
        turns = (*_turns_of(prompt), Message(role="assistant", content=response))
        return Sample(id=identity, messages=turns, reference=reference, metadata=metadata)
    try:
        rows = [*_rows(prompt, "prompt", "user"), *_rows(response, "completion", "assistant")]
    except BadSample as error:
        return Unscored(identity, error)
    read = decode_row({"id": identity, "messages": rows}, 0)
    if isinstance(read, Unscored):
        return read
    return Sample(id=identity, messages=read.messages, reference=reference, metadata=metadata)


def with_tokens(rows: Sequence[Mapping[str, Any]], identities: Any) -> Sequence[Mapping[str, Any]]:
    """Rows with the lengths of their responses in tokens, where the host shows the tokens.

    Args:
        rows: further fields of each row; a count of theirs is the data set's, and gives way.
        identities: the tokens of each response, a list or a tensor a row; None where not shown.
    """
    if not is_column(identities) or len(identities) != len(rows):
        return rows
    counts = [len(each) if is_column(each) else None for each in identities]
    return [
        row if count is None else {**row, TOKENS: count}
        for row, count in zip(rows, counts, strict=True)
    ]


def plain(value: Any) -> Any:
    """A value of a configuration as lists and dicts: OmegaConf, Hydra and numpy have their own."""
    if isinstance(value, str | bytes):
        return value
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "keys"):
        return {str(key): plain(value[key]) for key in value}
    if hasattr(value, "__iter__"):
        return [plain(each) for each in value]
    return value


def _turns_of(prompt: str | None) -> tuple[Message, ...]:
    return (Message(role="user", content=prompt),) if prompt else ()


def _rows(turns: Any, what: str, role: str) -> list[dict[str, Any]]:
    """Turns as the wire format has them."""
    if isinstance(turns, str):
        return [{"role": role, "content": turns}] if turns or role == "assistant" else []
    if turns is None and role == "user":
        return []
    turns = plain(turns)
    if not isinstance(turns, list):
        raise BadSample(f"the {what} is {json_kind(turns)}, neither a string nor a list of turns")
    return turns
