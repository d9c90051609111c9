"""Scores a file, and counts: right, wrong paid, right refused, unscored; every loss by its row."""

from dataclasses import asdict, dataclass, field

from reward_functions import Unscored, get, sample, score_batch
from tests.scoreboard import sets

TAIL = 400
"""Characters of a response that a loss shows: its end, where the answer is."""


@dataclass
class Count:
    """The verdicts of one verifier."""

    right: int = 0
    wrong_paid: int = 0
    right_refused: int = 0
    unscored: int = 0

    def add(self, paid, label):
        """Count one verdict; `paid` is None where there is none. The name of what it is."""
        name = (
            "unscored"
            if paid is None
            else "right"
            if paid is label
            else "right_refused"
            if label
            else "wrong_paid"
        )
        setattr(self, name, getattr(self, name) + 1)
        return name


@dataclass
class Line:
    """A line of the board: one file, under one version of a reward.

    Args:
        artefacts: rows among those refused where the file, and not the response, may be at fault.
    """

    file: str
    source: str
    licence: str
    sha256: str
    date: str
    reward: str
    version: int
    rows: int = 0
    labelled_right: int = 0
    artefacts: int = 0
    ours: Count = field(default_factory=Count)
    rivals: dict[str, Count] = field(default_factory=dict)

    def as_json(self):
        """The line as an object of JSON."""
        return asdict(self)


def scored(path, reward, date, rivals=()):
    """(line, losses) of each set of a file; each of `rivals` judges the rows as well."""
    name, sets_of_file = sets.known(path, reward)
    checksum, held = sets.opened(path)
    for about in sets_of_file:
        title = f"{name}, {about.part}" if about.part else name
        spec = get(about.reward)
        origin = about.source, about.licence, checksum, date
        line = Line(title, *origin, spec.name, spec.version)
        rows = about.rows(held)
        if rows and all(row.trouble for row in rows):
            raise SystemExit(f"{name}: no row can be read; {rows[0].trouble}")
        line.rows, line.labelled_right = len(rows), sum(row.right for row in rows)
        losses = [loss for row in rows if (loss := _ours(spec, row, line))]
        line.artefacts = sum(loss["artefact"] for loss in losses)
        for rival in rivals if about.rival else ():
            line.rivals[rival.name] = _theirs(rival, rows)
        yield line, losses


def _theirs(rival, rows):
    """The verdicts of a rival; a row that it cannot judge is one that it does not pay."""
    count = Count()
    for row, judged in zip(rows, rival.judgements(rows), strict=True):
        count.add(judged.right and not judged.trouble, row.right)
    return count


def _ours(spec, row, line):
    """Count a verdict of ours; the loss, where it is one."""
    asked = sample(row.response, row.reference, prompt=row.prompt, id=row.id)
    (result,) = score_batch(spec, [asked])
    if row.trouble:
        paid, reason, rule = None, row.trouble, ""
    elif isinstance(result, Unscored):
        paid, reason, rule = None, str(result.error), ""
    else:
        score = result.score
        paid = score.value == spec.scale.maximum
        reason, rule = score.reason, score.evidence.rule if score.evidence else ""
    kind = line.ours.add(paid, row.right)
    if kind == "right":
        return None
    artefact = row.artefact and kind == "right_refused"
    shown = {"reference": row.reference, "response": row.response[-TAIL:], "artefact": artefact}
    return {"file": line.file, "id": row.id, "kind": kind, "reason": reason, "rule": rule, **shown}
