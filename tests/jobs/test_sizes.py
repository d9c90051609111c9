"""What data come to, and files that a service would refuse."""

import pytest

from reward_functions.core.registry import specs
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.data import Sizes, measure
from tests.training_rows import row


def rows(count, start=0, **fields):
    return [row(at, **fields) for at in range(start, start + count)]


def test_rows_prompts_bytes_and_solutions_are_counted(training):
    sizes = measure(
        training(rows(100, solution="step " * 40)),
        training(rows(7, start=100), "dev.jsonl"),
        reward=specs()["gsm8k"],
    )
    assert (sizes.rows, sizes.validation_rows) == (100, 7)
    assert len(sizes.prompts.values) == len(sizes.solutions.values) == 100
    assert sizes.prompt_tokens == sum(sizes.prompts.values)
    assert sizes.max_prompt_length >= max(sizes.prompts.values)
    assert sizes.largest_row > 200


def test_the_bytes_of_a_row_are_those_of_its_json(training):
    one = rows(100)
    one[3] = row(3, words=2_000)
    assert measure(training(one)).largest_row > 10_000


REFUSED = [
    # Bedrock's guide: 100 to 20,000 prompts, text only, a reference in every row
    (rows(99), r"has 99 rows, and Bedrock takes 100 to 20,000"),
    ([], "too few rows"),
    ([*rows(99), row(99, reference_answer="")], "reference_answer is empty"),
    ([*rows(99), row(99, reference_answer="a tree")], "no reward can read reference_answer"),
    ([*rows(99), row(99, messages=[])], "messages is not a list of turns"),
    (
        [
            *rows(99),
            row(99, messages=[{"role": "user", "content": [{"type": "image", "image": "x"}]}]),
        ],
        "content is not text only",
    ),
    ([*rows(100), row(5)], "given twice|id"),
    ([*rows(99), ["not an object"]], "not a JSON object"),
]


@pytest.mark.parametrize(("content", "sentence"), REFUSED, ids=[each[1] for each in REFUSED])
def test_a_file_that_the_service_would_refuse_is_refused_here(training, content, sentence):
    with pytest.raises(BadJob, match=sentence) as refused:
        measure(training(content), reward=specs()["gsm8k"])
    message = str(refused.value)
    assert message.startswith("data: ")
    assert "\n" not in message


def test_a_file_of_too_many_rows_is_refused(training):
    limits = (100, 120)  # 20,000 take seconds
    assert measure(training(rows(120)), rows=limits).rows == 120
    with pytest.raises(BadJob, match="too many rows"):
        measure(training(rows(121)), rows=limits)


def test_the_first_kind_is_named_with_how_often_and_that_others_follow(training):
    content = [*rows(98), row(98, reference_answer=""), row(99, reference_answer="")]
    content.append(row(100, messages=[]))
    with pytest.raises(BadJob, match=r"is empty \(2 times\)\. Another kind of error follows\."):
        measure(training(content), reward=specs()["gsm8k"])


def test_a_prompt_that_both_files_have_is_refused(training):
    with pytest.raises(BadJob, match="two files share"):
        measure(training(), training(rows(3), "dev.jsonl"))


def test_references_of_a_reward_that_this_machine_has_not_are_nobodys_to_read(training):
    content = [*rows(99), row(99, reference_answer={"tree": ["a", "b"]})]
    assert measure(training(content)).rows == 100


def test_few_rows_validate(training):
    sizes = measure(training(), training(rows(1, start=500), "dev.jsonl"))
    assert sizes.validation_rows == 1


GENEROUS = [
    # words of a solution, effort, at least
    (None, None, 2_048),
    (10, None, 2_048),
    (10, "medium", 2_048),
    (10, "high", 8_192),
    (1_500, "low", 4_500),
    (6_000, "high", 18_000),
]


@pytest.mark.parametrize(("words", "effort", "least"), GENEROUS)
def test_no_answer_is_cut_for_what_people_wrote_briefly(training, words, effort, least):
    content = rows(100, solution="word " * words if words else None)
    suggested = measure(training(content)).inference_max_tokens(effort)
    assert least <= suggested <= least * 2


def test_logs_are_rows_alone():
    sizes = Sizes(rows=500)
    assert (sizes.prompt_tokens, sizes.max_prompt_length) == (None, None)
    assert sizes.inference_max_tokens("high") == 8_192


def test_a_reward_is_what_reads(training):
    """`exact_match` reads any string; `gsm8k` numbers alone."""
    content = [row(at, reference_answer=f"tree {at}") for at in range(100)]
    assert measure(training(content), reward=specs()["exact_match"]).rows == 100
