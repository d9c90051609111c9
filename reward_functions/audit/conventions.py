r"""How a foreign function is called. The names of its parameters say it; one row is a convention.

    convention       parameters                        source
    OpenAI           sample, item                      OpenAI's guide to graders, "Python graders"
    verl             data_source, solution_str, …      verl 0.9.1, reward_manager/naive.py
    verl, batch      solution_strs, ground_truths, …   verl 0.9.1, reward_manager/batch.py
    verifiers v1     task, trace                       verifiers 0.4.0, v1/utils/decorators.py,
                                                       `invoke`, and v1/task.py, `Task.score`
    TRL              completions, prompts, columns     TRL 1.16.0, trainer/grpo_trainer.py,
                                                       `_calculate_rewards`
    verifiers v0     completion, answer, state, …      verifiers 0.1.14, rubrics/rubric.py,
                                                       `score_objects`
    a Sample         sample                            ours
    plain            response, prompt, a reference

verl and TRL pass all that they have by keyword, so that a function without one of the names fails
there; verifiers passes what is asked for. Completions are texts, or lists of messages for
conversational data: a function that scores no row as a text and some as messages takes messages.
TRL passes messages where the rows' prompts are lists of messages: they are tried first there, and
a function that takes the other form, or a name that is no column, breaks the contract.
A row that fails or returns no number is unscored and never 0; verifiers v0 and OpenAI make a 0 of
it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import cache, partial
from math import isnan
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from zlib import crc32

from reward_functions.core.errors import BadSample, ConfigurationError, InvalidScore, ScoringError
from reward_functions.core.importing import last_line
from reward_functions.core.references import first_key
from reward_functions.core.types import Score, Scored, Unscored

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator, Sequence

    from reward_functions.core.types import RewardResult, Sample

LARGEST: Final = 1e100
"""The largest reward that is read: differences of larger ones overflow."""

RESPONSES: Final = (
    *("response", "completion", "output", "output_text", "generated", "generation"),
    *("prediction", "predicted", "pred", "model_output", "text"),
)
"""Names of the response of a plain function; the first parameter where it has none of them."""

PROMPTS: Final = ("question", "problem", "query", "instruction")
"""Names of the prompt, unless the row has a field that is called so."""

REFERENCES: Final = (
    *("reference_answer", "answer", "solution", "ground_truth", "reference", "gold", "target"),
    *("expected", "expected_answer", "correct_answer", "label"),
)
"""Names of the reference, likewise."""

BATCH: Final = 32
"""Rows that a function which takes many is given at once."""

PROBED: Final = 8
"""Rows of a probe, which is a batch of its own."""

TRIED: Final = 5
"""Rows on which it is found whether completions are texts or messages."""


class FunctionFailed(ScoringError):
    """The function raised, or returned what is no score. The message holds no text of a row."""


class WrongNumber(FunctionFailed):
    """A function of a batch did not return one number for each row."""


class Lacking(BadSample):
    """The row has no field that the function needs."""


class _Row:
    """What a function may ask of a row, copied: what it changes there is not seen again."""

    def __init__(self, sample: Sample, *, messages: bool) -> None:
        self.sample = sample
        self.reference = deepcopy(sample.reference)
        held = self.reference if isinstance(self.reference, Mapping) else {}
        self.fields: dict[str, Any] = {**deepcopy(dict(sample.metadata)), **held}
        answer = _answer(self.reference)
        known = {} if answer is None else dict.fromkeys(REFERENCES, answer)
        self.named = {**dict.fromkeys(PROMPTS, sample.prompt), **known, **self.fields}
        self.completion: Any = sample.response
        self.prompt: Any = sample.prompt
        if messages:
            self.completion = [_turn("assistant", sample.response)]
            self.prompt = [_turn(each.role, each.content) for each in sample.context]


def _answer(reference: Any) -> Any:
    """The answer that an object of one key holds; any other reference as it is."""
    if isinstance(reference, Mapping) and len(reference) == 1 and first_key(reference):
        return next(iter(reference.values()))
    return reference


def _turn(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


def _nothing(*_: Any, **__: Any) -> None:
    """Takes what a function logs."""


def _words(row: _Row) -> list[int]:
    """A number for each word: which tokens there were, nobody knows here."""
    return [crc32(word.encode("utf-8", "surrogatepass")) for word in row.sample.response.split()]


def _extra_info(row: _Row) -> dict[str, Any]:
    held = row.fields.get("extra_info")
    known = held if isinstance(held, dict) else row.fields
    return known | {"num_turns": None, "rollout_reward_scores": {}}


def _state(row: _Row) -> dict[str, Any]:
    """Of a rollout of one turn."""
    rollout = {name: give(row) for name, give in _ROLLOUT.items()}
    return {**rollout, "input": row.fields | rollout, "trajectory": [], "metrics": {}}


def _parse_answer(completion: Any) -> Any:
    turns = completion if isinstance(completion, list) else [{"content": completion}]
    return turns[-1]["content"] if turns else None


_PARSER: Final = SimpleNamespace(parse=lambda text: text, parse_answer=_parse_answer)
"""Of a rubric that names none: the text as it is."""


def _task(row: _Row) -> SimpleNamespace:
    """The data of a task: its fields are attributes."""
    return SimpleNamespace(**{**row.named, "prompt": row.prompt, "prompt_text": row.prompt})


def _trace(row: _Row) -> SimpleNamespace:
    """The record of a rollout of one turn, as far as a reward reads it."""
    sample, own = row.sample, {"tool_calls": None, "reasoning_content": None}
    turns = [SimpleNamespace(**_turn(each.role, each.content), **own) for each in sample.messages]
    blocks = [f"[{each.role}]\n{each.content}" for each in sample.messages]
    logs = dict.fromkeys(("record_metric", "record_metrics", "record_reward"), _nothing)
    return SimpleNamespace(
        **{name: {} for name in ("rewards", "metrics", "info")},
        **{name: [] for name in ("errors", "tool_messages")},
        **logs,
        id=sample.id,
        messages=turns,
        last_message=turns[-1] if turns else None,
        assistant_messages=turns[len(sample.context) :],
        last_reply=sample.response.strip(),
        transcript="\n\n".join(blocks),
        num_turns=1,
        is_truncated=False,
        state=SimpleNamespace(),
    )


def _openai_sample(row: _Row) -> dict[str, Any]:
    """`output_json` is there where the response is JSON; nobody's tool calls reach a reward."""
    text = row.sample.response
    message = _turn("assistant", text) | {"tool_calls": []}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    held = {"output_text": text, "output_tools": [], "choices": choices}
    try:
        return held | {"output_json": json.loads(text)}
    except (ValueError, RecursionError):
        return held


