"""The card as JSON data: every figure by its name, and the settings it depends on."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reward_functions.calibration.figures import Figure
    from reward_functions.calibration.ratings import Share
    from reward_functions.calibration.sheets import Card


def record(card: Card) -> dict[str, Any]:
    """Everything on the card, as JSON data."""
    figures, consistency = card.figures, card.figures.consistency
    names = [card.cases.labels.name(label) for label in card.cases.classes]
    return {
        **asdict(card.about),
        "cases": figures.cases,
        "prompts": figures.prompts,
        "missing": len(card.ratings.missing),
        "measured": asdict(card.ratings.measured),
        "classes": names,
        "confusion": [list(row) for row in figures.table.rows],
        "agreement": {
            way: {name: _figure(figure) for name, figure in values.items()}
            for way, values in figures.agreement.items()
        },
        "invalid": dict(figures.invalid),
        "people": [person._asdict() for person in figures.people],
        "ceiling": dict(zip(("accuracy", "macro F1", "kappa"), figures.ceiling, strict=True))
        if figures.ceiling
        else None,
        "between people": _share(figures.between),
        "bias": _figure(figures.bias),
        "length bias": _figure(figures.length_bias),
        "consistency": {
            "both orders": _share(consistency.orders),
            "own orders": _share(consistency.own),
            "asked again": _share(consistency.repeats),
            "right where consistent": _share(consistency.right_consistent),
            "right where not": _share(consistency.right_inconsistent),
        },
        "confidence": {f"{level:g}": _share(share) for level, share in figures.confidence.items()},
    }


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "value": figure.value,
        "interval": list(figure.interval) if figure.interval else None,
    }


def _share(share: Share) -> dict[str, Any]:
    return {"part": share.part, "whole": share.whole, "share": share.value}
