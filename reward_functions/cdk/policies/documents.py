"""The policy documents of a stage, from what it says: a stack holds and `limits` measures them.

`permissions` and `sagemaker` say what each service may do. Here stands which of it a stage grants,
so that the documents that are measured are those that are deployed.

    kind of role    made where the stage has    taken on by                    for
    bedrock         –                           bedrock.amazonaws.com          customization jobs
    sagemaker       sagemaker_role              sagemaker.amazonaws.com        serverless jobs
    agents          agents, named or its own    job.sagemaker.amazonaws.com    multi-turn jobs
    training        training_job_role           sagemaker.amazonaws.com        training jobs
    import          one of the former, HyperPod bedrock.amazonaws.com          their models' imports
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.aws.arn import GENERATION
from reward_functions.cdk.policies import (
    own_rights,
    permissions,
    sagemaker,
)
from reward_functions.cdk.policies.agents import read_queues
from reward_functions.cdk.policies.grants import Made, agents, rewards
from reward_functions.cdk.policies.iam import DECRYPT_MODEL, JOBS, document, through, trust_own

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reward_functions.cdk.model.deployment import Deployment
    from reward_functions.cdk.model.stages import Stage
    from reward_functions.cdk.policies.iam import Document, Place

BEDROCK: Final = "bedrock"
SAGEMAKER: Final = "sagemaker"
AGENTS: Final = "agents"
TRAINING: Final = "training"
IMPORT: Final = "import"

SERVICE_ROLES: Final = "/service-role/"
"""The path of the roles of jobs, where SageMaker's stock policies look for them."""


class Kind(NamedTuple):
    """A kind of role.

    Args:
        wanted: whether a stage has it.
        service: that takes it on, as its principal begins.
        runs: for what, as the ARNs end of what this account makes there.
        work: the rights of the role, by the names of its policies.
        actions: of `sts`, by which the service takes it on.
    """

    wanted: Callable[[Stage], bool]
    service: str
    runs: tuple[str, ...]
    work: Callable[[Place, Stage, Made], dict[str, Document]]
    actions: tuple[str, ...] = ("sts:AssumeRole",)

    def trust(self, place: Place) -> Document:
        """The principals that may assume the role."""
        made = [place.arn(self.service.rpartition(".")[2], each) for each in self.runs]
        return trust_own(place, f"{self.service}.amazonaws.com", made, self.actions)


def kinds(stage: Stage) -> list[str]:
    """The kinds of roles that a stage has."""
    return [name for name, kind in KINDS.items() if kind.wanted(stage)]


def _bedrock(place: Place, stage: Stage, made: Made) -> dict[str, Document]:
    rights, added = stage.job_rights, {}
    if rights.invocation_logs:
        added["invocation-logs"] = permissions.read_invocation_logs(place, rights.invocation_logs)
    if rights.vpc:
        added["vpc"] = permissions.join_vpc(place, rights.vpc)
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
    run = {"run": sagemaker.run_container(place)}
    return _train(place, stage, made) | run | _of_sagemaker(place, stage, made)


def _import(place: Place, stage: Stage, made: Made) -> dict[str, Document]:
    escrow = sagemaker.read_escrow(place) if _on_instances(stage) else []
    decrypt = {
        f"decrypt-{number}": document(through("s3", place, "UseKey", DECRYPT_MODEL, key))
        for number, key in enumerate(made.keys(stage), 1)
    }
    return {"import": sagemaker.import_model(place, made.bucket_arn, escrow)} | decrypt


def _train(place: Place, stage: Stage, made: Made) -> dict[str, Document]:
    asked = rewards(place, stage.names, stage.deployments)
    return {"train": permissions.train(asked, made.bucket_arn)}


def _bucket_key(place: Place, made: Made) -> dict[str, Document]:
    return {"key": permissions.use_key(made.key_arn, place)} if made.key_arn else {}


def _read_buckets(place: Place, stage: Stage) -> dict[str, Document]:
    reading = document(*permissions.read_folders(place, stage.read_buckets))
    return {"read-buckets": reading} if stage.read_buckets else {}


