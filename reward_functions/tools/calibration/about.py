"""Where a card's figures come from, and a name for all that decides them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.core.spec import RewardSpec
    from reward_functions.tools.calibration.cases import Cases

SHORT: Final = 12
"""Characters of a hash in the name of a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Where the figures come from.

    Args:
        judge: the reward's name.
        version: of the reward.
        parameters: its settings.
        models: who answered.
        instructions: a hash of what the judge is told: its prompt, its rubric, its verdict. "" for
            recorded answers, of which nobody knows.
        digest: of what they say.
        setup: a hash of all that a reading depends on: the judge, its instructions, who answers,
            the cases. Runs with the same one may be continued.
        day: on which the card was written.
        file: of the cases.
        seed: of the bootstrap.
        draws: of the bootstrap.
        calls: made in this run, earlier ones of its ledger apart.
        usd: dollars they cost.
    """

    judge: str
    version: int
    parameters: Mapping[str, Any]
    models: Sequence[str]
    instructions: str
    digest: str
    setup: str
    day: str
    file: str = ""
    seed: int = 0
    draws: int = 0
    calls: int = 0
    usd: float = 0.0

    @property
    def stem(self) -> str:
        """The name of the card's files, without the ending."""
        return f"{self.judge}-{self.setup[:SHORT]}"


def about(
    spec: RewardSpec,
    parameters: Mapping[str, Any],
    cases: Cases,
    *,
    models: Sequence[str],
    instructions: str,
    answers: Any,
) -> About:
    """Where figures come from.

    Args:
        spec: the judge.
        parameters: its settings.
        cases: what people said.
        models: who answers.
        instructions: the hash of what the judge is told; "" where nobody knows.
        answers: what of the models' settings decides their answers, as JSON takes it.
    """
    decisive = [spec.name, spec.version, dict(parameters), instructions, answers, cases.digest]
    return About(
        judge=spec.name,
        version=spec.version,
        parameters=parameters,
        models=models,
        instructions=instructions,
        digest=cases.digest,
        setup=sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest(),
        day=datetime.now(UTC).date().isoformat(),
    )
