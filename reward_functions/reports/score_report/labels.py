"""Rewards against labels of the rows: does the reward say "correct" where somebody else did?

A label is a boolean, 0 or 1, one of a few words, or a number on the reward's scale; a number and a
reward count as correct above the middle of the scale. An unscored row has a column of its own and
is in no share. Shares have Wilson's interval, with prompts as its number.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.core.types import Sample
from reward_functions.reports.score_report.figures import share_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reward_functions.core.spec import Scale
    from reward_functions.core.types import Unscored
    from reward_functions.reports.score_report.figures import Rewarded
    from reward_functions.reports.statistics import Share

WORDS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("correct", "right", "true", "yes", "pass", "passed", "1"), True),
    **dict.fromkeys(("incorrect", "wrong", "false", "no", "fail", "failed", "0"), False),
}
"""Labels in words, in lower case."""

LABELLED: Final = ((True, "correct"), (False, "incorrect"))
REWARDED: Final = ((True, "correct"), (False, "incorrect"), (None, "unscored"))
"""(label or reward, name) of the rows and columns of a confusion matrix."""

SEEN: Final = 3
"""Values that an error shows."""

VALUE: Final = 40
"""Characters of such a value."""


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of a file.

    Args:
        field: where they are.
        values: for each row whether it is labelled correct; None where it has no label.
        rule: what counts as correct, as one sentence.
    """

    field: str
    values: Sequence[bool | None]
    rule: str


class Matched(NamedTuple):
    """So many rows of others, and their share, which is None where there are no others."""

    rows: int
    of: int
    share: Share | None


@dataclass(frozen=True, slots=True)
class Confusion:
    """Rewards against labels, as rows of the batch.

    Args:
        field: of the labels.
        rule: what counts as correct.
        cells: by (label, reward), each True for correct; the reward None without one.
        unlabelled: how many rows have no label.
        agreement: the precision: of the rows that the reward finds correct, those labelled so; the
            recall: of the rows labelled correct, those the reward finds so; the accuracy: of all
            scored rows with a label, those where both agree.
    """

    field: str
    rule: str
    cells: Mapping[tuple[bool, bool | None], Sequence[int]]
    unlabelled: int
    agreement: Mapping[str, Matched]

    @property
    def disagreements(self) -> list[int]:
        """The scored rows where label and reward differ."""
        return sorted([*self.cells[True, False], *self.cells[False, True]])


def labels_of(samples: Iterable[Sample | Unscored], field: str, scale: Scale) -> Labels:
    """The labels of the rows, which are gone through once and not kept.

    Args:
        samples: of the file.
        field: of the metadata or the row itself; a path with points leads into objects.
        scale: the reward's.

    Raises:
        ConfigurationError: no row has the field, or a value of it is not a label.
    """
    found: list[Any] = []
    known: set[str] = set()
    for sample in samples:
        found.append(_at(sample, field) if isinstance(sample, Sample) else None)
        if isinstance(sample, Sample) and len(known) <= VALUE:
            known.update(str(key)[:VALUE] for key in list(sample.metadata)[:VALUE])
    present = [value for value in found if value is not None]
    if not present:
        why = ": it is null wherever it is" if field in known else did_you_mean(field, known)
        raise ConfigurationError(f"no row has a label {field!r}{why}")
    numeric = [value for value in present if _is_number(value)]
    zero_or_one = all(value in (0, 1) for value in numeric)
    values = [
        None if value is None else _label(value, scale, zero_or_one=zero_or_one) for value in found
    ]
    read = zip(found, values, strict=True)
    refused = [value for value, label in read if value is not None and label is None]
    if refused:
        raise ConfigurationError(
            f"{len(refused):,} of {len(present):,} values of {field!r} are not labels, such as "
            f"{_shown(refused)}: a label is true or false, 0 or 1, correct or incorrect, or a "
            f"number from {scale.minimum:g} to {scale.maximum:g}"
        )
    middle = _middle(scale)
    rule = f"A reward above {middle:g} counts as correct"
    if numeric and not zero_or_one:
        rule += ", and so does a label above it"
    return Labels(field, values, f"{rule}.")


def confusion(batch: Rewarded, labels: Labels) -> Confusion:
    """The rewards of a batch against the labels of its rows.

    Raises:
        ValueError: there is not one label, or None, for each row.
    """
    cells: dict[tuple[bool, bool | None], list[int]] = {
        (label, reward): [] for label in (True, False) for reward in (True, False, None)
    }
    middle = _middle(batch.scale)
    for at, (label, reward) in enumerate(zip(labels.values, batch.rewards, strict=True)):
        if label is not None:
            cells[label, None if isnan(reward) else reward > middle].append(at)
    both, neither = cells[True, True], cells[False, False]
    found = [*both, *cells[False, True]]
    labelled = [*both, *cells[True, False]]
    shares = {
        "precision": (both, found),
        "recall": (both, labelled),
        "accuracy": ([*both, *neither], [*found, *cells[True, False], *neither]),
    }
    return Confusion(
        labels.field,
        labels.rule,
        cells,
        sum(label is None for label in labels.values),
        {
            name: Matched(len(rows), len(of), share_of(batch, rows, of))
            for name, (rows, of) in shares.items()
        },
    )


def _middle(scale: Scale) -> float:
    return scale.minimum / 2 + scale.maximum / 2


def _at(sample: Sample, field: str) -> Any:
    """The value of a field, or of a path into objects; None where there is none."""
    if field in sample.metadata:
        return sample.metadata[field]
    first, *rest = field.split(".")
    roots = {"metadata": sample.metadata, "reference_answer": sample.reference}
    found: Any = sample.metadata.get(first, roots.get(first))
    for key in rest:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _label(value: Any, scale: Scale, *, zero_or_one: bool) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return WORDS.get(value.strip().lower())
    if not _is_number(value):
        return None
    if zero_or_one:
        return bool(value)
    return value > _middle(scale) if scale.minimum <= value <= scale.maximum else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(values: Sequence[Any]) -> str:
    """The most frequent of these values, each cut."""
    counted = Counter(_brief(value) for value in values).most_common(SEEN)
    return ", ".join(value for value, _ in counted)


def _brief(value: Any) -> str:
    """A value in a few characters: what it is, where it is no short string and no number."""
    if isinstance(value, str):
        return repr(value[:VALUE])
    if isinstance(value, float) or (isinstance(value, int) and value.bit_length() < VALUE):
        return f"{value}"
    if isinstance(value, int):
        return "an integer of many digits"
    return "an object" if isinstance(value, dict) else f"a {type(value).__name__}"
