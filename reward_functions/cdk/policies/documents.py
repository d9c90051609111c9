"""The policy documents of a stage, from what it says: a stack holds and `limits` measures them.

`serving` says what each task and each service may do. Here stands which of it a stage grants, so
that the documents that are measured are those that are deployed.

    kind of role    made where the stage has    taken on by                    for
    bedrock         –                           bedrock.amazonaws.com          customization jobs
    sagemaker       sagemaker_role              sagemaker.amazonaws.com        serverless jobs
    agents          agents, named or its own    job.sagemaker.amazonaws.com    multi-turn jobs
    training        training_job_role           sagemaker.amazonaws.com        training jobs
    import          one of the former, HyperPod bedrock.amazonaws.com          their models' imports
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.cdk.policies import (
    deferred,
    forwarding,
    people,
    permissions,
    sagemaker,
    sagemaker_instances,
    sagemaker_people,
)
from reward_functions.cdk.policies.grants import agents, aliased, pinnable, rewards
from reward_functions.cdk.policies.iam import DECRYPT_MODEL, document, through
from reward_functions.rollouts.report.outbox.dynamodb import ACTIONS, DEFINITION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reward_functions.cdk.model.stages import Stage
    from reward_functions.cdk.policies.iam import Document, Place

BEDROCK: Final = "bedrock"
SAGEMAKER: Final = "sagemaker"
AGENTS: Final = "agents"
TRAINING: Final = "training"
IMPORT: Final = "import"

SERVICE_ROLES: Final = "/service-role/"
"""The path of the roles of jobs, where SageMaker's stock policies look for them."""


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

    wanted: Callable[[Stage], bool]
    trust: Callable[[Place], Document]
    work: Callable[[Place, Stage, Made], dict[str, Document]]


def kinds(stage: Stage) -> list[str]:
    """The kinds of roles that a stage has."""
    return [name for name, kind in KINDS.items() if kind.wanted(stage)]


def _bedrock(place: Place, stage: Stage, made: Made) -> dict[str, Document]:
    rights, added = stage.job_rights, {}
    if rights.invocation_logs:
        added["invocation-logs"] = permissions.read_invocation_logs(place, rights.invocation_logs)
    if rights.vpc:
        added["vpc"] = permissions.join_vpc(
            place, subnets=rights.vpc.subnets, security_groups=rights.vpc.security_groups
        )
    if rights.model_key:
        added["model-key"] = permissions.use_model_key(rights.model_key, place)
    added |= _read_buckets(place, stage)
    return _train(place, stage, made) | _bucket_key(place, made) | added


def _sagemaker(place: Place, stage: Stage, made: Made) -> dict[str, Document]:
    customize = {"customize": sagemaker.customize(place)}
    return _train(place, stage, made) | customize | _of_sagemaker(place, stage, made)


def _agents(place: Place, stage: Stage, made: Made) -> dict[str, Document]:
    asked, key = agents(place, stage), stage.job_rights.model_key
    work = {"roll-out": sagemaker.roll_out(place, agents=asked, bucket_arn=made.bucket_arn)}
    seen = {"see-key": sagemaker.describe_key(key)} if key else {}
    return work | _of_sagemaker(place, stage, made) | seen


def _training(place: Place, stage: Stage, made: Made) -> dict[str, Document]:
    run = {"run": sagemaker_instances.run_container(place)}
    return _train(place, stage, made) | run | _of_sagemaker(place, stage, made)


def _import(place: Place, stage: Stage, made: Made) -> dict[str, Document]:
    escrow = sagemaker_instances.read_escrow(place) if _on_instances(stage) else []
    decrypt = {
        f"decrypt-{number}": document(through("s3", place, "UseKey", DECRYPT_MODEL, key))
        for number, key in enumerate(_keys(stage, made), 1)
    }
    return {"import": sagemaker.import_model(place, made.bucket_arn, escrow)} | decrypt


def _keys(stage: Stage, made: Made) -> list[str]:
    """Those of the bucket and of tuned models, where there are any."""
    return [key for key in (made.key_arn, stage.job_rights.model_key) if key]


def _train(place: Place, stage: Stage, made: Made) -> dict[str, Document]:
    asked = rewards(place, stage.names, stage.deployments)
    return {"train": permissions.train(asked, made.bucket_arn)}


def _bucket_key(place: Place, made: Made) -> dict[str, Document]:
    return {"key": permissions.use_key(made.key_arn, place)} if made.key_arn else {}


def _read_buckets(place: Place, stage: Stage) -> dict[str, Document]:
    reading = permissions.read_folders(place, stage.read_buckets)
    return {"read-buckets": document(*reading)} if reading else {}


