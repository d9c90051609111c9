"""A stage with every kind of forwarder and agent."""

ACCOUNT = "123456789012"

SECRET = f"arn:aws:secretsmanager:us-east-1:{ACCOUNT}:secret:agent-a1b2c3"

KEY = f"arn:aws:kms:us-east-1:{ACCOUNT}:key/01234567-89ab-cdef-0123-456789abcdef"

NETWORK = {"subnets": ["subnet-0123456789abcdef0"], "security_groups": ["sg-0123456789abcdef0"]}

AGENTS = {
    "region": "us-east-1",
    "account": ACCOUNT,
    "deployments": ["gsm8k"],
    "customer_key": True,
    "feedback": {},
    "forwarders": [
        {"name": "open", "endpoint": "https://agent.example.com"},
        {
            "name": "inside",
            "endpoint": "https://agent.internal:8443/rollout",
            "secret": SECRET,
            "key": KEY,
            "vpc": NETWORK,
            "timeout_seconds": 120,
            "memory_mb": 512,
            "reserved_concurrency": 8,
        },
        {"name": "queued", "queue": True},
        {"name": "sealed", "queue": True, "key": KEY},
        {
            "name": "elsewhere",
            "queue": f"https://sqs.us-east-1.amazonaws.com/{ACCOUNT}/requests.fifo",
        },
    ],
    "agents": [
        {
            "name": "solver",
            "entry": "acme_agents.solver:agent",
            "packages": ["strands-agents==1.62.0"],
        },
        {
            "name": "in-vpc",
            "entry": "acme_agents:tutor.agent",
            "packages": ["strands-agents==1.62.0"],
            "environment": {"REWARD_ROLLOUTS_RERUN": "1"},
            "result_buckets": ["rollout-results", "more-results"],
            "vpc": NETWORK,
            "idle_seconds": 1800,
            "lifetime_seconds": 3600,
        },
    ],
}
