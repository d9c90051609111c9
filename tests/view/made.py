"""Folders of results, made by the commands that users type, and by hand where those need AWS."""

import json
from dataclasses import replace
from datetime import UTC, datetime

from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.cli.job._output import job_json
from reward_functions.jobs.baseline import BaselineRecord
from reward_functions.jobs.evaluation.evaluation_record import (
    Compared,
    EvaluationRecord,
    Flip,
    Power,
)
from reward_functions.jobs.job import Job
from reward_functions.reports.pages.page import Page
from reward_functions.reports.statistics import Difference, McNemar, Share
from reward_functions.rollouts.drive.records import RolloutRecord, Setup
from reward_functions.rollouts.record.jsonl import written
from reward_functions.rollouts.record.types import Trajectory, Turn
from reward_functions.scoring.engines import Engine
from reward_functions.scoring.plan import Plan
from reward_functions.scoring.scorers import here
from reward_functions.scoring.shard import work

SCRIPT = "<script>alert(1)</script>"
OWN_SCRIPTS = Page("").html().count("<script")
"""Of every page of the kit."""

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def typed(*arguments):
    """A command of ours in this process; its output."""
    return CliRunner().invoke(app, [*map(str, arguments)]).output


def sample(at, answer, reference="42", prompt=None):
    prompt = f"Question {at // 2}?" if prompt is None else prompt
    turns = [("user", prompt), ("assistant", answer)]
    return {
        "id": f"r{at}",
        "messages": [{"role": role, "content": content} for role, content in turns],
        "reference_answer": reference,
    }


def write_samples(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def scores(folder, count=6):
    """`scores.jsonl` with its page: two rows in three right, one without a usable reference."""
    rows = [sample(at, f"#### {42 if at % 3 else 41}") for at in range(count)]
    rows.append(sample(count, "#### 42", reference=""))
    source = write_samples(folder / ".samples.jsonl", rows)
    out = ("-o", folder / "scores.jsonl", "--report", folder / "scores.html", "--explain")
    typed("score", "gsm8k", source, *out)


def audits(folder):
    typed("audit", "gsm8k", "--out", folder / "audit.json")
    source = write_samples(folder / ".samples.jsonl", [sample(at, "#### 42") for at in range(4)])
    typed("compare", "gsm8k", "exact_match", source, "--out", folder / "compare.json", "--texts")


def card(folder):
    rows = [sample(at, f"#### {at}") | {"label": at % 2, "theirs": 1} for at in range(4)]
    source = write_samples(folder / ".cases.jsonl", rows)
    typed("audit", "reference", source, "--card", folder / "cards", "--recorded", "theirs")


def evaluation(folder, **more):
    difference = Difference(0.2, -0.1, 0.5, 10)
    record = EvaluationRecord(
        job="job", base="base", tuned="tuned", grader="arn", reward="math", reward_version=3,
        simulation=False, measured_at=NOW, split="test.jsonl", split_sha256="0",
        compared_with=("the training file",), prompts=10, repeated=0, unread=0, answers=0,
        temperature=1.0, max_tokens=100, success=1.0, seed=0, verdict="no difference shown",
        conclusion="no difference shown: 20 points", warnings=(),
        greedy=Compared(mode="greedy", base=0.4, tuned=0.6, difference=difference, left_out=1),
        mcnemar=McNemar(2, 0, 0.5, None, 0.5, "exact"),
        power=Power(mean_square=0.1, care=0.02, needed=None, smallest=None), sampled=None,
        pass_at_k=(), grouped_by="kind", groups=(), beside=(),
        flips=(Flip(place=SCRIPT, turned="right", base_score=0, tuned_score=1),),
    )  # fmt: skip
    (folder / "evaluation.json").write_text(record.model_dump_json(indent=2))


def baseline(folder):
    share = Share(0.5, 0.4, 0.6)
    record = BaselineRecord(
        prompts=4, each=2, scored=7, unscored=1, mean=share, at_minimum=share, at_maximum=share,
        mixed=share, cut=share, filtered=0, output=9.0, grader="arn", digest="", reward="math",
        version=2, measured_at=NOW, model="base", asked="base", data="0", temperature=1.0,
        max_tokens=9,
    )  # fmt: skip
    (folder / "baseline.json").write_text(record.model_dump_json(indent=2))


def jobs(folder):
    job = Job(
        driver="bedrock", id="arn:job", name="sums", status="failed", model="base", created=NOW,
        failure=f"it broke {SCRIPT}", tags={"reward": "math"}, hyperparameters={"epochs": 2},
    )  # fmt: skip
    (folder / "job.json").write_text(json.dumps(job_json(job), indent=2))
    points = [[at, at / 10] for at in range(5)]
    course = {"name": "reward/mean", "split": "training", "unit": "step", "points": points}
    sign = {"sign": "flat", "state": "seen", "figure": "reward/mean"}
    metrics = {"job": "sums", "simulation": True, "series": [course], "signs": [sign], "notes": []}
    (folder / "metrics.json").write_text(json.dumps(metrics, indent=2))


SETUP = Setup(
    data="d", n=2, agent="sums:agent", scorer={"name": "math", "version": 4, "digest": "0" * 64}
)


def rollout(row, number, *rewards, error=""):
    return RolloutRecord(
        row=row, id=f"row {row} {SCRIPT}", sample=number, rollout=f"{row}-{number}",
        status="rewarded" if rewards else "failed", rewards=rewards, error=error, turns=2,
        response=f"answer {row} {SCRIPT}", setup=SETUP,
    )  # fmt: skip


def rollouts(folder):
    records = [rollout(1, 0, 1.0), rollout(1, 1, 0.0), rollout(2, 0, error="HTTP 500")]
    records.append(replace(records[1], rewards=(0.5,)))  # the later of two counts
    lines = [json.dumps(each.line()) for each in records]
    (folder / "rollouts.jsonl").write_text("".join(f"{line}\n" for line in lines))
    said = {"role": "assistant", "content": f"the answer is 4 {SCRIPT}"}
    turn = Turn(index=0, messages=({"role": "user", "content": "2 + 2?"},), response=said)
    episodes = [
        Trajectory(id="e1", turns=(turn,), rewards=(1.0,), status="ready"),
        Trajectory(id="e2", turns=(), status="failed"),
    ]
    (folder / "trajectories.jsonl").write_text("".join(f"{written(each)}\n" for each in episodes))


class Here(Engine):
    """An engine of this thread alone."""

    name, remote = "here", False

    def run(self, run, task, shards):
        scorer = here(run.asked.spec, run.asked.spec.bind({}))
        for shard in shards:
            yield work(run, task, shard, scorer)


def run_of_shards(folder, shard_mb=None):
    rows = [sample(at, f"#### {42 if at % 2 else 41}") for at in range(4)]
    source = write_samples(folder / ".run.jsonl", rows)
    Plan.of(str(source), str(folder / "run"), "gsm8k", shard_mb=shard_mb).start(Here())
    return folder / "run"


def everything(folder):
    """One of every kind."""
    below = folder / "below"
    below.mkdir()
    for make in (scores, audits, card, evaluation, baseline, jobs):
        make(folder)
    rollouts(below)
    return folder