def _of_sagemaker(place: Place, stage: Stage, made: Made) -> dict[str, Document]:
    """What `job_rights` add to each role of SageMaker's, whose models lie in the bucket."""
    rights, added = stage.job_rights, {}
    if rights.vpc:
        added["vpc"] = sagemaker.join_vpc(
            place, subnets=rights.vpc.subnets, security_groups=rights.vpc.security_groups
        )
    if rights.model_key:
        added["model-key"] = permissions.use_key(rights.model_key, place)
    return _bucket_key(place, made) | _read_buckets(place, stage) | added


def _has_agents(stage: Stage) -> bool:
    return bool(stage.job_rights.agents or stage.forwarders or stage.agents)


def _has_packages(stage: Stage) -> bool:
    """Whether SageMaker keeps models for a stage."""
    return stage.sagemaker_role or _has_agents(stage)


def _on_instances(stage: Stage) -> bool:
    """Whether jobs on instances leave weights in the account's escrow."""
    return stage.training_job_role or stage.hyperpod


def _imports(stage: Stage) -> bool:
    """Whether there is what Bedrock can take over from SageMaker."""
    return _has_packages(stage) or _on_instances(stage)


KINDS: Final = {
    BEDROCK: Kind(lambda _: True, permissions.trust_bedrock, _bedrock),
    SAGEMAKER: Kind(lambda stage: stage.sagemaker_role, sagemaker.trust_training, _sagemaker),
    AGENTS: Kind(_has_agents, sagemaker.trust_multi_turn, _agents),
    TRAINING: Kind(lambda stage: stage.training_job_role, sagemaker.trust_training, _training),
    IMPORT: Kind(_imports, sagemaker.trust_import, _import),
}
"""The roles of jobs."""


def of_agent(place: Place, stage: Stage, made: Made) -> Document | None:
    """What an agent itself may do; None where the stage has none and takes no results of any."""
    if not (_has_agents(stage) or stage.feedback is not None):
        return None
    return _with_queues(place, stage, of_runtime(place, stage, made))


def of_runtime(place: Place, stage: Stage, made: Made) -> Document:
    """What an agent that takes nothing from queues may do, such as one on AgentCore."""
    key, feedback = stage.job_rights.model_key or "", stage.feedback is not None
    results = deferred.put_results(place, stage.names, made.key_arn) if feedback else []
    return sagemaker.run_agent(place, key, results)


def _with_queues(place: Place, stage: Stage, document: Document) -> Document:
    """The same for an agent that also takes its requests from queues of the stage's own."""
    own = [each for each in stage.forwarders if each.owns_queue]
    queues = [each.queue_arn(place, stage.names) for each in own]
    keys = [each.key for each in own if each.key]
    taking = forwarding.read_queues(place, queues, keys)
    return document | {"Statement": [*document["Statement"], *taking]}


def of_hyperpod(place: Place, stage: Stage, made: Made) -> Document | None:
    """What the jobs of a HyperPod cluster may do; None where the stage asks for none."""
    return (
        sagemaker_instances.train_on_hyperpod(
            place,
            rewards=rewards(place, stage.names, stage.deployments),
            bucket_arn=made.bucket_arn,
            keys=_keys(stage, made),
            folders=stage.read_buckets,
        )
        if stage.hyperpod
        else None
    )


def of_feedback(place: Place, stage: Stage, made: Made) -> Document:
    """What the function of deferred rewards may do beside writing its log."""
    (index,) = DEFINITION["GlobalSecondaryIndexes"]
    return deferred.report(
        place,
        names=stage.names,
        rewards=rewards(place, stage.names, pinnable(stage)),
        outbox_actions=ACTIONS,
        outbox_index=index["IndexName"],
        key_arn=made.key_arn,
    )


def of_people(
    place: Place, stage: Stage, made: Made, role_arns: Mapping[str, str]
) -> dict[str, Document]:
    """What people may do, by task; the tasks of SageMaker's jobs where the stage has such jobs.

    Args:
        place: where the stage is.
        stage: what it grants.
        made: its bucket, and that bucket's key.
        role_arns: of the stage's roles, by their kinds.
    """
    asked = rewards(place, stage.names, stage.deployments)
    model_key = stage.job_rights.model_key or ""
    documents = {
        "data": people.prepare_data(
            place,
            stage=stage.name,
            bucket_arn=made.bucket_arn,
            rewards=asked,
            key_arn=made.key_arn,
            folders=stage.read_buckets,
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
            names=stage.names,
            function_arns=aliased(place, stage.names, stage.deployments),
            rewards=asked,
            packages=_has_packages(stage),
            feedback=stage.feedback is not None,
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
            agents=agents(place, stage),
            model_key=model_key,
            emulated=stage.emulated,
        )
    if TRAINING in role_arns:
        documents["training"] = sagemaker_instances.run_training_jobs(
            place, stage=stage.name, role_arn=role_arns[TRAINING], emulated=stage.emulated
        )
    if stage.hyperpod:
        documents["hyperpod"] = sagemaker_instances.submit_to_hyperpod(place, stage=stage.name)
    return documents
