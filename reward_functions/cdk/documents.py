"""The policy documents of a stage, from what it says: a stack holds and `limits` measures them.

`serving` says what each task and each service may do. Here stands which of it a stage grants, so
that the documents that are measured are those that are deployed.

    kind of role    made where the stage has    taken on by                    for
    bedrock         –                           bedrock.amazonaws.com          customization jobs
    sagemaker       sagemaker_role              sagemaker.amazonaws.com        serverless jobs
    agents          job_rights.agents           job.sagemaker.amazonaws.com    multi-turn jobs
    import          one of the two before       bedrock.amazonaws.com          their models' imports
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.cdk.grants import aliased, rewards
from reward_functions.serving import people, permissions, sagemaker, sagemaker_people
from reward_functions.serving.iam import DECRYPT_MODEL, document, through

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reward_functions.cdk.grants import GrantingStage
    from reward_functions.serving.iam import Document, Place

BEDROCK: Final = "bedrock"
SAGEMAKER: Final = "sagemaker"
AGENTS: Final = "agents"
IMPORT: Final = "import"


class Made(NamedTuple):
    """What the documents name and deployment makes.

    Args:
        bucket_arn: where data and output lie.
        key_arn: of the key that encrypts the bucket; "" where S3's own does.
    """

    bucket_arn: str
    key_arn: str = ""


class Kind(NamedTuple):
    """A kind of role.

    Args:
        wanted: whether a stage has it.
        trust: who takes it on.
        work: what whoever took it on may do, by the names of the role's policies.
    """

    wanted: Callable[[GrantingStage], bool]
    trust: Callable[[Place], Document]
    work: Callable[[Place, GrantingStage, Made], dict[str, Document]]


def kinds(stage: GrantingStage) -> list[str]:
    """The kinds of roles that a stage has."""
    return [name for name, kind in KINDS.items() if kind.wanted(stage)]


def _bedrock(place: Place, stage: GrantingStage, made: Made) -> dict[str, Document]:
    rights, added = stage.job_rights, {}
    if rights.invocation_logs:
        added["invocation-logs"] = permissions.read_invocation_logs(place, rights.invocation_logs)
    if rights.vpc:
        added["vpc"] = permissions.join_vpc(
            place, subnets=rights.vpc.subnets, security_groups=rights.vpc.security_groups
        )
    if rights.model_key:
        added["model-key"] = permissions.use_model_key(rights.model_key, place)
    return _train(place, stage, made) | _bucket_key(place, made) | added


def _sagemaker(place: Place, stage: GrantingStage, made: Made) -> dict[str, Document]:
    customize = {"customize": sagemaker.customize(place)}
    return _train(place, stage, made) | customize | _of_sagemaker(place, stage, made)


def _agents(place: Place, stage: GrantingStage, made: Made) -> dict[str, Document]:
    agents, key = stage.job_rights.agents, stage.job_rights.model_key
    work = {"roll-out": sagemaker.roll_out(place, agents=agents, bucket_arn=made.bucket_arn)}
    seen = {"see-key": sagemaker.describe_key(key)} if key else {}
    return work | _of_sagemaker(place, stage, made) | seen


def _import(place: Place, stage: GrantingStage, made: Made) -> dict[str, Document]:
    keys = [key for key in (made.key_arn, stage.job_rights.model_key) if key]
    decrypt = {
        f"decrypt-{number}": document(through("s3", place, "UseKey", DECRYPT_MODEL, key))
        for number, key in enumerate(keys, 1)
    }
    return {"import": sagemaker.import_model(place, made.bucket_arn)} | decrypt


def _train(place: Place, stage: GrantingStage, made: Made) -> dict[str, Document]:
    asked = rewards(place, stage.name, stage.deployments)
    return {"train": permissions.train(asked, made.bucket_arn)}


def _bucket_key(place: Place, made: Made) -> dict[str, Document]:
    return {"key": permissions.use_key(made.key_arn, place)} if made.key_arn else {}


def _of_sagemaker(place: Place, stage: GrantingStage, made: Made) -> dict[str, Document]:
    """What `job_rights` add to either role of SageMaker's, whose models lie in the bucket."""
    rights, added = stage.job_rights, {}
    if rights.vpc:
        added["vpc"] = sagemaker.join_vpc(
            place, subnets=rights.vpc.subnets, security_groups=rights.vpc.security_groups
        )
    if rights.model_key:
        added["model-key"] = permissions.use_key(rights.model_key, place)
    return _bucket_key(place, made) | added


def _has_agents(stage: GrantingStage) -> bool:
    return bool(stage.job_rights.agents)


def _has_packages(stage: GrantingStage) -> bool:
    """Whether SageMaker keeps models for a stage."""
    return stage.sagemaker_role or _has_agents(stage)


KINDS: Final = {
    BEDROCK: Kind(lambda _: True, permissions.trust_bedrock, _bedrock),
    SAGEMAKER: Kind(lambda stage: stage.sagemaker_role, sagemaker.trust_training, _sagemaker),
    AGENTS: Kind(_has_agents, sagemaker.trust_multi_turn, _agents),
    IMPORT: Kind(_has_packages, sagemaker.trust_import, _import),
}
"""The roles of jobs."""


def of_agent(place: Place, stage: GrantingStage) -> Document | None:
    """What an agent itself may do; None where the stage names none."""
    key = stage.job_rights.model_key or ""
    return sagemaker.run_agent(place, key) if _has_agents(stage) else None


def of_people(
    place: Place, stage: GrantingStage, made: Made, role_arns: Mapping[str, str]
) -> dict[str, Document]:
    """What people may do, by task; `sagemaker` and `agents` where the stage has such jobs.

    Args:
        place: where the stage is.
        stage: what it grants.
        made: its bucket, and that bucket's key.
        role_arns: of the stage's roles, by their kinds.
    """
    asked = rewards(place, stage.name, stage.deployments)
    model_key = stage.job_rights.model_key or ""
    documents = {
        "data": people.prepare_data(
            place,
            stage=stage.name,
            bucket_arn=made.bucket_arn,
            rewards=asked,
            key_arn=made.key_arn,
        ),
        "jobs": people.run_jobs(
            place,
            stage=stage.name,
            role_arn=role_arns[BEDROCK],
            rewards=asked,
            model_key=model_key,
            emulated=stage.emulated,
        ),
        "evaluate": people.evaluate(
            place,
            stage=stage.name,
            rewards=asked,
            model_key=model_key,
            import_role=role_arns.get(IMPORT, ""),
        ),
        "operate": people.operate(
            place,
            stage=stage.name,
            function_arns=aliased(place, stage.name, stage.deployments),
            rewards=asked,
            packages=_has_packages(stage),
        ),
    }
    if SAGEMAKER in role_arns:
        documents["sagemaker"] = sagemaker_people.run_customization(
            place, stage=stage.name, role_arn=role_arns[SAGEMAKER], emulated=stage.emulated
        )
    if AGENTS in role_arns:
        documents["agents"] = sagemaker_people.run_multi_turn(
            place,
            stage=stage.name,
            role_arn=role_arns[AGENTS],
            agents=stage.job_rights.agents,
            model_key=model_key,
            emulated=stage.emulated,
        )
    return documents
