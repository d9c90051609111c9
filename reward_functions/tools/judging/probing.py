"""Whether a model gives structured verdicts, and by which rung of the ladder.

The question is the judge's own, about a worked example, so that the schema a provider compiles and
keeps is the one that training will use; a new one can take minutes. The rung the settings choose
is tried first, then the others, surest first, until one works.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError, JudgeUnavailable, NoVerdict
from reward_functions.core.types import Usage
from reward_functions.judge_runtime.backends import open_model
from reward_functions.judge_runtime.config import LADDER
from reward_functions.judge_runtime.pipeline import Patient
from reward_functions.judge_runtime.structured_output import form_of
from reward_functions.judge_runtime.usage import Account
from reward_functions.tools.judging.rehearsing import examples, questions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reward_functions.core.asking import Ask, Question
    from reward_functions.core.spec import RewardSpec
    from reward_functions.judge_runtime.config import Form, JudgeModel

RETRIES: Final = 2
"""Of a probe, for failures that may pass: a rung is not given up for one throttled call."""

TIMEOUT: Final = 300.0
"""Seconds a probe may take: a provider compiles a new schema before it answers."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What became of one rung.

    Args:
        model: as it is called.
        form: the rung.
        chosen: whether it is the one the settings choose.
        error: why it does not work; None where it does.
        seconds: it took.
        usage: tokens it took.
    """

    model: str
    form: Form
    chosen: bool
    error: JudgeUnavailable | NoVerdict | None
    seconds: float
    usage: Usage


def first_questions(spec: RewardSpec, parameters: Mapping[str, Any]) -> list[Question]:
    """The judge's questions about its worked examples, one for each form of verdict.

    Raises:
        ConfigurationError: it asks nothing about any of them.
    """
    samples = [each.sample() for each in examples(spec, parameters) or spec.examples]
    heard = [each for asked in questions(spec, parameters, samples) for each in asked]
    forms = {tuple((one.name, one.choices) for one in each.fields): each for each in heard[::-1]}
    if not forms:
        raise ConfigurationError(f"{spec.name} asks nothing about its worked examples")
    return list(forms.values())[::-1]


def probes(
    model: JudgeModel,
    asked: Sequence[Question],
    *,
    everything: bool = False,
    timeout: float = TIMEOUT,
    opened: Callable[[JudgeModel, int], Ask] = open_model,
) -> Iterator[Probe]:
    """What becomes of the rungs, one after the other.

    Args:
        model: which.
        asked: the questions; a rung works where all of them are answered.
        everything: go on when a rung works.
        timeout: seconds of a call.
        opened: makes the model something to ask.

    Raises:
        BadJudge: the model cannot be asked as it is set.
    """
    chosen = form_of(model)
    for form in (chosen, *[form for form in LADDER if form != chosen]):
        tried = replace(model, form=form, timeout=timeout)
        error, seconds, usage = _tried(opened(tried, 1), asked)
        probe = Probe(model.called, form, form == chosen, error, seconds, usage)
        yield probe
        if probe.error is None and not everything:
            return
        if isinstance(probe.error, JudgeUnavailable) and probe.error.transient:
            return  # the model cannot be had, in whatever form


def _tried(
    model: Ask, asked: Sequence[Question]
) -> tuple[JudgeUnavailable | NoVerdict | None, float, Usage]:
    """Why the questions were not all answered, None where they were; seconds; tokens."""
    ask = Patient(model, RETRIES, Account())
    began, usage = monotonic(), Usage()
    try:
        for question in asked:
            usage += ask(question).usage
    except (JudgeUnavailable, NoVerdict) as error:
        return error, monotonic() - began, usage
    return None, monotonic() - began, usage
