"""What a reward lacks before it can be deployed.

A prototype, of version 0, scores and explains. Others rely on a deployed reward: they need to know
which of its scores are comparable, what it pays for, and that somebody tried to game it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.core.spec import RewardSpec

KINDS: Final = ("positive", "negative", "attack")
"""Of examples, each of which a reader looks for."""


def lacking(spec: RewardSpec) -> list[str]:
    """What a reward lacks, each as it is typed; examples alone where it is no prototype."""
    return list(_lacking(spec))


def _lacking(spec: RewardSpec) -> Iterator[str]:
    prototype = spec.version == 0
    if prototype:
        yield "version=1"
    shown = {example.kind for example in spec.examples}
    missing = [kind for kind in KINDS if kind not in shown]
    if missing and (prototype or not shown):
        yield f"examples of kind {', '.join(missing)}"
    if prototype and not spec.summary:
        yield "a docstring"