def _of_sagemaker(place: Place, stage: Stage, made: Made) -> dict[str, Document]:
    """What `job_rights` add to each role of SageMaker's, whose models lie in the bucket."""
    rights, added = stage.job_rights, {}
    if rights.vpc:
        added["vpc"] = sagemaker.join_vpc(place, rights.vpc)
    if rights.model_key:
        added["model-key"] = permissions.use_key(rights.model_key, place)
    return _bucket_key(place, made) | _read_buckets(place, stage) | added


def _has_agents(stage: Stage) -> bool:
    return bool(stage.job_rights.agents or stage.forwarders or stage.agents)


def has_packages(stage: Stage) -> bool:
    """Whether SageMaker keeps models for a stage."""
    return stage.sagemaker_role or _has_agents(stage)


def _on_instances(stage: Stage) -> bool:
    """Whether jobs on instances leave weights in the account's escrow."""
    return stage.training_job_role or stage.hyperpod


def _imports(stage: Stage) -> bool:
    """Whether there is what Bedrock can take over from SageMaker."""
    return has_packages(stage) or _on_instances(stage)


KINDS: Final = {
    BEDROCK: Kind(lambda _: True, "bedrock", (JOBS,), _bedrock),
    SAGEMAKER: Kind(
        lambda stage: stage.sagemaker_role, "sagemaker", (sagemaker.TRAINING_JOBS,), _sagemaker
    ),
    # The sessions of multi-turn jobs carry tags.
    AGENTS: Kind(
        _has_agents,
        "job.sagemaker",
        (sagemaker.MULTI_TURN_JOBS,),
        _agents,
        ("sts:AssumeRole", "sts:TagSession"),
    ),
    TRAINING: Kind(
        lambda stage: stage.training_job_role, "sagemaker", (sagemaker.TRAINING_JOBS,), _training
    ),
    IMPORT: Kind(_imports, "bedrock", (sagemaker.IMPORT_JOBS, sagemaker.CUSTOM_MODELS), _import),
}
"""The roles of jobs.

Sources: "Cross-service confused deputy prevention" of SageMaker for its training jobs, "Encryption
at rest for multi-turn reinforcement learning" for the ARN of a job. Inferred: that multi-turn jobs
say whose they are when they take a role, as they do to KMS; that a custom model which Bedrock makes
of a package is what it takes the role on for.
"""


def of_agent(place: Place, stage: Stage, made: Made) -> Document | None:
    """The rights of an agent that may take its requests from queues of the stage's own.

    None where the stage has no agent, and takes no results of any.
    """
    if not (_has_agents(stage) or stage.feedback is not None):
        return None
    own = [each for each in stage.forwarders if each.owns_queue]
    queues = [each.queue_arn(place, stage.names) for each in own]
    keys = [each.key for each in own if each.key]
    work = sagemaker.run_agent(place, stage, made.key_arn)
    return document(*work["Statement"], *read_queues(place, queues, keys))


def of_function(place: Place, stage: Stage, deployment: Deployment) -> dict[str, Document]:
    """The policies of a function's role by their names: its log, its judge, what it is given.

    Args:
        place: where the stage is.
        stage: its stage.
        deployment: checked.
    """
    name = stage.names.function(deployment.name)
    made = {"logs": permissions.write_logs(place, name)}
    if judge := deployment.lambda_settings(stage.names).judge:
        asking = permissions.ask_judge(place, judge, emulated=stage.emulated)
        # IAM takes no policy without a statement: a local endpoint may need neither.
        made |= {"judge": asking} if asking["Statement"] else {}
    if deployment.tracing:
        made["traces"] = permissions.send_traces()
    functions = f"{name}{GENERATION}*" if deployment.immutable else name
    return made | _given(place, deployment, [place.arn("lambda", f"function:{functions}")])


def _given(place: Place, given: Deployment, functions: Sequence[str]) -> dict[str, Document]:
    made = {}
    if given.allow:
        made["stated"] = own_rights.stated(given.allow)
    if given.secrets:
        secrets = [(each.arn, each.key or "") for each in given.secrets.values()]
        made["secrets"] = own_rights.read_secrets(place, secrets)
    if given.vpc:
        made["network"] = own_rights.join_network(place, functions)
    return made
