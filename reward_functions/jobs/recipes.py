"""Recipes: of SageMaker's serverless jobs, and lines for Nova's own.

    DescribeHubContent    → RecipeCollection: a recipe for each technique, size and kind of training
    GetObject             → the recipe's hyperparameters {name: {type, default, min, max, enum, …}}

No list of models stands here: a model can be trained where it has a recipe. Sources: botocore's
model of SageMaker; the documents as AWS's sagemaker-train 1.27.0 reads them (`finetune_utils.py`).

Training jobs of SageMaker and HyperPod take a file with our reward in it (`recipe_lines`):

    run.reward_lambda_arn                                                  the function
    training_config.rollout.rewards.api_endpoint.lambda_arn                the same
    training_config.rollout.rewards.api_endpoint.lambda_concurrency_limit  invocations at a time

The recipe's own names below [hyperparameters] stand at their places; the rest of a recipe stays as
AWS has it. A function that cannot take what the recipe's workers ask at once is refused: a
throttled reward ends such a job. `global_batch_size` counts responses there, and not prompts.

Sources: `recipes_collection/recipes/fine-tuning/nova/nova_2_0/nova_lite/RFT` of
sagemaker-hyperpod-recipes for names, places and defaults; AWS's guide to customizing Nova,
"nova-hp-rft-reward-functions", for 64 requests of each rollout worker, the name of the function and
the VPC endpoint.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.aws.calls import answer, pages
from reward_functions.aws.failures import AwsFailed
from reward_functions.aws.s3 import read_object
from reward_functions.core.suggest import did_you_mean
from reward_functions.jobs.clients import client
from reward_functions.jobs.configuration import BadJob, Serverless
from reward_functions.jobs.hyperparameters import (
    KINDS,
    MAX_VALUE,
    MOST,
    TABLE,
    TYPES,
    Hyperparameter,
    check,
    enumerated,
    shown,
)
from reward_functions.jobs.models import hub_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from boto3.session import Session

    from reward_functions.aws.arn import FunctionArn
    from reward_functions.jobs.grader import AccountLimits
    from reward_functions.jobs.hyperparameters import Kind
    from reward_functions.jobs.job import HyperparameterValue
    from reward_functions.serving.contract import ResponseMode


PUBLIC: Final = "SageMakerPublicHub"

SUMMARIES: Final = "HubContentSummaries"

PAGE: Final = 100


def contents_of_hub(client: Any, hub: str, kind: str) -> Iterator[dict[str, Any]]:
    """Every content of a kind, its newest version alone.

    Args:
        client: of SageMaker.
        hub: its name.
        kind: of content, such as "Model" or "JsonDoc".

    Raises:
        AwsFailed: the hub cannot be asked, or is not there.
    """
    yield from pages(
        f"listing the hub {hub}",
        client.list_hub_contents,
        SUMMARIES,
        marker="NextToken",
        HubName=hub,
        HubContentType=kind,
        MaxResults=PAGE,
    )


CHARACTERS: Final = re.compile(r"[a-zA-Z0-9/_.:,\- '\"\[\]]*")
"""Those of a value, which AWS's own client keeps to."""

LENGTH: Final = re.compile(r"([1-9][0-9]{0,5})K")

OWN: Final = frozenset(
    {
        *("data_s3_path", "data_path", "validation_data_path", "output_path"),
        "reward_lambda_arn",
    }
)
"""Hyperparameters that the service fills in from the rest of the request."""

PRESET: Final = "preset_reward_function"
JUDGE: Final = "judge_model_id"
PROMPT: Final = "judge_prompt_template"

ELSEWHERE: Final = {
    PRESET: "preset_reward",
    JUDGE: "judge",
    PROMPT: "judge_prompt",
}
"""Hyperparameters that a field below `[sagemaker]` sets."""

