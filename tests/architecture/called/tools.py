"""The tools of the laptop: charts, documents of services, reports, jobs."""

from datetime import UTC, datetime
from types import SimpleNamespace
from unittest.mock import MagicMock, patch

from reward_functions import sample
from reward_functions.aws.request_validation import problems
from reward_functions.calibration import card
from reward_functions.jobs.hyperparameters import Hyperparameter
from reward_functions.reports.score_report.digest import CUT
from tests.architecture.called.rows import Rows, numbered, outcome, placed, taken

# ---- charts


def of_card(_, draw):
    """The plot of a card that a row draws, and of what."""
    names = ("agreement", "both", "length", "two_judges", "who_is_right")
    drawn = {name: lambda *given, name=name: (name, *given) for name in names}
    with patch.multiple(card, **drawn):
        fields = ("figures", "cases", "called", "beside")
        return draw(SimpleNamespace(**{name: name for name in fields}))


ROLLOUTS = SimpleNamespace(
    histogram=[SimpleNamespace(low=0.0, high=1.0, count=2)],
    turns={2: 1},
    worst=[SimpleNamespace(id="a", rewards=(0.0, 1.0))],
    minimum=0.0,
    maximum=1.0,
)

# ---- documents

STARTED = datetime(2026, 1, 2, tzinfo=UTC)

JSON = ({}, [], "", True, None, 1.5, 2)
NOTHING, LIST, STRING, TRUE, NULL, FRACTION, WHOLE = JSON


def of_kind(kind):
    """The values that a hyperparameter of a kind takes."""
    return taken(Hyperparameter("h", kind).takes, *JSON)


def of_shape(kind):
    """The values that have the type of a shape of AWS's."""
    shape = MagicMock(type_name=kind, is_document_type=False)

    def fits(value):
        return f"Member must be a {kind}" not in str(outcome(list, problems(shape, value)))

    return taken(fits, *JSON, b"", STARTED)


def bounded(_, row):
    holds, words = row
    return taken(lambda value: holds(value, 2.0), 1.0, 2.0, 3.0), words


# ---- reports and jobs


def listed(_, running):
    """The lists that a service is asked for."""
    client = MagicMock()
    list(running(client))
    return sorted({called.args[0] for called in client.get_paginator.call_args_list})


DOCUMENT = {
    "AgentConfig": {"CustomAgentLambdaConfig": {"LambdaArn": "an-agent"}},
    "InputDataConfig": [
        {"ChannelName": "train", "DataSource": {"S3DataSource": {"S3Uri": "s3://a/b.jsonl"}}}
    ],
    "TrainingConfig": {"BaseModelArn": "a-model"},
}

BEST = {"criteria": "summarization"}

VALUES = {
    # a value on a scale from 0 to 1, and whether its response was cut off
    "lowest": (0.0, 0),
    "between": (0.5, 0),
    "cut": (0.5, CUT),
    "highest": (1.0, 0),
    "none": (None, 0),
}


def chosen(_, choose):
    scale = SimpleNamespace(minimum=0.0, maximum=1.0)

    def takes(name):
        value, signs = VALUES[name]
        return choose(SimpleNamespace(value=value, signs=signs), scale)

    return taken(takes, *VALUES)


COURSES = {
    "ones": [1.0] * 6,
    "zeros": [0.0] * 6,
    "low": [0.1] * 6,
    "falling": [1.0, 1.0, 0.8, 0.8, 0.1, 0.1],
    "lower": [0.6, 0.6, 0.5, 0.5, 0.4, 0.4],
    "rising": [0.1, 0.1, 0.4, 0.4, 0.95, 0.95],
    "a spike": [0.01, 0.01, 0.01, 0.3, 0.01, 0.01],
    "behind its best": [0.5, 0.5, 0.5, 0.6, 0.5, 0.5],
}


def shown(_, sign):
    """A sign, and the courses that show it."""
    return sign.name, taken(lambda name: sign.shows(COURSES[name]), *COURSES)


