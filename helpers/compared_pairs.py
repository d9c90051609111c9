"""Pairs of responses to compare, in the shape of PandaLM's public file, and reasons to judge.

Every prompt has a right answer, so that the better response is known: a right one is better than a
right one in padding, and that than a wrong one; two right ones are a tie. The three votes are drawn
around it, and are votes of nobody.
"""

from __future__ import annotations

import json
from itertools import combinations, cycle, islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from helpers.shown import Shown
from helpers.training_rows import SEED, TrainingRows
from reward_functions.data.preparing import prepare
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

PROMPTS: Final = {
    # instruction: (input, a right answer, a wrong one)
    "Give the opposite of the word.": (
        ("hot", "cold", "warm"),
        ("early", "late", "soon"),
        ("narrow", "wide", "thin"),
        ("ancient", "modern", "aged"),
        ("scarce", "plentiful", "rare"),
        ("opaque", "transparent", "cloudy"),
        ("temporary", "permanent", "brief"),
        ("victory", "defeat", "triumph"),
    ),
    "Write the plural of the noun.": (
        ("ox", "oxen", "oxes"),
        ("criterion", "criteria", "criterions"),
        ("leaf", "leaves", "leafs"),
        ("mouse", "mice", "mouses"),
        ("phenomenon", "phenomena", "phenomenas"),
        ("thesis", "theses", "thesises"),
        ("goose", "geese", "gooses"),
        ("knife", "knives", "knifes"),
    ),
    "Write the number in digits.": (
        ("three hundred and seven", "307", "3007"),
        ("twelve thousand and forty", "12040", "1240"),
        ("nine hundred and ninety", "990", "909"),
        ("two million", "2000000", "200000"),
        ("sixty-one", "61", "16"),
        ("four thousand and four", "4004", "404"),
        ("eight hundred and eighteen", "818", "880"),
        ("seventy thousand", "70000", "7000"),
    ),
}

PADDED: Final = (
    "That is a great question! Many people ask it. It is {right}. I hope that this helps you!"
)

DISAGREED: Final = 20
"""Every so many pairs the three votes are three different ones."""

REASONS: Final = {
    # what the reasons are like: (the line of them, what they should earn)
    "specific and true": ('Response {better} gives "{right}", which is asked for.', 1.0),
    "vague": ("It is better.", 0.9),
    "a false quotation": ('The better one gives "{right}, and a source for it".', 0.9),
    "a false claim": ("The better one is the only one that is written in French.", 0.9),
    "for the other response": ("Response {other} is shorter and says all that is asked.", 0.9),
    "none": ("", 0.7),
}


class Answered(NamedTuple):
    """A response, and how good it is."""

    text: str
    merit: int


def compared_pairs(folder: str | Path) -> TrainingRows:
    """Write synthetic pairs as PandaLM's public file has them, and prepare them.

    Args:
        folder: where `pairs.json`, `all.jsonl` and `report.json` are written.

    Raises:
        OSError: a file cannot be written.
    """
    source = Path(folder) / "pairs.json"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(json.dumps(_shuffled([*_records()])), encoding="utf-8")
    prepare("pandalm", [source], Path(folder))
    return TrainingRows(Path(folder) / "all.jsonl")


def prepared(rows: TrainingRows) -> Shown:
    """What became of the records: the report of `reward data prepare`."""
    report = json.loads((rows.path.parent / "report.json").read_text(encoding="utf-8"))
    kept = [["kept", label, f"{count:,}"] for label, count in sorted(report["kept"].items())]
    lost = [["dropped", why, f"{count:,}"] for why, count in sorted(report["dropped"].items())]
    heads = ("records", "label, or why", "count")
    title = f"{report['records']:,} pairs, with the votes of three"
    return Shown([Sheet(title, heads, [*kept, *lost], words=heads[:2])])


def labelled_reasons(rows: TrainingRows, path: str | Path, count: int = 60) -> Path:
    """Write right verdicts with reasons of every kind, and what each should earn as its label.

    Args:
        rows: pairs, of which ties are left out.
        path: of the file, JSONL.
        count: of the cases.

    Raises:
        OSError: the file cannot be written.
    """
    decided = [row for row in rows.rows if row["reference_answer"]["label"]]
    kinds = cycle(REASONS.items())
    cases = [
        _case(row, kind, reasons, label)
        for row, (kind, (reasons, label)) in zip(islice(decided, count), kinds, strict=False)
    ]
    Path(path).write_text("".join(f"{json.dumps(case)}\n" for case in cases), encoding="utf-8")
    return Path(path)


def _shuffled(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A file whose first rows are like all of it: what tries a judge asks about few."""
    Random(SEED).shuffle(records)  # noqa: S311 - the same order in every run
    return records


def _records() -> Iterator[dict[str, Any]]:
    random = Random(SEED)  # noqa: S311 - the same draws in every run
    number = 0
    for instruction, inputs in PROMPTS.items():
        for given, right, wrong in inputs:
            for pair in combinations(_answers(right, wrong), 2):
                number += 1
                first, second = random.sample(pair, 2)
                yield {
                    "idx": number,
                    "cmp_key": "invented-a_invented-b",
                    "instruction": instruction,
                    "input": given,
                    "response1": first.text,
                    "response2": second.text,
                    **_votes(first, second, number, random),
                }


def _answers(right: str, wrong: str) -> list[Answered]:
    return [
        Answered(right, 2),
        Answered(f"The answer is {right}.", 2),
        Answered(PADDED.format(right=right), 1),
        Answered(wrong, 0),
    ]


def _votes(first: Answered, second: Answered, number: int, random: Random) -> dict[str, int]:
    """Two of three for the better one, or all; at times each for another."""
    label = 0 if first.merit == second.merit else 1 if first.merit > second.merit else 2
    votes = [label, label, random.choice([label, label, random.randint(0, 2)])]
    if number % DISAGREED == 0:
        votes = [0, 1, 2]
    random.shuffle(votes)
    return {f"annotator{at}": vote for at, vote in enumerate(votes, 1)}


def _case(row: dict[str, Any], kind: str, reasons: str, label: float) -> dict[str, Any]:
    better = row["reference_answer"]["label"]
    asked = row["messages"][-1]["content"]
    right = asked.partition(f"## Response {better}\n")[2].partition("\n")[0]
    written = reasons.format(better=better, other=3 - better, right=right)
    response = f"JUDGMENT: Response {better}\nREASONING: {written}".removesuffix("\nREASONING: ")
    turns = [*row["messages"], {"role": "assistant", "content": response}]
    return {
        "id": f"{row['id']}, {kind}",
        "messages": turns,
        "reference_answer": row["reference_answer"],
        "label": label,
    }
