"""Pages before a training job: its plan, and what the model earns without it."""

from dataclasses import replace

from reward_functions.jobs.baseline import Baseline, Reason, judged
from reward_functions.jobs.baseline import page as baseline_page
from reward_functions.jobs.plan import plan as planned
from reward_functions.jobs.plan_sheets import page as plan_page
from reward_functions.reports.statistics import share
from tests.gallery.hostile import NAME, UNBROKEN
from tests.jobs.test_plan import GIVEN, NOVA, SIZES, asked

FACTS = [("model", NOVA), ("reward", "gsm8k, version 3"), ("grader", "not deployed")]


def plan():
    """A job that names every hyperparameter."""
    return plan_page(planned(asked(hyperparameters=GIVEN), sizes=SIZES)).html()


def plan_hostile():
    """A model's name that no table of models has; what it names nothing of is assumed."""
    job = asked().model_copy(update={"deployment": f"{NAME} {UNBROKEN}"})
    return plan_page(planned(job, sizes=replace(SIZES, rows=3))).html()


def baseline():
    """A model that is right in a third of its answers."""
    reasons = [
        Reason("the last #### equals the reference", 140, 1.0, "line 3", "so\n#### 7"),
        Reason("the last #### differs from the reference", 160, 0.0, "line 9", "so\n#### 8"),
        Reason("there is no ####", 100, 0.0, "line 12", "The answer is 7."),
    ]
    return _baseline("us.amazon.nova-2-lite-v1:0", reasons, {"JudgeUnavailable": 3}, FACTS)


def baseline_hostile():
    """Answers, errors and a model's name that harm where they are not escaped."""
    reasons = [Reason(NAME, 3, 0.0, NAME, UNBROKEN), Reason(UNBROKEN, 1, 0.0, NAME, NAME)]
    return _baseline(NAME, reasons, {NAME: 1}, [(NAME, UNBROKEN)])


def _baseline(model, reasons, errors, facts):
    measured = Baseline(
        prompts=100,
        each=4,
        scored=397,
        unscored=3,
        mean=share(140, 400, 100),
        at_minimum=share(260, 400, 100),
        at_maximum=share(140, 400, 100),
        mixed=share(61, 100, 100),
        cut=share(32, 400, 100),
        filtered=0,
        output=214.0,
        reasons=tuple(reasons),
        errors=errors,
    )
    return baseline_page(measured, list(judged(measured)), model, facts).html()
