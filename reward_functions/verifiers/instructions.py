"""The response follows the instructions of its row that a program can check: IFEval's 25."""

from __future__ import annotations

import json
from html import unescape
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.core import patterns as re
from reward_functions.core.errors import BadReference, ConfigurationError
from reward_functions.core.references import reference_fields
from reward_functions.core.spec import Example, reward_function, warn_where_alone
from reward_functions.core.types import Evidence, Metric, Sample, Score
from reward_functions.extraction.invisible import strip_invisible
from reward_functions.extraction.reasoning import without_reasoning
from reward_functions.quantities.unicode_forms import folded, half_width, visible
from reward_functions.verifiers._instructions.checks import (
    GROUPS,
    Asked,
    has_meaning,
    has_word,
    problem,
    word_count,
)
from reward_functions.verifiers._instructions.writing import written_for

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_ASKED: Final = 32
"""Instructions of one row."""

LONGEST_RESPONSE: Final = 50_000
"""Characters of a response that is read."""

MARGIN: Final = 200
"""Characters before a copy of the prompt that is looked for."""

QUOTED: Final = 0.5
"""The share of its prompt from which a response that only quotes it is an echo."""

_RENDERED: Final = re.compile(
    r"&(?!quot;|#34;)(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,30});|(?<=\])\(\w{1,10}:[^\s()]{1,300}\)"
    r"|(?<!<)</?(?:a|b|i|u|em|strong|span|small|mark|font|su[bp]|wbr"
    r"|(?P<block>p|br|hr|h[1-6]|li|[ou]l|div|t[rdh]|table))(?:\s[^<>]{0,200})?/?>(?!>)"
)
"""Of HTML and Markdown, what a reader sees otherwise: entities, addresses of links, tags."""

FORM: Final = (
    "instructions pays for form alone, and does not read what the response says: let it be the "
    'gate of a reward that reads the response, gated("instructions", "rubric", threshold=1.0)'
)


def asked_of(reference: Any) -> tuple[Asked, ...]:
    """The instructions of a reference.

    Args:
        reference: a list of objects with `id` and the arguments; or an object with IFEval's own
            columns, `instruction_id_list` and `kwargs`; either may be JSON in a string. An argument
            that is null counts as absent.

    Raises:
        BadReference: it has another shape, or an instruction cannot be checked.
    """
    listed = _listed(reference)
    if not 0 < len(listed) <= MOST_ASKED:
        raise BadReference(f"the reference lists {len(listed)} instructions: 1 to {MOST_ASKED}")
    return tuple(_asked(at, *each) for at, each in enumerate(listed, 1))


def _listed(reference: Any) -> list[tuple[Any, Any]]:
    """The ids and the arguments that a reference lists."""
    fields = reference_fields(reference)
    if fields is not None:
        ids, arguments = fields.get("instruction_id_list"), fields.get("kwargs")
        if isinstance(ids, list) and isinstance(arguments, list) and len(ids) == len(arguments):
            return list(zip(ids, arguments, strict=True))
        raise BadReference("instruction_id_list and kwargs are not two lists of one length")
    if isinstance(reference, str) and reference.lstrip().startswith("["):
        try:
            reference = json.loads(reference)
        except (ValueError, RecursionError):
            raise BadReference("the reference is a string that is no JSON") from None
    if not isinstance(reference, list) or not all(isinstance(each, dict) for each in reference):
        raise BadReference("the reference is no list of instructions")
    return [(each.get("id"), {**each, "id": None}) for each in reference]


def _asked(at: int, name: Any, arguments: Any) -> Asked:
    """An instruction that can be checked.

    Raises:
        BadReference: its id or an argument is unknown, missing, or of another kind.
    """
    if not isinstance(arguments, dict):
        raise BadReference(f"instruction {at}: its arguments are no object")
    given = {key: value for key, value in arguments.items() if value is not None}
    if why := problem(name, given):
        raise BadReference(f"instruction {at}: {why}")
    whole = {key: int(value) for key, value in given.items() if isinstance(value, float)}
    return Asked(name, given | whole)


def _near_miss(sample: Sample) -> float:
    """What all instructions but one earn under `mode="share"`."""
    return 1 - 1 / len(asked_of(sample.reference))


def _gold(sample: Sample) -> str:
    """A response that follows all instructions.

    Raises:
        BadReference: there is no reference, or none is found: instructions may contradict others.
    """
    asked = asked_of(sample.reference)
    text = written_for(asked)
    missed = [each.id for each in asked if not _follows(each, text, _seen(text))]
    if missed:
        raise BadReference(f"no response was found that follows {missed[0]} and the others")
    return text


def _check(*, mode: str, loose: bool, least_words: int) -> None:  # noqa: ARG001
    if least_words < 0:
        raise ConfigurationError(f"instructions: least_words is 0 or more, not {least_words}")


_POEM: Final = [
    {"id": "detectable_format:title"},
    {"id": "keywords:existence", "keywords": ["heron"]},
]


