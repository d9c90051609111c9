"""Every hyperparameter against the service's range, which is botocore's and not ours."""

import gzip
import json
from dataclasses import replace
from math import inf, nan
from pathlib import Path

import botocore
import pytest
from botocore.loaders import create_loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_functions.aws.request_validation import service_model
from reward_functions.jobs.configuration import BadJob, JobConfiguration, load
from reward_functions.jobs.hyperparameters import (
    SAME,
    TABLE,
    Hyperparameter,
    check,
    check_uri,
    hyperparameters,
)

INTEGERS = [
    # botocore's model of RFTHyperParameters, 1.44.5
    ("epochCount", 1, 50),
    ("batchSize", 16, 512),
    ("trainingSamplePerPrompt", 2, 16),
    ("evalInterval", 1, 100),
]
ACCEPTED = [
    *(("bedrock", name, value) for name, low, high in INTEGERS for value in (low, low + 1, high)),
    *(("bedrock", "learningRate", value) for value in (1e-7, 2e-7, 5e-5, 1e-3)),
    *(("bedrock", "reasoningEffort", value) for value in ("low", "medium", "high")),
    *(("bedrock", "maxPromptLength", value) for value in (1, 310, 256_000)),
    *(("bedrock", "inferenceMaxTokens", value) for value in (1, 2_048, 8_192)),
    *(("openai", "n_epochs", 1), ("openai", "batch_size", 4)),
    *(("openai", "learning_rate_multiplier", value) for value in (1.0, 2, 0.01)),
]
WHOLE = "a whole number from {} to {}"
POSITIVE = "a whole number of 1 or more (AWS states no range)"
NO_INTEGERS = (64.0, True, "32", None, nan, inf, [64])
REFUSED = [
    *(
        ("bedrock", name, value, WHOLE.format(low, high))
        for name, low, high in INTEGERS
        for value in (low - 1, high + 1, 0, -1, *NO_INTEGERS)
    ),
    *(
        ("bedrock", "learningRate", value, "a number from 1e-07 to 0.001")
        for value in (9e-8, 0.0010001, 0, 1, -1e-5, nan, inf, -inf, True, "1e-4")
    ),
    *(
        ("bedrock", "reasoningEffort", value, "one of low, medium, high")
        for value in ("none", "HIGH", "", 1, True)
    ),
    *(
        ("bedrock", name, value, POSITIVE)
        for name in ("maxPromptLength", "inferenceMaxTokens")
        for value in (0, -1, 2**31, *NO_INTEGERS)
    ),
    *(
        ("openai", name, value, POSITIVE)
        for name in ("n_epochs", "batch_size")
        for value in (0, -1, "auto", *NO_INTEGERS)
    ),
    *(
        ("openai", "learning_rate_multiplier", value, "a number above 0 (AWS states no range)")
        for value in (0, 0.0, -1, nan, inf, True, "1.0")
    ),
]


def request():
    """The structure of hyperparameters in botocore's own model."""
    service = ServiceModel(create_loader().load_service_model("bedrock", "service-2"), "bedrock")
    shape = service.operation_model("CreateModelCustomizationJob").input_shape
    for name in ("customizationConfig", "rftConfig", "hyperParameters"):
        shape = shape.members[name]
    return shape


BOTOCORE = request()


def refused_by_botocore(given):
    return ParamValidator().validate(given, BOTOCORE).has_errors()


@pytest.mark.parametrize(("driver", "name", "value"), ACCEPTED)
def test_what_is_in_the_range_passes(driver, name, value):
    check(driver, {name: value})


@pytest.mark.parametrize(("driver", "name", "value", "allowed"), REFUSED)
def test_what_is_out_of_the_range_is_refused_with_the_range(driver, name, value, allowed):
    with pytest.raises(BadJob) as refused:
        check(driver, {name: value})
    message = str(refused.value)
    assert message.startswith(f"{name} is ")
    assert message.endswith(f": it must be {allowed}")
    assert len(message) < 200


MISNAMED = [
    ("bedrock", "n_epochs", "n_epochs is called epochCount on Bedrock's control plane"),
    ("openai", "batchSize", "batchSize is called batch_size on the OpenAI-compatible API"),
    ("openai", "learningRate", "learningRate is called learning_rate_multiplier on the OpenAI"),
    ("openai", "maxPromptLength", "the OpenAI-compatible API has no such hyperparameter; it has "),
    ("bedrock", "bacthSize", "Did you mean 'batchSize'?"),
    ("bedrock", "batchsize", "Did you mean 'batchSize'?"),
    ("bedrock", "x" * 100_000, "has no hyperparameter 'xxxx"),
    ("openai", "suffix", "; there are batch_size, learning_rate_multiplier, n_epochs"),
]


@pytest.mark.parametrize(("driver", "name", "sentence"), MISNAMED)
def test_a_wrong_name_is_refused_with_the_right_one(driver, name, sentence):
    with pytest.raises(BadJob) as refused:
        check(driver, {name: 1})
    assert sentence in str(refused.value)
    assert len(str(refused.value)) < 300


VALUES = st.one_of(
    st.integers(-5, 600),
    st.integers(),
    st.floats(allow_nan=True),
    st.floats(1e-8, 1e-2),
    st.booleans(),
    st.none(),
    st.sampled_from(["low", "high", "none", "32"]),
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from([*BOTOCORE.members, "n_epochs"]), VALUES, max_size=4))
def test_whatever_passes_here_passes_botocore_too(given):
    try:
        check("bedrock", given)
    except BadJob:
        return
    assert not refused_by_botocore(given)


