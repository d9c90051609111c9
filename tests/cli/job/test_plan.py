"""`reward job plan`: what it prints, refuses and never asks."""

import json

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from tests.lambda_api import Function, lambda_api
from tests.parsed_page import harmless
from tests.training_rows import row

NOVA = "amazon.nova-2-lite-v1:0:256k"
PLAIN = "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-reward-dev-gsm8k"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """The command over a training file of 100 rows, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    # Whoever asks AWS in these tests fails.
    monkeypatch.setenv("AWS_PROFILE", "nobody-has-this")
    monkeypatch.delenv("REWARD_JUDGE", raising=False)
    (tmp_path / "train.jsonl").write_text("".join(f"{json.dumps(row(n))}\n" for n in range(100)))

    def ran(*arguments):
        return CliRunner().invoke(app, ["job", "plan", *arguments])

    return ran


OFFLINE = ["--offline", "-d", "gsm8k", "-m", NOVA, "--data", "train.jsonl", "--reward", "gsm8k"]


def test_offline_nobody_is_asked_and_concurrency_is_not_measured(run):
    ran = run(*OFFLINE)
    assert (ran.exit_code, ran.stderr[:7]) == (0, "warning")
    assert "a whole number from 16 to 512" in ran.stdout
    assert "steps                  1, each of 400 rollouts or fewer" in ran.stdout
    assert "concurrency there is   not measured" in ran.stdout
    assert "dollars of training    unknown" in ran.stdout
    assert "batchSize is 128, and the data have 100 rows" in ran.stderr


def test_json_holds_figures_and_markdown_the_same_tables(run):
    data = json.loads(run(*OFFLINE, "--json", "--set", "batchSize=16").stdout)
    assert data["figures"]["steps"] == 7
    assert data["hyperparameters"]["batchSize"]["set"] == 16
    assert data["hyperparameters"]["inferenceMaxTokens"]["suggested"] == 2048
    written = run(*OFFLINE, "--markdown", "--set", "batchSize=16").stdout
    assert "| steps | 7, each of 64 rollouts or fewer |" in written
    assert "## Assumed" in written


def test_a_plan_has_a_page_that_says_the_same(run, tmp_path):
    ran = run(*OFFLINE, "--set", "batchSize=16", "--report", "plan.html", "--json")
    assert ran.exit_code == 0, ran.stderr
    assert json.loads(ran.stdout)["figures"]["steps"] == 7
    parsed = harmless((tmp_path / "plan.html").read_text())
    assert [words for order, words in parsed.headings if order == 2] == [
        *("The job", "Hyperparameters", "What it comes to", "Assumed"),
    ]
    for words in ("7, each of 64 rollouts or fewer", "batchSize", "Nothing was uploaded"):
        assert words in parsed.text


def test_the_page_of_a_job_without_a_deployment_is_called_by_its_reward(run, tmp_path):
    (tmp_path / "job.toml").write_text(
        'model = "huggingface-reasoning-qwen3-32b"\ndriver = "sagemaker"\ndata = "train.jsonl"\n'
        '[sagemaker]\npreset_reward = "prime_math"\n'
    )
    assert run("job.toml", "--offline", "--report", "plan.html").exit_code == 0
    assert "Plan: prime_math" in harmless((tmp_path / "plan.html").read_text()).text


def test_the_rates_that_are_known_make_time_and_dollars(run):
    rates = ["--step-minutes", "6", "--hour-price", "20", "--set", "batchSize=16", "--json"]
    figures = json.loads(run(*OFFLINE, *rates).stdout)["figures"]
    assert (figures["minutes"], figures["training_usd"]) == (42, 14)


REFUSED = [
    (["--set", "batchSize=8"], "batchSize is 8: it must be a whole number from 16 to 512"),
    (["--set", "batchSize=64.0"], "batchSize is 64.0: it must be a whole number"),
    (["--set", "batchSize=true"], "batchSize is 'true': it must be a whole number"),
    (["--set", "learningRate=nan"], "learningRate is 'nan': it must be a number from"),
    (["--set", "n_epochs=1"], "n_epochs is called epochCount"),
    (["--set", "batchSize"], "write NAME=VALUE"),
    (["-m", "amazon.nova-2-lite"], "Did you mean 'amazon.nova-2-lite-v1:0:256k'?"),
    (["--data", "nowhere.jsonl"], "nowhere.jsonl: No such file"),
    (["--rows", "100"], "--rows is for invocation logs"),
    (["--json", "--markdown"], "--json and --markdown exclude each other"),
    (["--reward", "gsm9k"], "Did you mean 'gsm8k'?"),
    (["--step-minutes", "-1"], "less than 0"),
    (["--driver", "hyperpod"], "is not one of"),
    (["--driver", "sagemaker"], "is no model of SageMaker's hub"),
]


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED, ids=[each[1] for each in REFUSED])
def test_what_cannot_be_planned_is_one_line_and_status_2(run, arguments, sentence):
    ran = run(*OFFLINE, *arguments)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert sentence in ran.stderr


def test_a_file_of_too_few_rows_is_refused(run, tmp_path):
    (tmp_path / "few.jsonl").write_text("".join(f"{json.dumps(row(n))}\n" for n in range(99)))
    ran = run(*OFFLINE, "--data", "few.jsonl")
    assert ran.exit_code == 2
    assert ran.stderr.strip() == (
        "error: data: few.jsonl has 99 rows, and Bedrock takes 100 to 20,000"
    )


def test_a_file_holds_the_job_and_what_is_typed_is_stronger(run, tmp_path):
    (tmp_path / "job.toml").write_text(
        f'model = "{NOVA}"\ndeployment = "gsm8k"\ndata = "train.jsonl"\n'
        "[hyperparameters]\nbatchSize = 32\nepochCount = 3\n"
    )
    ran = run("job.toml", "--offline", "--json", "--set", "batchSize=50")
    figures = json.loads(ran.stdout)["figures"]
    assert (figures["steps"], figures["batch_size"], figures["epochs"]) == (6, 50, 3)


def test_logs_are_planned_by_the_rows_that_are_named(run, tmp_path):
    (tmp_path / "job.toml").write_text(
        f'model = "{NOVA}"\ndeployment = "gsm8k"\n[invocation_logs]\nsource = "s3://bucket/logs"\n'
    )
    assert json.loads(run("job.toml", "--offline", "--json").stdout)["figures"] is None
    ran = run("job.toml", "--offline", "--rows", "5000", "--json")
    assert json.loads(ran.stdout)["figures"]["steps"] == 40
    assert "have no reference_answer" in ran.stderr


def test_a_judge_that_is_named_is_estimated(run):
    judge = json.dumps({"models": [{"model": "amazon.nova-lite-v1:0", "region": "us-east-1"}]})
    rubric = [*OFFLINE, "--reward", "rubric"]
    ran = run(*rubric, "--judge", judge, "--json")
    assert json.loads(ran.stdout)["figures"]["judge"]["calls"] > 0
    assert "give --judge FILE" in run(*rubric, "--json").stderr


def test_the_judge_of_the_environment_is_not_a_verifiers(run, monkeypatch):
    monkeypatch.setenv("REWARD_JUDGE", "{broken")
    assert run(*OFFLINE).exit_code == 0


def test_without_offline_and_without_credentials_the_remedy_is_one_line(run):
    ran = run("-d", "gsm8k", "-m", NOVA, "--data", "train.jsonl")
    assert ran.exit_code == 2
    assert "check AWS_PROFILE" in ran.stderr
    assert ran.stderr.count("\n") == 1


LIMITS = {"ConcurrentExecutions": 10, "UnreservedConcurrentExecutions": 10}
DEPLOYED_JUDGE = json.dumps({"models": [{"model": "amazon.nova-lite-v1:0", "region": "us-east-1"}]})


@pytest.fixture
def function(run, monkeypatch):
    """The ARN of a function's version, with a judge, in an account that allows little."""
    monkeypatch.delenv("AWS_PROFILE")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    judge = {"Environment": {"Variables": {"REWARD_JUDGE": DEPLOYED_JUDGE}}}
    functions = {
        "account-settings": Function([], {"AccountLimit": LIMITS}),
        PLAIN: Function([], {"ReservedConcurrentExecutions": 7}),
        f"{PLAIN}:3": Function([], judge),
    }
    with lambda_api(functions) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        yield f"{PLAIN}:3"