@reward_function(
    version=1,
    gold_response=_gold,
    metrics=("followed", "asked", *[f"{group}_missed" for group in GROUPS]),
    check=_check,
    partial_credit=_near_miss,
    examples=[
        Example("positive", response="<<Dawn>>\nA heron stands.", reference=_POEM, score=1.0),
        Example(
            "partial",
            response="A heron stands.",
            reference=_POEM,
            score=0.5,
            parameters={"mode": "share"},
            why="the title is missing",
        ),
        Example("negative", response="A heron stands.", reference=_POEM, score=0.0),
        Example("attack", response="", reference=[{"id": "punctuation:no_comma"}], score=0.0),
        Example("attack", response="<<!>> herons", reference=_POEM, score=0.0),
        Example(
            "attack",
            response="Write a poem without any commas.",
            prompt="Write a poem without any commas.",
            reference=[{"id": "punctuation:no_comma"}],
            score=0.0,
            why="the prompt, echoed",
        ),
    ],
)
def instructions(
    sample: Sample,
    *,
    mode: Literal["all", "share"] = "all",
    loose: bool = False,
    least_words: int = 0,
) -> Score:
    """The response follows the instructions of its row that a program can check: IFEval's 25.

    Reference: a list of `{"id": "length_constraints:number_words", "relation": "less than",
    "num_words": 60}`, or an object with IFEval's columns `instruction_id_list` and `kwargs`. Scale:
    0.0 to 1.0. Reasoning is left out. A response that says nothing, or only quotes its prompt,
    earns 0. Metrics: `followed` and `asked`, in instructions; of each group of IFEval's, how many
    were missed (`keywords_missed`).

    Not handled: what the response says, which is why this is a gate and no reward of its own.
    Source: Zhou et al., Instruction-Following Evaluation for Large Language Models, 2023 (arXiv
    2311.07911); its checker draws missing arguments at random, and pays what it cannot check.

    Args:
        sample: the response and its reference.
        mode: 1.0 where all instructions are followed, else 0.0; or the share that are.
        loose: an instruction is also followed by the response without its first line, its last
            line, its asterisks, or several of these, as in IFEval.
        least_words: words that a response has at least.

    Raises:
        BadReference: there is no list of instructions, an id is unknown, an argument is unknown,
            missing or of another kind.
    """
    warn_where_alone(FORM)
    asked = asked_of(sample.reference)
    text = without_reasoning(sample.response)
    rule = _worthless(text, sample.prompt, least_words)
    if rule:
        return _score(asked, asked, mode, Evidence(rule))
    texts = [(each, _seen(each)) for each in (_variants(text) if loose else [text])]
    missed = [each for each in asked if not any(_follows(each, *both) for both in texts)]
    if not missed:
        return _score(asked, missed, mode, Evidence("followed"))
    first = missed[0]
    wanted = f"{first.relation} {first.number}"
    return _score(
        asked, missed, mode, Evidence(rule_name(first.id), str(first.counted(text)), wanted)
    )


def rule_name(name: str) -> str:
    """The id of the rule of an instruction: `keywords-existence`."""
    return name.replace(":", "-").replace("_", "-")


def _worthless(text: str, prompt: str, least_words: int) -> str:
    """The rule by which a response earns nothing before any check runs; "" for none."""
    if len(text) > LONGEST_RESPONSE:
        return "too-long"
    seen = _seen(text)
    if not has_word(seen):
        return "no-text"
    if _is_echo(seen, folded(prompt)):
        return "prompt-echo"
    return "least-words" if least_words and word_count(seen) < least_words else ""


def _is_echo(text: str, prompt: str) -> bool:
    """Whether a text is its prompt, once or more often, or more than half of it."""
    if not has_meaning(prompt):
        return False
    head = folded(text[: 2 * len(prompt) + MARGIN])
    if prompt in head:
        return not has_word(folded(text).replace(prompt, ""))
    return QUOTED * len(prompt) < len(head) <= len(prompt) and head in prompt


def _seen(text: str) -> str:
    """What a reader sees: nothing hidden or struck out, and one width of letters."""
    return half_width(visible(_RENDERED.sub(_rendered, strip_invisible(text))))


def _rendered(found: re.Match[str]) -> str:
    return unescape(found[0]) if found[0][0] == "&" else " " * bool(found["block"])


def _follows(asked: Asked, text: str, seen: str) -> bool:
    """Whether what is written, and what a reader sees of it, follow an instruction."""
    return has_word(seen) and asked.holds(text) and (seen == text or asked.holds(seen))


def _variants(text: str) -> Sequence[str]:
    """The text, and what is left without its first line, its last line, its asterisks."""
    lines = text.split("\n")
    cut = [text, *("\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1]))]
    return list(dict.fromkeys([*cut, *(each.replace("*", "") for each in cut)]))


def _score(asked: Sequence[Asked], missed: Sequence[Asked], mode: str, evidence: Evidence) -> Score:
    followed = len(asked) - len(missed)
    value = followed / len(asked) if mode == "share" else float(not missed)
    groups = [each.id.partition(":")[0] for each in missed]
    metrics = (
        Metric("followed", float(followed)),
        Metric("asked", float(len(asked))),
        *[Metric(f"{group}_missed", float(groups.count(group))) for group in GROUPS],
    )
    named = ", ".join(dict.fromkeys(each.id for each in missed))
    reason = f"{followed} of {len(asked)} are followed" + (f", not {named}" if named else "")
    return Score(value, metrics, None, reason, evidence)