S3: Final = re.compile(
    r"s3://(?P<bucket>arn:aws[a-z-]*:s3:[a-z0-9-]+:[0-9]{12}:accesspoint/[a-z0-9-]+|[^/:]+)"
    r"/(?P<key>.+)"
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The fields that a job of one model, technique, length and kind of training takes.

    Args:
        model: the model's name in the hub.
        name: the recipe's own; "" where it has none.
        sequence_length: such as "8K": tokens of prompt and answer; "" where the recipe says none.
        gated: whether the model has a licence to accept.
        nova: whether it is one of Amazon's Nova models, whose rows and replies have another form.
        hyperparameters: by name, in the recipe's order, without those that the service fills in.
    """

    model: str
    name: str
    sequence_length: str
    gated: bool
    nova: bool
    hyperparameters: Mapping[str, Hyperparameter]

    @property
    def response_mode(self) -> ResponseMode:
        """How a reward function must answer."""
        return "list" if self.nova else "envelope"

    @property
    def rows(self) -> str:
        """The shape of rows, as `data convert --to` names it."""
        return "bedrock" if self.nova else "sagemaker"

    def values(
        self, given: Mapping[str, HyperparameterValue], chosen: Serverless
    ) -> dict[str, str]:
        """Every hyperparameter as a job is sent it: the recipe's defaults, and over them those set.

        Args:
            given: by the recipe's own names.
            chosen: what was written below `[sagemaker]`.

        Raises:
            BadJob: one is unknown, out of its range, too long or missing; or prompt and answer
                together are longer than the recipe's sequence.
        """
        for name in given:
            if name in OWN:
                raise BadJob(f"{name}: the job fills this in itself; leave it out")
            if name in ELSEWHERE:
                raise BadJob(f"{name}: write {ELSEWHERE[name]} = … below [sagemaker] in its place")
        known = {name: each for name, each in self.hyperparameters.items() if name not in ELSEWHERE}
        check("sagemaker", given, known)
        defaults = {name: each.default for name, each in known.items() if each.default is not None}
        merged = {**defaults, **given, **self._rewards(chosen)}
        for name, each in known.items():
            if each.required and name not in merged:
                raise BadJob(f"{name} is missing: the recipe has no default; it is {each.range}")
        self._check_length(merged)
        if len(merged) > MOST:
            raise BadJob(
                f"hyperparameters: {len(merged)} with the recipe's own, and a job takes {MOST}"
            )
        return {name: _sent(name, value) for name, value in merged.items()}

    def _rewards(self, chosen: Serverless) -> dict[str, HyperparameterValue]:
        """The hyperparameters that say who grades, where that is the service itself."""
        wanted: dict[str, tuple[str, str]] = {}
        if chosen.preset_reward is not None:
            wanted[PRESET] = ("preset_reward", chosen.preset_reward)
        if chosen.judge is not None:
            wanted[JUDGE] = ("judge", f"bedrock/{chosen.judge.removeprefix('bedrock/')}")
        if chosen.judge_prompt is not None and not chosen.judge_prompt.startswith("arn:"):
            wanted[PROMPT] = ("judge_prompt", self._template(chosen.judge_prompt))
        for name, (field, value) in wanted.items():
            known = self.hyperparameters.get(name)
            if known is None:
                raise BadJob(
                    f"sagemaker.{field}: the recipe of {self.model} has no {name}; name another "
                    "model, or leave it out"
                )
            if not value or not known.takes(value):
                bare = [str(each).removeprefix("bedrock/") for each in known.choices if each]
                raise BadJob(
                    f"sagemaker.{field} is {shown(getattr(chosen, field))}: the recipe of "
                    f"{self.model} has {enumerated(bare) or 'none'}"
                )
        return {name: value for name, (_, value) in wanted.items()}

    def _template(self, typed: str) -> str:
        """A template as the recipe writes it: people leave out its folder and its suffix."""
        known = self.hyperparameters.get(PROMPT)
        same = [
            str(each) for each in (known.choices if known else ()) if _bare(each) == _bare(typed)
        ]
        return same[0] if same else typed

    def _check_length(self, merged: Mapping[str, HyperparameterValue]) -> None:
        most = tokens(self.sequence_length)
        prompt, response = merged.get("max_prompt_length"), merged.get("max_response_length")
        if most and isinstance(prompt, int) and isinstance(response, int):
            together = prompt + response
            if together > most:
                raise BadJob(
                    f"max_prompt_length is {prompt:,} and max_response_length is {response:,}: "
                    f"together {together:,}, and the recipe takes {most:,}; lower one of them, or "
                    "choose a longer sagemaker.sequence_length"
                )


def recipe_of(
    model: str, chosen: Serverless, region: str, account: str, session: Session | None = None
) -> Recipe:
    """The recipe of a model for what was asked.

    Args:
        model: its name in SageMaker's public hub, or its ARN there.
        chosen: technique, length, and whether adapters are trained.
        region: of the job.
        account: of the job, in whose name some recipes are read.
        session: boto3's; the caller's own where not given.

    Raises:
        BadJob: the hub has no such model, or the model no such recipe: the message says which.
        AwsFailed: the hub cannot be asked, or what it answers cannot be read.
    """
    named = hub_model(model)
    name, version = (named["name"], named["version"]) if named else (model, "")
    document = _document(name, version, client("sagemaker", region, session))
    trained = [
        each for each in document.get("RecipeCollection", ()) if each.get("SmtjRecipeTemplateS3Uri")
    ]
    entry = _chosen(name, trained, chosen)
    address = entry.get("SmtjOverrideParamsS3Uri", "").replace("{customer_id}", account)
    options = _options(name, address, client("s3", region, session)) if address else {}
    found = hyperparameters_of(options)
    return Recipe(
        model=name,
        name=entry.get("Name") or entry.get("DisplayName") or "",
        sequence_length=_length(entry),
        gated=bool(document.get("GatedBucket")),
        nova="nova" in name.lower(),
        hyperparameters={key: each for key, each in found.items() if key not in OWN},
    )


def tokens(sequence_length: str | None) -> int:
    """The tokens of a length such as "8K"; 0 for anything else."""
    found = LENGTH.fullmatch(sequence_length or "")
    return int(found[1]) * 1024 if found else 0


def _document(name: str, version: str, hub: Any) -> dict[str, Any]:
    """What the hub says of a model.

    Raises:
        BadJob: there is none of this name.
    """
    what = f"reading {name} in SageMaker's hub"
    wanted: dict[str, Any] = {"HubContentVersion": version} if version else {}
    try:
        found = answer(
            what,
            hub.describe_hub_content,
            HubName=PUBLIC,
            HubContentType="Model",
            HubContentName=name,
            **wanted,
        )
    except AwsFailed as error:
        if not error.missing:
            raise
        raise BadJob(_unknown(name, version, hub)) from None
    return _object(found["HubContentDocument"], what)


def _unknown(name: str, version: str, hub: Any) -> str:
    """The sentence for a model that is not there, with the nearest name that is."""
    try:
        names = {each["HubContentName"] for each in contents_of_hub(hub, PUBLIC, "Model")}
    except AwsFailed:
        names = set()
    if version and name in names:
        return f"model: SageMaker's hub has {name}, and no version {version} of it; leave it out"
    hint = did_you_mean(name, names).rstrip("?")
    closed = "?" if hint.startswith(".") else ";"
    return (
        f"model: SageMaker's hub has no {name!r} in this region{hint}{closed} `aws sagemaker "
        f"list-hub-contents --hub-name {PUBLIC} --hub-content-type Model` lists them"
    )


def _chosen(name: str, recipes: list[dict[str, Any]], chosen: Serverless) -> dict[str, Any]:
    """The recipe for what was asked; where several fit, the shortest, subscriptions last.

    Raises:
        BadJob: there is none; the message says what there is.
    """
    if not recipes:
        raise BadJob(f"model: {name} has no recipe for serverless training: name another model")
    technique = [each for each in recipes if each.get("CustomizationTechnique") == chosen.technique]
    if not technique:
        raise BadJob(
            f"sagemaker.technique: {name} has no recipe for {chosen.technique}; it has those for "
            f"{_listed(each.get('CustomizationTechnique') for each in recipes)}"
        )
    kind = [each for each in technique if bool(each.get("Peft")) == (chosen.peft == "LORA")]
    if not kind:
        has = _listed("LORA" if each.get("Peft") else "FULL" for each in technique)
        raise BadJob(
            f"sagemaker.peft: {name} has no recipe of {chosen.technique} for {chosen.peft}; it has "
            f"those for {has}"
        )
    wanted = chosen.sequence_length
    if wanted is not None and not tokens(wanted):
        raise BadJob(
            f"sagemaker.sequence_length is {shown(wanted)}: write a number of 1,024 tokens, such "
            'as "8K"'
        )
    fitting = [each for each in kind if wanted in (None, _length(each))]
    if not fitting:
        lengths = sorted({_length(each) for each in kind}, key=tokens)
        raise BadJob(
            f"sagemaker.sequence_length: {name} has no recipe of {chosen.technique} and "
            f"{chosen.peft} for {wanted}; it has those for {_listed(lengths)}"
        )
    return min(
        fitting, key=lambda each: (bool(each.get("IsSubscriptionModel")), tokens(_length(each)))
    )


def _length(entry: Mapping[str, Any]) -> str:
    found = entry.get("SequenceLength") or ""
    return found if tokens(found) else ""


def _listed(values: Iterable[Any]) -> str:
    """What a document has, each once."""
    return enumerated([each for each in dict.fromkeys(values) if each]) or "none"


def _options(name: str, address: str, s3: Any) -> dict[str, Any]:
    """The document of a recipe's hyperparameters."""
    what = f"reading the recipe of {name}"
    found = S3.fullmatch(address)
    if found is None:
        raise AwsFailed(f"{what}: the hub names no address in S3 for it")
    return _object(read_object(s3, found["bucket"], found["key"], what), what)


def _object(content: str | bytes, what: str) -> dict[str, Any]:
    """An object of JSON; a document of anything else is the service's mistake."""
    try:
        found = json.loads(content)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise AwsFailed(f"{what}: it is no object of JSON")
    return found


def hyperparameters_of(document: Mapping[str, Any]) -> dict[str, Hyperparameter]:
    """The hyperparameters of a recipe's document, in its order."""
    return {
        name: _read(name, entry if isinstance(entry, dict) else {"default": entry})
        for name, entry in document.items()
    }


def _read(name: str, entry: Mapping[str, Any]) -> Hyperparameter:
    default = entry.get("default")
    stated = str(entry.get("type", "")).lower()
    kind: Kind = "boolean" if stated.startswith("bool") else KINDS.get(stated) or _kind_of(default)
    return Hyperparameter(
        name,
        kind,
        minimum=entry.get("min"),
        maximum=entry.get("max"),
        choices=tuple(entry.get("enum") or ()),
        default=default,
        required=entry.get("required") is True and default is None,
    )


def _kind_of(default: Any) -> Kind:
    """The kind of a hyperparameter whose type is not stated."""
    kinds: tuple[Kind, ...] = ("boolean", "integer", "float")
    return next((kind for kind in kinds if isinstance(default, TYPES[kind])), "string")


def _sent(name: str, value: HyperparameterValue) -> str:
    """A value as the API takes it: a string.

    Raises:
        BadJob: it is too long, or has a character that AWS's own client does not send.
    """
    sent = str(value)
    if len(sent) > MAX_VALUE:
        raise BadJob(f"{name} has {len(sent):,} characters, and a value has {MAX_VALUE:,} at most")
    if not CHARACTERS.fullmatch(sent):
        raise BadJob(
            f"{name} is {shown(value)}: letters, digits, spaces and / _ . : , - ' \" [ ] are "
            "allowed"
        )
    return sent


def _bare(template: object) -> str:
    """A template's name without folder, suffix and the prefix of built-in ones, in lower case."""
    last = str(template).rpartition("/")[2]
    return last.removesuffix(".jinja").removeprefix("Builtin.").lower()


RecipeFor = Literal["training-job", "hyperpod"]

LIMIT: Final[dict[RecipeFor, int]] = {"training-job": 12, "hyperpod": 100}
"""`lambda_concurrency_limit` of AWS's own recipes."""

OF_A_WORKER: Final = 64
"""Requests at a time of one rollout worker on HyperPod."""

IN_THE_NAME: Final = "SageMaker"
"""What a function's name holds that HyperPod may invoke, in this case."""

ENDPOINT: Final = ("training_config", "rollout", "rewards", "api_endpoint")


SETTINGS: Final = TABLE["nova"]
"""What may stand below [hyperparameters], in the order of the recipes."""


@dataclass(frozen=True, slots=True)
class RecipeLines:
    """The lines of a recipe.

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
        BadJob: the model is not one of Nova's; a setting is unknown or out of range; HyperPod may
            not invoke the function, or not as often at a time as it would ask.
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
    for setting in SETTINGS.values():
        if setting.name in everything:
            _put(values, (*setting.within, setting.name), everything[setting.name])
    return RecipeLines(
        values, tuple(_warnings(grader, limits)), tuple(_notes(place, given, grader))
    )


def _require(place: RecipeFor, name: str, value: HyperparameterValue) -> None:
    """Refuse a setting that the recipe does not have, or whose value is none."""
    known = SETTINGS.get(name)
    if known is None:
        hint = did_you_mean(name, {each for each in SETTINGS if place in SETTINGS[each].places})
        raise BadJob(f"hyperparameters: {name[:80]!r} is no setting of these recipes{hint}")
    if place not in known.places:
        raise BadJob(f"{name}: recipes of a {place} have no such setting: leave it out")
    if known.takes(value):
        return
    if known.choices:
        raise BadJob(
            f"{name}: {value!r}; these recipes take low or high, and none where it is left out "
            "(medium is Bedrock's)"
        )
    kind = "whole number" if known.kind == "integer" else "number"
    raise BadJob(f"{name}: {value!r} is no {kind} from {known.minimum:g} to {known.maximum:g}")


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
