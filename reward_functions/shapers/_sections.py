"""Sections between tags: `<think>…</think>`. Tags are compared as text, so every scan is linear."""

from __future__ import annotations

from typing import NamedTuple

from reward_functions.quantities.unicode_forms import visible


class Fault(str):
    """Why a response does not have the form, in a clause."""

    __slots__ = ()


def blank(text: str) -> bool:
    """Whether a reader sees nothing: white space, zero-width characters, controls."""
    return not any(map(str.isprintable, "".join(visible(text).split())))


class Tags(NamedTuple):
    """The two tags of a section."""

    opening: str
    closing: str

    @classmethod
    def of(cls, name: str) -> Tags:
        """`<name>` and `</name>`."""
        return cls(f"<{name}>", f"</{name}>")


def section_then_answer(response: str, name: str, *, opened: bool) -> tuple[str, str] | Fault:
    """What is inside the one section a response begins with, and what follows it.

    Args:
        response: of a policy.
        name: of the section's tags.
        opened: whether the opening tag stood in the prompt.
    """
    opening, closing = Tags.of(name)
    inside, closed, answer = response.partition(closing)
    if not closed:
        cut_off = opened or opening in response
        return Fault(f"{closing} is missing" if cut_off else f"there is no {opening} section")
    before, begun, inner = inside.partition(opening)
    if opened and not begun:
        inner, before = before, ""
    elif not begun:
        return Fault(f"{opening} is missing")
    if before.strip():
        return Fault(f"the response does not begin with {opening}")
    if opening in inner or opening in answer or closing in answer:
        return Fault(f"there is more than one {opening} section")
    if blank(inner):
        return Fault(f"the {opening} section is empty")
    if blank(answer):
        return Fault(f"nothing follows {closing}")
    return inner, answer
