"""Rows of training data that the service takes, as tests of jobs need them."""


def row(at=0, words=20, solution=None, **fields):
    """A row with a prompt of so many words, and a worked solution where one is given."""
    metadata = {"dataset": "gsm8k"} | ({"solution": solution} if solution else {})
    return {
        "id": f"row-{at}",
        "messages": [{"role": "user", "content": f"Question {at}? " + "word " * words}],
        "reference_answer": str(at),
        "metadata": metadata,
    } | fields
