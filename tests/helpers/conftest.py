"""An embedded AWS for the whole run, and functions to deploy to it."""

from __future__ import annotations

import io
import zipfile
from itertools import count

import pytest


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
