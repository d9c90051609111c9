"""The public hub of the double: a few models under their real names, with their recipes.

The document of a model holds `RecipeCollection`; each recipe names a file of its hyperparameters in
JumpStart's bucket, which is made in the emulator at the first look and read with the reader's own
rights. The names of models, members and buckets are those of AWS's SDKs (sagemaker-python-sdk,
nova-forge-sdk); ranges are those of HYPERPARAMETERS.md of sagemaker-hyperpod-recipes where it has
them. Inferred: default values, the exact set of hyperparameters, versions.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.local.training_double.state import now

if TYPE_CHECKING:
    from reward_functions.local.training_double.clients import Clients

HUB: Final = "SageMakerPublicHub"

SEQUENCE: Final = "8K"

CREATED: Final = now()

Specification = dict[str, Any]


class HubModel(NamedTuple):
    """A row of the table.

    Args:
        name: in the public hub.
        asked: id of Bedrock's that answers for the base.
        techniques: that it has recipes of.
        gated: whether its licence has to be accepted.
        nova: whether its weights stay with the service.
    """

    name: str
    asked: str
    techniques: tuple[str, ...] = ("SFT", "DPO", "RLVR", "RLAIF")
    gated: bool = False
    nova: bool = False
    version: str = "1.0.0"


MODELS: Final = {
    model.name: model
    for model in (
        HubModel(
            "meta-textgeneration-llama-3-2-1b-instruct",
            "meta.llama3-2-1b-instruct-v1:0",
            gated=True,
            version="1.25.0",
        ),
        # Bedrock has no Qwen2.5: a model of the family answers for it.
        HubModel("huggingface-llm-qwen2-5-7b-instruct", "qwen.qwen3-32b", version="1.42.0"),
        HubModel("huggingface-reasoning-qwen3-32b", "qwen.qwen3-32b", version="1.0.1"),
        HubModel("openai-reasoning-gpt-oss-20b", "openai.gpt-oss-20b"),
        HubModel(
            "nova-textgeneration-lite-v2",
            "amazon.nova-2-lite-v1:0:256k",
            ("SFT", "RLVR"),
            nova=True,
        ),
        HubModel("huggingface-text2text-flan-t5-xl", "", ()),
    )
}


def _number(kind: str, default: float, low: float, high: float) -> Specification:
    return {"type": kind, "default": default, "min": low, "max": high, "required": True}


def _text(default: str, *choices: str) -> Specification:
    found: Specification = {"type": "string", "default": default, "required": False}
    return found | ({"enum": [*choices]} if choices else {})


FILLED: Final = {
    name: _text("")
    for name in ("data_path", "validation_data_path", "output_path", "reward_lambda_arn")
}
"""What the service fills in itself."""

SHARED: Final[dict[str, Specification]] = FILLED | {
    "learning_rate": _number("float", 1e-5, 1e-7, 1e-3),
    "global_batch_size": _number("integer", 128, 128, 1024),
    "rollout_n": _number("integer", 8, 1, 32),
    "rollout_temperature": _number("float", 1.0, 0.0, 2.0),
    "kl_loss_coef": _number("float", 0.001, 0.0, 1.0),
    "max_epochs": _number("integer", 1, 1, 30),
}

OPEN: Final[dict[str, Specification]] = SHARED | {
    "max_prompt_length": _number("integer", 1024, 512, 16384),
    "max_response_length": _number("integer", 2048, 512, 16384),
    "clip_ratio_low": _number("float", 0.2, 0.0, 1.0),
    "clip_ratio_high": _number("float", 0.2, 0.0, 1.0),
    "lora_rank": _number("integer", 32, 8, 128),
    "lora_alpha": _number("integer", 64, 16, 256),
    "merge_weights": {"type": "boolean", "default": True, "required": False},
}

NOVA: Final[dict[str, Specification]] = SHARED | {
    "max_length": _number("integer", 8192, 1024, 32768),
    "max_steps": _number("integer", 1000, 1, 100_000),
    "save_steps": _number("integer", 100, 1, 100_000),
    "reasoning_effort": _text("low", "low", "high"),
}

PRESETS: Final = ("gsm8k", "prime_code", "prime_math")

JUDGES: Final = (
    "bedrock/openai.gpt-oss-120b-1:0",
    "bedrock/openai.gpt-oss-20b-1:0",
    "bedrock/qwen.qwen3-32b-v1:0",
    "bedrock/qwen.qwen3-coder-30b-a3b-v1:0",
)

PROMPTS: Final = ("cot.jinja", "evaluate.jinja", "faithfulness.jinja", "summarize.jinja")

SCORER: Final[dict[str, Specification]] = {
    "task": _text("gen_qa", "gen_qa"),
    "strategy": _text("gen_qa", "gen_qa"),
    "evaluation_metric": _text("all", "all"),
    "metric": _text("all", "all"),
    "postprocessing": _text("True", "True", "False"),
    "aggregation": _text("mean", "mean", "average", "median", "max", "min", "sum"),
    "preset_reward_function": _text("", "", "prime_math", "prime_code"),
    "lambda_arn": _text(""),
    "lambda_type": _text("rft", "rft", "custom_metrics"),
    "max_new_tokens": _number("integer", 8192, 1, 131072),
    "temperature": _number("float", 0.0, 0.0, 2.0),
    "top_p": _number("float", 1.0, 0.0, 1.0),
    "top_k": _number("integer", -1, -1, 1000),
    "max_model_len": _number("integer", 12000, 1, 1_000_000),
    "data_s3_path": _text(""),
}


def specification(model: HubModel, technique: str) -> dict[str, Specification]:
    """The hyperparameters of a recipe, as its file has them.

    Args:
        model: that is trained or asked.
        technique: such as "RLVR", or "Evaluation".
    """
    if technique == "Evaluation":
        return SCORER
    own = NOVA if model.nova else OPEN
    match technique:
        case "RLVR" if not model.nova:
            return own | {"preset_reward_function": _text("", "", *PRESETS)}
        case "RLAIF":
            judge = _text(JUDGES[0], *JUDGES)
            return own | {
                "judge_model_id": judge,
                "judge_prompt_template": _text(PROMPTS[0], *PROMPTS),
            }
        case _:
            return own


def recipe_name(model: HubModel, technique: str) -> str:
    """The name of a recipe."""
    short = model.name.replace("-", "_")
    return f"{short}_seq8k_gpu_lora_{technique.lower()}"


def document(model: HubModel, region: str) -> str:
    """The document of a model in a region."""
    kinds = [*model.techniques, "Evaluation"] if model.techniques else []
    found = {
        "GatedBucket": model.gated,
        "HostingArtifactUri": f"s3://{bucket(region)}/{model.name}/",
        "RecipeCollection": [_recipe(model, kind, region) for kind in kinds],
    }
    return json.dumps(found)


def _recipe(model: HubModel, kind: str, region: str) -> dict[str, Any]:
    evaluation = kind == "Evaluation"
    what = (
        {"Type": "Evaluation", "EvaluationType": "CustomScorerEvaluation"}
        if evaluation
        else {"Type": "FineTuning", "CustomizationTechnique": kind, "Peft": "LORA"}
    )
    name = recipe_name(model, kind)
    folder = f"s3://{bucket(region)}/recipes/{name}"
    return what | {
        "Name": name,
        "DisplayName": f"simulation: {kind} of {model.name}",
        "SequenceLength": SEQUENCE,
        "ServerlessMeteringType": "Hourly" if model.nova else "Token-based",
        "IsSubscriptionModel": False,
        "SmtjRecipeTemplateS3Uri": f"{folder}_payload_template_sm_jobs_v1.0.0.yaml",
        "SmtjOverrideParamsS3Uri": f"{folder}_override_params_sm_jobs_v1.0.0.json",
    }


def bucket(region: str) -> str:
    """JumpStart's bucket of a region."""
    return f"jumpstart-cache-prod-{region}"


def make_files(clients: Clients, region: str) -> None:
    """Put the files of every recipe into the emulator, where they are not there yet."""
    s3, name = clients.root("s3"), bucket(region)
    if name in {each["Name"] for each in s3.list_buckets()["Buckets"]}:
        return
    s3.create_bucket(Bucket=name)
    for model in MODELS.values():
        for recipe in json.loads(document(model, region))["RecipeCollection"]:
            kind = recipe.get("CustomizationTechnique", "Evaluation")
            content = json.dumps(specification(model, kind)).encode()
            template = f"# simulation: the recipe {recipe['Name']} trains nothing\n".encode()
            for member, body in (
                ("SmtjOverrideParamsS3Uri", content),
                ("SmtjRecipeTemplateS3Uri", template),
            ):
                key = recipe[member].partition(f"{name}/")[2]
                s3.put_object(Bucket=name, Key=key, Body=body)
