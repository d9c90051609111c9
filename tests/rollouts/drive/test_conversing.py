"""One trajectory as a conversation: each message once, what each turn took, the worst first."""

from dataclasses import replace

import pytest

from reward_functions.reports.conversation import (
    BUDGET,
    FIRST,
    LAST,
    Utterance,
    conversation_markup,
)
from reward_functions.reports.pages.page import Page, Section
from reward_functions.rollouts.drive import conversing
from reward_functions.rollouts.drive.conversing import concerns_of, trajectory_page
from reward_functions.rollouts.record.types import (
    TokenUsage,
    ToolCall,
    ToolResult,
    Trajectory,
    Turn,
)
from tests.gallery.parsed import parsed
from tests.parsed_page import harmless

HOSTILE = "</pre></li></style><script>alert(1)</script>\x1b[31m<ol>"


def message(role, text, **more):
    return {"role": role, "content": text} | more


SYSTEM, ASKED = message("system", "Be short."), message("user", "6 × 7?")
CALLS = message("assistant", "I ask.")
RESULT = message("tool", "42 from the tool", tool_call_id="c")
ANSWER = message("assistant", "It is 42.")
CALL = ToolCall(id="c", name="calc", arguments='{"q": "6*7"}')
FIRST_TURN = Turn(
    index=0,
    messages=(SYSTEM, ASKED),
    response=CALLS,
    tool_calls=(CALL,),
    tool_results=(ToolResult(call_id="c", content="42 from the tool", seconds=0.5),),
    model="qwen3",
    parameters={"temperature": 0.7},
    finish_reason="tool_calls",
    usage=TokenUsage(input=100, output=9),
    seconds=2.0,
)
SECOND_TURN = Turn(
    index=1,
    messages=(SYSTEM, ASKED, CALLS, RESULT),
    response=ANSWER,
    model="qwen3",
    finish_reason="stop",
    usage=TokenUsage(input=130, output=4),
    began=3.0,
    seconds=1.0,
)
WHOLE = Trajectory(id="a", turns=(FIRST_TURN, SECOND_TURN), rewards=(0.25, 0.5), status="ready")


def spoken(trajectory):
    """(class, words) of every item of the conversation."""
    html = trajectory_page(trajectory).html()
    harmless(html)
    page = parsed(html)
    return [
        (each.attributes["class"], " ".join(part.text for part in each.children))
        for each in page.all("li")
        if each.parent.attributes.get("class") == "talk"
    ]


def test_each_message_is_there_once_and_in_order():
    found = spoken(WHOLE)
    assert [kind for kind, _ in found] == ["system", "user", "policy", "call", "result", "policy"]
    words = " ".join(text for _, text in found)
    for text in ("Be short.", "6 × 7?", "I ask.", "42 from the tool", "It is 42."):
        assert words.count(text) == 1


def test_a_reward_stands_beside_the_turn_that_earned_it():
    first, last = (text for kind, text in spoken(WHOLE) if kind == "policy")
    assert "reward0.25" in first
    assert "tokens100 → 9" in first
    assert "reward0.5" in last
    only = [text for kind, text in spoken(replace(WHOLE, rewards=(1.0,))) if kind == "policy"]
    assert ["reward" in each for each in only] == [False, True]


def test_the_head_has_reward_state_model_and_tokens():
    shown = dict(trajectory_page(WHOLE).facts)
    assert shown["reward"] == "0.75 = 0.25 + 0.5"
    assert (shown["state"], shown["model"]) == ("ready", "qwen3")
    assert (shown["tokens read"], shown["tokens written"]) == ("230", "13")
    assert shown["seconds"] == "4"
    unknown = replace(SECOND_TURN, usage=TokenUsage(), model="")
    shown = dict(trajectory_page(replace(WHOLE, turns=(unknown,), rewards=None)).facts)
    assert (shown["reward"], shown["tokens read"]) == ("none", "not known")


def test_a_branch_says_why_it_begins_and_repeats_no_history():
    again = replace(SECOND_TURN, index=2, response=message("assistant", "It is 43."))
    found = spoken(replace(WHOLE, turns=(FIRST_TURN, SECOND_TURN, again)))
    assert [kind for kind, _ in found][-2:] == ["branch", "policy"]
    assert "the same history again: another answer was asked for (as of turn" in found[-2][1]
    assert " ".join(text for _, text in found).count("Be short.") == 1


def test_a_message_of_a_tool_that_nobody_saw_stands_in_the_history():
    unseen = replace(FIRST_TURN, tool_results=())
    found = spoken(replace(WHOLE, turns=(unseen, SECOND_TURN)))
    assert [kind for kind, _ in found][-4:] == ["call", "failed", "result", "policy"]
    assert "calc: missing" in found[-3][1]
    assert "42 from the tool" in found[-2][1]


