"""The arithmetic of a plan, what it assumes, and what it warns of."""

import json
from dataclasses import replace

import pytest

from reward_functions.aws.catalogue import DeployedReward
from reward_functions.core.registry import specs
from reward_functions.data.lengths import Lengths
from reward_functions.jobs.configuration import BadJob, JobConfiguration
from reward_functions.jobs.data import Sizes
from reward_functions.jobs.grader import AccountLimits
from reward_functions.jobs.plan import Rates, plan
from reward_functions.jobs.plan_sheets import as_data, markdown, sheets
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel

NOVA, QWEN = "amazon.nova-2-lite-v1:0:256k", "qwen.qwen3-32b"
FUNCTION = "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-reward-dev-gsm8k"
SIZES = Sizes(rows=1_000, prompts=Lengths([100] * 1_000), largest_row=1_000)
GIVEN = {
    "epochCount": 2, "batchSize": 64, "trainingSamplePerPrompt": 4, "inferenceMaxTokens": 4096,
    "maxPromptLength": 256, "learningRate": 1e-4, "reasoningEffort": "low", "evalInterval": 10,
}  # fmt: skip


def asked(model=NOVA, hyperparameters=None, **fields):
    data = {} if "invocation_logs" in fields else {"data": "train.jsonl"}
    given = {} if hyperparameters is None else hyperparameters
    return JobConfiguration.model_validate(
        {"model": model, "deployment": "gsm8k", "hyperparameters": given, **data, **fields}
    )


def deployed(**fields):
    return DeployedReward(
        **{
            "name": "gsm8k", "reward": "gsm8k", "version": 1, "digest": "0" * 16, "parameters": {},
            "response_mode": "list", "version_arn": f"{FUNCTION}:7", "function_arn": FUNCTION,
            "alias_arn": f"{FUNCTION}:live", "timeout_seconds": 60, "memory_mb": 1769,
            "architecture": "arm64", "python": "3.13",
        }
        | fields
    )  # fmt: skip


def test_the_figures_of_a_job_that_names_everything():
    figures = plan(asked(hyperparameters=GIVEN), sizes=SIZES).figures
    assert figures.run.steps == 32  # 2 × ⌈1,000 / 64⌉
    assert figures.run.responses == 8_000
    assert figures.grader_calls == (32, 8_000)
    assert figures.prompt_tokens == 100_000 * 2 * 4
    assert figures.generated_tokens == 8_000 * 4_096
    assert figures.samples_in_a_call == 6 * 1024 * 1024 // (1_000 + 4 * 4_096)
    assert (figures.minutes, figures.training_usd, figures.judge) == (None, None, None)


def test_a_job_that_names_everything_assumes_no_value_and_warns_of_nothing():
    planned = plan(asked(hyperparameters=GIVEN), sizes=SIZES)
    assert not [each for each in planned.assumptions if "is not set" in each]
    assert planned.warnings == ()


def test_what_is_not_set_is_counted_with_somebodys_value_and_says_whose():
    planned = plan(asked(), sizes=SIZES)
    assert [each for each in planned.assumptions if "is not set" in each] == [
        "epochCount is not set: counted with 1, the default of AWS's SDK",
        "batchSize is not set: counted with 128, the default of AWS's SDK",
        "trainingSamplePerPrompt is not set: counted with 4, the service's default",
        "maxPromptLength is not set: counted with 8192, the default of AWS's SDK",
        "inferenceMaxTokens is not set: counted with 2048, the default of AWS's SDK",
    ]
    assert planned.figures.run.steps == 8
    assert planned.figures.run.responses == 4_000


def test_on_the_openai_api_the_group_is_assumed_and_the_answer_is_the_models_longest():
    planned = plan(asked(QWEN), sizes=replace(SIZES, rows=300))
    assert planned.figures.run.steps == 75
    assert planned.figures.run.responses == 1_200
    assert planned.figures.generated_tokens == 1_200 * 8_000
    assert any("counted with 4, which AWS states for Nova" in each for each in planned.assumptions)


RATES = [
    (Rates(), None, None),
    (Rates(step_minutes=3), 96, None),
    (Rates(hour_usd=10), None, None),
    (Rates(step_minutes=3, hour_usd=10), 96, 16.0),
    (Rates(token_usd=2), None, 2 * (800_000 + 32_768_000) / 1e6),
]


@pytest.mark.parametrize(("rates", "minutes", "dollars"), RATES)
def test_time_and_dollars_are_unknown_until_somebody_knows(rates, minutes, dollars):
    planned = plan(asked(hyperparameters=GIVEN), sizes=SIZES, rates=rates)
    assert (planned.figures.minutes, planned.figures.training_usd) == (minutes, dollars)
    assert any("--token-price" in each for each in planned.assumptions) == (dollars is None)


