r"""The cues: phrases beside an answer that decide whether it counts, one row a kind of phrase.

This module is data; `matching` compiles it. Cues before an answer end with what may stand between
them and it: delimiters, commands, "it is". They are matched against the few words before an answer,
in lower case, which bounds what they cost. Cues after an answer are matched where it ends.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

ANYWHERE: Final = 100
NEAR: Final = 4
LAST: Final = 1


class Cue(NamedTuple):
    """Phrases of one kind on one side of an answer.

    Args:
        kind: why the answer beside them does not count, as a clause.
        side: of the answer.
        example: one of them, with an answer.
        pattern: all of them, as a verbose regular expression.
        words: one of them stands in every such phrase before an answer: what is looked for first.
        reach: how many words before the answer that one is searched among.
    """

    kind: str
    side: Literal["before", "after"]
    example: str
    pattern: str
    words: str = ""
    reach: int = ANYWHERE


DENIED: Final = "is denied"
SEVERAL: Final = "is one of several"
OTHERS: Final = "is only what others say"
BOUND: Final = "is only a bound"
PART: Final = "is only a part of the value"
SUPPOSED: Final = "is only supposed"
FORMAT: Final = "only shows a format"

# A letter behind a backslash can be read in one way only: in two, every `\n` would double the work.
_COMMAND: Final = r"\\(?:[a-zA-Z]+|[^a-zA-Z\n])"
_GLUE: Final = rf"(?:[\s$(\[{{}}*_~`\"'“‘,]|{_COMMAND})*$"
_TO: Final = rf"(?:[\s$(\[{{}}*_~`\"'“‘,:=]|{_COMMAND})*$"
_COPULAS: Final = (
    r"the|an?|(?:that|this|it)(?:['’]s)?|answer|is|are|was|be|to|equals?|exactly|simply|actually|really|final"
    r"|correct|right|would|es|est|é|è|ist|la|el|le|il|die|das|que|che|dass|respuesta|réponse|antwort"
    r"|risposta|resposta"
)
_IT_IS: Final = rf"(?:\s*\b(?:{_COPULAS}|number|value|result|indeed|also)\b){{0,8}}"
_SAY: Final = (
    r"(?:say|said|claim|think|thought|believe|guess|argue|assume|suspect|suggest|answer|write|wrote"
    r"|expect|insist|conclude)(?:s|d|ed)?"
)
_ANSWER: Final = r"(?:answer|guess|result|solution|value|response|choice|option|idea)s?"

BEFORE: Final = (
    Cue(
        DENIED,
        "before",
        "It is not 5",
        words=(
            "not t never neither nor nobody cannot hardly rather instead anything other "
            "different false wrong doubt neq ne neg ¬ nicht kein keine keines niemals pas "
            "jamais nunca jamás non não nem es son sea nadie ninguno personne niemand nessuno "
            "ninguém mistake error incorrect untrue myth lie refuse except way far differs "
            "differ unequal besides out reject rejects exclude excludes eliminate eliminates"
        ),
        pattern=rf"""
        (?: \b(?:not|never|neither|nor|nobody|cannot|hardly|rather\ than|instead\ of
              |(?<!none\ )other\ than|anything\ (?:but|except)|(?:false|wrong|untrue|myth|lie)\ that
              |(?<!no\ )(?<!without\ )(?<!without\ a\ )doubt(?:\ that)?|refuse\ to|no\ way
              |(?:far|differs?|different)\ from|unequal\ to|besides|(?:rules?|ruled)\ out
              |rejects?|excludes?|eliminates?|except(?:\ for)?
              |nicht|keine?s?|niemals|pas|jamais|nunca|jamás|non|não|nem|no\ (?:es|son|sea))\b
          | n['’]t\b | \\n(?:eq?|eg)\b | ≠ | ¬ | !=
        )\s*
        (?:(?:{_COPULAS}|quite|necessarily|case|option|choice|think|believe|say|claim|true|sure)\b\s*
          |[=:$\\(\[{{}}*_]\s*){{0,12}}$
      | \b(?:nadie|ninguno|personne\s+n['’e]|niemand|nessuno|ninguém)\b
        (?!.*\b(?:pero|mais|aber|sondern|ma|mas)\b)
      | \b(?:mistake|error|wrong|incorrect|false|untrue)\s+to\s+\w+\b{_IT_IS}{_TO}
        """,
    ),
    Cue(
        OTHERS,
        "before",
        "Many students say that it is 5",
        words=(
            "some many most other others people students someone somebody they he she nobody "
            "one you none few friend friends critics teacher textbook wrong incorrect false "
            "tempting mistaken erroneous naive common usual typical frequent mistake trap "
            "solver student reader person"
        ),
        pattern=rf"""
        \b(?: (?:some|many|most|others?|people|students|someone|somebody|they|s?he|nobody|no\ one
                |none|few|friends?|critics|teacher|textbook
                |an?\s+(?:\w+\s+)?(?:solver|student|reader|person)|(?:one|you)\s+(?:may|might|could|would))\b
              (?:\s+\w+){{0,3}}?\s+{_SAY}\b
            | (?: (?:wrong|incorrect|false|tempting|mistaken|erroneous|naive)\s+(?:\w+\s+)?{_ANSWER}
                | (?:common|usual|typical|frequent)\s+(?:guess|mistake|error|misconception)
                | mistake | trap
              )\s+(?:here\s+)?(?:is|was|would\s+be|are)\b
            | (?:wrong|incorrect)\s+{_ANSWER}\s*:?
        ){_IT_IS}{_TO}
        """,
    ),
    Cue(
        SEVERAL,
        "before",
        "One possible candidate is 5",
        words="candidate candidates possibility option guess",
        pattern=rf"""
        \b(?:(?:one|an?|another)\s+(?:possible\s+)?(?:candidate|possibility|option|guess)
            \s+(?:is|would\s+be)
          | candidates\s*:.*,
        ){_TO}
        """,
    ),
    Cue(
        BOUND,
        "before",
        "It is at least 5",
        words=(
            "least most than up almost nearly exceeds exceeding over under above below short "
            "and bounded bound equal minimum maximum"
        ),
        pattern=rf"""
        \b(?: at\s+(?:least|most) | up\s+to | almost | nearly | exceed(?:s|ing)
            | (?:more|less|fewer|greater|larger|smaller|bigger|higher|lower)\s+than
            | (?:is|are)\s+(?:over|under)
            | (?:just|slightly|well|far|a\s+bit|a\s+little)\s+(?:over|under|above|below|short\s+of)
            | bounded\s+by | between\b.{{1,30}}\band | than\s+or\s+equal\s+to
            | an?\s+(?:\w+\s+)?(?:upper|lower)\s+bound\s+(?:is|of) | at\s+(?:minimum|maximum)
        )\b{_GLUE}
        """,
        reach=NEAR,
    ),
    Cue(
        PART,
        "before",
        "It is twice 5",
        words=(
            "twice thrice double triple quadruple half minus plus times negative divided "
            "multiplied square squares cube root roots third thirds quarter quarters fourth "
            "fourths fifth fifths tenth tenths opposite inverse reciprocal multiple factorial "
            "log logarithm sine cosine tangent complement negation remainder percent digits "
            "divisor divisors successor predecessor log logs add adding subtract subtracting "
            "before after following preceding power and base"
        ),
        pattern=rf"""
        \b(?: (?:twice|thrice|double|triple|quadruple|half|minus|plus|times|negative|divided\s+by
                |multiplied\s+by)(?:\s+of)?
            | (?:square|cube|root|third|quarter|fourth|fifth|tenth|double|triple|opposite|negative
                |inverse|reciprocal|multiple|factorial|logarithm|sine|cosine|tangent|complement
                |negation|(?<!\ba\ )remainder|percent|log(?:\s+base\s+\w+)?)s?\s+of
            | (?:digits|(?<!common\ )divisors?|successor|predecessor)\s+of
            | (?:sum|product|difference|quotient)\s+(?:of|between)\b.{{1,20}}\band
            | (?:number|integer|prime)\s+(?:before|after|following|preceding)
            | (?:add|subtract)(?:ing)?\s+[$\\(]{{0,3}}\d\S*\s+(?:to|from)
            | to\s+the\s+power(?:\s+of)?
        )(?:\s+the)?(?:\s+number|\s+value)?\b{_GLUE}
        """,
        reach=NEAR,
    ),
    Cue(
        PART,
        "before",
        "It is 20% of 5",
        words="of the number value",
        pattern=rf"""
        (?:\d|%|\\[dt]?frac\s?\{{[^{{}}]{{1,9}}\}}\s?\{{[^{{}}]{{1,9}}\}})[\s$\\)]{{0,4}}
        \bof(?:\s+the)?(?:\s+number|\s+value)?\b{_GLUE}
        """,
        reach=LAST,
    ),
    Cue(
        PART,
        "before",
        "a number whose square is 5",
        words="whose",
        pattern=rf"\bwhose\s+(?:\w+\s+){{1,3}}(?:is|are|equals)(?:\s+the)?\b{_GLUE}",
    ),
    Cue(
        SUPPOSED,
        "before",
        "Maybe it is 5",
        words=(
            "maybe perhaps possibly suppose supposing assume assuming pretend imagine might "
            "could may if whether"
        ),
        pattern=rf"""
        \b(?: maybe | perhaps | possibly | suppos(?:e|ing) | assum(?:e|ing)
            | pretend | imagine
            | (?:might|could|may)\s+be
            | (?:sure|wonder|know|unclear)\s+(?:if|whether)
            | (?:if|whether)\s+(?:it|that|this|the\s+answer|\$?\\?\(?[a-z]\$?)
              \s*(?:is|was|were|equals|=)
        )(?:\s+that)?(?!\w){_IT_IS}{_TO}
        """,
    ),
    Cue(
        FORMAT,
        "before",
        "For example, 5",
        words=(
            "your write put type output enter example instance illustration placeholder sample "
            "format hypothetically g"
        ),
        pattern=rf"""
        \b(?:for\s+(?:example|instance)|e\.g\.|as\s+an\s+(?:example|illustration)|hypothetically
          |(?:example|sample|placeholder)(?:\s+(?:answer|output|response|format|box))?
        )\s*[,:]\s*{_TO} | \be\.\s?g\.,?{_TO}
      | ^\W*(?:the\s+)?(?:\w+\s+)?format\s+(?:is|looks\s+like)\b{_TO}
      | \byour\b[^.:]{{0,20}}\b(?:answer|solution|result|response)\b[^.]{{0,40}}
        \b(?:as|in|inside|within|into|like|after|using|with|by|e\.g|form|format|example)\b
        (?:\s+(?:an?|the|box|of|form|format))*{_TO}
      | ^\W*(?:please\s+|you\s+(?:should|must)\s+)?(?:write|put|type|output|enter)\b{_GLUE}
        """,
    ),
)
"""The cues before an answer, in the order in which they are matched, and in lower case."""

ALTERNATIVE_BEFORE: Final = r"""
    (?:(?<!,\s)\b(?:or|oder|ou)\b|或)\s*(?:(?:maybe|perhaps|possibly|else|even|also)\s+)?
    (?:[$\\(\[{}\s]|\b[A-Za-z]\s?=)*$
    """

_CLOSED: Final = r"[\s$*_`)\]}]{0,6}(?:\\[)\]])?\s{0,8}"
_FAULT: Final = r"""
    (?:wrong|incorrect|false|impossible|ruled\s{1,8}out|too\s{1,8}\w+|mistaken|invalid|rejected
      |discarded|excluded|eliminated|extraneous|an?\s{1,8}(?:placeholder|illustration)|my\s{1,8}(?:first|initial)\s{1,8}(?:guess|answer|thought)
      |(?:an?|the|only\s{1,8}an?)\s{1,8}(?:\w+\s{1,8})?
       (?:mistake|error|trap|lie|(?:under|over)estimate|lower\ bound|upper\ bound))\b"""
_VALUE: Final = r"[-+−]?(?:\\[dt]?frac\s?(?:\{\d{1,9}\}){2}|\d[\d,]{0,20}(?:[./]\d{1,20})?)"
OFFERED: Final = rf"""{_CLOSED}
    [,(]?\s?\bor,?\s{{1,8}}(?:equivalently,?\s{{1,8}})?[$\\(]{{0,3}}
    (?P<value>{_VALUE}(?:\s?\\?%)?)[$\\)\s]{{0,6}}\.?\s*$
    """
"""The answer once more, in another form: "or 0.5" behind 1/2, and nothing after it."""

_DIGITS: Final = r"[$\\(]{0,3}[-+−]?\d"
_NUMBER: Final = rf"(?:{_DIGITS}|\\frac|(?:one|two|three|four|five|six|seven|eight|nine|ten)\b)"

AFTER: Final = (
    Cue(
        DENIED,
        "after",
        "5 is wrong",
        rf"""{_CLOSED}
        (?: (?:is|are|was|were|would\ be|seems|looks|must\ be)\s{{1,8}}(?:\w+\s{{1,8}})?
            (?:not\b|{_FAULT})
          | [(:—–]?\s?(?:wrong|incorrect|not\s{{1,8}}(?:correct|right|true))\b
          | (?:isn|aren|wasn|can)['’]t\b | cannot\ be\b | can\ be\ ruled\ out\b | fails\b
          | (?:is|was)\s{{1,8}}what\s{{1,8}}
            (?:an?|some|many|most|others?|people|students|someone|somebody|they|s?he|one|you)\s{{1,8}}
            (?:\w+\s{{1,8}}){{0,4}}
            (?:would|might|could|say|says|said|guess|guesses|think|thinks|expect|answer|get|write)\b
          | does(?:\s{{1,8}}not|n['’]t)\s{{1,8}}(?:work|satisfy|count|fit)\b
          | no\ es\b | n['’]est\ pas\b | non\ è\b | não\ é\b | ist\ (?:\w+\ )?nicht\b)
        """,
    ),
    Cue(
        SEVERAL,
        "after",
        "5 or 6",
        rf"""{_CLOSED}
        (?: (?:[,/|] | \\text\s?\{{\s{{0,8}}(?=or\b) | [.;]\s{{0,8}}(?=or\b)
              | \b(?:or|and|oder|ou|vs\.?)\b | 或 | \\l?or\b)
            \s{{0,8}}(?:(?:or|maybe|perhaps|possibly|else|also)\b\s{{0,8}})?\}}?\s{{0,8}}
            (?:\\boxed | [$\\(\[]{{0,3}}[-+−]?\d | \(?(?-i:[A-J])(?![\w'’]))
          | \((?:or\s{{1,8}})?{_DIGITS}[^()\n]{{0,20}}\bif\b | or,?\s{{1,8}}if\b
          | (?:to|through)\s{{1,8}}{_DIGITS}
          | or\s{{1,8}}(?:something|some|another|any|anything)\b
          | ;\s{{0,8}}{_DIGITS}[\d.,/]*[$\\)]{{0,3}}\s{{0,8}}(?:[.;!]|$))
        """,
    ),
    Cue(
        BOUND,
        "after",
        "5 or more",
        rf"""{_CLOSED}
        (?:or\s{{1,8}}(?:more|less|fewer|greater|higher|lower|above|below)|at\s{{1,8}}(?:most|least))\b
        """,
    ),
    Cue(
        PART,
        "after",
        "5 squared",
        rf"""{_CLOSED}
        (?: (?:squared|cubed|factorial)\b | percent\s{{1,8}}of\b | to\s{{1,8}}the\s{{1,8}}power\b
          | and\s{{1,8}}a\s{{1,8}}half\b
          | (?:plus|minus|times)\s{{1,8}}(?:some|any|an?|an\ arbitrary)\s{{1,8}}
            (?:constant|multiple|number)\b
          | (?:plus|choose|minus|times|(?:divided|multiplied)\s{{1,8}}by|(?:less|more)\s{{1,8}}than)
            \s{{1,8}}{_NUMBER})
        """,
    ),
    Cue(
        SUPPOSED,
        "after",
        "5?",
        r"""
        [ \t$*_)\]}]{0,6}(?:\\[)\]])?
        (?: [^.,:;!?\n—–]{0,60}\? | ,?\s{0,8}(?:maybe|perhaps|possibly|not\s{1,8}sure|unsure)\b\W*$)
        """,
    ),
)
"""The cues after an answer, in the order in which they are matched."""

_THEN: Final = r"""[\s$*_)\]}"'`.:;!,—–-]{0,12}(?:\\[)\]])?[\s*_.;!,(—–-]{0,12}"""

RETRACTED: Final = rf"""{_THEN}
    (?: or\ (?:maybe|perhaps|possibly|else|is\ it|it\ could)\b
      | no[,.!]\s | no\ wait\b | wait[,.!]*\s{{0,8}}no\b | wait[,.!]*$ | oops\b
      | (?:scratch|strike)\ that | just\ kidding | on\ (?:second\ thought|reflection) | never\ ?mind
      | i\ was\ wrong | i\ take\ (?:that|it|this)\ back | correction\b(?!\W{{1,3}}it\b)
      | (?:ignore|disregard|forget)\ (?:that|this|it|the\ above)\b
      | (?:(?:wait|hmm|no|actually|sorry)\W{{1,4}})?i\ (?:have\ )?made\ an?\ (?:mistake|error)\b
      | but\ i\ (?:really\ |highly\ )?doubt\b
      | (?:but|though|although)\ {_NUMBER}\S{{0,9}}\ (?:is|are)\ (?:also|just\ as)
        \ (?:possible|likely)\b
      | but\ (?:slightly\ |a\ (?:bit|little)\ )?(?:smaller|larger|bigger|greater|less|more)[.\s]*$
      | (?:(?:but|though|although)\W{{1,4}})?i\ (?:really\ |honestly\ )?
        (?:don['’]t|do\ not)\ know[.!\s]*$
      | (?:(?:but|and|though|although|wait|hmm|no|actually|sorry)\W{{1,4}})?(?:that|this|which|it)
        (?: (?:['’]s|\s{{1,8}}(?:is|was|would\s{{1,8}}be))\s{{1,8}}(?:\w+\s{{1,8}})?
            (?:{_FAULT}|not\ (?:right|correct|it|true|the\ answer)\b)
          | \ (?:ca|does|is)n['’o]t\ (?:(?:be|look|seem)\s{{1,8}})?(?:right|correct)\b)
      | (?:hmm\W{{1,4}})?let\ me\ re(?:compute|calculate|do|consider|think)\b
      | (?:alternatively|maybe|perhaps|possibly)[,:]?\s{{1,8}}
        (?:it(?:['’]s|\ is)\s{{1,8}}|the\ answer\s{{1,8}}(?:is\s{{1,8}})?)?
        [$\\-]{{0,3}}\d[\d.,]*[$\\)]{{0,3}}\s{{0,8}}(?:[.!;]|$)
    )
    """
CORRECTED: Final = rf"""{_THEN}
    (?:(?:oh|ah)\W{{1,4}})?(?:wait|hmm|but|actually|no|oops|sorry|correction|edit|update
      |instead|or\ equivalently)\b
    \W{{1,4}}(?:actually\W{{1,3}})?
    (?: (?: (?:it|that|this|[a-z]|the\ (?:\w+\ )?(?:answer|result|value))\s{{0,8}}
            (?:['’]s|(?:is|was|(?:should|must|would|might|could|may)\ be|equals|=))?
          | i\ meant? | make\ (?:it|that))\s{{0,8}}
        (?:actually|really|indeed)?\s{{0,8}}
    )?
    (?P<value>[$\\]{{0,2}}[-+−]?\d[\d.,/]*)
    """
UNCERTAIN: Final = r"""
    \b(?:maybe|perhaps|possibly|guess|suppose|let|assume|assuming|consider|could|might|may|if
        |whether|unless|not|never|neither|nor|wrong|incorrect|false|cannot|no\s+(?:idea|clue))\b
  | n['’]t\b
    """
