"""Few prompts show the shares that they are drawn by: greedy and sampled answers agree."""

import json
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import cache
from io import BytesIO
from itertools import accumulate
from random import Random
from threading import Event
from types import SimpleNamespace

import pytest

from reward_functions.aws.catalogue import DATA_PREFIX
from reward_functions.core.types import Message, Sample
from reward_functions.jobs.asking import chosen
from reward_functions.local.loopback_service.server import Refused
from reward_functions.local.training_double import prompts as reading_prompts
from reward_functions.local.training_double.policy import Policy
from reward_functions.local.training_double.prompts import Prompts, places, point
from reward_functions.local.training_double.strategies import STRATEGIES

RIGHT = sum(
    share
    for share, one in zip(Policy.base().shares("choice"), STRATEGIES, strict=True)
    if one.correct
)
MOST = 0.1 + 1e-9
KIND = "whole number"


@cache
def rights(number, *, greedy=False):
    """How many of the first prompts are answered right, by how many they are."""
    right = (point(place, number, greedy=greedy) < RIGHT for place in range(200))
    return [0, *accumulate(right)]


def share(prompts, number, *, greedy=False):
    """The share of the first prompts that are answered right."""
    return rights(number, greedy=greedy)[prompts] / prompts


@pytest.mark.parametrize("prompts", range(10, 200))
def test_greedy_answers_of_the_base_are_right_as_often_as_its_samples(prompts):
    """By construction: whichever four responses of each prompt are asked for."""
    greedy = share(prompts, 1, greedy=True)
    assert abs(greedy - RIGHT) < 0.041
    sampled = [share(prompts, number) for number in range(1, 45)]
    for first in range(41):
        assert abs(greedy - sum(sampled[first : first + 4]) / 4) <= MOST


def file(count, seed):
    random = Random(seed)
    return [
        {
            "messages": [
                {"role": "user", "content": f"{random.random()} and {at}?\n#### <number>"}
            ],
            "reference_answer": str(random.randint(0, 999)),
        }
        for at in range(count)
    ]


def answered(known, rows, temperature, each):
    """The share of right answers of the base to some rows, as the double gives them."""
    policy, right = Policy.base(), 0
    for row in rows:
        _, place = known.row_of(row["messages"])
        for number in range(1, each + 1):
            where = point(place, number, greedy=temperature == 0)
            text = policy.answer(
                row["messages"], row["reference_answer"], Random(number), temperature, where
            )
            right += text.endswith(row["reference_answer"]) and "or" not in text.split("\n")[-1]
    return right / len(rows) / each


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("count", [10, 15, 20, 40])
def test_a_small_split_has_the_rule_whole_and_in_the_prompts_that_are_drawn_of_it(count, seed):
    """Also where a job asks some of a larger file, as it draws them by default."""
    for size in (count, 120):
        rows, known = file(size, seed), Prompts(None)
        known.add(rows)
        samples = [
            Sample(id=str(at), messages=(Message("user", row["messages"][0]["content"]),))
            for at, row in enumerate(rows)
        ]
        drawn = [rows[int(each.sample.id)] for each in chosen(samples, [""] * size, count)]
        greedy, sampled = answered(known, drawn, 0.0, 1), answered(known, drawn, 1.0, 4)
        assert abs(greedy - sampled) <= MOST, (size, greedy, sampled)


def test_places_are_those_of_the_draw():
    samples = [Sample(id=str(at), messages=(Message("user", f"{at}?"),)) for at in range(50)]
    drawn = [int(each.sample.id) for each in chosen(samples, [""] * 50, 50)]
    found = places(50)
    assert [found[at] for at in drawn] == list(range(50))
    assert (places(0), places(1)) == ([], [0])


def test_one_response_says_nothing_of_the_next():
    """As many prompts have several right answers of four as independent draws would give."""
    counted = [0] * 5
    for place in range(2_000):
        counted[sum(point(place, number, greedy=False) < RIGHT for number in range(1, 5))] += 1
    expected = [0.190, 0.391, 0.302, 0.104, 0.013]
    assert [each / 2_000 for each in counted] == pytest.approx(expected, abs=0.05)


class Emulator:
    """An emulator without a bucket."""

    def __init__(self, name, enforcing):
        self.aws = SimpleNamespace(name=name, enforcing=enforcing)

    def root(self, _service):
        return SimpleNamespace(list_buckets=lambda: {"Buckets": []})


@pytest.mark.parametrize(
    ("emulator", "command"),
    [
        (Emulator("default", True), "reward local up --enforce --training --data FILE"),
        (Emulator("mine", False), "reward local up --name mine --training --data FILE"),
    ],
)
def test_a_prompt_of_no_row_names_the_whole_command_that_adds_it(emulator, command):
    with pytest.raises(Refused) as refused:
        Prompts(emulator).row_of([{"role": "user", "content": "What is 1 + 1?"}])
    assert f"`{command}`" in str(refused.value)


class OneFile:
    """An emulator with one file in a bucket."""

    def __init__(self, rows):
        content = "\n".join(map(json.dumps, rows)).encode()
        listed = {"Key": f"{DATA_PREFIX}rows.jsonl", "ETag": "1", "Size": len(content)}
        pages = SimpleNamespace(paginate=lambda **_: [{"Contents": [listed]}])
        self._s3 = SimpleNamespace(
            list_buckets=lambda: {"Buckets": [{"Name": "b"}]},
            get_paginator=lambda _: pages,
            get_object=lambda **_: {"Body": BytesIO(content)},
        )

    def root(self, _service):
        return self._s3


def test_nobody_is_refused_while_another_reads_the_file(monkeypatch):
    rows, read = file(8, 1), reading_prompts.prompts
    known = Prompts(OneFile(rows))
    reading, go_on = Event(), Event()

    def read_slowly(content, name):
        reading.set()
        assert go_on.wait(60)
        return read(content, name)

    monkeypatch.setattr(reading_prompts, "prompts", read_slowly)
    with ThreadPoolExecutor(len(rows)) as pool:
        asked = [pool.submit(known.row_of, rows[0]["messages"])]
        assert reading.wait(60)
        asked += [pool.submit(known.row_of, row["messages"]) for row in rows[1:]]
        wait(asked, timeout=0.2, return_when=FIRST_COMPLETED)
        go_on.set()
        assert [each.result(60).row for each in asked] == rows


def test_training_makes_no_greedy_answer_wrong_that_was_right():
    better = Policy.base()
    better.logits[KIND][0] += 2
    known, rows = Prompts(None), file(60, 1)
    known.add(rows)

    def solved(policy):
        texts = [
            policy.answer(
                row["messages"],
                row["reference_answer"],
                Random(1),
                0.0,
                point(known.row_of(row["messages"]).place, 1, greedy=True),
            )
            for row in rows
        ]
        return {
            at
            for at, (row, text) in enumerate(zip(rows, texts, strict=True))
            if text.endswith(f"#### {row['reference_answer']}")
        }

    assert solved(Policy.base()) < solved(better)
