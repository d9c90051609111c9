"""The tools of the agents beside this file: a calculator, and a folder of files."""

import ast
import json
import operator
import re
from pathlib import Path

PROMPT = "Solve the problem. Compute with the calculator. End with \\boxed{the answer}."

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")

LARGEST = 100_000
"""Bytes of all files of a folder."""


def question(prompt):
    """What is asked: a job's prompt may be the JSON of a row, whose answer no model is shown."""
    try:
        row = json.loads(prompt)
    except ValueError:
        return prompt
    return row.get("prompt", prompt) if isinstance(row, dict) else prompt


def calculator(expression: str) -> str:
    """Compute an arithmetic expression.

    Args:
        expression: numbers with + - * / // % and brackets, such as "(3 + 4) * 6".
    """
    if len(expression) > 200:
        raise ValueError("the expression has more than 200 characters")
    return str(_value(ast.parse(expression.strip(), mode="eval")))


def _value(node):
    """The value of an expression of numbers and `OPERATORS`; a power could take for ever."""
    match node:
        case ast.Expression(body):
            return _value(body)
        case ast.Constant(int() | float() as number):
            return number
        case ast.UnaryOp(ast.USub(), operand):
            return -_value(operand)
        case ast.BinOp(left, sign, right) if type(sign) in OPERATORS:
            return OPERATORS[type(sign)](_value(left), _value(right))
    raise ValueError("only numbers and + - * / // % ( ) are known")


class Folder:
    """Files of one rollout; a policy may write any name, and none leads out of the folder."""

    def __init__(self, path):
        self._path = Path(path)

    def write_file(self, name: str, text: str) -> str:
        """Write a file.

        Args:
            name: of the file, without a folder, such as "notes.txt".
            text: that it holds.
        """
        content, file = text.encode(), self._of(name)
        others = (each for each in self._path.iterdir() if each != file)
        if len(content) + sum(each.stat().st_size for each in others) > LARGEST:
            raise ValueError(f"the files of a folder have {LARGEST} bytes at most")
        file.write_bytes(content)
        return f"{name} is written"

    def read_file(self, name: str) -> str:
        """Read a file.

        Args:
            name: of the file.
        """
        found = self._of(name)
        if not found.is_file():
            raise ValueError("there is no file of that name")
        return found.read_bytes().decode()

    def _of(self, name):
        if not NAME.fullmatch(name):
            raise ValueError("a name has letters, digits, _ . - and no folder")
        return self._path / name
