"""Episodes with the tokens of an engine, drawn by hypothesis or written by hand."""

from __future__ import annotations

from hypothesis import strategies as st

from reward_functions.rollouts.record.types import TokenTrace, TokenUsage, Trajectory, Turn


def turn(index, prompt, written, logprobs=None, **fields):
    """A turn with tokens; its log-probabilities are made of its index, so that all differ."""
    given = [-(index + 1) - at / 10 for at in range(len(written))] if logprobs is None else logprobs
    tokens = TokenTrace(
        prompt_ids=tuple(prompt),
        completion_ids=tuple(written),
        logprobs=tuple(given) if given and logprobs != () else None,
    )
    messages = ({"role": "user", "content": f"question {index}"},)
    response = {"role": "assistant", "content": f"answer {index}"}
    return Turn(index=index, tokens=tokens, **{"messages": messages, "response": response} | fields)


def trajectory(*turns, rewards=(1.0,), id="r1", status="ready", **fields):
    return Trajectory(id=id, turns=turns, rewards=rewards, status=status, **fields)


ids = st.lists(st.integers(0, 9), max_size=4)


@st.composite
def trajectories(draw, *, logprobs=True):
    """Episodes whose prompts extend what any earlier turn held, or are new."""
    turns = []
    for index in range(draw(st.integers(0, 6))):
        held = [t.tokens.prompt_ids + t.tokens.completion_ids for t in turns] or [()]
        prompt = [*draw(st.sampled_from([*held, ()])), *draw(ids)] or [0]
        written = draw(ids)
        spared = draw(st.sampled_from(["", "", "", "discarded", "error"]))
        fields = {"discarded": True} if spared == "discarded" else {}
        fields |= {"error": "Timeout", "response": None} if spared == "error" else {}
        fields |= {"model": draw(st.sampled_from(["", "m"])), "seconds": draw(st.floats(0, 9))}
        fields["usage"] = TokenUsage(input=draw(st.none() | st.integers(0, 9)))
        bare = not logprobs and draw(st.booleans())
        turns.append(turn(index, prompt, written, logprobs=() if bare else None, **fields))
    rewards = draw(st.none() | st.tuples(st.floats(-9, 9)))
    return trajectory(*turns, rewards=rewards)
