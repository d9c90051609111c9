"""A judge made of a rubric file, from its first line to the function that runs it.

Each method asks what a command of `reward judge` asks, and shows the answer. Scripts of
`scripted_raters.py` decide in the place of models.

A judge beside people's labels: the card of `reward audit JUDGE --card`, as tables and as a page.

A notebook without a model asks a script, which knows one rule. Its card shows the way from a
question to a figure, and nothing about the quality of a judge model.

What a judge costs over a training run, by model: `reward judge estimate`. No model is asked.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from helpers.faithfulness import RATERS, rater_of, rating_server
from helpers.sample_data import demo_rows
from helpers.shown import Showing, Shown
from reward_functions import Example, Sample, Scored, get, score_batch
from reward_functions.audit import audit
from reward_functions.audit.rendering import audit_sheets
from reward_functions.calibration import estimating
from reward_functions.calibration.asking import Judge, Spending, TrialPlan, ask
from reward_functions.calibration.card import Card, about, agreement, page
from reward_functions.calibration.cases import read_cases
from reward_functions.calibration.estimating import (
    ResponseCost,
    TrainingRun,
    estimate,
    instructions_digest,
    measured,
    recorded_questions,
)
from reward_functions.calibration.figures import figures
from reward_functions.calibration.settings import fingerprint, load_judge_config, require_judge
from reward_functions.core.asking import ScriptedAsk
from reward_functions.core.extras import MissingExtra
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.panel import JudgePool
from reward_functions.judge_runtime.rubric_file import rubric_of
from reward_functions.judge_runtime.usage import prices_as_of
from reward_functions.local.function_runtime import LocalRuntime
from reward_functions.local.scripted_judge import scripted_judge
from reward_functions.reports.pages.charts.rows import Row, Span, spans
from reward_functions.reports.sheets import Sheet
from reward_functions.serving.settings import LambdaSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions import Unscored
    from reward_functions.calibration.estimating import Estimate
    from reward_functions.judge_runtime.config import Aggregate
    from reward_functions.judge_runtime.panel import BatchJudge
    from reward_functions.reports.pages.charts.drawing import Chart


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
        return agreement(self.card.figures)

    def _shown(self) -> Shown:
        size = self.path.stat().st_size / 1_000
        note = f"the whole card is a page of {size:.0f} KB: {self.path}"
        return Shown(self.card.sheets[:1], [self.card.verdict, *self.card.warnings, note])


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
        cases: a file of labelled responses, as `reward audit JUDGE --card` reads them.
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
        cases: a file of labelled responses, as `reward audit JUDGE --card` reads them.
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


JUDGE: Final = "rubric"
"""The judge that decides by a rubric file."""

NOWHERE: Final = "http://127.0.0.1:9/v1"
"""The address of a script that answers in this process: nobody asks there."""

MILLION: Final = 1_000_000


@dataclass(frozen=True, repr=False)
class RubricJudge(Showing):
    """The judge `rubric` with a rubric of one's own.

    Args:
        path: of the rubric file.
    """

    path: Path

    @property
    def parameters(self) -> dict[str, str]:
        """What makes `rubric` this judge."""
        return {"criteria": str(self.path)}

    def worked(self) -> Shown:
        """The rubric's worked examples, each scored with the decisions that it prescribes.

        They ask no model: they show what decisions come to, and are a test of the weights.
        """
        rows = []
        for at, given in enumerate(rubric_of(str(self.path)).examples, 1):
            example = Example(**given)
            reward = get(JUDGE).bind(self.parameters, ask=ScriptedAsk(example.verdicts))
            (result,) = score_batch(reward, [example.sample(str(at))])
            earned = result.score.value if isinstance(result, Scored) else None
            same = "ok" if earned == example.score else f"not {example.score:g}"
            why = result.score.reason if isinstance(result, Scored) else str(result.error)
            shown = "unscored" if earned is None else f"{earned:.4g}"
            rows.append([example.kind, example.response, shown, same, why])
        heads = ("kind", "response", "earns", "as it says", "by the decisions")
        words = ("response", "as it says", "by the decisions")
        return Shown([Sheet("Worked examples", heads, rows, words=words)])

    def asked_of(self, *scripts: str, aggregate: Aggregate = "median") -> BatchJudge:
        """The judge over scripts: one, or a panel of several.

        Raises:
            KeyError: there is no such script.
        """
        return self._opened(scripts, aggregate).pool.batch(get(JUDGE), self.parameters)

    def attacked(self, samples: Sequence[Sample | Unscored], prompts: int = 2) -> Shown:
        """`reward audit JUDGE --scripted`: every known attack around a wrong answer.

        Args:
            samples: of which the first few are attacked.
            prompts: how many of them.
        """
        rows = [each for each in samples if isinstance(each, Sample)][:prompts]
        done = audit(JUDGE, rows, parameters=self.parameters, scripted=True, classes=["EX-JUDGE"])
        return Shown(audit_sheets(done), [*done.notes, done.measured.sentence])

    def calibrated(
        self, cases: Path, *scripts: str, aggregate: Aggregate = "median", folder: str = "cards"
    ) -> Calibrated:
        """`reward audit JUDGE --card`: scripts beside labels.

        Args:
            cases: labelled responses.
            scripts: one, or a panel of several.
            aggregate: how the scores of a panel become one.
            folder: of the card's page.

        Raises:
            ConfigurationError: the cases cannot be read.
            OSError: a file cannot be read or written.
        """
        judge = self._opened(scripts, aggregate)
        return calibrated(judge, cases, Path(folder) / f"{'+'.join(scripts)}.html")

    def cost(self, run: TrainingRun, panels: Mapping[str, JudgeConfig]) -> Shown:
        """`reward judge estimate` for several panels: calls, tokens and dollars of a run.

        Args:
            run: the training run.
            panels: the settings of each, by what it is called.
        """
        spec = get(JUDGE)
        examples = [Example(**each).sample() for each in rubric_of(str(self.path)).examples]
        calls, tokens = estimating.measured(recorded_questions(spec, self.parameters, examples))
        cost = estimating.ResponseCost(calls=calls, input=tokens)
        rows = []
        for name, config in panels.items():
            found = estimating.estimate(config, run, cost, config.concurrency)
            asked = ", ".join(model.model for model in config.models)
            dollars = "unknown" if found.usd is None else f"{found.usd:,.2f}"
            read = sum(model.usage.input for model in found.models) / MILLION
            rows.append([name, asked, f"{found.calls:,}", f"{read:,.1f}", dollars])
        heads = ("panel", "models", "calls", "million tokens read", "dollars at most")
        title = f"Judging {run.responses:,} responses of {run.steps:,} steps"
        notes = [
            f"a call reads {cost.input:,} tokens, measured, and writes {cost.output:,}, assumed",
            f"list prices as of {prices_as_of()}: `prices` in the settings overrides them",
        ]
        return Shown([Sheet(title, heads, rows, words=("models",))], notes)

    def deployed(self, rows: Sequence[Mapping[str, object]], script: str) -> Shown:
        """The function of a deployment on this machine, under AWS's own runtime client.

        The process, its handler and its answer are those of Lambda; its rights are not.

        Args:
            rows: an event, as a trainer sends it.
            script: that judges, behind HTTP.

        Raises:
            FunctionError: it failed.
        """
        try:
            with rating_server(script) as endpoint:
                config = JudgeConfig(models=(_script(script, endpoint),))
                parameters = {"criteria": str(self.path.absolute())}
                settings = LambdaSettings(name=JUDGE, parameters=parameters, judge=config)
                with LocalRuntime(settings.to_env()) as runtime:
                    answers = runtime.invoke(list(rows)).payload
        except MissingExtra as error:
            return Shown(notes=[f"not run: {error}"])
        shown = [
            [
                str(each["id"]),
                f"{each['aggregate_reward_score']:.4g}",
                ", ".join(
                    f"{one['name']} {one['value']:g}"
                    for one in each["metrics_list"]
                    if one["value"]
                ),
            ]
            for each in answers
        ]
        heads = ("id", "aggregate_reward_score", "metrics above 0")
        return Shown([Sheet("What the trainer receives", heads, shown, words=heads[2:])])

    def _opened(self, scripts: Sequence[str], aggregate: Aggregate) -> Judge:
        config = JudgeConfig(
            models=tuple(_script(name, NOWHERE) for name in scripts),
            aggregate=aggregate,
            cache_size=0,
        )
        pool = JudgePool(config, asks={name: rater_of(name) for name in scripts})
        return Judge(get(JUDGE), self.parameters, config, pool, Spending())

    def _shown(self) -> Shown:
        rubric = rubric_of(str(self.path))
        rows = [
            [
                each.id,
                each.text,
                " / ".join(each.choices),
                f"{each.weight:g}",
                "0 where it fails" if each.gate else "a quotation" if each.evidence else "",
            ]
            for each in rubric.criteria
        ]
        heads = ("criterion", "the judge decides whether", "choices", "weight", "besides")
        words = ("the judge decides whether", "choices", "besides")
        notes = [
            f"the judge sees: the conversation, the response, {rubric.material or 'nothing else'}",
            f"{len(rubric.examples)} worked examples",
        ]
        return Shown([Sheet(f"The rubric of {self.path.name}", heads, rows, words=words)], notes)


def rubric_judge(path: str | Path, text: str) -> RubricJudge:
    """Write a rubric file, and make a judge of it.

    Args:
        path: of the file, which ends in .toml.
        text: of the rubric, TOML.

    Raises:
        BadJudge: it is not a valid rubric; the message names the problem.
        OSError: the file cannot be written.
    """
    Path(path).write_text(text, encoding="utf-8")
    rubric_of.cache_clear()  # a cell is run again with another text
    rubric_of(str(path))
    return RubricJudge(Path(path))


def agreements(cards: Mapping[str, Calibrated]) -> Chart:
    """The accuracy of several judges against one set of labels, with intervals by prompt.

    Args:
        cards: by the name of the judge.
    """
    rows = []
    for name, each in cards.items():
        found = each.card.figures.agreement["wrong"]["accuracy"]
        if found.value is not None:
            rows.append(Row(name, [Span(found.value, found.interval)]))
    return spans(
        "Accuracy against the labels, with 95% intervals by prompt",
        rows,
        x="share of cases whose rating is the label's class",
    )


def by_rule(card: Calibrated) -> Shown:
    """Ratings beside labels, by the rule that each case was `written` by."""
    found: dict[str, list[tuple[float, float]]] = {}
    for case in card.card.cases.items:
        rating = card.card.ratings.first(case.id)
        value = None if rating is None else rating.value
        if value is not None:
            written = str(case.sample.metadata["written"])
            found.setdefault(written, []).append((case.label, value))
    rows = []
    for written, pairs in found.items():
        agreed = sum(card.card.cases.nearest(value) == label for label, value in pairs)
        mean = fsum(value for _, value in pairs) / len(pairs)
        rows.append(
            [written, f"{pairs[0][0]:g}", f"{mean:.3f}", f"{agreed} of {len(pairs)}"],
        )
    heads = ("written as", "label", "mean rating", "agree with the label")
    return Shown([Sheet("Where judge and labels differ", heads, rows)])


def of_bedrock(*models: str, aggregate: Aggregate = "mean") -> JudgeConfig:
    """The settings of models on Bedrock, as a deployment's `judge` names them."""
    return JudgeConfig(models=tuple(JudgeModel(model=each) for each in models), aggregate=aggregate)


