r"""The public data sets: their files, their records, and the row that becomes of each.

BFCL: questions with tools, in `bfcl`.

BIRD: 12,751 questions about 95 databases of SQLite. A record has `db_id`, `question`, `SQL`, and
may have `evidence`, a hint, and `difficulty`. The databases are not among its files here: the
reward finds them in the folder that its parameter `databases` names. Schemas come from the file of
tables beside it. Source: Li et al., Can LLM Already Serve as A Database Interface?, 2023 (arXiv
2305.03111); bird-bench.github.io (CC BY-SA 4.0).

FinQA: 8,281 questions about pages of annual reports, each with a program for its answer. A record
has `id`, `filename` (the page), `pre_text`, `table`, `post_text`, and `qa` with `question`,
`answer` (what a person wrote), `exe_ans` (what the program computed) and `program`. Every program
is executed again here, and the three are compared: where they disagree the record is noisy, since a
policy would be paid for one answer and taught that the other is wrong. Rows of a page share
`metadata.page`. Source: Chen et al., FinQA: A Dataset of Numerical Reasoning over Financial Data,
2021 (arXiv 2109.00122); github.com/czyssrs/FinQA (MIT).

GSM8K: 8,792 word problems of grade-school arithmetic. A record is `{"question", "answer"}`; the
answer is a worked solution with calculator notes in `<<…>>` that ends in `#### n`. Source: Cobbe et
al., Training Verifiers to Solve Math Word Problems, 2021 (arXiv 2110.14168);
github.com/openai/grade-school-math (MIT).

IFEval: prompts with instructions that a program can check (`ifeval`).

HotpotQA and SQuAD: questions about passages (`passages`).

MATH: 12,500 competition problems. A record is a file `<split>/<subject>/<n>.json` with `problem`,
`level`, `type` and `solution`, whose answer stands in a `\boxed{…}`. It is read from a folder, or
from the tar archive it was published as, which is not unpacked; or from the tables that the Hugging
Face hub has, whose subject may be called `subject`. Source: Hendrycks et al., Measuring
Mathematical Problem Solving With the MATH Dataset, 2021 (arXiv 2103.03874);
github.com/hendrycks/math (MIT).

PandaLM: pairs of responses to 170 prompts, with the votes of three people. A record has `idx`,
`cmp_key`, `instruction`, `input`, `response1`, `response2` and `annotator1` to `annotator3`, each
of which is 1 or 2 for the better response, or 0 for a tie. The public file went through a
spreadsheet: strings arrive as true, NaN or numbers, and are strings again here. The policy is the
judge: it compares, and the label is the vote of the majority. A pair all three of whom differ has
no label. There is no official split. Rows of one instruction and input share `metadata.prompt`,
which keeps them on one side of a split that is made. Source: Wang et al., PandaLM: An Automatic
Evaluation Benchmark for LLM Instruction Tuning Optimization, 2023 (arXiv 2306.05087);
github.com/WeOpenML/PandaLM (Apache-2.0).

Spider: 10,181 questions about 200 databases. A record has `db_id`, `question` and `query`; the rest
is as with BIRD. At its public home is the development split, 1,034 questions. Source: Yu et al.,
Spider: A Large-Scale Human-Labeled Dataset for Complex and Cross-Domain Semantic Parsing and
Text-to-SQL Task, 2018 (arXiv 1809.08887); github.com/taoyds/spider (CC BY-SA 4.0).
"""

from __future__ import annotations

import json
import re
import tarfile
import tomllib
import zlib
from collections import Counter
from functools import partial
from itertools import chain
from math import isnan
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.core.errors import BadReference, ConfigurationError
from reward_functions.core.jsons import json_kind
from reward_functions.data.bfcl import bfcl_files, bfcl_outcomes
from reward_functions.data.ifeval import ifeval_row
from reward_functions.data.json_rows import BadInput
from reward_functions.data.passages import hotpotqa_row, squad_questions, squad_row
from reward_functions.data.records import (
    BadRecord,
    Dropped,
    Record,
    Row,
    digest,
    each,
    unrepeated,
)
from reward_functions.data.rows.formats import ENDINGS
from reward_functions.data.schemas import NAMED, schema_files, schemas_of
from reward_functions.data.sources import NAMES, PublicFile, records_of, split_files
from reward_functions.extraction.answer import Answer
from reward_functions.extraction.markup import plain
from reward_functions.extraction.selection import boxed_answer
from reward_functions.finqa.program import ProgramError, execute, parse
from reward_functions.finqa.reference import Reference, as_json, classify_record
from reward_functions.quantities.numerals import quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reward_functions.data.records import RecordOutcome

