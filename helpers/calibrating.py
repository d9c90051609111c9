"""A judge beside people's labels: the card of `reward judge calibrate`, as tables and as a page.

A notebook without a model asks a script, which knows one rule. Its card shows the way from a
question to a figure, and nothing about the quality of a judge model.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from helpers.sample_data import demo_rows
from helpers.shown import Showing, Shown
from reward_functions import get
from reward_functions.calibration import plots
from reward_functions.calibration.about import about
from reward_functions.calibration.asking import Judge, TrialPlan, ask
from reward_functions.calibration.cases import read_cases
from reward_functions.calibration.figures import figures
from reward_functions.calibration.page import page
from reward_functions.calibration.recorded_questions import (
    instructions_digest,
    recorded_questions,
)
from reward_functions.calibration.settings import (
    fingerprint,
    load_judge_config,
    require_judge,
)
from reward_functions.calibration.sheets import Card
from reward_functions.local.scripted_judge import scripted_judge

SCRIPT: Final = "a script, which is no model"

DRAWS: Final = 1_000
"""Of the bootstrap behind each interval."""

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.reports.pages.charts.drawing import Chart


@dataclass(frozen=True, repr=False)
class Calibrated(Showing):
    """A card.

    Args:
        card: its figures.
        path: of the page.
    """

    card: Card
    path: Path

    @property
    def agreement(self) -> Chart:
        """The agreement with the labels, of the judge and of people, with its interval."""
        return plots.agreement(self.card.figures)

    def _shown(self) -> Shown:
        size = self.path.stat().st_size / 1_000
        note = f"the whole card is a page of {size:.0f} KB: {self.path}"
        return Shown(self.card.sheets[:1], [*self.card.warnings, note])


def labelled_demo(reward: str, path: str | Path) -> Path:
    """Write the demo's responses with the score that each should earn as its label.

    Args:
        reward: that has demo rows; those that are to stay unscored are left out.
        path: of the file, JSONL.

    Raises:
        ValueError: the reward has no demo rows.
        OSError: the file cannot be written.
    """
    written = "".join(f"{json.dumps(row)}\n" for row in _labelled(reward))
    Path(path).write_text(written, encoding="utf-8")
    return Path(path)


def calibrated_by_script(reward: str, cases: str | Path, folder: str | Path) -> Calibrated:
    """Let the scripted judge rate labelled cases, and write the card's page.

    Args:
        reward: a judge.
        cases: a file of labelled responses, as `reward judge calibrate` reads them.
        folder: where `card.html` is written; made where it is missing.

    Raises:
        ConfigurationError: the reward asks no judge, or the cases cannot be read.
        OSError: a file cannot be read or written.
    """
    spec = require_judge(get(reward))
    with scripted_judge() as url:
        model = {"backend": "openai", "model": SCRIPT, "endpoint": f"{url}/v1"}
        judge = Judge.opened(spec, {}, load_judge_config(json.dumps({"models": [model]})))
        return calibrated(judge, cases, Path(folder) / "card.html")


def calibrated(judge: Judge, cases: str | Path, target: Path) -> Calibrated:
    """Let a judge rate labelled cases, and write the card's page.

    Args:
        judge: its models opened.
        cases: a file of labelled responses, as `reward judge calibrate` reads them.
        target: the page; its folder is made where it is missing.

    Raises:
        ConfigurationError: the cases cannot be read.
        OSError: a file cannot be read or written.
    """
    spec, parameters = judge.spec, judge.parameters
    labelled = read_cases(str(cases), spec.scale)
    ratings = ask(judge, labelled, TrialPlan(), None)
    asked = recorded_questions(spec, parameters, [case.sample for case in labelled.items])
    origin = about(
        spec,
        parameters,
        labelled,
        models=[model.called for model in judge.config.models],
        instructions=instructions_digest(asked),
        answers=fingerprint(judge.config),
    )
    origin = replace(origin, file=Path(cases).name, draws=DRAWS, calls=judge.spent.calls)
    card = Card(origin, labelled, ratings, figures(labelled, ratings, times=DRAWS, seed=0))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page(card).html(), encoding="utf-8")
    return Calibrated(card, target)


def _labelled(reward: str) -> Iterator[dict[str, object]]:
    for row in demo_rows(reward):
        expected = row["metadata"]["expected"]
        if isinstance(expected, float):
            shown = {name: row[name] for name in ("id", "messages", "reference_answer")}
            yield shown | {"label": expected}
