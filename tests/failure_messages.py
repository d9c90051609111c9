"""Messages of a training service, in the words of its documents and clients, and their causes."""

BY_MESSAGE = {
    "The agent signaled that the trajectory failed: ValidationError: no ids": "a rollout failed",
    "No sampling requests were received for a trajectory.": "a rollout without a sample",
    "No reward arrived within 600 seconds of a rollout.": "a late reward",
    "Could not assume the role arn:aws:iam::1:role/x. Check its trust policy.": "role not assumed",
    "Amazon Bedrock does not have permission to assume role x": "role not assumed",
    "User: arn:aws:sts::1:assumed-role/x is not authorized to perform: lambda:InvokeFunction":
        "invocation denied",
    "Access denied when invoking the reward function": "invocation denied",
    "is not authorized to perform: s3:GetObject on resource": "data denied",
    "Unable to access S3: Access Denied": "invocation denied or data denied",
    "The specified key does not exist (NoSuchKey)": "data denied",
    "is not authorized to perform: kms:Decrypt": "key denied",
    "The subnet subnet-0a1b has no free addresses": "network",
    "The training data has fewer than 100 records": "data refused",
    "The file is not valid JSONL at line 3": "data refused",
    "ServiceQuotaExceededException: too many jobs": "quota",
    "InternalServerException: something went wrong": "a fault of the service",
    "An internal error occurred.": "a fault of the service",
    "Reward function output is invalid: aggregate_reward_score is missing":
        "rewards that are no numbers",
    "The reward for sample 3 is NaN": "rewards that are no numbers",
    "Function not found: arn:aws:lambda:us-east-1:1:function:x:7": "version deleted",
    "TooManyRequestsException: Rate Exceeded": "throttled grader",
    "Lambda: Task timed out after 60.00 seconds": "timeout",
    "RequestEntityTooLargeException": "payload over 6 MB",
    "ClientError: Invalid HubContentArn format": "no evaluator",
    "Hub content math/1.0.0 does not exist": "no evaluator",
    "The EULA of the model must be accepted": "licence not accepted",
    "CapacityError: Unable to provision requested ML compute capacity.": "no capacity",
    "AlgorithmError: the trainer exited with 1": "the trainer failed",
    "AlgorithmError: lambda: TooManyRequestsException": "throttled grader",
    "InternalServerError: We encountered an internal error. Please retry.":
        "a fault of the service",
}  # fmt: skip
