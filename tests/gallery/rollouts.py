"""Pages of rollouts: a report of a file, and what the runtime double holds."""

from contextlib import suppress
from dataclasses import replace
from itertools import count
from random import Random

from reward_functions.local.loopback_service.server import Refused
from reward_functions.local.runtime_double import FaultPlan, RuntimeSettings, Turn
from reward_functions.local.runtime_double.runtime import page_of
from reward_functions.local.runtime_double.state import Report, Trajectories
from reward_functions.rollouts.drive.figures import figures_of
from reward_functions.rollouts.drive.report_page import report_page
from tests.gallery.hostile import NAME, UNBROKEN
from tests.rollouts.drive.test_figures import SETUP, record

JOB = "arn:aws:sagemaker:us-west-2:000000000000:job/AgentRFT/sums"


def report():
    """A file of rollouts with rewards of all kinds, of which some were lost."""
    setup = replace(SETUP, agent="sums:agent", n=4)
    return report_page(figures_of([replace(each, setup=setup) for each in _ended(60)])).html()


def report_hostile():
    """Ids, errors and rewards without measure."""
    records = [
        replace(record(1, 0, 1e300), id=f"{NAME} {UNBROKEN}"),
        replace(record(1, 1, -1e300), id=f"{NAME} {UNBROKEN}"),
        record(2, 0, error=f"{NAME} {UNBROKEN}"),
    ]
    return report_page(figures_of(records)).html()


def _ended(rows):
    """Four rollouts a row; the later the row, the harder it is."""
    draws = Random(14)
    for row in range(1, rows + 1):
        for sample in range(4):
            if draws.random() < 0.05:
                yield record(row, sample, seconds=30.0)
                continue
            right = draws.random() > row / rows
            reward = 1.0 if right else draws.choice([0.0, 0.0, 0.5])
            turns = draws.randint(1, 6)
            yield record(row, sample, reward, turns=turns, seconds=turns * 1.5)


def empty():
    """Before the first rollout."""
    return page_of(_trajectories())


def many():
    """More trajectories than the page lists, in every state, with accidents on the way."""
    held = _trajectories(FaultPlan.parse("throttle=0.1,reward.error=0.2", seed=3))
    for at in range(230):
        key = (JOB, f"rollout-{at:04}")
        held.register(key)
        for _ in range(at % 4):
            held.add_turn(key, Turn(prompt_tokens=20, completion_tokens=30))
        if at % 5:
            _report(held, key, "complete", {"Status": "failed" if at % 7 == 0 else "ready"})
        if at % 5 > 1:
            _report(held, key, "reward", {"Rewards": [at % 3 / 2] * (at % 4 or 1)})
    return page_of(held)


def hostile():
    """Ids and rewards that an enemy sent."""
    held = _trajectories()
    for name in (NAME, UNBROKEN):
        key = (f"{JOB}/{name}", name)
        held.register(key)
        held.add_turn(key, Turn())
        _report(held, key, "complete", {"Status": "ready"})
        _report(held, key, "reward", {"Rewards": [1e308, -1e308, *[0.1] * 20]})
        held.count("refusals", name)
    return page_of(held)


def _trajectories(faults=None):
    ticks = count(1_795_000_000)
    settings = RuntimeSettings(faults=faults) if faults else RuntimeSettings()
    return Trajectories(settings, clock=lambda: float(next(ticks)))


def _report(held, key, operation, body):
    """Send a report, again after an accident; one that its state forbids is counted as refused."""
    report = Report(operation, body, f"{key[1]} {operation}", "sigv4")
    while held.fault(key, operation):
        held.not_done(key, report, 500, "error")
    with suppress(Refused):
        held.take(key, report)
