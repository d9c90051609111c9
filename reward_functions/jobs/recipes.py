"""The recipe of a model in SageMaker's public hub: what a job of it takes, in which ranges.

    DescribeHubContent    → RecipeCollection: a recipe for each technique, size and kind of training
    GetObject             → the recipe's hyperparameters {name: {type, default, min, max, enum, …}}

No list of models stands here: a model can be trained where it has a recipe. Sources: botocore's
model of SageMaker; the documents as AWS's sagemaker-train 1.27.0 reads them (`finetune_utils.py`).
What comes from S3 is read as hostile: to a limit of bytes, and nothing in it is trusted.

Contents of SageMaker's hubs: models of AWS's public one, and evaluators of the account's own.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.failures import AwsFailed
from reward_functions.core.suggest import did_you_mean
from reward_functions.jobs.clients import client
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.fields import text
from reward_functions.jobs.drivers.objects import whole_object
from reward_functions.jobs.failures import answer, pages
from reward_functions.jobs.hyperparameters import (
    SHOWN,
    Hyperparameter,
    check_against,
    enumerated,
    shown,
)
from reward_functions.jobs.models import HUB_MODEL
from reward_functions.jobs.recipe_fields import MAX_NAME, hyperparameters_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from boto3.session import Session

    from reward_functions.jobs.job import HyperparameterValue
    from reward_functions.jobs.parts import Serverless
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


def versions_of_content(client: Any, hub: str, kind: str, name: str) -> Iterator[dict[str, Any]]:
    """Every version of one content.

    Raises:
        AwsFailed: the hub cannot be asked, or has no such content.
    """
    yield from pages(
        f"listing the versions of {name}",
        client.list_hub_content_versions,
        SUMMARIES,
        marker="NextToken",
        HubName=hub,
        HubContentType=kind,
        HubContentName=name,
        MaxResults=PAGE,
    )


def pages_of_hub(client: Any, member: str, hub: str, kind: str) -> Iterator[str]:
    """One member of every content, where it is a string."""
    for each in contents_of_hub(client, hub, kind):
        if isinstance(each.get(member), str):
            yield each[member]


MAX_DOCUMENT: Final = 1 << 20
"""Bytes of a document that are read; a model's is 327,680 characters at most (botocore)."""

MAX_RECIPES: Final = 1_000
"""Recipes of a model that are looked at."""

MAX_HYPERPARAMETERS: Final = 100
"""What a job takes (botocore: `HyperParameters`)."""

MAX_VALUE: Final = 2_500
"""Characters of a value."""

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
    r"s3://(?P<bucket>arn:aws[a-z-]*:s3:[a-z0-9-]{1,20}:[0-9]{12}:accesspoint/[a-z0-9-]{1,63}"
    r"|[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])/(?P<key>[^\s\x00-\x1f\x7f]{1,1024})"
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a job of one model, technique, length and kind of training takes.

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
        check_against(known, "sagemaker", given)
        defaults = {name: each.default for name, each in known.items() if each.default is not None}
        merged = {**defaults, **given, **self._rewards(chosen)}
        for name, each in known.items():
            if each.required and name not in merged:
                raise BadJob(f"{name} is missing: the recipe has no default; it is {each.range}")
        self._check_length(merged)
        return {name: _sent(name, value) for name, value in _few(merged).items()}

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
    named = HUB_MODEL.fullmatch(model)
    name = named["name"] if named else model
    document = _document(name, named["version"] if named else None, region, session)
    entry = _chosen(name, list(_trained(document)), chosen)
    options = _options(
        name, str(entry.get("SmtjOverrideParamsS3Uri", "")), region, account, session
    )
    found = hyperparameters_of(options)
    return Recipe(
        model=name,
        name=text(entry.get("Name"), MAX_NAME) or text(entry.get("DisplayName"), MAX_NAME),
        sequence_length=_length(entry),
        gated=bool(document.get("GatedBucket")),
        nova="nova" in name.lower(),
        hyperparameters={key: each for key, each in found.items() if key not in OWN},
    )


def tokens(sequence_length: str | None) -> int:
    """The tokens of a length such as "8K"; 0 for anything else."""
    found = LENGTH.fullmatch(sequence_length or "")
    return int(found[1]) * 1024 if found else 0


def _document(
    name: str, version: str | None, region: str, session: Session | None
) -> dict[str, Any]:
    """What the hub says of a model.

    Raises:
        BadJob: there is none of this name.
    """
    hub = client("sagemaker", region, session)
    what = f"reading {name} in SageMaker's hub"
    wanted = {"HubContentVersion": version} if version else {}
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
    return _object(str(found.get("HubContentDocument", "")), what)


def _unknown(name: str, version: str | None, hub: Any) -> str:
    """The sentence for a model that is not there, with the nearest name that is."""
    try:
        names = set(pages_of_hub(hub, "HubContentName", PUBLIC, "Model"))
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


def _trained(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The recipes that a serverless job can take."""
    found = document.get("RecipeCollection")
    for each in found[:MAX_RECIPES] if isinstance(found, list) else ():
        if isinstance(each, dict) and each.get("SmtjRecipeTemplateS3Uri"):
            yield each


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
    found = entry.get("SequenceLength")
    return found if isinstance(found, str) and tokens(found) else ""


def _listed(values: Iterable[Any]) -> str:
    """What a document has, each once; what does not print is none of it."""
    names = list(dict.fromkeys(text(each, SHOWN) for each in values))
    return enumerated([name for name in names if name and name.isprintable()]) or "none"


def _options(
    name: str, address: str, region: str, account: str, session: Session | None
) -> dict[str, Any]:
    """The document of a recipe's hyperparameters; a recipe without one has none."""
    if not address:
        return {}
    what = f"reading the recipe of {name}"
    found = S3.fullmatch(address.replace("{customer_id}", account))
    if found is None:
        raise AwsFailed(f"{what}: the hub names no address in S3 for it")
    s3 = client("s3", region, session)
    return _object(whole_object(s3, found["bucket"], found["key"], what), what)


def _object(content: str | bytes, what: str) -> dict[str, Any]:
    """An object of JSON; a document of anything else is the service's mistake."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):  # also thousands of digits, and of brackets
        found = None
    if not isinstance(found, dict):
        raise AwsFailed(f"{what}: it is no object of JSON")
    return found


def _few(merged: dict[str, HyperparameterValue]) -> dict[str, HyperparameterValue]:
    if len(merged) > MAX_HYPERPARAMETERS:
        raise BadJob(
            f"hyperparameters: {len(merged)} with the recipe's own, and a job takes "
            f"{MAX_HYPERPARAMETERS}"
        )
    return merged


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
