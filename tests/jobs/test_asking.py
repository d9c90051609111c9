"""A model is asked as often as is paid for, and what was answered is not asked again."""

from __future__ import annotations

import json
from threading import Barrier

import boto3
import pytest

from reward_functions.aws.failures import AwsFailed
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Message, Sample
from reward_functions.jobs.asking import (
    LIMITS,
    AnswerAttempt,
    AnswerFile,
    BadPrompt,
    Busy,
    Chat,
    Converse,
    ModelAnswer,
    Patience,
    Sampling,
    _answers,
    ask,
    attempts_for,
    chosen,
    converse_client,
    cost,
    drawn_as,
    setup,
)
from reward_functions.jobs.clients import Key
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.openai import Api
from reward_functions.local.emulator.emulator import TRAINING
from tests.interrupting import assert_interruptible
from tests.jobs.models_service import KEY, Refusal, Text

MODEL = "amazon.nova-2-lite-v1:0"
SECRET = "How many apples does Ada have?"
SAMPLING = Sampling(temperature=1.0, max_tokens=64)
IMPATIENT = Patience(attempts=3, sleep=lambda _: None)


def turns(text=SECRET, *before):
    return (*(Message(role=role, content=words) for role, words in before),
            Message(role="user", content=text))  # fmt: skip


def prompts(*texts):
    samples = [Sample(id=text, messages=turns(text)) for text in texts]
    return chosen(samples, [f"line {at}" for at in range(len(samples))], len(samples))


class Keys:
    """Keys one after the other, as a source has them."""

    remedy = "the key is refused: log in again"

    def __init__(self, *secrets):
        self.keys = [Key(secret, None) for secret in secrets or (KEY,)]

    def __call__(self):
        return self.keys[0]

    def renewed(self, refused):
        if self.keys[0] is refused and len(self.keys) > 1:
            self.keys.pop(0)
        return self.keys[0]


@pytest.fixture
def converse(models):
    session = boto3.Session("key", "secret", region_name="us-east-1")
    client = session.client(
        "bedrock-runtime",
        endpoint_url=models.address,
        config=boto3.session.Config(retries={"total_max_attempts": 1}),
    )
    return lambda sampling=SAMPLING: Converse(MODEL, sampling, client)


@pytest.fixture
def chat(models):
    return lambda sampling=SAMPLING, keys=None: Chat(
        "openai.gpt-oss-20b", sampling, Api(f"{models.address}/v1", keys or Keys())
    )


@pytest.fixture(params=["converse", "chat"])
def endpoint(request):
    return request.getfixturevalue(request.param)()


def test_converse_is_sent_what_the_model_reads(converse, models):
    asked = turns(SECRET, ("system", "Be brief."), ("user", "Hm."), ("bot", "Yes?"))
    assert converse()(asked) == ModelAnswer("#### 1", "end", converse()(asked).usage)
    sent = models.sent[0]
    assert sent["path"] == ("model", MODEL, "converse")
    assert sent["system"] == [{"text": "Be brief."}]
    assert [turn["role"] for turn in sent["messages"]] == ["user", "assistant", "user"]
    assert sent["inferenceConfig"] == {"temperature": 1.0, "maxTokens": 64}
    assert "additionalModelRequestFields" not in sent


def test_equal_turns_in_a_row_are_one_turn_of_converse(converse, models):
    converse()(turns("b", ("user", "a")))
    (turn,) = models.sent[0]["messages"]
    assert turn["content"] == [{"text": "a"}, {"text": "b"}]


@pytest.mark.parametrize(("effort", "limited"), [("low", True), ("medium", True), ("high", False)])
def test_with_high_effort_nova_takes_no_limits(converse, models, effort, limited):
    converse(Sampling(reasoning_effort=effort))(turns())
    config = {"type": "enabled", "maxReasoningEffort": effort}
    assert models.sent[0]["additionalModelRequestFields"] == {"reasoningConfig": config}
    assert ("inferenceConfig" in models.sent[0]) == limited


