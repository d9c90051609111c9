"""Gates: what an expression says, how it decides, and what is accepted."""

from datetime import date

import pytest

from reward_functions.audit.cards import FIGURES
from reward_functions.audit.engine import AuditOptions, AuditRows, audited
from reward_functions.audit.gates import (
    DEFAULTS,
    FOUND,
    IDS,
    Acceptance,
    accept,
    acceptances,
    accepted_of,
    expression,
    expressions,
    gate_decisions,
)
from reward_functions.audit.results import Figure, Finding
from reward_functions.audit.targets import audit_target
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import sample
from reward_functions.reports.statistics import share
from tests.audit.faults import good


def rate(count, of, name="exploit"):
    found = share(count, of, of)
    return Figure(name, found.value, found.low, found.high, of)


DECISIONS = {
    # by why it is decided so: the gate, the figure, the decision
    "none of 191 is at most 2 %": ("exploit>0.02", rate(0, 191), "held"),
    "none of 150 may still be 2 %": ("exploit>0.02", rate(0, 150), "undecided"),
    "one of 191 is under the limit, its upper end is not": (
        "exploit>0.02",
        rate(1, 191),
        "undecided",
    ),
    "three of 100 are over it": ("exploit>0.02", rate(3, 100), "broken"),
    "a limit of 0 is exact": ("exploit>0", rate(0, 3), "held"),
    "a limit of 0 is not exact where the interval reaches below it": (
        "kappa.beside<0",
        Figure("kappa.beside", 0.01, -0.2, 0.22, 50, "score"),
        "undecided",
    ),
    "a difference below 0 has no number of rows that decides it": (
        "diff<-0.05",
        Figure("diff", -0.02, -0.1, 0.06, 50),
        "undecided",
    ),
    "a difference that is above 0 holds": (
        "kappa.beside<0",
        Figure("kappa.beside", 0.2, 0.02, 0.4, 50, "score"),
        "held",
    ),
    "a limit of 0 is broken by one": ("exploit>0", rate(1, 10_000), "broken"),
    "the limit itself is not beyond it": ("lazy>0.5", Figure("lazy", 0.5, n=9), "held"),
    "a figure without an interval is its value": (
        "ceiling>0.5",
        Figure("ceiling", 0.7, n=9, unit="score"),
        "broken",
    ),
    "a lower gate holds by its lower end": (
        "kappa<0.4",
        Figure("kappa", 0.6, 0.41, 0.8, 50),
        "held",
    ),
    "a lower gate is undecided where the interval reaches below": (
        "kappa<0.4",
        Figure("kappa", 0.6, 0.3, 0.8, 50),
        "undecided",
    ),
    "a lower gate is broken below": ("kappa<0.4", Figure("kappa", 0.39, 0.1, 0.6, 50), "broken"),
    "a few prompts decide nothing, though a figure has no interval": (
        "fp>0.05",
        Figure("fp", 0.0, n=3, why="an interval takes 5 prompts"),
        "undecided",
    ),
    "what was not measured is no pass": (
        "dead>0.5",
        Figure("dead", None, why="groups of one"),
        "absent",
    ),
}


@pytest.mark.parametrize("why", DECISIONS)
def test_a_gate_decides(why):
    text, figure, decision = DECISIONS[why]
    (gate,) = gate_decisions([expression(text)], [figure])
    assert (gate.decision, gate.figure, gate.expression) == (decision, figure.id, text)
    assert figure.id in gate.message
    assert figure.value is not None or figure.why in gate.message


def test_an_undecided_gate_says_how_many_prompts_decide_it():
    (gate,) = gate_decisions([expression("exploit>0.02")], [rate(0, 100)])
    assert gate.needed == 189
    assert (
        gate_decisions([expression("exploit>0.02")], [rate(0, gate.needed)])[0].decision == "held"
    )
    assert (
        gate_decisions([expression("exploit>0.02")], [rate(0, gate.needed - 1)])[0].decision
        != "held"
    )


@pytest.mark.parametrize(
    "text",
    ["", "exploit", "exploit>", ">0.1", "exploit>=0.1", "exploit>x", "a b>1", "1>exploit", "fp>٣"],
)
def test_what_is_no_gate_is_refused_in_a_sentence(text):
    with pytest.raises(ConfigurationError, match="FIGURE>LIMIT"):
        expression(text)


def test_a_gate_of_no_figure_is_refused_with_the_one_that_was_meant():
    with pytest.raises(ConfigurationError, match=r"Did you mean .exploit"):
        gate_decisions([expression("exploits>0.1")], [rate(0, 5)])


def test_a_gate_that_is_asked_for_replaces_the_default_of_its_figure():
    wanted = expressions(["exploit>0.5", "fp>0.1"], DEFAULTS)
    texts = [each.text for each in wanted]
    assert texts.count("exploit>0.5") == 1
    assert "exploit>0.02" not in texts
    assert texts[-1] == "fp>0.1"
    assert len(texts) == len(DEFAULTS) + 1


def test_a_default_gate_of_what_the_rows_cannot_have_is_left_out_and_one_asked_for_is_not():
    none = Figure("fn.value", None, why="these rows have no answer of the class")
    assert gate_decisions(expressions([], ["fn.value>0.2"]), [none]) == []
    assert gate_decisions(expressions(["fn.value>0.2"], []), [none])[0].decision == "absent"


def accepted(name, reward=""):
    return Acceptance(name, "its prompts say so", date(2026, 11, 29), reward)


def test_what_is_accepted_stays_in_the_report_with_its_reason_and_day():
    gates = gate_decisions([expression("fn.value>0.2")], [rate(50, 100, "fn.value")])
    broken = Finding("FN-VALUE", "forms", "broken", "50 are refused", figure="fn.value")
    (gate,), (finding,) = accept(gates, [broken], [accepted("fn.value")])
    assert (gate.decision, finding.verdict) == ("accepted", "accepted")
    for message in (gate.message, finding.message):
        assert "2026-11-29: its prompts say so" in message


