"""The picture of a score report: what `reward score --report` draws of 400 written responses.

Problems are those of `reward data generate`, and responses those of the simulated policy's
strategies: the picture shows the page and measures no model.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Final

from reward_functions import get, score_batch
from reward_functions.local.training_double.strategies import STRATEGIES, task_of
from reward_functions.reports.pages.charts.drawing import side_by_side
from reward_functions.reports.score_report import tables
from reward_functions.reports.score_report.figures import Batch
from reward_functions.reports.score_report.labels import confusion, labels_of
from reward_functions.reports.score_report.reasons import tallied
from reward_functions.serving.contract import decode
from tests.rehearsals import generated_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

ROWS: Final = 100

RESPONSES: Final = 4
"""To each prompt."""

WEIGHTS: Final = (8, 4, 4, 1, 2, 1, 1, 3, 1)
"""How often each strategy is written, in their order."""

LABEL: Final = (
    "Of 400 responses to problems of arithmetic: why some earn nothing, as a bar for each reason, "
    "and how many of the correct and of the incorrect ones the reward calls so."
)


def report_picture() -> str:
    """The most frequent reasons at the minimum, and rewards against labels, side by side."""
    spec = get("gsm8k")
    samples = decode(list(_written()))
    batch = Batch.of(samples, score_batch(spec, samples), spec.scale)
    found = confusion(batch, labels_of(samples, "correct", spec.scale))
    charts = [
        tables.reasons_chart(tallied(batch, spec.name)),
        tables.confusion_chart(found),
    ]
    return side_by_side(LABEL, charts).picture()


def _written() -> Iterator[dict[str, Any]]:
    """Rows as a trainer sends them: each problem with its responses."""
    random = Random(0)
    problems, _ = generated_rows("gsm8k", rows=ROWS)
    for problem in problems:
        task = task_of(problem["messages"], problem["reference_answer"])
        for at, strategy in enumerate(random.choices(STRATEGIES, WEIGHTS, k=RESPONSES)):
            turn = {"role": "assistant", "content": strategy.write(task, random)}
            name = f"{problem['id']}-{at}"
            messages = [*problem["messages"], turn]
            metadata = {"correct": strategy.correct}
            yield problem | {"id": name, "messages": messages, "metadata": metadata}
