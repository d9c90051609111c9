"""The local AWS emulator: what it gets, what it leaves, and what it says when it cannot be had."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import warnings
import zipfile
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from time import monotonic, sleep
from types import SimpleNamespace

import pytest

from reward_functions.aws.emulator_record import Folder, Process, start_time
from reward_functions.local.emulator import (
    LocalAwsError,
    cdk,
    down,
    emulator,
    find,
    installing,
    running,
    serve,
    up,
)
from reward_functions.local.emulator.cdk import Cdk, CdkFailed
from reward_functions.local.emulator.emulator import (
    EmulatorEnded,
    PortInUse,
    TrainingOptions,
    known,
    lifeline,
    merged,
    shell_lines,
    start,
)
from reward_functions.local.emulator.installing import EmulatorMissing
from reward_functions.local.emulator.serve import SharedCode, Wildcards, logged
from tests.commands import PIPE, Command
from tests.processes import processes_of, until_ended
from tests.waiting import PATIENCE

ENVIRONMENT = "import os\ndef handler(event, context):\n    return [os.getpid(), dict(os.environ)]"

IMPOSTOR = """#!/bin/sh
case "$1" in -I) echo {version}; exit 0;; esac
echo $$ > "{folder}/pid"
sleep 1000 &
echo $! > "{folder}/child"
{then}
"""
"""An interpreter that claims to have the emulator, starts a child, and does something else."""


def gone(id):
    """Whether a process ends: at once, or within a minute of a busy machine."""
    late = monotonic() + 60
    while monotonic() < late:
        if start_time(id) is None:
            return True
        sleep(0.01)
    return False


@pytest.fixture
def impostor(tmp_path):
    def made(then, version=installing.VERSION):
        script = tmp_path / "python"
        script.write_text(IMPOSTOR.format(version=version, folder=tmp_path, then=then))
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return str(script)

    return made


@pytest.fixture
def nothing_left(tmp_path):
    yield
    assert not Folder("broken").path.exists()
    for file in ("pid", "child"):
        if (tmp_path / file).exists():
            assert gone(int((tmp_path / file).read_text())), f"the {file} is left behind"


def test_a_function_runs_and_sees_nothing_of_the_callers_environment(
    local_aws, deployed_function, monkeypatch
):
    monkeypatch.setenv("MY_SECRET", "secret")
    arn = deployed_function(ENVIRONMENT)
    answer = local_aws.client("lambda").invoke(FunctionName=arn)
    _, seen = json.loads(answer["Payload"].read())
    assert "MY_SECRET" not in seen
    assert "VIRTUAL_ENV" not in seen
    assert seen["HOME"] == str(local_aws.folder.path / "home")


IMPORTS = """
import os, sys
def handler(event, context):
    return os.path.realpath(__file__), "botocore" in sys.modules
