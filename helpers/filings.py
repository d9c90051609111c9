"""FinQA in tables: questions with their gold, what of a record becomes one, and what units are for.

The records of `golds` are invented, one for each way in which the answer that a person wrote and
the result of the record's program stand to each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from helpers.shown import Shown
from reward_functions import Scored, get, sample, score_batch
from reward_functions.data.finqa import row_of
from reward_functions.data.records import Record, Row
from reward_functions.finqa.program import execute, parse, rounded
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from helpers.training_rows import TrainingRows

SHARE: Final = "what share of sales was rent?"

WHY: Final = {
    "plain": "they agree",
    "percent": "a percentage, computed as a fraction",
    "points": "a percentage, computed in points",
    "truncated": "cut off where it should be rounded",
    "percent_sign_forgotten": "the percent sign was forgotten",
    "yes_no": "they agree",
    "sign": "noise: the signs differ",
    "value": "noise: the values differ",
}
"""What the classes of `reward data prepare finqa` mean; those that the records below are of."""

SHOWN: Final = 8
"""Characters of a value; the reference holds it exactly."""

RECORDS: Final = (
    # question, what a person wrote, the program
    (SHARE, "12.5%", "divide(500, 4001)"),
    ("what was the growth of sales, in percent?", "14.3%", "multiply(divide(4, 28), const_100)"),
    ("what were total sales, in millions?", "263", "add(120, 143)"),
    ("what were average sales?", "81.6", "divide(245, 3)"),
    ("what percent of sales was rent?", "12.5", "divide(500, 4001)"),
    ("was rent greater than interest?", "yes", "greater(5, 4)"),
    ("what was the percentage change in sales?", "58.6%", "divide(-17, 29)"),
    ("what was the average of sales?", "331.6", "divide(1496.7, const_3)"),
)


def questions(rows: TrainingRows, count: int = 5) -> Shown:
    """The first questions: what each asks, and the gold that its program computes."""
    lines = []
    for row in rows.rows[:count]:
        gold = row["reference_answer"]
        asked = row["messages"][-1]["content"].rpartition("Question: ")[2].partition("\n")[0]
        lines.append([row["metadata"]["page"], asked, gold["program"], *_gold(gold)])
    heads = ("page", "question", "program", "value", "unit", "counted in")
    words = ("page", "question", "program", "unit")
    title = f"{rows.path.name}: {count} of {len(rows.rows):,} questions"
    return Shown([Sheet(title, heads, lines, words=words)])


def golds() -> Shown:
    """What becomes of each way in which an answer string and a program agree, or do not."""
    heads = ("question", "a person wrote", "program", "computes", "kept as", "because")
    lines = []
    for question, answer, written in RECORDS:
        computed = rounded(execute(parse(written), ()))
        found = row_of(Record(_record(question, answer, written, computed), "an invented record"))
        kept = " ".join(_gold(found.reference)[:2]) if isinstance(found, Row) else "dropped"
        why = WHY[found.counted if isinstance(found, Row) else found.why]
        lines.append([question, answer, written, str(computed), kept, why])
    return Shown(
        [Sheet("", heads, lines, words=tuple(head for head in heads if head != "computes"))]
    )


def paid_by(
    references: Mapping[str, Any], responses: Sequence[str], question: str = SHARE
) -> Shown:
    """What `finqa` pays for responses, by what the data step kept of the gold.

    Args:
        references: the gold in several shapes, by name.
        responses: final answers.
        question: of the prompt.
    """
    earned = {name: _earned(gold, responses, question) for name, gold in references.items()}
    lines = [
        [response, *(column[at] for column in earned.values())]
        for at, response in enumerate(responses)
    ]
    return Shown([Sheet(f"Question: {question}", ("response", *earned), lines)])


def _earned(reference: Any, responses: Sequence[str], question: str) -> list[str]:
    given = [sample(f"ANSWER: {each}", reference, prompt=question) for each in responses]
    results = score_batch(get("finqa").bind({}), given)
    return [f"{one.score.value:g}" if isinstance(one, Scored) else "unscored" for one in results]


def _gold(reference: Mapping[str, Any]) -> tuple[str, str, str]:
    """The value to eight characters, its unit, and what the question counts in."""
    value, scale = reference["value"], reference["scale"]
    cut = value if len(value) <= SHOWN else f"{value[:SHOWN]}…"
    return cut, reference["unit"], f"{scale:,}" if scale > 1 else ""


def _record(question: str, answer: str, program: str, computed: float | str) -> dict[str, Any]:
    """As the public files have it."""
    return {
        "id": "invented",
        "filename": "invented.pdf",
        "pre_text": [],
        "post_text": [],
        "table": [],
        "qa": {"question": question, "answer": answer, "exe_ans": computed, "program": program},
    }
