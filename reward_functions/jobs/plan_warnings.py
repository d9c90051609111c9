"""What a plan warns of: a rule for each sentence, in the order of `RULES`.

A rule reads a plan and returns its sentence, or None. What a service would refuse is no warning:
`plan` and `hyperparameters.check` raise for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.aws.deployed.function import MAX_PAYLOAD_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reward_functions.jobs.planned import Plan

    Rule = Callable[[Plan], str | None]

MEGABYTE: Final = 1024 * 1024

NO_VALIDATION: Final = "amazon.nova-2-lite"
"""AWS's nova-forge-sdk @a4d5b3d leaves a validation file out for this model and says that it is not
supported (`runtime_manager.py`); AWS's notebooks pass one."""

SMALL_GROUP: Final = 2


def warnings_of(planned: Plan) -> Iterator[str]:
    """Every sentence that applies, those about the model first."""
    yield from planned.base.warnings
    for rule in RULES:
        sentence = rule(planned)
        if sentence is not None:
            yield sentence
    if planned.account is not None:
        yield from (f"concurrency: {each}" for each in planned.account.unmeasured)
    if planned.figures is not None and planned.figures.judge is not None:
        yield from planned.figures.judge.warnings


def _small_group(planned: Plan) -> str | None:
    if planned.value("samples") != SMALL_GROUP:
        return None
    return (
        f"{_name(planned, 'samples')} is 2: the baseline of a group is the mean of two rewards, "
        "and groups of equal rewards teach nothing; 4 or more are less noisy"
    )


def _batch_beyond_data(planned: Plan) -> str | None:
    batch, sizes = planned.value("batch"), planned.sizes
    if sizes is None or batch is None or batch <= sizes.rows:
        return None
    return (
        f"{_name(planned, 'batch')} is {batch:,}, and the data have {sizes.rows:,} rows: an epoch "
        "is one step, and not a full one"
    )


def _prompts_beyond_limit(planned: Plan) -> str | None:
    limit, sizes = planned.value("prompt"), planned.sizes
    if limit is None or sizes is None or sizes.prompts is None:
        return None
    over = sum(value > limit for value in sizes.prompts.values)
    if not over:
        return None
    longest = max(sizes.prompts.values)
    return (
        f"{_name(planned, 'prompt')} is {limit:,}, and {over:,} of {sizes.rows:,} prompts are "
        f"longer, by estimate up to {longest:,} tokens; what becomes of them is not documented: "
        f"{sizes.max_prompt_length:,} holds them all"
    )


def _short_answers(planned: Plan) -> str | None:
    setting = planned.setting("answer")
    if setting is None or planned.sizes is None or setting.value is None:
        return None
    generous = planned.sizes.inference_max_tokens(planned.value("effort"))
    if int(setting.value) >= generous:
        return None
    return (
        f"{_name(planned, 'answer')} is {setting.value:,}: an answer that is cut off there earns "
        f"the minimum, and the policy learns to be brief; {generous:,} leaves room"
    )


def _beyond_context(planned: Plan) -> str | None:
    known, answer, sizes = planned.base.known, planned.longest_answer, planned.sizes
    prompt = planned.value("prompt")
    if prompt is None and sizes is not None and sizes.prompts is not None:
        prompt = max(sizes.prompts.values)
    if known is None or prompt is None or answer is None or prompt + answer <= known.context:
        return None
    return (
        f"a prompt of {prompt:,} tokens and an answer of {answer:,} are more than the context of "
        f"{known.name}, {known.context:,}"
    )


def _beyond_output(planned: Plan) -> str | None:
    known, answer = planned.base.known, planned.value("answer")
    if known is None or answer is None or answer <= known.max_output:
        return None
    return (
        f"{_name(planned, 'answer')} is {answer:,}, and {known.name} writes at most "
        f"{known.max_output:,} tokens"
    )


def _no_evaluation(planned: Plan) -> str | None:
    setting = planned.setting("interval")
    if setting is None or setting.given is None or planned.figures is None:
        return None
    steps = planned.figures.run.steps
    if int(setting.given) <= steps:
        return None
    return (
        f"{_name(planned, 'interval')} is {setting.given}, and the job has {steps:,} steps: "
        "nothing is evaluated on the way"
    )


def _doubtful_validation(planned: Plan) -> str | None:
    if planned.asked.validation is None:
        return None
    if planned.base.driver == "openai":
        return "no page of AWS says that the OpenAI-compatible API takes a validation file for RFT"
    if planned.base.known is None or not planned.base.known.id.startswith(NO_VALIDATION):
        return None
    return (
        "AWS's SDK leaves out a validation file for Nova 2 Lite as not supported, and AWS's "
        "notebooks pass one: the service may refuse it"
    )


def _logs_without_references(planned: Plan) -> str | None:
    if planned.asked.invocation_logs is None:
        return None
    return (
        "rows that come from invocation logs have no reference_answer: the reward must score "
        "without one, or every sample is unscored"
    )


def _large_calls(planned: Plan) -> str | None:
    figures = planned.figures
    if figures is None or figures.samples_in_a_call is None:
        return None
    if figures.samples_in_a_call >= figures.run.per_step:
        return None
    return (
        f"an invocation takes {MAX_PAYLOAD_BYTES // MEGABYTE} MB, {figures.samples_in_a_call:,} of "
        f"the longest answers, and a step has {figures.run.per_step:,}: if the service sends a "
        "whole step in one, the longest do not fit"
    )


def _concurrency(planned: Plan) -> str | None:
    figures, account = planned.figures, planned.account
    if figures is None or account is None or account.available is None:
        return None
    if account.available == 0:
        return "the grader's reserved concurrency is 0: it answers nobody; raise or remove it"
    if account.available >= figures.run.per_step:
        return None
    whose = "is reserved for the grader" if account.reserved is not None else "is unreserved here"
    return (
        f"a step has {figures.run.per_step:,} answers, and a concurrency of {account.available:,} "
        f"{whose}: if the service sends one an invocation, all at a time, calls are throttled; "
        "how many it sends is not documented"
    )


def _unknown_judge(planned: Plan) -> str | None:
    if not planned.judged or planned.figures is None or planned.figures.judge is not None:
        return None
    return (
        "the reward asks a judge model, and its settings are not known here: its calls and dollars "
        "are not counted; give --judge FILE, or lambda:GetFunctionConfiguration to the caller"
    )


def _name(planned: Plan, role: str) -> str:
    setting = planned.setting(role)
    return setting.hyperparameter.name if setting else role


RULES: Final[tuple[Rule, ...]] = (
    _small_group,
    _batch_beyond_data,
    _prompts_beyond_limit,
    _short_answers,
    _beyond_context,
    _beyond_output,
    _no_evaluation,
    _doubtful_validation,
    _logs_without_references,
    _large_calls,
    _concurrency,
    _unknown_judge,
)