"""


def test_functions_of_equal_code_run_from_one_folder_and_import_nothing_else(
    local_aws, deployed_function
):
    client = local_aws.client("lambda")
    arns = [deployed_function(source) for source in (IMPORTS, IMPORTS, f"{IMPORTS}\n")]
    answers = [client.invoke(FunctionName=arn)["Payload"].read() for arn in arns]
    (one, imported), (two, _), (other, _) = map(json.loads, answers)
    assert one == two != other
    assert not imported
    client.delete_function(FunctionName=arns[0])
    assert client.invoke(FunctionName=arns[1])["Payload"].read() == answers[1], "it stays"


def test_an_invocation_takes_the_lines_that_are_there_and_no_more():
    lines = SimpleQueue()
    worker = SimpleNamespace(_stderr_queue=lines)
    assert logged(worker, first_line_wait=0.001) == ""
    for line in ("one", "", "three"):
        lines.put(line)
    assert logged(worker) == "one\n\nthree"
    assert logged(worker, first_line_wait=0.001) == ""
    lines.put("late")
    assert logged(worker, hard_cap=0.0) == "", "its time is over"
    assert logged(worker) == "late"


def test_what_zips_have_in_common_is_unpacked_once_and_of_a_name_the_last_counts(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(serve, "CODE", tmp_path / "code")
    monkeypatch.setattr(serve, "UNPACKED", {})
    zips = [
        [("lib/a.py", "a = 1"), ("own.py", "one"), ("lib/empty/", "")],
        [("lib/a.py", "a = 1"), ("own.py", "one"), ("own.py", "two"), ("b.py", "a = 1")],
        [("../a.py", "out"), ("lib/a.py", "a = 2"), ("own.py", "two")],
    ]
    folders = []
    for number, files in enumerate(zips):
        archive, folder = tmp_path / f"{number}.zip", tmp_path / str(number)
        with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(archive, "w") as packed:
            for name, content in files:
                packed.writestr(name, content)
        folder.mkdir()
        with SharedCode(archive) as packed:
            packed.extractall(folder)
        folders.append(folder)
    one, two, three = folders
    assert (one / "lib/a.py").samefile(two / "lib/a.py")
    assert (two / "own.py").samefile(three / "own.py")
    assert [(each / "own.py").read_text() for each in folders] == ["one", "two", "two"]
    assert (two / "b.py").read_text() == "a = 1"
    assert (three / "lib/a.py").read_text() == "a = 2"
    assert (one / "lib/empty").is_dir()
    assert (three / "a.py").read_text() == "out", "it stays in its folder"
    assert not (tmp_path / "code" / "a.py").exists()


PATTERNS = [
    # a pattern, what it stands for, and what it does not
    ("s3:GetObject", ["s3:GetObject"], ["s3:GetObjectTagging", "xs3:GetObject", "s3:getobject"]),
    ("*", ["", "any\nthing"], []),
    ("s3:Get*", ["s3:Get", "s3:GetObject"], ["s3:PutObject"]),
    ("*:role/a", ["x:role/a"], ["x:role/ab"]),
    ("a*a", ["aa", "aba", "aaa"], ["a"]),
    ("ab*ba", ["abba"], ["aba"]),
    ("a*b*a", ["aba", "axbxa", "abba"], ["aa", "aab"]),
    ("a*bc*bc*c", ["abcbcc"], ["abcbc"]),
    ("a**b", ["ab", "axb"], ["a"]),
    ("a?c", ["abc", "a\nc"], ["ac", "abbc"]),
    ("?*", ["a", "ab"], [""]),
    ("a.*[b]", ["a.x[b]"], ["axxb"]),
    ("a", ["a"], ["a\n", ""]),
    ("", [""], ["a"]),
]


@pytest.mark.parametrize(("pattern", "fitting", "others"), PATTERNS)
def test_a_policys_pattern_fits_all_of_a_value(pattern, fitting, others):
    exact, folded = Wildcards(pattern, False), Wildcards(pattern.swapcase(), True)
    assert all(map(exact.match, fitting))
    assert all(map(folded.match, fitting))
    assert not any(map(exact.match, others))


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads Linux's table of sockets")
def test_it_listens_on_the_loopback_interface_and_nowhere_else(local_aws):
    process = local_aws.record.process.id
    own = set()
    for link in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # it is closed meanwhile
            own.add(str(link.readlink()))
    listening = [
        line.split()[1]
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]
        if line.split()[3] == "0A" and f"socket:[{line.split()[9]}]" in own
    ]
    assert listening == [f"0100007F:{local_aws.record.port:04X}"]


def test_two_run_side_by_side_and_are_emptied_and_ended_apart(local_aws):
    with running("second") as second:
        assert second.record.port != local_aws.record.port
        for aws in (local_aws, second):
            aws.client("ssm").put_parameter(Name="/mine", Value=aws.name, Type="String")
        second.reset()
        client = second.client("ssm")
        with pytest.raises(client.exceptions.ParameterNotFound):
            client.get_parameter(Name="/mine")
        assert find("second") == second
        assert {aws.name for aws in known()} >= {local_aws.name, "second"}
    assert find("second") is None
    assert gone(second.record.process.id)
    assert local_aws.client("ssm").get_parameter(Name="/mine")["Parameter"]["Value"]


def test_its_functions_and_its_double_end_with_it_even_where_it_was_killed(function_zip):
    with running("killed", training=TrainingOptions()) as aws:
        arn = aws.client("lambda").create_function(
            FunctionName="SageMaker-environment",
            Runtime="python3.13",
            Role=f"arn:aws:iam::{'0' * 12}:role/any",
            Handler="function.handler",
            Code={"ZipFile": function_zip(ENVIRONMENT)},
        )["FunctionArn"]
        answer = aws.client("lambda").invoke(FunctionName=arn)
        worker, _ = json.loads(answer["Payload"].read())
        os.kill(aws.record.process.id, signal.SIGKILL)
        assert gone(aws.record.process.id)
        assert gone(aws.record.training.process.id)
        assert not aws.alive
        with pytest.raises(EmulatorEnded, match="'killed' has ended: "):
            aws.require()
        with pytest.raises(EmulatorEnded):
            aws.reset()
    assert gone(worker)


def test_enforcing_means_tls_and_real_signatures(enforcing_aws):
    from botocore.exceptions import ClientError, SSLError

    assert enforcing_aws.endpoint.startswith("https://127.0.0.1:")
    arn = enforcing_aws.client("sts").get_caller_identity()["Arn"]
    assert arn == "arn:aws:iam::000000000000:root"
    stranger = enforcing_aws.session(aws_access_key_id="AKIA" + "0" * 16, aws_secret_access_key="x")
    with pytest.raises(ClientError, match="security token included in the request is invalid"):
        stranger.client("sts").get_caller_identity()
    iam = enforcing_aws.client("iam")
    iam.create_user(UserName="forged")
    key = iam.create_access_key(UserName="forged")["AccessKey"]
    for secret, refused in (("wrong", "signature"), (key["SecretAccessKey"], "not authorized")):
        forged = enforcing_aws.session(
            aws_access_key_id=key["AccessKeyId"], aws_secret_access_key=secret
        )
        with pytest.raises(ClientError, match=refused):
            forged.client("s3").list_buckets()
    untrusting = enforcing_aws.session().client("sts", verify=True)
    with pytest.raises(SSLError):
        untrusting.get_caller_identity()
    key = enforcing_aws.record.certificate.key
    assert key.parent.stat().st_mode & 0o077 == 0, "nobody else reads the key"


def test_the_same_name_again_finds_the_one_that_runs(local_aws):
    assert up(local_aws.name) == local_aws
    with pytest.raises(LocalAwsError, match=r"already, without enforced permissions: reward local"):
        up(local_aws.name, enforce=True)
    with pytest.raises(LocalAwsError, match=f"runs on port {local_aws.record.port} already"):
        up(local_aws.name, port=1)
    with pytest.raises(LocalAwsError, match="runs already"), running(local_aws.name):
        pass
    assert local_aws.alive


def test_a_port_in_use_is_told_with_the_remedy(nothing_left):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortInUse, match=rf"port {port} .*leave --port out"):
            up("broken", port=port)


def test_an_emulator_that_ends_as_it_starts_is_told_with_its_last_words(impostor, nothing_left):
    with pytest.raises(EmulatorEnded, match="has ended: no such thing"):
        up("broken", python=impostor("echo no such thing"))


def test_an_emulator_that_never_answers_is_ended(impostor, nothing_left, monkeypatch):
    monkeypatch.setattr(emulator, "READY_SECONDS", 0.3)
    monkeypatch.setattr(emulator, "LOOK_SECONDS", 0.1)
    with pytest.raises(LocalAwsError, match="does not answer within"):
        up("broken", python=impostor("sleep 1000"))


def test_a_missing_openssl_is_told(nothing_left, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LocalAwsError, match=r"openssl.* install it"):
        up("broken", enforce=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_start_that_is_interrupted_leaves_nothing(number, impostor, nothing_left, tmp_path):
    python = impostor("sleep 1000")
    starting = Command(["local", "up", "--name", "broken", "--python", python], stderr=PIPE)
    while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
        assert starting.poll() is None
        sleep(0.01)
    starting.send_signal(number)
    _, said = starting.communicate(timeout=PATIENCE)
    assert starting.returncode == 130
    assert "Traceback" not in said


STARTER = """
import json, sys
from pathlib import Path
from threading import Thread
from time import sleep
from reward_functions.local.emulator import running
from reward_functions.local.emulator.cdk import Cdk