Dataset = Literal[
    "bfcl", "bird", "finqa", "gsm8k", "hotpotqa", "ifeval", "math", "pandalm", "spider", "squad"
]

Noise = Literal["drop", "keep", "mark"]
"""What becomes of a noisy record: left out; kept, its reference accepting either answer; the same,
and every row says in its metadata whether it is noisy."""

TABLES: Final = (*ENDINGS, ".ndjson", ".tsv.gz", ".json.gz")
"""How the names of files end that hold many problems, a row each."""

VERDICTS: Final = ("Tie", "Response 1", "Response 2")
"""The policy's verdict on a pair, by label."""

ANNOTATORS: Final = ("annotator1", "annotator2", "annotator3")

NO_MAJORITY: Final = "no two annotators agree"
DUPLICATE: Final = "the same pair again"
CONFLICT: Final = "the same pair under another label"

QUERIES: Final[Mapping[str, str]] = {"bird": "SQL", "spider": "query"}
"""Data sets of questions about databases, and the field that holds the gold query."""

SPIDER_TRAIN: Final = ("train_spider.json", "train_others.json")
"""Spider's training split, as its archive names it."""

_TABLE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

REWARDS: Final[dict[str, str]] = {name: own.get("reward", name) for name, own in _TABLE.items()}
"""The reward that the rows of a data set are for."""

_NOTE: Final = re.compile(r"<<[^<>]*>>")
"""What the calculator of GSM8K's paper wrote: `<<16-3-4=9>>`."""


def public_files(dataset: Dataset) -> tuple[PublicFile, ...]:
    """The files of a data set at its public home, at a pinned revision."""
    own = _TABLE[dataset]
    files = own["files"].items()
    return tuple(PublicFile(own["home"], path, sha256 or None) for path, sha256 in files)


def files(dataset: Dataset, source: Path) -> list[Path]:
    """The files of a source that are read."""
    if dataset == "bfcl":
        return bfcl_files(source)
    if dataset in QUERIES:
        asked = [] if source.name.endswith(NAMED) else _query_files(dataset, source)
        return [*(file for file, _ in asked), *schema_files([source])]
    if dataset == "math" and _is_problems(source):
        return list(_problem_files(source))
    return [file for file, _ in split_files(source, merged=dataset == "math")]


def _query_files(dataset: Dataset, source: Path) -> list[tuple[Path, str | None]]:
    """The files of questions in a source, and their splits: Spider's training split has two.

    Raises:
        ConfigurationError: there is none.
    """
    own = [source / name for name in SPIDER_TRAIN] if dataset == "spider" else []
    train: list[tuple[Path, str | None]] = [(path, "train") for path in own if path.is_file()]
    try:
        return [*split_files(source), *train]
    except ConfigurationError:
        if not train:
            raise
        return train


def outcomes_of(
    dataset: Dataset, sources: Sequence[Path], noise: Noise = "drop"
) -> Iterator[RecordOutcome]:
    """The outcome of every record of some sources, one after another; errors as of `outcomes`.

    Questions of BFCL stand in other files than their answers.
    """
    if dataset == "bfcl":
        parts = [file for source in sources for file in bfcl_files(source)]
        return bfcl_outcomes(parts, partial(_row, "bfcl"))
    return chain.from_iterable(outcomes(dataset, source, noise, sources) for source in sources)


