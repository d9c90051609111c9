"""Reports after `reward score`: sums in groups of eight, and what is bad input of it.

Responses are made here, by a draw for each: right, wrong, without a form, cut off.
"""

from itertools import cycle
from random import Random

from reward_functions import BadSample, Message, Sample, Unscored, get, score_batch
from reward_functions.core.asking import ScriptedAsk
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.panel import JudgePool
from reward_functions.reports.score_report.labels import labels_of
from reward_functions.reports.score_report.page import score_page
from tests.gallery.hostile import NAME, UNBROKEN

GROUP = 8
MADE = "2026-11-22 18:00 UTC"
LARGE = 100_000


def report():
    """A file with everything: labels, groups of all kinds, rows that nobody can score."""
    samples = list(_sums(60))
    broken = [Sample(id=f"broken-{at}", messages=samples[0].messages) for at in range(3)]
    return _page([*samples, *broken], label="label")


def large():
    """Issue 14's 100,000 rows: the page has at most 200 a list."""
    return _page(list(_sums(LARGE // GROUP)), label="label")


def unscored():
    """Nothing but rows that nobody can score."""
    samples = [Sample(id=f"row-{at}", messages=_turns("1 + 1?", "#### 2")) for at in range(5)]
    return _page([*samples, Unscored("row-5", BadSample("line 6: the row is no object"))])


def one():
    """A single response."""
    return _page(list(_sums(1))[:1])


def hostile():
    """Ids, prompts, responses and references that harm where they are not escaped; 10 MB of one."""
    words = [f"{NAME} {UNBROKEN}", f"#### {NAME}", f"<think>{NAME}", "x" * 10_000_000]
    samples = [
        Sample(
            id=f"{NAME} {UNBROKEN} {at}",
            messages=_turns(NAME, f"{each}\n#### 3"),
            reference="4",
            metadata={NAME: NAME},
        )
        for at, each in enumerate(words)
    ]
    return _page(samples, source=[("file", NAME)])


def judged():
    """A rubric's decisions, criterion by criterion; its judge model is a script."""
    examples = get("rubric").examples[:3]
    verdicts = cycle([ScriptedAsk(each.verdicts) for each in examples])
    model = JudgeModel(model="m", region="us-east-1")

    def ask(question, **limits):
        return next(verdicts)(question, **limits)

    pool = JudgePool(JudgeConfig(models=(model,)), asks={"m": ask})
    judge = pool.batch(get("rubric"))
    samples = [
        Sample(id=f"{each.kind}-{at}", messages=_turns(f"{each.prompt} ({at})", each.response))
        for at in range(4)
        for each in examples
    ]
    return score_page(judge, samples, score_batch(judge, samples, workers=1), made=MADE).html()


def _page(samples, *, label="", source=(("file", "responses.jsonl"),)):
    reward = get("gsm8k")
    labels = labels_of(samples, label, reward.scale) if label else None
    results = score_batch(reward, samples)
    return score_page(reward, samples, results, labels=labels, source=source, made=MADE).html()


def _sums(prompts):
    draws = Random(14)
    for prompt in range(prompts):
        first, second = draws.randrange(100), draws.randrange(100)
        able = draws.random()
        question = f"Tom has {first} apples and buys {second} more. How many has he?"
        for at in range(GROUP):
            response, right = _response(draws, first + second, able)
            yield Sample(
                id=f"sum-{prompt}-{at}",
                messages=_turns(question, response),
                reference=str(first + second),
                metadata={"label": right if draws.random() < 0.97 else not right},
            )


def _turns(prompt, response):
    return (Message(role="user", content=prompt), Message(role="assistant", content=response))


def _response(draws, answer, able):
    """A response, and whether a person would call it right."""
    working = "First I add the two numbers. " * draws.randint(1, 12)
    if draws.random() < 0.1:
        return f"<think>{working}", False
    right = draws.random() < able
    number = answer if right else answer + draws.randint(1, 9)
    if draws.random() < 0.2:
        return f"{working}\nThe answer is {number}.", right
    return f"{working}\n#### {number}", right
