"""The card as data, for programs: every figure by its name, and what it depends on."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reward_functions.tools.calibration.figures import Figure
    from reward_functions.tools.calibration.readings import Share
    from reward_functions.tools.calibration.sheets import Card


def record(card: Card) -> dict[str, Any]:
    """Everything on the card, as JSON takes it."""
    figures, steady = card.figures, card.figures.steadiness
    names = [card.cases.labels.name(label) for label in card.cases.classes]
    return {
        **asdict(card.about),
        "cases": figures.cases,
        "prompts": figures.prompts,
        "missing": len(card.readings.missing),
        "classes": names,
        "confusion": [list(row) for row in figures.table.rows],
        "agreement": {
            way: {name: _figure(figure) for name, figure in told.items()}
            for way, told in figures.agreement.items()
        },
        "unusable": dict(figures.unusable),
        "people": [person._asdict() for person in figures.people],
        "ceiling": dict(zip(("accuracy", "macro F1", "kappa"), figures.ceiling, strict=True))
        if figures.ceiling
        else None,
        "between people": _share(figures.between),
        "lean": _figure(figures.lean),
        "length slope": _figure(figures.length),
        "steadiness": {
            "both orders": _share(steady.orders),
            "own orders": _share(steady.own),
            "asked again": _share(steady.repeats),
            "right where steady": _share(steady.right_steady),
            "right where not": _share(steady.right_unsteady),
        },
        "confidence": {f"{sure:g}": _share(share) for sure, share in figures.confidence.items()},
    }


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "value": figure.value,
        "interval": list(figure.interval) if figure.interval else None,
    }


def _share(share: Share) -> dict[str, Any]:
    return {"part": share.part, "whole": share.whole, "share": share.value}
