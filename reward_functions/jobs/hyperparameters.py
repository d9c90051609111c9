"""The hyperparameters of every service, a row for each: its range, and what others set it to.

    service     its rows                                   their ranges
    bedrock     `TABLE`, and what botocore knows beside    botocore's model, read at each call
    openai      `TABLE`                                    not documented: types, and positive
    sagemaker   of each model's recipe (`recipes`)         the recipe's
    agent-rft   `TABLE`                                    the developer guide's

A newer botocore brings newer ranges. botocore itself checks types and minimums alone: a batch of
9,999 passes it. A multi-turn job takes its values as strings, and its schema need not say their
ranges, so that a value out of range would be found out by a job that has started. One that the
guide does not know goes to the service as it is: the live schema decides.

`hyperparameters.toml` says which others set, and whose rows they are.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import TypeAdapter

from reward_functions.aws.request_validation import service_model
from reward_functions.core.suggest import did_you_mean
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.models import API
from reward_functions.jobs.services import SERVICES, DriverName, HyperparameterValue

if TYPE_CHECKING:
    from collections.abc import Mapping


Kind = Literal["integer", "float", "string", "boolean"]

KINDS: Final[dict[str, Kind]] = {
    "integer": "integer",
    "int": "integer",
    "long": "integer",
    "float": "float",
    "double": "float",
    "number": "float",
    "string": "string",
    "str": "string",
}
"""Types of botocore's models and of recipes that a configuration can hold."""

INT32: Final = 2**31 - 1
"""What a whole number of AWS's APIs holds (Smithy's `integer`), where none states a maximum."""

SHOWN: Final = 40
"""Characters of a refused value in a message."""

LONGEST: Final = 80
"""Characters of a choice in a message: a model's name has no more."""

ENOUGH: Final = 12
"""Names in a message."""

MOST: Final = 100
"""Hyperparameters of a job of SageMaker's (botocore: `HyperParameters`)."""

MAX_VALUE: Final = 2_500
"""Characters of one of its values."""

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
    """One hyperparameter of one service.

    Args:
        name: the service's own.
        kind: of its value.
        minimum: the smallest; None where the service states none.
        maximum: the largest; None where the service states none.
        choices: the only values there are; empty where every other rule leaves more.
        default: what the job has where nothing is set; None where nobody documents it.
        required: whether a job must set it, for its recipe has no default.
        service: the default that AWS's guide states, as advice.
        sdk: what AWS's SDK sets.
        samples: what AWS's samples set.
        recommended: what this project recommends; None where it depends on the data.
        why: the reason, with its source.
        role: what a plan counts it as; "" for nothing.
        within: the objects of a recipe of Nova in which it stands.
        places: whose recipes of Nova have it.
    """

    name: str
    kind: Kind = "integer"
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[HyperparameterValue, ...] = ()
    default: HyperparameterValue | None = None
    required: bool = False
    service: HyperparameterValue | None = None
    sdk: HyperparameterValue | None = None
    samples: tuple[HyperparameterValue, ...] = ()
    recommended: HyperparameterValue | None = None
    why: str = ""
    role: str = ""
    within: tuple[str, ...] = ()
    places: tuple[str, ...] = ("training-job", "hyperpod")

    @property
    def range(self) -> str:
        """The range of its values, in words."""
        if self.choices:
            return f"one of {enumerated([_choice(each) for each in self.choices])}"
        if self.kind in WORDS:
            return WORDS[self.kind]
        noun = "a whole number" if self.kind == "integer" else "a number"
        whole = self.kind == "integer"  # a hub writes 2.0 for it
        ends = (self.minimum, self.maximum)
        low, high = ("" if each is None else shown(int(each) if whole else each) for each in ends)
        if low and high:
            return f"{noun} from {low} to {high}"
        if low or high:
            return f"{noun} of {low} or more" if low else f"{noun} of {high} or less"
        least = "of 1 or more" if self.kind == "integer" else "above 0"
        return f"{noun} {least} (AWS states no range)"

    def takes(self, value: Any) -> bool:
        """Whether the service takes a value: of its type, finite, and in its range."""
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

    def problem(self, text: str) -> str:
        """The fault of a value that is sent as a string; "" for a good one."""
        if self.choices:
            listed = ", ".join(map(str, self.choices))
            return "" if text in self.choices else f"is none of {listed}"
        try:
            number = float(text)
        except ValueError:
            number = inf
        whole = self.kind == "integer"
        if not isfinite(number) or (whole and number % 1):
            return f"is no {'whole ' if whole else ''}number"
        if self.minimum is not None and number < self.minimum:
            return f"is below {self.minimum:g}"
        if self.maximum is not None and number > self.maximum:
            return f"is above {self.maximum:g}"
        return "" if self._within(number) else f"is not {self.range.removeprefix('a number ')}"


