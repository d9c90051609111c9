"""What every target of an audit does: `targets` has those here, `deployment` those on AWS."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.audit.results import Finding
    from reward_functions.core.spec import RewardSpec, Scale
    from reward_functions.core.types import RewardResult, Sample


class AuditTarget(ABC):
    """The scorer of an audit.

    Attributes:
        kind: "reward", "composite", "function" or "deployment".
        name: its own.
        version: "" where it has none.
        digest: of the code that scores; "" where it is not known.
        spec: as it is installed here.
        parameters: those that were set.
        scale: None where it is not known.
        judges: whether each score is a call that costs.
        scripted: whether a script answers in place of a judge's model.
        calls: so far, of a function or a model elsewhere; a judge bound in Python counts answers.
        code: the file of the code that scores; "" where it is not known.
        columns: of the rows as they are written, and whether each holds a list; empty where nobody
            knows them.
        dollars: of a judge's model so far; None where nobody knows them.
    """

    kind: str = "function"
    name: str
    version: str = ""
    digest: str = ""
    spec: RewardSpec | None = None
    parameters: Mapping[str, Any] = {}
    scale: Scale | None = None
    judges: bool = False
    scripted: bool = False
    calls: int = 0
    code: str = ""
    columns: Mapping[str, bool] = {}

    @property
    def dollars(self) -> float | None:
        """See the class."""
        return None

    @property
    def convention(self) -> str:
        """How it is called, as far as that is known by now; "" of a reward."""
        return ""

    @property
    @abstractmethod
    def described(self) -> str:
        """The target in one line; it may say more once it has scored."""

    @abstractmethod
    def score(self, samples: Sequence[Sample], *, group: bool = False) -> list[RewardResult]:
        """One result a sample, in order; never raises for a sample.

        Args:
            samples: in this order.
            group: send them at once, because those of one prompt are compared.

        Raises:
            ConfigurationError: no row has a field that the function needs, or AWS cannot be asked.
        """

    @abstractmethod
    def probe(self, samples: Sequence[Sample]) -> list[str]:
        """Sentences about what breaks the contract when a batch is sent as a trainer sends it."""

    def probed(self, samples: Sequence[Sample]) -> int:
        """How many answers `probe` asks a judge's model for."""
        return len(samples) * self.judges

    @property
    def seen(self) -> Sequence[Finding]:
        """Harmless facts that `probe` saw; empty before it, and of all but a deployment."""
        return ()

    def close(self) -> None:  # noqa: B027 - most have begun nothing
        """End what was begun for it."""
