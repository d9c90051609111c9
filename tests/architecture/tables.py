"""The tables of our sources that map to functions and classes, found in their syntax."""

import ast
import builtins
from functools import cache
from pathlib import Path

import reward_functions
from tests.architecture.sources import tree

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
    """The values of a mapping, those in tuples singly; empty where it is computed, else None."""
    match value:
        case ast.Dict(_, values):
            return [part for each in values for part in getattr(each, "elts", [each])]
        case ast.Call(ast.Name("MappingProxyType"), [inner]):
            return _rows(inner)
        case (
            ast.DictComp() | ast.Call(ast.Name("dict")) | ast.Call(ast.Attribute(ast.Name("dict")))
        ):
            return []
    return None


def _promises(annotation):
    written = ast.unparse(annotation) if annotation else ""
    return "Callable[" in written or "type]" in written or "type[" in written


def _callable(row, path):
    match row:
        case ast.Lambda():
            return True
        case ast.Name(name):
            return _names(path).get(name) == "callable" or callable(getattr(builtins, name, None))
        case ast.Attribute(ast.Name(base)):
            return _names(path).get(base) in {"module", "callable"}
        case ast.Attribute(ast.Call()):  # a method of what is made on the spot
            return True
    return False


@cache
def _names(path):
    """What a name of a file stands for, as far as a callable is concerned."""
    known = {}
    for node in ast.walk(tree(path)):
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