def outcomes(
    dataset: Dataset, source: Path, noise: Noise = "drop", beside: Sequence[Path] = ()
) -> Iterator[RecordOutcome]:
    """The outcome of every record of a file, or of a folder of them.

    Args:
        dataset: its name.
        source: the file or folder.
        noise: what becomes of noisy records of FinQA.
        beside: the other files of the data set, among which schemas of databases are looked for.

    A pair of PandaLM's that comes again is dropped; one that comes again under another label is
    dropped wherever it stands, since none of its labels is exact.

    Raises:
        ConfigurationError: the data set has no such source.
        OSError: it cannot be read.
    """
    if dataset in QUERIES:
        if not source.name.endswith(NAMED):
            asked = partial(query_row, dataset, schemas_of([source, *beside]))
            for file, split in _query_files(dataset, source):
                yield from each(records_of(file, split), asked)
        return
    row = partial(finqa_row, noise=noise) if dataset == "finqa" else ROWS[dataset]
    if dataset == "math":
        yield from _some(each(_problems(source), row), source)
    elif dataset == "pandalm":
        pairs = [pair for file in files(dataset, source) for pair in each(records_of(file), row)]
        labels: dict[str, set[int]] = {}
        for pair in pairs:
            if isinstance(pair, Row):
                labels.setdefault(_pair(pair), set()).add(pair.reference["label"])
        yield from unrepeated(pairs, labels, _pair, repeated=DUPLICATE, conflict=CONFLICT)
    else:
        for file, split in split_files(source):
            found = records_of(file, split)
            yield from each(squad_questions(found) if dataset == "squad" else found, row)


def _row(dataset: Dataset, record: Record, **parts: Any) -> Row:
    """The row of a record, its prompt worded as the data set's are."""
    own = _TABLE[dataset]
    return Row(
        system=own["system"],
        request=own["request"],
        template=own.get("template", ""),
        split=record.split,
        **parts,
    )


def query_row(dataset: Dataset, schemas: Mapping[str, str], record: Record) -> Row:
    """The row of a question about a database, of Spider's or BIRD's.

    Raises:
        BadRecord: a field is missing or cannot be read, or nobody knows the schema.
    """
    database, question = record.text("db_id"), record.text("question").strip()
    query = record.text(QUERIES[dataset]).strip()
    if database not in schemas:
        raise record.bad("db_id", f"is of no database in {NAMED}")
    hint = record.get("evidence", "") or ""
    difficulty = record.get("difficulty", "")
    return _row(
        dataset,
        record,
        id="-".join([dataset, *filter(None, [record.split]), digest(database, question, query)]),
        question=f"{question}\nHint: {hint}" if str(hint).strip() else question,
        fields={"schema": schemas[database]},
        reference={"sql": query, "database": database},
        metadata={"database": database, **({"difficulty": difficulty} if difficulty else {})},
        counted=str(difficulty),
    )


def gsm8k_row(record: Record) -> Row:
    """The row of a record of GSM8K.

    Raises:
        BadRecord: a field is missing or cannot be read.
    """
    question, answer = record.text("question"), record.text("answer")
    solution, marker, final = answer.rpartition("####")
    final = final.strip()
    if not marker:
        raise record.bad("answer", "has no ####")
    if quantity(plain(final)) is None:
        raise record.bad("answer", "has no number after its ####")
    return _row(
        "gsm8k",
        record,
        id="-".join(["gsm8k", *filter(None, [record.split]), digest(question)]),
        question=question.strip(),
        reference={"final_answer": final},
        metadata={"solution": _NOTE.sub("", solution).strip()},
    )


def finqa_row(record: Record, noise: Noise = "drop") -> Row | Dropped:
    """The row of a record of FinQA, or why it is left out.

    Raises:
        BadRecord: a field is missing or cannot be read, or the program cannot be executed.
    """
    name, page, question = (record.text(field) for field in ("id", "filename", "qa.question"))
    context = _context(record)
    reference = _executed(record)
    agreement = reference.agreement
    assert agreement is not None, "a classified record has a class"
    if agreement.noisy and noise == "drop":
        return Dropped(name, agreement.value)
    marked = {"noisy": agreement.noisy} if noise == "mark" else {}
    return _row(
        "finqa",
        record,
        id=name,
        question=question.strip(),
        fields={"context": context},
        reference=as_json(reference),
        metadata={"page": page, "agreement": agreement.value, **marked},
        counted=agreement.value,
    )


