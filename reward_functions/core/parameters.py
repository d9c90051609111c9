"""The parameters of a reward: keyword-only arguments, typed and checked from its signature."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from math import isfinite
from types import NoneType, SimpleNamespace, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from reward_functions.core.errors import BadParameter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


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
        return self.type.__name__ if isinstance(self.type, type) else str(self.type)

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
    return type(value) is annotation


def _as_bool(text: str) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    try:
        return words[text.lower()]
    except KeyError:
        raise ValueError(text) from None
