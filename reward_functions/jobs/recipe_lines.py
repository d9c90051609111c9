"""Lines for a recipe of Nova's: training jobs of SageMaker, and HyperPod, with our reward in them.

    run.reward_lambda_arn                                                  the function
    training_config.rollout.rewards.api_endpoint.lambda_arn                the same
    training_config.rollout.rewards.api_endpoint.lambda_concurrency_limit  invocations at a time

What the recipe's own names below [hyperparameters] say stands at their places; the rest of a recipe
stays as AWS has it. A function that cannot take what the recipe's workers ask at once is refused:
a throttled reward ends such a job. `global_batch_size` counts responses there, and not prompts.

Sources: `recipes_collection/recipes/fine-tuning/nova/nova_2_0/nova_lite/RFT` of
sagemaker-hyperpod-recipes for names, places and defaults; AWS's guide to customizing Nova,
"nova-hp-rft-reward-functions", for 64 requests of each rollout worker, the name of the function and
the VPC endpoint.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from reward_functions.core.suggest import did_you_mean
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.fields import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.aws.arn import FunctionArn
    from reward_functions.jobs.account import AccountLimits
    from reward_functions.jobs.job import HyperparameterValue

RecipeFor = Literal["training-job", "hyperpod"]

LIMIT: Final[dict[RecipeFor, int]] = {"training-job": 12, "hyperpod": 100}
"""`lambda_concurrency_limit` of AWS's own recipes."""

OF_A_WORKER: Final = 64
"""Requests at a time of one rollout worker on HyperPod."""

IN_THE_NAME: Final = "SageMaker"
"""What a function's name holds that HyperPod may invoke, in this case."""

ENDPOINT: Final = ("training_config", "rollout", "rewards", "api_endpoint")
EFFORTS: Final = ("low", "high")

MOST: Final = 1_000_000


class Setting(NamedTuple):
    """A name of a recipe that may stand below [hyperparameters].

    Args:
        name: its own.
        within: where it stands.
        whole: whether it takes no fraction.
        least: for numbers.
        most: for numbers.
        places: whose recipes have it.
    """

    name: str
    within: tuple[str, ...]
    whole: bool = True
    least: float = 1
    most: float = MOST
    places: tuple[RecipeFor, ...] = ("training-job", "hyperpod")


_TRAINER: Final = ("training_config", "trainer")
_GENERATOR: Final = ("training_config", "rollout", "generator")

SETTINGS: Final = (
    Setting("replicas", ("run",)),
    Setting("generation_replicas", ("run",), places=("hyperpod",)),
    Setting("rollout_worker_replicas", ("run",), places=("hyperpod",)),
    Setting("max_length", ("training_config",)),
    Setting("global_batch_size", ("training_config",)),
    Setting("reasoning_effort", ("training_config",)),
    Setting("number_generation", ("training_config", "rollout", "advantage_strategy"), least=2),
    Setting("max_new_tokens", _GENERATOR),
    Setting("temperature", _GENERATOR, whole=False, least=0, most=2),
    Setting("top_k", _GENERATOR, least=0),
    Setting("lambda_concurrency_limit", ENDPOINT),
    Setting("max_steps", _TRAINER),
    Setting("save_steps", _TRAINER),
    Setting("kl_loss_coef", _TRAINER, whole=False, least=0, places=("training-job",)),
    Setting("ent_coeff", _TRAINER, whole=False, least=0),
    Setting("lr", (*_TRAINER, "optim_config"), whole=False, least=0, most=1),
    Setting("weight_decay", (*_TRAINER, "optim_config"), whole=False, least=0, most=1),
)
"""In the order of the recipes."""


@dataclass(frozen=True, slots=True)
class RecipeLines:
    """What goes into a recipe.

    Args:
        values: by name, objects within objects.
        warnings: what AWS's documents leave open, in sentences.
        notes: what is to be known of the lines, as their comments.
    """

    values: Mapping[str, Any]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    def yaml(self) -> str:
        """The lines, with their notes before them."""
        notes = [f"# {line}" for line in self.notes]
        return "\n".join([*notes, *_yaml(self.values)]) + "\n"


def recipe_lines(
    place: RecipeFor,
    model: str,
    grader: FunctionArn,
    given: Mapping[str, HyperparameterValue],
    limits: AccountLimits,
) -> RecipeLines:
    """The lines of a job.

    Args:
        place: whose recipe they go into.
        model: the base, by its id.
        grader: the function, of a version or of an immutable deployment.
        given: settings by the recipe's own names.
        limits: what the account allows the function.

    Raises:
        BadJob: the model is none of Nova's, a setting is unknown or out of its range, HyperPod may
            not invoke the function, or it may not run as often at a time as it would be asked.
    """
    if "nova" not in model.lower():
        raise BadJob(
            f"model: {model!r} is none of Nova's, and these recipes are: train open weights with "
            'driver = "sagemaker"'
        )
    for name, value in given.items():
        _require(place, name, value)
    _require_name(place, grader)
    workers = int(given.get("rollout_worker_replicas", 1))
    asked = workers * OF_A_WORKER if place == "hyperpod" else 0
    limit = int(given.get("lambda_concurrency_limit", max(LIMIT[place], asked)))
    if limit < asked:
        raise BadJob(
            f"lambda_concurrency_limit: {limit} is less than the {asked} requests at a time of "
            f"{workers} rollout workers, {OF_A_WORKER} each: raise it, or leave it out"
        )
    _require_concurrency(grader, limit, limits)
    arn = str(grader)
    values: dict[str, Any] = {"run": {"model_type": model, "reward_lambda_arn": arn}}
    _put(values, (*ENDPOINT, "lambda_arn"), arn)
    everything = {**given, "lambda_concurrency_limit": limit}
    for setting in SETTINGS:
        if setting.name in everything:
            value = everything[setting.name]
            _put(values, (*setting.within, setting.name), value)
    return RecipeLines(
        values, tuple(_warnings(grader, limits)), tuple(_notes(place, given, grader))
    )


