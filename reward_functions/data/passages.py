"""SQuAD's and HotpotQA's rows: questions about passages, and the short answers that are right.

SQuAD: a file of articles, `{"data": [{"paragraphs": [{"context", "qas": [{"id", "question",
"answers": [{"text"}]}]}]}]}`, or rows as the Hugging Face hub has them, whose `answers` are
`{"text": […]}`. Each of several answers is right. A question of version 2 without an answer is
dropped. Rows of a passage share `metadata.page`. Source: Rajpurkar et al., SQuAD, 2016 (arXiv
1606.05250); rajpurkar.github.io/SQuAD-explorer (CC BY-SA 4.0).

HotpotQA: `{"_id", "question", "answer", "type", "level", "context": [[title, [sentence, …]], …]}`,
or the hub's rows, with `id` and `context` as `{"title": […], "sentences": [[…], …]}`. Source: Yang
et al., HotpotQA, 2018 (arXiv 1809.09600); hotpotqa.github.io (CC BY-SA 4.0).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.data.json_rows import BadInput
from reward_functions.data.records import Dropped, Record, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from reward_functions.data.records import Row

NO_ANSWER: Final = "the passage has no answer"

NESTED: Final = ("data", "paragraphs", "qas")
"""Lists within each other that SQuAD's files hold."""


def squad_questions(records: Iterable[Record | BadInput]) -> Iterator[Record | BadInput]:
    """The questions of a file of articles, a record each; those of a table as they are."""
    for record in records:
        if isinstance(record, BadInput) or NESTED[0] not in record.content:
            yield record
            continue
        inside: list[Mapping[str, Any]] = [record.content]
        for name in NESTED:
            inside = [
                {"context": each.get("context", ""), **one}
                for each in inside
                for one in _listed(each, name)
                if isinstance(one, dict)
            ]
        for at, question in enumerate(inside, 1):
            yield Record(question, f"{record.where}, question {at}", record.split)


def _listed(holder: Mapping[str, Any], name: str) -> list[Any]:
    found = holder.get(name)
    return found if isinstance(found, list) else []


def squad_row(record: Record, row: Callable[..., Row]) -> Row | Dropped:
    """The row of a question of SQuAD's, or why it is left out.

    Raises:
        BadRecord: a field is missing or cannot be read.
    """
    name, context = record.text("id"), record.text("context")
    given = record.get("answers")
    listed: Any = given.get("text") if isinstance(given, dict) else given
    if not isinstance(listed, list):
        raise record.bad("answers", "is no list of answers")
    texts = [each.get("text") if isinstance(each, dict) else each for each in listed]
    if not all(isinstance(each, str) and each.strip() for each in texts):
        raise record.bad("answers", "holds an answer without text")
    if not texts:
        return Dropped(name, NO_ANSWER)
    return row(
        record=record,
        id=f"squad-{name}",
        question=record.text("question").strip(),
        fields={"context": context.strip()},
        reference={"answer": _one_or_all(texts)},
        metadata={"page": digest(context)},
    )


def hotpotqa_row(record: Record, row: Callable[..., Row]) -> Row:
    """The row of a question of HotpotQA's.

    Raises:
        BadRecord: a field is missing or cannot be read.
    """
    name = record.text("_id" if "_id" in record.content else "id")
    context = record.get("context")
    parts = (
        zip(context.get("title", ()), context.get("sentences", ()), strict=False)
        if isinstance(context, dict)
        else context
    )
    try:
        passages = [f"{title}\n{''.join(sentences).strip()}" for title, sentences in parts]
    except (TypeError, ValueError):
        raise record.bad("context", "is no list of titles with sentences") from None
    kind, level = record.get("type", ""), record.get("level", "")
    return row(
        record=record,
        id=f"hotpotqa-{name}",
        question=record.text("question").strip(),
        fields={"context": "\n\n".join(passages)},
        reference={"answer": record.text("answer").strip()},
        metadata={key: each for key, each in (("type", kind), ("level", level)) if each},
        counted=str(kind),
    )


def _one_or_all(texts: list[Any]) -> Any:
    different = list(dict.fromkeys(each.strip() for each in texts))
    return different[0] if len(different) == 1 else different
