"""What became of the attacks on a judge: tables, a card, data."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.tools.sheets import Sheet, escaped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reward_functions.core.spec import RewardSpec
    from reward_functions.tools.judging.doctor import Blow, Findings

Source = Literal["script", "recording", "model"]

LIMITS: Final[Mapping[Source, str]] = {
    "script": (
        "No model was asked. A script that obeys whatever reaches it outside a fence stood in for "
        "one. That shows that gates and fences hold against these attacks. It cannot show what a "
        "real model does with the words inside the fence: whether it obeys them, is flattered by "
        "them, or takes a false reference for the true one. Ask the model itself before training."
    ),
    "recording": (
        "No model was asked: the answers were recorded. They show what the model said then, to "
        "these attacks; not what it says now."
    ),
    "model": (
        "The attacks are known ones, and few. Training searches for others, longer and better than "
        "anybody's list: that none of these raises the reward does not show that none will."
    ),
}
"""What the figures cannot show, by who answered."""

SHOWN: Final = 10
"""Attacks that are told one by one; the figures count the rest."""


@dataclass(frozen=True, slots=True)
class Report:
    """A judge, and what became of the attacks on it.

    Args:
        spec: the judge.
        parameters: its settings.
        models: who answered.
        source: what they are.
        instructions: a hash of what the judge is told.
        findings: what became of the attacks.
    """

    spec: RewardSpec
    parameters: Mapping[str, Any]
    models: Sequence[str]
    source: Source
    instructions: str
    findings: Findings

    @property
    def limits(self) -> str:
        """What the figures cannot show."""
        return LIMITS[self.source]

    @property
    def attacks(self) -> str:
        """A hash of the attack set."""
        told = "\0".join(f"{blow.attack.name}\0{blow.attack.response}" for blow in self._one_prompt)
        return sha256(told.encode("utf-8", "replace")).hexdigest()

    @property
    def _one_prompt(self) -> list[Blow]:
        return [blow for blow in self.findings.blows if blow.prompt == 0]

    @property
    def sheets(self) -> list[Sheet]:
        """The families; the attacks that raised the reward."""
        heads = ["attacks", "tried", "raised", "share", "gated", "noticed", "no verdict"]
        rows = [
            [
                family.name,
                str(family.scored),
                str(family.raised),
                f"{family.rate:.1%}",
                *map(str, (family.gated, family.noticed, family.no_verdict)),
            ]
            for family in self.findings.families
        ]
        note = (
            "Raised: earned more than the wrong answer alone. Gated: turned away before anybody "
            "was asked. Noticed: the judge saw that it was spoken to. No verdict: the answer was "
            "not usable, and is no score."
        )
        raised = [blow for blow in self.findings.blows if blow.raised]
        told = [
            [blow.attack.name, blow.attack.kind, str(blow.prompt + 1), f"{blow.share or 0:.3f}"]
            for blow in raised[:SHOWN]
        ]
        sheets = [Sheet(f"Attacks on {self.spec.name}", heads, rows, note)]
        if told:
            title = f"What raised the reward, the first {len(told)} of {len(raised)}"
            heads = ["attack", "kind", "prompt", "earned"]
            sheets.append(Sheet(title, heads, told, words=("kind",)))
        return sheets


def markdown(report: Report) -> str:
    """The card."""
    return "\n".join(_lines(report)) + "\n"


def record(report: Report) -> dict[str, Any]:
    """The report as data, for programs."""
    findings = report.findings
    return {
        "judge": report.spec.name,
        "version": report.spec.version,
        "parameters": dict(report.parameters),
        "models": list(report.models),
        "source": report.source,
        "instructions": report.instructions,
        "attacks": report.attacks,
        "prompts": len(findings.controls),
        "controls": list(findings.controls),
        "limit": findings.limit,
        "families": [{**family._asdict(), "rate": family.rate} for family in findings.families],
        "raised": [
            {
                "kind": blow.attack.kind,
                "name": blow.attack.name,
                "prompt": blow.prompt + 1,
                "earned": blow.share,
                "control": blow.control,
            }
            for blow in findings.blows
            if blow.raised
        ],
        "failures": findings.failures,
        "limits": report.limits,
    }


def _lines(report: Report) -> Iterator[str]:
    findings = report.findings
    yield f"# Attacks on {escaped(report.spec.name)}"
    yield ""
    verdict = "; ".join(findings.failures) or f"No more than {findings.limit:.1%} raise the reward."
    yield f"> {escaped(verdict)}"
    yield ""
    yield f"> {escaped(report.limits)}"
    yield ""
    parameters = ", ".join(f"{name}={value}" for name, value in report.parameters.items())
    yield f"- Judge: {escaped(report.spec.name)}, version {report.spec.version}"
    yield f"- Parameters: {escaped(parameters or 'the defaults')}"
    yield f"- Asked: {escaped(', '.join(report.models))}"
    yield f"- Instructions: {report.instructions}"
    yield f"- Attack set: {report.attacks}"
    yield f"- Prompts: {len(findings.controls)}"
    for sheet in report.sheets:
        yield ""
        yield from sheet.markdown()
