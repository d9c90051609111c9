"""What a stage costs while nobody calls it: list prices of us-east-1, one row a thing.

Alarms and dashboards as published price guides gave them in June 2026; the key as it has long been.
Zips, data and logs cost by their size, and are not here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.cdk.model.stages import Stage

ALARMS_OF_A_STAGE: Final = 1
ALARMS_OF_A_FUNCTION: Final = 6
ALARMS_OF_FEEDBACK: Final = 5
ALARMS_OF_A_FORWARDER: Final = 3
ALARMS_OF_A_QUEUE: Final = 1
"""As the stack makes them: tests count those of templates."""


class Price(NamedTuple):
    """A thing that costs by the month.

    Args:
        thing: in the plural.
        dollars: a month, for one.
        count: how many a stage has.
    """

    thing: str
    dollars: float
    count: Callable[[Stage], int]


def alarms(stage: Stage) -> int:
    """How many alarms a stage has."""
    of_forwarders = (
        ALARMS_OF_A_FORWARDER + ALARMS_OF_A_QUEUE * each.owns_queue for each in stage.forwarders
    )
    of_functions = ALARMS_OF_A_FUNCTION * len(stage.deployments)
    of_feedback = ALARMS_OF_FEEDBACK if stage.feedback is not None else 0
    return ALARMS_OF_A_STAGE + of_functions + of_feedback + sum(of_forwarders)


AT_REST: Final = (
    Price("alarms", 0.10, alarms),
    Price("dashboards", 3.00, lambda _: 1),
    Price("keys", 1.00, lambda stage: int(stage.customer_key)),
)


def at_rest(stage: Stage) -> float:
    """Dollars a month, the free dashboards of an account not counted; an emulator costs nothing."""
    if stage.emulated:
        return 0.0
    return sum(price.dollars * price.count(stage) for price in AT_REST)