def _item(row: _Row) -> dict[str, Any]:
    """The row but for its messages; its answer by all its usual names."""
    return row.named


_COMPLETION: Final = attrgetter("completion")

_ROLLOUT: Final[dict[str, Callable[[_Row], Any]]] = {
    "prompt": attrgetter("prompt"),
    "completion": _COMPLETION,
    "answer": lambda row: row.named.get("answer", ""),
    "task": lambda row: row.fields.get("task", "default"),
    "info": lambda row: row.fields.get("info", {}),
}

_VERL: Final[dict[str, Callable[[_Row], Any]]] = {
    "data_source": lambda row: row.fields.get("data_source", ""),
    "solution_str": _COMPLETION,
    "ground_truth": lambda row: _answer(row.reference),
    "extra_info": _extra_info,
}

_TRL: Final[dict[str, Callable[[_Row], Any]]] = {
    "prompts": attrgetter("prompt"),
    "completions": _COMPLETION,
    "completion_ids": _words,
}


class Convention(NamedTuple):
    """How one framework calls.

    Attributes:
        name: as it is printed.
        asks: names of parameters, each of which tells it from those below; several as `a b`.
        gives: what a name is given for a row.
        fixed: what a name is given for a whole batch.
        batch: whether it takes many rows at once, and every column as a list.
        open: whether `**kwargs` are given the fields of the row, and completions may be messages.
        passes: whether all names are passed by keyword, asked for or not.
        awaits: whether it awaits the function, and sums a dict of scores.
        by_column: whether completions have the form of the column `prompt`, and no name is given
            that is no column.
    """

    name: str
    asks: tuple[str, ...]
    gives: Mapping[str, Callable[[_Row], Any]]
    fixed: Mapping[str, Any] = {}
    batch: bool = False
    open: bool = False
    passes: bool = False
    awaits: bool = False
    by_column: bool = False


PLAIN: Final = Convention("plain", (), {"prompt": attrgetter("prompt")}, open=True)

_MANY: Final = {f"{name}s": give for name, give in _VERL.items()}
_LOGS: Final = {"trainer_state": None, "log_extra": _nothing, "log_metric": _nothing}
_ANY: Final = ("state", "parser", "info", "completion answer", "completion task")

