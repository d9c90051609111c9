"""An agent of Strands that solves a problem with a calculator."""

import ast
import json
import operator

from strands import Agent, tool
from strands.models.openai import OpenAIModel
from reward_functions.rollouts.strands import rollout_handler, wrap_model

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def value(node):
    """The value of an expression of numbers and `OPERATORS`; a power could take for ever."""
    match node:
        case ast.Expression(body):
            return value(body)
        case ast.Constant(int() | float() as number):
            return number
        case ast.UnaryOp(ast.USub(), operand):
            return -value(operand)
        case ast.BinOp(left, sign, right) if type(sign) in OPERATORS:
            return OPERATORS[type(sign)](value(left), value(right))
    raise ValueError("only numbers and + - * / // % ( ) are known")


@tool
def calculator(expression: str) -> str:
    """Compute an arithmetic expression.

    Args:
        expression: numbers with + - * / // % and brackets, such as "(3 + 4) * 6".
    """
    if len(expression) > 200:
        raise ValueError("the expression has more than 200 characters")
    return str(value(ast.parse(expression.strip(), mode="eval")))


PROMPT = "Solve the problem. Compute with the calculator. End with \\boxed{the answer}."


def question(prompt):
    """What is asked: a job's prompt may be the JSON of a row, whose answer no model is shown."""
    try:
        row = json.loads(prompt)
    except ValueError:
        return prompt
    return row.get("prompt", prompt) if isinstance(row, dict) else prompt


def solver(model):
    """The agent over a model: from a request to a response."""

    def solve(request):
        agent = Agent(model=model, tools=[calculator], system_prompt=PROMPT, callback_handler=None)
        return str(agent(question(request["prompt"])))

    return solve


solve = rollout_handler(solver(wrap_model(OpenAIModel(model_id="default"))), reward="math")
