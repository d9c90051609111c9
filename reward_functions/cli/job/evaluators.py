"""`reward job evaluators`: the rewards that SageMaker knows."""

from __future__ import annotations

from dataclasses import asdict

from reward_functions.cli._console import print_json
from reward_functions.cli._echo import say
from reward_functions.cli._fitting import print_table
from reward_functions.cli.job._options import AsJson, StageOfJob, stage_place
from reward_functions.jobs.evaluators import Registry
from reward_functions.jobs.grader import account_of


def evaluators(*, stage: StageOfJob = None, as_json: AsJson = False) -> None:
    """The evaluators of the account: each refers to a reward function, or to a judge's prompt.

    `reward job start` registers them, a version for each digest; nobody needs to by hand.

    Exit status: 0, or 2 where SageMaker cannot be asked.
    """
    where = stage_place(stage)
    found = list(Registry(where.stage.region, account_of(where.stage), where.session).all())
    if as_json:
        print_json([asdict(each) for each in found])
    elif found:
        rows = [(each.name, each.version, each.kind, each.reference) for each in found]
        print_table(("name", "version", "kind", "refers to"), rows, words=("refers to",))
    else:
        say(f"no evaluators in {where.stage.region}")
