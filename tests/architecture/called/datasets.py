"""Data sets: their rows read, made, invented, written, and answered wrongly."""

import re
from fractions import Fraction
from random import Random
from types import SimpleNamespace

from reward_functions import sample
from reward_functions.data.other_answers import (
    ASSURED,
    CLAIMS,
    INJECTIONS,
    REASONED,
    UNSURE,
    ReplayCase,
)
from reward_functions.data.records import Record
from reward_functions.data.rows.writing import write
from tests.architecture.called.rows import Rows, numbered, placed, taken

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


ROWS = {
    "data.generated.filings:QUESTIONS": Rows(
        asked,
        numbered(
            ("what was the percentage change in", "subtract(30, 20), divide(#0, 20)", "12.5%"),
            ("what percent of", "divide(3, 30)", "12.5%"),
            ("what was the total of", "add(30, 3)", "0.1"),
            ("what was the average", "add(20, 30), divide(#0, const_2)", "0.1"),
            ("was", "greater(30, 2)", "1/8"),
        ),
    ),
    "data.generated.problems:PROBLEMS": Rows(
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
    "data.generated.writing:ROWS": Rows(
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
    "data.other_answers:OTHER_KINDS": Rows(
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
    "data.rows.columns:_KINDS": Rows(
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
    "data.rows.writing:WRITERS": Rows(
        placed("data.rows.writing:WRITERS", written),
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
}
