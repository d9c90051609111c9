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
from reward_functions.jobs.parts import Serverless
from reward_functions.jobs.recipe_fields import hyperparameters_of
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
    "depth": ("[" * 100_000, "no object of JSON"),
    "objects without an end": ('{"a":' * 100_000, "no object of JSON"),
    "nothing": ("", "no object of JSON"),
    "a list": ([], "no object of JSON"),
    "no number": ("NaN", "no object of JSON"),
    "a collection that is no list": ({"RecipeCollection": {"a": 1}}, "no recipe for serverless"),
    "entries that are none": (of(1, None, [], "x"), "no recipe for serverless"),
    "a technique that is a list": (of(recipe(CustomizationTechnique=["RLVR"])), "for none"),
    "techniques for a terminal": (of(recipe("\x1b[31m\nSFT"), recipe("DPO")), "those for DPO"),
    "900 techniques": (of(*(recipe(f"T{n}") for n in range(900))), "T11 and 888 more"),
    "a page of the web": (at("https://hub-us-east-1/rlvr.json"), "names no address in S3"),
    "an address that is a number": (at(7), "names no address in S3"),
    "a key for a terminal": (at("s3://hub-us-east-1/a\x1b[1m"), "names no address in S3"),
    "a bucket in capitals": (at("s3://Hub/rlvr.json"), "names no address in S3"),
    "a multi-region access point": (
        *(at("s3://arn:aws:s3::123456789012:accesspoint/x.mrap/k"), "names no address in S3"),
    ),
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
    "a choice of two lines": (
        *({"a": {"type": "string", "enum": ["x\ny", "z"]}}, {"a": "y"}, "must be one of z"),
    ),
    "a choice of 4,000 digits": (
        *({"a": {"type": "integer", "enum": [int("9" * 4_000), 2]}}, {"a": 1}, "be one of 2"),
    ),
}


@pytest.mark.parametrize(("options", "given", "words"), OPTIONS.values(), ids=OPTIONS)
def test_hyperparameters_that_nobody_can_send_are_refused_in_a_sentence(
    service, options, given, words
):
    service.objects["hub-us-east-1", "rlvr.json"] = json.dumps(options).encode()
    assert words in refusal(given)


LEFT_OUT = {
    # what a document has, and what is read: (minimum, maximum, choices)
    "a range that is none": ({"type": "integer", "min": 5, "max": 1}, (None, None, ())),
    "a range of no numbers": ({"type": "float", "min": "0", "max": [1]}, (None, None, ())),
    "choices of another kind": ({"type": "integer", "enum": ["1", True, 2]}, (None, None, (2,))),
    "choices that are no list": ({"type": "string", "enum": {"x": 1}}, (None, None, ())),
    "a choice that is no number": ({"type": "float", "enum": [float("nan")]}, (None, None, ())),
    "a type within lists": ({"type": [["integer"]], "default": 1, "min": 1}, (1, None, ())),
}


@pytest.mark.parametrize(("entry", "read"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_is_not_of_its_kind_is_left_out(entry, read):
    found = hyperparameters_of({"a": entry})["a"]
    assert (found.minimum, found.maximum, found.choices) == read


def test_a_name_that_does_not_print_is_left_out():
    assert list(hyperparameters_of({"a\x1b\nb": {"required": True}, "": {}, "c": {}})) == ["c"]


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
    assert "the connection broke off" in refusal()
