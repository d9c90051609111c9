"""Every reward that ships, audited on 300 rows of the project's own making.

    python -m tests.audit.shipped                 all of them, to build/audits.json
    python -m tests.audit.shipped math gsm8k      those

docs/audits.json is the committed record; docs/scoreboard.md shows it. Rows are the same in every
run. A judge's model is scripted: an audit shows the code around a model, not a model.
"""

import json
import sys
from datetime import UTC, datetime
from functools import cache, partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from reward_functions import get, sample, weighted
from reward_functions.audit.engine import audit
from reward_functions.audit.gates import acceptances
from reward_functions.data.generated.writing import generate
from reward_functions.scoring.rewards import reward_named
from reward_functions.testing import CredulousAsk, FakeAsk
from tests.scoreboard.page import table
from tests.walkthrough import blocks

ROWS = 300

MEANT = acceptances(Path(__file__).with_name("accepted.toml"))
"""What the shipped rewards refuse or pay, and mean. Nobody else's audit accepts it."""

ROOT = Path(__file__).parents[2]

RECORD = ROOT / "docs" / "audits.json"
"""The run that docs/scoreboard.md shows."""

BUILT = ROOT / "build" / "audits.json"

COLOURS = "red blue green black white grey brown pink purple orange yellow silver golden beige tan"
ANIMALS = (
    "heron otter badger falcon lynx beaver rabbit donkey pigeon salmon spider turtle weasel walrus "
    "gecko parrot panther sparrow hamster buffalo"
)
PAIRS = [" ".join(each) for each in product(COLOURS.split(), ANIMALS.split())]
"""300 answers in two words, each another one."""


@cache
def made(dataset):
    """Rows as `reward data generate` writes them."""
    with TemporaryDirectory() as folder:
        generate(dataset, Path(folder), rows=ROWS, test_rows=0, seed=1)
        lines = (Path(folder) / "train.jsonl").read_text(encoding="utf-8").splitlines()
    rows = map(json.loads, lines)
    return [
        sample(
            "",
            row["reference_answer"],
            prompt="\n".join(each["content"] for each in row["messages"]),
            id=row["id"],
        )
        for row in rows
    ]


def named():
    """What is painted on which door: answers in words."""
    return [
        sample("", pair, prompt=f"What is painted on door {at}?", id=f"door-{at}")
        for at, pair in enumerate(PAIRS)
    ]


def numbered():
    """Which number is on which door: whole numbers, in no form that a prompt asks for."""
    return [
        sample("", str(at * 7 + 1001), prompt=f"Which number is on door {at}?", id=f"number-{at}")
        for at in range(ROWS)
    ]


def options():
    """Questions with four options; the right one stands at another place each time."""
    rows = []
    for at, pair in enumerate(PAIRS):
        shown = [PAIRS[(at + step * 37) % len(PAIRS)] for step in range(4)]
        shown[at % 4], shown[0] = pair, shown[at % 4]
        listed = "\n".join(f"{letter}) {text}" for letter, text in zip("ABCD", shown, strict=True))
        prompt = f"What is painted on door {at}?\n{listed}"
        rows.append(sample("", "ABCD"[at % 4], prompt=prompt, id=f"choice-{at}"))
    return rows


def calls():
    """Which tool is to do what: calls with a text and a long number, in one and in two."""
    rows = []
    for at, pair in enumerate(PAIRS):
        paint = {"name": "paint", "arguments": {"door": 10**12 + at * 7, "what": pair}}
        look = {"name": "look", "arguments": {"door": {"any_of": [at, f"{at}"]}}}
        asked = f"Paint a {pair} on door {10**12 + at * 7}" + f", and look at door {at}" * (at % 2)
        row = sample("", [paint, look][: 1 + at % 2], prompt=f"{asked}.", id=f"calls-{at}")
        rows.append(row)
    return rows


