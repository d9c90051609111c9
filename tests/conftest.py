"""What several tests share: the labelled data, where it is at hand, and an embedded AWS."""

import io
import signal
import zipfile
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session", autouse=True)
def _interruptible():
    """A shell that starts tests in the background lets them, and what they start, ignore Ctrl-C.

    A run that is ended from outside (a time limit) ends as by Ctrl-C, and takes what it started
    with it: the embedded AWS is in a session of its own and would stay.
    """
    ways = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(way, signal.default_int_handler) for way in ways]
    yield
    for way, handler in zip(ways, before, strict=True):
        signal.signal(way, handler)


@pytest.fixture(scope="session")
def shared():
    """The folder of labelled data beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("the labelled data in ../shared/data is not at hand")
    return SHARED


@pytest.fixture(scope="session")
def _state_of_its_own(tmp_path_factory):
    """No emulator of the tests is found by the user's commands, nor the user's by the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def local_aws(_state_of_its_own):
    """One embedded AWS for the whole run; whoever uses it names what it makes by itself."""
    with _emulator("session") as aws:
        yield aws


@pytest.fixture(scope="session")
def enforcing_aws(_state_of_its_own):
    """Another one, which checks signatures and permissions, over TLS; a script judges there."""
    from reward_functions.tools.scripted_judge import scripted_judge

    with scripted_judge() as models, _emulator("enforcing", enforce=True, models=models) as aws:
        yield aws


@pytest.fixture(scope="session")
def function_zip():
    """The zip of a function's one module, `function`."""

    def made(source):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("function.py", source)
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


@contextmanager
def _emulator(name, **options):
    from reward_functions.tools.local_aws import running
    from reward_functions.tools.local_aws.interpreter import EmulatorMissing

    try:
        started = running(name, **options)
        aws = started.__enter__()
    except EmulatorMissing as error:
        pytest.skip(str(error))
    try:
        yield aws
    finally:
        started.__exit__(None, None, None)
