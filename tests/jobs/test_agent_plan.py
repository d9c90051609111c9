"""What a multi-turn job comes to, and what its plan refuses."""

import json

import pytest

from reward_functions.jobs.configuration import BadJob, JobConfiguration
from reward_functions.jobs.plan import Rates, plan
from reward_functions.jobs.plan_sheets import as_data, markdown

AGENT = "arn:aws:lambda:us-east-1:123456789012:function:SageMaker-agent:3"
MODEL = "openai-reasoning-gpt-oss-20b"


@pytest.fixture
def planned(tmp_path):
    def made(rows=100, validation=0, rates=None, **hyperparameters):
        files = {}
        for name, number in (("data", rows), ("validation", validation)):
            if number or name == "data":
                files[name] = tmp_path / f"{name}.jsonl"
                lines = (json.dumps({"prompt": f"{name} {n}"}) for n in range(number))
                files[name].write_text("".join(f"{line}\n" for line in lines))
        asked = JobConfiguration(
            driver="agent-rft", model=MODEL, agent=AGENT, hyperparameters=hyperparameters, **files
        )
        return plan(asked, rates=rates or Rates())

    return made


COUNTS = {
    # rows, validation rows, hyperparameters: steps, rollouts, of validation
    "the defaults": ((100, 0, {}), (1, 800, 0)),
    "an epoch of full steps": ((64, 0, {"global_batch_size": 32, "group_size": 4}), (2, 256, 0)),
    "a last step that is smaller": ((65, 0, {"global_batch_size": 32}), (3, 520, 0)),
    "three epochs": ((65, 0, {"global_batch_size": 32, "max_epochs": 3}), (9, 1560, 0)),
    "fewer steps than an epoch": ((100, 0, {"global_batch_size": 32, "max_steps": 2}), (2, 512, 0)),
    "an epoch and a part": (
        (40, 0, {"global_batch_size": 32, "max_epochs": 2, "max_steps": 3, "group_size": 2}),
        (3, 144, 0),
    ),
    "fifty steps at most": ((32, 0, {"global_batch_size": 32, "max_epochs": 30}), (30, 7680, 0)),
    "more than fifty": (
        (640, 0, {"global_batch_size": 32, "max_epochs": 30, "group_size": 2}),
        (50, 3200, 0),
    ),
    "validation at the end": ((64, 10, {"global_batch_size": 32}), (2, 512, 10)),
    "validation every second step": (
        (160, 10, {"global_batch_size": 32, "val_every": 2, "group_size": 2}),
        (5, 320, 30),
    ),
    "numbers that are strings": (
        (64, 0, {"global_batch_size": "64", "group_size": "2"}),
        (1, 128, 0),
    ),
    "one row": ((1, 0, {}), (1, 8, 0)),
}


@pytest.mark.parametrize("case", COUNTS)
def test_steps_and_rollouts_are_counted(planned, case):
    (rows, validation, given), counted = COUNTS[case]
    run = planned(rows, validation, **given).figures.run
    assert (run.steps, run.responses, run.validated) == counted


REFUSED = {
    "a batch that there is not": ({"global_batch_size": 33}, "is none of 32, 64, 128"),
    "a group of one": ({"group_size": 1}, "is below 2"),
    "a rate that is no number": ({"learning_rate": float("nan")}, "is no number"),
    "another spelling": ({"groupSize": 4}, "is written group_size"),
    "no rows": ({"rows": 0}, "has no rows"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_service_would_refuse_is_refused(planned, case):
    given, said = REFUSED[case]
    with pytest.raises(BadJob, match=said):
        planned(**given)


def test_what_nobody_knows_is_unknown_and_what_is_given_is_counted(planned):
    figures = as_data(planned())["figures"]
    assert figures["prompt_tokens"] is figures["training_usd"] is figures["minutes"] is None
    rated = as_data(planned(rates=Rates(step_minutes=30, hour_usd=10)))["figures"]
    assert (rated["minutes"], rated["training_usd"]) == (30, 5)


def test_a_plan_warns_and_is_written(planned):
    found = planned(20, group_size=2)
    assert [each.split(" is ")[0] for each in found.warnings] == [
        "group_size",
        "global_batch_size",
    ]
    text = "\n".join(markdown(found))
    assert "| steps | 1, each of 40 rollouts or fewer |" in text
    assert "## Warnings" in text
