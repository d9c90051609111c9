"""The mutants of a file: each changes one expression or statement to another that parses."""

import ast
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.rooms import ROOT

SWAPPED = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.And: "or",
    ast.Or: "and",
}


@dataclass(frozen=True)
class Mutant:
    """One change: the text between two places of a file's bytes, and what stands there instead.

    Args:
        kind: what was changed, in a word.
        expression: whether it is an expression; else it is a statement.
    """

    path: Path
    line: int
    start: int
    stop: int
    text: str
    kind: str
    expression: bool

    def source(self, mark):
        """The file's bytes with the change, which runs an expression when it is reached."""
        was = self.path.read_bytes()
        new = f"({mark}, {self.text})[1]" if self.expression else mark
        return was[: self.start] + new.encode() + was[self.stop :]

    def __str__(self):
        """Where it is, and what it does."""
        source = self.path.read_bytes()
        column = self.start - source.rfind(b"\n", 0, self.start)
        new = self.text if self.expression else "(dropped)"
        shown = f"{source[self.start : self.stop].decode()} -> {new}".replace("\n", " ")
        where = f"{self.path.relative_to(ROOT)}:{self.line}:{column}"
        return f"{where} {self.kind}: {shown[:150]}"


def mutants(path):
    """Every mutant of a file but those of annotations, docstrings and defaults of decorators."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def span(node):
        begin, end = starts[node.lineno - 1], starts[node.end_lineno - 1]
        return begin + node.col_offset, end + node.end_col_offset

    def text(node):
        start, stop = span(node)
        return f"({source[start:stop].decode()})"

    for node in _run(ast.parse(source)):
        for changed, new, kind in _changes(node, text):
            yield Mutant(path, changed.lineno, *span(changed), new, kind, kind != "dropped")


def _changes(node, text):
    """What a node may become: what is replaced, by what text, and a word for it."""
    match node:
        case ast.Compare(left, [op], [right]):
            yield node, f"{text(left)} {SWAPPED[type(op)]} {text(right)}", "compare"
        case ast.BoolOp(op, values):
            yield node, f" {SWAPPED[type(op)]} ".join(map(text, values)), "and/or"
        case ast.UnaryOp(ast.Not(), operand):
            yield node, f"bool{text(operand)}", "not"
        case ast.BinOp(left, op, right) if type(op) in SWAPPED:
            yield node, f"{text(left)} {SWAPPED[type(op)]} {text(right)}", "arithmetic"
        case ast.Constant(bool() as value):
            yield node, str(not value), "bool"
        case ast.Constant(int() as value):
            yield node, str(value + 1), "number"
        case ast.If(test):
            yield test, f"not {text(test)}", "if"
        case ast.Return(ast.expr() as value) if not _says_no(value):
            yield value, "None", "return"
        case ast.Expr(ast.Call()) | ast.Raise():
            yield node, "", "dropped"


def _says_no(node):
    """Whether a value is none already, or False, in the place of which None is the same."""
    return isinstance(node, ast.Constant) and (node.value is None or node.value is False)


SKIPPED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.JoinedStr)


def _run(tree):
    """The nodes that run when a function is called; no annotation, pattern or f-string."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting = list(function.body)
            while waiting:
                node = waiting.pop()
                if not isinstance(node, SKIPPED):
                    yield node
                    waiting += _children(node)


def _children(node):
    match node:
        case ast.AnnAssign(value=value):
            return [value] if value else []
        case ast.match_case(guard=guard, body=body):
            return [guard, *body] if guard else body
        case _:
            return list(ast.iter_child_nodes(node))
