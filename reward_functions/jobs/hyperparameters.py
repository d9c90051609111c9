"""Every hyperparameter of both APIs: its range, and what others set it to.

Bedrock's types, ranges and choices are read from botocore's model of `CreateModelCustomizationJob`
at each call, so that a newer botocore brings newer ranges. botocore itself checks types and
minimums alone: a batch of 9,999 passes it. The ranges of the OpenAI-compatible API are not
documented; its three hyperparameters have types, and are positive. What others set, `advice` says.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.core.suggest import did_you_mean
from reward_functions.jobs.advice import ADVICE, SILENCE, Advice
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.models import API

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.jobs.job import DriverName, HyperparameterValue

Kind = Literal["integer", "float", "string", "boolean"]

KINDS: Final[dict[str, Kind]] = {
    "integer": "integer",
    "long": "integer",
    "float": "float",
    "double": "float",
    "string": "string",
}
"""Types of botocore's models that a configuration can hold; whatever else comes is left out."""

OF_RECIPES: Final[frozenset[DriverName]] = frozenset({"sagemaker", "agent-rft"})
"""Services whose hyperparameters are no list of the API's: each model's recipe has its own."""

INT32: Final = 2**31 - 1
"""What a whole number of AWS's APIs holds (Smithy's `integer`), where none states a maximum."""

SHOWN: Final = 40
"""Characters of a refused value in a message."""

LONGEST: Final = 80
"""Characters of a choice in a message: a model's name has no more."""

ENOUGH: Final = 12
"""Names in a message."""


SAME: Final = {
    "epochCount": "n_epochs",
    "n_epochs": "epochCount",
    "batchSize": "batch_size",
    "batch_size": "batchSize",
    "learningRate": "learning_rate_multiplier",
    "learning_rate_multiplier": "learningRate",
}
"""What has another name on the other API. The multiplier is of a rate that the service keeps to
itself, so that its values are not those of `learningRate`."""


ELSEWHERE: Final = {
    "lr": ("learningRate", "learning_rate_multiplier", "learning_rate"),
    "learningrate": ("learning_rate",),
    "batchsize": ("global_batch_size",),
    "batch_size": ("global_batch_size",),
    "epochcount": ("max_epochs",),
    "n_epochs": ("max_epochs",),
    "epochs": ("epochCount", "n_epochs", "max_epochs"),
    "num_train_epochs": ("epochCount", "n_epochs", "max_epochs"),
    "group_size": ("trainingSamplePerPrompt", "rollout_n"),
    "num_generations": ("trainingSamplePerPrompt", "rollout_n"),
    "samples": ("trainingSamplePerPrompt", "rollout_n"),
    "trainingsampleperprompt": ("rollout_n",),
    "maxpromptlength": ("max_prompt_length",),
    "max_completion_length": ("inferenceMaxTokens", "max_response_length"),
    "max_new_tokens": ("inferenceMaxTokens",),
    "max_tokens": ("inferenceMaxTokens",),
}
"""Names that other trainers have for the same, such as TRL's `GRPOConfig`."""


WORDS: Final[dict[Kind, str]] = {"string": "a string", "boolean": "true or false"}
"""What kinds without an order may be."""

TYPES: Final[dict[Kind, tuple[type, ...]]] = {
    "integer": (int,),
    "float": (int, float),
    "string": (str,),
    "boolean": (bool,),
}
"""How a configuration holds each kind."""


@dataclass(frozen=True, slots=True)
class Hyperparameter:
    """One hyperparameter of one API.

    Args:
        name: the API's own.
        kind: of its value.
        minimum: the smallest; None where the service states none.
        maximum: the largest; None where the service states none.
        choices: the only values there are; empty where every other rule leaves more.
        advice: what others set.
        default: of a recipe, which is sent where nothing is set; None where there is none.
        required: whether a job must set it, for its recipe has no default.
    """

    name: str
    kind: Kind
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[HyperparameterValue, ...] = ()
    advice: Advice = SILENCE
    default: HyperparameterValue | None = None
    required: bool = False

    @property
    def range(self) -> str:
        """What it may be, in words."""
        if self.choices:
            return f"one of {enumerated([_choice(each) for each in self.choices])}"
        if self.kind in WORDS:
            return WORDS[self.kind]
        noun = "a whole number" if self.kind == "integer" else "a number"
        if self.minimum is not None and self.maximum is not None:
            return f"{noun} from {shown(self.minimum)} to {shown(self.maximum)}"
        if self.minimum is not None:
            return f"{noun} of {shown(self.minimum)} or more"
        if self.maximum is not None:
            return f"{noun} of {shown(self.maximum)} or less"
        least = "of 1 or more" if self.kind == "integer" else "above 0"
        return f"{noun} {least} (AWS states no range)"

    def takes(self, value: Any) -> bool:
        """Whether the API takes a value: of its type, finite, and in its range."""
        of_kind = isinstance(value, TYPES[self.kind])
        if not of_kind or isinstance(value, bool) != (self.kind == "boolean"):
            return False
        if self.choices:
            return value in self.choices
        return self.kind in WORDS or self._within(value)

    def _within(self, value: float) -> bool:
        if self.minimum is None and self.maximum is None:
            return 1 <= value <= INT32 if self.kind == "integer" else 0 < value < inf
        least = -inf if self.minimum is None else self.minimum
        most = inf if self.maximum is None else self.maximum
        return least <= value <= most and -inf < value < inf


