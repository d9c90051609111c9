"""Pairs of responses with people's votes, and attacks, put before every judge.

What models once said of the pairs is replayed to `pairwise`. The other judges are answered by a
script, since nobody has recorded verdicts for their questions.
"""

from itertools import chain
from pathlib import Path

from tests.recorder.labelled import ROOT, SHARED
from tests.recorder.rows import Trial, lines, row

ATTACKS = tuple(
    ROOT / "reward_functions" / home / "attacks.jsonl" for home in ("judge_runtime", "judges")
)
"""Where the attacks on judges are: here in one checkout, there in an older one."""

RECORDED = {
    "pandalm/cases.jsonl": ("gpt35", "pandalm7b"),
    "public/llmbar_cases.jsonl.gz": ("gpt4_vanilla", "chatgpt_metrics_reference", "falcon_vanilla"),
}
"""The files of pairs, and judges recorded in them: good ones, and one that guesses."""

PLACES = {1: -1, 0: 1, 2: 0}
"""The better response as labels have it, and as a place in choices that begin with the worst."""

PLANS = (
    ("pairwise", {}),
    ("pairwise", {"orders": "auto"}),
    ("pairwise", {"max_chars": 200}),
    ("reference", {}),
    ("reference", {"answer": "whole"}),
    ("rubric", {}),
    ("rubric", {"criteria": "summarization"}),
    ("rubric", {"criteria": "reasoning"}),
    ("rubric", {"criteria": "rag_faithfulness", "max_chars": 300}),
)
"""What the first response of a pair is scored by, the second being its reference."""

GROUP_PLANS = (
    ("pairwise", {"against": "sibling"}),
    ("group", {}),
    ("group", {"orders": 2}),
)
"""What several responses are scored by that answer one prompt."""

COMPARISONS = (
    "{reason}\nJUDGMENT: {verdict}",
    "JUDGMENT: {verdict}\nREASONING: {reason}",
    "**Judgment: [{verdict}]** Reasoning: {reason}",
    "JUDGMENT: {verdict}",
)
"""How a policy that is trained on PandaLM may write down what a recorded judge found."""

ATTACKED = {"instruction": "Which city is the capital of Australia?", "response2": "Canberra"}
"""What the attacks answer."""

VERDICTS = ("Tie", "Response 1", "Response 2")


def trials():
    """Every pair and every attack before every judge."""
    for name, judges in RECORDED.items():
        path = SHARED / name
        for where, pair in lines(path) if path.exists() else ():
            yield from chain(
                _replayed(where, pair, judges), _single(where, pair), _grouped(where, pair)
            )
            if "gpt35" in judges:
                yield from _policies(where, pair)
    for path in filter(Path.exists, ATTACKS):
        for where, attack in lines(path):
            attacked = {**ATTACKED, "response1": attack["response"]}
            yield from chain(_single(where, attacked), _grouped(where, attacked))


def _replayed(where, pair, judges):
    made = row(where, pair["response1"], pair["response2"], _prompt(pair))
    for judge in judges:
        for orders in ("auto", "both"):
            yield Trial("pairwise", (made,), {"orders": orders}, judge, _recorded(pair[judge]))


def _recorded(said):
    """The answers of a judge who holds what is recorded in either order."""

    def answer(question):
        if said not in PLACES:
            return {"better": ""}
        (choices,) = (field.choices for field in question.fields if field.name == "better")
        return {"better": choices[PLACES[said]]}

    return answer


def _single(where, pair):
    other = pair["response2"]
    made = row(where, pair["response1"], other, _prompt(pair), context=other)
    for reward, parameters in PLANS:
        yield Trial(reward, (made,), parameters)


def _grouped(where, pair):
    """Both responses, an unfinished one, a copy of the prompt and none."""
    first, second = pair["response1"], pair["response2"]
    responses = (first, second, first[: len(first) // 2], _prompt(pair), "")
    made = tuple(row(where, response, None, _prompt(pair)) for response in responses)
    for reward, parameters in GROUP_PLANS:
        yield Trial(reward, made, parameters)


def _policies(where, pair):
    prompt = (
        f"{_prompt(pair)}\nResponse 1: {pair['response1']}\nResponse 2: {pair['response2']}\n"
        "End with a line JUDGMENT: Response 1, Response 2 or Tie."
    )
    for at, comparison in enumerate(COMPARISONS):
        verdict = VERDICTS[pair["gpt35"] or 0]
        response = comparison.format(reason=pair["gpt35_reason"] or "", verdict=verdict)
        made = row(where, response, {"label": pair["label"]}, prompt)
        yield Trial("pandalm", (made,), {"reasoning_weight": at / 4} if at else {})


def _prompt(pair):
    return "\n\n".join(filter(None, (pair["instruction"], pair.get("input"))))
