"""Whether a reward is declared as one: its name, its function, its scale; one sentence if not.

Its parameters are the keyword-only arguments, typed and checked from the signature.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_VARARGS
from math import isfinite
from numbers import Real
from types import FunctionType, NoneType, SimpleNamespace, UnionType
from typing import TYPE_CHECKING, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from reward_functions.core.errors import BadParameter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NAME: Final = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")
"""Names are file stems; a third party's are qualified by its own name: `acme.length`."""

RESERVED_PARAMETERS: Final = frozenset({"response", "reference", "prompt", "ask", "group"})
"""What a call says beside the parameters."""

RESERVED_METRICS: Final = frozenset({"bad_reference", "unscored", "imputed", "out_of_time"})
"""The flags every result of a Lambda carries beside a reward's own metrics."""

_LATER: Final = CO_COROUTINE | CO_GENERATOR | CO_ASYNC_GENERATOR
"""Functions that return something to wait for, or to draw from, in place of a score."""


def insist(spec: Any) -> None:
    """Whether a declaration, a `RewardSpec`, holds together.

    Raises:
        ValueError: it contradicts itself.
        TypeError: a field is of another kind, or the function cannot be called as a reward is.
    """
    if not isinstance(spec.name, str) or not NAME.fullmatch(spec.name):
        raise ValueError(
            f"{spec.name!r} is not a reward name, lower case, digits, underscores: pass name=…"
        )
    if flags := RESERVED_METRICS & set(spec.metrics):
        raise ValueError(f"{spec.name}: a metric, or a part, cannot be called {min(flags)!r}")
    if twice := next((name for name, count in Counter(spec.metrics).items() if count > 1), ""):
        raise ValueError(f"{spec.name}: two metrics are called {twice!r}")
    if type(spec.version) is not int or spec.version < 0:
        raise ValueError(f"{spec.name}: versions are whole numbers from 1; 0 is a prototype")
    if taken := RESERVED_PARAMETERS & _keyword_only(spec.function):
        raise ValueError(f"{spec.name}: a parameter cannot be called {min(taken)!r}")
    given = ("sample", *["ask"] * spec.needs.judge, *["group"] * spec.needs.group)
    if why := _misfit(spec.function, *given):
        raise TypeError(f"{spec.name}: {why}")
    low, high = spec.scale
    if not (_is_number(low) and _is_number(high) and low < high):
        raise ValueError(f"{spec.name}: {(low, high)} is not a finite range")
    credit = spec.partial_credit
    if not (credit is None or callable(credit) or (_is_number(credit) and low <= credit <= high)):
        raise ValueError(f"{spec.name}: a partial credit of {credit!r} is not on {(low, high)}")


def two_numbers(scale: Any) -> tuple[Any, Any]:
    """The two ends of a scale.

    Raises:
        TypeError: it is no pair.
    """
    if isinstance(scale, tuple | list) and len(scale) == 2:  # noqa: PLR2004 - two ends
        return scale[0], scale[1]
    raise TypeError(f"a scale is two numbers, such as (0.0, 1.0), not {scale!r}")


def names(metrics: Any) -> tuple[str, ...]:
    """The names of metrics.

    Raises:
        TypeError: they are no list of strings; one string would be one name for each letter.
    """
    if isinstance(metrics, Iterable) and not isinstance(metrics, str):
        found = tuple(metrics)
        if all(isinstance(name, str) for name in found):
            return found
    raise TypeError(f"metrics are a list of names, not {metrics!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and isfinite(value)


def _misfit(function: Callable[..., object], *arguments: str) -> str:
    """Why a function cannot be called as a reward is; empty where it can, or cannot be looked at.

    Args:
        function: what is declared.
        arguments: what a reward is given beside its parameters, such as `sample`.
    """
    if not isinstance(function, FunctionType):
        return ""
    code = function.__code__
    if code.co_flags & _LATER:
        kind = "a generator" if code.co_flags & CO_GENERATOR else "async"
        return f"a reward is a plain function that returns its score, and this one is {kind}"
    takes = code.co_varnames[: code.co_argcount]
    most = len(arguments) if code.co_flags & CO_VARARGS else len(takes)
    least = len(takes) - len(function.__defaults__ or ())
    if least <= len(arguments) <= most:
        return ""
    return (
        f"a reward is called with ({', '.join(arguments)}), and this function takes "
        f"({', '.join(takes)}); parameters stand after a *, and the sample has response, "
        "reference and prompt"
    )


def _keyword_only(function: Callable[..., object]) -> frozenset[str]:
    """The names of a function's keyword-only arguments; of what is no function, none."""
    code = getattr(function, "__code__", None)
    if code is None:
        return frozenset()
    first = code.co_argcount
    return frozenset(code.co_varnames[first : first + code.co_kwonlyargcount])


@dataclass(frozen=True, slots=True)
class Parameter:
    """A keyword-only argument of a reward function."""

    name: str
    type: Any
    default: Any

    @property
    def has_default(self) -> bool:
        """Whether the reward works without it."""
        return self.default is not inspect.Parameter.empty

    @property
    def type_name(self) -> str:
        """The annotation as a person would write it."""
        if get_origin(self.type) is Literal:
            return " | ".join(map(repr, get_args(self.type)))
        return getattr(self.type, "__name__", str(self.type))

    def accept(self, value: Any) -> Any:
        """The value, if it is of the parameter's type; an int passes for a float.

        Raises:
            BadParameter: it is not.
        """
        if _fits(value, self.type):
            return float(value) if self.type is float else value
        raise BadParameter(f"parameter {self.name!r} takes {self.type_name}, not {value!r}")

    def parse(self, text: str) -> Any:
        """The value a person typed.

        Raises:
            BadParameter: it does not read as the parameter's type.
        """
        for read in (_as_bool, int, float, str):
            try:
                value = read(text)
            except ValueError:
                continue
            if _fits(value, self.type):
                return self.accept(value)
        raise BadParameter(f"parameter {self.name!r} takes {self.type_name}, not {text!r}")


def parameters_of(function: Callable[..., Any]) -> Mapping[str, Parameter]:
    """The keyword-only arguments of a function, by name."""
    keyword_only = {
        name: argument
        for name, argument in inspect.signature(function).parameters.items()
        if argument.kind is inspect.Parameter.KEYWORD_ONLY
    }
    # Of these alone: a module may import the types of the others for type checkers only.
    annotated = SimpleNamespace(
        __annotations__={
            name: argument.annotation
            for name, argument in keyword_only.items()
            if argument.annotation is not inspect.Parameter.empty
        }
    )
    hints = get_type_hints(annotated, getattr(inspect.unwrap(function), "__globals__", {}))
    return {
        name: Parameter(name, hints.get(name, str), argument.default)
        for name, argument in keyword_only.items()
    }


def _fits(value: Any, annotation: Any) -> bool:
    """Whether a value is of an annotated type: plain types, `Literal`, and unions of them."""
    if get_origin(annotation) is Literal:
        return any(
            value == allowed and type(value) is type(allowed) for allowed in get_args(annotation)
        )
    if get_origin(annotation) in (Union, UnionType):
        return any(_fits(value, alternative) for alternative in get_args(annotation))
    if annotation is None or annotation is NoneType:
        return value is None
    if annotation is float:
        return type(value) in (int, float) and isfinite(value)
    return type(value) is getattr(annotation, "__supertype__", annotation)  # of a NewType


def _as_bool(text: str) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    try:
        return words[text.lower()]
    except KeyError:
        raise ValueError(text) from None