def _script(name: str, endpoint: str) -> JudgeModel:
    if name not in RATERS:
        raise KeyError(name)
    return JudgeModel(model=name, backend="openai", endpoint=endpoint)


def judge_costs(
    reward: str,
    cases: str | Path,
    models: Sequence[str],
    *,
    prompts: int,
    batch_size: int = 32,
    samples: int = 4,
    epochs: int = 1,
) -> Shown:
    """Calls, tokens and dollars of judging a run, at most; the questions are measured on cases.

    Args:
        reward: a judge.
        cases: a file of labelled responses: those that the judge's questions are measured on.
        models: ids of Bedrock; one without a known price costs an unknown sum.
        prompts: rows of training data.
        batch_size: prompts of a step.
        samples: responses to a prompt.
        epochs: passes over the data.

    Raises:
        ConfigurationError: the reward asks no judge, or the cases cannot be read.
        OSError: the file cannot be read.
    """
    spec = require_judge(get(reward))
    labelled = read_cases(str(cases), spec.scale).items
    calls, tokens = measured(recorded_questions(spec, {}, [case.sample for case in labelled]))
    run = TrainingRun(prompts=prompts, batch_size=batch_size, samples=samples, epochs=epochs)
    cost = ResponseCost(calls=calls, input=tokens)
    lines = [_line(name, run, cost) for name in models]
    heads = ("model", "calls", "tokens read", "tokens written", "dollars", "a step takes")
    title = f"Judging {run.responses:,} responses in {run.steps:,} steps, at most"
    assumed = (
        f"a question has about {tokens:,} tokens, a verdict is taken for {cost.output:,}, "
        f"a call for {cost.latency:g} s; prices as of {prices_as_of()}"
    )
    avoided = (
        "responses that code decides cost nothing: wrong verdicts, none, and those without reasons"
    )
    return Shown([Sheet(title, heads, lines)], [assumed, avoided])


def _line(model: str, run: TrainingRun, cost: ResponseCost) -> list[str]:
    config = JudgeConfig(models=(JudgeModel(model=model, region="us-east-1"),))
    found: Estimate = estimate(config, run, cost, config.concurrency)
    (only,) = found.models
    return [
        model,
        f"{only.calls:,}",
        f"{only.usage.input:,}",
        f"{only.usage.output:,}",
        "unknown" if only.usd is None else f"{only.usd:,.2f}",
        f"{found.step_seconds:,.0f} seconds",
    ]
