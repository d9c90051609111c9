"""`reward job evaluate`, as it is typed: models, a grader and a job on the loopback interface.

The grader is `gsm8k` in this process, under the ARN that the job was graded by. The
training double is where a shell points that rehearses, so that all of this is a simulation.
"""

from __future__ import annotations

import io
import json
from hashlib import sha256

import pytest
from typer.testing import CliRunner

from reward_functions.aws.catalogue import DeployedStage
from reward_functions.aws.deployed import catalogue
from reward_functions.cli import app
from reward_functions.core.registry import get
from reward_functions.jobs.evaluation.evaluation_record import EvaluationRecord
from reward_functions.jobs.hosting import ModelDeployment
from reward_functions.local.emulator.emulator import TRAINING
from reward_functions.serving.contract import decode_row
from tests.bedrock_service import ARN
from tests.job_fixtures import ROLE
from tests.jobs.graders import FUNCTION, deployed
from tests.jobs.memory import Driver
from tests.jobs.models_service import Models, Refusal, Text
from tests.lambda_api import Function, lambda_api, refusal, result
from tests.loopback import served
from tests.parsed_page import harmless

MODEL = "amazon.nova-2-lite-v1:0:256k"
BASE = "us.amazon.nova-2-lite-v1:0"
HOSTED = f"{ARN}:custom-model-deployment/abcdefghijkl"
SIMULATION = "simulation: the training double trains no language model\n"
STAGE = DeployedStage(
    stage="dev", region="us-east-1", keep_versions=2, bucket="b", training_role_arn=ROLE,
    data_policy_arn="d", jobs_policy_arn="j", evaluate_policy_arn="e", operate_policy_arn="o",
    job_events_topic_arn="t", dashboard="d",
)  # fmt: skip


def graded(rows):
    """What the deployed version answers."""
    samples = [decode_row(row, at) for at, row in enumerate(rows)]
    return [result(sample.id, get("gsm8k")(sample).value) for sample in samples]


class Pair(Models):
    """Two models under their names: the base, and whatever else is asked for."""

    base = staticmethod(lambda number: f"#### {number + 7}")
    tuned = staticmethod(lambda number: f"#### {number + 7}")

    def answered(self, asked, *, chat):
        name = json.loads(asked.body)["model"] if chat else asked.path[1]
        side = self.base if name in (BASE, "openai.gpt-oss-20b") else self.tuned
        self.model = lambda prompt: side(int(prompt.split()[2]))
        return super().answered(asked, chat=chat)


@pytest.fixture(scope="module")
def functions():
    found = {}
    with lambda_api(found) as address:
        yield found, address


@pytest.fixture(scope="module")
def served_pair():
    with served(Pair()) as models:
        yield models


@pytest.fixture
def models(served_pair):
    served_pair.sent.clear()
    del_attributes = set(vars(served_pair)) & {"base", "tuned"}
    for name in del_attributes:
        delattr(served_pair, name)
    return served_pair


@pytest.fixture
def run(functions, models, service, monkeypatch, tmp_path):
    """Run the command."""
    known, address = functions
    known[f"{FUNCTION}:7"] = Function([graded])
    for name, value in {
        "AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
        "COLUMNS": "200", "AWS_CONFIG_FILE": str(tmp_path / "none"),
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "REWARD_STAGE"):
        monkeypatch.delenv(name, raising=False)
    for name in TRAINING:
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{name}", models.address)
    jobs = "reward_functions.jobs"
    monkeypatch.setattr(f"{jobs}.lookup.stage_record", lambda *_: STAGE)
    monkeypatch.setattr(catalogue, "deployment_of", lambda *_: deployed("gsm8k"))
    monkeypatch.setattr(catalogue, "find", lambda *_: deployed("gsm8k"))
    monkeypatch.setattr(
        f"{jobs}.lookup.driver_for", lambda name, region, *_: Driver(service, name, region)
    )
    monkeypatch.setattr(f"{jobs}.hosting.Hosting.deployments", lambda *_: iter(hosts()))
    monkeypatch.chdir(tmp_path)

    def typed(*words, **options):
        return CliRunner().invoke(app, ["job", "evaluate", *map(str, words)], **options)

    return typed


