"""The names of a stage's resources: by its own name, and the prefix of its company.

    Names("dev").function("gsm8k")             SageMaker-reward-dev-gsm8k
    Names("dev", "acme").function("gsm8k")     acme-SageMaker-reward-dev-gsm8k

The words that AWS's stock policies look for stay in every name. HyperPod and SageMaker's invoke
only what carries `SageMaker`, in this case, and use buckets only that carry `sagemaker`. No prefix
holds a capital letter, so that none reaches beyond the hyphen before it. Names of buckets are one
space for all accounts.
"""

from __future__ import annotations

from typing import NamedTuple

from reward_functions.aws.arn import GENERATION, GENERATION_DIGITS, OURS


class Names(NamedTuple):
    """The names of a stage's resources in an account.

    Args:
        stage: as `cdk.json` names it.
        prefix: before every name and a hyphen; "" for none.
    """

    stage: str
    prefix: str = ""

    @property
    def stack(self) -> str:
        """The stack's, with which all names begin that CloudFormation makes."""
        return self.of(f"RewardFunctions-{self.stage}")

    @property
    def agents_stack(self) -> str:
        """The stack of the agents on AgentCore."""
        return self.of(f"RewardAgents-{self.stage}")

    @property
    def custodian(self) -> str:
        """The custodian's function."""
        return self.of(f"reward-custodian-{self.stage}")

    @property
    def verdicts(self) -> str:
        """The table of verdicts."""
        return self.of(f"reward-verdicts-{self.stage}")

    @property
    def scale(self) -> str:
        """The shard function, and the state machine that asks it."""
        return self.of(f"reward-scale-{self.stage}")

    def function(self, deployment: str) -> str:
        """A deployment's function; of an immutable one, how the names of all of them begin."""
        return self.of(f"{OURS}-{self.stage}-{deployment}")

    def immutable(self, deployment: str, digest: str) -> str:
        """One function of an immutable deployment.

        No name of a deployment holds two hyphens, so that `NAME--*` are the functions of this one.
        """
        return f"{self.function(deployment)}{GENERATION}{digest[:GENERATION_DIGITS]}"

    def rollouts(self, what: str) -> str:
        """The part that serves rollouts: a forwarder, the path of deferred rewards.

        No deployment's function is called so.
        """
        return self.of(f"SageMaker-rollouts-{self.stage}-{what}")

    @staticmethod
    def alarm(function: str, condition: str) -> str:
        """An alarm, called as the function that it watches: `reward-STAGE-NAME-errors`.

        Args:
            function: its whole name.
            condition: of `cdk.model.operating`.
        """
        return f"{function.replace('SageMaker-', '', 1)}-{condition}"

    def alarm_of_stage(self, what: str, condition: str) -> str:
        """An alarm of what has no function of its own."""
        return self.of(f"reward-{self.stage}-{what}-{condition}")

    def dashboard(self, region: str) -> str:
        """The stage's dashboard, whose name is the account's in every region."""
        return self.of(f"reward-functions-{self.stage}-{region}")

    def query(self, name: str) -> str:
        """A saved query of Logs Insights; the console shows those of a stage as a folder."""
        return f"{self.of(f'reward-{self.stage}')}/{name}"

    def runtime(self, agent: str) -> str:
        """An agent's runtime at AgentCore, whose names take letters, digits and underscores.

        A stage's name holds no underscore and an agent's no two, so that no two agents share one.
        """
        return self.of(f"reward_{self.stage}__{agent}").replace("-", "_")

    def bucket(self, account: str, region: str) -> str:
        """The data bucket, where the stage makes it."""
        return self.of(f"sagemaker-reward-{self.stage}-{account}-{region}")

    def results(self, account: str, region: str) -> str:
        """The bucket of deferred rewards."""
        return self.of(f"sagemaker-rollouts-{self.stage}-{account}-{region}")

    def of(self, name: str) -> str:
        """Any other name, with the prefix."""
        return f"{self.prefix}-{name}" if self.prefix else name