source, project = Path(sys.argv[1]), Path(sys.argv[2])
with running("abandoned") as aws:
    client = aws.client("lambda")
    client.create_function(
        FunctionName="SageMaker-abandoned",
        Runtime="python3.13",
        Role="arn:aws:iam::000000000000:role/any",
        Handler="function.handler",
        Code={"ZipFile": source.read_bytes()},
    )
    client.invoke(FunctionName="SageMaker-abandoned")["Payload"].read()
    Thread(target=Cdk(aws, project, stage="local").deploy).start()
    print(aws.folder.path, flush=True)
    sleep(1000)
"""
"""Starts an emulator with a function, and a command of the CDK that does not end."""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads Linux's")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_who_started_it_for_a_block(number, function_zip, tmp_path):
    (tmp_path / "function.zip").write_bytes(function_zip(ENVIRONMENT))
    program = tmp_path / "node_modules" / ".bin" / "cdk"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\nsleep 1000 &\necho $! > {tmp_path}/child\nwait\n")
    program.chmod(0o700)
    command = [sys.executable, "-c", STARTER, str(tmp_path / "function.zip"), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as starter:
        folder = Path(starter.stdout.readline().strip())
        while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
            assert starter.poll() is None
            sleep(0.01)
        # The emulator and its watchdog, its function, the CDK with its own and a child.
        assert len(processes_of(folder)) >= 6
        starter.send_signal(number)
    until_ended(folder)
    down("abandoned")


def test_a_watched_command_is_as_it_would_be_without(tmp_path):
    def ran(line):
        script = "grep SigIgn /proc/self/status; echo $0 $1; exit 3"
        with (tmp_path / "log").open("wb") as log:
            command = ["/bin/sh", "-c", script, "a b", "c"]
            status = start(command, environment={}, folder=tmp_path, log=log, line=line).wait()
        return status, (tmp_path / "log").read_text()

    with lifeline() as line:
        assert ran(line) == ran(None)


def test_what_a_killed_start_left_is_ended_by_the_next(impostor, nothing_left, tmp_path):
    python = impostor("sleep 1000")
    with Command(["local", "up", "--name", "broken", "--python", python]) as starting:
        while Folder("broken").record() is None or not (tmp_path / "child").exists():
            sleep(0.01)
        starting.kill()
    assert find("broken") is not None
    assert down("broken")


def test_a_later_process_of_the_same_id_is_left_alone():
    with subprocess.Popen(["sleep", "1000"], start_new_session=True) as innocent:
        Process(innocent.pid, "long ago").end()
        assert start_time(innocent.pid) is not None
        assert not Process(innocent.pid, "long ago").alive
        innocent.kill()


def test_a_record_nobody_can_read_is_forgotten():
    folder = Folder("unreadable")
    folder.make()
    (folder.path / "record.json").write_text('{"process": 3}')
    assert find("unreadable") is None
    assert not down("unreadable")
    assert not folder.path.exists()


@pytest.mark.parametrize("name", ["", "../up", "a b", "a/b", "-x", "x" * 65])
def test_a_name_is_no_path(name):
    with pytest.raises(LocalAwsError, match="is no name for a local AWS"):
        up(name)


def test_an_interpreter_without_the_emulator_is_told_with_the_remedy(impostor, tmp_path):
    with pytest.raises(EmulatorMissing, match=r"has no ministack.*: reward local install$"):
        up("broken", python=str(tmp_path / "nothing"))
    with pytest.raises(EmulatorMissing, match=rf"1\.0\.0, not {installing.VERSION}"):
        up("broken", python=impostor("", version="1.0.0"))


def test_the_emulator_that_is_pinned_is_the_one_that_is_known():
    pinned = Path(__file__).parents[3] / "requirements" / "emulator.txt"
    assert f"\nministack=={installing.VERSION} " in f"\n{pinned.read_text()}"


ELSEWHERE = {
    "AWS_PROFILE": "production",
    "AWS_SESSION_TOKEN": "token",
    "AWS_ENDPOINT_URL_LAMBDA": "https://elsewhere.example",
    "AWS_REGION": "eu-west-1",
    "HOME": "/home/me",
}


def test_nothing_in_the_callers_environment_leads_past_it(local_aws):
    turned = merged(ELSEWHERE, local_aws.environment)
    assert turned["HOME"] == "/home/me"
    assert turned["AWS_REGION"] == "us-east-1"
    assert turned["AWS_ENDPOINT_URL"] == local_aws.endpoint
    assert not turned.keys() & {"AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_LAMBDA"}


def test_a_shell_that_evaluates_the_lines_has_the_same_environment(local_aws):
    lines = "\n".join(shell_lines(ELSEWHERE, local_aws.environment))
    told = subprocess.run(
        ["/bin/sh", "-c", f"{lines}\nenv"],
        env=ELSEWHERE,
        capture_output=True,
        text=True,
        check=True,
    )
    seen = dict(line.split("=", 1) for line in told.stdout.splitlines())
    expected = merged(ELSEWHERE, local_aws.environment)
    assert {name: seen.get(name) for name in expected} == expected
    assert not seen.keys() & {"AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_LAMBDA"}


def test_a_cdk_that_is_not_installed_is_told_with_the_remedy(local_aws, monkeypatch, tmp_path):
    monkeypatch.setattr(cdk, "CHECKOUT", tmp_path)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CdkFailed, match="not installed: make setup, or npm ci"):
        Cdk(local_aws, tmp_path, stage="local")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            "echo 'reward-functions: no such stage'; echo 'Subprocess exited'; exit 1",
            "no such stage",
        ),
        ("echo '❌  Stack failed: rate'; echo trace; exit 1", "❌  Stack failed: rate"),
        ("printf '\\033[31mred\\033[39m\\n'; exit 1", "red"),
        ("exit 3", "it printed nothing"),
    ],
)
def test_a_cdk_that_fails_is_told_in_one_line(local_aws, monkeypatch, tmp_path, script, said):
    program = tmp_path / "bin" / "cdk"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with pytest.raises(CdkFailed) as raised:
        Cdk(local_aws, tmp_path, stage="local").deploy()
    assert str(raised.value) == f"cdk deploy failed: {said}"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """An emulator with a training double beside it, which knows one prompt from a file."""
    file = tmp_path_factory.mktemp("data") / "more.jsonl"
    turn = {"role": "user", "content": "What is 1 + 1?"}
    row = {"messages": [turn], "reference_answer": {"final_answer": "2"}}
    file.write_text(f"{json.dumps(row)}\n")
    with running("trained", training=TrainingOptions(data=(file,), step_seconds=0.5)) as aws:
        yield aws


def test_the_training_double_runs_beside_it_and_clients_find_it(trained):
    address = trained.training_endpoint
    assert address.startswith("http://127.0.0.1:")
    assert address != trained.endpoint
    environment = trained.environment
    services = ("BEDROCK", "BEDROCK_RUNTIME", "BEDROCK_MANTLE")
    assert {environment[f"AWS_ENDPOINT_URL_{each}"] for each in services} == {address}
    assert environment["OPENAI_BASE_URL"] == f"{address}/v1"
    assert environment["AWS_ENDPOINT_URL"] == trained.endpoint
    assert trained.client("bedrock").list_custom_models()["modelSummaries"] == []
    assert trained.client("s3").meta.endpoint_url == trained.endpoint


def test_it_answers_the_prompts_of_a_file_and_is_as_slow_as_asked_for(trained):
    answer = trained.client("bedrock-runtime").converse(
        modelId="amazon.nova-2-lite-v1:0",
        messages=[{"role": "user", "content": [{"text": "What is 1 + 1?"}]}],
    )
    assert answer["stopReason"] == "end_turn"
    assert trained.ask_training("GET", "state")["seconds_per_step"] == 0.5


def test_an_emulator_that_runs_without_training_does_not_get_it_later(local_aws):
    with pytest.raises(LocalAwsError, match="without training: reward local down"):
        up("session", training=TrainingOptions())
    with pytest.raises(LocalAwsError, match="runs without --training"):
        local_aws.ask_training("POST", "throttle", operation="Converse")


def test_one_that_runs_with_training_is_found_with_it(trained):
    assert up("trained", training=TrainingOptions()).training_endpoint == trained.training_endpoint
    assert up("trained").training_endpoint == trained.training_endpoint


def test_a_double_that_cannot_read_its_file_is_reported_and_nothing_is_left(tmp_path):
    file = tmp_path / "bad.jsonl"
    file.write_text("{")
    with pytest.raises(LocalAwsError, match="could not be started: bad"):
        up("broken", training=TrainingOptions(data=(file,)))
    assert find("broken") is None
    assert not Folder("broken").path.exists()


def test_a_reset_empties_the_double_too(trained):
    trained.ask_training("POST", "throttle", operation="Converse", times=5)
    trained.reset()
    assert trained.ask_training("GET", "state")["throttled"] == {}


def test_at_last_a_double_that_has_ended_is_reported_to_whoever_asks_for_it(trained):
    trained.record.training.process.end()
    with pytest.raises(LocalAwsError, match=r"training double of .* has ended"):
        up("trained", training=TrainingOptions())
    with pytest.raises(
        LocalAwsError, match=r"has ended, .*: reward local down --name trained, then"
    ):
        trained.ask_training("GET", "ready")
