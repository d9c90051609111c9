"""Find the answer in a response, by total functions: None or a `NoAnswer` without one.

visible              what of a response counts: turn tokens, reasoning, echo and the invisible go
selection            which of the candidates is the final answer
answer               what is found: an `Answer`, or a `NoAnswer` that says why
candidates           the forms an answer stands in: boxes, statements, `####`, formulas, all of it
cues                 the words around a candidate that disqualify it
prompt_facts         what a prompt says, so that a sentence only repeats it
formula_context      whether a candidate is part of a larger formula
choices, scores      the letter of an option; the scores that follow from what was found
tool_call_forms      tool calls that a policy wrote as text
called_tools         which tools a response calls; tool_schemas: which it was offered
"""