def test_a_function_by_its_arn_brings_its_region_and_its_limits(run, function):
    arguments = ["-d", function, "--data", "train.jsonl", "--json", "-m"]
    ran = run(*arguments, NOVA)
    data = json.loads(ran.stdout)
    assert (data["region"], data["grader"]) == ("us-east-1", function)
    assert data["account"] == {
        "concurrency": 10, "unreserved": 10, "reserved": 7, "unmeasured": [],
        "reserved_measured": True,
    }  # fmt: skip
    assert "a concurrency of 7 is reserved for the grader" in ran.stderr
    elsewhere = run(*arguments, "qwen.qwen3-32b")
    assert elsewhere.exit_code == 2
    assert "is trained in us-west-2" in elsewhere.stderr


def test_the_judge_that_is_deployed_is_the_one_that_is_estimated(run, function, monkeypatch):
    monkeypatch.setenv("REWARD_JUDGE", '{"models": [{"model": "of-something-else"}]}')
    ran = run("-d", function, "-m", NOVA, "--data", "train.jsonl", "--reward", "rubric", "--json")
    assert json.loads(ran.stdout)["figures"]["judge"]["usd"] > 0


def test_a_deployment_of_a_stage_is_planned_with_its_version(stage, tmp_path, monkeypatch):
    """On the emulator: the catalogue's version is the grader, and the account is read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.jsonl").write_text("".join(f"{json.dumps(row(n))}\n" for n in range(100)))
    function = stage.deployment(versions=1, live="1")
    arguments = ["-s", stage.stage, "-m", NOVA, "--data", "train.jsonl", "--json"]
    ran = CliRunner().invoke(app, ["job", "plan", "-d", "gsm8k", *arguments])
    data = json.loads(ran.stdout)
    assert (data["grader"], data["region"]) == (f"{function}:1", "us-east-1")
    assert data["account"]["unreserved"] > 0
    missing = CliRunner().invoke(app, ["job", "plan", "-d", "gsm9k", *arguments])
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert "Did you mean 'gsm8k'?" in missing.stderr


@pytest.mark.parametrize(
    "value", ["٣٢", "3_2", " 32", "32 ", "0x20", "३२", "inf", "nan", "9" * 5000]
)
def test_a_number_is_written_in_plain_digits(run, value):
    """Python reads some of these as 32; whoever reads the job's file or a tag may not."""
    ran = run(*OFFLINE, "--set", f"batchSize={value}")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "batchSize is '" in ran.stderr
    assert "it must be a whole number from 16 to 512" in ran.stderr