def test_an_acceptance_that_nothing_needs_is_a_finding():
    gates = gate_decisions([expression("fn.value>0.2")], [rate(0, 100, "fn.value")])
    (gate,), (stale,) = accept(gates, [], [accepted("fn.value")])
    assert (gate.decision, stale.id, stale.verdict) == ("held", "STALE", "note")
    assert "remove the acceptance" in stale.message


ACCEPTED = """
[[accept]]
id = "fn.value"
reason = "whole numbers alone"
date = 2026-11-29
reward = "gsm8k"
"""


def test_a_file_of_acceptances_is_read_and_one_that_is_not_there_holds_none(tmp_path):
    file = tmp_path / "audit.toml"
    assert acceptances(file) == []
    file.write_text(ACCEPTED)
    assert acceptances(file) == [
        Acceptance("fn.value", "whole numbers alone", date(2026, 11, 29), "gsm8k")
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[accept", "audit.toml"),
        ("[[accept]]\nid = 3\n", "an id and a reason"),
        ('[[accept]]\nid = "a"\nreason = " "\n', "an id and a reason"),
        ('[[accept]]\nid = "a"\nreason = "b"\n', "date = "),
        ('[[accept]]\nid = "a"\nreason = "b"\ndate = "today"\n', "date = "),
        ('[accept]\nid = "a"\nreason = "b"\ndate = 2026-11-29\n', "begins with"),
        ('accept = ["a"]\n', "begins with"),
        (f"{ACCEPTED}at_most = '1'", "at_most = 0.05 is a number"),
        (f"{ACCEPTED}atmost = 1", "no key 'atmost'. Did you mean 'at_most'"),
    ],
)
def test_an_acceptance_without_its_reason_or_day_is_refused(text, says, tmp_path):
    (tmp_path / "audit.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=says):
        acceptances(tmp_path / "audit.toml")


@pytest.mark.parametrize(("value", "decision"), [(0.5, "accepted"), (0.51, "broken")])
@pytest.mark.parametrize("name", ["fn.value", "FN-VALUE"])
def test_above_its_ceiling_an_acceptance_is_over(name, value, decision):
    figure = Figure("fn.value", value, value, value, 100)
    gates = gate_decisions([expression("fn.value>0.2")], [figure])
    broken = Finding("FN-VALUE", "forms", "broken", "50 are refused", figure="fn.value")
    meant = [accepted(name)._replace(at_most=0.5)]
    (gate,), (finding,) = accept(gates, [broken], meant, [figure])
    assert (gate.decision, finding.verdict) == (decision, decision)
    assert "accepted up to 0.5 on 2026-11-29" in gate.message


ALIKE = {
    # what an acceptance names: whether it is of "rewards.py:strict" in the folder "team"
    "": True,
    "strict": True,
    "rewards.py:strict": True,
    "team/rewards.py:strict": True,
    "rewards:strict": True,
    "team.rewards:strict": True,
    "rewards.py": True,
    "team/rewards.py": True,
    "others.py:strict": False,
    "rewards.py:other": False,
    "other": False,
}


@pytest.mark.parametrize("reward", ALIKE)
@pytest.mark.parametrize("target", ["team/rewards.py:strict", "team.rewards:strict", len])
def test_an_acceptance_finds_its_function_by_any_of_its_names(reward, target, tmp_path):
    code = str(tmp_path / "team" / "rewards.py")
    found = accepted_of(target, ["strict"], code, [accepted("fn.value", reward)])
    assert bool(found) == ALIKE[reward]


@pytest.mark.parametrize("reward", ["acme.box", "acme-box@dev", "acme-box", "my/box.py", "box.py"])
def test_an_acceptance_finds_a_registered_reward(reward):
    given = [accepted("fn.value", reward)]
    deployed = accepted_of("acme-box@dev", ["acme-box", "acme.box"], "/my/box.py", given)
    assert deployed == given
    assert accepted_of("math", ["math"], "/verifiers/math.py", given) == []


def test_acceptances_stand_beside_the_file_or_the_code_or_in_the_current_folder(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "team").mkdir()
    file = tmp_path / "team" / FOUND
    file.write_text(ACCEPTED)
    code = str(tmp_path / "team" / "gsm8k.py")
    for target in ("team/gsm8k.py:f", "team.gsm8k:f", len, "acme.gsm8k"):
        assert len(accepted_of(target, ["f"], code)) == 1
    assert accepted_of("gsm8k", ["gsm8k"], "") == []
    file.rename(FOUND)
    assert accepted_of("team/gsm8k.py:f", ["f"], code) == []
    assert len(accepted_of("gsm8k", ["gsm8k"], code)) == 1


def test_an_acceptance_of_nothing_is_refused_with_what_was_meant():
    with pytest.raises(ConfigurationError, match=r"Did you mean 'fn\.value'"):
        accepted_of("math", ["math"], "", [accepted("fn.valu")])
    assert accepted_of("math", ["math"], "", [accepted("fn.valu", "another")]) == []


def test_whatever_an_audit_finds_can_be_accepted():
    rows = [
        sample(f"#### {at}", str(at), prompt=f"{at}?", id=str(at), right=True) for at in range(9)
    ]
    data = AuditRows("rows", rows, [str(at) for at in range(9)])
    asked = AuditOptions(label="right", search=50, latency=True)
    done = audited(audit_target(good), data, asked)
    shown = {each.id for each in done.figures} | set(FIGURES)
    shown |= {each.id for each in done.findings if each.verdict in ("ok", "broken")}
    assert shown <= IDS
