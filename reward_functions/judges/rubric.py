"""A rubric of small criteria, each decided by a judge model, weighed together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.core.files import File
from reward_functions.core.references import reference_text
from reward_functions.core.spec import Needs, reward_function
from reward_functions.judge_runtime.material import conversation, material, shown_response
from reward_functions.judge_runtime.prefilter import prefilter
from reward_functions.judge_runtime.prompting import MAX_CHARS, prompt_of, question
from reward_functions.judge_runtime.rubric_file import Rubric, examples_of, rubric_of
from reward_functions.judge_runtime.scores import METRICS, judged, prefiltered

if TYPE_CHECKING:
    from reward_functions.core.asking import Ask
    from reward_functions.core.types import Sample, Score


DEFAULT: Final = File("instruction_following")


def _check(*, criteria: File, max_chars: int) -> None:  # noqa: ARG001 - all the parameters are given
    rubric_of(criteria)


@reward_function(
    version=3,
    metrics=METRICS,
    needs=Needs(judge=True),
    check=_check,
    examples=[
        *examples_of("instruction_following", "criteria"),
        *examples_of("summarization", "criteria"),
        *examples_of("reasoning", "criteria"),
        *examples_of("rag_faithfulness", "criteria"),
    ],
)
def rubric(
    sample: Sample,
    ask: Ask,
    *,
    criteria: File = DEFAULT,
    max_chars: int = MAX_CHARS,
) -> Score:
    """The response meets the criteria of a rubric, by the decisions of a judge model.

    Reference: as the rubric says; `reasoning` needs a text or a number, `rag_faithfulness`
    needs passages under `context`, `documents` or `passages` of the metadata, the others need none.
    Scale: 0 to 1, the weighted mean of the criteria, and 0 where a gate is failed or the response
    speaks to its judge. Metrics: `prefiltered`, `addressed`, `confidence`.

    Reasoning sections are set aside. The judge sees the conversation, the response, and what the
    rubric asks for. Not handled: images, and tools the response called.

    Args:
        sample: the response and what it answers.
        ask: the judge model.
        criteria: a shipped rubric, or a `.toml` or `.json` file, which a deployment carries.
        max_chars: of the response that the judge sees, from its beginning and its end.

    Raises:
        BadReference: the rubric asks for a reference or a text that is not there.
        BadJudge: there is no such rubric.
        JudgeUnavailable: no judge model could be asked.
        NoVerdict: its answer is no legal verdict.
    """
    chosen = rubric_of(criteria)
    data = _data(chosen, sample)
    if rejected := prefilter(sample, data.get("reference", "")):
        return prefiltered(rejected)
    prompt = prompt_of(__file__)
    verdicts = [
        ask(
            question(
                prompt,
                sample,
                [field for each in group for field in each.fields],
                data,
                notes={"task": chosen.task, "criteria": chosen.text(group)},
                quotable="response",
                max_chars=max_chars,
                turn=turn,
            )
        )
        for turn, group in enumerate(chosen.calls)
    ]
    choices = {name: value for verdict in verdicts for name, value in verdict.values.items()}
    value, summary = chosen.score(choices)
    return judged(value, verdicts, summary)


def _data(chosen: Rubric, sample: Sample) -> dict[str, str]:
    """The strings of the slots; those the rubric does not ask for are empty."""
    reference = passages = ""
    if chosen.reference == "required" or (chosen.reference == "optional" and sample.reference):
        reference = reference_text(sample.reference)
    if chosen.material:
        passages = material(sample, chosen.material, chosen.keys)
    return {
        "prompt": conversation(sample),
        "reference": reference,
        "material": passages,
        "response": shown_response(sample),
    }
