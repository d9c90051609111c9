"""The files of the scoreboard: where each comes from, and how its rows are read.

`KNOWN` lists the files of ../shared/data; any other file is JSON lines, gzipped or not, whose rows
name a reference, a response and a label by one of the names of `NAMES`.
"""

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from reward_functions.extraction.candidates.boxes import last_boxed
from tests.oracle.suites import boxed

SHARED = Path(__file__).parents[3] / "shared" / "data"

NAMES = {
    "reference": ("gold", "reference", "reference_answer"),
    "response": ("pred", "response", "completion"),
    "label": ("label", "correct", "is_correct"),
}
"""What the fields of a row may be called, the first that is there counts."""


@dataclass(frozen=True)
class Row:
    """A response with its reference and its label.

    Args:
        kind: how the reference is written.
        artefact: whether the file, and not the response, may be at fault where it is refused.
        trouble: why the row cannot be read; "" where it can.
    """

    id: str
    reference: object
    response: str
    right: bool
    prompt: str = ""
    kind: str = "bare"
    artefact: bool = False
    trouble: str = ""


@dataclass(frozen=True)
class Set:
    """A file of rows.

    Args:
        reward: who scores it.
        source: where it comes from.
        licence: under which it is published.
        read: makes rows of what the file holds.
        rival: whether the other verifiers read such references as well.
        skipped: why nothing of it is scored; "" where it is.
        part: which of its rows, where they are two kinds of references; "" for all.
        of_part: whether a reference belongs to the part.
    """

    reward: str
    source: str
    licence: str
    read: Callable[[list], Iterator[Row]]
    rival: bool = True
    skipped: str = ""
    part: str = ""
    of_part: Callable[[object], bool] = lambda _: True

    def rows(self, held):
        """The rows of this part of a file."""
        return [row for row in self.read(held) if row.trouble or self.of_part(row.reference)]


def labelled(rows):
    """Rows with a label of their own; one that cannot be read keeps its place, and says why."""
    for at, row in enumerate(rows):
        try:
            if row.get("accept") != "any":
                yield _labelled(row, at)
        except (LookupError, AttributeError) as error:
            trouble = error.args[0] if isinstance(row, dict) else "the row is not an object of JSON"
            yield Row(f"row {at + 1}", "", "", right=False, trouble=trouble)


def _labelled(row, at):
    """One row. A bare answer of mathematics is put in a box."""
    fields = {**row, **row.get("metadata", {})}
    messages = row.get("messages", ())
    response = _field(fields, "response", _said(messages, "assistant"))
    bare = row.get("pred_kind", "bare" if "reference" not in row else "") == "bare"
    reference = _field(fields, "reference")
    if bare and not messages and not isinstance(reference, dict):
        response = boxed(response)
    return Row(
        str(row.get("id", at)),
        reference,
        response,
        bool(_field(fields, "label")),
        row.get("question") or row.get("prompt") or _said(messages, "user"),
        row.get("gold_kind", "bare"),
    )


def _said(messages, role):
    said = [each["content"] for each in messages if each["role"] == role]
    return said[-1] if said else ""


def _field(row, name, default=None):
    found = [row[each] for each in NAMES[name] if each in row]
    if not found and default is None:
        raise LookupError(f"the row has no {name}: none of {', '.join(NAMES[name])}")
    return found[0] if found else default


def solutions(rows):
    """People's solutions as responses; the answer is the last box, and all of them are right.

    Where a solution has several boxes, or its last one holds a coefficient (`\\boxed{-15}x^3`, the
    term behind a minus), the last box need not be the answer: an artefact of taking it for one.
    """
    for row in rows:
        solution = row["solution"]
        box = last_boxed(solution)
        if not box:
            continue
        before, _, behind = solution.rpartition("\\boxed")
        rest = behind.lstrip("{ ")[len(box.text) :].lstrip("} ")
        artefact = "\\boxed" in before or before.endswith("-") or rest[:1].isalpha()
        yield Row(row["id"], box.text, solution, True, row["problem"], artefact=artefact)


def tables(contexts):
    """TAT-QA's single numbers, as answers that are right, and ten times as large, which are not."""
    for context in contexts:
        for question in context["questions"]:
            number = _number(question["answer"])
            if number is None:
                continue
            percent, scale = question["scale"] == "percent", question["scale"]
            behind = "%" if percent else f" {scale}" if scale else ""
            reference = {"answer": f"{number}{behind}", "exe_ans": None}
            reference["question"] = question["question"]
            yield Row(question["uid"], reference, f"ANSWER: {number}{behind}", right=True)
            if Fraction(number):
                wrong = f"ANSWER: {float(Fraction(number) * 10):.6f}{behind}"
                yield Row(f"{question['uid']}-tenfold", reference, wrong, right=False)


