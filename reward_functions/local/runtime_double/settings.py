"""How a runtime double behaves where nobody knows how the service does.

| setting | meaning | what is known |
| --- | --- | --- |
| `reward_after_failed` | `conflict` or `accept` | sagemaker.train.rft sends one |
| `lengths` | `any`, or `turns`: as many rewards as turns | the model says so; its SDK sends one |
| `empty` | `accept` or `refuse` a completion without a turn | one project lost a job to it |
| `open` | whether a trajectory is made by its first call | the trainer makes them |
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Literal

from reward_functions.local.runtime_double.calculator_policy import CalculatorPolicy
from reward_functions.local.runtime_double.faults import NO_FAULTS, FaultPlan

if TYPE_CHECKING:
    from reward_functions.local.runtime_double.policy import Policy


@dataclass(frozen=True, slots=True)
class RuntimeSettings:
    """How a double behaves.

    Args:
        policy: answers the calls of agents.
        faults: the accidents that they meet with.
        open: as the table of this module has it, with the three below.
        reward_after_failed: likewise.
        lengths: likewise.
        empty: likewise.
        trajectories: how many there may be; one more is refused with 402.
        text_bytes: of requests and responses that are kept; of older turns only the numbers are.
    """

    policy: Policy = field(default_factory=CalculatorPolicy)
    faults: FaultPlan = NO_FAULTS
    _: KW_ONLY
    open: bool = False
    reward_after_failed: Literal["conflict", "accept"] = "conflict"
    lengths: Literal["any", "turns"] = "any"
    empty: Literal["accept", "refuse"] = "accept"
    trajectories: int = 100_000
    text_bytes: int = 64 * 1024 * 1024