def turns(**changes):
    return replace(WHOLE, turns=(replace(FIRST_TURN, **changes), SECOND_TURN))


CONCERNS = [
    # a trajectory, the kinds and the words of its concerns
    (WHOLE, []),
    (replace(WHOLE, status="failed"), [("failed", "reported as failed")]),
    (replace(WHOLE, rewards=None), [("unscored", "a trainer learns nothing from it")]),
    (turns(error="TimeoutError", response=None), [("reasons", "1 policy call without an answer")]),
    (turns(tool_results=()), [("reasons", "1 of 1 tool call whose result nobody saw: calc 1.")]),
    (turns(tool_calls=(replace(CALL, arguments="x"),)), [("reasons", "are no JSON object: calc")]),
    (turns(finish_reason="length"), [("truncation", "Cut off at the limit of tokens: turn 0.")]),
    (replace(WHOLE, truncated=True), [("truncation", "The recording is truncated")]),
]


@pytest.mark.parametrize(("trajectory", "expected"), CONCERNS)
def test_the_page_begins_with_what_is_wrong(trajectory, expected):
    found = list(concerns_of(trajectory))
    assert [each.kind for each in found] == [kind for kind, _ in expected]
    html = trajectory_page(trajectory).html()
    harmless(html)
    worst = [each.text for each in parsed(html).all("p") if each.attributes.get("class") == "worst"]
    assert len(worst) == len(expected)
    assert all(words in worst[0] for _, words in expected)


def test_texts_of_a_model_are_escaped_and_cannot_stand_for_the_conversation():
    text = HOSTILE * 3
    hostile = replace(
        FIRST_TURN,
        messages=(message(HOSTILE, text),),
        response=message("assistant", text, reasoning_content=text),
        tool_calls=(ToolCall(id="c", name=HOSTILE, arguments=text),),
        tool_results=(ToolResult(call_id="c", content=text, status="error"),),
        model=HOSTILE,
        finish_reason=HOSTILE,
        parameters={HOSTILE: HOSTILE},
        unread=(HOSTILE,),
    )
    html = trajectory_page(Trajectory(id=HOSTILE, turns=(hostile,), rewards=(1e308, 1e308))).html()
    page = harmless(html)
    assert page.tags["ol"] == 1
    assert "[reasoning]" in page.text
    assert page.text.count("alert(1)") >= 15


def test_messages_that_are_not_of_the_form_are_shown_as_far_as_they_can_be():
    odd = [
        message("tool", "a result", tool_call_id=["c"]),
        message(5, "a number speaks"),
        {"content": [{"type": "text", "text": "in parts"}, {"type": "image"}, 7]},
        message("assistant", None, reasoning=["x"]),
        message("assistant", "written earlier"),
    ]
    later = replace(SECOND_TURN, messages=(*FIRST_TURN.messages, CALLS, *odd))
    found = spoken(replace(WHOLE, turns=(FIRST_TURN, later)))
    words = " ".join(text for _, text in found)
    for text in ("a result", "a number speaks", "in parts", "in the history written earlier"):
        assert text.split()[-1] in words


def test_a_long_episode_shows_both_of_its_ends_and_says_what_it_leaves_out():
    again = Utterance("user", "user", "x")
    turns = [again._replace(who=f"user {at}") for at in range(FIRST + LAST + 20)]
    html = conversation_markup(turns).html
    assert "20 turns, calls and results are left out" in html
    assert f"user {FIRST - 1}<" in html
    assert f"user {FIRST}<" not in html
    assert f"user {FIRST + 20}<" in html
    nothing = trajectory_page(Trajectory(id="x")).html()
    assert "The policy was never called." in harmless(nothing).text


def test_of_a_long_episode_the_first_turns_and_the_last_are_shown():
    history = [SYSTEM, ASKED]
    turns = []
    for at in range(conversing.FIRST + conversing.LAST + 7):
        turns.append(replace(SECOND_TURN, index=at, messages=tuple(history)))
        history += [ANSWER, message("user", f"Again, number {at}.")]
    found = spoken(replace(WHOLE, turns=tuple(turns), rewards=(1.0,)))
    words = " ".join(text for _, text in found)
    assert "7 turns are left out" in words
    assert f"policy, turn {conversing.FIRST - 1} " in words
    assert f"policy, turn {conversing.FIRST} " not in words
    assert f"Again, number {conversing.FIRST + 2}." not in words
    assert f"Again, number {len(turns) - 2}." in words
    assert "reward1" in found[-1][1]


def test_texts_share_the_room_of_the_page():
    turns = [Utterance("user", "user", "&" * 10_000)] * (FIRST + LAST)
    assert len(conversation_markup(turns).html) < 1.2 * BUDGET
    page = Page("t", sections=[Section("s", [conversation_markup(turns[:3])])])
    assert 3 * 5_000 < len(page.html()) < 40_000
