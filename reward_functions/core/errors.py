"""A low score means the model did badly; an exception means we could not score.

    RewardError
    ├── DatasetError          the training data is at fault
    │   ├── BadSample         the row is no sample: wrong types, fields missing
    │   └── BadReference      the reference is missing, unreadable or of an unknown shape
    ├── ScoringError          we are at fault
    │   ├── InvalidScore      a reward function broke its own declaration
    │   ├── DeadlineReached   the batch's time was over before this sample's turn
    │   └── EngineUnavailable the process that works out hard algebra cannot be had
    └── ConfigurationError    nothing was scored: the caller asked for what does not exist
        ├── UnknownReward
        ├── BadKnob
        └── BrokenPlugin      an entry point could not be loaded, or is no reward function

**The blame table**, the one place that settles who is at fault:

| event | whose | the function | result |
|---|---|---|---|
| empty, off-format, unparsable, oversized or too slow *answer* | policy | returns the floor with a reason | `Scored` |
| a missing generated turn | policy | sees an empty answer | `Scored` |
| missing or unreadable *reference*, a row that is no sample | data set | raises `DatasetError` | `Unscored` |
| the algebra worker cannot start, or dies without the answer's doing | us | raises `EngineUnavailable` | `Unscored` |
| a bug, a non-finite value, a score out of scale, the deadline | us | anything escaping | `Unscored` |

`score_batch` turns exceptions into `Unscored`; what an `Unscored` becomes is decided once per edge
(`reward_functions.serving.imputation` for the Lambda, `helpers.cli._results` for the command line).

Messages of these exceptions describe shapes and names, never the text of a prompt, a response or a
reference: they are logged.
"""

from __future__ import annotations


class RewardError(Exception):
    """Anything this library raises on purpose."""


class DatasetError(RewardError):
    """The training data is at fault: every response to this prompt shares the problem."""


class BadSample(DatasetError):
    """A row that is no sample. The message names the field."""


class BadReference(DatasetError):
    """A reference that is missing or cannot be read. The message names the shape it has."""


class ScoringError(RewardError):
    """We are at fault: the response might have earned anything."""


class InvalidScore(ScoringError):
    """A reward function returned something its declaration excludes."""


class DeadlineReached(ScoringError):
    """The batch's time was over before this sample's turn."""


class EngineUnavailable(ScoringError):
    """The process that works out hard algebra cannot start, or died without the answer's doing."""


class ConfigurationError(RewardError):
    """The caller asked for something that does not exist; no sample was touched."""


class UnknownReward(ConfigurationError):
    """No reward function has this name. The message suggests the nearest ones."""


class BadKnob(ConfigurationError):
    """A knob the reward function does not have, or a value of the wrong type."""


class BrokenPlugin(ConfigurationError):
    """An installed package's `reward_functions` entry point could not be used."""