def _number(answer):
    """A decimal number, as text; None for words, several values and years on end."""
    text = "" if isinstance(answer, list) else str(answer).replace(",", "").strip(" $")
    return text if _DECIMAL.fullmatch(text) else None


_DECIMAL = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")

PRIME = "evaluation outputs of PRIME-RL/PRIME and NovaSky-AI/SkyThought"
OURS = "written for this project against its rules, by somebody who did not see the code"

OMNI = "Omni-MATH-rule by frontier models, arka-ritual/omni-math-rule-ca"
GAOKAO26 = "Gaokao 2026, Chinese, by 20 models, iamyb/llm-gaokao-math-eval"
GAOKAO = "GAOKAO-Bench, OpenLMLab/GAOKAO-Bench"
THEOREMQA = "TheoremQA by eight models, wenhuchen/TheoremQA"


def one(*fields):
    """A file that is one set."""
    return (Set(*fields),)


def kinds_of_theoremqa():
    """TheoremQA by the kind of its references."""
    kinds = {
        "numbers and options": lambda value: not isinstance(value, bool | list),
        "booleans": lambda value: isinstance(value, bool),
        "lists": lambda value: isinstance(value, list),
    }
    return tuple(
        Set("math", THEOREMQA, "not stated", labelled, part=name, of_part=kind)
        for name, kind in kinds.items()
    )


KNOWN = {
    "public/hardverify_math.jsonl.gz": one(
        "math", "HardVerify-Math, from TinyV: 119 problems", "MIT", labelled
    ),
    "public/math_test.jsonl.gz": one(
        "math", "MATH, test split, people's solutions as responses", "MIT", solutions
    ),
    "public/tatqa_test_gold.json.gz": one(
        "finqa", "TAT-QA, test split, single numbers and their tenfold", "CC BY 4.0", tables, False
    ),
    "public/llmbar_cases.jsonl.gz": one(
        "", "LLMBar", "MIT", labelled, False, "pairs for a judge; no rule scores them"
    ),
    "math/real_boxed.jsonl.gz": one("math", PRIME, "Apache-2.0", labelled),
    "math/real_math_responses.jsonl": one(
        "math",
        "samples of a model to MATH test, published with Qwen2.5-Math",
        "not stated",
        labelled,
    ),
    "math/fresh.jsonl": one("math", OURS, "this project's", labelled),
    "finqa/fresh.jsonl": one("finqa", OURS, "this project's", labelled, False),
    "finqa/cases.jsonl": one(
        "finqa", "made by hand over references of FinQA", "MIT", labelled, False
    ),
    "gsm8k/rollouts.jsonl": one(
        "gsm8k",
        "responses of four models to GSM8K, openai/grade-school-math",
        "MIT",
        labelled,
        False,
    ),
    "unseen/omni_rule.jsonl.gz": one("math", OMNI, "not stated", labelled),
    "unseen/gaokao26.jsonl.gz": one("math", GAOKAO26, "not stated", labelled),
    "unseen/gaokao_fib.jsonl.gz": one("math", GAOKAO, "not stated", labelled),
    "unseen/theoremqa.jsonl.gz": kinds_of_theoremqa(),
    "unseen/gaokao_mcq.jsonl.gz": one("multiple_choice", GAOKAO, "not stated", labelled, False),
}


def present(only=""):
    """The known files that are there, and whose names hold a text."""
    return [path for name in KNOWN if only in name and (path := SHARED / name).exists()]


def known(path, reward):
    """What is known of a file: its name, and its sets."""
    name = "/".join(path.parts[-2:])
    if name not in KNOWN:
        return path.name, one(reward, "given by path", "not known", labelled)
    return name, KNOWN[name]


def opened(path):
    """(the checksum of a file, what it holds): a JSON list, or JSON lines."""
    raw = path.read_bytes()
    text = gzip.decompress(raw) if path.suffix == ".gz" else raw
    lists = path.name.removesuffix(".gz").endswith(".json")
    held = json.loads(text) if lists else [_parsed(line) for line in text.splitlines()]
    return hashlib.sha256(raw).hexdigest(), held


def _parsed(line):
    """A line of JSON; None where it is not."""
    try:
        return json.loads(line)
    except ValueError:
        return None
