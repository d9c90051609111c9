"""The hosts that `make adapters` tests our adapters and exporters with: one row a host.

A name leads to pins (`requirements/adapters/NAME.in`, `.txt`) and to tests (`tests/hosts/NAME`).
"""

from typing import NamedTuple

TORCH = "torch==2.13.0"
"""Installed before the pins of a host that needs it, and no part of them: `without-torch.txt`."""


class Host(NamedTuple):
    """A trainer, an evaluation framework or an experiment tracker.

    Args:
        name: of its adapter or tracker, its pins, its environment and its folder of tests.
        shown: the distributions whose versions are printed, the host first.
        torch: whether it needs torch.
        ours: whether our package stands beside it.
    """

    name: str
    shown: tuple[str, ...]
    torch: bool = False
    ours: bool = True


HOSTS = (
    Host("trl", shown=("trl", "transformers", "accelerate", "datasets"), torch=True),
    Host("verl", shown=("verl", "tensordict", "ray", "transformers"), torch=True),
    Host("verifiers", shown=("verifiers", "openai", "pydantic")),
    Host("inspect_ai", shown=("inspect_ai", "anyio", "pydantic")),
    Host("ray", shown=("ray", "pyarrow")),
    Host("dask", shown=("dask", "distributed")),
    Host("mlflow", shown=("mlflow-skinny", "pandas")),
    Host("wandb", shown=("wandb",)),
    Host("tensorboard", shown=("tensorboard",)),
    Host("trackio", shown=("trackio",)),
)

AUDITORS = Host("auditors", shown=("falsepass", "reward-doctor"), ours=False)
"""Two packages that audit rewards, for `make bench`."""
