"""The reward of a job, pinned: what was asked for becomes an ARN that no deployment changes.

    asked for                                   the job is given
    a deployment of the stage                   the version that the catalogue gives to jobs
    NAME:7, or an immutable deployment's ARN    that one
    NAME, NAME:$LATEST, NAME:live               nothing, unless it is forced: they move

A grader runs in the account and region of its job. Both of Bedrock's APIs read a bare list
(docs.aws.amazon.com/bedrock/latest/userguide/reward-functions-open-weight), and so do SageMaker's
jobs of Nova; those of open weights read an envelope (sagemaker-train, `rlvr_reward_verifier.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.arn import FunctionArn
from reward_functions.aws.deployed.catalogue import deployment_of, find
from reward_functions.aws.deployed.checking import configuration
from reward_functions.aws.deployed.function import DeployedFunction
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.configuration import BadJob
from reward_functions.serving.descriptions import described

if TYPE_CHECKING:
    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedReward, DeployedStage

ROLE: Final = re.compile(r"arn:aws[a-z-]*:iam::(?P<account>[0-9]{12}):role/.+")

RESPONSE_MODE: Final = "REWARD_RESPONSE_MODE"
"""The variable of a function of this project that says how it answers."""

ANSWERS: Final = {"list": "a bare list", "envelope": "SageMaker's envelope"}
"""The two modes, in words."""


@dataclass(frozen=True, slots=True)
class PinnedGrader:
    """The function of a job, and what is known of it.

    Args:
        arn: what the job is given.
        deployment: as the stage's catalogue names it; "" for a function that it does not name.
        reward: as `reward list` names it; "" for a function that is not this project's.
        version: the reward's; None where `reward` is "".
        digest: the artifact's; "" where `reward` is "".
        response_mode: "list" or "envelope"; "" where the function does not say.
    """

    arn: FunctionArn
    deployment: str = ""
    reward: str = ""
    version: int | None = None
    digest: str = ""
    response_mode: str = ""

    @property
    def function_version(self) -> str:
        """Lambda's number of the version; of an immutable deployment the name of its function."""
        return self.arn.qualifier or self.arn.name


def pinned(
    asked: str,
    stage: DeployedStage,
    region: str,
    session: Session | None = None,
    *,
    force: bool = False,
) -> PinnedGrader:
    """Find the grader of a job in the catalogue; whether it is stored, `inspected` says.

    Args:
        asked: a deployment of the stage, or the ARN of any function.
        stage: whose catalogue is read, and in whose account the job runs.
        region: where the job runs.
        session: boto3's; the caller's own where not given.
        force: take an ARN that a deployment can move under the job.

    Raises:
        BadJob: it moves, or is in another region or account.
        BadArn: it begins as an ARN and is not one of a function.
        NotDeployed: the stage has no such deployment.
        AwsFailed: the catalogue cannot be read.
    """
    if asked.startswith("arn:"):
        grader = _catalogued(FunctionArn.parse(asked), stage.stage, session)
    else:
        grader = _of(find(asked, stage.stage, session))
    if grader.arn.moves and not force:
        raise BadJob(_moving(grader))
    _require_here(grader.arn, stage, region)
    return grader


def _of(record: DeployedReward) -> PinnedGrader:
    return PinnedGrader(
        arn=FunctionArn.parse(record.version_arn),
        deployment=record.name,
        reward=record.reward,
        version=record.version,
        digest=record.digest,
        response_mode=record.response_mode,
    )


def _catalogued(arn: FunctionArn, stage: str, session: Session | None) -> PinnedGrader:
    """A function that was given by its ARN, under its deployment's name where it has one."""
    record = deployment_of(arn, stage, session)
    if record is None:
        return PinnedGrader(arn)
    known = _of(record)
    return known if known.arn == arn else PinnedGrader(arn, deployment=record.name)


def _moving(grader: PinnedGrader) -> str:
    instead = grader.deployment or f"{replace(grader.arn, qualifier=None)}:VERSION"
    return (
        f"{grader.arn} moves: a deployment changes the reward under the job; give {instead}, which "
        "holds still, or say why with --force"
    )


def _require_here(arn: FunctionArn, stage: DeployedStage, region: str) -> None:
    """Refuse a function that the job cannot reach.

    Raises:
        BadJob: it is in another region or account than the job.
    """
    if arn.region != region:
        raise BadJob(
            f"{arn} is in {arn.region}, and the job runs in {region}: a job invokes functions of "
            "its own region; deploy the reward there, or name a stage of that region with --stage"
        )
    role = ROLE.fullmatch(stage.training_role_arn)
    if role is not None and arn.account != role["account"]:
        raise BadJob(
            f"{arn} belongs to account {arn.account}, and the job runs in {role['account']}: "
            "deploy the reward there; graders of other accounts are not documented"
        )


def account_of(stage: DeployedStage) -> str:
    """The account of a stage, by the roles that its jobs run as; "" where neither says.

    Args:
        stage: its record.
    """
    for arn in (stage.sagemaker_role_arn, stage.training_role_arn):
        if role := ROLE.fullmatch(arn or ""):
            return role["account"]
    return ""


def inspected(
    grader: PinnedGrader, session: Session | None = None, *, mode: str = "list"
) -> PinnedGrader:
    """The same, with what Lambda's settings of the function say; denied, it stays as it is.

    Args:
        grader: pinned.
        session: boto3's; the caller's own where not given.
        mode: how it must answer: "list" or "envelope".

    Raises:
        BadJob: there is no such function or version, or it answers in the other mode.
        AwsFailed: the settings cannot be read.
    """
    try:
        settings = configuration(DeployedFunction(grader.arn, session=session))
    except AwsFailed as error:
        if error.missing:
            raise BadJob(
                f"Lambda has no {grader.arn} any more: deploy the reward again, or give a version "
                "that is stored (`reward deployed list`)"
            ) from None
        raise
    grader = grader if settings is None else _described(grader, settings)
    require_mode(grader.response_mode, mode, str(grader.arn))
    return grader


def require_mode(has: str, needs: str, whose: str) -> None:
    """Refuse a reward that answers otherwise than the service reads.

    Args:
        has: its mode; "" where it does not say.
        needs: "list" or "envelope".
        whose: that mode is.

    Raises:
        BadJob: it answers in the other one.
    """
    if has and has != needs:
        raise BadJob(
            f"{whose} answers with {ANSWERS[has]}, and this job's service reads {ANSWERS[needs]}: "
            f'deploy it with "response_mode": "{needs}"'
        )


def _described(grader: PinnedGrader, settings: dict[str, Any]) -> PinnedGrader:
    mode = settings.get("Environment", {}).get("Variables", {}).get(RESPONSE_MODE, "")
    serves = described(settings.get("Description") or "")
    if grader.reward or serves is None:
        return replace(grader, response_mode=grader.response_mode or mode)
    reward, version, digest = serves
    return replace(grader, reward=reward, version=version, digest=digest, response_mode=mode)