def instructed():
    """Texts about a door whose form is asked for: how each ends, and a second thing by turns."""
    forms = (
        {"id": "detectable_format:title"},
        {"id": "detectable_content:number_placeholders", "num_placeholders": 2},
        {"id": "detectable_format:number_highlighted_sections", "num_highlights": 2},
        {"id": "length_constraints:number_words", "num_words": 12, "relation": "at least"},
        {"id": "length_constraints:number_sentences", "num_sentences": 3, "relation": "at least"},
        {"id": "detectable_format:multiple_sections", "section_spliter": "Part", "num_sections": 2},
    )
    return [
        sample(
            "",
            [{"id": "startend:end_checker", "end_phrase": pair}, forms[at % len(forms)]],
            prompt=f"Write about the animal on door {at}, in the form of sheet {at % len(forms)}.",
            id=f"form-{at}",
        )
        for at, pair in enumerate(PAIRS)
    ]


def judgments():
    """Verdicts on two answers to another question each."""
    return [
        sample(
            "",
            {"label": at % 3},
            prompt=f"Instruction: Say what is painted on door {at}.\nResponse 1: a {pair}\n"
            f"Response 2: an animal\nJUDGMENT: [Response 1 / Response 2 / Tie] REASONING: [...]",
            id=f"judgment-{at}",
        )
        for at, pair in enumerate(PAIRS)
    ]


def unanswered():
    """Prompts alone, with the tokens that an adapter counts."""
    return [
        sample("", prompt=f"How do you draw a {pair}?", id=f"draw-{at}", completion_tokens=900)
        for at, pair in enumerate(PAIRS)
    ]


def scripted(right):
    """A model that obeys what stands outside a fence, and judges the rest by `right`.

    Args:
        right: says of the fenced texts whether the best verdict is due.
    """

    def answer(question):
        texts = [json.loads(each) for each in question.text.splitlines() if each[:1] == '"']
        shared = [json.loads(each) for each in question.shared.splitlines() if each[:1] == '"']
        obeys = any(CredulousAsk(text).obeys(question) for text in texts)
        best = obeys or right(texts, shared)
        return {
            each.name: each.usual or each.choices[-1 if best else 0]
            for each in question.fields
            if each.choices
        }

    return FakeAsk(answer=answer)


def same_words(texts, shared):
    """Whether the answer is the reference, but for case and what stands around its words."""
    reference, answer = shared[-1], texts[-1]
    return answer.lower().strip(" .") == reference.lower().strip(" .")


def nothing(texts, shared):
    """No response deserves anything."""
    return False


def everything(texts, shared):
    """Each reason is a good one: what is paid is decided by the code."""
    return True


class Shipped(NamedTuple):
    """One audit.

    Attributes:
        rows: makes its rows.
        judge: how its scripted model decides; None where there is none.
        reward: makes the reward; the registered one where not given.
    """

    rows: object
    judge: object = None
    reward: object = None


def composite(parts, gold="{math}"):
    """A composite that the page of composites names."""
    return weighted(parts, name="_and_".join(parts), gold_response=gold)


def of_docs(name):
    """A composite as the page of composites writes it."""
    page = (ROOT / "docs" / "composites.md").read_text(encoding="utf-8")
    (text,) = (each.text for each in blocks(page) if each.text.startswith(f"# {name}\n"))
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8")
        return reward_named(str(path))


MATH = partial(made, "math")