@pytest.mark.parametrize(
    ("name", "value"), [("batchSize", "+32"), ("learningRate", "1e-4"), ("learningRate", ".0001")]
)
def test_numbers_of_every_usual_form_are_read(run, name, value):
    assert run(*OFFLINE, "--set", f"{name}={value}").exit_code == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[hyperparameters]\nbatchSize = " + "9" * 5_000, "thousands of digits"),
        ("x = " + "[" * 3_000 + "]" * 3_000, "brackets"),
        ("x = ", "is not TOML"),
        ("[hyperparameters]\nbatchSize = 2020-01-01", "must be a whole number"),
        ("[hyperparameters]\nbatchSize = inf", "must be a whole number"),
    ],
)
def test_a_hostile_configuration_is_one_sentence(run, tmp_path, text, says):
    (tmp_path / "job.toml").write_text(text)
    ran = run("job.toml", *OFFLINE)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert says in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("number", ["NaN", "1e999", "-Infinity"])
@pytest.mark.parametrize("member", ["reference_answer", "further"])
def test_a_number_that_json_has_not_is_refused_for_every_reward(run, tmp_path, number, member):
    """The service's parser takes none, also where the reward is nobody's here."""
    lines = [json.dumps(row(n) | {"further": n}) for n in range(100)]
    there = json.loads(lines[4])[member]
    lines[4] = lines[4].replace(f'"{member}": {json.dumps(there)}', f'"{member}": {number}')
    (tmp_path / "train.jsonl").write_text("\n".join(lines) + "\n")
    ran = run(*OFFLINE[:-2])
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "train.jsonl, line 5" in ran.stderr


@pytest.mark.parametrize("price", ["--hour-price", "--token-price", "--step-minutes"])
def test_a_price_without_end_is_refused(run, price):
    ran = run(*OFFLINE, price, "inf")
    assert ran.exit_code == 2
    assert "write a number from 0" in ran.stderr


def test_a_plan_refuses_the_training_file_as_the_validation_file(run, tmp_path):
    (tmp_path / "dev.jsonl").symlink_to(tmp_path / "train.jsonl")
    ran = run(*OFFLINE, "--validation", "dev.jsonl")
    assert ran.exit_code == 2
    assert "validation: two files share every prompt" in ran.stderr
