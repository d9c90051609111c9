"""Why jobs fail: a row for each cause, found by what is seen, with the remedy and its source.

A sign is a line of words from one place:

    status     how the job ended
    failure    the service's own message
    figures    what the service and the grader measured
    log        an error in the grader's log
    ending     how invocations of the grader ended, by Lambda's own names
    function   what Lambda says of the version now
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Place = Literal["status", "failure", "figures", "log", "ending", "function"]

SERVICE: Final = frozenset[Place]({"failure"})
GRADER: Final = frozenset[Place]({"failure", "log", "ending"})
ANYWHERE: Final = frozenset[Place]({"failure", "log", "ending", "function"})

LAMBDA: Final = "docs.aws.amazon.com/lambda/latest/dg"
BEDROCK: Final = "docs.aws.amazon.com/bedrock/latest/userguide"


MULTI_TURN: Final = "docs/rollouts.md, The handler; a field report of multi-turn jobs"


class Symptom(NamedTuple):
    """Something that was seen: where, and the words."""

    place: Place
    text: str


class Cause(NamedTuple):
    """A row of the table.

    Args:
        name: in a few words.
        places: where the pattern is looked for.
        pattern: of the words that show it, in upper or lower case.
        cause: what happened, in a sentence.
        remedy: what to do.
        source: where that is known from.
    """

    name: str
    places: frozenset[Place]
    pattern: str
    cause: str
    remedy: str
    source: str


class LikelyCause(NamedTuple):
    """A cause, and the first sign that shows it."""

    cause: Cause
    sign: Symptom


CAUSES: Final = (
    Cause(
        "stopped",
        frozenset({"status"}),
        r"was stopped",
        "somebody with the right to do so stopped the job; it did not fail",
        "`reward job start --again` starts the next run: no service goes on with a stopped one",
        "botocore's model of Bedrock: StopModelCustomizationJob",
    ),
    Cause(
        "time is up",
        frozenset({"status"}),
        r"Max(?:Runtime|WaitTime)Exceeded",
        "the job reached the longest time that it may take, and SageMaker stopped it",
        "fewer rows or epochs, or a shorter sequence_length; then `reward job start`",
        "botocore's model of SageMaker: DescribeTrainingJob, SecondaryStatus",
    ),
    Cause(
        "nothing was learned",
        frozenset({"figures"}),
        r"every (?:response|group)",
        "every response earned the same: every group had zero advantage",
        "likely the answers stand in another form than the reward reads: `reward job baseline` "
        "lists why they earn it, with an answer for each reason; --out FILE keeps all",
        "docs/jobs.md, Baseline",
    ),
    Cause(
        "version deleted",
        ANYWHERE,
        r"there is no such function|function not found|ResourceNotFoundException[^.]{0,80}lambda",
        "the version that the job asks was deleted under it",
        "start again with `reward job start --again`, on the version of today; `reward deployed "
        "prune` spares what jobs in progress name",
        "botocore's model of Lambda: Invoke, ResourceNotFoundException",
    ),
    Cause(
        "reserved concurrency of 0",
        frozenset({"function"}),
        r"reserved concurrency of 0",
        "the grader may not run at all: every invocation is throttled",
        "remove the reservation (`reserved_concurrency` in cdk.json) and deploy the stage",
        f"{LAMBDA}/configuration-concurrency.html",
    ),
    Cause(
        "function not ready",
        frozenset({"function"}),
        r"\bis (?:Failed|Pending|Deleting)\b",
        "the version cannot be invoked in the state it is in",
        "deploy the stage again; `reward audit NAME@STAGE` says when it answers",
        f"{LAMBDA}/functions-states.html",
    ),
    Cause(
        "throttled grader",
        GRADER,
        r"TooManyRequests|Rate exceeded|ConcurrentInvocationLimitExceeded|throttl",
        "the grader's, or the account's, concurrency was used up",
        "raise the reserved concurrency of the deployment, ask for more in Service Quotas, or take "
        "a smaller batchSize; then `reward job start --again`",
        f"{LAMBDA}/lambda-concurrency.html",
    ),
    Cause(
        "timeout",
        GRADER,
        r"Task timed out|Sandbox\.Timedout|\btimeout\b|timed? out",
        "an invocation of the grader took longer than the function's timeout",
        "raise `timeout_seconds` of the deployment in cdk.json; for a judge, raise its concurrency "
        "or its quotas; `reward audit NAME@STAGE` times a batch",
        f"{LAMBDA}/configuration-timeout.html",
    ),
    Cause(
        "out of memory",
        GRADER,
        r"Runtime\.OutOfMemory|MemoryError|signal: killed|memory used up",
        "the grader ran out of memory",
        "raise `memory_mb` of the deployment in cdk.json",
        f"{LAMBDA}/configuration-memory.html",
    ),
    Cause(
        "payload over 6 MB",
        GRADER,
        r"ResponseSizeTooLarge|RequestEntityTooLarge|RequestTooLarge|payload size exceeded|413\b",
        "a batch of samples, or its results, is over what Lambda carries",
        "lower inferenceMaxTokens, batchSize or trainingSamplePerPrompt; long prompts count too",
        f"{LAMBDA}/gettingstarted-limits.html",
    ),
    Cause(
        "broken package",
        GRADER,
        r"ImportModuleError|HandlerNotFound|UserCodeSyntaxError|No module named|FailedStart",
        "the grader cannot start: its package lacks something, or is of another architecture",
        "deploy the stage again; its gate invokes a version before jobs are given it",
        f"{LAMBDA}/troubleshooting-invocation.html",
    ),
    Cause(
        "judge unavailable",
        GRADER,
        r"JudgeUnavailable|FailedWarmUp",
        "the judge model of the reward was throttled, unreachable or out of budget",
        "`reward audit JUDGE` asks it now; raise its quotas, or name a fallback in the settings",
        "docs/judges.md, when a model fails",
    ),
    Cause(
        "no verdict",
        GRADER,
        r"\bNoVerdict\b",
        "the judge model answered with something that is no verdict",
        "raise the judge's max_tokens, or take a stricter output mode",
        "docs/judges.md, when a model fails",
    ),
    Cause(
        "deadline",
        GRADER,
        r"\bDeadlineReached\b",
        "the time of a batch was over before all of its samples were scored",
        "raise `timeout_seconds`, or the judge's concurrency",
        "docs/contract.md, failure attribution",
    ),
    Cause(
        "blocked sample",
        GRADER,
        r"\bSampleBlocked\b",
        "the reward did not return from a sample before the time of its batch was over",
        "bound its time: a timeout on each call of a network, a limit on what it parses; "
        "or raise `timeout_seconds`",
        "docs/contract.md, a sample that blocks",
    ),
    Cause(
        "process ended",
        GRADER,
        r"\bProcessEnded\b",
        "a sample ended the process of the reward",
        "signal 9 is a lack of memory: raise `memory_mb`; signal 11 is a crash in C code",
        "docs/contract.md, a sample that blocks",
    ),
    Cause(
        "too many samples unscored",
        GRADER,
        r"\bBatchFailed\b|max_unscored|on_unscored",
        "the reward failed on more samples of a batch than its settings allow",
        "the error lines beside it say on what; `reward audit` tries the same rows here",
        "docs/contract.md, failure attribution",
    ),
    Cause(
        "a rollout failed",
        SERVICE,
        r"trajectory failed",
        "the agent of a multi-turn job reported a rollout as failed, or its forwarder refused one, "
        "which ends the job",
        "the agent's own log says why; `reward rollouts run` shows how often it fails; "
        "REWARD_ROLLOUTS_ON_FAILURE=minimum reports the minimum in its place",
        MULTI_TURN,
    ),
    Cause(
        "a rollout without a sample",
        SERVICE,
        r"No sampling requests",
        "the agent of a multi-turn job ended a rollout and had never asked the policy, which ends "
        "the job",
        "wrap the agent's model, so that it asks the job's runtime; `ping=True` of the handler "
        "asks once where an episode did not",
        MULTI_TURN,
    ),
    Cause(
        "a late reward",
        SERVICE,
        r"No reward arrived",
        "a rollout of a multi-turn job was not rewarded within its window, which ends the job",
        "`reward rollouts outbox list`, where the agent runs, shows what was not delivered; set "
        "REWARD_ROLLOUTS_WINDOW to the job's, so that a slow agent earns the minimum in time",
        MULTI_TURN,
    ),
    Cause(
        "bad references",
        GRADER,
        r"\bBadReference\b|\bBadSample\b|reference_answer",
        "rows of the training data have a reference that the reward cannot read",
        "`reward data lint FILE --reward NAME` names the rows",
        "docs/contract.md, failure attribution",
    ),
    Cause(
        "rewards that are no numbers",
        SERVICE,
        r"aggregate_reward_score|invalid reward|not (?:a )?finite|\bNaN\b"
        r"|reward (?:function )?(?:output|response) (?:is )?(?:invalid|malformed)",
        "the grader's answer is not one finite number for each sample",
        "`reward audit NAME@STAGE` shows what breaks the contract; Bedrock reads a bare list",
        f"{BEDROCK}/reward-functions-open-weight.html",
    ),
    Cause(
        "no evaluator",
        SERVICE,
        r"Invalid HubContentArn|hub[ -]?content.{0,120}(?:not found|does not exist)",
        "the job names a reward that is no evaluator of SageMaker's, or one that was deleted",
        "`reward job start` registers the deployed reward as one; a function is no evaluator",
        "awslabs/agent-plugins, sagemaker-ai",
    ),
    Cause(
        "licence not accepted",
        SERVICE,
        r"\bEULA\b|AcceptEula|end[- ]user licen[cs]e",
        "the model's licence was not accepted",
        "read it, and set accept_eula = true below [sagemaker]",
        "botocore's model of SageMaker: ServerlessJobConfig, AcceptEula",
    ),
    Cause(
        "no capacity",
        SERVICE,
        r"CapacityError|InsufficientCapacity|insufficient capacity|ML compute capacity",
        "AWS had no machines for the job",
        "`reward job start --again` later, or in another region",
        "botocore's model of SageMaker: FailureReason; its words as failed jobs have them",
    ),
    Cause(
        "role not assumed",
        SERVICE,
        r"\bassume\s[^.]{0,40}role|role[^.]{0,60}\b(?:be assumed|trust)|sts:AssumeRole",
        "the service could not take on the job's role: it is gone, or does not trust the service",
        "`reward job preflight` reads its trust; deploy the stage again; a role that was made a "
        "moment ago needs a minute",
        f"{BEDROCK}/custom-model-job-access-security.html",
    ),
    Cause(
        "invocation denied",
        SERVICE,
        r"lambda:InvokeFunction|(?:not authorized|access ?denied)[^.]{0,80}(?:lambda|function)"
        r"|(?:lambda|function)[^.]{0,80}(?:not authorized|access ?denied)",
        "the job's role, or on the OpenAI-compatible API its caller, may not invoke the version",
        "deploy the stage again, which grants every version; `reward job preflight` simulates it",
        f"{BEDROCK}/rft-access-security.html",
    ),
    Cause(
        "key denied",
        SERVICE,
        r"\bkms:|KMS",
        "a KMS key may not be used",
        "set `model_key` in the stage's job_rights to the key's ARN, and deploy; the key's own "
        "policy must let IAM decide",
        f"{BEDROCK}/encryption-custom-job.html",
    ),
    Cause(
        "network",
        SERVICE,
        r"subnet|security group|network interface|\bVPC\b",
        "the job could not join the network it was given",
        "set `vpc` in the stage's job_rights, and deploy; the subnets need free addresses and a "
        "way to S3 and Lambda",
        f"{BEDROCK}/custom-model-job-access-security.html",
    ),
    Cause(
        "data denied",
        SERVICE,
        r"s3:[A-Z][a-zA-Z]+|(?:not authorized|access ?denied|forbidden)[^.]{0,80}s3"
        r"|s3[^.]{0,80}(?:not authorized|access ?denied|forbidden)|NoSuchKey|NoSuchBucket",
        "the job's role may not read the data or write the output, or the file is gone",
        "keep data below rft-data/ and output below rft-output/ of the stage's bucket; `reward "
        "job preflight` simulates both",
        f"{BEDROCK}/custom-model-job-access-security.html",
    ),
    Cause(
        "data refused",
        SERVICE,
        r"JSONL|training (?:data|file|dataset)|at least [0-9]+ (?:rows|records|prompts|samples)"
        r"|(?:fewer|less|more) than [0-9,]+|malformed (?:row|record|line)|maxPromptLength",
        "the service does not take the training data as it is",
        "`reward data lint` names what it refuses: 100 to 20,000 rows of text, and prompts within "
        "maxPromptLength",
        f"{BEDROCK}/rft-prepare-data-open-weight.html",
    ),
    Cause(
        "quota",
        SERVICE,
        r"ServiceQuotaExceeded|quota|limit exceeded",
        "a quota of the account is used up",
        "wait for another job to end, or ask for more in Service Quotas",
        "botocore's model of Bedrock: ServiceQuotaExceededException",
    ),
    Cause(
        "the trainer failed",
        SERVICE,
        r"AlgorithmError",
        "SageMaker's trainer ended with an error of its own",
        "the errors of its log are above, where they may be read: /aws/sagemaker/TrainingJobs has "
        "the rest below the job's name",
        "botocore's model of SageMaker: FailureReason; its words as failed jobs have them",
    ),
    Cause(
        "a fault of the service",
        SERVICE,
        r"internal (?:server |service )?(?:error|failure)|InternalServer|service unavailable",
        "the service failed, and not the job",
        "`reward job start --again` starts the next run; where that fails as well, AWS's support "
        "can read the job's ARN",
        "botocore's model of Bedrock: InternalServerException",
    ),
)


def likely(signs: Sequence[Symptom]) -> Iterator[LikelyCause]:
    """The causes that the signs show, in the order of the table; each with its first sign."""
    for cause in CAUSES:
        pattern = re.compile(cause.pattern, re.IGNORECASE)
        for sign in signs:
            if sign.place in cause.places and pattern.search(sign.text):
                yield LikelyCause(cause, sign)
                break
