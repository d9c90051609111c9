"""The tables of our sources that map to functions and classes, found in their syntax."""

import ast
import builtins
from functools import cache
from pathlib import Path

import reward_functions
from tests.architecture.sources import nodes, tree

PACKAGE = Path(reward_functions.__file__).parent


def module_of(path):
    """A file's name as a module, below the package."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def found():
    """{"module:TABLE": rows that are written out} of all tables with a row that can be called."""
    return {
        f"{module_of(path)}:{name}": len(rows)
        for path in sorted(PACKAGE.rglob("*.py"))
        for owner in (tree(path), *_classes(tree(path)))
        for name, annotation, value in _assigned(owner)
        if (rows := _rows(value)) is not None
        and (_promises(annotation) or any(_callable(row, path) for row in rows))
    }


def _classes(module):
    return [node for node in module.body if isinstance(node, ast.ClassDef)]


def _assigned(owner):
    """(name, annotation, value) of each assignment that stands in a module or class."""
    for node in owner.body:
        match node:
            case ast.Assign([ast.Name(name)], value):
                yield name, None, value
            case ast.AnnAssign(ast.Name(name), annotation, value) if value is not None:
                yield name, annotation, value


def _rows(value):
    """What the rows of a table hold, in parts; empty where they are computed, None for no table."""
    match value:
        case ast.Dict(_, values):
            return [part for each in values for part in _parts(each)]
        case ast.Call(ast.Name("MappingProxyType"), [inner]):
            return _rows(inner)
        case ast.Call(ast.Attribute(ast.Name("dict"), "fromkeys"), [_, each]):
            return [*_parts(each)]
        case ast.DictComp() | ast.Call(ast.Name("dict")):
            return []
        case ast.Tuple(elements):
            return [part for each in elements if _named(each) for part in _parts(each)] or None
        case ast.Call(ast.Name("tuple"), [ast.GeneratorExp(_, [ast.comprehension(_, inner)])]):
            return _rows(inner)
    return None


def _parts(value):
    """What a row holds: itself, or what stands in its tuple, its table or its call."""
    match value:
        case ast.Tuple(elements) | ast.List(elements):
            yield from (part for each in elements for part in _parts(each))
        case ast.Dict():
            yield from _rows(value)
        case ast.Call(ast.Name(record), given, named) if record[0].isupper():
            yield from (part for each in (*given, *named) for part in _parts(each))
        case ast.keyword(_, inner) | ast.Starred(inner):
            yield from _parts(inner)
        case _:
            yield value


def _named(row):
    """Whether a row has a name: a string, in a tuple or a call."""
    held = _parts(row) if isinstance(row, ast.Tuple | ast.Call) else ()
    return any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in held)


def _promises(annotation):
    written = ast.unparse(annotation) if annotation else ""
    return "Callable[" in written or "type]" in written or "type[" in written


def _callable(row, path):
    match row:
        case ast.Lambda():
            return True
        case ast.Name(name):
            return _names(path).get(name) == "callable" or callable(getattr(builtins, name, None))
        case ast.Attribute(ast.Name(base), name) if not name.isupper():  # a constant is in capitals
            return _names(path).get(base) in {"module", "callable"}
        case ast.Attribute(ast.Call()):  # a method of what is made on the spot
            return True
    return False


@cache
def _names(path):
    """What a name of a file stands for, as far as a callable is concerned."""
    known = {}
    for node in nodes(path):
        match node:
            case ast.Import(names):
                known.update(
                    (each.asname or each.name.partition(".")[0], "module") for each in names
                )
            case ast.ImportFrom(module, names):
                for each in names:
                    known[each.asname or each.name] = _imported(module or "", each.name)
    for node in tree(path).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            known[node.name] = "callable"
    return known


def _imported(module, name):
    """A function or class of the package, or of others by its name: a constant is in capitals."""
    path = PACKAGE.parent.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not file.exists():
        return "other" if name.isupper() else "callable"
    if (path / f"{name}.py").exists():
        return "module"
    defined = {
        node.name for node in tree(file).body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    return "callable" if name in defined else "other"
