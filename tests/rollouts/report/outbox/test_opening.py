"""An outbox by its URL, and where it is by default."""

from __future__ import annotations

import logging
import os
import stat
import sys

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.platforms import NotThisSystem
from reward_functions.rollouts.report.outbox import opening
from reward_functions.rollouts.report.outbox.dynamodb import DynamoDBOutbox
from reward_functions.rollouts.report.outbox.opening import open_outbox, table_url
from reward_functions.rollouts.report.outbox.sqlite import MemoryOutbox, SqliteOutbox

URLS = [
    ("sqlite:///var/lib/x.db", SqliteOutbox, "sqlite:///var/lib/x.db"),
    ("sqlite:////var/lib/x.db", SqliteOutbox, "sqlite:///var/lib/x.db"),
    ("sqlite:///var/a%20b.db", SqliteOutbox, "sqlite:///var/a b.db"),
    ("dynamodb://rollouts", DynamoDBOutbox, "dynamodb://rollouts"),
    (
        "dynamodb://rollouts?region=eu-west-1",
        DynamoDBOutbox,
        "dynamodb://rollouts?region=eu-west-1",
    ),
    ("dynamodb://t.T-1_/?endpoint=http://127.0.0.1:4566", DynamoDBOutbox, "dynamodb://t.T-1_"),
    ("memory:", MemoryOutbox, "memory:"),
]


@pytest.mark.parametrize(("url", "kind", "name"), URLS, ids=[url for url, _, _ in URLS])
def test_a_url_is_an_outbox(url, kind, name):
    opened = open_outbox(url)
    assert type(opened) is kind
    assert opened.name == name


@pytest.mark.parametrize(
    ("table", "region", "url"),
    [
        ("rollouts", "", "dynamodb://rollouts"),
        ("rollouts", "eu-west-1", "dynamodb://rollouts?region=eu-west-1"),
        ("t.T-1_", "us-east-1", "dynamodb://t.T-1_?region=us-east-1"),
    ],
)
def test_the_url_of_a_table_is_that_of_its_outbox(table, region, url):
    assert table_url(table, region) == url
    assert open_outbox(url).name == url


REFUSED = [
    ("sqs://queue", "an outbox is sqlite:///PATH, dynamodb://TABLE?region=REGION or memory:, and"),
    ("/var/lib/x.db", "and '/var/lib/x.db' is none of them"),
    ("memory:x", "'memory' is none of them"),
    (f"{'x' * 30}://queue", f"and '{'x' * 20}' is none of them"),
    ("sqlite://host/x.db", "sqlite:/// and an absolute path: sqlite:///var/lib/outbox.sqlite3"),
    ("sqlite:///", "sqlite:/// and an absolute path"),
    ("sqlite:///x/", "sqlite:/// and an absolute path"),
    ("dynamodb://", "dynamodb:// and the table's name: 3 to 255 letters"),
    ("dynamodb://a b", "dynamodb:// and the table's name"),
    ("dynamodb://table/x", "dynamodb:// and the table's name"),
    ("dynamodb://table?regoin=x", "no parameter 'regoin'. Did you mean 'region'?"),
    ("dynamodb://[", "'dynamodb' is none of them"),
]


@pytest.mark.parametrize(("url", "message"), REFUSED, ids=[url for url, _ in REFUSED])
def test_another_url_is_one_sentence(url, message):
    with pytest.raises(ConfigurationError) as raised:
        open_outbox(url)
    assert message in str(raised.value)


def test_by_default_it_is_in_the_state_folder(tmp_path):
    places = {
        "XDG_STATE_HOME": (tmp_path / "x", tmp_path / "x"),
        "HOME": (tmp_path / "h", tmp_path / "h" / ".local" / "state"),
    }
    for name, (value, state) in places.items():
        opened = open_outbox("", {name: str(value)})
        assert opened.path == state / "reward-functions" / "rollouts" / "outbox.sqlite3"
        assert stat.S_IMODE(opened.path.parent.stat().st_mode) == 0o700


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(opening.tempfile, "gettempdir", lambda: str(tmp_path))
    return tmp_path / f"reward-functions-{os.getuid()}"


@pytest.mark.parametrize("home", [None, "a file"])
def test_where_there_is_no_home_it_is_in_the_temporary_folder(tmp_path, temporary, home, caplog):
    (tmp_path / "a file").write_text("")
    environ = {"HOME": str(tmp_path / home)} if home else {}
    assert open_outbox("", environ).path == temporary / "outbox.sqlite3"
    assert stat.S_IMODE(temporary.stat().st_mode) == 0o700
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "name a table, REWARD_ROLLOUTS_OUTBOX=dynamodb://TABLE" in record.getMessage()


def test_there_is_no_temporary_folder_of_one_user_on_windows(temporary, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(NotThisSystem, match="temporary files needs Linux or macOS"):
        opening.default_path({})
    assert not temporary.exists()


def everybodys(folder):
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)


def link(folder):
    elsewhere = folder.with_name("elsewhere")
    elsewhere.mkdir()
    folder.symlink_to(elsewhere)


def file(folder):
    folder.write_text("")


@pytest.mark.parametrize("put", [everybodys, link, file])
def test_a_temporary_folder_that_somebody_else_may_have_put_there_is_not_used(temporary, put):
    put(temporary)
    with pytest.raises(ConfigurationError, match="not a folder that belongs to this user alone"):
        open_outbox("", {})
