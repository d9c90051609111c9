"""Open-weight models: which there are, what one is called where a job runs, the key of their API.

region of the stage            a model is named by
one that trains it             its id
the local emulator's           the ARN of that region: the training double trains it anywhere
any other                      its id, and the plan says where it is trained
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from helpers.shown import Shown
from reward_functions.jobs.clients import openai_base_url
from reward_functions.jobs.models import find, models
from reward_functions.jobs.token import LONGEST, MARGIN, VARIABLE, Given, key_source
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from helpers.here import Here
    from helpers.training import Training

API: Final = "openai"

HOUR: Final = 3_600

SOURCE: Final = "table of models"
"""The row of a plan that says where its model's row was read: it differs, and changes nothing."""


def open_weight_models() -> Shown:
    """One row a model that the OpenAI-compatible API tunes by reinforcement."""
    rows = [
        [
            each.id,
            ", ".join(each.regions),
            f"{each.context:,}",
            f"{each.max_output:,}",
            " / ".join(f"{price:.2f}" for price in each.price.inference)
            if each.price
            else "unknown",
        ]
        for each in models()
        if each.driver == API
    ]
    heads = ("model", "trained in", "context", "longest answer", "USD per million, read / written")
    return Shown([Sheet("Open-weight models", heads, rows, words=heads[:2])])


def named(model: str, here: Here) -> str:
    """What a job on a stage calls a model: its id, or on the local emulator its ARN.

    Args:
        model: its id.
        here: where the job is to run.

    Raises:
        BadJob: there is no such model.
    """
    region = here.place.stage.region
    known = find(model).known
    if not here.local or known is None or region in known.regions:
        return model
    return f"arn:aws:bedrock:{region}::foundation-model/{model}"


def key(here: Here) -> Shown:
    """Where the API's key comes from and how long it lasts; the key itself is shown by nothing."""
    region, session = here.place.stage.region, here.place.session
    source = key_source(region, session)
    given = isinstance(source, Given)
    rows = [
        ["the API", openai_base_url(region, session)],
        ["the key", f"given in {VARIABLE}" if given else "made here, of this caller's credentials"],
        ["printed, it is", repr(source())],
        ["lasts", "nobody here knows" if given else f"{LONGEST // HOUR} hours at most"],
        [
            "is renewed",
            "by whoever made it" if given else f"{MARGIN.seconds // 60} minutes before its end",
        ],
    ]
    return Shown([Sheet("", ("the key of the API", "is"), rows, words=("is",))])


def beside(job: Training, model: str) -> Shown:
    """What a plan says of another model, where that differs.

    Args:
        job: the one that is planned.
        model: the other one's id, or its ARN.

    Raises:
        BadJob: there is no such model.
    """
    other = replace(job, model=model)
    mine, others = (
        {
            (sheet.title, row[0]): row[1]
            for sheet in each.plan().sheets
            for row in sheet.rows
            if len(row) == len(("what", "is"))
        }
        for each in (job, other)
    )
    rows = [
        [name, value, others.get((title, name), "-")]
        for (title, name), value in mine.items()
        if others.get((title, name)) != value and name != SOURCE
    ]
    known = [each.base.known.name if each.base.known else each.model for each in (job, other)]
    sheet = Sheet("What differs", ("", *known), rows, words=known)
    return Shown([sheet], ["all else is the same: the reward, the data, the hyperparameters"])