def hosts():
    from tests.jobs.memory import BEGIN

    return [ModelDeployment(HOSTED, "n", "m", "Active", BEGIN)]


@pytest.fixture
def job(service):
    service.begun(
        name="gsm8k-0a1b2c3d-1", grader=f"{FUNCTION}:7", model=MODEL,
        hyperparameters={"inferenceMaxTokens": "64"},
    )  # fmt: skip
    service.clock.sleep(1_000)
    return "gsm8k-0a1b2c3d-1"


def rows(numbers, **more):
    return [
        {
            "id": str(at),
            "messages": [{"role": "user", "content": f"What is {at} + 7?"}],
            "reference_answer": str(at + 7),
            "metadata": {"level": "odd" if at % 2 else "even"},
        }
        | more
        for at in numbers
    ]


@pytest.fixture
def file(tmp_path):
    def written(name, content):
        path = tmp_path / name
        path.write_text("".join(f"{json.dumps(row)}\n" for row in content))
        return path

    return written


@pytest.fixture
def evaluated(run, job, file):
    """Run it on 36 prompts, beside a training file of others."""
    train, test = (
        file("train.jsonl", rows(range(1_000, 1_100))),
        file("test.jsonl", rows(range(36))),
    )

    def typed(*options, **more):
        given = (job, "--data", test, "--train", train, "--yes", "-k", "0")
        return run(*given, *options, **more)

    return typed


def right_unless(wrong):
    return lambda number: f"#### {number + 7 + wrong(number)}"


def test_a_better_model(evaluated, models, tmp_path):
    models.base = right_unless(lambda number: number % 2)
    ran = evaluated("--record", "found.json", "--markdown", "found.md", "--report", "found.html")
    assert ran.exit_code == 0, ran.output
    assert "the tuned model is better: +50.0 points of the scale, 95 % interval" in ran.stdout
    assert SIMULATION in ran.stderr
    cost = ran.stderr.splitlines()[0]
    assert cost.startswith(f"tuned, greedy: calls to {HOSTED} 36 · tokens read about")
    assert cost.endswith("dollars unknown (--price IN,OUT)")  # the table's price is the base's
    assert len(models.sent) == 72
    asked = {json.dumps(each["inferenceConfig"]) for each in models.sent}
    assert asked == {'{"temperature": 0.0, "maxTokens": 64}'}
    found = EvaluationRecord.model_validate_json((tmp_path / "found.json").read_text())
    assert (found.verdict, found.mcnemar.gained, found.mcnemar.lost) == ("better", 18, 0)
    assert found.greedy.difference.low > 0.3
    assert found.grader == f"{FUNCTION}:7"
    assert found.split_sha256 == sha256((tmp_path / "test.jsonl").read_bytes()).hexdigest()
    flip = found.flips[0]
    assert (flip.turned, flip.base_reason) == (
        "right", "the last #### differs from the reference",
    )  # fmt: skip
    assert flip.base_text is None
    for name in ("found.json", "found.md", "found.html"):
        text = (tmp_path / name).read_text()
        assert "#### 9" not in text
        assert "What is" not in text
        assert "simulation" in text.lower()
    parsed = harmless((tmp_path / "found.html").read_text())
    assert parsed.headings[0] == (1, "Evaluation of gsm8k-0a1b2c3d-1")