CUT_OFF = (
    sample("5", finish_reason="length"),
    sample("<think>So"),
    sample(r"So \boxed{5"),
    sample("So\n```python\n5"),
)

ROWS = {
    "jobs.figures:SIGNS": Rows(
        shown,
        numbered(
            ("every response earned the minimum", ["ones"]),
            ("every group earned the same", ["ones"]),
            ("the reward stays low", ["zeros", "low", "falling", "a spike"]),
            ("the reward falls", ["falling", "lower"]),
            ("groups without advantage", ["ones", "rising"]),
            ("no standard deviation", ["zeros"]),
            ("the rewards spread", ["rising"]),
            ("the entropy collapses", ["falling"]),
            ("responses grow", ["rising"]),
            ("the gradient spikes", ["a spike"]),
            ("the validation falls", ["falling", "lower", "a spike", "behind its best"]),
            ("samples without a score", [each for each in COURSES if each != "zeros"]),
        ),
        alike=((0, 1), (6, 8)),
    ),
    "reports.score_report.reasons:SIGNALS": Rows(
        lambda _, signal: (signal.name, taken(signal.shown, *CUT_OFF)),
        numbered(
            ("the row says that a limit of tokens ended it", [CUT_OFF[0]]),
            ("a reasoning section is never closed", [CUT_OFF[1]]),
            ("a box is never closed", [CUT_OFF[2]]),
            ("a code fence is never closed", [CUT_OFF[3]]),
        ),
    ),
    "scoring.run:_CHOSEN": Rows(
        chosen,
        {
            "minimum": ["lowest"],
            "maximum": ["highest"],
            "partial": ["between", "cut"],
            "unscored": ["none"],
            "truncated": ["cut"],
            "disagree": [*VALUES],
        },
    ),
    "calibration.card:CHARTS": Rows(
        of_card,
        {
            "Agreement with the label": ("agreement", "figures"),
            "Two judges": ("two_judges", "called", "beside"),
            "Who is right": ("who_is_right", "beside"),
            "Labels and ratings": ("both", "cases", "figures"),
            "Bias": ("length", "figures"),
        },
    ),
    "rollouts.drive.report_page:CHARTS": Rows(
        lambda _, draw: draw(ROLLOUTS).label,
        {
            "Rewards": "Rewards of the rollouts",
            "Turns": "Turns of the rollouts",
            "Rows that earn the least": "Rewards of the rows that earn the least",
        },
    ),
    "jobs.hyperparameters:TYPES": Rows(
        placed("jobs.hyperparameters:TYPES", of_kind),
        {"integer": [WHOLE], "float": [FRACTION, WHOLE], "string": [STRING], "boolean": [TRUE]},
        alike=(("integer", "boolean"), ("float", "boolean")),
    ),
    "aws.request_validation:TYPES": Rows(
        placed("aws.request_validation:TYPES", of_shape),
        {
            **{key: [STRING] for key in ("string", "character")},
            **{key: [WHOLE] for key in ("integer", "long")},
            **{key: [FRACTION, WHOLE] for key in ("float", "double")},
            "boolean": [TRUE],
            "blob": [b""],
            "timestamp": [STARTED],
            **{key: [NOTHING] for key in ("structure", "map")},
            "list": [LIST],
        },
    ),
    "aws.deployed.pruning:SERVICES": Rows(
        listed,
        {
            "bedrock": ["list_model_customization_jobs"],
            "sagemaker": ["list_jobs", "list_training_jobs"],
        },
    ),
    "reports.score_report.criteria:_BEST": Rows(
        lambda _, best: best(BEST),
        {
            "rubric": {
                **dict.fromkeys(("faithful", "own_words", "concise", "readable"), "yes"),
                "covers": "all",
            },
            "pandalm": dict.fromkeys(("specific", "true_to_responses", "supports_verdict"), "yes"),
            "reference": {"same": "yes"},
            "pairwise": {"better, shown first": "first", "better, shown second": "second"},
            "group": {"grade": "excellent"},
        },
    ),
}
