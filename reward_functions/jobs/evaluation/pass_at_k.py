"""pass@k: how often one of k answers is right, without bias from n answers of which c are.

    1 - C(n - c, k) / C(n, k)

1 - (1 - c/n)^k, the plain estimate, is too low. Source: Chen et al., Evaluating Large Language
Models Trained on Code, 2021, arXiv 2107.03374, section 2.1.
"""

from __future__ import annotations

from math import comb


def pass_at_k(answers: int, right: int, k: int) -> float:
    """The estimate for one prompt, 0 to 1.

    Args:
        answers: to the prompt, at least k.
        right: of them.
        k: at least 1.

    Raises:
        ValueError: there are fewer answers than k, or more right ones than answers.
    """
    if not (1 <= k <= answers and 0 <= right <= answers):
        raise ValueError(f"{right} right ones of {answers} answers have no pass@{k}")
    return 1.0 - comb(answers - right, k) / comb(answers, k)


def sizes(answers: int) -> list[int]:
    """The k that are reported of so many answers: 1, 2, 4 and so on, and all of them."""
    doubled = [1 << power for power in range(answers.bit_length()) if 1 << power <= answers]
    return sorted({*doubled, answers}) if answers else []
