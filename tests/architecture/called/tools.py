"""The tools of the laptop: rows of data sets, reports, charts, checks of documents."""

import re
from fractions import Fraction
from random import Random
from types import SimpleNamespace
from unittest.mock import MagicMock, patch

from reward_functions import sample
from reward_functions.tools.calibration import plots
from reward_functions.tools.datasets.other_answers import (
    ASSURED,
    CLAIMS,
    REASONED,
    UNSURE,
    ReplayCase,
)
from reward_functions.tools.datasets.rows import Record
from reward_functions.tools.deployed import CheckFinding, CheckReport
from reward_functions.tools.rows.writing import write
from reward_functions.tools.score_report.row_facts import CUT
from reward_functions.tools.training_double.wording import INJECTIONS
from tests.architecture.called.rows import Rows, numbered, placed, taken

# ---- charts


def of_card(_, draw):
    """The plot of a card that a row draws, and of what."""
    names = {"agreement": 1, "both": 2, "length": 1}
    drawn = {name: lambda *given, name=name: (name, *given) for name in names}
    with patch.multiple(plots, **drawn):
        return draw(SimpleNamespace(figures="figures", cases="cases"))


ROLLOUTS = SimpleNamespace(
    histogram=[SimpleNamespace(low=0.0, high=1.0, rollouts=2)],
    turns={2: 1},
    worst=[SimpleNamespace(id="a", rewards=(0.0, 1.0))],
    minimum=0.0,
    maximum=1.0,
)

# ---- rows

RECORDS = {
    "finqa": {
        "id": "a",
        "filename": "a/2020/page_1.pdf",
        "pre_text": [],
        "post_text": [],
        "table": [["", "2020"], ["sales", "3"]],
        "qa": {"question": "?", "program": "add(3, 4)", "exe_ans": 7.0, "answer": "7"},
    },
    "gsm8k": {"question": "?", "answer": "3 + 4\n#### 7"},
    "math": {
        "problem": "?",
        "solution": r"It is $\boxed{7}$.",
        "level": "Level 1",
        "type": "Algebra",
    },
}


def made_row(dataset, row_of):
    made = row_of(Record(RECORDS[dataset], "line 1"))
    return sorted(made.reference), sorted(made.metadata)


CASE = ReplayCase("line 1", sample("", "40", prompt="How many?"), "#### 40", "#### 41")

KINDS = (
    None,
    "text",
    {"role": "user"},
    [],
    ["text"],
    [{"role": "user"}],
    [{"from": "a", "value": 1}],
)
TEXT, OBJECT, EMPTY, TEXTS, MESSAGES, TURNS = KINDS[1:]

CANONICAL = {
    "id": "a",
    "messages": [
        {"role": "user", "content": "How many?"},
        {"role": "assistant", "content": "7"},
    ],
    "reference_answer": "7",
    "metadata": {"level": 1},
}


def written(target):
    """The columns of a row that is written, lists and objects marked."""
    marks = {list: "[]", dict: "{}"}
    content = write(CANONICAL, target).content
    return " ".join(f"{name}{marks.get(type(each), '')}" for name, each in content.items())


VERL = "id data_source prompt[] reward_model{} extra_info{} responses[]"

LINE = SimpleNamespace
PAGE = SimpleNamespace(first=LINE(old=20, new=30), second=LINE(old=2, new=3))


def asked(_, question):
    """What is asked, the program of the answer, and how an eighth is written."""
    words = question.text.partition(" {")[0]
    return words, question.program(PAGE), question.written(Fraction(1, 8))


def invented(_, row):
    """The subject and the level of a problem, and its first words."""
    invent, subject, level = row
    return subject, level, " ".join(re.findall("[A-Za-z]{3,}", invent(Random(1)).text)[:4])


# ---- documents

JSON = ({}, [], "", True, None, 1.5, 2)
NOTHING, LIST, STRING, TRUE, NULL, FRACTION, WHOLE = JSON


def bounded(_, row):
    holds, words = row
    return taken(lambda value: holds(value, 2.0), 1.0, 2.0, 3.0), words


# ---- reports and jobs