def test_a_worse_model_is_status_1(evaluated, models):
    models.tuned = right_unless(lambda number: number % 3 == 0)
    ran = evaluated()
    assert ran.exit_code == 1, ran.output
    assert "the tuned model is worse: -33.3 points" in ran.stdout


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda _: 0, "no prompt earned another score, so that nothing says what this split can"),
        (lambda number: number in (3, 4, 5), "points take about"),
    ],
)
def test_no_difference_is_said_to_be_not_shown(evaluated, models, wrong, words):
    """Never that both are equal."""
    models.base = right_unless(lambda number: number in (7, 8) and wrong(3))
    models.tuned = right_unless(wrong)
    ran = evaluated()
    assert ran.exit_code == 0, ran.output
    assert "no difference shown: " in ran.stdout
    assert "the interval holds 0" in ran.stdout
    assert words in ran.stdout
    assert "equal" not in ran.stdout.replace("equals", "")


def test_few_prompts_need_an_exact_test(run, job, file, models):
    """Five prompts of five gained: the interval has no width, and a fair coin does so in 16."""
    models.base = lambda number: "#### 0"
    train, test = file("train.jsonl", rows([999])), file("test.jsonl", rows(range(5)))
    ran = run(job, "--data", test, "--train", train, "--yes", "-k", "0")
    assert ran.exit_code == 0, ran.output
    assert "no difference shown" in ran.stdout
    assert "under 30 prompts an exact test has to agree" in ran.stdout


def test_sampled_answers_and_pass_at_k(evaluated, models, tmp_path):
    drawn = iter(range(10_000))
    models.tuned = lambda number: f"#### {number + 7 + next(drawn) % 2}"
    ran = evaluated("-k", "4", "-n", "12", "--json", "--by", "level", "--report", "found.html")
    assert ran.exit_code in (0, 1), ran.output
    found = json.loads(ran.stdout)
    assert [each["k"] for each in found["pass_at_k"]] == [1, 2, 4]
    assert [each["base"] for each in found["pass_at_k"]] == [1.0, 1.0, 1.0]
    assert found["pass_at_k"][0]["tuned"] < found["pass_at_k"][2]["tuned"]
    assert {group["name"] for group in found["groups"]} == {"odd", "even"}
    assert all(group["adjusted"] >= group["p_value"] for group in found["groups"])
    assert {(each["side"], each["mode"]): each["answers"] for each in found["beside"]} == {
        ("tuned", "greedy"): 12, ("base", "greedy"): 12,
        ("tuned", "sampled"): 48, ("base", "sampled"): 48,
    }  # fmt: skip
    assert found["beside"][0]["seconds_p50"] is None  # a simulation's
    assert "pass@k of both models" in (tmp_path / "found.html").read_text()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (rows(range(26, 50)), "10 rows of the split and the training file share a prompt"),
        (
            rows([900], messages=[{"role": "user", "content": "what is 3+7"}]),
            "1 row of the split and the training file share a near-duplicate",
        ),
        # the shape of serverless customization
        ([{"prompt": [{"role": "user", "content": "What is 3 + 7?"}]}], "1 row of the split"),
        ([{"prompt": "What is 3 + 7?"}], "1 row of the split"),
        ([{"text": "nothing"}], "no row of it has a prompt to compare the split with"),
    ],
)
def test_a_split_that_shares_prompts_is_refused_before_anything_is_asked(
    evaluated, models, file, content, words
):
    ran = evaluated("--train", file("seen.jsonl", content))
    assert (ran.exit_code, ran.stdout, models.sent) == (2, "", [])
    assert ran.stderr.count("\n") == 1
    assert words in ran.stderr


def test_a_leak_that_is_allowed_is_said(evaluated, file):
    seen = file("seen.jsonl", rows(range(3)))
    ran = evaluated("--train", seen, "--allow-leak", "a rehearsal")
    assert ran.exit_code == 0, ran.output
    assert "warning: 3 rows of the split and the training file share a prompt" in ran.stderr
    assert "taken because a rehearsal" in ran.stderr


@pytest.mark.parametrize("shared", ["--train", "--validation"])
def test_the_validation_file_is_seen_as_well(evaluated, file, shared):
    assert evaluated(shared, file("seen.jsonl", rows([5]))).exit_code == 2


