"""What is to be reported, its token, and what became of it."""

from dataclasses import replace

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.report.intents import Target, client_token, report
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.request import outcomes

TARGET = Target(job_arn="J", trajectory_id="t", endpoint="https://e", region="us-east-1")


def intents(**report_of):
    return report(TARGET, created=1.0, expires=2.0, **report_of)


def test_a_report_is_its_completion_and_then_its_rewards():
    assert [
        (each.operation, each.payload) for each in intents(status="ready", rewards=[0, 1.0])
    ] == [
        ("complete", {"Status": "ready"}),
        ("reward", {"Rewards": [0, 1.0]}),
    ]
    assert [each.operation for each in intents(rewards=[1])] == ["reward"]
    assert intents() == ()


@pytest.mark.parametrize(
    ("given", "of_failed"),
    [
        ({"status": "ready", "rewards": [1]}, [False, False]),
        ({"status": "failed", "rewards": [0]}, [False, True]),
        ({"status": "failed"}, [False]),
        ({"rewards": [0]}, [False]),
        ({"rewards": [0], "failed": True}, [True]),
    ],
)
def test_the_reward_of_a_failed_rollout_says_so_and_its_token_does_not(given, of_failed):
    made = intents(**given)
    assert [each.of_failed for each in made] == of_failed
    assert [each.token for each in made] == [replace(each, of_failed=False).token for each in made]


def test_a_token_follows_from_what_it_says_and_from_nothing_else():
    (first,), (second,) = (
        intents(rewards=[1.0]),
        report(
            Target(
                job_arn="J", trajectory_id="t", endpoint="https://elsewhere", region="eu-west-1"
            ),
            created=5.0,
            expires=9.0,
            rewards=[1.0],
        ),
    )
    assert first.token == second.token
    assert len(first.token) == 32


def test_what_says_something_else_has_another_token():
    tokens = {
        client_token(*parts)
        for parts in [
            ("J", "t", "reward", "1"),
            ("K", "t", "reward", "1"),
            ("J", "u", "reward", "1"),
            ("J", "t", "complete", "1"),
            ("J", "t", "reward", "2"),
            # Parts are kept apart: neither a quote nor a separator moves from one to the next.
            ('J","t', "", "reward", "1"),
            ("Jt", "", "reward", "1"),
        ]
    }
    assert len(tokens) == 7


def test_a_reward_that_json_cannot_hold_never_gets_a_body():
    (intent,) = intents(rewards=[float("nan")])
    with pytest.raises(ValueError, match="not JSON compliant"):
        _ = intent.body


def test_an_outcome_is_one_sentence():
    outcome = outcomes.Throttled(
        operation="reward",
        trajectory_id="t",
        attempts=3,
        status=429,
        error_type="ThrottlingException",
        pending=True,
    )
    assert outcome.sentence == (
        "the reward report of rollout t was throttled, tried 3 times (429, ThrottlingException); "
        "the outbox tries again"
    )
    assert (outcome.delivered, outcome.retryable) == (False, True)


@pytest.mark.parametrize(
    ("environ", "settings"),
    [
        ({}, RolloutSettings()),
        ({"WINDOW": "120"}, RolloutSettings(window=120.0, margin=12.0)),
        ({"WINDOW": "120", "MARGIN": "5.5"}, RolloutSettings(window=120.0, margin=5.5)),
        (
            {"TRANSPORT": "bearer", "ON_FAILURE": "minimum", "RERUN": "0", "OUTBOX": "memory:"},
            RolloutSettings(
                transport="bearer", on_failure="minimum", rerun=False, outbox="memory:"
            ),
        ),
    ],
)
def test_settings_come_from_the_environment(environ, settings):
    given = {f"REWARD_ROLLOUTS_{name}": value for name, value in environ.items()}
    assert RolloutSettings.from_env(given) == settings


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("WINDOW", "soon", "REWARD_ROLLOUTS_WINDOW is not a number of seconds: 'soon'"),
        ("WINDOW", "-1", "REWARD_ROLLOUTS_WINDOW is not a number of seconds: '-1'"),
        ("MARGIN", "nan", "REWARD_ROLLOUTS_MARGIN is not a number of seconds: 'nan'"),
        ("MARGIN", "700", "REWARD_ROLLOUTS_MARGIN is not less than REWARD_ROLLOUTS_WINDOW, 600"),
        (
            "TRANSPORT",
            "modeled",
            "REWARD_ROLLOUTS_TRANSPORT is 'modeled', not modelled, bearer or alpha",
        ),
        ("RERUN", "yes", "REWARD_ROLLOUTS_RERUN is 'yes', not 1 or 0"),
    ],
)
def test_a_setting_that_is_none_is_one_sentence(name, value, sentence):
    with pytest.raises(ConfigurationError) as refusal:
        RolloutSettings.from_env({f"REWARD_ROLLOUTS_{name}": value})
    assert str(refusal.value) == sentence
