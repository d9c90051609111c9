"""A loop over OpenAI's SDK: the model calls a calculator until it answers."""

import json

from agent_tools import PROMPT, calculator, question
from reward_functions.rollouts.openai import rollout_client, rollout_handler

EXPRESSION = {"type": "object", "properties": {"expression": {"type": "string"}}}
FUNCTION = {"name": "calculator", "parameters": EXPRESSION | {"required": ["expression"]}}
MOST_TURNS = 8


def result(call):
    """What a tool call gives back; the policy is shown its mistakes."""
    try:
        content = calculator(**json.loads(call.function.arguments))
    except (ValueError, TypeError, SyntaxError, ArithmeticError, RecursionError) as error:
        content = f"error: {error}"
    return {"role": "tool", "tool_call_id": call.id, "content": content}


def solver(client):
    """The agent over a client: from a request to a response."""

    def solve(request):
        asked = question(request["prompt"])
        messages = [{"role": "system", "content": PROMPT}, {"role": "user", "content": asked}]
        for _ in range(MOST_TURNS):
            answer = client.chat.completions.create(
                model="default",
                messages=messages,
                tools=[{"type": "function", "function": FUNCTION}],
            )
            message = answer.choices[0].message
            if not message.tool_calls:
                break
            messages.append(message.model_dump(exclude_none=True))
            messages += map(result, message.tool_calls)
        return message.content or ""

    return solve


solve = rollout_handler(solver(rollout_client()), reward="math")
