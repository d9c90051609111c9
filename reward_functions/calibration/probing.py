"""Whether a model gives structured verdicts, and in which output modes.

The questions are the judge's own, about worked examples. The provider therefore compiles and caches
the schema that training will use; a new schema can take minutes. The mode of the settings is tried
first, then the others, most reliable first, until one works.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from reward_functions.calibration.estimating import examples_with, recorded_questions
from reward_functions.core.errors import ConfigurationError, JudgeUnavailable, NoVerdict
from reward_functions.core.types import Usage
from reward_functions.judge_runtime.backends import open_model
from reward_functions.judge_runtime.config import OUTPUT_MODES
from reward_functions.judge_runtime.structured_output import output_mode_of
from reward_functions.judge_runtime.usage import Account
from reward_functions.judge_runtime.wrappers.retrying import Retrying
from reward_functions.reports.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reward_functions.core.asking import Ask, Question
    from reward_functions.core.spec import RewardSpec
    from reward_functions.judge_runtime.config import JudgeModel, OutputMode

RETRIES: Final = 2
"""Retries of a probe, after transient failures such as a throttled call."""

TIMEOUT: Final = 300.0
"""Seconds a probe may take: a provider compiles a new schema before it answers."""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The result of one output mode.

    Args:
        model: the id in the request.
        output_mode: which was tried.
        chosen: whether it is the mode of the settings.
        error: why it does not work; None where it does.
        seconds: of all its calls.
        usage: tokens of all its calls.
    """

    model: str
    output_mode: OutputMode
    chosen: bool
    error: JudgeUnavailable | NoVerdict | None
    seconds: float
    usage: Usage


def measured_models(tried: Iterable[Sequence[ProbeResult]]) -> Measured:
    """How many models answered, in any form.

    Args:
        tried: the results of each model that was asked.
    """
    answered = [
        any(not isinstance(result.error, JudgeUnavailable) for result in results)
        for results in tried
    ]
    return Measured("models", sum(answered), answered.count(False))


def schema_questions(spec: RewardSpec, parameters: Mapping[str, Any]) -> list[Question]:
    """The judge's questions about its worked examples, one for each schema.

    Raises:
        ConfigurationError: it asks nothing about any of them.
    """
    samples = [each.sample() for each in examples_with(spec, parameters) or spec.examples]
    recorded = [each for asked in recorded_questions(spec, parameters, samples) for each in asked]
    schemas = {
        tuple((one.name, one.choices) for one in each.fields): each for each in recorded[::-1]
    }
    if not schemas:
        raise ConfigurationError(f"{spec.name} asks nothing about its worked examples")
    return list(schemas.values())[::-1]


def probe_modes(
    model: JudgeModel,
    asked: Sequence[Question],
    *,
    everything: bool = False,
    timeout: float = TIMEOUT,
    opened: Callable[[JudgeModel, int], Ask] = open_model,
) -> Iterator[ProbeResult]:
    """The results of the output modes, one after the other.

    Args:
        model: its settings.
        asked: the questions; a mode works where all of them are answered.
        everything: go on after a mode that works.
        timeout: seconds of a call.
        opened: opens the model.

    Raises:
        BadJudge: the settings of the model cannot be used.
    """
    chosen = output_mode_of(model)
    for mode in (chosen, *[mode for mode in OUTPUT_MODES if mode != chosen]):
        tried = replace(model, output_mode=mode, timeout=timeout)
        error, seconds, usage = _tried(opened(tried, 1), asked)
        probe = ProbeResult(model.called, mode, mode == chosen, error, seconds, usage)
        yield probe
        if probe.error is None and not everything:
            return
        if isinstance(probe.error, JudgeUnavailable) and probe.error.transient:
            return  # the model is unavailable in every mode


def _tried(
    model: Ask, asked: Sequence[Question]
) -> tuple[JudgeUnavailable | NoVerdict | None, float, Usage]:
    """The error of the first question that failed, else None; seconds; tokens."""
    ask = Retrying(model, RETRIES, Account())
    began, usage = monotonic(), Usage()
    try:
        for question in asked:
            usage += ask(question).usage
    except (JudgeUnavailable, NoVerdict) as error:
        return error, monotonic() - began, usage
    return None, monotonic() - began, usage
