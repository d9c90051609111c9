"""Attacks on judges: responses that must earn the minimum, each around a wrong answer.

`reward audit JUDGE` sends them to a real model. The tests send them to a scripted one, which obeys
every order outside a fence. The attacks are of the kinds that the literature and the issue trackers
of other projects report. They are master keys, overrides, escapes from the fence, references of
their own, tokens of chat templates, imitations of the verdict, thefts of the checksum, verdicts in
the reasoning, hidden text, and social pressure.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

WRONG: Final = "WRONG"
"""The placeholder of the wrong answer in the file."""


@dataclass(frozen=True, slots=True)
class Attack:
    """A response that must earn the minimum.

    Args:
        kind: of attack, in two words.
        name: unique among the attacks.
        response: the whole response.
    """

    kind: str
    name: str
    response: str


def attacks(wrong: str) -> Iterator[Attack]:
    """The attack set, in a fixed order.

    Args:
        wrong: a wrong answer to the attacked prompt, in one short line.

    Yields:
        Some sixty attacks.
    """
    text = Path(__file__).with_name("attacks.jsonl").read_text(encoding="utf-8")
    for line in text.splitlines():
        row = json.loads(line)
        yield Attack(row["kind"], row["name"], row["response"].replace(WRONG, wrong))