def test_rows_that_ask_the_same_are_asked_once(evaluated, models, file):
    test = rows(range(32))
    test += rows([900], messages=[{"role": "user", "content": "what is 3+7"}]) + test[:2]
    ran = evaluated("--data", file("twice.jsonl", test))
    assert len(models.sent) == 64
    assert "warning: 3 rows of the split asking what another asks: asked once" in ran.stderr


@pytest.mark.parametrize(
    ("side", "answer", "words"),
    [
        ("base", Text(""), "look at one with `reward job baseline --ask"),
        ("tuned", Text(" \n"), "look at one with"),
        ("tuned", Text("", "max_tokens"), "raise --max-tokens"),
        ("tuned", Text("", "guardrail_intervened"), "a filter withholds them"),
    ],
)
def test_a_model_that_answers_nothing_is_one_sentence(evaluated, models, side, answer, words):
    """No statistics are made of it, and nothing more is paid for."""
    setattr(models, side, lambda _: answer)
    ran = evaluated("-k", "4")
    assert (ran.exit_code, ran.stdout) == (2, "")
    problem = ran.stderr.splitlines()[-1]
    assert problem.startswith(f"error: the {side} model ")
    assert "answered nothing to 36 of 36 prompts" in problem
    assert words in problem
    assert len(models.sent) == (36 if side == "tuned" else 72)


def test_answers_without_a_score_are_left_out_with_their_pair(evaluated, functions, models):
    """The function fails once, on a batch of the tuned model's; nothing of it becomes a 0."""
    known, _ = functions
    from tests.lambda_api import function_error

    models.base = right_unless(lambda number: number % 2)
    broken = function_error(errorType="KeyError", errorMessage="'x'")
    known[f"{FUNCTION}:7"] = Function([graded, broken, graded])
    ran = evaluated()
    assert ran.exit_code == 2, ran.output
    assert "no prompt has a score of both models" in ran.stderr
    assert "KeyError" in ran.stderr


def test_answers_that_are_there_are_not_asked_again(evaluated, models, tmp_path):
    evaluated("--out", "kept")
    models.sent.clear()
    ran = evaluated("--out", "kept")
    assert (ran.exit_code, models.sent) == (0, [])
    assert "answers that are there 36" in ran.stderr
    kept = tmp_path / "kept" / "tuned-greedy.jsonl"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700


def test_answers_are_harmless_wherever_they_are_shown(evaluated, models, tmp_path):
    evil = "<script>alert(1)</script>\x1b[31m[red]:smile:| x\n#### 0"
    models.base = lambda _: evil
    ran = evaluated("--texts", "--report", "f.html", "--markdown", "f.md")
    assert ran.exit_code == 0, ran.output
    assert "\x1b" not in ran.output
    assert "\\x1b[31m[red]:smile:" in ran.stdout
    harmless((tmp_path / "f.html").read_text())
    assert "<script>" not in (tmp_path / "f.md").read_text()


def test_models_by_hand_with_a_file(run, file, models, tmp_path):
    file("train.jsonl", rows(range(1_000, 1_100)))
    (tmp_path / "job.toml").write_text(
        f'model = "{MODEL}"\ndeployment = "gsm8k"\ndata = "train.jsonl"\n'
    )
    test = file("test.jsonl", rows(range(6)))
    ran = run("job.toml", "--data", test, "--ask-tuned", HOSTED, "-k", "0", "--yes")
    assert ran.exit_code == 0, ran.output
    assert {each["path"][1] for each in models.sent} == {BASE, HOSTED}


