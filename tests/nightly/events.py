"""Random events to the handlers of verifiers: a reply for each row, or a typed refusal of all.

    python -m tests.nightly.events [NUMBER] [SEED]

Rows are made of parts of good ones, wrong types, floods and hostile texts. Between them stand rows
that are known: whatever its neighbours are, each of these keeps its score.
"""

import json
import math
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from random import Random

from reward_functions import RewardError
from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings
from reward_functions.testing.hostile import FLOODS, hostile_responses

REWARDS = ("exact_match", "gsm8k", "finqa", "math", "multiple_choice")
KNOWN = {"exact_match": "42", "gsm8k": "#### 42", "finqa": "42", "math": r"\boxed{42}"}
LONGEST = 5_000
WHOLE = 50
"""One in so many events is no list of rows."""

REFERENCE = {"multiple_choice": "A"}
REFUSED = "refused"
SCALARS = (None, True, -1, 0, 1e308, 10**30, "", "42", "\ud800", "\0", [], {}, [[]], {"text": "42"})


def known(reward):
    """A row whose score is known to be 1."""
    said = KNOWN.get(reward, "The answer is A.")
    return row(said, REFERENCE.get(reward, "42"))


def row(said, reference):
    """A row of training."""
    turns = [{"role": "user", "content": "?"}, {"role": "assistant", "content": said}]
    return {"id": "known", "messages": turns, "reference_answer": reference}


def odd(numbers, texts):
    """A row that may be anything."""
    made = row(numbers.choice(texts), numbers.choice(("42", "A", *SCALARS)))
    for _ in range(numbers.randrange(4)):
        target = numbers.choice([made, *made["messages"]]) if _turns(made) else made
        target[numbers.choice((*made, "content", "role", "metadata"))] = numbers.choice(SCALARS)
    return numbers.choice((made,) * 9 + SCALARS)


def _turns(made):
    turns = made.get("messages")
    return isinstance(turns, list) and turns and all(isinstance(turn, dict) for turn in turns)


def check(reward, handler, rows, at):
    """Ask for one batch; returns what is wrong with the reply, None, or REFUSED."""
    try:
        replies = handler(rows)
    except RewardError:
        return REFUSED
    if not isinstance(rows, list):
        return f"what is no list was answered: {replies}"
    if len(replies) != len(rows):
        return f"{len(replies)} replies to {len(rows)} rows"
    values = [reply["aggregate_reward_score"] for reply in replies]
    if not all(isinstance(value, float) and math.isfinite(value) for value in values):
        return f"a reward is no number: {values}"
    if values[at] != 1.0:
        return f"the known row of {reward} earned {values[at]}"
    json.dumps(replies)
    return None


def main(number=40_000, seed=1):
    """Send the events; returns 1 where a reply was wrong."""
    numbers = Random(seed)
    texts = [text for _, text in hostile_responses() if len(text) <= LONGEST]
    texts += [flood.text(LONGEST) for flood in FLOODS]
    sent = refused = failed = 0
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        handlers = {
            name: bind(LambdaSettings(name=name, on_unscored="minimum")) for name in REWARDS
        }
        for _ in range(number):
            reward = numbers.choice(REWARDS)
            rows = [odd(numbers, texts) for _ in range(numbers.randrange(8))]
            at = numbers.randrange(len(rows) + 1)
            rows.insert(at, known(reward))
            if not numbers.randrange(WHOLE):
                rows = numbers.choice(({"rows": rows}, json.dumps(rows), *SCALARS[:9]))
            wrong = check(reward, handlers[reward], rows, at)
            if not isinstance(rows, list) and wrong == REFUSED:
                refused += 1
                continue
            if wrong not in {None, REFUSED}:
                print(wrong, json.dumps(rows)[:2_000], sep="\n", file=sys.stderr)
                return 1
            sent += len(rows)
            failed += wrong == REFUSED
    print(f"{number:,} events with {sent:,} rows, seed {seed}: every reply is right,")
    print(f"{failed:,} of them failed as a whole; {refused:,} more, of no rows, were refused.")
    return int(failed > number // 10 or not refused)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
