"""100,000 samples through one process: the same scores to the end, and memory that stays.

python -m tests.nightly.soak [SAMPLES]
"""

import sys
from itertools import chain, islice, repeat
from resource import RUSAGE_SELF, getrusage

from reward_functions import score_batch, specs

BATCH = 256
GROWTH_MB = 32
"""What a process may grow by between the first tenth of the samples and the last."""


def megabytes():
    """The most memory that this process has had."""
    return getrusage(RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def soaked(spec, number):
    """Score a reward's examples again and again.

    Returns:
        how many batches were scored otherwise than the first, and the growth in megabytes.
    """
    examples = [example.sample(str(at)) for at, example in enumerate(spec.examples)]
    samples = chain.from_iterable(repeat(examples))
    first, different, early = {}, 0, 0.0
    for at in range(number // BATCH):
        results = score_batch(spec, list(islice(samples, BATCH)))
        said = {result.id: getattr(result, "score", None) for result in results}
        different += any(first.setdefault(name, score) != score for name, score in said.items())
        if at == number // BATCH // 10:
            early = megabytes()
    return different, megabytes() - early


def main(number=100_000):
    """Soak every verifier; returns 1 where a score changed or memory grew."""
    rewards = [spec for spec in specs().values() if not spec.needs.judge and spec.examples]
    failed = 0
    for spec in rewards:
        different, grown = soaked(spec, number // len(rewards))
        bad = bool(different) or grown > GROWTH_MB
        failed += bad
        print(f"{spec.name:20} {different} batches differ, {grown:+.1f} MB {'  WRONG' * bad}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
