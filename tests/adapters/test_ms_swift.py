"""ms-swift's call expression, recorded."""

import pytest

from reward_functions import Score
from reward_functions.adapters.ms_swift import reward_class
from reward_functions.core.errors import ConfigurationError
from tests.adapters.recorded import PROMPT, RESPONSE, ms_swift


def scored(made, call):
    completions, columns = call
    return made(args=object())(completions, **columns)


def test_the_recorded_call_is_scored():
    assert scored(reward_class("math"), ms_swift(RESPONSE, "41", "")) == [1.0, 0.0, 0.0]


def test_the_class_is_named_as_the_reward_and_is_made_with_or_without_arguments():
    assert reward_class("math").__name__ == "math"
    assert reward_class("math", name="exact").__name__ == "exact"
    assert reward_class("math")()([]) == []


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        ({"solution": ["42", None]}, [1.0, None]),
        ({"solution": [None, None]}, [None, None]),
        ({"solution": ["42", ""]}, [1.0, None]),
        ({"answer": ["41", "42"]}, [0.0, 1.0]),
        (
            {"messages": [7, [{"role": "user", "content": "?"}, {"role": "assistant"}]]},
            [None, 1.0],
        ),
        ({"messages": [[{"content": "x"}], None]}, [None, 1.0]),
        ({"solution": ["42"]}, [None, None]),
    ],
)
def test_none_where_a_row_cannot_be_scored_and_its_neighbours_are(columns, values):
    assert scored(reward_class("math"), ms_swift(RESPONSE, RESPONSE, **columns)) == values


def test_a_column_that_was_named_and_is_not_there_is_an_error_with_those_there_are():
    with pytest.raises(ConfigurationError, match=r"no column 'gold' of 1 rows; .*solution"):
        scored(reward_class("math", reference="gold"), ms_swift(RESPONSE))


def test_a_completion_of_parts_is_its_text():
    parts = [{"type": "text", "text": RESPONSE}]
    assert scored(reward_class("math"), ms_swift(parts)) == [1.0]


def test_the_prompt_is_what_stands_before_the_completion():
    seen = []

    def spy(sample):
        seen.append(sample)
        return Score(1.0)

    scored(reward_class(spy), ms_swift(RESPONSE))
    assert (seen[0].prompt, seen[0].response, seen[0].reference) == (PROMPT, RESPONSE, "42")
    assert "trainer_state" not in seen[0].metadata
