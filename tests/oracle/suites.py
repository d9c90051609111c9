"""Labelled cases: the suites of ../shared/data/math, and a smaller set of our own without them.

A bare answer is put in a box, for every verifier alike.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from reward_functions import sample
from reward_functions.testing import hostile_responses

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "math"
OWN = Path(__file__).parents[1] / "cases" / "differential.jsonl"

LARGEST = 200_000
"""Characters of a made-up hostile response. The larger ones only cost patience."""


@dataclass(frozen=True)
class Case:
    """A response with its reference and its label.

    Args:
        id: unique in its suite.
        gold: the reference.
        gold_kind: "bare" for an answer without delimiters, else a text with them.
        response: a whole response.
        right: the label.
        judged: False for a hostile case that only needs to finish.
        kind: what it is about.
        prompt: the question; "" where the suite has none. math-verify takes none.
    """

    id: str
    gold: str
    gold_kind: str
    response: str
    right: bool
    judged: bool = True
    kind: str = ""
    prompt: str = ""

    @property
    def sample(self):
        """The case as `math` takes it."""
        return sample(self.response, self.gold, id=self.id, prompt=self.prompt)


def labelled():
    """(what the suites are, their cases by name): the data set, or ours where it is not at hand."""
    if FOLDER.is_dir():
        found = {path.stem: suite(path.stem) for path in sorted(FOLDER.glob("*.jsonl"))}
        return "the labelled suites", found
    return "a small set of our own (the labelled suites are not at hand)", own()


def suite(name):
    """The cases of one suite of the data set."""
    rows = map(json.loads, (FOLDER / f"{name}.jsonl").read_text().splitlines())
    return [
        Case(
            id=row["id"],
            gold=row["gold"],
            gold_kind=row["gold_kind"],
            response=boxed(row["pred"]) if row["pred_kind"] == "bare" else row["pred"],
            right=row["label"],
            judged=row.get("accept") != "any",
            kind=row.get("kind", ""),
            prompt=row.get("question", ""),
        )
        for row in rows
    ]


def own():
    """Our own cases: those of the differential test, and the hostile responses of the library."""
    table = differential()
    return {
        "own_right": [case for case in table if case.right],
        "own_wrong": [case for case in table if not case.right],
        "own_hostile": own_hostile(),
    }


def hostile():
    """The hostile cases of whichever set is at hand."""
    return suite("hostile") if FOLDER.is_dir() else own_hostile()


def own_hostile():
    """The hostile responses of the library, against a reference none of them means."""
    return [
        Case(name, "5", "bare", text, right=False, kind="hostile")
        for name, text in hostile_responses()
        if len(text) <= LARGEST
    ]


def differential():
    """The table of the differential test; labels follow the rules of docs/math.md."""
    rows = map(json.loads, OWN.read_text().splitlines())
    return [
        Case(
            id=f"own-{at:03d}",
            gold=row["reference"],
            gold_kind="bare",
            response=row["response"],
            right=row["right"],
            kind=row["kind"],
        )
        for at, row in enumerate(rows, 1)
    ]


def boxed(answer):
    """An answer as the last sentence of a response."""
    return f"The final answer is $\\boxed{{{answer}}}$."
