"""A harness of verifiers that says the prompt to the model once, in this process."""

import httpx
from verifiers.v1 import Harness, HarnessConfig, ProgramResult

__all__ = ["OneTurn"]


class OneTurn(Harness[HarnessConfig]):
    APPENDS_SYSTEM_PROMPT = True
    NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        system, prompt = self.resolve_prompt(data)
        turns = [("system", system)] if system else []
        asked = [{"role": role, "content": text} for role, text in [*turns, ("user", prompt)]]
        async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
            answer = await client.post(
                f"{endpoint}/chat/completions",
                json={"model": ctx.model, "messages": asked},
                headers={"Authorization": f"Bearer {secret}"},
            )
        return ProgramResult(0 if answer.is_success else 1, answer.text, answer.text)
