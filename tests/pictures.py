"""The drawn pictures of the documentation. `make docs` writes them to docs/images.

A picture says nothing that its description does not say, for whoever listens to the page.
"""

from __future__ import annotations

from typing import Final

from tests.diagrams import Arrow, Box, Diagram, Text, Words


def rlvr_and_rlaif() -> Diagram:
    """Two ways from a response to a reward, and what becomes of failures."""
    prompt = Box(24, 162, 80, 52, ("prompt",))
    policy = Box(128, 162, 84, 52, (_big("policy"),))
    response = Box(236, 162, 92, 52, ("response",))
    reward = Box(836, 162, 100, 52, (_big("reward", "gain"),), look="gain")

    rule = Box(374, 28, 416, 136, look="rule")
    extract = Box(390, 76, 108, 72, ("extract the", "final answer"), look="rule", on_card=True)
    compare = Box(
        522, 76, 144, 72, ("compare exactly", "with a reference"), look="rule", on_card=True
    )
    one_or_zero = Box(690, 76, 84, 72, (_strong("1 or 0"),), look="rule", on_card=True)

    judge = Box(374, 180, 416, 136, look="judge")
    reads = Box(
        390,
        228,
        132,
        72,
        ("a judge model", "reads it with", "a rubric"),
        look="judge",
        on_card=True,
    )
    verdict = Box(546, 228, 120, 72, ("verdict",), look="judge", on_card=True)
    score = Box(690, 228, 84, 72, (_strong("score"),), look="judge", on_card=True)

    wrong = Box(374, 332, 180, 42, ("the answer is wrong",))
    minimum = Box(590, 332, 200, 42, (_strong("minimum of the scale"),))
    failed = Box(
        374, 386, 180, 42, (Words("we could not score", look="none"),), look="none", dashed=True
    )
    no_score = Box(590, 386, 200, 42, (_strong("no score", "none"),), look="none", dashed=True)

    fork, join = 351, 813
    x, y = response.right
    return Diagram(
        title="Two ways from a response to a reward",
        description=(
            "A prompt goes to the policy, which writes a response. With RLVR a rule extracts "
            "the final answer and compares it exactly with a reference, giving 1 or 0. With "
            "RLAIF a judge model reads the response with a rubric and gives a verdict, which "
            "becomes a score. Either way, a wrong answer earns the minimum of the scale, a "
            "reward like any other, and a response that could not be scored has no score of "
            "its own. The reward updates the policy."
        ),
        width=960,
        height=508,
        shapes=(
            prompt, policy, response,
            Arrow((prompt.right, policy.left)),
            Arrow((policy.right, response.left)),
            Arrow(((x, y), (fork, y), (fork, extract.left[1]), (rule.x - 2, extract.left[1]))),
            Arrow(((x, y), (fork, y), (fork, reads.left[1]), (judge.x - 2, reads.left[1]))),
            rule, _heading(390, 57, "RLVR", "a rule verifies, the same every time", "rule"),
            extract, compare, one_or_zero,
            Arrow((extract.right, compare.left)),
            Arrow((compare.right, one_or_zero.left)),
            judge, _heading(390, 209, "RLAIF", "a model judges what no rule can check", "judge"),
            reads, verdict, score,
            Arrow((reads.right, verdict.left)),
            Arrow((verdict.right, score.left)),
            _label(358, 358, "either way", "end"),
            wrong, minimum,
            Arrow((wrong.right, minimum.left)),
            failed, no_score,
            Arrow((failed.right, no_score.left), look="none", dashed=True),
            Arrow((no_score.right, (812, 407)), look="none", dashed=True, tip=False),
            Arrow(((812, 397), (812, 417)), look="none", tip=False),
            Arrow(((790, 112), (join, 112), (join, 188), (reward.x - 2, 188))),
            Arrow(((790, 353), (join, 353), (join, 188), (reward.x - 2, 188)), tip=False),
            Arrow(((790, 264), (join, 264), (join, 240)), tip=False),
            reward,
            Arrow((reward.bottom, (886, 464), (170, 464), (170, 216))),
            _label(528, 488, "policy update: more of what earned more"),
        ),
    )  # fmt: skip


def architecture() -> Diagram:
    """What a stage deploys, and who uses it."""
    trainer = Box(
        24, 84, 160, 156, (_big("trainer"), _soft("a job of Bedrock"), _soft("or SageMaker"))
    )
    stack = Box(276, 24, 660, 376, look="rule")
    version = _part(300, 84, 136, "a version", "never changes")
    function = Box(
        478, 76, 224, 80,
        (_big("Lambda function", "rule"), _soft("one reward, and the"), _soft("parameters it has")),
        look="rule", on_card=True,
    )  # fmt: skip
    scores = Box(744, 84, 168, 64, (_big("scores", "gain"),), look="gain")
    role = _part(300, 236, 186, "Bedrock role", "invokes exactly these")
    bucket = _part(522, 236, 180, "data bucket", "rft-data/, rft-output/")
    return Diagram(
        title="What is deployed, and who uses it",
        description=(
            "A trainer, which is a job of Bedrock or SageMaker, sends a batch of responses to "
            "a version, which no deployment changes. It belongs to a Lambda function, which "
            "serves one reward, and the scores return to the trainer: one result for each "
            "response, under the same ids and in the same order. Around the functions one "
            "stack holds the role a Bedrock job runs as, which invokes exactly these "
            "functions and reads and writes the data bucket; the catalogue in SSM; the rule "
            "and the topic that report a job's changes of state; alarms with a dashboard; and "
            "logs."
        ),
        width=960,
        height=424,
        shapes=(
            stack,
            _heading(300, 54, "one stack", "for each stage of cdk.json, in your account", "rule"),
            trainer, version, function, scores,
            Arrow(((184, 116), version.left)), _label(238, 108, "a batch"),
            Arrow((version.right, function.left)),
            Arrow((function.right, scores.left)),
            Arrow((scores.bottom, (828, 196), (186, 196))),
            _label(590, 188, "one result for each response, same ids, same order"),
            Arrow(((124, 240), (124, 268), role.left)), _label(206, 260, "runs as"),
            role, Arrow((role.right, bucket.left)), bucket,
            _part(732, 236, 180, "catalogue in SSM", "reward deployed list"),
            Arrow(((84, 240), (84, 352), (298, 352))), _label(186, 344, "changes state"),
            _part(300, 320, 186, "job events", "rule, topic, e-mail"),
            _part(522, 320, 180, "alarms", "and a dashboard"),
            _part(732, 320, 180, "logs", "counts and names"),
        ),
    )  # fmt: skip


PICTURES: Final = {"rlvr-and-rlaif": rlvr_and_rlaif, "architecture": architecture}
"""By the name of their file in docs/images."""


def _big(text: str, look: str = "") -> Words:
    return Words(text, "big", look)


def _strong(text: str, look: str = "") -> Words:
    return Words(text, "strong", look)


def _soft(text: str) -> Words:
    return Words(text, "soft")


def _heading(x: float, y: float, name: str, what: str, look: str) -> Text:
    """The heading of a box that holds others."""
    return Text(x, y, (_big(name, look), _soft(what)), anchor="start")


def _label(x: float, y: float, text: str, anchor: str = "middle") -> Text:
    """What stands beside an arrow."""
    return Text(x, y, (_soft(text),), anchor)


def _part(x: float, y: float, width: float, name: str, what: str) -> Box:
    """A part of the stack."""
    return Box(x, y, width, 64, (_strong(name), _soft(what)), look="rule", on_card=True)