def hyperparameters(driver: DriverName) -> dict[str, Hyperparameter]:
    """Every hyperparameter of an API by its name, in the API's own order.

    Bedrock's come from botocore's model, and whatever is new there comes with them.
    """
    if driver in OF_RECIPES:
        return {}
    advice = ADVICE[driver]
    if driver == "openai":
        kinds: dict[str, Kind] = dict.fromkeys(advice, "integer")
        kinds["learning_rate_multiplier"] = "float"
        return {name: Hyperparameter(name, kinds[name], advice=advice[name]) for name in advice}
    return {
        name: Hyperparameter(
            name,
            KINDS[shape.type_name],
            shape.metadata.get("min"),
            shape.metadata.get("max"),
            tuple(shape.metadata.get("enum", ())),
            advice.get(name, SILENCE),
        )
        for name, shape in _request("customizationConfig", "rftConfig", "hyperParameters").items()
        if shape.type_name in KINDS
    }


def check(driver: DriverName, given: Mapping[str, Any]) -> None:
    """Refuse what an API does not know or does not take.

    Args:
        driver: whose hyperparameters they are.
        given: values by name.

    Raises:
        BadJob: one sentence, with the range of the value or the nearest name.
    """
    check_against(hyperparameters(driver), driver, given)


def check_against(
    known: Mapping[str, Hyperparameter], driver: DriverName, given: Mapping[str, Any]
) -> None:
    """Refuse what a table of hyperparameters does not have, or does not take.

    Args:
        known: by name: of an API, or of a recipe.
        driver: whose they are.
        given: values by name.

    Raises:
        BadJob: one sentence, with the range of the value or the nearest name.
    """
    for name, value in given.items():
        if name not in known:
            raise BadJob(_unknown(driver, name, known))
        if not known[name].takes(value):
            raise BadJob(f"{name} is {shown(value)}: it must be {known[name].range}")


def check_uri(field: str, uri: str) -> None:
    """Refuse an address in S3 that Bedrock does not take, by botocore's model of `S3Uri`.

    Raises:
        BadJob: it is too long, or has a character that such an address has not.
    """
    limits = _request("trainingDataConfig")["s3Uri"].metadata
    if len(uri) > limits["max"]:
        raise BadJob(f"{field}: the address has {len(uri):,} characters of {limits['max']:,}")
    if not re.fullmatch(limits["pattern"], uri):
        raise BadJob(
            f"{field}: {uri[:SHOWN]!r} is no address that Bedrock takes: s3://BUCKET/PREFIX, of "
            "letters, digits and ! - _ . * ' ( ) alone"
        )


def enumerated(names: list[str]) -> str:
    """Names with commas between them, as many as a sentence holds; "" for none."""
    more = len(names) - ENOUGH
    return ", ".join(names[:ENOUGH]) + (f" and {more:,} more" if more > 0 else "")


def shown(value: Any) -> str:
    """A value as TOML has it, cut: 5e-05, 64, true, 'high'."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) > INT32:
        return "a number of ten digits or more"
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _choice(value: HyperparameterValue) -> str:
    """A choice as a sentence has it: bare and cut, or quoted where it is empty."""
    if not isinstance(value, str):
        return shown(value)
    return (value if len(value) <= LONGEST else f"{value[:LONGEST]}…") or '""'


def _unknown(driver: DriverName, name: str, known: Mapping[str, Any]) -> str:
    other = SAME.get(name)
    if other in known:
        return f"{name} is called {other} on {API[driver]}"
    if any(name in rows for rows in ADVICE.values()) and driver not in OF_RECIPES:
        return f"{name}: {API[driver]} has no such hyperparameter; it has {', '.join(known)}"
    same = [each for each in ELSEWHERE.get(name.lower(), ()) if each in known]
    if same:
        return f"{API[driver]} has no hyperparameter {name!r}. Did you mean {same[0]!r}?"
    return f"{API[driver]} has no hyperparameter {name[:SHOWN]!r}{did_you_mean(name, known)}"


def _request(*path: str) -> dict[str, Any]:
    """The members of a structure in the request of `CreateModelCustomizationJob`."""
    from botocore.loaders import create_loader  # noqa: PLC0415 - 100 ms
    from botocore.model import ServiceModel  # noqa: PLC0415

    # No session: it would ask for AWS_PROFILE, which a plan without AWS has no need of.
    loader = create_loader(os.environ.get("AWS_DATA_PATH"))
    service = ServiceModel(loader.load_service_model("bedrock", "service-2"), "bedrock")
    shape = service.operation_model("CreateModelCustomizationJob").input_shape
    for name in path:
        shape = shape.members[name]
    return dict(shape.members)