CONVENTIONS: Final = (
    Convention("OpenAI", ("sample item",), {"sample": _openai_sample, "item": _item}),
    Convention("a Sample", ("sample",), {"sample": attrgetter("sample")}),
    Convention("verl, batch", ("solution_strs", "ground_truths"), _MANY, batch=True, passes=True),
    Convention("verl", ("solution_str", "data_source ground_truth"), _VERL, passes=True),
    Convention("verifiers v1", ("trace",), {"task": _task, "trace": _trace}, awaits=True),
    Convention("TRL", (*_TRL,), _TRL, _LOGS, batch=True, open=True, passes=True, by_column=True),
    Convention("verifiers v0", _ANY, {**_ROLLOUT, "state": _state}, {"parser": _PARSER}, open=True),
)
"""In the order in which they are tried; a function that none of them knows is plain."""


def in_batches(samples: Sequence[Sample], most: int = BATCH) -> list[Sequence[Sample]]:
    """The rows in order, at most so many in a batch."""
    return [samples[at : at + most] for at in range(0, len(samples), most)]


def called_name(function: Any) -> str:
    """The name of a function: of what it wraps, of what is bound in it, of an object its type's."""
    function = inspect.unwrap(_unbound(function))
    return str(getattr(function, "__name__", type(function).__name__))


def code_file(function: Any) -> str:
    """The file of the code that runs when an object is called; "" where it has none."""
    return str(getattr(_code(function), "co_filename", ""))


def _unbound(function: Any) -> Any:
    while isinstance(function, partial):
        function = function.func
    return function