BEYOND_BOTOCORE = [{"batchSize": 9_999}, {"learningRate": 1.0}, {"reasoningEffort": "none"}]


@pytest.mark.parametrize("beyond", BEYOND_BOTOCORE, ids=str)
def test_maxima_and_choices_are_nothing_that_botocore_checks(beyond):
    """Why this module exists: these pass botocore, and would reach the service."""
    assert not refused_by_botocore(beyond)
    with pytest.raises(BadJob):
        check("bedrock", beyond)


@pytest.fixture
def changed_model(tmp_path, monkeypatch):
    """botocore's model of Bedrock with other limits, where botocore looks first."""
    packed = Path(botocore.__file__).with_name("data") / "bedrock/2023-04-20/service-2.json.gz"
    model = json.loads(gzip.decompress(packed.read_bytes()))
    model["shapes"]["RFTBatchSize"] |= {"min": 8, "max": 1024}
    model["shapes"]["ReasoningEffort"]["enum"] = ["low", "extreme"]
    members = model["shapes"]["RFTHyperParameters"]["members"]
    members |= {"entropyBonus": {"shape": "RFTLearningRate"}, "isFast": {"shape": "Boolean"}}
    folder = tmp_path / "bedrock" / "2023-04-20"
    folder.mkdir(parents=True)
    (folder / "service-2.json").write_text(json.dumps(model))
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))
    service_model.cache_clear()
    yield
    service_model.cache_clear()


def test_ranges_are_botocores_and_a_newer_one_brings_newer_ranges(changed_model):
    check("bedrock", {"batchSize": 1024, "reasoningEffort": "extreme", "entropyBonus": 1e-4})
    assert "isFast" not in hyperparameters("bedrock")
    for name, value, allowed in [
        ("batchSize", 1025, "a whole number from 8 to 1024"),
        ("reasoningEffort", "medium", "one of low, extreme"),
    ]:
        with pytest.raises(BadJob, match=f"it must be {allowed}$"):
            check("bedrock", {name: value})


def test_a_number_too_long_to_be_printed_is_refused_in_words():
    with pytest.raises(BadJob, match=r"^batchSize is a number of ten digits or more: "):
        check("bedrock", {"batchSize": 10**5_000})


def test_nobody_asks_for_a_profile(monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "nobody-has-this")
    check("bedrock", {"batchSize": 16})


@pytest.mark.parametrize("driver", ["bedrock", "openai"])
def test_every_row_of_advice_is_of_a_hyperparameter_and_in_its_range(driver):
    known = hyperparameters(driver)
    assert TABLE[driver].keys() == known.keys()
    for name, advice in known.items():
        stated = [advice.service, advice.sdk, advice.recommended, *advice.samples]
        for value in stated:
            assert value is None or advice.takes(value), name


def test_equivalent_names_lead_back():
    assert all(SAME[SAME[name]] == name for name in SAME)


@pytest.mark.parametrize("value", ["true", "nan", "64.0", '"32"'])
def test_a_file_brings_a_value_as_it_is_written(tmp_path, value):
    """pydantic alone would make 1 of `true`."""
    file = tmp_path / "job.toml"
    file.write_text(f'model = "m"\ndeployment = "d"\n[hyperparameters]\nbatchSize = {value}\n')
    asked = load(file, {})
    with pytest.raises(BadJob, match="batchSize is"):
        check("bedrock", asked.hyperparameters)


URIS = [
    ("s3://bucket/logs", None),
    ("s3://bucket/" + "a" * 1_012, None),
    ("s3://bucket/" + "a" * 1_013, "has 1,025 characters of 1,024"),
    ("s3://bucket/a b", "is no address that Bedrock takes"),
    ("s3://bucket/a=b", "is no address that Bedrock takes"),
    ("https://bucket/a", "is no address that Bedrock takes"),
    ("", "is no address that Bedrock takes"),
]


@pytest.mark.parametrize(("uri", "sentence"), URIS)
def test_an_address_is_one_that_bedrock_takes(uri, sentence):
    if sentence is None:
        check_uri("invocation_logs.source", uri)
        return
    with pytest.raises(BadJob, match=f"invocation_logs.source: .*{sentence}"):
        check_uri("invocation_logs.source", uri)


def test_a_filter_has_one_condition():
    logs = {"source": "s3://b/l", "filters": {"conditions": [{"equals": {"a": "b"}}]}}
    JobConfiguration(model="m", deployment="d", invocation_logs=logs)
    with pytest.raises(BadJob, match="give one of equals and not_equals"):
        load(None, {"model": "m", "deployment": "d"} | {
            "invocation_logs": {"source": "s3://b/l", "filters": {"conditions": [{}]}}
        })  # fmt: skip


def test_the_ends_of_a_range_of_whole_numbers_are_whole_numbers():
    """A recipe of a hub writes 2.0 for them."""
    whole = Hyperparameter("group_size", "integer", minimum=2.0, maximum=32.0)
    assert whole.range == "a whole number from 2 to 32"
    assert replace(whole, maximum=None).range == "a whole number of 2 or more"
    assert replace(whole, minimum=0.0).range == "a whole number from 0 to 32"
