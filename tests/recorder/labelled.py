"""Every labelled row there is, with the reward that it is about: our tables, and ../shared/data.

A maker turns a line of a file into (reward, row).
"""

from functools import cache
from pathlib import Path

from tests.recorder import options
from tests.recorder.rows import Row, Trial, lines, row

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "cases"
SHARED = ROOT.parent / "shared" / "data"
DEMO = (ROOT / "reward_functions" / "data" / "demo", ROOT / "helpers" / "demo")
"""Where the demo's rows are, one file a reward: here in one checkout, there in an older one."""

NOTES = ("shows", "expected")
"""What a row of the demo tells its reader of itself: no part of the sample."""

VARIANTS = {
    "math": (
        {"rounded": 2},
        {"rounded": 4},
        {"strict_percent": True},
        {"include_reasoning": True},
        {"rounded": 3, "strict_percent": True, "include_reasoning": True},
    ),
    "gsm8k": (
        {"flexible": True},
        {"include_reasoning": True},
        {"flexible": True, "include_reasoning": True},
    ),
    "finqa": (
        {"tolerance": 0.001},
        {"tolerance": 0.005},
        {"noise": "refuse"},
        {"marked": True},
        {"include_reasoning": True},
    ),
    "multiple_choice": ({"include_reasoning": True},),
    "exact_match": ({"ignore_case": False},),
    "reference": ({"answer": "whole"},),
}
"""Parameters other than the defaults, by the names that the first recorded checkout gives them."""


def _math(where, line):
    made = row(where, line["response"], line["reference"], line.get("prompt", ""))
    yield "math", made
    yield "reference", made


def _suite(where, line):
    """A row of a suite; a bare answer is put in a box."""
    bare = line.get("pred_kind", "bare") == "bare"
    response = _boxed(line["pred"]) if bare else line["pred"]
    question = line.get("question", "")
    made = row(where, response, line["gold"], question)
    yield "math", made
    if "(A)" in question:
        yield "multiple_choice", made


def _answer(where, line):
    yield from _math(where, {**line, "reference": line["answer"] or "1"})


def _numeral(where, line):
    reference = line["value"] or "1"
    yield "gsm8k", row(where, f"#### {line['text']}", reference)
    yield "math", row(where, _boxed(line["text"]), reference)
    yield "finqa", row(where, f"ANSWER: {line['text']}", reference)


def _symbolic(where, line):
    yield "math", row(where, _boxed(line["candidate"]), line["reference"])


def _own_finqa(where, line):
    reference = _finqa_references()[line["reference"]]
    yield "finqa", row(where, line["response"], reference, "Question: what is it?")


@cache
def _finqa_references():
    found = (line for _, line in lines(CASES / "finqa_references.jsonl"))
    return {line["name"]: line["reference"] for line in found}


def _own_gsm8k(where, line):
    made = row(where, line["response"], line["reference"], line.get("prompt", ""))
    yield "gsm8k", made
    yield "math", made


def _finqa(where, line):
    prompt = f"Question: {line['question']}"
    yield "finqa", row(where, line["pred"], line["gold"], prompt)


def _finqa_record(where, line):
    """A record answered as its annotator did, and as its program does."""
    known = {key: line[key] for key in ("qa", "table")}
    for said in (line["qa"]["answer"], line["qa"]["exe_ans"]):
        yield "finqa", row(where, f"ANSWER: {said}", known, line["qa"]["question"])


def _rollout(where, line):
    wire = {key: line[key] for key in ("messages", "reference_answer")}
    yield "gsm8k", Row(where, wire)
    yield "math", Row(where, wire)


def _solution(where, line):
    yield "gsm8k", row(where, line["answer"], line["answer"], line["question"])


def _math_test(where, line):
    yield "math", row(where, line["solution"], line["solution"], line["problem"])


def _tatqa(where, line):
    """A question with one answer, answered as it is written down."""
    answer = line["answer"]
    answer = answer[0] if isinstance(answer, list) and len(answer) == 1 else answer
    if isinstance(answer, str | int | float):
        reference = f"{answer} {line['scale']}".strip()
        yield "finqa", row(where, f"ANSWER: {reference}", reference, line["question"])


def _language(where, line):
    made = row(where, line["response"], line["reference"], line.get("prompt", ""))
    yield line["reward"], made


def _boxed(answer):
    return f"The final answer is $\\boxed{{{answer}}}$."


OWN = {
    "almost_alike.jsonl": _math,
    "answers.jsonl": _answer,
    "differential.jsonl": _math,
    "finqa.jsonl": _own_finqa,
    "gsm8k.jsonl": _own_gsm8k,
    "languages.jsonl": _language,
    "math.jsonl": _math,
    "numerals.jsonl": _numeral,
    "symbolic.jsonl": _symbolic,
    "verdicts.jsonl": _math,
    "wording.jsonl": _math,
}
"""Of tests/cases. `misses.jsonl` has rows of the suites, which are scored there."""

OTHERS = {
    "math/*.jsonl": _suite,
    "math/*.jsonl.gz": _suite,
    "gsm8k/rollouts.jsonl": _rollout,
    "gsm8k/test.jsonl": _solution,
    "finqa/cases.jsonl": _finqa,
    "finqa/fresh.jsonl": _finqa,
    "finqa/records.jsonl": _finqa_record,
    "public/hardverify_math.jsonl.gz": _suite,
    "public/math_test.jsonl.gz": _math_test,
    "public/tatqa_test_gold.json.gz": _tatqa,
}
"""Of ../shared/data, by patterns of paths. Its pairs are for judges; see `judged`."""


def own():
    """(reward, row) of our own tables."""
    for name, make in OWN.items():
        for where, line in lines(CASES / name):
            yield from make(where, line)
    yield from (("multiple_choice", each) for each in options.choices())
    written = [line["reference"] for _, line in lines(CASES / "math.jsonl")]
    references = dict.fromkeys(each for each in written if isinstance(each, str))
    yield from (("exact_match", each) for each in options.texts(references))


def others():
    """(reward, row) of the labelled data beside the checkout."""
    for pattern, make in OTHERS.items():
        for path in sorted(SHARED.glob(pattern)):
            for where, line in lines(path):
                yield from make(where, line)


def demo():
    """(reward, row) of the demo, judges included."""
    for path in sorted(path for home in DEMO for path in home.glob("*.jsonl")):
        for where, line in lines(path):
            metadata = {key: line["metadata"][key] for key in line["metadata"] if key not in NOTES}
            yield path.stem, Row(where, {**line, "metadata": metadata})


def trials(rows):
    """Two trials for each row: by the defaults, and by other parameters, which its name decides."""
    for reward, each in rows:
        yield Trial(reward, (each,))
        variants = VARIANTS[reward]
        yield Trial(reward, (each,), variants[int(each.name, 16) % len(variants)])
