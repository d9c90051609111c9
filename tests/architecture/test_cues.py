"""English words in patterns stand in the cue tables: a verifier adds rows there, not patterns."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "reward_functions"
FINQA = PACKAGE / "finqa"
TABLES = {*(PACKAGE / "extraction" / "cues").glob("*.py"), FINQA / "cues.py", FINQA / "phrases.py"}
SOURCES = sorted(
    path
    for room in ("extraction", "finqa", "verifiers")
    for path in (PACKAGE / room).rglob("*.py")
    if path not in TABLES
)

LATEX = """
    frac dfrac tfrac cfrac sqrt binom text textbf mbox math mathrm operatorname boldsymbol boxed
    framebox fcolorbox begin end left right big quad displaystyle color textcolor scalebox
    alpha beta gamma delta epsilon theta lambda varphi phi psi rho sigma tau omega infty
    leq geq slant neq subset notin nmid mid times cdot div ast cup cap setminus oplus choose
    over bmod wedge vee circ prime pmod bullet
    log exp sin cos tan sec csc cot det gcd lcm neg lnot lfloor lceil floor ceil vert overline
    bar arc sum prod int lim max min abs normal igg
"""
"""Commands: a pattern may name several as one group behind a backslash."""

NAMES = {
    # What a file may name beside them: no word that speaks about an answer.
    "verifiers/instructions.py": "block div font mark quot small span strong table wbr",
    "verifiers/json_fields.py": "number rouge_l",
    "extraction/invisible.py": """
        abel ancel area aria ath audio ave avebox base bottom box calebox cancel canvas
        class clip col collapse comm comment cssid data datalist declare
        declaremathoperator declarerobustcommand def del dfcomment display
        documentcommand eclare egin embed enewcommand enewdocument esizebox essage etbox
        ewcommand ewdocument extcolor exttransparent ffalse fff filec filecontents font
        fontsize glossary hantom head hidden hite href html htmlstyle hypertarget iframe
        img indent index input inset invisible label lap lass link lossary message meta
        ndex newcommand nocite noembed noframes none noscript nullfont nvisible object
        ocite olor ontsize opacity out overflow path pdfcomment pecial phantom provide
        providecommand ransparent rect ref ren resizebox rgba rovidecommand
        rovidedocument scale script setbox size source sout space special ssid strike
        style template texttransparent title tml top track transform transparent tyle
        typeout ullfont video visibility wbr white ypeout ypertarget
    """,
    "extraction/reasoning.py": """
        of_thought analysis channel final constrain message return call start
    """,
    "extraction/tool_call_forms.py": "tool calls tool_call tool_calls begin python_tag",
    "finqa/parser.py": "none const_",
    # Keywords of a query.
    "verifiers/_sql/database.py": "not materialized",
    "verifiers/_sql/gold.py": "order limit offset distinct from",
}


def constants(node, named):
    """The string constants of an expression, and of the module's own names that it uses."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value
        elif isinstance(inner, ast.Name) and inner.id in named:
            yield from constants(named[inner.id], named)


def patterns(tree):
    """(line, source) of the string constants that a module hands to `re.compile`."""
    named = {
        node.target.id: node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile":
            yield from ((node.lineno, source) for source in constants(node.args[0], named))


def english(source, names=""):
    """The words of a pattern, but for names of groups, sets, escapes, comments and `names`."""
    bare = re.sub(r"\(\?P[<=]\w+[>)]?|(?<=\s)\# .*", " ", source)
    bare = re.sub(r"\\\\[A-Za-z]+|\\[A-Za-z]|\[[^\]]*\]", " ", bare)
    found = {word.lower() for word in re.findall(r"[A-Za-z][A-Za-z_]{2,}", bare)}
    return found - {*LATEX.split(), *names.split()}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_pattern_with_english_words_stands_in_a_cue_table(path):
    names = NAMES.get(str(path.relative_to(PACKAGE)), "")
    found = patterns(ast.parse(path.read_text()))
    wrong = [(line, words) for line, source in found if (words := english(source, names))]
    assert not wrong, "move it to extraction/cues or finqa/phrases.py"


def test_every_file_that_may_name_more_is_there():
    assert {str(path.relative_to(PACKAGE)) for path in SOURCES} >= NAMES.keys()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (r"\b(?:maybe|perhaps)\b", {"maybe", "perhaps"}),
        (r"(?P<value>\d+)\s?\\frac\{[bcdh]", set()),
        (r"\\(?:sin|cos)\b|the answer", {"the", "answer"}),
        (r"\\text\{or\s+(?:else)\}", {"else"}),
    ],
)
def test_words_of_a_pattern_are_found(source, words):
    assert english(source) == words
