"""Every kind of page that the project makes: a row for each, from data of its own, without AWS.

`make test` reads them all as parsed HTML; `make pages` opens them in a browser. A page that has no
row here is looked at by nobody.
"""

from functools import cache

from tests.gallery import (
    audits,
    calibrations,
    evaluations,
    jobs,
    kit,
    rollouts,
    scores,
    training,
    trajectories,
    viewed,
)

ROWS = {
    # name of the file, and what makes the page
    "audit": audits.broken,
    "audit-hostile": audits.hostile,
    "baseline": jobs.baseline,
    "baseline-hostile": jobs.baseline_hostile,
    "calibration-pairs": calibrations.pairs,
    "calibration-grades": calibrations.grades,
    "calibration-beside": calibrations.beside,
    "calibration-few": calibrations.few,
    "calibration-hostile": calibrations.hostile,
    "comparison": audits.comparison,
    "evaluation": evaluations.worse,
    "evaluation-better": evaluations.better,
    "evaluation-hostile": evaluations.hostile,
    "job-failed": training.job_failed,
    "job-figures": training.job_figures,
    "job-figures-short": training.job_figures_short,
    "job-figures-hostile": training.job_figures_hostile,
    "kit": kit.plain,
    "kit-hostile": kit.hostile,
    "plan": jobs.plan,
    "plan-hostile": jobs.plan_hostile,
    "rollouts-report": rollouts.report,
    "rollouts-report-hostile": rollouts.report_hostile,
    "runtime-double": rollouts.many,
    "runtime-double-empty": rollouts.empty,
    "runtime-double-hostile": rollouts.hostile,
    "score-report": scores.report,
    "score-report-judged": scores.judged,
    "score-report-one": scores.one,
    "score-report-unscored": scores.unscored,
    "score-report-hostile": scores.hostile,
    "simulation": training.simulation,
    "simulation-begun": training.simulation_begun,
    "simulation-hostile": training.simulation_hostile,
    "trajectories": trajectories.many,
    "trajectory": trajectories.one,
    "trajectory-hostile": trajectories.hostile,
    "view-list": viewed.results,
    "view-rows": viewed.rows,
    "view-hostile": viewed.hostile,
}

SLOW = {"score-report-large": scores.large}
"""Pages whose data take seconds: for the browser alone."""

EVERY = ROWS | SLOW


@cache
def made(name):
    """The HTML of a page."""
    return EVERY[name]()
