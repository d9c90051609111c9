"""Checks a stage's judge: a deployed function must be able to ask its models.

A `JudgeConfig` that exists is consistent. The checks here are the deployment's: IAM must be able to
name each model, and no key or file of a laptop may be needed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reward_functions.aws.arn import arn_form
from reward_functions.cdk.policies.own_rights import SECRET, without_end
from reward_functions.cdk.policies.permissions import is_global
from reward_functions.core.errors import BadJudge
from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reward_functions.core.spec import RewardSpec
    from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel

PLAIN: Final = re.compile(r"[\w.:/-]+")
"""Ids and ARNs that name one thing: no wildcard of IAM's is among their characters."""

PROFILE_ID: Final = re.compile(r"(?:us|us-gov|eu|apac|jp|au|ca|sa|me|af|il|mx|uk|global)\.")
"""How ids of Bedrock's own inference profiles begin, and those of models do not."""

TABLE_NAME: Final = "[A-Za-z0-9_.-]{3,255}"

TABLE: Final = re.compile(f"{TABLE_NAME}|{arn_form('dynamodb', f'table/{TABLE_NAME}')}")


def check_judge(spec: RewardSpec, config: JudgeConfig | None, regions: Iterable[str]) -> None:
    """Whether a reward can be deployed with this judge.

    Args:
        spec: the reward.
        config: the judge's settings; None without a judge.
        regions: the names of AWS's regions.

    Raises:
        BadJudge: it cannot; the message is one sentence.
    """
    if config is None:
        if spec.needs.judge:
            raise BadJudge(f"{spec.name} asks a judge model, and its judge names none")
        return
    if not spec.needs.judge:
        raise BadJudge(f"{spec.name} asks no judge model, and its judge names one")
    fallback = [config.fallback] if config.fallback else []
    for model in (*config.models, *fallback):
        if model.backend == "bedrock":
            _check_bedrock(model, set(regions))
        else:
            _check_elsewhere(model)
    if config.cache_table and not TABLE.fullmatch(config.cache_table):
        raise BadJudge(f"cache_table: {config.cache_table!r} is not a DynamoDB table's name or ARN")


def _check_bedrock(model: JudgeModel, regions: set[str]) -> None:
    for named in filter(None, (model.model, model.profile)):
        if not PLAIN.fullmatch(named):
            raise BadJudge(f"{named!r} does not name one model or profile")
    if PROFILE_ID.match(model.model) or "inference-profile/" in model.model:
        raise BadJudge(
            f"{model.model} is an inference profile: name it as profile, the model behind it as "
            "model, and where it routes to as destinations"
        )
    if model.profile:
        _check_profile(model)
    elif model.destinations:
        raise BadJudge(f"{model.model}: destinations are an inference profile's, and none is named")
    for region in filter(None, (model.region, *model.destinations)):
        if region not in regions:
            near = did_you_mean(region, regions).partition(";")[0]
            raise BadJudge(f"{model.model}: AWS has no region {region!r}{near}")
    if model.key:
        raise BadJudge(
            f"{model.model}: Bedrock is asked with the function's rights, not with a key"
        )


def _check_profile(model: JudgeModel) -> None:
    if is_global(model.profile):
        if model.destinations:
            raise BadJudge(
                f"{model.profile} routes to every commercial region: leave its destinations out"
            )
    elif not model.destinations:
        raise BadJudge(f"{model.profile}: destinations name no region that this profile routes to")
    if model.model.startswith("arn:"):
        raise BadJudge(
            f"{model.profile}: the model behind a profile is named by its id, not by ARN"
        )


def _check_elsewhere(model: JudgeModel) -> None:
    if model.backend == "replay":
        raise BadJudge(f"{model.model}: recorded answers are for tests; a function asks a model")
    if model.key.startswith("env:"):
        raise BadJudge(
            f"{model.model}: a function's environment holds no key; keep it in Secrets Manager and "
            "name the secret's ARN"
        )
    if model.key and not SECRET.fullmatch(model.key):
        otherwise = "its key is not the ARN of a Secrets Manager secret"
        raise BadJudge(f"{model.model}: {without_end(model.key) or otherwise}")
