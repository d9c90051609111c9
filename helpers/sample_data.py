"""The demo's responses, as the rows a trainer sends and as samples; each row says what it earns.

FinQA in tables: questions with their gold, what of a record becomes one, and what units are for.

The records of `golds` are invented, one for each way in which the answer that a person wrote and
the result of the record's program stand to each other.

A reward ready to score where there is no model: a script answers what a judge asks.

The script is that of the demo and of the stage `local`; it knows the judges `reference` and
`pandalm`, and decides by form alone. A reward that asks nobody is bound as it is.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any, Final

from helpers.shown import Shown
from reward_functions import Scored, get, sample, score_batch
from reward_functions.data.json_rows import read_rows
from reward_functions.data.public import finqa_row
from reward_functions.data.records import Record, Row
from reward_functions.finqa.program import execute, parse, rounded
from reward_functions.local.scripted_judge import verdict
from reward_functions.reports.sheets import Sheet
from reward_functions.serving.contract import decode_row
from reward_functions.testing import FakeAsk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from helpers.training_rows import TrainingRows
    from reward_functions import RewardSpec, Sample, Unscored
    from reward_functions.core.asking import Question
    from reward_functions.core.spec import RewardFunction


def demo_rewards() -> list[str]:
    """The rewards that have demo rows."""
    return sorted(
        file.name.removesuffix(".jsonl")
        for file in (files("reward_functions.data") / "demo").iterdir()
        if file.name.endswith(".jsonl")
    )


def demo_rows(reward: str) -> list[dict[str, Any]]:
    """The rows for a reward; `metadata.shows` describes each, `metadata.expected` is its score.

    Raises:
        ValueError: the reward has no demo rows.
    """
    if reward not in demo_rewards():
        raise ValueError(f"no demo rows for {reward!r}; there are {', '.join(demo_rewards())}")
    with as_file(files("reward_functions.data") / "demo" / f"{reward}.jsonl") as file:
        return [row.content for row in read_rows(str(file))]


def demo_samples(reward: str) -> list[Sample | Unscored]:
    """The same rows decoded as the Lambda decodes them; a malformed one is `Unscored`.

    Raises:
        ValueError: the reward has no demo rows.
    """
    return [decode_row(row, at) for at, row in enumerate(demo_rows(reward))]


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
        found = finqa_row(
            Record(_record(question, answer, written, computed), "an invented record")
        )
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


def bound_by_script(
    spec: RewardSpec, parameters: Mapping[str, object] | None = None
) -> RewardFunction:
    """The reward with its parameters, and the script in the place of a judge's model.

    Raises:
        BadParameter: it has no such parameter, or not of this type.
    """
    if not spec.needs.judge:
        return spec.bind(parameters or {})
    return spec.bind(parameters or {}, ask=FakeAsk(answer=_answer))


def _answer(question: Question) -> dict[str, str]:
    return verdict(f"{question.shared}\n{question.text}")
