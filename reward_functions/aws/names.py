"""What the resources of one stage are called: by its name, and the prefix of its company.

    Names("dev").function("gsm8k")             SageMaker-reward-dev-gsm8k
    Names("dev", "acme").function("gsm8k")     acme-SageMaker-reward-dev-gsm8k

What AWS's stock policies look for stays in every name; `aws.catalogue` says what that is.
"""

from __future__ import annotations

from typing import NamedTuple

from reward_functions.aws import catalogue


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
        return catalogue.stack_name(self.stage, self.prefix)

    @property
    def agents_stack(self) -> str:
        """The stack of the agents on AgentCore."""
        return catalogue.agents_stack_name(self.stage, self.prefix)

    @property
    def custodian(self) -> str:
        """The custodian's function."""
        return self.of(f"reward-custodian-{self.stage}")

    @property
    def verdicts(self) -> str:
        """The table of verdicts."""
        return self.of(f"reward-verdicts-{self.stage}")

    def function(self, deployment: str) -> str:
        """A deployment's function; of an immutable one, how the names of all of them begin."""
        return catalogue.function_name(self.stage, deployment, self.prefix)

    def immutable(self, deployment: str, digest: str) -> str:
        """One function of an immutable deployment."""
        return catalogue.immutable_name(self.stage, deployment, digest, self.prefix)

    def rollouts(self, what: str) -> str:
        """What serves rollouts."""
        return catalogue.rollouts_name(self.stage, what, self.prefix)

    def runtime(self, agent: str) -> str:
        """An agent's runtime at AgentCore."""
        return catalogue.runtime_name(self.stage, agent, self.prefix)

    def bucket(self, account: str, region: str) -> str:
        """The data bucket, where the stage makes it."""
        return catalogue.bucket_name(self.stage, account, region, self.prefix)

    def results(self, account: str, region: str) -> str:
        """The bucket of deferred rewards: names of buckets are one space for all accounts."""
        return self.of(f"sagemaker-rollouts-{self.stage}-{account}-{region}")

    def of(self, name: str) -> str:
        """Any other name, with the prefix."""
        return catalogue.prefixed(self.prefix, name)
