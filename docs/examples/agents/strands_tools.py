"""An agent of Strands with a calculator, and with files in a folder of its own."""

from tempfile import TemporaryDirectory

from agent_tools import PROMPT, Folder, calculator, question
from strands import Agent, tool
from strands.models.openai import OpenAIModel


def solver(model):
    """The agent over a model: from a request to a response."""

    def solve(request):
        with TemporaryDirectory() as path:
            folder = Folder(path)
            tools = [tool(each) for each in (calculator, folder.write_file, folder.read_file)]
            agent = Agent(model=model, tools=tools, system_prompt=PROMPT, callback_handler=None)
            return str(agent(question(request["prompt"])))

    return solve


solve = solver(OpenAIModel(model_id="default"))
