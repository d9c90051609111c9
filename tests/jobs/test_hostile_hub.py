"""Documents of SageMaker's hub and of S3 as nobody publishes them: each ends in a sentence."""

from __future__ import annotations

import json
from io import BytesIO

import pytest
from botocore.exceptions import IncompleteReadError, ReadTimeoutError
from urllib3.exceptions import ProtocolError

from reward_functions.aws.failures import AwsFailed
from reward_functions.core.errors import ConfigurationError
from reward_functions.jobs import recipes
from reward_functions.jobs.configuration import Serverless
from tests.jobs.hub_service import ACCOUNT, Service, recipe

MOST = 1_500
"""Characters of a message that a person reads."""


@pytest.fixture
def service(monkeypatch):
    made = Service()
    made.models["m"] = json.dumps({"RecipeCollection": [recipe()]})
    monkeypatch.setattr(recipes, "client", made.client)
    return made


def refusal(given=None, **chosen):
    """The sentence that a job of the model ends in."""
    with pytest.raises((ConfigurationError, AwsFailed)) as raised:
        recipes.recipe_of("m", Serverless(**chosen), "us-east-1", ACCOUNT).values(
            given or {}, Serverless(**chosen)
        )
    sentence = str(raised.value)
    assert sentence.isprintable()
    assert len(sentence) < MOST
    return sentence


def of(*entries):
    return {"RecipeCollection": [*entries]}


def at(uri):
    return of(recipe(SmtjOverrideParamsS3Uri=uri))


DOCUMENTS = {
    "nothing": ("", "no object of JSON"),
    "a list": ([], "no object of JSON"),
    "no number": ("NaN", "no object of JSON"),
    "900 techniques": (of(*(recipe(f"T{n}") for n in range(900))), "T11 and 888 more"),
    "a page of the web": (at("https://hub-us-east-1/rlvr.json"), "names no address in S3"),
}


@pytest.mark.parametrize(("document", "words"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_that_is_none_is_refused_in_a_sentence(service, document, words):
    service.models["m"] = document if isinstance(document, str) else json.dumps(document)
    assert words in refusal()


def test_900_lengths_are_not_all_listed(service):
    lengths = (recipe(length=f"{n}K") for n in range(20, 920))
    service.models["m"] = json.dumps(of(*lengths))
    assert "31K and 888 more" in refusal(sequence_length="7K")


OPTIONS = {
    "20,000 of them": ({f"k{n}": {"default": 1} for n in range(20_000)}, {}, "a job takes 100"),
    "a default for a terminal": ({"a": {"default": "z\x1b[1m"}}, {}, "are allowed"),
    "a choice of 100,000": ({"a": {"type": "string", "enum": ["x" * 10**5]}}, {"a": "y"}, "xxx…"),
    "200 choices": (
        *({"a": {"type": "string", "enum": [f"{n}" * 60 for n in range(200)]}}, {"a": "y"}),
        "and 188 more",
    ),
}


@pytest.mark.parametrize(("options", "given", "words"), OPTIONS.values(), ids=OPTIONS)
def test_hyperparameters_that_nobody_can_send_are_refused_in_a_sentence(
    service, options, given, words
):
    service.objects["hub-us-east-1", "rlvr.json"] = json.dumps(options).encode()
    assert words in refusal(given)


class Broken(BytesIO):
    """A body that breaks off in the way of one of boto3's layers."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def read(self, *_):
        raise self.error


ERRORS = [
    ReadTimeoutError(endpoint_url="https://s3.example"),
    IncompleteReadError(actual_bytes=1, expected_bytes=2),
    ProtocolError("cut off"),
    ConnectionResetError(),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_object_that_breaks_off_is_a_sentence(service, error):
    body = Broken(error)
    service.answer_to_get_object = lambda *_: {"Body": body}
    assert refusal().startswith("reading the recipe of m: ")