def rendered(_, render):
    finding = CheckFinding("ok", "state", "the function is active")
    return render([CheckReport("an-arn", (finding,))]).partition("\n")[0]


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
    "tools.datasets.generated.filings:QUESTIONS": Rows(
        asked,
        numbered(
            ("what was the percentage change in", "subtract(30, 20), divide(#0, 20)", "12.5%"),
            ("what percent of", "divide(3, 30)", "12.5%"),
            ("what was the total of", "add(30, 3)", "0.1"),
            ("what was the average", "add(20, 30), divide(#0, const_2)", "0.1"),
            ("was", "greater(30, 2)", "1/8"),
        ),
    ),
    "tools.datasets.generated.problems:PROBLEMS": Rows(
        invented,
        numbered(
            ("Algebra", "Level 1", "Solve for"),
            ("Algebra", "Level 3", "Find all real with"),
            ("Algebra", "Level 2", "Find all roots increasing"),
            ("Intermediate Algebra", "Level 1", "Expand and collect like"),
            ("Number Theory", "Level 1", "What the remainder when"),
            ("Number Theory", "Level 2", "Find the greatest common"),
            ("Prealgebra", "Level 2", "Compute frac frac Write"),
            ("Prealgebra", "Level 1", "What percent Give your"),
            ("Prealgebra", "Level 1", "Compute times Write decimal"),
            ("Counting & Probability", "Level 1", "bag holds red blue"),
            ("Geometry", "Level 3", "What the distance between"),
            ("Geometry", "Level 1", "Find the midpoint the"),
        ),
    ),
    "tools.jobs.signs:SIGNS": Rows(
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
    "tools.score_report.truncation:SIGNALS": Rows(
        lambda _, signal: (signal.name, taken(signal.shown, *CUT_OFF)),
        numbered(
            ("the row says that a limit of tokens ended it", [CUT_OFF[0]]),
            ("a reasoning section is never closed", [CUT_OFF[1]]),
            ("a box is never closed", [CUT_OFF[2]]),
            ("a code fence is never closed", [CUT_OFF[3]]),
        ),
    ),
    "cli._selection:_CHOSEN": Rows(
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
    "tools.calibration.page:CHARTS": Rows(
        of_card,
        {
            "Agreement with the label": ("agreement", "figures"),
            "Labels and ratings": ("both", "cases", "figures"),
            "Bias": ("length", "figures"),
        },
    ),
    "tools.rollouts.page:CHARTS": Rows(
        lambda _, draw: draw(ROLLOUTS).label,
        {
            "Rewards": "Rewards of the rollouts",
            "Turns": "Turns of the rollouts",
            "Rows that earn the least": "Rewards of the rows that earn the least",
        },
    ),
    "tools.datasets.generated.writing:ROWS": Rows(
        made_row,
        {
            "finqa": (
                "aliases decimals direction noise program scale unit value".split(),
                ["agreement", "page"],
            ),
            "gsm8k": (["final_answer"], ["solution"]),
            "math": (["final_answer"], ["level", "solution", "subject"]),
        },
    ),
    "tools.datasets.other_answers:OTHER_KINDS": Rows(
        lambda _, ways: (len(ways(CASE)), ways(CASE)[-1]),
        {
            "near misses": (9, "#### -40"),
            "a part of the right one": (1, "#### 4"),
            "unsure": (len(UNSURE), UNSURE[-1]),
            "wrong, reasoned": (1, f"{REASONED}\n#### 41"),
            "wrong, in capitals": (1, f"{ASSURED}\n#### 41"),
            "wrong, with a claim": (2 * len(CLAIMS), f"{CLAIMS[-1]}\n#### 41"),
            "words to the judge": (3 * len(INJECTIONS), f"#### 41\n{INJECTIONS[-1]}"),
        },
    ),
    "tools.rows.columns:_KINDS": Rows(
        lambda _, holds: taken(holds, *KINDS),
        {
            "": [*KINDS[1:]],
            "text": [TEXT],
            "messages": [MESSAGES],
            "turns": [MESSAGES, TURNS],
            "object": [OBJECT],
            "list": [EMPTY, TEXTS, MESSAGES, TURNS],
        },
    ),
    "tools.rows.writing:WRITERS": Rows(
        placed("tools.rows.writing:WRITERS", written),
        {
            "bedrock": "id messages[] reference_answer metadata{}",
            "openai": "level id messages[] reference_answer",
            "qrr": "level id question response reference",
            "sagemaker": VERL,
            "sagemaker-eval": "query response metadata{}",
            "trl": "level id prompt completion answer",
            "trl-chat": "level id prompt[] completion[] answer",
            "verifiers": "id prompt[] completion[] answer info{}",
            "verl": VERL,
        },
    ),
    "tools.jobs.drivers.agent_rft:_COMPARED": Rows(
        lambda _, part: part(DOCUMENT),
        {
            "the agent": "an-agent",
            "the data": {"train": "s3://a/b.jsonl"},
            "the base model": "a-model",
        },
    ),
    "tools.jobs.json_schema:_TYPES": Rows(
        lambda _, holds: taken(holds, *JSON),
        {
            "object": [NOTHING],
            "array": [LIST],
            "string": [STRING],
            "boolean": [TRUE],
            "null": [NULL],
            "number": [FRACTION, WHOLE],
            "integer": [WHOLE],
        },
    ),
    "tools.jobs.json_schema:_BOUNDS": Rows(
        bounded,
        {
            "minimum": ([2.0, 3.0], "below"),
            "maximum": ([1.0, 2.0], "above"),
            "exclusiveMinimum": ([3.0], "not above"),
            "exclusiveMaximum": ([1.0], "not below"),
        },
    ),
    "tools.deployed.jobs:SERVICES": Rows(
        listed,
        {
            "bedrock": ["list_model_customization_jobs"],
            "sagemaker": ["list_jobs", "list_training_jobs"],
        },
    ),
    "tools.deployed.reports:RENDERED": Rows(
        rendered,
        {
            "json": "[",
            "junit": "<?xml version='1.0' encoding='utf-8'?>",
            "markdown": "### `an-arn` passed",
        },
    ),
    "tools.score_report.criteria:_BEST": Rows(
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
