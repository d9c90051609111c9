"""The normal forms that a reward compared, as a reader sees them."""

from __future__ import annotations


def rendered(form: object) -> str | None:
    """A normal form as a string; it may be a number of more digits than Python writes."""
    try:
        return None if form is None else str(form)
    except ValueError:
        return "a number of too many digits to write"
