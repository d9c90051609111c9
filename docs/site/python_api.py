"""A page a public module, from its source: the names of its `__all__`, as they are declared.

A module is public if it has an `__all__`; those of the command line are not, because the command is
their interface. Nothing is imported: signatures read as their authors wrote them, and a module
whose packages are not installed has its page too.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from docs.site import docstrings, signatures
from docs.site.markdown import code, prose, table
from docs.site.navigation import PYTHON, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_PACKAGE: Final = ROOT / "reward_functions"

_INTRODUCTION: Final = """\
# Python

Every module that has an `__all__`. Its names are public: they change as the
[rules for versions](../CONTRIBUTING.md) say. A deployment is configured, and imports nothing:
[how to deploy](../docs/deploy.md) lists its fields.
"""


class UndeclaredName(Exception):
    """A name of an `__all__` whose declaration is not in this package."""


class Declaration(NamedTuple):
    """Where a name is declared.

    Args:
        path: of the module.
        statement: a class, a function or an assignment.
        docstring: the string below an assignment; empty for the others, which hold their own.
    """

    path: Path
    statement: ast.stmt
    docstring: str = ""


def pages() -> dict[str, str]:
    """The pages by name: an index, and one a public module."""
    modules = public_modules()
    rows = [[f"[`{name}`](python/{name}.md)", _summary(path)] for name, path in modules.items()]
    index = f"{_INTRODUCTION}\n{table(['module', 'what it is'], rows)}\n"
    return {PYTHON: index} | {
        f"{PYTHON}/{name}": page(name, path) for name, path in modules.items()
    }


def public_modules() -> dict[str, Path]:
    """The modules that have an `__all__`, by name."""
    found = {_module_name(path): path for path in _PACKAGE.rglob("*.py") if public_names(path)}
    return {
        name: found[name] for name in sorted(found) if not name.startswith("reward_functions.cli")
    }


def public_names(path: Path) -> list[str]:
    """The `__all__` of a module; none where it has none.

    A package that imports on demand repeats the names in its imports for type checkers, as
    `X as X`: they are read there.
    """
    if "__all__" not in path.read_text():
        return []
    for statement in _tree(path).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                if not isinstance(value, ast.Call):
                    return list(ast.literal_eval(value))
                return [
                    alias.name
                    for node in ast.walk(_tree(path))
                    if isinstance(node, ast.ImportFrom)
                    for alias in node.names
                    if alias.asname == alias.name
                ]
    return []


def page(module: str, path: Path) -> str:
    """A module: its docstring, and all that is public.

    Raises:
        UndeclaredName: its `__all__` has a name that no module of this package declares.
    """
    return "\n\n".join(_parts(module, path)) + "\n"


def declaration(path: Path, name: str) -> Declaration | None:
    """Where a name of a module is declared, followed through imports from this package."""
    for statement, after in _statements(_tree(path).body):
        match statement:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef() if (
                statement.name == name
            ):
                return Declaration(path, statement)
            case ast.Assign(targets=[ast.Name(id=target)]) if target == name:
                return Declaration(path, statement, _string(after))
            case ast.AnnAssign(target=ast.Name(id=target)) if target == name:
                return Declaration(path, statement, _string(after))
            case ast.ImportFrom(module=str(source)) if name in {
                alias.asname or alias.name for alias in statement.names
            }:
                return _imported(source, statement, name)
    return None


def _parts(module: str, path: Path) -> Iterator[str]:
    yield f"# `{module}`"
    yield f"```{{py:currentmodule}} {module}\n```"  # whose names a signature means first
    yield docstrings.body(ast.get_docstring(_tree(path)) or "")
    for name in public_names(path):
        declared = declaration(path, name)
        if declared is None:
            raise UndeclaredName(f"{module}.{name}")
        yield f"## {code(name)}"
        yield _directive(module, name, declared)


def _directive(module: str, name: str, declared: Declaration) -> str:
    """A public name as a directive of Sphinx's domain of Python."""
    inside = [docstrings.markdown(declared.docstring)]
    match declared.statement:
        case ast.ClassDef() as statement:
            title = f"class}} {name}{signatures.of_class(statement)}"
            bases = ", ".join(map(code, signatures.bases(statement)))
            inside = [docstrings.markdown(ast.get_docstring(statement))]
            inside = [f"Bases: {bases}" if bases else "", *inside, *_members(statement)]
        case ast.FunctionDef() | ast.AsyncFunctionDef() as statement:
            title = f"function}} {name}{signatures.of_function(statement)}"
            inside = [docstrings.markdown(ast.get_docstring(statement))]
        case _:
            title = f"data}} {name}"
    source = declared.path.relative_to(ROOT)
    link = f"Source: [{source}](../../{source}#L-{declared.statement.lineno})"
    return _block(title, [*inside, link], colons=4, options=[f":module: {module}"])


def _members(of: ast.ClassDef) -> Iterator[str]:
    for method in signatures.methods(of):
        inside = [docstrings.markdown(ast.get_docstring(method))]
        if signatures.decorators(method) & signatures.PROPERTIES:
            options = [f":type: {signatures.of_property(method)}"]
            yield _block(f"property}} {method.name}", inside, options=options)
        else:
            yield _block(f"method}} {method.name}{signatures.of_method(method)}", inside)


def _block(
    title: str, inside: Iterable[str], *, colons: int = 3, options: Iterable[str] = ()
) -> str:
    fence = ":" * colons
    return "\n".join(
        [f"{fence}{{py:{title}", *options, "", "\n\n".join(filter(None, inside)), fence]
    )


def _statements(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, ast.stmt | None]]:
    """Every statement at the top of a module, those for the type checker too, with the next."""
    for statement, after in zip(body, [*body[1:], None], strict=True):
        yield statement, after
        if isinstance(statement, ast.If | ast.Try):
            yield from _statements(statement.body)


def _imported(source: str, statement: ast.ImportFrom, name: str) -> Declaration | None:
    original = next(each.name for each in statement.names if name in {each.asname, each.name})
    path = _path_of(source)
    return declaration(path, original) if path else None


def _path_of(module: str) -> Path | None:
    """The file of a module of this package."""
    base = ROOT.joinpath(*module.split("."))
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.is_file() and _PACKAGE in path.parents), None)


def _module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _summary(path: Path) -> str:
    return prose((ast.get_docstring(_tree(path)) or "").partition("\n")[0])


def _string(statement: ast.stmt | None) -> str:
    match statement:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return text
    return ""


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())