def test_chat_completions_are_sent_what_the_model_reads(chat, models):
    chat(Sampling(0.5, 64, "low"))(turns(SECRET, ("developer", "Be brief."), ("bot", "Yes?")))
    (sent,) = models.sent
    assert [turn["role"] for turn in sent["messages"]] == ["developer", "assistant", "user"]
    assert sent["messages"][-1]["content"] == SECRET
    limits = {"max_tokens": 64, "temperature": 0.5, "reasoning_effort": "low"}
    assert {name: sent[name] for name in limits} == limits
    assert models.bearers == [KEY]


@pytest.mark.parametrize(
    ("api", "reason", "ended"),
    [
        ("converse", "end_turn", "end"),
        ("converse", "stop_sequence", "end"),
        ("converse", "max_tokens", "length"),
        ("converse", "model_context_window_exceeded", "length"),
        ("converse", "guardrail_intervened", "filtered"),
        ("converse", "content_filtered", "filtered"),
        ("chat", "stop", "end"),
        ("chat", "length", "length"),
        ("chat", "content_filter", "filtered"),
    ],
)
def test_how_an_answer_ended(request, models, api, reason, ended):
    models.model = lambda _: Text("72", reason)
    assert request.getfixturevalue(api)()(turns()).ended == ended


def test_reasoning_is_no_part_of_the_answer(endpoint, models):
    models.model = lambda _: Text("72", reasoning="6 times 12")
    assert endpoint(turns()).text == "72"


def test_tokens_are_those_of_the_service(endpoint):
    usage = endpoint(turns()).usage
    assert (usage.input, usage.output) == (10, 5)


def test_a_turn_that_the_api_does_not_take_is_no_call(endpoint, models):
    with pytest.raises(BadPrompt, match="a turn of 'tool'"):
        endpoint(turns(SECRET, ("tool", "42")))
    assert models.sent == []


@pytest.mark.parametrize(
    "code",
    ["ThrottlingException", "ModelNotReadyException", "ServiceUnavailableException",
     "InternalServerException", "ModelTimeoutException"],
)  # fmt: skip
def test_a_busy_model_may_be_asked_again(converse, models, code):
    models.model = lambda _: Refusal(429, code)
    with pytest.raises(Busy):
        converse()(turns())


@pytest.mark.parametrize(
    ("refusal", "sentence"),
    [
        (Refusal(403, "AccessDeniedException", "no InvokeModel"), "not allowed: no InvokeModel"),
        (Refusal(400, "ValidationException", "on-demand throughput is not supported"), "--ask"),
        (Refusal(404, "ResourceNotFoundException", "no model"), "--ask"),
        # Of a model: no function of Lambda's is meant.
        (Refusal(404, "ResourceNotFoundException", "no model"), f"asking {MODEL}: no model "),
    ],
)
def test_what_converse_refuses_is_one_sentence(converse, models, refusal, sentence):
    models.model = lambda _: refusal
    with pytest.raises(AwsFailed, match=sentence) as error:
        converse()(turns())
    assert SECRET not in str(error.value)


@pytest.mark.parametrize(
    ("refusal", "sentence"),
    [
        (Refusal(403, message="no"), "403 no; who asks needs bedrock-mantle:CreateInference"),
        (Refusal(404, message="no such model"), "404 no such model; no model is served"),
        (Refusal(400, body=b"<html>"), "400"),
        (Refusal(400, body=b"[" * 100_000), "400"),
        (Refusal(400, message="x" * 10_000), "x" * 200),
    ],
)
def test_what_chat_completions_refuse_is_one_sentence(chat, models, refusal, sentence):
    models.model = lambda _: refusal
    with pytest.raises(AwsFailed) as error:
        chat()(turns())
    assert sentence in str(error.value)
    assert len(str(error.value)) < 1_000
    assert SECRET not in str(error.value)
    assert KEY not in str(error.value)


