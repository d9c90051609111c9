"""`reward judge estimate`: the arithmetic, by hand."""

import json
import subprocess
import sys

import pytest

MODEL = {"model": "m", "max_tokens": 1_000}


def estimate(reward, *arguments, judge=None, **models):
    config = judge or {"models": [MODEL | models], "prices": {"m": [2.0, 10.0]}}
    ran = reward(
        "judge", "estimate", "reference", "--judge", json.dumps(config), "--json", *arguments
    )
    return (json.loads(ran.stdout) if ran.stdout else None), ran


SIZES = ("--prompts", 100, "--batch-size", 32, "--samples", 4, "--epochs", 2)
COSTS = ("--calls", 2, "--input-tokens", 500, "--output-tokens", 100, "--latency", 3)


def test_calls_tokens_and_dollars(reward):
    told, ran = estimate(reward, *SIZES, *COSTS)
    assert ran.exit_code == 0, ran.stderr
    assert told["steps"] == 8  # four a pass, the last of them short
    assert told["responses"] == 100 * 2 * 4
    assert told["calls"] == 1_600
    (model,) = told["models"]
    assert model["usage"]["input"] == 800_000
    assert model["usage"]["output"] == 160_000
    assert told["usd"] == pytest.approx(0.8 * 2 + 0.16 * 10)


def test_time_and_the_quota_that_is_reserved(reward):
    """Sixteen at once, three seconds each: 320 a minute, each of which reserves 1,500 tokens."""
    told, _ = estimate(reward, *SIZES, *COSTS)
    (model,) = told["models"]
    assert model["rpm"] == pytest.approx(16 * 60 / 3)
    assert model["tpm"] == pytest.approx(16 * 60 / 3 * 1_500)
    assert told["seconds"] == pytest.approx(1_600 * 3 / 16)
    assert told["step_seconds"] == pytest.approx(32 * 4 * 2 / 16 * 3)


@pytest.mark.parametrize(
    ("quota", "seconds"),
    [
        ({"rpm": 60}, 1_600),
        ({"tpm": 90_000}, 1_600),  # 60 calls of 1,500 tokens
        ({"rpm": 60, "tpm": 45_000}, 3_200),
        ({"rpm": 10_000}, 300),
    ],
)
def test_a_quota_stretches_the_run(reward, quota, seconds):
    told, _ = estimate(reward, *SIZES, *COSTS, **quota)
    assert told["seconds"] == pytest.approx(seconds)


def test_more_at_once_is_faster_and_no_dearer(reward):
    one, _ = estimate(reward, *SIZES, *COSTS)
    two, _ = estimate(reward, *SIZES, *COSTS, "--concurrency", 32)
    assert two["seconds"] == pytest.approx(one["seconds"] / 2)
    assert two["usd"] == one["usd"]


def test_all_panel_members_judge_and_rotating_ones_share(reward):
    models = [MODEL, MODEL | {"model": "n"}]
    prices = {"m": [2.0, 10.0], "n": [1.0, 5.0]}
    config = {"models": models, "prices": prices}
    told, _ = estimate(reward, *SIZES, *COSTS, judge=config)
    assert [model["calls"] for model in told["models"]] == [1_600, 1_600]
    assert told["usd"] == pytest.approx(3.2 + 1.6)
    told, _ = estimate(reward, *SIZES, *COSTS, judge=config | {"aggregate": "rotate"})
    assert [model["calls"] for model in told["models"]] == [800, 800]
    assert told["seconds"] == pytest.approx(300)


@pytest.mark.parametrize("members", [1, 2, 3, 7])
def test_rotating_members_add_up_to_the_calls_of_the_run(reward, members):
    models = [MODEL | {"model": f"m{at}"} for at in range(members)]
    config = {"models": models, "aggregate": "rotate"}
    told, _ = estimate(reward, *SIZES, *COSTS, judge=config)
    alone, _ = estimate(reward, *SIZES, *COSTS)
    assert sum(model["calls"] for model in told["models"]) == told["calls"] == alone["calls"]


def test_a_price_that_is_typed_comes_first(reward):
    told, _ = estimate(reward, *SIZES, *COSTS, "--price", "m=0,1")
    assert told["usd"] == pytest.approx(0.16)


