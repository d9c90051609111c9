"""What several tests share: the labelled data, where it is at hand, and a local AWS emulator."""

import io
import os
import signal
import zipfile
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

from tests.reaper import begin_run, choose_state
from tests.speed import mark

pytest_plugins = [
    "tests.costs",
    "tests.job_fixtures",
    "tests.made_once",
    "tests.parallel",
    "tests.skips",
    "tests.table_rows",
]

RUN = pytest.StashKey()
VERDICTS = pytest.StashKey()
NUMBERS = count()

COMPILED = Path(__file__).parents[1] / "build" / "node-compile-cache"
"""Where Node keeps what it compiled, for the next start and the next run."""

IMPATIENT = Path(__file__).with_name("impatient.cjs")
"""What every start of Node loads first: the CDK's command line waits seconds for AWS."""

SHARED = Path(__file__).parents[2] / "shared" / "data"


def pytest_configure(config):
    """Tie whatever a run starts to it."""
    config.stash[RUN] = begin_run()
    # A fifth of a second is little where a machine is busy, and a slow example is no wrong one.
    settings.register_profile(
        "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("untimed")
    # The CDK's command line compiles megabytes at each start, and jsii beneath it.
    os.environ.setdefault("NODE_COMPILE_CACHE", str(COMPILED))
    os.environ.setdefault("NODE_OPTIONS", f'--require="{IMPATIENT}"')
    # readline sets them behind Python's back, for the workers: tables would be as wide as that.
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)
    folder = TemporaryDirectory(prefix="verdicts-")
    config.stash[VERDICTS] = folder.name
    config.add_cleanup(folder.cleanup)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Each test keeps the verdicts of its judges apart, and none in the home of whoever runs it."""
    os.environ["RFT_VERDICTS"] = f"{item.config.stash[VERDICTS]}/{next(NUMBERS)}.sqlite3"


def pytest_row_begins(item):
    """So does each row of a table."""
    pytest_runtest_setup(item)


def pytest_copy_begins(config, number):
    """Each process of a parallel run has emulators and verdicts of its own."""
    config.stash[RUN].close()
    choose_state(f"worker-{number}")
    config.stash[VERDICTS] += f"/{number}"


def pytest_collection_modifyitems(items):
    """Name what takes long."""
    mark(items)


@pytest.fixture(scope="session", autouse=True)
def _interruptible():
    """A shell that starts tests in the background lets what they start ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def shared():
    """The folder of labelled data beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("the labelled data in ../shared/data is not at hand")
    return SHARED


@pytest.fixture(scope="session")
def local_aws():
    """One local AWS emulator for the whole run; whoever uses it names what it makes by itself."""
    with _emulator("session") as aws:
        yield aws


@pytest.fixture(scope="session")
def enforcing_aws():
    """Another one, which checks signatures and permissions, over TLS; a script judges there."""
    from reward_functions.local.scripted_judge import scripted_judge

    with scripted_judge() as models, _emulator("enforcing", enforce=True, models=models) as aws:
        yield aws


@pytest.fixture(scope="session")
def function_zip():
    """The zip of a function's one module, `function`; equal sources make equal ones."""

    def made(source):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr(zipfile.ZipInfo("function.py"), source)
        return packed.getvalue()

    return made


@pytest.fixture(scope="session")
def deployed_function(local_aws, function_zip):
    """Put the source of a function, with its `handler`, onto the emulator; returns its ARN."""
    numbers = count()

    def deployed(source, name=None, **settings):
        return local_aws.client("lambda").create_function(
            FunctionName=name or f"SageMaker-test-{next(numbers)}",
            Runtime="python3.13",
            Role="arn:aws:iam::000000000000:role/any",
            Handler="function.handler",
            Code={"ZipFile": function_zip(source)},
            **{"Timeout": 60, "MemorySize": 1769} | settings,
        )["FunctionArn"]

    return deployed


@pytest.fixture(scope="session")
def root_session(local_aws):
    """boto3's, as the emulator's root; its clients go where the environment says."""
    import boto3

    needed = local_aws.environment
    return boto3.Session(
        aws_access_key_id=needed["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=needed["AWS_SECRET_ACCESS_KEY"],
        region_name=needed["AWS_REGION"],
    )


@pytest.fixture
def stage(local_aws, root_session, deployed_function, monkeypatch):
    """A stage of its own on the emulator, which the environment points at."""
    from tests.deployed_stage import NUMBERS, StageOnEmulator

    for name, value in local_aws.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("reward_functions.aws.calls.ATTEMPTS", 1)
    return StageOnEmulator(root_session, deployed_function, f"stage{next(NUMBERS)}")


@pytest.fixture
def planes(stage, monkeypatch):
    """Training jobs of Bedrock and SageMaker beside that stage."""
    from tests.control_planes import control_planes

    with control_planes() as served:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK", served.address)
        monkeypatch.setenv("AWS_ENDPOINT_URL_SAGEMAKER", served.address)
        yield served


@contextmanager
def _emulator(name, **options):
    from reward_functions.local.emulator import up
    from reward_functions.local.emulator.emulator import lifeline
    from reward_functions.local.emulator.installing import EmulatorMissing
    from tests.costs import EMULATORS, beside

    with lifeline() as line:
        try:
            aws = up(name, line=line, **options)
        except EmulatorMissing as error:
            pytest.skip(str(error))
        yield aws
        # Its files, a hundred thousand after a deployment, are left to the reaper: nobody waits.
        with beside(EMULATORS):
            aws.record.process.end()
