"""What comes of a row, as it is written."""

import json
from decimal import Decimal

import pytest

from reward_functions import Metric, Score
from reward_functions.core.types import Scored
from reward_functions.scoring.results import row_object, scored_line

SCORES = {
    "no metrics": Score(0.0),
    "a verifier's": Score(1.0, (Metric("answered", 1.0), Metric("truncated", 0.0))),
    "a whole number": Score(1, (Metric("steps", 3),)),
    "a bool": Score(True, (Metric("right", True),)),
    "below nothing": Score(-0.0, (Metric("zero", -0.0), Metric("one", -1e-300))),
    "every digit": Score(0.1 + 0.2, (Metric("third", 1 / 3), Metric("large", 1e22))),
    "a decimal": Score(Decimal("0.1"), (Metric("tenth", Decimal("0.1")),)),
    "a reward of a part": Score(0.5, (Metric("part", 0.25, "Reward"),)),
    "names that JSON escapes": Score(0.5, (Metric('a "name"\n', 1.0), Metric("länge€", 0.0))),
    "equal values of other metrics": Score(1.0, (Metric("1", 1), Metric("True", True))),
}
IDS = ["a", "", 'q"\\\n\t', "ü€🎉", "\x00\x7f", "7", "x" * 200]


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("score", SCORES.values(), ids=SCORES)
def test_a_scored_line_is_its_object_as_json_writes_it(score, name):
    scored = Scored(name, score)
    assert scored_line(scored) == json.dumps(row_object(scored))
