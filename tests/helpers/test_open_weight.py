"""Open-weight models are named as the stage's region needs it, and no cell shows the key."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from helpers import job_steps
from helpers.job_steps import key, named, open_weight_models
from reward_functions.jobs.clients import VARIABLE, Key, KeySource
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.models import models

SECRET = "bedrock-api-key-c2VjcmV0"

OSS, QWEN = "openai.gpt-oss-20b", "qwen.qwen3-32b"

NAMED = [
    # model, region of the stage, on the emulator, what a job calls it
    (OSS, "us-west-2", False, OSS),
    (QWEN, "us-west-2", True, QWEN),
    (OSS, "us-east-1", False, OSS),
    (OSS, "us-east-1", True, f"arn:aws:bedrock:us-east-1::foundation-model/{OSS}"),
    (QWEN, "us-east-1", True, f"arn:aws:bedrock:us-east-1::foundation-model/{QWEN}"),
]


def somewhere(region="us-east-1", *, local=True):
    place = SimpleNamespace(stage=SimpleNamespace(region=region), session=None)
    return SimpleNamespace(place=place, local=local)


@pytest.mark.parametrize(("model", "region", "local", "name"), NAMED)
def test_a_model_is_named_as_its_region_needs_it(model, region, local, name):
    assert named(model, somewhere(region, local=local)) == name


def test_a_model_that_is_not_in_the_table_is_refused():
    with pytest.raises(BadJob, match="gpt-oss-20b"):
        named("openai.gpt-oss-2b", somewhere())


def test_every_model_of_the_api_is_a_row():
    (sheet,) = open_weight_models().sheets
    assert [row[0] for row in sheet.rows] == [
        each.id for each in models() if each.driver == "openai"
    ]


@pytest.mark.parametrize("given", [True, False])
def test_no_cell_shows_the_key(given, monkeypatch):
    monkeypatch.setattr(job_steps, "openai_base_url", lambda *_: "https://api.example/v1")
    if given:
        monkeypatch.setenv(VARIABLE, SECRET)
    else:
        expires = datetime(2026, 1, 1, tzinfo=UTC)
        source = KeySource(lambda: Key(SECRET, expires))
        monkeypatch.setattr(job_steps, "key_source", lambda *_: source)
    shown = key(somewhere())
    assert "c2VjcmV0" not in shown._repr_html_() + repr(shown)
    assert (f"given in {VARIABLE}" in repr(shown)) is given
    assert ("12 hours at most" in repr(shown)) is not given
