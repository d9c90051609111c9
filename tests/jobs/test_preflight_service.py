"""The data, the concurrency and the model of a job, and the whole of a preflight."""

from __future__ import annotations

import json
from itertools import count
from types import SimpleNamespace

import pytest

from reward_functions.aws.deployed.function import DeployedFunction
from reward_functions.core.registry import get
from reward_functions.jobs import preflight
from reward_functions.jobs.data import ROWS
from reward_functions.jobs.preflight import (
    base_findings,
    capacity_findings,
    data_findings,
    name_finding,
    synthetic_findings,
    wanted_at_most,
)
from reward_functions.jobs.services import SERVICES
from tests.bedrock_service import ARN, refusal
from tests.deployed_stage import SOURCE

NUMBERS = count()
NOVA = "amazon.nova-2-lite-v1:0:256k"
STEP = {"batchSize": 128, "trainingSamplePerPrompt": 8}


def rows(count):
    return [
        {
            "id": str(at),
            "messages": [{"role": "user", "content": f"What is {at} + 1?"}],
            "reference_answer": str(at + 1),
        }
        for at in range(count)
    ]


@pytest.fixture
def file(tmp_path):
    def written(lines, name="train.jsonl"):
        path = tmp_path / name
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        return path

    return written


def of(verdict, found):
    return [each.message for each in found if each.verdict == verdict]


def test_good_files_pass(file):
    found = list(data_findings([file(rows(120))], get("gsm8k")))
    assert [each.verdict for each in found] == ["ok"]
    assert "120 rows in" in found[0].message


def test_problems_of_one_kind_are_one_finding(file):
    broken = [*rows(120), *({"id": f"x{at}", "messages": []} for at in range(3))]
    found = of("failure", data_findings([file(broken)], get("gsm8k")))
    assert any("messages is not a list of turns: 3 times, first" in each for each in found)
    assert len(found) == 2  # and their references


@pytest.mark.parametrize(("count", "failures"), [(99, 1), (100, 0)])
def test_the_least_number_of_rows_is_the_services(file, count, failures):
    assert len(of("failure", data_findings([file(rows(count))], None))) == failures


@pytest.mark.parametrize("driver", ["sagemaker", "agent-rft"])
def test_sagemaker_states_no_least_number_of_rows(file, driver):
    assert not of("failure", data_findings([file(rows(3))], None, ROWS[driver]))


def test_a_validation_file_may_be_small(file):
    other = [row | {"id": f"v{row['id']}"} for row in rows(130)[120:]]
    files = [file(rows(120)), file(other, "dev.jsonl")]
    assert not of("failure", data_findings(files, get("gsm8k")))


GENERATED = [row | {"metadata": {"synthetic": True}} for row in rows(120)]


def test_synthetic_rows_are_refused_outside_an_emulated_stage(file):
    files = [file(rows(120)), file([*rows(3), *GENERATED[:2]], "dev.jsonl")]
    (found,) = synthetic_findings(files, emulated=False)
    assert (found.verdict, found.question) == ("failure", "data")
    assert found.message.startswith(f"synthetic rows: 2 in {files[1]} ")
    assert "reward data prepare" in found.message


def test_synthetic_rows_are_to_rehearse_with_on_the_emulator(file):
    files = [file(GENERATED)]
    assert list(synthetic_findings(files, emulated=True)) == []
    assert [each.verdict for each in data_findings(files, get("gsm8k"))] == ["ok"]


def test_a_file_without_synthetic_rows_is_taken_in_an_account(file):
    assert list(synthetic_findings([file(rows(120))], emulated=False)) == []


def test_files_that_share_a_prompt_are_refused(file):
    files = [file(rows(120)), file(rows(10), "dev.jsonl")]
    assert "two files share a prompt" in of("failure", data_findings(files, get("gsm8k")))[0]


def test_references_are_the_functions_own_affair_where_it_is_not_ours(file):
    lines = [row | {"reference_answer": ["a", "b"]} for row in rows(120)]
    assert of("failure", data_findings([file(lines)], get("gsm8k")))
    assert not of("failure", data_findings([file(lines)], None))


def test_logs_are_not_known(file):
    assert [each.verdict for each in data_findings([], None)] == ["unknown"]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"batchSize": 64, "trainingSamplePerPrompt": 4}, 256),
        ({"batchSize": 64}, None),
        ({}, None),
        ({"batch_size": 4}, None),  # the other API has no rollouts of a prompt
        ({"batchSize": "sixty", "trainingSamplePerPrompt": 4}, None),
        ({"global_batch_size": "128", "rollout_n": "8"}, 1024),  # SageMaker's are strings
        ({"global_batch_size": "128"}, None),
        ({"global_batch_size": "9" * 5000, "rollout_n": "8"}, None),
    ],
)
def test_a_step_wants_at_most_all_of_its_rollouts(given, wanted):
    assert wanted_at_most(given) == wanted


