"""A real `GRPOTrainer` on a tiny model of random weights, whose tokenizer is made here.

No hub is asked and no GPU is needed: two steps take seconds. Such a model says nothing worth a
reward; what it shows is what TRL calls, logs and leaves out. TRL is no dependency: `make adapters`
installs it into an environment of its own.

A batch as TRL has it, and one call of a reward function as TRL calls it; without TRL.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from helpers.sample_data import demo_samples
from helpers.shown import Showing, Shown
from reward_functions import RewardError, Sample, Scored
from reward_functions.core.means import mean
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from reward_functions import RewardResult
    from reward_functions.adapters.trl import RewardFunc


@dataclass(frozen=True, repr=False)
class Batch(Showing):
    """The columns of a batch: a prompt with several completions stands in several rows.

    Args:
        prompts: one a row.
        completions: one a row.
        columns: the further columns of the data set, such as `answer`.
    """

    prompts: Sequence[str]
    completions: Sequence[str]
    columns: dict[str, list[Any]]

    def _shown(self) -> Shown:
        heads = ("prompt", "completion", *self.columns)
        rows = [
            [prompt, completion, *("" if each[at] is None else str(each[at]) for each in further)]
            for at, (prompt, completion) in enumerate(
                zip(self.prompts, self.completions, strict=True)
            )
            if (further := list(self.columns.values()))
        ]
        return Shown([Sheet(f"{len(rows)} rows, as TRL has them", heads, rows, words=heads)])

    def call(self, reward: RewardFunc) -> Call:
        """Call a reward function with the keywords that TRL uses.

        Raises:
            RewardError: the function cannot be used with these columns.
        """
        extra: dict[str, list[Any]] = {}
        metrics: dict[str, float] = {}
        rewards = reward(
            prompts=self.prompts,
            completions=self.completions,
            completion_ids=[[] for _ in self.prompts],
            **self.columns,
            trainer_state=None,
            log_extra=extra.__setitem__,
            log_metric=metrics.__setitem__,
        )
        return Call(self, reward.__name__, rewards, extra, metrics)

    def refusal(self, reward: RewardFunc) -> Shown:
        """The sentence by which a reward function refuses these columns."""
        try:
            self.call(reward)
        except RewardError as error:
            return Shown([], [str(error)])
        return Shown([], ["it is called without an error"])


@dataclass(frozen=True, repr=False)
class Call(Showing):
    """What one call returned and logged.

    Args:
        batch: that was scored.
        name: of the reward.
        rewards: what TRL gets; None where the reward does not apply.
        extra: the columns that were logged.
        metrics: the figures that were logged.
    """

    batch: Batch
    name: str
    rewards: list[float | None]
    extra: dict[str, list[Any]] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)

    def _shown(self) -> Shown:
        heads = ("completion", "reward", *self.extra)
        rows = [
            [
                completion,
                _number(self.rewards[at]),
                *(each[at] or "" for each in self.extra.values()),
            ]
            for at, completion in enumerate(self.batch.completions)
        ]
        words = tuple(head for head in heads if head != "reward")
        return Shown([Sheet("What TRL gets, and what its table logs", heads, rows, words=words)])

    def beside(self, results: Sequence[RewardResult]) -> Shown:
        """The same rows scored by `score_batch`, and whether the two are equal."""
        scored = [result.score.value if isinstance(result, Scored) else None for result in results]
        rows = [
            [completion, _number(ours), _number(theirs)]
            for completion, ours, theirs in zip(
                self.batch.completions, scored, self.rewards, strict=True
            )
        ]
        equal = sum(ours == theirs for ours, theirs in zip(scored, self.rewards, strict=True))
        heads = ("completion", "score_batch", "TRL")
        return Shown([Sheet("", heads, rows)], [f"equal in {equal} of {len(rows)} rows"])

    def logged(self) -> Shown:
        """The figures beside TRL's own."""
        rows = [[name, f"{value:.4f}"] for name, value in self.metrics.items()]
        return Shown([Sheet("Figures of the batch", ("figure", "value"), rows)])

    def against_the_group(self) -> Shown:
        """Each reward less the mean of its group, which rows without a reward are no part of."""
        groups: dict[str, list[float]] = {}
        for prompt, reward in zip(self.batch.prompts, self.rewards, strict=True):
            groups.setdefault(prompt, []).extend([] if reward is None else [reward])
        rows = [
            [
                prompt,
                _number(reward),
                "0, left out" if reward is None else f"{reward - mean(groups[prompt]):+.2f}",
            ]
            for prompt, reward in zip(self.batch.prompts, self.rewards, strict=True)
        ]
        heads = ("prompt", "reward", "less the mean of its group")
        return Shown([Sheet("", heads, rows)])


def trl_batch(reward: str, column: str = "answer") -> Batch:
    """The demo's responses as a data set of TRL's: a row each, the reference in one column.

    Args:
        reward: whose demo rows.
        column: that holds the reference.

    Raises:
        ValueError: the reward has no demo rows.
    """
    samples = samples_of(reward)
    return Batch(
        [sample.prompt for sample in samples],
        [sample.response for sample in samples],
        {column: [sample.reference for sample in samples]},
    )


def samples_of(reward: str) -> list[Sample]:
    """The demo's rows that are valid samples: a data set of TRL's has no others."""
    return [sample for sample in demo_samples(reward) if isinstance(sample, Sample)]


def _number(value: float | None) -> str:
    return "None" if value is None else f"{value:g}"


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