def test_a_listed_price_needs_no_telling(reward):
    config = {"models": [{"model": "anthropic.claude-haiku-4-5"}]}
    told, ran = estimate(reward, *SIZES, *COSTS, judge=config)
    assert told["usd"] == pytest.approx(0.8 * 1 + 0.16 * 5)
    assert told["prices_as_of"] == "2026-05-01"
    assert ran.stderr == ""


def test_a_price_that_nobody_knows_is_no_price(reward):
    told, ran = estimate(reward, *SIZES, *COSTS, judge={"models": [MODEL]})
    assert ran.exit_code == 0
    assert told["usd"] is None
    assert "the price of m is not known: give --price m=INPUT,OUTPUT" in ran.stderr


def test_a_step_that_no_function_lives_through_is_told(reward):
    told, ran = estimate(reward, *SIZES, *COSTS, "--concurrency", 1)
    assert told["step_seconds"] == 768
    assert ran.stderr == ""
    _, ran = estimate(reward, *SIZES, *COSTS, "--concurrency", 1, "--latency", 4)
    assert "1,024 s, and a function has at most 900 s" in ran.stderr


def test_the_judges_own_questions_are_measured(reward, write):
    """A response that is three hundred words longer has that many tokens more, or some more."""
    turns = [{"role": "user", "content": "Why?"}]

    def rows(size):
        answer = {"role": "assistant", "content": "The answer is " + "word " * size + "."}
        return write(f"{size}.jsonl", [{"id": "a", "messages": [*turns, answer],
                                        "reference_answer": "x"}])  # fmt: skip

    config = ("--param", "answer=whole", "--prompts", 1)
    short, ran = estimate(reward, *config, "--rows", rows(10))
    assert ran.exit_code == 0, ran.stderr
    long, _ = estimate(reward, *config, "--rows", rows(310))
    grown = long["cost"]["input"] - short["cost"]["input"]
    assert short["cost"]["calls"] == 1
    assert 300 <= grown <= 300 * 5 / 4
    again, _ = estimate(reward, *config, "--rows", rows(10))
    assert again == short


def test_the_count_is_the_same_in_every_process():
    """Marks and checksums are random in each, and their digits are no two times as many tokens."""
    code = (
        "from reward_functions.calibration.estimating import measured\n"
        "from reward_functions.calibration.estimating import recorded_questions\n"
        "from reward_functions import get\n"
        "spec = get('pairwise')\n"
        "print(measured(recorded_questions(spec, {}, [each.sample() for each in spec.examples])))"
    )
    runs = [[sys.executable, "-c", code] for _ in range(3)]
    assert len({subprocess.run(run, capture_output=True, check=True).stdout for run in runs}) == 1


def test_a_judge_that_asks_twice_is_counted_twice(reward):
    config = json.dumps({"models": [MODEL], "prices": {"m": [1, 1]}})
    ran = reward("judge", "estimate", "pairwise", "--prompts", 10, "--judge", config, "--json")
    assert json.loads(ran.stdout)["cost"]["calls"] == 2


def test_the_table_says_the_same(reward):
    config = json.dumps({"models": [MODEL], "prices": {"m": [2.0, 10.0]}})
    ran = reward("judge", "estimate", "reference", "--judge", config, *SIZES, *COSTS)
    assert ran.exit_code == 0
    for figure in ("1,600", "800,000", "160,000", "3.20", "5 min", "480,000"):
        assert figure in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--price", "m"), "a price is written MODEL=INPUT,OUTPUT, not 'm'"),
        (("--price", "m=1"), "a price is written"),
        (("--price", "m=1,nan"), "a price is written"),
        (("--price", "m=1,-1"), "prices are two or four numbers"),
        (("--rows", "missing.jsonl"), "missing.jsonl: No such file"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(reward, arguments, problem):
    _, ran = estimate(reward, *SIZES, *arguments)
    assert ran.exit_code == 2
    assert problem in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1


def test_rows_that_are_never_asked_about_measure_nothing(reward, write):
    rows = write("rows.jsonl", [{"id": "a", "messages": [{"role": "user", "content": "?"}]}])
    _, ran = estimate(reward, "--prompts", 1, "--rows", rows)
    assert ran.exit_code == 2
    assert "has no question about these samples" in ran.stderr
