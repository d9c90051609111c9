"""SageMaker's own evaluation jobs as an evaluation: base and tuned, greedily, by one function.

The service asks the models and scores, so that nothing has to be hosted. It gives scores and no
answers: pass@k, lengths, reasons and texts are not known. A job's name holds a digest of what it is
given, so that the same command reads the jobs that are there and starts none again.

    results' id       prompt
    0, 1, 2 …         by its place among the rows sent
    a digest          the `metadata.id` that was sent
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from reward_functions.aws.catalogue import OUTPUT_PREFIX
from reward_functions.core.errors import BadSample, ConfigurationError
from reward_functions.core.types import Score, Scored, Unscored
from reward_functions.data.atomic import named
from reward_functions.jobs.asking import AnswerAttempt, ModelAnswer
from reward_functions.jobs.clients import client
from reward_functions.jobs.drivers.objects import uploaded_once
from reward_functions.jobs.evaluation.evaluation import Answers, record_of
from reward_functions.jobs.evaluation_jobs import Evaluation, EvaluationJobs, evaluation_rows
from reward_functions.jobs.evaluators import Registry, name_of
from reward_functions.jobs.grader import account_of
from reward_functions.testing import wire_row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reward_functions.aws.deployed.scorer import VersionScorer
    from reward_functions.core.types import RewardResult
    from reward_functions.jobs.asking import AskedPrompt, Sampling
    from reward_functions.jobs.evaluation.evaluation import Settings, Split
    from reward_functions.jobs.evaluation.evaluation_record import EvaluationRecord, Mode, Side
    from reward_functions.jobs.evaluation_jobs import EvaluatedRow
    from reward_functions.jobs.job import Job
    from reward_functions.jobs.lookup import Place

DIGITS: Final = 8
"""Hexadecimal digits of what an evaluation is given, in the names of its jobs."""

MAX_NAME: Final = 63

SIDES: Final[tuple[Side, Side]] = ("tuned", "base")


class UnknownRows(ConfigurationError):
    """Results that are not of the rows that were sent."""


@dataclass(frozen=True, slots=True)
class ServiceEvaluation:
    """What SageMaker is asked.

    Args:
        job: of SageMaker, whose model is compared with its base.
        split: whose prompts are asked.
        scorer: the version that graded the job.
        sampling: of greedy answers.
        where: the stage.
    """

    job: Job
    split: Split
    scorer: VersionScorer
    sampling: Sampling
    where: Place

    def rows(self) -> list[dict[str, object]]:
        """The data set, each row with the digest of its prompt as its id.

        Raises:
            BadJob: a row asks more than an evaluation job does.
        """
        asked = (
            wire_row(replace(each.sample, id=each.digest, messages=tuple(each.turns)))
            for each in self.split.prompts
        )
        return list(evaluation_rows(asked))

    def run(self, progress: Callable[[str], object] = lambda _: None) -> dict[Side, str]:
        """Start both jobs, or find them, and wait for their ends; their names.

        Args:
            progress: called with what is waited for.

        Raises:
            BadJob: a request is refused before it is sent.
            AwsFailed: a service refused, or cannot be asked.
        """
        region, session = self.where.stage.region, self.where.session
        lines = "".join(f"{json.dumps(row)}\n" for row in self.rows())
        given = json.dumps([lines, str(self.scorer.arn), self.sampling.max_tokens])
        digest = hashlib.sha256(given.encode()).hexdigest()[:DIGITS]
        name = f"{self.job.name[: MAX_NAME - DIGITS - len('--tuned')]}-{digest}"
        with TemporaryDirectory(prefix="reward-evaluate-") as folder:
            file = Path(folder, f"{name}.jsonl")
            with named(file):
                file.write_text(lines, encoding="utf-8")
            rows = uploaded_once(
                client("s3", region, session), self.where.stage.bucket, file, f"{name}-rows"
            )
        registry = Registry(region, account_of(self.where.stage), session)
        arn = self.scorer.arn
        evaluator = registry.register(name_of(arn), "RewardFunction", str(arn))
        jobs = EvaluationJobs(region, session)
        started = {
            side: jobs.start(self._evaluation(side, f"{name}-{side}", rows, evaluator.arn))
            for side in SIDES
        }
        for side, job in started.items():
            for now in jobs.follow(job):
                progress(f"{side}: {now.name} {now.state}")
        return {side: job.name for side, job in started.items()}

    def _evaluation(self, side: Side, name: str, rows: str, evaluator: str) -> Evaluation:
        stage = self.where.stage
        return Evaluation(
            name=name,
            model=self.job.model,
            scorer=evaluator,
            rows=rows,
            output=f"s3://{stage.bucket}/{OUTPUT_PREFIX}",
            role=stage.sagemaker_role_arn or "",
            package=self.job.tuned_model if side == "tuned" else "",
            inference={"max_new_tokens": self.sampling.max_tokens, "temperature": 0.0},
            # Whoever started the job accepted the licence: no gated model is trained without.
            accept_eula=True,
            tags=self.job.tags,
        )

    def record(self, names: dict[Side, str], settings: Settings) -> EvaluationRecord:
        """Read both jobs' results and compare them.

        Raises:
            UnknownRows: they are not of these prompts.
            NothingCompared: no prompt has a score of both.
            BadJob: a job has not succeeded.
            AwsFailed: S3 refused, or there are no results.
        """
        jobs = EvaluationJobs(self.where.stage.region, self.where.session)
        scores = {
            side: paired(jobs.results(jobs.get(name)).rows, self.split.prompts, name)
            for side, name in names.items()
        }
        scale = self.scorer.scale([each for one in scores.values() for each in one.values()])
        scored: dict[tuple[Side, Mode], Answers] = {}
        for side, found in scores.items():
            attempts = {AnswerAttempt(each.digest, 0): each.digest for each in self.split.prompts}
            results: dict[AnswerAttempt, RewardResult] = {
                at: Scored(digest, Score(found[digest]))
                if digest in found
                else Unscored(digest, BadSample(f"{names[side]} has no score of the row"))
                for at, digest in attempts.items()
            }
            given = dict.fromkeys(attempts, ModelAnswer(""))
            scored[side, "greedy"] = Answers(
                side, "greedy", given, results, scale.minimum, scale.maximum
            )
        models: dict[Side, str] = {"base": self.job.model, "tuned": self.job.tuned_model}
        return record_of(scored, models, self.sampling, self.split, self.scorer, settings, aside=())


def paired(
    rows: Sequence[EvaluatedRow], prompts: Sequence[AskedPrompt], name: str
) -> dict[str, float]:
    """The score of each prompt, by its digest.

    Args:
        rows: of a job's results, in any order.
        prompts: in the order sent.
        name: of the job.

    Raises:
        UnknownRows: no pair exists, a row stands twice, or a row is of no prompt.
    """
    digests = {each.digest: each.digest for each in prompts}
    known = digests | {str(at): each.digest for at, each in enumerate(prompts)}
    found = {known[row.id]: row.score for row in rows if row.id in known}
    if not rows or len(found) != len(rows):
        raise UnknownRows(
            f"the results of {name} are not of the rows that were sent ({len(rows):,} rows, "
            f"{len(found):,} of them of the {len(prompts):,} prompts): evaluate without "
            "--on sagemaker"
        )
    return found
