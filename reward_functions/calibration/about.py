"""The origin of a card's figures, and a hash of everything that decides them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.calibration.cases import LabelledCases
    from reward_functions.core.spec import RewardSpec

SHORT: Final = 12
"""Characters of a hash in the name of a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Where the figures come from.

    Args:
        judge: the reward's name.
        version: of the reward.
        parameters: its settings.
        models: that answered.
        instructions: a hash of the judge's prompt, rubric and verdict fields; "" for recorded
            answers, whose instructions are unknown.
        digest: a hash of the cases.
        setup: a hash of everything a rating depends on: the judge, its instructions, its models,
            the cases. A run can be resumed where it is the same.
        day: on which the card was written.
        file: of the cases.
        seed: of the bootstrap.
        draws: of the bootstrap.
        calls: made in this run, without those of earlier runs in its ledger.
        usd: dollars they cost, as far as prices are known; None where none is.
        unpriced: those of a model whose price is unknown.
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
    usd: float | None = 0.0
    unpriced: int = 0

    @property
    def stem(self) -> str:
        """The name of the card's files, without the ending."""
        return f"{self.judge}-{self.setup[:SHORT]}"


def about(
    spec: RewardSpec,
    parameters: Mapping[str, Any],
    cases: LabelledCases,
    *,
    models: Sequence[str],
    instructions: str,
    answers: Any,
) -> About:
    """The origin of figures.

    Args:
        spec: the judge.
        parameters: its settings.
        cases: with labels by people.
        models: that answer.
        instructions: the hash of the judge's instructions; "" where they are unknown.
        answers: the settings that decide the models' answers, as JSON data.
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