def _executed(record: Record) -> Reference:
    """The reference of a record, its program executed again.

    Raises:
        BadRecord: a field is missing or cannot be read, or the program cannot be executed.
    """
    if not isinstance(record.get("qa.answer"), str):
        raise record.bad("qa.answer", "is not a string")
    try:
        program = parse(record.text("qa.program"))
        execute(program, _table(record))
    except ProgramError as error:
        raise record.bad("qa.program", f"cannot be executed: {error}") from None
    try:
        return classify_record(record.content)
    except BadReference as error:
        raise record.bad("qa", f"makes no reference: {error}") from None


def _context(record: Record) -> str:
    """The page as text: what stands before the table, the table with bars, what stands after it."""
    table = "\n".join(" | ".join(cell.strip() for cell in row) for row in _table(record))
    before, after = (
        "\n".join(line.strip() for line in record.strings(field))
        for field in ("pre_text", "post_text")
    )
    return "\n\n".join(part for part in (before, table, after) if part.strip())


def _table(record: Record) -> Sequence[Sequence[str]]:
    table = record.get("table")
    if not isinstance(table, list):
        raise record.bad("table", "is not a list of rows")
    for number, row in enumerate(table, 1):
        if not isinstance(row, list) or not all(isinstance(cell, str) for cell in row):
            raise record.bad("table", f"has a row {number} that is not a list of strings")
    return table


def math_row(record: Record) -> Row:
    """The row of a problem of MATH.

    Raises:
        BadRecord: a field is missing, or the solution has no answer in a box.
    """
    problem, solution = record.text("problem"), record.text("solution")
    answer = boxed_answer(solution)
    if not isinstance(answer, Answer):
        raise record.bad("solution", "has no answer in a box")
    name = record.name.replace("/", "-") or digest(problem)
    subject = record.text("type" if "type" in record.content else "subject")
    return _row(
        "math",
        record,
        id="-".join(["math", *filter(None, [record.split]), name]),
        question=problem.strip(),
        reference={"final_answer": answer.text},
        metadata={"subject": subject, "level": _level(record), "solution": solution.strip()},
        counted=subject,
    )


def _some(found: Iterable[RecordOutcome], source: Path) -> Iterator[RecordOutcome]:
    """The same problems.

    Raises:
        ConfigurationError: the source holds no problem.
    """
    outcome = None
    for outcome in found:
        yield outcome
    if outcome is None:
        raise ConfigurationError(
            f"{source}: holds no problem at train/<subject>/<n>.json or test/<subject>/<n>.json"
        )


def _problems(source: Path) -> Iterator[Record | BadInput]:
    """The problems of a source in any layout, in the order of their names."""
    if not _is_problems(source) and (source.is_dir() or source.name.endswith(TABLES)):
        for file, split in split_files(source, merged=True):
            yield from records_of(file, split)
        return
    for path, content in _in_folder(source) if source.is_dir() else _in_archive(source):
        split, subject = path.parts[-3:-1]
        where = f"{source}: {path}"
        try:
            record = json.loads(content)
        except (ValueError, RecursionError) as error:
            yield BadRecord(f"{where}: not JSON: {_decoding_error(error)}")
            continue
        if not isinstance(record, dict):
            yield BadRecord(f"{where}: not a JSON object but {json_kind(record)}")
            continue
        yield Record(record, where, NAMES[split], f"{subject}/{path.stem}")


def _is_problems(source: Path) -> bool:
    """Whether a source is a folder with a file for each problem."""
    return source.is_dir() and next(_problem_files(source), None) is not None


def _level(record: Record) -> str:
    """The level as MATH writes it, "Level 5"; some tables hold the number alone."""
    level = record.get("level")
    if isinstance(level, int | float) and not isinstance(level, bool):
        return f"Level {level:g}"
    return record.text("level")


