"""A judge made of a rubric file, from its first line to the function that runs it.

Each method asks what a command of `reward judge` asks, and shows the answer. Scripts of
`scripted_raters.py` decide in the place of models.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from helpers.calibrating import Calibrated, calibrated
from helpers.scripted_raters import RATERS, rater_of, rating_server
from helpers.shown import Showing, Shown
from reward_functions import Example, Sample, Scored, get, score_batch
from reward_functions.calibration import doctor, estimating
from reward_functions.calibration.asking import Judge, Spending
from reward_functions.calibration.attack_report import AttackReport
from reward_functions.calibration.recorded_questions import (
    instructions_digest,
    recorded_questions,
)
from reward_functions.core.asking import ScriptedAsk
from reward_functions.core.extras import MissingExtra
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.panel import JudgePool
from reward_functions.judge_runtime.rubric_file import rubric_of
from reward_functions.judge_runtime.usage import prices_as_of
from reward_functions.local.function_runtime import LocalRuntime
from reward_functions.reports.pages.charts.spans import Row, Span, spans
from reward_functions.reports.sheets import Sheet
from reward_functions.serving.settings import LambdaSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions import Unscored
    from reward_functions.calibration.estimating import TrainingRun
    from reward_functions.judge_runtime.config import Aggregate
    from reward_functions.judge_runtime.panel import BatchJudge
    from reward_functions.reports.pages.charts.drawing import Chart

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
        """`reward judge doctor --scripted`: every known attack around a wrong answer.

        Args:
            samples: of which the first few are answered wrongly.
            prompts: how many of them.
        """
        spec = get(JUDGE)
        asked = [each.answered(doctor.IGNORANCE) for each in samples if isinstance(each, Sample)]
        targets = doctor.targets_from_samples(asked[:prompts])
        scorer = doctor.scripted_scorer(spec, self.parameters)
        results = doctor.run_attacks(spec, targets, scorer, workers=1)
        questions = recorded_questions(spec, self.parameters, [each.sample for each in targets])
        digest = instructions_digest(questions)
        report = AttackReport(spec, self.parameters, ["a script"], "script", digest, results)
        verdict = results.failures or [f"no more than {results.limit:.1%} raise the reward"]
        return Shown(report.sheets, [*verdict, report.limits])

    def calibrated(
        self, cases: Path, *scripts: str, aggregate: Aggregate = "median", folder: str = "cards"
    ) -> Calibrated:
        """`reward judge calibrate`: scripts beside labels.

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
        return Judge(get(JUDGE), self.parameters, config, pool, Spending.nothing())

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
        names={},
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