def test_a_model_without_a_row_is_planned_with_what_is_known_of_it():
    planned = plan(asked("new-model", driver="openai"), sizes=SIZES)
    assert planned.figures.generated_tokens is None
    assert planned.warnings[0].startswith("the table of 2026")
    limited = plan(asked("new-model", GIVEN, driver="bedrock"), sizes=SIZES)
    assert (limited.longest_answer, len(limited.warnings)) == (4096, 1)


def test_rows_of_logs_that_nobody_counted_leave_every_figure_unknown():
    planned = plan(asked(invocation_logs={"source": "s3://bucket/logs"}))
    assert planned.figures is None
    assert any("--rows" in each for each in planned.assumptions)
    assert "| steps | unknown |" in "\n".join(markdown(planned))


FEW = Sizes(rows=200, prompts=Lengths([100] * 200))
UNWEIGHED = replace(SIZES, largest_row=0)
WARNED = [
    # what is changed, the sentence
    ({"trainingSamplePerPrompt": 2}, {}, "is 2: the baseline of a group is the mean of two"),
    ({"batchSize": 512, "evalInterval": 1}, {"sizes": FEW}, "an epoch is one step, and not a"),
    ({"maxPromptLength": 99}, {}, "1,000 of 1,000 prompts are longer, by estimate up to 100"),
    ({"inferenceMaxTokens": 750}, {}, "is 750: an answer that is cut off there earns the minimum"),
    ({"reasoningEffort": "high"}, {}, "is 4,096: an answer that is cut off there"),
    (
        {"inferenceMaxTokens": 65_000},
        {"sizes": UNWEIGHED},
        "and Nova 2 Lite writes at most 64,000 tokens",
    ),
    ({"maxPromptLength": 255_000}, {}, "more than the context of Nova 2 Lite, 256,000"),
    ({"evalInterval": 33}, {}, "and the job has 32 steps: nothing is evaluated on the way"),
    ({}, {"validation": "dev.jsonl"}, "AWS's SDK leaves out a validation file for Nova 2 Lite"),
    ({}, {"sizes": replace(SIZES, largest_row=100_000)}, "if the service sends a whole step in"),
    ({}, {"account": AccountLimits(10, 10)}, "a concurrency of 10 is unreserved here"),
    ({}, {"account": AccountLimits(1_000, 900, 5)}, "a concurrency of 5 is reserved for the"),
    ({}, {"account": AccountLimits(1_000, 900, 0)}, "is 0: it answers nobody"),
    ({}, {"account": AccountLimits(unmeasured=("no right",))}, "concurrency: no right"),
]


@pytest.mark.parametrize(("changed", "fields", "sentence"), WARNED)
def test_a_trap_is_one_sentence(changed, fields, sentence):
    fields = dict(fields)
    around = {name: fields.pop(name) for name in ("sizes", "account") if name in fields}
    configuration = asked(hyperparameters=GIVEN | changed, **fields)
    (warning,) = plan(configuration, **{"sizes": SIZES, **around}).warnings
    assert sentence in warning


def test_enough_concurrency_is_no_warning():
    account = AccountLimits(1_000, 900)
    assert not plan(asked(hyperparameters=GIVEN), sizes=SIZES, account=account).warnings


def test_logs_bring_no_references():
    logs = {"source": "s3://bucket/logs", "filters": {"conditions": [{"equals": {"team": "a"}}]}}
    planned = plan(asked(invocation_logs=logs, hyperparameters=GIVEN), sizes=Sizes(rows=500))
    (warning,) = planned.warnings
    assert warning.startswith("rows that come from invocation logs have no reference_answer: ")


def test_a_context_of_32k_is_small_for_long_prompts():
    sizes = replace(SIZES, prompts=Lengths([30_000]))
    planned = plan(asked(QWEN, {"batch_size": 4}), sizes=sizes)
    assert any("more than the context of Qwen3 32B, 32,000" in each for each in planned.warnings)


def test_what_the_openai_api_does_with_a_validation_file_is_not_known():
    planned = plan(asked(QWEN, validation="dev.jsonl"), sizes=SIZES)
    assert any("takes a validation file" in each for each in planned.warnings)


def test_validation_is_counted_from_an_answer_to_a_group():
    sizes = replace(SIZES, validation_rows=50)
    figures = plan(asked(hyperparameters=GIVEN, validation="dev.jsonl"), sizes=sizes).figures
    assert (figures.evaluations, figures.validation_answers) == (3, (150, 600))


JUDGE = JudgeConfig(models=(JudgeModel(model="amazon.nova-lite-v1:0", region="us-east-1"),))


def test_a_judge_is_estimated_with_the_same_rollouts():
    planned = plan(asked(hyperparameters=GIVEN), sizes=SIZES, reward=specs()["rubric"], judge=JUDGE)
    judge = planned.figures.judge
    assert judge.run.responses == 8_000
    assert judge.calls > 0
    assert 0 < judge.usd < 100
    assert any("a judge model writes 300 tokens" in each for each in planned.assumptions)


