"""A judge model that throws dice: its verdicts are legal, mostly, and always the same ones.

They depend on the row and on which of its questions is asked, never on the words of a prompt, so
that a prompt in other words shows in what was asked and in nothing else.
"""

from random import Random

ILLEGAL = 0.05
"""The share of answers that are no verdict."""

USUAL = 0.85
"""How often a field has its usual choice, where it has one: else most responses would be found to
speak to their judge."""

QUOTED = 40
"""Characters of a quotation."""


def dice(name):
    """Answers for the questions about a row of this name."""

    def answer(question):
        chance = Random(f"{name}:{question.sample}:{question.turn}")
        if chance.random() < ILLEGAL:
            return {"no such field": ""}
        return {
            field.name: _value(field, question, chance)
            for field in question.fields
            if field.choices or field.supports
        }

    return answer


def _value(field, question, chance):
    if field.supports:
        return " ".join(question.quotable.split())[:QUOTED]
    if field.usual and chance.random() < USUAL:
        return field.usual
    return chance.choice(field.choices)
