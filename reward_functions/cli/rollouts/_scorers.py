"""The pinned reward that `--reward`, `--param` and `--judge` mean.

A judge's pin holds a digest of its settings beside its parameters: another model is another reward.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from hashlib import sha256
from typing import TYPE_CHECKING

from reward_functions.calibration.settings import load_judge_config
from reward_functions.core.errors import NoJudge
from reward_functions.rollouts.episode.scoring import Scorer
from reward_functions.scoring.rewards import parameter_values, ready, reward_named

if TYPE_CHECKING:
    from collections.abc import Sequence


def scorer_named(name: str, settings: Sequence[str], judge: str | None) -> Scorer:
    """The scorer of a reward.

    Args:
        name: of `reward list`, or the path of a file.
        settings: of its parameters, `k=v` each.
        judge: settings of a judge, as `--judge` takes them.

    Raises:
        UnknownReward: no reward has this name.
        BadParameter: an unknown parameter, or a value of the wrong type.
        ConfigurationError: the file or the judge's settings cannot be used.
        OSError: the file cannot be read.
    """
    spec = reward_named(name)
    values = parameter_values(spec, settings)
    if not spec.needs.judge:
        return Scorer.of(spec, parameters=values)
    if judge is None:
        raise NoJudge(f"{spec.name} asks a judge model: give --judge FILE, or set REWARD_JUDGE")
    defaults = {each.name: each.default for each in spec.parameters.values() if each.has_default}
    config = json.dumps(asdict(load_judge_config(judge)), sort_keys=True, default=str)
    digest = sha256(config.encode()).hexdigest()[:16]
    return Scorer(
        ready(spec, settings, judge),
        source=spec,
        name=spec.name,
        version=spec.version,
        parameters=defaults | values | {"judge": digest},
        scale=spec.scale,
    )
