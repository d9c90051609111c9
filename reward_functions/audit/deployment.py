"""A deployment as the target of an audit: apart from the others, which never ask AWS."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reward_functions.audit import conventions
from reward_functions.audit.results import Finding
from reward_functions.audit.target import AuditTarget
from reward_functions.aws.arn import FunctionArn
from reward_functions.aws.deployed import checking
from reward_functions.aws.deployed.scorer import JUDGED_BATCH, VersionScorer, scorer_named
from reward_functions.serving import descriptions
from reward_functions.testing import wire_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boto3.session import Session

    from reward_functions.audit.results import Verdict
    from reward_functions.aws.deployed.findings import CheckFinding, CheckReport
    from reward_functions.core.types import RewardResult, Sample

OF_CHECK: Final[Mapping[str, Verdict]] = {"ok": "ok", "warning": "note", "unknown": "untested"}
"""The findings that a check's answers become; a failure breaks the contract."""


class Deployed(AuditTarget):
    """A deployed function, invoked as a trainer invokes it.

    Args:
        scorer: of it.
        name: of the deployment, or of the function.
    """

    kind = "deployment"

    def __init__(self, scorer: VersionScorer, name: str) -> None:
        self._scorer, self.name = scorer, name
        if scorer.deployed:
            self.version, self.digest = str(scorer.deployed.version), scorer.deployed.digest
            self.parameters = scorer.deployed.parameters
        else:
            settings = checking.configuration(scorer.function) or {}
            if known := descriptions.described(settings.get("Description") or ""):
                self.version, self.digest = str(known[1]), known[2]
        self.spec, self.judges = scorer.spec, scorer.judges
        self.scale = self.spec.scale if self.spec else None
        self.code = conventions.code_file(self.spec.function) if self.spec else ""
        self._report: CheckReport | None = None

    @property
    def described(self) -> str:
        """Its name, its version, and what is invoked."""
        version = f", version {self.version}" if self.version else ""
        return f"{self.name}, a deployment{version}, invoked in batches as {self._scorer.arn}"

    def score(self, samples: Sequence[Sample], *, group: bool = False) -> list[RewardResult]:  # noqa: ARG002 - a trainer's batches are its own
        """See `AuditTarget`."""
        return self._scorer.score(samples, self._count)

    def _count(self, samples: int) -> None:
        self.calls += samples if self.judges else 1

    def probe(self, samples: Sequence[Sample]) -> list[str]:
        """Test all that a trainer relies on, and yield what fails: `checking.check`."""
        expected = self._expected(samples)
        self._report = checking.check(self._scorer.function, expected, batch_size=self._batch)
        self.calls += self.probed(samples) or self._report.calls
        return [each.message for each in self._report.findings if _breaks(each)]

    def probed(self, samples: Sequence[Sample]) -> int:
        """See `AuditTarget`."""
        return checking.asked_rows(self._expected(samples), self._batch) * self.judges

    @property
    def seen(self) -> Sequence[Finding]:
        """The other answers of the check."""
        found = self._report.findings if self._report else ()
        return [
            Finding(
                f"DEPLOYED-{each.question.upper().replace(' ', '-')}",
                f"deployed: {each.question}",
                OF_CHECK[each.verdict],
                each.message,
            )
            for each in found
            if not _breaks(each)
        ]

    @property
    def _batch(self) -> int:
        return JUDGED_BATCH if self.judges else checking.BATCH

    def _expected(self, samples: Sequence[Sample]) -> checking.Expectation:
        """The examples of its reward, and else the first rows."""
        deployed = self._scorer.deployed
        if deployed and self.spec:
            return checking.expectation(deployed)
        mode = deployed.response_mode if deployed else None
        rows = [wire_row(replace(each, id=f"{at:06}")) for at, each in enumerate(samples)]
        given = tuple(rows[: conventions.PROBED]) or checking.made_up()
        return checking.Expectation(given, mode=mode)


def _breaks(finding: CheckFinding) -> bool:
    """Whether an answer of a check breaks the contract: one bad row must cost no other."""
    return finding.verdict == "failure" or (
        finding.verdict == "warning" and finding.question == "malformed row"
    )


def deployed_target(text: str, stage: str, session: Session | None) -> Deployed:
    """The deployment that a text means.

    Args:
        text: NAME@STAGE, or an ARN.
        stage: whose catalogue knows an ARN; "" where you may read none.
        session: boto3's; the caller's own where not given.
    """
    name, _, at = text.rpartition("@")
    if not text.startswith("arn:"):
        return Deployed(scorer_named(name, at, session), name)
    if stage:
        scorer = scorer_named(text, stage, session)
    else:
        scorer = VersionScorer(FunctionArn.parse(text), session=session)
    return Deployed(scorer, scorer.arn.name)
