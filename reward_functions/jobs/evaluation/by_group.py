"""The groups that prompts are compared in: a key of their metadata, or the kind of their answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import BadReference, ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.data.answer_kinds import kind_of, stated_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.jobs.asking import Prompt

KIND: Final = "kind of answer"
NONE: Final = "(none)"

LONGEST: Final = 80
"""Characters of a group's name."""


class NoGroup(ConfigurationError):
    """No prompt has the key that groups them."""


def group_names(prompts: Sequence[Prompt], by: str = "") -> dict[str, str]:
    """The group of each prompt, by the prompt's digest.

    Args:
        prompts: of the split.
        by: a key of their metadata, whose values are strings, numbers or truth values; "" groups by
            the kind of their reference: whole number, formula, choice and so on.

    Raises:
        NoGroup: no prompt has the key.
    """
    if not by:
        return {prompt.digest: _kind(prompt) for prompt in prompts}
    names = {prompt.digest: _value(prompt.sample.metadata.get(by)) for prompt in prompts}
    if set(names.values()) == {NONE}:
        keys = {key for prompt in prompts for key in prompt.sample.metadata if key.isidentifier()}
        raise NoGroup(f"--by {by!r}: no row's metadata has this key{did_you_mean(by, keys)}")
    return names


def _value(value: object) -> str:
    if isinstance(value, str | int | float):
        return str(value)[:LONGEST] or NONE
    return NONE


def _kind(prompt: Prompt) -> str:
    try:
        answer, _ = stated_answer(prompt.sample.reference)
    except BadReference:
        return NONE
    return kind_of(answer)