def test_a_judge_without_settings_is_a_warning_and_a_verifier_needs_none():
    judged = plan(asked(hyperparameters=GIVEN), sizes=SIZES, reward=specs()["rubric"])
    assert "the reward asks a judge model, and its settings are not known" in judged.warnings[0]
    verified = plan(asked(hyperparameters=GIVEN), sizes=SIZES, reward=specs()["gsm8k"])
    assert verified.warnings == ()


REFUSED = [
    ({"data": None}, {}, "data: name a training file, or invocation_logs"),
    (
        {"data": "t.jsonl", "invocation_logs": {"source": "s3://b/l"}},
        {},
        "data: name a training file, or invocation_logs",
    ),
    ({"model": QWEN, "vpc": {"subnets": ["s"], "security_groups": ["g"]}}, {}, "vpc: the OpenAI"),
    ({"model": QWEN, "model_key": "arn:k"}, {}, "model_key: the OpenAI-compatible API has no"),
    (
        {"model": QWEN, "data": None, "invocation_logs": {"source": "s3://b/l"}},
        {},
        "invocation_logs: the OpenAI-compatible API has no such setting",
    ),
    ({"data": None, "invocation_logs": {"source": "s3://b/a b"}}, {}, "invocation_logs.source: "),
    ({}, {"deployed": deployed(response_mode="envelope")}, "deployment: gsm8k answers with Sage"),
    ({"model": "gpt-5"}, {}, "model: the table"),
    ({}, {"region": "us-west-2"}, "model: amazon.nova-2-lite"),
    ({"hyperparameters": {"batchSize": 8}}, {}, "batchSize is 8: it must be"),
]


@pytest.mark.parametrize(("fields", "around", "sentence"), REFUSED)
def test_what_no_job_can_be_is_refused_by_its_field(fields, around, sentence):
    configuration = JobConfiguration.model_validate(
        {"model": NOVA, "deployment": "gsm8k", "data": "train.jsonl"} | fields
    )
    with pytest.raises(BadJob) as refused:
        plan(configuration, sizes=SIZES, **around)
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize("model", [NOVA, QWEN])
@pytest.mark.parametrize("sizes", [SIZES, Sizes(rows=500), None])
def test_every_shape_of_a_plan_is_shown_and_is_json(model, sizes):
    planned = plan(asked(model), sizes=sizes, deployed=deployed(), account=AccountLimits(10, 10))
    shown = list(sheets(planned))
    assert all(len(row) == len(sheet.heads) for sheet in shown for row in sheet.rows)
    assert "\n".join(markdown(planned)).startswith("# Plan: gsm8k\n")
    data = json.loads(json.dumps(as_data(planned), allow_nan=False))
    assert data["grader"] == f"{FUNCTION}:7"
    assert data["account"]["concurrency"] == 10
    assert (data["figures"] is None) == (sizes is None)
    assert [*data["hyperparameters"]] == [row[0] for row in shown[1].rows]


RESERVED = [
    (AccountLimits(10, 9), "10 in the account, unreserved: 9; reserved for the grader: none"),
    (AccountLimits(10, 9, 5), "10 in the account, unreserved: 9; reserved for the grader: 5"),
    (AccountLimits(10, 0, 10), "10 in the account, unreserved: 0; reserved for the grader: 10"),
    (
        AccountLimits(10, reserved_measured=False),
        "10 in the account, unreserved: not measured; reserved for the grader: not measured",
    ),
    (AccountLimits(reserved_measured=False), "not measured"),
]


@pytest.mark.parametrize(("account", "words"), RESERVED)
def test_what_could_not_be_read_is_not_none(account, words):
    *_, last = sheets(plan(asked(), sizes=SIZES, account=account))
    assert dict(last.rows)["concurrency there is"] == words


def test_a_hostile_name_is_escaped_in_markdown():
    planned = plan(replace_deployment("<script>|x"), sizes=SIZES)
    text = "\n".join(markdown(planned))
    assert "<script>" not in text


def replace_deployment(name):
    return asked().model_copy(update={"deployment": name})


@pytest.mark.parametrize("rate", ["step_minutes", "hour_usd", "token_usd"])
@pytest.mark.parametrize("value", [float("inf"), float("nan"), -1.0])
def test_a_rate_that_is_no_number_is_refused(rate, value):
    with pytest.raises(BadJob, match="write a number from 0"):
        Rates(**{rate: value})


@pytest.mark.parametrize("key", ["reward-functions:forced", "aws:x", "a!b", "k" * 129, ""])
def test_a_tag_that_start_would_refuse_is_refused_by_the_plan(key):
    with pytest.raises(BadJob, match="tags: "):
        plan(asked(tags={key: "x"}), sizes=SIZES)