def _decoding_error(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}: {error.msg}"
    return "not UTF-8" if isinstance(error, UnicodeDecodeError) else "it cannot be decoded"


def _in_folder(folder: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The problems below a folder, which may be `train` or `test` itself."""
    for path in _problem_files(folder):
        yield _inside(folder, path), path.read_bytes()


def _problem_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*.json"), key=_natural):
        if _is_problem(_inside(folder, path)) and path.is_file():
            yield path


def _inside(folder: Path, path: Path) -> PurePosixPath:
    return PurePosixPath(Path(folder.resolve().name), path.relative_to(folder))


def _in_archive(archive: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                path = PurePosixPath(member.name)
                if member.isreg() and _is_problem(path):
                    stream = tar.extractfile(member)
                    assert stream is not None, "a regular member has content"
                    yield path, stream.read()
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise BadInput(f"{archive}: neither a folder nor a tar archive: {error}") from None


def _is_problem(path: PurePosixPath) -> bool:
    return (
        len(path.parts) > 2  # noqa: PLR2004 - split, subject, file
        and path.parts[-3] in {"train", "test"}
        and path.suffix == ".json"
        and not path.name.startswith(".")
    )


def _natural(path: Path) -> tuple[str, int, str]:
    """By subject, then by number: 2.json before 10.json."""
    return str(path.parent), int(path.stem) if path.stem.isdecimal() else -1, path.name


def pandalm_row(record: Record) -> Row | Dropped:
    """The row of a pair of PandaLM's, or why it is left out.

    Raises:
        BadRecord: a field is missing or cannot be read.
    """
    name = f"pandalm-{_text(record, 'idx')}"
    instruction, given = _text(record, "instruction"), _text(record, "input")
    if not (instruction.strip() or given.strip()):  # some pairs have their question in the input
        raise record.bad("instruction", "is empty, and so is input")
    responses = [_text(record, field) for field in ("response1", "response2")]
    votes = [_vote(record, field) for field in ANNOTATORS]
    (label, most), *_ = Counter(votes).most_common(1)
    if most == 1:
        return Dropped(name, NO_MAJORITY)
    parts = {
        "Instruction": instruction,
        "Input": given,
        "Response 1": responses[0].strip() or "(empty)",
        "Response 2": responses[1].strip() or "(empty)",
    }
    asked = [f"## {title}\n{text.strip()}" for title, text in parts.items() if text.strip()]
    return _row(
        "pandalm",
        record,
        id=name,
        question="\n\n".join(asked),
        reference={"label": label, "answer": VERDICTS[label], "votes": votes},
        metadata={"models": _text(record, "cmp_key"), "prompt": digest(instruction, given)},
        counted="tie" if label == 0 else f"response {label}",
    )


def _pair(row: Row) -> str:
    return row.prompt


def _text(record: Record, field: str) -> str:
    """A field as the text it once was: true for "true", and NaN, null or "" for nothing."""
    value = record.get(field)
    if value is None or (isinstance(value, float) and isnan(value)):
        return ""
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if not isinstance(value, str):
        raise record.bad(field, f"is {json_kind(value)}, not a string")
    return value


def _vote(record: Record, field: str) -> int:
    value = record.get(field)
    if isinstance(value, str) and value in {"0", "1", "2"}:
        value = int(value)
    if isinstance(value, bool) or value not in (0, 1, 2):
        raise record.bad(field, f"is {json.dumps(value)}, not 0, 1 or 2")
    return int(value)


ROWS: Final[Mapping[Dataset, Callable[[Record], Row | Dropped]]] = {
    "finqa": finqa_row,
    "gsm8k": gsm8k_row,
    "hotpotqa": partial(hotpotqa_row, row=partial(_row, "hotpotqa")),
    "ifeval": partial(ifeval_row, functions=_TABLE["ifeval"]["functions"]),
    "math": math_row,
    "pandalm": pandalm_row,
    "squad": partial(squad_row, row=partial(_row, "squad")),
}
"""What makes the row of a record."""