@pytest.mark.parametrize(
    "answer",
    [
        Refusal(429, headers={"retry-after": "7"}),
        Refusal(500),
        Refusal(503),
        Refusal(200, body=b"<html>"),
        Refusal(200, body=b'{"choices": []}'),
        Refusal(200, body=b'{"choices": [{"message": 3, "finish_reason": "stop"}]}'),
        Refusal(200, body=b"[" * 100_000),
    ],
)
def test_an_answer_that_is_none_may_be_asked_for_again(chat, models, answer):
    models.model = lambda _: answer
    with pytest.raises(Busy) as error:
        chat()(turns())
    assert error.value.seconds == (7.0 if answer.headers else 0.0)


def test_a_refused_key_is_replaced_once(chat, models):
    assert chat(keys=Keys("old", KEY))(turns()).text == "#### 1"
    assert models.bearers == ["old", KEY]


def test_a_key_that_stays_refused_is_a_sentence_without_the_key(chat, models):
    with pytest.raises(AwsFailed, match="the key is refused: log in again") as error:
        chat(keys=Keys("bedrock-api-key-old"))(turns())
    assert "bedrock-api-key" not in str(error.value)
    assert len(models.sent) == 1


@pytest.mark.parametrize("url", ["http://example.com/v1", "ftp://127.0.0.1/v1", "example.com"])
def test_a_key_travels_encrypted_or_not_at_all(url):
    with pytest.raises(ConfigurationError, match="https"):
        Chat("m", SAMPLING, Api(url, Keys()))


def test_every_prompt_is_asked_as_often_as_wanted(endpoint, models):
    models.model = lambda prompt: f"answer to {prompt}"
    asked = prompts("a", "b", "c")
    given = ask(endpoint, asked, 2)
    assert [attempt.number for attempt in given] == [0, 0, 0, 1, 1, 1]
    names = {prompt.digest: prompt.sample.id for prompt in asked}
    assert all(
        answer.text == f"answer to {names[attempt.prompt]}" for attempt, answer in given.items()
    )


def test_calls_are_made_together():
    together = Barrier(4, timeout=60)

    class Slow:
        model = "m"

        def __call__(self, _):
            together.wait()
            return ModelAnswer("1")

    assert len(ask(Slow(), prompts("a", "b", "c", "d"), 1, concurrency=4)) == 4


def test_a_model_that_is_busy_for_a_while_is_waited_for(endpoint, models):
    pauses = []
    answers = iter([Refusal(429, "ThrottlingException", headers={"retry-after": "9"}), "72"])
    models.model = lambda _: next(answers)
    given = ask(endpoint, prompts("a"), 1, patience=Patience(3, pauses.append, seed=1))
    assert [answer.text for answer in given.values()] == ["72"]
    assert len(pauses) == 1
    assert 0.5 <= pauses[0] <= 9.0


def test_pauses_double_and_are_drawn_at_random():
    pauses = list(Patience(9, seed=3).pauses())
    limits = [1, 2, 4, 8, 16, 32, 60, 60]
    assert all(limit / 2 <= pause <= limit for pause, limit in zip(pauses, limits, strict=True))
    assert list(Patience(9, seed=4).pauses()) != pauses


def test_a_model_that_stays_busy_ends_the_asking_and_loses_nothing(endpoint, models, tmp_path):
    asked = prompts("a", "b", "c", "d")

    def answer(prompt):
        return Refusal(429, "ThrottlingException") if prompt == "d" else "72"

    models.model = answer
    path = tmp_path / "answers.jsonl"
    with AnswerFile(path, "s") as kept, pytest.raises(AwsFailed, match="--concurrency"):
        ask(endpoint, asked, 1, kept=kept, concurrency=1, patience=IMPATIENT)
    before = len(kept.given)
    models.sent.clear()
    models.model = lambda _: "72"
    with AnswerFile(path, "s") as kept:
        assert len(ask(endpoint, asked, 1, kept=kept)) == 4
    assert len(models.sent) == 4 - before


