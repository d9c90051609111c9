"""A real `GRPOTrainer` on a tiny model of random weights, whose tokenizer is made here.

No hub is asked and no GPU is needed: two steps take seconds. Such a model says nothing worth a
reward; what it shows is what TRL calls, logs and leaves out. TRL is no dependency: `make adapters`
installs it into an environment of its own.
"""

from __future__ import annotations

from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from helpers.shown import Shown
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from helpers.trl_calls import Batch

LINES: Final = (
    "from trl import GRPOConfig, GRPOTrainer",
    "from reward_functions.adapters.trl import reward_func",
    "",
    'rewards = [reward_func("math", reference="answer")]',
    "trainer = GRPOTrainer(model=model, reward_funcs=rewards, args=args, train_dataset=rows)",
    "trainer.train()",
)

CHAT: Final = "{% for m in messages %}{{ m['role'] }}:{{ m['content'] }}\n{% endfor %}"

STEPS: Final = 2


def real_steps(rewards: Sequence[Callable[..., Any]], batch: Batch) -> Shown:
    """The lines that train with a reward, and two steps of it where TRL is installed.

    Args:
        rewards: the reward functions.
        batch: whose prompts and columns are the data set.
    """
    code = Sheet("With TRL", ("line",), [[line] for line in LINES])
    if not find_spec("trl"):
        return Shown(
            [code],
            ["TRL is not installed here, so this was not run; `make adapters` runs it"],
        )
    names = list(batch.columns)
    rows = [
        {"prompt": prompt, **{name: batch.columns[name][at] for name in names}}
        for at, prompt in enumerate(batch.prompts)
    ]
    with TemporaryDirectory() as folder:
        history = trained(folder, rewards, rows).state.log_history
    figures = sorted({name for entry in history for name in entry if name.startswith("rewards/")})
    steps = [entry for entry in history if "reward" in entry]
    lines = [[name, *(f"{entry[name]:.4f}" for entry in steps)] for name in figures]
    heads = ("figure", *(f"step {at}" for at in range(1, len(steps) + 1)))
    return Shown([code, Sheet("What TRL logged", heads, lines)])


def trained(
    folder: str | Path,
    rewards: Sequence[Callable[..., Any]],
    rows: Sequence[dict[str, Any]],
    **options: Any,
) -> Any:
    """The trainer after two steps.

    Args:
        folder: of its files.
        rewards: the reward functions.
        rows: of the data set.
        options: of `GRPOConfig`.
    """
    from datasets import Dataset  # noqa: PLC0415 - an environment of its own has them
    from trl import GRPOConfig, GRPOTrainer  # noqa: PLC0415

    words = tokenizer()
    usual = {
        "max_steps": STEPS,
        "per_device_train_batch_size": 4,
        "num_generations": 4,
        "max_completion_length": 16,
        "logging_steps": 1,
    }
    quiet = {"report_to": [], "save_strategy": "no", "log_completions": True, "disable_tqdm": True}
    trainer = GRPOTrainer(
        model=model(words),
        reward_funcs=list(rewards),
        args=GRPOConfig(output_dir=str(folder), use_cpu=True, **usual | quiet | options),
        processing_class=words,
        train_dataset=Dataset.from_list(list(rows)),
    )
    trainer.train()
    return trainer


def tokenizer() -> Any:
    """One token a byte, made here."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers  # noqa: PLC0415 - as above
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415

    tokens = ["<pad>", "<end>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    made = Tokenizer(models.BPE(vocab={each: at for at, each in enumerate(tokens)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    pad, end = tokens[:2]
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token=pad, eos_token=end, chat_template=CHAT
    )


def model(words: Any) -> Any:
    """A GPT-2 of two layers, of random weights."""
    from transformers import GPT2Config, GPT2LMHeadModel  # noqa: PLC0415 - as above

    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(words),
            n_embd=32,
            n_layer=2,
            n_head=2,
            n_positions=256,
            pad_token_id=words.pad_token_id,
            eos_token_id=words.eos_token_id,
            bos_token_id=words.eos_token_id,
        )
    )