class Adapted:
    """A function that is called as its parameters ask.

    Args:
        function: any callable but a class.

    Raises:
        ConfigurationError: it cannot be called with a response.
    """

    def __init__(self, function: Any) -> None:
        self.name = called_name(function)
        if isinstance(function, type) or not callable(function):
            what = "a class" if isinstance(function, type) else type(function).__name__
            raise ConfigurationError(f"{self.name} is {what}: name a function, or what it makes")
        try:
            asked = inspect.signature(function).parameters
        except (TypeError, ValueError):
            raise ConfigurationError(f"{self.name} hides its parameters: wrap it") from None
        self.function = function
        self._open = any(each.kind == each.VAR_KEYWORD for each in asked.values())
        many = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        self._parameters = {name: each for name, each in asked.items() if each.kind not in many}
        self.convention = self._found()
        self._alike = {n: v for n, v in self.convention.fixed.items() if self._takes(n)}
        known = self._parameters.items()
        needed = [name for name, each in known if each.default is each.empty]
        self._needed = [name for name in needed if name not in self._alike]
        self.columns: Mapping[str, bool] = {}
        self.messages = False
        self.settled = False
        self.breaches: dict[str, None] = {}

    def _found(self) -> Convention:
        names = self._parameters.keys()
        for each in CONVENTIONS:
            if any(names >= set(asked.split()) for asked in each.asks):
                return each
        return PLAIN._replace(gives={**PLAIN.gives, self._response(): _COMPLETION})

    def _response(self) -> str:
        """Which parameter of a plain function is the response."""
        left = [each for each in self._parameters if each not in ("prompt", *PROMPTS)]
        if not left:
            raise ConfigurationError(f"{self.name} takes no response: call a parameter so")
        answers = [each for each in ("answer", "solution") if each in left]
        others = [each for each in left if each in REFERENCES and each not in answers]
        known = [each for each in RESPONSES if each in left]
        return (known or (others and answers) or left)[0]

    @property
    def described(self) -> str:
        """The convention, and what was found out about it."""
        found, form = self.convention, "messages" if self.messages else "texts"
        if found.name == PLAIN.name:
            return f"plain: {[*found.gives][-1]} is the response{', as messages' * self.messages}"
        words = ", its token ids are words" if "completion_ids" in self._parameters else ""
        return f"{found.name}{f': completions as {form}' if found.open else ''}{words}"

    def units(
        self, samples: Sequence[Sample], *, alone: bool = False
    ) -> Iterator[Sequence[Sample]]:
        """The rows, cut into what is worked at without a word between.

        Args:
            samples: a batch.
            alone: never two at once.
        """
        whole = len(samples) if self.convention.batch else 1 if self.settled else TRIED
        first = 1 if alone else whole
        if samples:
            yield samples[:first]
        yield from ([each] for each in samples[first:])

    def score(self, samples: Sequence[Sample]) -> list[RewardResult]:
        """The results of a batch, in order; raises what `unit` raises."""
        return [each for unit in self.units(samples) for each in self.unit(unit)]

    def unit(self, samples: Sequence[Sample]) -> list[RewardResult]:
        """The results of a unit.

        Raises:
            ConfigurationError: no row so far has a field that the function needs.
        """
        if self.convention.by_column and not self.settled:
            self.messages = self.columns.get("prompt", self.messages)
        results = self._unit(samples)
        if self.convention.open and not self.settled and not _some(results):
            self.messages = not self.messages
            others = self._unit(samples)
            self.messages ^= not _some(others)
            results = others if _some(others) else results
        self.settled = self.settled or _some(results)
        errors = [each.error for each in results if isinstance(each, Unscored)]
        if errors and not self.settled and all(isinstance(each, Lacking) for each in errors):
            raise ConfigurationError(str(errors[0]))
        return results

    def _unit(self, samples: Sequence[Sample]) -> list[RewardResult]:
        try:
            if self.convention.batch or len(samples) == 1:
                return self._call(samples)
        except (FunctionFailed, BadSample, RecursionError) as error:
            if len(samples) == 1:
                return [Unscored(samples[0].id, error)]
        return [each for one in samples for each in self._unit([one])]

    def _call(self, samples: Sequence[Sample]) -> list[RewardResult]:
        """The results of one call: of a batch, or of the one sample.

        Raises:
            FunctionFailed: it raised; `WrongNumber`: it returned another number of results.
            BadSample: no row has a field that it needs.
        """
        rows = [_Row(each, messages=self.messages) for each in samples]
        given = [self._values(each) for each in rows]
        values = {name: [each.get(name) for each in given] for one in given for name in one}
        for name in self._needed:
            if name not in values:
                there = ", ".join(sorted(rows[0].fields)) or "none"
                needs = f"{self.name} needs {name!r}, and no field of the row is called so"
                raise Lacking(f"{needs}; the fields are {there}")
        if not self.convention.batch:
            return [self._read(samples[0], self._called(given[0] | self._alike))]
        returned = self._called(values | self._alike)
        try:
            numbers = None if isinstance(returned, str | bytes | Mapping) else list(returned)
        except TypeError:
            numbers = None
        if numbers is None:
            raise WrongNumber(f"it returns {_kind(returned)} for {_count(samples)}, not a list")
        if len(numbers) != len(samples):
            raise WrongNumber(f"it returns {len(numbers)} numbers for {_count(samples)}")
        return [self._read(each, value) for each, value in zip(samples, numbers, strict=True)]

    def _takes(self, name: str) -> bool:
        passed = self.convention.passes or self.convention.open
        return name in self._parameters or (self._open and passed)

    def _values(self, row: _Row) -> dict[str, Any]:
        """What one row gives to parameters, by their names."""
        values = {n: give(row) for n, give in self.convention.gives.items() if self._takes(n)}
        others = row.named if self._open and self.convention.open else self._parameters
        values |= {n: row.named[n] for n in others if n in row.named and n not in values}
        left = [each for each in self._needed if each not in values]
        taken = any(each in REFERENCES and each in values for each in self._parameters)
        if len(left) == 1 and not taken and row.reference is not None:
            values[left[0]] = row.reference
        return {name: value for name, value in values.items() if name not in self._alike}

    def _called(self, values: Mapping[str, Any]) -> Any:
        """What the function returns, awaited."""
        known = self._parameters.items()
        places = [n for n, each in known if each.kind == each.POSITIONAL_ONLY and n in values]
        rest = {name: value for name, value in values.items() if name not in places}
        try:
            returned = self.function(*[values[name] for name in places], **rest)
            return _awaited(returned) if inspect.isawaitable(returned) else returned
        except SystemExit:
            raise FunctionFailed("it called sys.exit") from None
        except Exception as error:  # noqa: BLE001 - anybody's function
            raise FunctionFailed(f"it raised {self._place(error)}") from None

    def _place(self, error: Exception) -> str:
        """The type of an exception and its line; its message may quote the response."""
        file = Path(code_file(self.function))
        line = last_line(error, file)
        return f"{type(error).__name__}{f' at {file.name}, line {line}' if line else ''}"

    def _read(self, sample: Sample, returned: Any) -> RewardResult:
        """The result that a returned value is."""
        try:
            return Scored(sample.id, self._score(returned))
        except (FunctionFailed, InvalidScore) as error:
            if isinstance(error, InvalidScore):
                self.breaches[str(error)] = None
            return Unscored(sample.id, error)

    def _score(self, returned: Any) -> Score:
        if isinstance(returned, Score):
            return returned
        if isinstance(returned, Mapping):
            named = next((each for each in ("score", "reward") if each in returned), None)
            if named is not None:
                return self._score(returned[named])
            if self.convention.awaits and returned:
                return self._score(sum(self._score(each).value for each in returned.values()))
            raise FunctionFailed("it returns a dict without 'score' or 'reward'")
        value = _number(returned)
        if abs(value) > LARGEST:
            raise InvalidScore(f"it returns {value}: the gradient of the whole step is spoilt")
        return Score(value)

    def probe(self, samples: Sequence[Sample]) -> list[str]:
        """Sentences about what breaks the contract when these rows are sent at once."""
        self.score(samples)
        found = list(self._unlike())
        if self.convention.batch and samples:
            found += self._at_once(samples)
        return [*found, *self.breaches]

    def _unlike(self) -> Iterator[str]:
        """What the framework does and the function does not take."""
        found = self.convention
        names = [each for each in (*found.gives, *found.fixed) if each not in self._parameters]
        if found.passes and names and not self._open:
            yield f"{found.name} passes {', '.join(names)} too, and it takes no **kwargs"
        if found.by_column and self.columns:
            yield from self._unlike_rows()
        called = getattr(_unbound(self.function), "__call__", None)  # noqa: B004 - it is called
        if found.awaits and not any(map(inspect.iscoroutinefunction, (self.function, called))):
            yield f"{found.name} awaits it, and it is not async"

    def _unlike_rows(self) -> Iterator[str]:
        """What TRL makes of the rows' columns and the function does not take."""
        given, texts = self.columns.get("prompt", self.messages), ("texts", "messages")
        if self.settled and given != self.messages:
            form = "a list of messages" if given else "a text"
            yield (
                f"a prompt of the rows is {form}, so TRL passes completions as {texts[given]}, and "
                f"it takes {texts[self.messages]}"
            )
        for name in self._needed:
            if name not in self.convention.gives and name not in self.columns:
                why = f"TRL passes columns by name, and no column is called {name}"
                there = [each for each in REFERENCES if name in REFERENCES and each in self.columns]
                how = f"rename {there[0]} to {name}" if there else "give the rows one"
                like = there[0] if there else "as a column"
                yield f"{why}: {how}, or call the parameter {like}"

    def _at_once(self, samples: Sequence[Sample]) -> Iterator[str]:
        """One call for all rows, and one with an empty response among them."""
        sent, alone = samples, [each for one in samples for each in self._unit([one])]
        try:
            together, single = _values_of(self._call(sent)), _values_of(alone)
            if single != together and sorted(single, key=repr) == sorted(together, key=repr):
                yield "its results are in another order than the completions"
            sent = [*samples, samples[0].answered("")]
            self._call(sent)
        except WrongNumber as error:
            yield str(error)
        except (FunctionFailed, BadSample, RecursionError) as error:
            if _some(alone):
                empty = "" if sent is samples else ", one of them empty"
                yield f"{error} for {_count(sent)} at once{empty}: one row costs all their rewards"


