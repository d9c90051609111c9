"""A stage's alarms: how they are called, what they say, and that two stacks share none."""

from __future__ import annotations

import tomllib
from collections import Counter
from itertools import permutations

import pytest

from reward_functions.cdk.model.operating import ALARMS
from tests.cdk.conftest import ROOT, STAGES

KIND = "AWS::CloudWatch::Alarm"

LONGEST_NAME, LONGEST_DESCRIPTION = 255, 1024
"""Characters (`PutMetricAlarm`)."""


def alarms(stage):
    """The properties of a template's alarms, by their names."""
    made = [each for each in stage.template["Resources"].values() if each["Type"] == KIND]
    found = {each["Properties"]["AlarmName"]: each["Properties"] for each in made}
    assert len(found) == len(made)
    return found


@pytest.mark.parametrize("name", STAGES)
def test_an_alarm_s_name_has_the_stage_what_it_watches_and_the_condition(synthesised, name):
    stage = synthesised(name)
    prefix = f"{STAGES[name]['name_prefix']}-" if "name_prefix" in STAGES[name] else ""
    expected = {
        f"{prefix}reward-{name}-{each.deployment.name}-{row.condition}"
        for each in stage.stack.functions
        for row in ALARMS["deployment"]
    }
    found = alarms(stage)
    assert expected <= found.keys()
    ours = (f"{prefix}reward-{name}-", f"{prefix}rollouts-{name}-")
    assert all(each.startswith(ours) for each in found)
    assert all(len(each) <= LONGEST_NAME for each in found)


NAMED = [
    # what is watched, and the name of one of its alarms
    ("agents", "rollouts-agents-queued-dead-letters"),
    ("agents", "rollouts-agents-queued-not-forwarded"),
    ("agents", "rollouts-agents-feedback-waiting"),
    ("company", "acme-rollouts-company-feedback-unreported"),
    ("everything", "reward-everything-scale-failed-runs"),
    ("everything", "reward-everything-job-events-undelivered"),
    ("everything", "reward-everything-gsm8k-sagemaker-errors"),  # of every generation
]


@pytest.mark.parametrize(("stage", "name"), NAMED)
def test_what_is_no_deployment_is_named_too(synthesised, stage, name):
    assert name in alarms(synthesised(stage))


UNLUCKY = ["scale", "job-events", "feedback", "bad", "no", "errors", "x-bad", "x", "x_no", "job"]
"""Names of deployments that begin or end as another alarm's name does."""


def test_no_two_alarms_of_two_stages_share_a_name(stack_of):
    """Stages whose functions differ: Lambda refuses what has another's name."""
    given = {"feedback": {}, "scale": {}, "deployments": [
        {"name": each, "reward": "gsm8k"} for each in UNLUCKY
    ]}  # fmt: skip
    names = Counter()
    for stage in ("dev", "scale", "dev-scale"):
        names.update(alarms(stack_of(given, name=stage)).keys())
    assert {name for name, count in names.items() if count > 1} == set()


def test_no_condition_ends_as_another_one():
    conditions = {row.condition for rows in ALARMS.values() for row in rows}
    assert not [
        (one, other) for one, other in permutations(conditions, 2) if one.endswith(f"-{other}")
    ]


def test_a_new_version_changes_no_alarm(stack_of):
    """What a rollback compares, and what pages somebody, stays under its name."""
    given = {"deployments": ["gsm8k", {"name": "held", "reward": "gsm8k"}]}
    before, after = (
        alarms(stack_of(given, digests={"gsm8k": letter * 64})) for letter in ("a", "b")
    )
    assert before == after


@pytest.mark.parametrize("name", ["everything", "agents"])
def test_an_alarm_says_what_it_means_what_to_do_and_where_its_runbook_is(synthesised, name):
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    page = (ROOT / "docs/how-to/operate.md").read_text()
    for each in alarms(synthesised(name)).values():
        means, _, where = each["AlarmDescription"].rpartition(" Runbook: ")
        assert means.count(". ") >= 1
        path, _, anchor = where.partition("#")
        assert (path, page.count(f"\n### {anchor}\n")) == (
            f"{urls['Documentation']}/how-to/operate.md",
            1,
        )
        assert len(each["AlarmDescription"]) <= LONGEST_DESCRIPTION