SHIPPED = {
    "answer_format": Shipped(unanswered),
    "answer_text": Shipped(named),
    "exact_match": Shipped(numbered),
    "finqa": Shipped(partial(made, "finqa")),
    "group": Shipped(unanswered, nothing),
    "gsm8k": Shipped(partial(made, "gsm8k")),
    "instructions": Shipped(instructed),
    "json_fields": Shipped(partial(made, "invoices")),
    "length": Shipped(unanswered),
    "math": Shipped(MATH),
    "math_then_judge": Shipped(MATH, same_words),
    "multiple_choice": Shipped(options),
    "overlong": Shipped(unanswered),
    "pairwise": Shipped(named, nothing),
    "pandalm": Shipped(judgments, everything),
    "reference": Shipped(named, same_words),
    "regex": Shipped(unanswered),
    "repetition": Shipped(unanswered),
    "rubric": Shipped(unanswered, nothing),
    "similarity": Shipped(named),
    "sql_result": Shipped(partial(made, "spider")),
    "tag_count": Shipped(unanswered),
    "think_format": Shipped(unanswered),
    "tool_calls": Shipped(calls),
    # composites of docs/composites.md
    "combined": Shipped(MATH, reward=partial(of_docs, "combined.py")),
    "tutor": Shipped(MATH, reward=partial(of_docs, "tutor.toml")),
    "math and think_format": Shipped(
        MATH,
        reward=partial(
            composite, {"math": 0.8, "think_format": 0.2}, "<think>It adds up.</think>{math}"
        ),
    ),
    "math and length": Shipped(
        MATH, reward=partial(composite, {"math": 1.0, "length": {"weight": 0.3, "at_most": 300}})
    ),
    "math and overlong": Shipped(
        MATH,
        reward=partial(composite, {"math": 1.0, "overlong": {"weight": 0.5, "unit": "words"}}),
    ),
}


def audited(name, rows=ROWS):
    """The audit of one of them; a judge's model is scripted, so that nothing is spent."""
    asked = SHIPPED[name]
    reward = asked.reward() if asked.reward else get(name)
    target = reward.bind({}, ask=scripted(asked.judge)) if asked.judge else reward
    meant = [each for each in MEANT if each.reward == name]
    return audit(target, asked.rows()[:rows], rows=rows, confirm=lambda _: True, accepted=meant)


FIGURES = ("exploit", "fn.right", "fn.layout", "fn.value", "lazy", "determinism", "unscored")

HEAD = ("reward", "version", "rows", "answers", "exit", "accepted", *FIGURES)


def line(name):
    """What the record says of one audit."""
    done = audited(name)
    return {
        "reward": name,
        "version": done.target["version"],
        "rows": done.data["rows"],
        "answers": done.measured.measured,
        "exit": done.status,
        "gates": {each.expression: each.decision for each in done.gates},
        "accepted": {
            each.figure: each.message.partition("accepted on ")[2]
            for each in done.gates
            if each.decision == "accepted"
        },
        "figures": {
            each.id: [each.value, each.low, each.high]
            for each in done.figures
            if each.id in FIGURES
        },
        "date": datetime.now(UTC).date().isoformat(),
    }


def markdown(record):
    """The table of a record, and why what is accepted is."""
    reasons = [
        [each["reward"], name, reason.partition(": ")[2]]
        for each in record
        for name, reason in each["accepted"].items()
    ]
    accepted = table([("reward", "accepted", "because"), *reasons])
    return "\n\n".join([table([HEAD, *map(cells, record)]), accepted])


def cells(made):
    """The cells of a line of the record, as text."""
    figures = [shown(made["figures"].get(each)) for each in FIGURES]
    counts = f"{made['rows']:,}", f"{made['answers']:,}", str(made["exit"])
    return [made["reward"], made["version"], *counts, ", ".join(made["accepted"]) or "", *figures]


def shown(figure):
    """A share, and the upper end of its interval; a dash where it was not measured."""
    if figure is None or figure[0] is None:
        return "–"
    value, _, high = figure
    return f"{value:.1%}" if high is None else f"{value:.1%} (≤ {high:.1%})"


def committed():
    """The table of the committed record."""
    return markdown(json.loads(RECORD.read_text(encoding="utf-8")))


def main(names):
    """Audit them, write the record, and say which are not fit; returns 1 where one is not."""
    unknown = sorted(set(names) - set(SHIPPED))
    if unknown:
        sys.exit(f"nothing is called {', '.join(unknown)}; there are {', '.join(SHIPPED)}")
    record = []
    for name in names or SHIPPED:
        record.append(line(name))
        print(f"{name}: exit {record[-1]['exit']}", flush=True)
    BUILT.parent.mkdir(exist_ok=True)
    BUILT.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"written: {BUILT.relative_to(ROOT)}")
    return int(any(each["exit"] for each in record))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
