"""A training job, as a notebook goes through it: each step is the library's, shown as a table.

    job = Training(here, model=…, deployment=…, data=…, hyperparameters={…})
    job.plan() → job.baseline() → job.preflight() → job.start() → job.watch()
    job.curves(), job.simulated() → job.evaluated(rows.held_out) → job.clean_up()

The commands of `reward job` do the same, and their defaults hold here. In an account `baseline`,
`start`, `deploy_model` and `evaluated` stop with what they cost until their cell says `agree=True`.

What the steps of a training job show: their results as tables, with a sentence each.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from helpers.evaluated import Evaluated
from helpers.here import HOSTING, require_agreement, training_cost
from helpers.shown import Shown
from reward_functions.aws.catalogue import DATA_PREFIX
from reward_functions.aws.deployed.scorer import scorer_named
from reward_functions.aws.s3 import destinations, upload
from reward_functions.jobs import plan as planning
from reward_functions.jobs import starting
from reward_functions.jobs.asking import ask, chosen, cost, endpoint_of, sampling_of
from reward_functions.jobs.baseline import (
    FILE,
    BaselineOrigin,
    counts,
    judged,
    measured,
    recorded,
    save,
    shares,
)
from reward_functions.jobs.configuration import load
from reward_functions.jobs.data import files_of, measure
from reward_functions.jobs.evaluation.evaluation import CARE, evaluate
from reward_functions.jobs.evaluation.preparing import Options, SharedPrompts
from reward_functions.jobs.evaluation.preparing import prepared as compared
from reward_functions.jobs.figures import charts, series
from reward_functions.jobs.grader import account_of, graded_by
from reward_functions.jobs.hosting import Hosting
from reward_functions.jobs.job import Job
from reward_functions.jobs.leftovers import Leftovers
from reward_functions.jobs.models import find
from reward_functions.jobs.options import serverless_of
from reward_functions.jobs.plan_sheets import sheets as plan_sheets
from reward_functions.jobs.preflight import plan_findings, preflight, readable
from reward_functions.jobs.preparing import prepared
from reward_functions.jobs.recipes import recipe_of
from reward_functions.jobs.watching import Polling, watch
from reward_functions.reports.pages.charts.drawing import WIDTH, Chart, side_by_side
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from helpers.here import Here
    from helpers.training_rows import TrainingRows
    from reward_functions.aws.deployed.findings import CheckFinding, CheckReport
    from reward_functions.jobs.asking import AskingCost
    from reward_functions.jobs.baseline import Baseline
    from reward_functions.jobs.evaluation.preparing import Prepared
    from reward_functions.jobs.job import Driver, HyperparameterValue
    from reward_functions.jobs.leftovers import Kind, Leftover
    from reward_functions.jobs.plan import Plan
    from reward_functions.jobs.preparing import PreparedJob
    from reward_functions.jobs.recipes import Recipe
    from reward_functions.reports.statistics import Share


SIMULATION: Final = "SIMULATION: the training double answers and trains; no language model does."


def plan(planned: Plan) -> Shown:
    """The job, its hyperparameters, what it comes to; what is assumed, and what to look at."""
    notes = [f"assumed: {each}" for each in planned.assumptions]
    return Shown(
        list(plan_sheets(planned)), [*notes, *(f"warning: {each}" for each in planned.warnings)]
    )


def asking_cost(costs: AskingCost) -> str:
    """What asking the model costs, in a sentence."""
    dollars = "unknown" if costs.usd is None else f"{costs.usd:,.4f} at most"
    return (
        f"{costs.calls:,} calls, about {costs.input:,} tokens read, {costs.output:,} written at "
        f"most; dollars {dollars}"
    )


def evaluation_costs(made: Prepared) -> list[str]:
    """What an evaluation costs, a sentence for each model and way of drawing."""
    with made.askings(None) as askings:
        costs = askings.costs()
    lines = [
        f"{one.side}, {one.mode}: {asking_cost(each)}"
        for one, each in zip(made.asked, costs, strict=True)
    ]
    if made.scorer.judges:
        calls = sum(each.calls for each in costs)
        lines.append(f"the deployed judge: calls for up to {calls:,} answers beside")
    return lines


def baseline(
    found: Baseline, findings: Iterable[CheckFinding], notes: Sequence[str], *, simulated: bool
) -> Shown:
    """The figures with their intervals, the most frequent reasons, what a job can learn.

    A deployed judge gives no reasons here.
    """
    title = "What the base model earns" + (" (SIMULATION)" if simulated else "")
    rows = [[name, *_share(figure)] for name, figure in shares(found).items()]
    rows += [[name, count, ""] for name, count in counts(found).items()]
    why = [[each.text, f"{each.answers:,}", f"{each.reward:g}"] for each in found.reasons]
    figures = Sheet(title, ("figure", "value", "95 % interval"), rows)
    return Shown(
        [figures, Sheet("Why", ("reason", "answers", "reward"), why)] if why else [figures],
        [*(f"{each.verdict}: {each.message}" for each in findings), *notes],
    )


def findings(found: Iterable[CheckFinding], title: str) -> Shown:
    """Every answer of a check."""
    heads = ("verdict", "asked", "answer")
    rows = [[each.verdict, each.question, each.message] for each in found]
    return Shown([Sheet(title, heads, rows, words=heads)])


def leftovers(found: Sequence[Leftover], title: str) -> Shown:
    """What a job left, and what becomes of each."""
    rows = [[each.kind, each.note, each.stays or "goes", each.id] for each in found]
    heads = ("kind", "what", "becomes", "id")
    return Shown(
        [Sheet(title, heads, rows, words=heads)] if rows else [],
        [] if rows else ["nothing is left"],
    )


def removed(done: Mapping[Leftover, str], stay: Sequence[Leftover]) -> Shown:
    """What is gone, what could not go, and what stays."""
    rows = [[each.kind, problem or "removed", each.id] for each, problem in done.items()]
    rows += [[each.kind, f"stays: {each.stays}", each.id] for each in stay]
    heads = ("kind", "what became of it", "id")
    return Shown([Sheet("Cleaned up", heads, rows, words=heads)])


def _share(figure: Share | None) -> tuple[str, str]:
    if figure is None:
        return "-", "-"
    return f"{figure.value:.1%}", f"{figure.low:.1%} to {figure.high:.1%}"


FOLDER: Final = f"{DATA_PREFIX}notebooks/"
"""Where a rehearsal's answers lie: the training double reads every file of the bucket's data."""

FAST: Final = Polling(shortest=0.05, longest=0.5)
"""How often the training double is asked; a service is asked every few seconds."""

FIGURE: Final = re.compile(
    r'<svg [^>]*?viewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*? aria-label="([^"]*)">(.*?)</svg>', re.DOTALL
)
"""A chart of the page on which the training double shows a job."""

PAIR: Final = 2 * WIDTH
"""Units of two charts beside each other: one alone would be drawn twice as large."""


@dataclass
class Training:
    """One job, from its plan to its clean-up.

    Args:
        here: where, as `run_in` returned it.
        model: the base's id, or an ARN.
        deployment: the reward, a deployment of the stage.
        data: the training file.
        hyperparameters: by the service's own names.
        name: how the job's name begins.
        prompts: that the baseline asks.
        answers: to each prompt.
        more: further fields of a job's configuration, such as `driver`.
    """

    here: Here
    model: str
    deployment: str
    data: TrainingRows
    hyperparameters: Mapping[str, HyperparameterValue] = field(default_factory=dict)
    name: str = "notebook"
    prompts: int = 20
    answers: int = 4
    more: Mapping[str, Any] = field(default_factory=dict)
    job: Job | None = field(default=None, init=False)
    reports: dict[str, CheckReport] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.asked = load(
            None,
            {
                "model": self.model,
                "deployment": self.deployment,
                "stage": self.here.place.stage.stage,
                "data": str(self.data.path),
                "name": self.name,
                "hyperparameters": dict(self.hyperparameters),
                **self.more,
            },
        )
        self.base = find(self.model, self.here.place.stage.region, self.asked.driver)

    @cached_property
    def driver(self) -> Driver:
        """Of the API that trains this model."""
        return self.here.place.driver(self.base.driver)

    @property
    def started(self) -> Job:
        """The job.

        Raises:
            RuntimeError: the cell that starts it did not run.
        """
        if self.job is None:
            raise RuntimeError("no job was started: run the cell with job.start() first")
        return self.job

    def plan(self) -> Shown:
        """What it would come to: `reward job plan`. Nothing is uploaded or started."""
        return plan(self._planned())

    def baseline(self, *, agree: bool = False) -> Shown:
        """What the base earns before any training: `reward job baseline`. It asks the model.

        Args:
            agree: to what that costs, in an account.

        Raises:
            Stopped: nobody agreed to the cost; nothing was asked.
        """
        found, asked, note = self._measured(agree=agree)
        origin = BaselineOrigin(
            model=self.base.identifier,
            asked=asked,
            data=files_of(self.asked).hashes["data"],
            simulation=self.here.place.simulated,
            **self._sampled(),
        )
        scorer = scorer_named(self.deployment, self.asked.stage, self.here.place.session)
        save(recorded(found, origin, scorer), Path(FILE))
        return baseline(found, judged(found), [note], simulated=self.here.place.simulated)

    def preflight(self) -> Shown:
        """Every check that `start` makes: `reward job preflight`. Nothing is started."""
        job = prepared(
            self.asked, self.here.place.stage, self.driver, session=self.here.place.session
        )
        if isinstance(job, Job):
            return Shown(notes=[f"{job.name} was started before, and {job.state}"])
        return findings(self._checked(job).findings, f"Before {job.request.name}")

    def start(self, *, agree: bool = False) -> Shown:
        """Start it, once, however often this cell runs: `reward job start`.

        Args:
            agree: to what the training costs, in an account.

        Raises:
            Stopped: nobody agreed to the cost; nothing was started.
            Refused: a check failed, such as that of synthetic rows in an account; nothing was
                started.
        """
        require_agreement(
            self.here, "job.start", lambda: training_cost(self._planned()), agree=agree
        )
        made = starting.start(
            self.asked,
            self.here.place.stage,
            self.driver,
            preflight=self._checked,
            session=self.here.place.session,
        )
        self.job = made.job
        verb = "started" if made.fresh else f"was started before, and {made.job.state}"
        return Shown(notes=[f"{made.job.name} {verb}", f"graded by {made.job.grader}"])

    def watch(self) -> None:
        """Follow it to its end: one line, which is written again as it goes on.

        To interrupt the cell leaves the job alone; run it again to go on.
        """
        polling = FAST if self.here.place.simulated else None
        for seen in watch(self.started, self.driver, polling):
            self.job = seen.job
            step = "" if seen.step is None else f" · step {seen.step:,} of {seen.total or '?'}"
            state = f"{seen.job.status}{step} · {seen.elapsed:.0f} s"
            sys.stdout.write(f"\r{self.started.name}  {state:60}")
            sys.stdout.flush()
        sys.stdout.write(f"\n{self.started.failure or self.started.tuned_model}\n")

    def curves(self) -> Chart:
        """The service's figures over the steps: reward, length, entropy.

        The grader's own, by minute, `reward job metrics` adds.
        """
        scorer = scorer_named(self.deployment, self.asked.stage, self.here.place.session)
        mark = " (SIMULATION)" if self.here.place.simulated else ""
        title = f"Figures of {self.started.name}{mark}"
        drawn = charts(series(self.driver.metrics(self.started)), scorer.scale())
        return side_by_side(title, drawn, title=title)

    def simulated(self) -> Chart | Shown:
        """Which ways to answer the simulated policy took: only the training double knows."""
        page = self.here.simulation_page(self.started)
        if not page:
            return Shown(notes=["not run: a real model shows no strategies"])
        drawn = [
            Chart(unescape(label), float(width), float(height), inside)
            for width, height, label, inside in FIGURE.findall(page)
            if "strategies" in label
        ]
        title = "SIMULATION: the strategies over the steps"
        chart = side_by_side(title, drawn, title=title)
        return replace(chart, width=max(chart.width, PAIR))

    def deploy_model(self, *, agree: bool = False) -> Shown:
        """Host the tuned model, once: `reward job deploy-model`.

        Args:
            agree: to hosting, which is billed in an account until the clean-up.

        Raises:
            Stopped: nobody agreed to the cost; nothing was hosted.
        """
        require_agreement(self.here, "job.deploy_model", lambda: [HOSTING], agree=agree)
        return Shown(notes=[f"the tuned model is asked as {self._hosted()}"])

    def evaluated(
        self,
        rows: TrainingRows,
        *,
        prompts: int | None = None,
        answers: int = 2,
        by: str = "",
        care: float = CARE,
        agree: bool = False,
    ) -> Evaluated:
        """Base against tuned on held-out rows, by the version that graded: `reward job evaluate`.

        Args:
            rows: that share no prompt with the training file.
            prompts: asked at most; None for all.
            answers: sampled answers to a prompt, beside the greedy one.
            by: a key of the rows' metadata; "" for the kind of their answer.
            care: the difference one cares about, as a share of the scale.
            agree: to hosting the tuned model and asking both, in an account.

        Raises:
            Stopped: nobody agreed to the cost; nothing was hosted or asked.
            SharedPrompts: they share prompts; nothing was asked.
            AwsFailed: a model or the version cannot be asked.
        """
        options = self._options(rows, prompts=prompts, answers=answers, by=by, care=care)
        require_agreement(
            self.here,
            "job.evaluated",
            lambda: [HOSTING, *evaluation_costs(self._compared(options))],
            agree=agree,
        )
        made = self._compared(replace(options, ask_tuned=self._hosted()))
        costs = evaluation_costs(made)
        self._give_answers(rows)
        with made.askings(None) as askings:
            given = askings.answers()
        record = evaluate(given, made.asked, made.split, made.scorer, made.settings)
        return Evaluated(record, costs)

    def refused(self, rows: TrainingRows) -> Shown:
        """Why rows are no split to evaluate on; nothing is hosted or asked."""
        try:
            self._compared(self._options(rows))
        except SharedPrompts as refusal:
            return Shown(notes=[f"refused: {refusal}"])
        return Shown(notes=["taken: the rows share no prompt with the training file"])

    def clean_up(self, *also: Kind) -> Shown:
        """Remove what costs something: `reward job cleanup`. Deployments go always.

        Args:
            also: "data", "output" or "model"; the last takes the policy of `operate`.
        """
        left = Leftovers(self.started, self.driver, self.here.place.stage, self.here.place.session)
        found = left.found(set(also))
        done = dict(left.removed(found))
        return removed(done, [each for each in found if each.stays])

    def _planned(self) -> Plan:
        grader = graded_by(self.deployment, self.asked.stage, self.here.place.session)
        spec = scorer_named(self.deployment, self.asked.stage, self.here.place.session).spec
        return planning.plan(
            self.asked,
            sizes=measure(self.data.path, None, reward=spec),
            region=grader.region,
            deployed=grader.deployed,
            grader=grader.arn,
            account=grader.account,
            reward=spec,
            judge=grader.judge,
            recipe=self._recipe(),
        )

    def _options(self, rows: TrainingRows, **more: Any) -> Options:
        """What is compared; nothing hosts the tuned model so far."""
        job = self.started
        return Options(
            job=job.id,
            data=rows.path,
            stage=self.here.place.stage.stage,
            driver=job.driver,
            # That API gives no file back.
            train=self.data.path if job.driver == "openai" else None,
            ask_base=self.asked.ask,
            ask_tuned=job.tuned_model,
            **more,
        )

    def _compared(self, options: Options) -> Prepared:
        return compared(options, self.here.place.session)

    def _checked(self, job: PreparedJob) -> CheckReport:
        """The report of every check, with those that the plan makes; once for a job."""
        if job.request.name not in self.reports:
            report = preflight(job, self.here.place.session, baseline=Path(FILE))
            findings = (*report.findings, *plan_findings(job))
            self.reports[job.request.name] = replace(report, findings=findings)
        return self.reports[job.request.name]

    def _give_answers(self, rows: TrainingRows) -> None:
        """Let the training double know the rows: the simulated policy answers from references."""
        if self.here.place.simulated:
            bucket = self.here.place.stage.bucket
            client = self.here.place.session.client("s3")
            placed = destinations([str(rows.path)], f"s3://{bucket}/{FOLDER}{self.name}/")
            list(upload(client, placed))

    def _sampled(self) -> dict[str, Any]:
        sampling = sampling_of(self.asked)
        return {
            "temperature": sampling.temperature,
            "max_tokens": sampling.max_tokens,
            "reasoning_effort": sampling.reasoning_effort,
        }

    def _measured(self, *, agree: bool) -> tuple[Baseline, str, str]:
        """(figures, the name that was asked, what it cost) of the base."""
        where, sampling = self.here.place, sampling_of(self.asked)
        drawn = chosen(*readable([self.data.path]), self.prompts, 0)
        endpoint = endpoint_of(self.base, sampling, where, ask=self.asked.ask)
        price = self.base.known.price if self.base.known else None
        costs = cost(drawn, self.answers, [], sampling, price.inference if price else None)
        note = f"{endpoint.model}: {asking_cost(costs)}"
        require_agreement(self.here, "job.baseline", lambda: [note], agree=agree)
        self._give_answers(self.data)
        given = ask(endpoint, drawn, self.answers)
        scorer = scorer_named(self.deployment, self.asked.stage, where.session)
        return measured(drawn, given, scorer), endpoint.model, note

    def _recipe(self) -> Recipe | None:
        """The recipe of a serverless job, as SageMaker's hub has it; None on other services."""
        if self.base.driver != "sagemaker":
            return None
        stage, chosen = self.here.place.stage, serverless_of(self.asked)
        return recipe_of(
            self.model, chosen, stage.region, account_of(stage), self.here.place.session
        )

    def _hosted(self) -> str:
        """What the tuned model is asked as; Bedrock hosts it first."""
        job, where = self.started, self.here.place
        if job.driver == "openai":
            return job.tuned_model
        if job.service.packages:
            role = where.stage.import_role_arn or where.stage.training_role_arn
            packages = Hosting(where.stage.region, where.session)
            return packages.host(job.tuned_model, job.name, role, tags=job.tags).arn
        hosting = Hosting(self.driver.region, where.session)
        token = f"{job.name}-{uuid4().hex}"
        made = hosting.deploy(job.name, job.tuned_model, token=token, tags=job.tags)
        return hosting.wait(made.arn).arn
