"""A check of a reward function, as amzn-nova-forge has it."""

from reward_functions.rollouts.compat.nova_forge import verify_reward_function

SAMPLES = [
    {
        "id": "sum",
        "messages": [
            {"role": "user", "content": "What is 2 + 2?"},
            {"role": "assistant", "content": "4"},
        ],
        "reference_answer": "4",
    }
]


def check(file):
    """The verdict about a file with a `lambda_handler`."""
    return verify_reward_function(file, SAMPLES, validate_format=True)