def test_an_answer_that_came_while_another_failed_is_kept(tmp_path):
    both = Barrier(2, timeout=60)

    class OneFails:
        model = "m"

        def __call__(self, asked):
            both.wait()
            if asked[0].content == "a":
                raise AwsFailed("asking m: not allowed", "AccessDenied")
            return ModelAnswer("72")

    with AnswerFile(tmp_path / "answers.jsonl", "s") as kept:
        with pytest.raises(AwsFailed, match="not allowed"):
            ask(OneFails(), prompts("a", "b"), 1, kept=kept, concurrency=2)
        assert [answer.text for answer in kept.given.values()] == ["72"]


def test_answers_are_kept_and_prompts_are_not(endpoint, tmp_path):
    path = tmp_path / "answers.jsonl"
    with AnswerFile(path, "s") as kept:
        ask(endpoint, prompts(SECRET), 2, kept=kept)
    assert "#### 1" in path.read_text()
    assert SECRET not in path.read_text()


def test_an_interrupted_line_is_asked_for_again(endpoint, models, tmp_path):
    path, asked = tmp_path / "answers.jsonl", prompts("a", "b")
    with AnswerFile(path, "s") as kept:
        ask(endpoint, asked, 1, kept=kept)
    path.write_bytes(path.read_bytes()[:-9])
    models.sent.clear()
    with AnswerFile(path, "s") as kept:
        ask(endpoint, asked, 1, kept=kept)
    assert len(models.sent) == 1


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"answers": 1, "setup": "other"}\n', "of another model, temperature or limit"),
        ('{"id": "row"}\n', "is no file of answers"),
        ("[1, 2]\n", "is no file of answers"),
        ("notes", "is no file of answers"),
        ('{"answers": 1, "setup": "s"}\n{"prompt": 3}\n', "line 2: not an answer"),
    ],
)
def test_another_file_is_not_written_over(tmp_path, content, sentence):
    path = tmp_path / "answers.jsonl"
    path.write_text(content)
    with pytest.raises(ConfigurationError, match=sentence):
        AnswerFile(path, "s")
    assert path.read_text() == content


def test_the_setup_is_the_model_and_the_way_to_draw(converse):
    alike = setup(converse(), SAMPLING)
    assert alike == setup(converse(), Sampling(1.0, 64))
    assert alike != setup(converse(), Sampling(1.0, 65))
    assert alike != setup(converse(), Sampling(0.9, 64))


def test_the_cost_is_of_what_is_not_there_yet():
    asked = prompts("a" * 400, "b" * 400)
    whole = cost(asked, 2, [], SAMPLING, (1.0, 10.0))
    assert (whole.calls, whole.kept) == (4, 0)
    assert whole.output == 4 * 64
    assert whole.usd == pytest.approx((whole.input * 1.0 + whole.output * 10.0) / 1e6)
    rest = cost(asked, 2, attempts_for(asked, 1), SAMPLING, None)
    assert (rest.calls, rest.kept, rest.usd) == (2, 2, None)
    assert rest.input == whole.input // 2
    assert cost(asked, 1, [AnswerAttempt("strange", 0)], SAMPLING, None).calls == 2


def test_rows_are_drawn_by_seed_and_each_prompt_once():
    samples = [Sample(id=str(at), messages=turns(f"prompt {at % 50}")) for at in range(100)]
    places = [f"line {at}" for at in range(100)]
    first = chosen(samples, places, 10)
    assert first == chosen(samples, places, 10)
    assert first != chosen(samples, places, 10, seed=1)
    assert len(chosen(samples, places, 1_000)) == 50


def test_data_without_prompts_cannot_be_asked():
    with pytest.raises(BadJob, match="no row has a prompt"):
        chosen([Sample(id="x", messages=())], ["line 1"], 3)


def test_half_a_surrogate_pair_is_kept_as_it_is(tmp_path):
    path = tmp_path / "answers.jsonl"
    with AnswerFile(path, "s") as kept:
        kept.keep(AnswerAttempt("p", 0), ModelAnswer("\ud83d"))
    assert json.loads(path.read_text().splitlines()[1])["text"] == "\ud83d"
    with AnswerFile(path, "s") as kept:
        assert kept.given[AnswerAttempt("p", 0)].text == "\ud83d"


