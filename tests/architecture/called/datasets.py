"""Data sets: their rows read, made, invented, written, and answered wrongly."""

from fractions import Fraction
from random import Random

from reward_functions import sample
from reward_functions.audit.other_answers import (
    ReplayCase,
)
from reward_functions.data.records import Record
from reward_functions.data.rows.writing import write
from tests.architecture.called.rows import Rows, placed, taken

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
    "hotpotqa": {"id": "1", "question": "?", "answer": "7", "context": [["A", ["It is 7."]]]},
    "ifeval": {"prompt": "?", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]},
    "math": {
        "problem": "?",
        "solution": r"It is $\boxed{7}$.",
        "level": "Level 1",
        "type": "Algebra",
    },
    "pandalm": {
        "idx": 1,
        "cmp_key": "a_b",
        "instruction": "?",
        "input": "",
        "response1": "7",
        "response2": "8",
        **{f"annotator{number}": 1 for number in (1, 2, 3)},
    },
    "squad": {"id": "1", "question": "?", "context": "It is 7.", "answers": [{"text": "7"}]},
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


def drawn(_, draws):
    """The names that a problem's template may use."""
    return " ".join(draws(Random(1)))


ROWS = {
    "data.generated.records:DRAWS": Rows(
        drawn,
        {
            "linear_equation": "a b c x plus_b rest",
            "interval": "middle minus_middle reach low high",
            "roots": "low high total product linear plus_product",
            "product_of_binomials": "plus_a plus_b plus_product total product sign middle",
            "remainder": "n m times rest",
            "greatest_divisor": "a b divisor",
            "sum_of_fractions": "a b c d multiple numerator denominator",
            "percentage": "whole part share quotient",
            "decimal_product": "a b left right product whole places",
            "probability": "red blue green all numerator denominator",
            "distance": "x y to_x to_y square outer inner",
            "midpoint": "x y from_x from_y to_x to_y",
        },
    ),
    "data.generated.records:WRITTEN": Rows(
        lambda _, written: written(Fraction(1, 8)),
        {"percent": "12.5%", "figure": "0.1", "text": "1/8"},
    ),
    "data.public:ROWS": Rows(
        made_row,
        {
            "finqa": (
                "aliases decimals direction noise program scale unit value".split(),
                ["agreement", "page"],
            ),
            "gsm8k": (["final_answer"], ["solution"]),
            "hotpotqa": (["answer"], []),
            "ifeval": (["instruction_id_list", "kwargs"], ["prompt"]),
            "math": (["final_answer"], ["level", "solution", "subject"]),
            "pandalm": (["answer", "label", "votes"], ["models", "prompt"]),
            "squad": (["answer"], ["page"]),
        },
    ),
    "data.rows.shapes:_KINDS": Rows(
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
