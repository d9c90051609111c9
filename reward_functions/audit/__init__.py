"""Whether a reward can be trained on: what it pays that it must not, and what it refuses.

    from reward_functions.audit import audit, compare

    def test_it_can_be_trained_on():
        assert audit(my_reward, "train.jsonl").passed

`audit` looks at one reward, `compare` at two on the same responses. Both take a reward's name, the
file of one or of a composite, any function, and a deployment.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reward_functions.audit.comparing import compare
    from reward_functions.audit.engine import AuditOptions, audit
    from reward_functions.audit.results import Audit, Comparison, Figure, Finding, Gate, SeenRow

_HOMES = {
    "comparing": ("compare",),
    "engine": ("AuditOptions", "audit"),
    "results": ("Audit", "Comparison", "Figure", "Finding", "Gate", "SeenRow"),
}

__all__ = [
    "Audit",
    "AuditOptions",
    "Comparison",
    "Figure",
    "Finding",
    "Gate",
    "SeenRow",
    "audit",
    "compare",
]


# The interpreter of a function imports `child`, and needs nothing of these.
def __getattr__(name: str) -> Any:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