@pytest.mark.parametrize("echoed", ["{key}", "Bearer {key}", "{key}, and again {key}"])
def test_a_key_that_the_service_repeats_is_not_shown(chat, models, echoed):
    models.model = lambda _: Refusal(400, message="a" * 190 + echoed.format(key=KEY))
    with pytest.raises(AwsFailed) as raised:
        chat()(turns())
    assert "bedrock-api-key-" not in str(raised.value)
    assert "c2VjcmV0" not in str(raised.value)


def test_a_part_of_a_key_is_not_shown_either(chat, models):
    models.model = lambda _: Refusal(403, message=f"unknown: {KEY[:-4]}")
    with pytest.raises(AwsFailed, match=r"unknown: \(the key\)"):
        chat()(turns())


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"[" * 100_000,
        b'{"metrics": {"latencyMs": ' + b"9" * 5000 + b"}}",
    ],
)
def test_what_is_no_answer_of_converse_is_a_sentence(converse, models, body):
    models.answered = lambda *_, **__: (200, {"Content-Type": "application/json"}, body)
    try:
        with pytest.raises(AwsFailed, match="is something else at its address"):
            converse()(turns())
    finally:
        del models.answered


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"prompt":"a","attempt":0,"text":"x","ended":"end"}',
        b"[0]",
        b'{"prompt":"a","attempt":' + b"9" * 5000 + b',"text":"x","ended":"end"}',
    ],
)
def test_a_line_that_is_no_answer_is_named(tmp_path, line):
    file = tmp_path / "answers.jsonl"
    file.write_bytes(b'{"answers": 1, "setup": "s"}\n' + line + b"\n")
    before = file.read_bytes()
    with pytest.raises(ConfigurationError, match="line 2: not an answer"):
        AnswerFile(file, "s")
    assert file.read_bytes() == before
    file.write_bytes(line + b"\n")
    with pytest.raises(ConfigurationError, match="is no file of answers"):
        AnswerFile(file, "s")


def test_two_commands_do_not_write_into_one_file(tmp_path):
    file = tmp_path / "answers.jsonl"
    with AnswerFile(file, "s") as first:
        with pytest.raises(ConfigurationError, match=r"another command writes .*--out"):
            AnswerFile(file, "s")
        first.keep(AnswerAttempt("a", 0), ModelAnswer("#### 1"))
    with AnswerFile(file, "s") as second:
        assert second.given == {AnswerAttempt("a", 0): ModelAnswer("#### 1")}


def test_answers_are_for_their_owner_alone(tmp_path):
    with AnswerFile(tmp_path / "answers.jsonl", "s") as kept:
        assert kept.path.stat().st_mode & 0o777 == 0o600


@pytest.fixture
def bounded(models, monkeypatch):
    """Converse through the client of `reward job baseline`."""
    for name in ("AWS_PROFILE", "AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in TRAINING:
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{name}", models.address)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    session = boto3.Session("key", "secret", region_name="us-east-1")
    return lambda: Converse(MODEL, SAMPLING, converse_client("us-east-1", session, 1))


def test_the_client_of_a_baseline_asks_and_reads_errors_as_every_other(bounded, models):
    endpoint = bounded()
    assert endpoint(turns()).text == "#### 1"
    models.model = lambda _: Refusal(429, "ThrottlingException", "slow down")
    with pytest.raises(Busy, match="slow down"):
        endpoint(turns())


def test_a_limit_of_the_command_that_is_none_is_refused_by_the_first_name_of_limits():
    with pytest.raises(BadJob, match=f"{LIMITS[0]}: -1 is not a whole number from 1"):
        drawn_as({}, 1.0, -1)


def test_an_interrupt_while_answers_are_waited_for_is_seen_whenever_it_comes():
    assert_interruptible(lambda call, ending: _answers(call, [0], 2, ending))
