"""Settings in environment variables: read, checked all at once, and written as they were."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.settings import (
    JSON_OBJECT,
    STRING,
    EnvSettings,
    chosen_from,
    number_within,
    object_in,
    setting,
)

SHARE = number_within(0, 1)
COUNT = number_within(2, whole=True)
LEVEL = chosen_from(["DEBUG", "INFO"], upper=True)


@dataclass(frozen=True, kw_only=True)
class Mine(EnvSettings):
    """Of each kind one."""

    PREFIX: ClassVar = "MINE_"
    NAMED: ClassVar[Mapping[str, str]] = {"level": "LOG_LEVEL"}
    name: str = field(metadata=setting(STRING))
    share: float = field(default=0.5, metadata=setting(SHARE))
    count: int | None = field(default=None, metadata=setting(COUNT))
    level: str = field(default="INFO", metadata=setting(LEVEL))
    given: dict[str, Any] = field(default_factory=dict, metadata=setting(JSON_OBJECT))
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Shared(EnvSettings):
    """Beside variables of others."""

    PREFIX: ClassVar = "MINE_"
    SHARED: ClassVar = True
    share: float = field(default=0.5, metadata=setting(SHARE))


FULL = {
    "MINE_NAME": "n",
    "MINE_SHARE": "0.25",
    "MINE_COUNT": "2",
    "LOG_LEVEL": "DEBUG",
    "MINE_GIVEN": '{"a": [1]}',
    "MINE_NOTE": "so",
}


@pytest.mark.parametrize("left_out", [None, *FULL])
def test_what_is_read_is_written_again(left_out):
    environ = {name: text for name, text in FULL.items() if name != left_out}
    if left_out == "MINE_NAME":
        with pytest.raises(ConfigurationError, match=r"^MINE_NAME is required$"):
            Mine.from_env(environ | {"OTHER": "x"})
        return
    read = Mine.from_env(environ | {"OTHER": "x"})
    written = read.to_env()
    assert Mine.from_env(written) == read
    usual = {"MINE_SHARE": "0.5", "LOG_LEVEL": "INFO", "MINE_GIVEN": "{}"}
    assert written == environ | ({left_out: usual[left_out]} if left_out in usual else {})


def test_settings_of_names_and_of_an_environment_are_the_same():
    given = {"name": "n", "share": 0.25, "count": 2, "level": "debug", "given": {"a": [1]}}
    assert Mine.of(given | {"note": "so"}) == Mine.from_env(FULL) == Mine(**given, note="so")
    assert Mine.of({"name": "n"}) == Mine(name="n")


def test_all_that_is_wrong_is_said_at_once():
    environ = {"MINE_SHARE": "2", "MINE_COUNT": "1", "LOG_LEVEL": "loud", "MINE_GIVEN": "[]"}
    with pytest.raises(ConfigurationError) as raised:
        Mine.from_env(environ)
    assert str(raised.value).split("; ") == [
        "MINE_NAME is required",
        "MINE_SHARE takes a number from 0 to 1",
        "MINE_COUNT takes a whole number of 2 or more",
        "LOG_LEVEL takes one of DEBUG, INFO",
        "MINE_GIVEN takes a JSON object",
    ]
    with pytest.raises(ConfigurationError) as raised:
        Mine(name="", share=True, count=2.0)
    assert str(raised.value).split("; ") == [
        "MINE_NAME takes a string that is not empty",
        "MINE_SHARE takes a number from 0 to 1",
        "MINE_COUNT takes a whole number of 2 or more",
    ]


def test_a_name_that_is_none_is_refused_with_the_next_one():
    with pytest.raises(ConfigurationError, match=r"^MINE_SHAER is not a setting.*'MINE_SHARE'"):
        Mine.from_env(FULL | {"MINE_SHAER": "1"})
    with pytest.raises(ConfigurationError, match=r"^shaer is not a setting.*'share'"):
        Mine.of({"name": "n", "shaer": 1})


def test_of_a_shared_prefix_nothing_is_unknown_and_an_empty_variable_is_not_set():
    assert Shared.from_env({"MINE_SHAER": "1", "MINE_SHARE": ""}) == Shared()
    assert Shared.from_env({"MINE_SHARE": "1"}) == Shared(share=1.0)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (SHARE, "0", 0.0),
        (SHARE, "1", 1.0),
        (SHARE, "-0.01", None),
        (SHARE, "1.01", None),
        (SHARE, "nan", None),
        (SHARE, "x", None),
        (COUNT, "2", 2),
        (COUNT, "1", None),
        (COUNT, "2.0", None),
        (COUNT, str(10**9), 10**9),
        (number_within(0), "inf", None),
        (number_within(0), "1e300", 1e300),
        (LEVEL, "debug", "DEBUG"),
        (LEVEL, "WARN", None),
        (chosen_from(["a"]), "A", None),
        (JSON_OBJECT, '{"a": NaN}', None),
        (JSON_OBJECT, "{", None),
        (JSON_OBJECT, '{"a": {}}', {"a": {}}),
    ],
)
def test_a_kind_takes_what_its_words_say(kind, text, value):
    read = kind.read or kind.accept
    if value is None:
        with pytest.raises(ValueError, match=r"^takes "):
            read(text)
    else:
        assert read(text) == value
        assert type(read(text)) is type(value)


def test_the_words_of_a_kind():
    assert [kind.words for kind in (SHARE, COUNT, LEVEL)] == [
        "number, 0 to 1",
        "whole number, 2 or more",
        "`DEBUG`, `INFO`",
    ]


@pytest.mark.parametrize("value", [{1: "a"}, {"a": object()}, {"a": float("inf")}, {"a": (1,)}])
def test_an_object_that_json_would_change_is_none(value):
    with pytest.raises(ConfigurationError, match="takes a JSON object"):
        Mine(name="n", given=value)


def test_an_object_of_a_text():
    assert object_in('{"a": 1}') == {"a": 1}
    with pytest.raises(ValueError, match="takes a JSON object"):
        object_in("1")
