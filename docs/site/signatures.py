"""How what a module declares is called, read from its syntax: signatures as they were written."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef

PROPERTIES: Final = {"property", "cached_property"}

_WITH_FIELDS: Final = {"NamedTuple", "TypedDict", "BaseModel"}
"""Bases that make a constructor of a class's annotations, as the decorator `dataclass` does."""


def of_function(function: Function) -> str:
    """The parameters and the result of a function."""
    return _signature(function.args, function.returns)


def of_method(method: Function) -> str:
    """The same of a method, without the `self` or `cls` it is bound to."""
    bound = "staticmethod" not in decorators(method)
    return _signature(_unbound(method.args) if bound else method.args, method.returns)


def of_class(declared: ast.ClassDef) -> str:
    """What a class is made with: its `__init__`, else its fields, else nothing that is said."""
    for member in declared.body:
        if isinstance(member, ast.FunctionDef) and member.name == "__init__":
            return _signature(_unbound(member.args), None)
    return f"({', '.join(_fields(declared))})" if _has_fields(declared) else ""


def of_property(declared: Function) -> str:
    """The type of a property; empty where it is not annotated."""
    return ast.unparse(declared.returns) if declared.returns else ""


def bases(declared: ast.ClassDef) -> list[str]:
    """The bases of a class, as they are written."""
    return [ast.unparse(base) for base in declared.bases]


def decorators(declared: Function | ast.ClassDef) -> set[str]:
    """The names of the decorators, without their arguments."""
    return {ast.unparse(each).partition("(")[0] for each in declared.decorator_list}


def methods(declared: ast.ClassDef) -> Iterator[Function]:
    """The public methods and properties that a class declares itself, without setters."""
    for member in declared.body:
        if isinstance(member, Function) and not member.name.startswith("_"):
            setter = f"{member.name}.setter" in decorators(member)
            yield from () if setter else (member,)


def _signature(arguments: ast.arguments, returns: ast.expr | None) -> str:
    result = f" -> {ast.unparse(returns)}" if returns else ""
    return f"({ast.unparse(arguments)}){result}"


def _unbound(arguments: ast.arguments) -> ast.arguments:
    """The parameters without the first."""
    kept = {name: getattr(arguments, name) for name in arguments._fields}
    first = "posonlyargs" if arguments.posonlyargs else "args"
    return ast.arguments(**kept | {first: kept[first][1:]})


def _has_fields(declared: ast.ClassDef) -> bool:
    return "dataclass" in decorators(declared) or bool(_WITH_FIELDS & set(bases(declared)))


def _fields(declared: ast.ClassDef) -> Iterator[str]:
    """The fields as parameters; what is made anew for each object is shown as an ellipsis."""
    if any("kw_only=True" in ast.unparse(each) for each in declared.decorator_list):
        yield "*"
    for member in declared.body:
        match member:
            case ast.AnnAssign(annotation=ast.Name(id="KW_ONLY")):
                yield "*"
            case ast.AnnAssign(target=ast.Name(id=name)) if _is_field(name, member):
                yield f"{name}: {ast.unparse(member.annotation)}{_default(member.value)}"


def _is_field(name: str, declared: ast.AnnAssign) -> bool:
    shared = ast.unparse(declared.annotation).startswith(("ClassVar", "Final"))
    hidden = declared.value is not None and "init=False" in ast.unparse(declared.value)
    return not (name.startswith("_") or shared or hidden)


def _default(value: ast.expr | None) -> str:
    if value is None:
        return ""
    shown = ast.unparse(value)
    return " = ..." if shown.startswith("field(") else f" = {shown}"