def test_a_job_of_the_openai_compatible_api(run, service, file, models, monkeypatch):
    """Its model needs no hosting, and its files cannot be read back."""
    from reward_functions.jobs.job import JobRequest
    from tests.jobs.models_service import KEY

    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
    request = JobRequest(
        name="chat-1", token="t", model="openai.gpt-oss-20b", grader=f"{FUNCTION}:7",
        hyperparameters={}, training="file-1",
    )  # fmt: skip
    Driver(service, "openai").start(request)
    service.clock.sleep(1_000)
    test = file("test.jsonl", rows(range(6)))
    words = ("chat-1", "--data", test, "-k", "0", "--yes")
    ran = run(*words)
    assert ran.exit_code == 2
    assert "with --train FILE" in ran.stderr
    ran = run(*words, "--train", file("train.jsonl", rows([999])))
    assert ran.exit_code == 0, ran.output
    assert {each["model"] for each in models.sent} == {"tuned-model", "openai.gpt-oss-20b"}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--by", "levl"], "--by 'levl': no row's metadata has this key. Did you mean 'level'?"),
        (["--ask-base", HOSTED], "both models are"),
        (["--price", "1"], "--price '1': write IN,OUT"),
        (["--data", "missing.jsonl"], "missing.jsonl: No such file"),
        (["--report", "page.txt"], "a page is called NAME.html"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(evaluated, models, options, sentence):
    ran = evaluated(*options)
    assert (ran.exit_code, ran.stdout, models.sent) == (2, "", [])
    assert sentence in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_a_grader_that_is_gone_is_found_before_a_model_is_paid_for(evaluated, functions, models):
    known, _ = functions
    gone = refusal(404, "ResourceNotFoundException", "Function not found")
    known[f"{FUNCTION}:7"] = Function([gone])
    ran = evaluated()
    assert (ran.exit_code, ran.stdout, models.sent) == (2, "", [])
    assert ran.stderr.count("\n") == 1


def test_nothing_is_asked_without_somebody_who_agrees(run, job, file, models):
    train, test = file("train.jsonl", rows([999])), file("test.jsonl", rows(range(6)))
    ran = run(job, "--data", test, "--train", train)
    assert (ran.exit_code, ran.stdout, models.sent) == (2, "", [])
    assert "there is no terminal to ask on: add --yes" in ran.stderr


def test_a_job_that_has_made_no_model(run, service, file):
    service.begun(name="young", grader=f"{FUNCTION}:7", model=MODEL)
    test = file("test.jsonl", rows(range(6)))
    ran = run("young", "--data", test, "--train", file("train.jsonl", rows([999])))
    assert ran.exit_code == 2
    assert "young is queued and has made no model: wait for its end" in ran.stderr


def test_a_model_that_stays_busy_is_one_sentence(evaluated, models, monkeypatch):
    monkeypatch.setattr("reward_functions.jobs.asking.FIRST_PAUSE", 0.0001)
    models.tuned = lambda _: Refusal(429, "ThrottlingException")
    ran = evaluated("--out", "kept")
    assert ran.exit_code == 2
    assert "error: the model stays busy" in ran.stderr


def as_csv(content):
    return "question,gold\n" + "".join(
        f"{row['messages'][0]['content']},{row['reference_answer']}\n" for row in content
    )


def as_verl(content):
    rows_of_verl = (
        {"prompt": row["messages"], "reward_model": {"ground_truth": row["reference_answer"]}}
        for row in content
    )
    return "".join(f"{json.dumps(row)}\n" for row in rows_of_verl)


@pytest.mark.parametrize(
    ("name", "written", "options"),
    [
        ("test.csv", as_csv, ["--map", "prompt=question,reference=gold"]),
        ("test.jsonl", as_verl, []),
        ("test.jsonl", as_verl, ["--rows", "verl"]),
    ],
)
def test_a_split_of_any_shape(evaluated, models, tmp_path, name, written, options):
    (tmp_path / "any").mkdir()
    split = tmp_path / "any" / name
    split.write_text(written(rows(range(8))))
    ran = evaluated("--data", split, *options)
    assert ran.exit_code == 0, ran.output
    assert len(models.sent) == 16


def test_a_training_file_of_the_splits_own_columns_is_compared(evaluated, tmp_path):
    (tmp_path / "seen.csv").write_text(as_csv(rows([5])))
    (tmp_path / "any.csv").write_text(as_csv(rows(range(8))))
    mapped = ("--map", "prompt=question,reference=gold")
    ran = evaluated("--data", "any.csv", "--train", "seen.csv", *mapped)
    assert ran.exit_code == 2
    assert "1 row of the split and the training file share a prompt" in ran.stderr


def test_a_template_with_another_sign_is_another_prompt(evaluated, models, file):
    """What is 3 + 7 and what is 3 - 7: neither a leak nor asked once."""
    less = [
        row | {"messages": [{"role": "user", "content": f"What is {at} - 7?"}]}
        for at, row in enumerate(rows(range(36)))
    ]
    ran = evaluated("--train", file("seen.jsonl", less))
    assert ran.exit_code == 0, ran.output
    assert len(models.sent) == 72


@pytest.mark.parametrize(("trained", "status"), [("101", 2), ("100", 0), ("99", 0), ("x", 0)])
def test_a_training_file_of_fewer_rows_than_the_jobs_is_another(
    evaluated, monkeypatch, models, trained, status
):
    from reward_functions.jobs.evaluation import preparing

    monkeypatch.setattr(preparing, "tag", lambda *_: trained)
    ran = evaluated()
    assert ran.exit_code == status, ran.output
    if status:
        assert "train.jsonl has 100 rows, and gsm8k-0a1b2c3d-1 was trained on 101" in ran.stderr
        assert models.sent == []


def test_a_file_in_s3_that_breaks_off_says_what_helps(run, job, file, models, monkeypatch):
    from dataclasses import replace

    from reward_functions.jobs.evaluation import preparing

    class Broken(io.BytesIO):
        def read(self, *_):
            raise OSError("reset")

    class S3:
        def get_object(self, **_):
            return {"Body": Broken()}

    found = preparing.files_seen
    monkeypatch.setattr(preparing, "client", lambda *_: S3())
    monkeypatch.setattr(
        preparing,
        "files_seen",
        lambda job, *rest, **named: found(replace(job, files=("s3://b/t.jsonl",)), *rest, **named),
    )
    ran = run(job, "--data", file("test.jsonl", rows(range(8))), "-k", "0", "--yes")
    assert ran.exit_code == 2
    assert "reading s3://b/t.jsonl: the connection broke off" in ran.stderr
    assert "--train FILE" in ran.stderr
    assert models.sent == []


def test_the_jobs_own_files_are_read_in_s3(run, job, service, file, models, monkeypatch):
    from dataclasses import replace

    from reward_functions.jobs.evaluation import preparing

    kept = {
        "train.jsonl": rows(range(1_000, 1_100)),
        "dev.jsonl": rows([5]),
    }

    class S3:
        def get_object(self, **asked):
            lines = "".join(f"{json.dumps(row)}\n" for row in kept[asked["Key"]])
            return {"Body": io.BytesIO(lines.encode())}

    found = preparing.files_seen
    files = ("s3://b/train.jsonl", "s3://b/dev.jsonl")

    def seen(job, *rest, **named):
        return found(replace(job, files=files[: len(kept)]), *rest, **named)

    monkeypatch.setattr(preparing, "client", lambda *_: S3())
    monkeypatch.setattr(preparing, "files_seen", seen)
    words = (job, "--data", file("test.jsonl", rows(range(8))), "-k", "0", "--yes")
    ran = run(*words)
    assert ran.exit_code == 2
    assert "1 row of the split and the validation file share a prompt" in ran.stderr
    del kept["dev.jsonl"]
    assert run(*words).exit_code == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--on", "sagemaker"], "is no job of SageMaker's serverless customization"),
        (["--on", "bedrock"], "there is sagemaker alone"),
        (["--on", "sagemaker", "--ask-base", "x"], "leave out --ask-base"),
    ],
)
def test_what_the_services_own_jobs_do_not_evaluate(evaluated, models, words, sentence):
    ran = evaluated(*words)
    assert (ran.exit_code, ran.stdout, models.sent) == (2, "", [])
    assert sentence in ran.stderr
    assert ran.stderr.count("\n") == 1
