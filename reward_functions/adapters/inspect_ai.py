"""inspect_ai: a reward is a scorer.

    from reward_functions.adapters.inspect_ai import scorer
    task = Task(dataset=…, solver=generate(), scorer=scorer("math"))

**Prompt and response** are the state's messages and `state.output.completion`, which holds no
reasoning. **The reference** is the target; several targets mean any of these. **Unscored** becomes
`Score.unscored()`, a NaN that inspect keeps in the log with the reason and leaves out of metrics
and reducers (inspect_ai 0.3.285, `scorer/_metric.py`); the eval goes on. Raising instead would end
it, as inspect's `fail_on_error` says. Where nothing at all was scored, inspect prints an accuracy
of 0.0 (`scorer/_metrics/accuracy.py`): look at `unscored_samples` beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reward_functions.adapters._single import (
    at,
    before_the_response,
    last_calls,
    messages_of,
    outcome,
    reference_in,
    sampled,
    scale_of,
    single,
    threads_of,
)
from reward_functions.core.errors import BadSample, JudgeUnavailable, NoVerdict
from reward_functions.core.spec import UNIT_SCALE
from reward_functions.core.types import TOKENS, Unscored

if TYPE_CHECKING:
    from reward_functions.adapters._scoring import Bound, Judges
    from reward_functions.core.spec import RewardFunction
    from reward_functions.core.types import RewardResult


def scorer(
    reward: str | RewardFunction,
    *,
    reference: str | None = None,
    judge: Judges | None = None,
    name: str | None = None,
    **parameters: Any,
) -> Any:
    """A reward as a scorer of inspect_ai, with the metrics `accuracy` and `stderr`.

    A reward whose scale is not 0 to 1 gets `mean` in the place of `accuracy`. A score has the
    value, the answer found, the reason as its explanation, and the reward's metrics as its
    metadata.

    Args:
        reward: a registered name, the path of a composite (.toml or .json), or a spec.
        reference: a field of the sample's metadata, dotted for a field within, in the place of the
            target; for references that are objects, such as FinQA's.
        judge: the models that a judge asks: a `JudgePool`, opened for each response anew, so that
            its `max_usd` is a limit of one response.
        name: in the place of the reward's own.
        parameters: of the reward.

    Returns:
        A `Scorer`, recorded in the log under the reward's name and with its parameters.

    Raises:
        ConfigurationError: the reward cannot be had, or compares the responses of a group.
        ImportError: inspect_ai is not installed.
    """
    from inspect_ai import scorer as host  # noqa: PLC0415 - the host, which a user of it has

    scored = single("inspect_ai", reward, parameters, name, judge)
    centre = host.accuracy if scale_of(scored) == UNIT_SCALE else host.mean

    @host.scorer(  # type: ignore[untyped-decorator]  # the host is not installed here
        metrics=[centre(), host.stderr()], name=scored.name
    )
    def make(reference: str | None = None, **_: Any) -> Any:
        threads: list[Any] = []

        async def score(state: Any, target: Any) -> Any:
            from anyio import CapacityLimiter, to_thread  # noqa: PLC0415 - inspect's own loop

            if not threads:
                threads.append(CapacityLimiter(threads_of(scored)))
            arguments = (scored, state, target, reference)
            return _score(host, await to_thread.run_sync(_result, *arguments, limiter=threads[0]))

        return score

    named = {} if reference is None else {"reference": reference}
    return make(**named, **parameters)


def _result(reward: Bound, state: Any, target: Any, path: str | None) -> RewardResult:
    try:
        sample, looked = _sample(state, target, path)
    except BadSample as error:
        return Unscored(str(state.sample_id), error)
    return outcome(reward, sample, looked)


def _sample(state: Any, target: Any, path: str | None) -> tuple[Any, tuple[str, ...] | None]:
    """A state as a sample, and the fields of its metadata where those hold no reference."""
    metadata = dict(state.metadata)
    if state.choices:
        metadata.setdefault("choices", [choice.value for choice in state.choices])
    looked: tuple[str, ...] | None = None
    if path is None:
        reference: Any = [text for text in target if text]
        reference = reference[0] if len(reference) == 1 else reference or None
    else:
        reference, looked = reference_in(metadata, path)
    tokens = at(state, "output.usage.output_tokens")
    if isinstance(tokens, int):
        metadata[TOKENS] = tokens
    turns = messages_of(state.messages)
    context, calls = before_the_response(turns), last_calls(turns)
    response = at(state, "output.completion")
    identity = str(state.sample_id)
    return sampled(identity, context, response, reference, metadata, calls=calls), looked


def _score(host: Any, result: RewardResult) -> Any:
    if isinstance(result, Unscored):
        failed = "grader" if isinstance(result.error, JudgeUnavailable | NoVerdict) else "scoring"
        why = f"{type(result.error).__name__}: {result.error}"
        return host.Score.unscored(reason=f"{failed}_failed", explanation=why)
    score = result.score
    return host.Score(
        value=score.value,
        answer=score.answer,
        explanation=score.reason,
        metadata={metric.name: metric.value for metric in score.metrics},
    )
