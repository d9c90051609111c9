"""What the OpenAI-compatible API says of a job beside its state: events, figures, checkpoints.

The six figures come with events of the type `metrics`, one event a step. `FIGURES` says what each
is and how it goes in a good job; `jobs/signs.py` says what to do about a bad one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from helpers.shown import Shown
from reward_functions.jobs.drawing import NOISE
from reward_functions.jobs.drivers.openai import OpenAIDriver
from reward_functions.jobs.figures import number, series, sparkline
from reward_functions.jobs.signs import signs
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from helpers.training import Training
    from reward_functions.jobs.figures import Series

REWARD: Final = "critic_rewards_mean"

FIGURES: Final = {
    REWARD: ("the mean reward of the step's responses", "rises, then levels off"),
    "critic_advantages_mean": (
        "the mean advantage: how far responses lie from the mean of their group",
        "0 at every step, for each group is centred; only its spread teaches",
    ),
    "actor_pg_loss": (
        "the loss of the policy gradient",
        "small, of either sign, without a trend: it measures no success",
    ),
    "actor_entropy": ("how undecided the policy is", "falls slowly, and stays above 0"),
    "actor_grad_norm": ("how far a step moves the policy", "steady, less as groups agree"),
    "response_length_mean": ("the length of a response", "changes with the reward, or stands"),
}
"""(what it is, how it goes in a job that goes well), by the service's own name."""

REPORTED: Final = 12
"""Events that are shown, the newest."""


def events(job: Training) -> Shown:
    """The job as the service has it, and what it reported; figures apart."""
    found, driver = job.started, job.driver
    facts = [
        ["job", found.id],
        ["is called", f"{found.name}: the name of its file, for this API has no other"],
        ["files", "\n".join(found.files)],
        ["tuned model", found.tuned_model or "none"],
    ]
    reported = [[each.level, each.message] for each in driver.events(found)]
    title = f"Events, the newest {REPORTED}" if len(reported) > REPORTED else "Events"
    return Shown(
        [
            Sheet("The job", ("", "is"), facts, words=("is",)),
            Sheet(title, ("level", "message"), reported[-REPORTED:], words=("level", "message")),
        ]
    )


def how_to_read(job: Training) -> Shown:
    """The six figures: what each is, how it should go, how it went, and which signs it shows."""
    found = series(job.driver.metrics(job.started))
    by_name = {each.name: each for each in found if each.split == "training"}
    rows = [
        [name, meaning, healthy, *_course(by_name.get(name))]
        for name, (meaning, healthy) in FIGURES.items()
    ]
    heads = ("figure", "is", "in a job that goes well", "first", "last", "course")
    words = ("is", "in a job that goes well", "course")
    read = [each for each in signs(found) if each.sign.split == "training"]
    seen = [
        f"{each.sign.name} ({each.figure}): {each.sign.meaning}. What to do: {each.sign.remedy}"
        for each in read
        if each.state == "seen"
    ]
    absent = ", ".join(each.sign.name for each in read if each.state == "not seen")
    return Shown(
        [Sheet("How to read them", heads, rows, words=words)],
        [*seen, *([f"looked for, and not seen: {absent}"] if absent else [])],
    )


def checkpoints(job: Training) -> Shown:
    """The models of the middle of the job: each can be asked at once, by its id.

    Raises:
        TypeError: the job is of the other API, which has no checkpoints.
    """
    if not isinstance(job.driver, OpenAIDriver):
        raise TypeError("only jobs of the OpenAI-compatible API have checkpoints")
    found = sorted(job.driver.checkpoints(job.started), key=lambda each: each.step)
    rows = [[str(each.step), number(each.metrics.get(REWARD)), each.model] for each in found]
    heads = ("after step", REWARD, "asked as")
    notes = [] if found else ["no checkpoints: the job has not trained so far"]
    return Shown([Sheet("Checkpoints", heads, rows, words=("asked as",))] if found else [], notes)


def _course(found: Series | None) -> tuple[str, str, str]:
    if found is None or not found.points:
        return "-", "-", "not measured"
    values = found.values
    if max(map(abs, values)) < NOISE:
        return "0", "0", "constant"
    return number(values[0]), number(values[-1]), sparkline(values, 24)