def _require(place: RecipeFor, name: str, value: HyperparameterValue) -> None:
    """Refuse a setting that the recipe does not have, or whose value is none."""
    setting = next((each for each in SETTINGS if each.name == name), None)
    if setting is None:
        hint = did_you_mean(name, {each.name for each in SETTINGS if place in each.places})
        raise BadJob(f"hyperparameters: {name[:80]!r} is no setting of these recipes{hint}")
    if place not in setting.places:
        raise BadJob(f"{name}: recipes of a {place} have no such setting: leave it out")
    if name == "reasoning_effort":
        if value not in EFFORTS:
            raise BadJob(
                f"reasoning_effort: {value!r}; these recipes take low or high, and none where it "
                "is left out (medium is Bedrock's)"
            )
        return
    found = number(value)
    whole = found is not None and found == int(found)
    if (
        found is None
        or not setting.least <= found <= setting.most
        or (setting.whole and not (whole and isinstance(value, int)))
    ):
        kind = "whole number" if setting.whole else "number"
        raise BadJob(f"{name}: {value!r} is no {kind} from {setting.least:g} to {setting.most:g}")


def _require_name(place: RecipeFor, grader: FunctionArn) -> None:
    if place == "hyperpod" and (IN_THE_NAME not in grader.name or grader.partition != "aws"):
        raise BadJob(
            f"HyperPod invokes functions of arn:aws:lambda:*:*:function:*{IN_THE_NAME}* alone, and "
            f"not {grader}: deploy the reward by this project, which names it so"
        )


def _require_concurrency(grader: FunctionArn, limit: int, limits: AccountLimits) -> None:
    """Refuse a function that may not run as often at a time as the recipe asks it."""
    available = limits.available
    if available is not None and available < limit:
        reserved = limits.reserved is not None
        how = (
            "raise `reserved_concurrency` of the deployment in cdk.json"
            if reserved
            else "ask for more concurrent executions in Service Quotas"
        )
        raise BadJob(
            f"{grader.name} may run {available} at a time, and the recipe asks for {limit}: {how}, "
            "or lower lambda_concurrency_limit and the rollout workers"
        )


def _warnings(grader: FunctionArn, limits: AccountLimits) -> Iterator[str]:
    if IN_THE_NAME not in grader.name:
        yield (
            f"{grader.name} has no {IN_THE_NAME} in its name: AWS's stock policies do not let a "
            "job invoke it"
        )
    if grader.qualifier is not None:
        yield (
            f"whether a trainer takes the version :{grader.qualifier} behind a function's ARN is "
            "documented nowhere, and AWS's Python SDK takes none: an immutable deployment has a "
            'plain ARN ("immutable": true in cdk.json)'
        )
    if limits.available is None:
        yield (
            "how often the function may run at a time was not measured: "
            + "; ".join(limits.unmeasured)
        )


def _notes(
    place: RecipeFor, given: Mapping[str, HyperparameterValue], grader: FunctionArn
) -> Iterator[str]:
    yield "Merge these lines into AWS's recipe; what it has beside them stays."
    yield f"The job's role needs lambda:InvokeFunction on {grader}."
    if place == "hyperpod":
        yield "The cluster's VPC needs an interface endpoint of Lambda."
    batch, each = given.get("global_batch_size"), given.get("number_generation")
    if isinstance(batch, int):
        prompts = (
            f": {batch} / {each} = {batch / each:g} prompts a step" if isinstance(each, int) else ""
        )
        yield f"global_batch_size counts responses, and not prompts{prompts}."
    yield "The simulation and the emulator run no such recipe; AWS never ran these lines."


def _put(values: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    *within, name = path
    for each in within:
        values = values.setdefault(each, {})
    values[name] = value


def _yaml(values: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Objects and scalars; a string as JSON has it is YAML too."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield f"{indent}{name}:"
            yield from _yaml(value, f"{indent}  ")
        else:
            yield f"{indent}{name}: {_scalar(value)}"


def _scalar(value: Any) -> str:
    """A number of YAML 1.1 has a point before its exponent: 7e-07 is a string there."""
    written = json.dumps(value)
    if isinstance(value, float) and "e" in written and "." not in written:
        written = written.replace("e", ".0e")
    return written