def _table() -> dict[str, dict[str, Hyperparameter]]:
    """Every row, by its service and its name.

    Raises:
        LookupError: a service has no rows.
    """
    found = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    for name in SERVICES.keys() - found.keys():
        raise LookupError(
            f"jobs/hyperparameters.toml has no [[{name}]] for the service {name!r} of "
            f"jobs/services.toml: write its rows there, or {name} = [] at the top for none"
        )
    return {
        of: {each["name"]: _ROW.validate_python(each) for each in rows}
        for of, rows in found.items()
    }


_ROW: Final = TypeAdapter(Hyperparameter)

TABLE: Final = _table()
"""By the name of a driver; "nova" for the recipes of Nova."""

AGENT: Final = TABLE["agent-rft"]


def hyperparameters(driver: DriverName) -> dict[str, Hyperparameter]:
    """Every hyperparameter of a service by its name; empty where each recipe has its own.

    Bedrock's come from botocore's model, with all that is new there.
    """
    known, ranges = TABLE[driver], SERVICES[driver].ranges
    if ranges != "botocore":
        return known if ranges == "table" else {}
    return {
        name: replace(
            known.get(name, Hyperparameter(name)),
            kind=KINDS[shape.type_name],
            minimum=shape.metadata.get("min"),
            maximum=shape.metadata.get("max"),
            choices=tuple(shape.metadata.get("enum", ())),
        )
        for name, shape in _request("customizationConfig", "rftConfig", "hyperParameters").items()
        if shape.type_name in KINDS
    }


def check(
    driver: DriverName,
    given: Mapping[str, Any],
    known: Mapping[str, Hyperparameter] | None = None,
) -> None:
    """Refuse what a service does not know or does not take.

    Args:
        driver: whose hyperparameters they are.
        given: values by name.
        known: of a recipe; the service's own where not given.

    Raises:
        BadJob: one sentence, with the range of the value or the nearest name.
    """
    known = hyperparameters(driver) if known is None else known
    for name, value in given.items():
        if name not in known:
            raise BadJob(_unknown(driver, name, known))
        if not known[name].takes(value):
            raise BadJob(f"{name} is {shown(value)}: it must be {known[name].range}")


def _plain(name: str) -> str:
    """A name by its letters alone: `groupSize` is one that was meant, and not a newer one."""
    return name.replace("_", "").replace("-", "").lower()


def written(given: Mapping[str, HyperparameterValue]) -> dict[str, str]:
    """Hyperparameters of a multi-turn job as its document has them: strings, the given alone.

    Raises:
        BadJob: one is out of the range that the guide documents, is a known name in another
            spelling, or is no number or text of at most 2,500 characters.
    """
    if len(given) > MOST:
        raise BadJob(f"hyperparameters: {len(given)} are more than the {MOST} that a job takes")
    return {name: _written(name, value) for name, value in given.items()}


def _written(name: str, value: HyperparameterValue) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise BadJob(f"hyperparameters: {name} is no number and no text")
    meant = next((each for each in AGENT if _plain(each) == _plain(name)), name)
    if meant != name:
        raise BadJob(f"hyperparameters: {name} is written {meant} in multi-turn jobs")
    text = f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value)
    if len(text) > MAX_VALUE:
        raise BadJob(f"hyperparameters: {name} has {len(text):,} characters; {MAX_VALUE:,} at most")
    if name in AGENT and (problem := AGENT[name].problem(text)):
        raise BadJob(f"hyperparameters: {name} = {text[:SHOWN]} {problem}")
    return text


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
    others = [TABLE[each] for each, service in SERVICES.items() if not service.packages]
    if not SERVICES[driver].packages and any(name in each for each in others):
        return f"{name}: {API[driver]} has no such hyperparameter; it has {', '.join(known)}"
    same = [each for each in ELSEWHERE.get(name.lower(), ()) if each in known]
    if same:
        return f"{API[driver]} has no hyperparameter {name!r}. Did you mean {same[0]!r}?"
    return f"{API[driver]} has no hyperparameter {name[:SHOWN]!r}{did_you_mean(name, known)}"


def _request(*path: str) -> dict[str, Any]:
    """The members of a structure in the request of `CreateModelCustomizationJob`."""
    shape = service_model("bedrock").operation_model("CreateModelCustomizationJob").input_shape
    for name in path:
        shape = shape.members[name]
    return dict(shape.members)
