"""The request of a run: all that decides what its results are, as `run.json` holds it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn

from reward_functions.core.spec import Needs, RewardSpec, Scale
from reward_functions.data.rows.reading import Recognised
from reward_functions.data.rows.shapes import BY_NAME, Columns
from reward_functions.scoring.rewards import reward_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Groups = Literal["adjacent", "anywhere"] | None

FREE: Final = frozenset({"max_unscored", "usd", "about"})
"""Of what is asked, that decides no result: a run may go on with another."""

TITLES: Final = {
    "inputs": "its inputs",
    "source": "its source",
    "function": "the version of the function",
    "version": "the reward's version",
    "digest": "the reward's code",
    "judge": "the judge's settings",
    "rows": "how rows are read",
    "cut": "its shards",
    "shard_bytes": "the size of shards",
}
"""What the fields of `Asked` are called in a message, where their names do not say it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The request of a run: all that decides what its results are. `run.json` holds it.

    Args:
        source: the address of the place that the objects are in.
        inputs: the SHA-256 over names, sizes and ETags of the objects, in order.
        cut: the same of its shards, as `digest_of` says.
        reward: a registered name, or the path of a file.
        reward_name: the reward's own.
        scale: its minimum and maximum.
        version: of the reward.
        digest: of the reward's code, as the catalogue has it; "" where nobody knows.
        function: the ARN of the numbered version that scores; "" where the reward runs in the
            engine's own processes.
        parameters: of the reward, by name.
        judged: whether the reward asks models.
        judge: its settings, where the reward asks models in the engine's own processes.
        about: how many rows there are, by the length of the first ones.
        usd: dollars that its models take for all rows, about; 0.0 of a reward that asks none, None
            where nobody knows.
        rows: how rows are read, as `pinned` writes it of the first of them.
        several: whether a line may become several rows, so that counting has to read it.
        groups: where the responses to a prompt stand that the reward compares: side by side in
            one object, or anywhere in the one shard; None of a reward that compares none.
        shard_bytes: of a range, at most.
        max_unscored: the share of rows that may be without a score, 0 to 1.
    """

    source: str
    inputs: str
    cut: str
    reward: str
    reward_name: str
    scale: Sequence[float]
    version: int
    digest: str = ""
    function: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    judged: bool = False
    judge: Mapping[str, Any] | None = None
    about: int = 0
    usd: float | None = 0.0
    rows: Mapping[str, Any] = field(default_factory=dict)
    several: bool = False
    groups: Groups = None
    shard_bytes: int
    max_unscored: float = 1.0

    @property
    def spec(self) -> RewardSpec:
        """The reward; of a version of a function what the run says of it, without its code.

        Raises:
            UnknownReward, ConfigurationError, OSError: it is not here.
        """
        if not self.function:
            return reward_named(self.reward)
        return RewardSpec(
            name=self.reward_name,
            function=_elsewhere,
            version=self.version,
            scale=Scale(*self.scale),
            needs=Needs(judge=self.judged, group=self.groups is not None),
        )


def _elsewhere(*_: Any, **__: Any) -> NoReturn:
    """Stands for the reward's code, which the version of a function holds."""
    raise NotImplementedError


def pinned(how: Recognised) -> dict[str, Any]:
    """How rows are read, as JSON has it."""
    return {
        "columns": {name: list(paths) for name, paths in how.columns._asdict().items()},
        "check": how.check.name if how.check else None,
        "usual": None if how.usual is None else sorted(how.usual),
        "canonical": how.canonical,
    }


def unpinned(item: Mapping[str, Any]) -> Recognised:
    """The file that `pinned` wrote; of a source without rows it is empty."""
    if not item:
        return Recognised(Columns())
    return Recognised(
        Columns(**{name: tuple(paths) for name, paths in item["columns"].items()}),
        None if item["check"] is None else BY_NAME[item["check"]],
        None if item["usual"] is None else frozenset(item["usual"]),
        bool(item["canonical"]),
    )