def _some(results: Iterable[RewardResult]) -> bool:
    return any(isinstance(each, Scored) for each in results)


def _values_of(results: Iterable[RewardResult]) -> list[float | None]:
    return [each.score.value if isinstance(each, Scored) else None for each in results]


def _number(value: Any) -> float:
    """A score as a float: of any object that is one number, a numpy scalar among them.

    Raises:
        FunctionFailed: it stands for no score.
    """
    try:
        number = float("-" if isinstance(value, str | bytes) else value)
    except (TypeError, ValueError, ArithmeticError, RuntimeError):  # of anybody's object
        raise FunctionFailed(f"it returns {_kind(value)}, not a number") from None
    if isnan(number):
        raise FunctionFailed("it returns NaN, not a number")
    return number


def _kind(value: Any) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"


def _count(samples: Sequence[Sample]) -> str:
    return f"{len(samples)} row{'s' * (len(samples) != 1)}"


def _code(function: Any) -> Any:
    """The code that runs when an object is called."""
    inner = inspect.unwrap(_unbound(function))
    return getattr(inner, "__code__", None) or getattr(type(inner).__call__, "__code__", None)


@cache
def _runner() -> asyncio.Runner:
    """One loop for all calls: what a function keeps, such as a client, is bound to it."""
    import asyncio  # noqa: PLC0415 - a quarter of an interpreter's start

    return asyncio.Runner()


def _awaited(value: Any) -> Any:
    import asyncio  # noqa: PLC0415

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _runner().run(_waiting(value))
    with ThreadPoolExecutor(1) as pool:  # a notebook's loop runs in this thread
        return pool.submit(asyncio.run, _waiting(value)).result()


async def _waiting(value: Any) -> Any:
    return await value
