"""Evaluations of tuned models: one that got worse, one that got better, and an enemy's."""

from datetime import UTC, datetime
from random import Random

from reward_functions.jobs.evaluation.evaluation_record import (
    Beside,
    Compared,
    EvaluationRecord,
    Flip,
    Group,
    PassAtK,
    Power,
)
from reward_functions.jobs.evaluation.page import page
from reward_functions.reports.statistics import mcnemar, mean_difference
from tests.gallery.hostile import NAME, UNBROKEN

PROMPTS = 200
WHEN = datetime(2026, 11, 22, 12, tzinfo=UTC)


def worse():
    """A model that got worse in one group, and is cut off more often."""
    return page(record(-0.2)).html()


def better():
    """A model that got better, without sampled answers and without texts."""
    return page(record(0.2, texts=False, sampled=False)).html()


def hostile():
    """Names, places, reasons and answers of an enemy."""
    return page(record(-0.2, name=NAME, text=f"{NAME}\n{UNBROKEN}" * 40)).html()


def record(shift, *, name="level", text="17 × 23 = 391\n\n#### 391", texts=True, sampled=True):
    """An evaluation in which the tuned model is right that much more often."""
    draws = Random(14)
    base = [float(draws.random() < 0.6) for _ in range(PROMPTS)]
    tuned = [float(draws.random() < 0.6 + shift) for _ in range(PROMPTS)]
    apart = [other - one for one, other in zip(base, tuned, strict=True)]
    difference = mean_difference(apart)
    test = mcnemar(apart.count(1.0), apart.count(-1.0))
    both = {"base": sum(base) / PROMPTS, "tuned": sum(tuned) / PROMPTS, "difference": difference}
    flips = [
        Flip(
            place=f"{name}.jsonl, line {at + 1}",
            turned="right" if each > 0 else "wrong",
            base_score=base[at],
            tuned_score=tuned[at],
            base_reason="",
            tuned_reason=f"the last number differs from the reference of {name}",
            base_text=text if texts else None,
            tuned_text=f"{text}\n" * 3 if texts else None,
        )
        for at, each in enumerate(apart)
        if each
    ]
    verdict = "worse" if shift < 0 else "better"
    counted = {"gained": test.gained, "lost": test.lost, "p_value": test.p_value}
    return EvaluationRecord(
        job=f"gsm8k-0a1b2c3d-1 {'' if name == 'level' else name}".strip(),
        base="amazon.nova-2-lite-v1:0:256k",
        tuned="arn:aws:bedrock:us-east-1:000000000000:custom-model/abc",
        grader="arn:aws:lambda:us-east-1:000000000000:function:reward-dev-gsm8k:7",
        reward="gsm8k",
        reward_version=3,
        simulation=False,
        measured_at=WHEN,
        split="test.jsonl",
        split_sha256="0" * 64,
        compared_with=("training data",),
        prompts=PROMPTS,
        repeated=0,
        unread=0,
        answers=4 if sampled else 0,
        temperature=0.7,
        max_tokens=2048,
        success=0.5,
        seed=0,
        verdict=verdict,
        conclusion=f"the tuned model is {verdict}: {100 * difference.value:+.1f} points of the "
        "scale, on 200 prompts",
        warnings=(f"3 answers without a score: {name}",),
        greedy=Compared(mode="greedy", left_out=3, **both),
        mcnemar=test,
        power=Power(mean_square=0.4, care=0.05, needed=900, smallest=0.12),
        sampled=Compared(mode="sampled", left_out=0, **both) if sampled else None,
        pass_at_k=tuple(PassAtK(k=k, **both) for k in (1, 2, 4)) if sampled else (),
        grouped_by=name,
        groups=tuple(
            Group(name=f"{name} {at}", adjusted=0.01 if at == 1 else 0.4, **counted, **both)
            for at in range(3)
        ),
        beside=tuple(
            Beside(
                side=side,
                mode="greedy",
                answers=PROMPTS,
                unscored=3 if side == "tuned" else 0,
                empty=1 if side == "tuned" else 0,
                filtered=0,
                cut=15 if side == "tuned" else 2,
                tokens_read=20_000,
                tokens_written=40_000,
                tokens_mean=200.0,
                tokens_p50=180.0,
                tokens_p95=900.0,
                seconds_p50=1.2,
                seconds_p95=4.0,
                usd=0.01,
            )
            for side in ("base", "tuned")
        ),
        flips=tuple(flips),
    )