@pytest.fixture
def grader(local_aws, deployed_function, root_session, monkeypatch):
    """A function of the emulator, with some reserved concurrency."""
    for name, value in local_aws.environment.items():
        monkeypatch.setenv(name, value)

    def made(reserved=None):
        arn = deployed_function(SOURCE, name=f"SageMaker-reward-capacity-{next(NUMBERS)}")
        if reserved is not None:
            root_session.client("lambda").put_function_concurrency(
                FunctionName=arn, ReservedConcurrentExecutions=reserved
            )
        return DeployedFunction(f"{arn}:7", session=root_session)

    return made


@pytest.mark.parametrize(
    ("reserved", "given", "verdict", "sentence"),
    [
        (0, STEP, "failure", "a reserved concurrency of 0: every invocation is throttled"),
        (100, STEP, "warning", "has 100 reserved concurrent executions, and a step has 1,024"),
        (10, {}, "warning", "has 10 reserved concurrent executions: ask for more"),
        (900, {"batchSize": 64, "trainingSamplePerPrompt": 4}, "ok", "a step has 256 rollouts"),
        (900, {}, "ok", "has 900 reserved concurrent executions"),
        (None, STEP, "warning", "the account has "),
        (None, {"batchSize": 16, "trainingSamplePerPrompt": 2}, "ok", "the account has "),
    ],
)
def test_concurrency_is_shown_beside_what_a_step_may_want(
    grader, root_session, reserved, given, verdict, sentence
):
    function = grader(reserved)
    try:
        (finding,) = capacity_findings(function, given)
    finally:
        root_session.client("lambda").delete_function(FunctionName=function.arn.name)
    assert (finding.question, finding.verdict) == ("concurrency", verdict)
    assert sentence in finding.message


@pytest.mark.parametrize(
    ("model", "region", "verdict"),
    [
        (NOVA, "us-east-1", "ok"),
        ("openai.gpt-oss-20b", "us-west-2", "ok"),
    ],
)
def test_the_table_of_models_decides(model, region, verdict):
    assert {each.verdict for each in base_findings(model, region, None)} == {verdict}


def test_a_newer_model_is_a_warning_where_its_api_is_named():
    assert {each.verdict for each in base_findings("new.model", "us-east-1", "bedrock")} == {
        "warning"
    }


@pytest.mark.parametrize(
    ("taken", "fault", "verdict"),
    [
        (True, None, "failure"),
        (False, None, "ok"),
        (False, refusal(403, "AccessDeniedException"), "unknown"),
    ],
)
def test_the_name_of_the_model_is_to_be_free(control_plane, taken, fault, verdict):
    if taken:
        control_plane.models["x-1"] = {"modelArn": f"{ARN}:custom-model/m/000000000000"}
    if fault:
        control_plane.fail("GetCustomModel", fault)
    assert name_finding("x-1", "us-east-1").verdict == verdict


@pytest.mark.parametrize(
    ("driver", "grader"),
    [
        ("bedrock", SimpleNamespace(arn="arn")),
        ("openai", SimpleNamespace(arn="arn")),
        ("sagemaker", None),
        ("agent-rft", None),
    ],
)
@pytest.mark.parametrize("local", [True, False])
def test_a_job_of_any_service_refuses_synthetic_rows_in_an_account(
    file, driver, grader, local, monkeypatch
):
    asked = [each for each in preflight.CHECKS if each.of(SERVICES[driver])]
    monkeypatch.setattr(preflight, "CHECKS", asked[:1])
    monkeypatch.setattr(preflight, "scorer_named", lambda *_: None)
    monkeypatch.setattr(preflight, "endpoints", lambda _: SimpleNamespace(local=local))
    files = SimpleNamespace(paths={"data": file(GENERATED)})
    request = SimpleNamespace(agent="agent", model="model")
    stage = SimpleNamespace(stage="dev")
    job = SimpleNamespace(driver=driver, grader=grader, files=files, request=request, stage=stage)
    assert preflight.preflight(job).passed is local


def test_a_check_that_takes_a_while_is_announced_and_no_other(monkeypatch):
    silent = preflight.JobCheck(lambda _: iter(()))
    slow = preflight.JobCheck(lambda _: iter(()), "asking somebody")
    graded = preflight.JobCheck(lambda _: iter(()), "asking the version", graded=True)
    monkeypatch.setattr(preflight, "CHECKS", [silent, slow, graded, silent])
    request = SimpleNamespace(agent="agent", model="model")
    job = SimpleNamespace(driver="bedrock", grader=None, request=request)
    steps = []
    assert preflight.preflight(job, progress=steps.append).arn == "agent"
    assert steps == ["asking somebody"]
