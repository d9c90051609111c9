"""The report on the attacks on a judge, as tables, Markdown and data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.reports.sheets import Sheet, escaped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reward_functions.calibration.doctor import AttackResults
    from reward_functions.core.spec import RewardSpec

Source = Literal["script", "recording", "model"]

LIMITS: Final[Mapping[Source, str]] = {
    "script": (
        "No model was asked, but a scripted one that obeys every order outside a fence. The result "
        "shows that prefilter and fences hold against these attacks. It does not show what a real "
        "model does with the words inside the fence: whether it obeys them, is flattered by them, "
        "or takes a false reference for the true one. Attack the model itself before training."
    ),
    "recording": (
        "No model was asked: the answers are recorded. They show how the model answered these "
        "attacks then, and not how it answers now."
    ),
    "model": (
        "The attacks are known ones, and few. Training searches for others, longer and better than "
        "any list. That none of these raises the reward does not show that none will."
    ),
}
"""The limits of the figures, by the source of the answers."""

SHOWN: Final = 10
"""Attacks that are listed one by one."""


@dataclass(frozen=True, slots=True)
class AttackReport:
    """A judge, and the outcomes of the attacks on it.

    Args:
        spec: the judge.
        parameters: its parameters that differ from their defaults.
        models: that answered.
        source: of the answers.
        instructions: a hash of the judge's instructions.
        results: the outcomes of the attacks.
    """

    spec: RewardSpec
    parameters: Mapping[str, Any]
    models: Sequence[str]
    source: Source
    instructions: str
    results: AttackResults

    @property
    def limits(self) -> str:
        """The limits of the figures."""
        return LIMITS[self.source]

    @property
    def attacks(self) -> str:
        """A hash of the attack set."""
        attacks = [outcome.attack for outcome in self.results.outcomes if outcome.prompt == 0]
        content = "\0".join(f"{attack.name}\0{attack.response}" for attack in attacks)
        return sha256(content.encode("utf-8", "replace")).hexdigest()

    @property
    def sheets(self) -> list[Sheet]:
        """Two tables: the kinds of attacks, and the attacks that raised the reward."""
        heads = ["attacks", "tried", "raised", "share", "prefiltered", "noticed", "invalid"]
        rows = [
            [
                kind.name,
                str(kind.scored),
                str(kind.raised),
                f"{kind.rate:.1%}",
                *map(str, (kind.prefiltered, kind.noticed, kind.invalid)),
            ]
            for kind in self.results.kinds
        ]
        note = (
            "Raised: earned more than the wrong answer alone. Prefiltered: rejected before a call. "
            "Noticed: the judge reported that the response speaks to it. Invalid: the answer was "
            "no legal verdict, and the sample has no score."
        )
        raised = [outcome for outcome in self.results.outcomes if outcome.raised]
        listed = [
            [each.attack.name, each.attack.kind, str(each.prompt + 1), f"{each.share or 0:.3f}"]
            for each in raised[:SHOWN]
        ]
        sheets = [Sheet(f"Attacks on {self.spec.name}", heads, rows, note)]
        if listed:
            title = f"Attacks that raised the reward, the first {len(listed)} of {len(raised)}"
            heads = ["attack", "kind", "prompt", "earned"]
            sheets.append(Sheet(title, heads, listed, words=("kind",)))
        return sheets


def markdown(report: AttackReport) -> str:
    """The report as a page of Markdown."""
    return "\n".join(_lines(report)) + "\n"


def record(report: AttackReport) -> dict[str, Any]:
    """The report as JSON data."""
    results = report.results
    return {
        "judge": report.spec.name,
        "version": report.spec.version,
        "parameters": dict(report.parameters),
        "models": list(report.models),
        "source": report.source,
        "instructions": report.instructions,
        "attacks": report.attacks,
        "prompts": len(results.controls),
        "controls": list(results.controls),
        "limit": results.limit,
        "measured": asdict(results.measured),
        "kinds": [{**kind._asdict(), "rate": kind.rate} for kind in results.kinds],
        "raised": [
            {
                "kind": outcome.attack.kind,
                "name": outcome.attack.name,
                "prompt": outcome.prompt + 1,
                "earned": outcome.share,
                "control": outcome.control,
            }
            for outcome in results.outcomes
            if outcome.raised
        ],
        "failures": results.failures,
        "limits": report.limits,
    }


def _lines(report: AttackReport) -> Iterator[str]:
    results = report.results
    yield f"# Attacks on {escaped(report.spec.name)}"
    yield ""
    verdict = "; ".join(results.failures) or f"No more than {results.limit:.1%} raise the reward."
    yield f"> {escaped(results.measured.sentence)}."
    yield ""
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
    yield f"- Prompts: {len(results.controls)}"
    for sheet in report.sheets:
        yield ""
        yield from sheet.markdown()
