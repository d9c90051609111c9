"""The phrases after an answer, one row a phrase (`lexicon` tells how to add one)."""

from __future__ import annotations

from typing import Final

from reward_functions.extraction.cues.phrase import phrases

AFTER: Final = phrases(
    "after",
    """
    denied none
        {is} ({adverb}) {wrong}  # 5 is clearly wrong
        would/must be {wrong}  # 5 must be wrong
        turned/turns out (to) (be) {wrong}  # 5 turned out to be wrong
        (can) {is} ruled out  # 5 can be ruled out
        {is} too {word}  # 5 is too small
        {is} (only) {the} (common) {fault}  # 5 is a common mistake
        {is} ({adverb}) not (the) {right}  # 5 is not correct
        {is} ({adverb}) not {the} ({final}) {answer}  # 5 is not the answer
        {is} my first/initial guess/answer/thought  # 5 was my first guess
        {is} not {stop}  # 5 is not.
        can not be (the) {right}  # 5 cannot be right
        can not be {the} ({final}) {answer}  # 5 cannot be the answer
        fails  # 5 fails
        does not work/satisfy/count/fit  # 5 does not work
        no/não es/é  # 5 no es la respuesta  # es pt
        n'est pas  # 5 n'est pas la réponse  # fr
        non è  # 5 non è la risposta  # it
        ist (die/das/auch) nicht  # 5 ist nicht die Antwort  # de
        (是) 错  # 5 是错的  # zh
        不对  # 5 不对  # zh
        不是 (正) (确) 答案  # 5 不是答案  # zh
        {is} what i (initially/first) thought  # 5 is what I first thought
        ist falsch  # 5 ist falsch  # de
        est faux/fausse/incorrect  # 5 est faux  # fr
        es falso/falsa/incorrecto/incorrecta  # 5 es falso  # es
        ではない/ではありません/じゃない  # 5 ではない  # ja
        は 間 違  # 5 は間違い  # ja
        (이/가) 아니다/아닙니다/아니에요  # 5가 아닙니다  # ko
        değil/değildir  # 5 değil  # tr
    denied mark
        wrong/incorrect  # 5: wrong
        not (the) {right}  # 5 (not correct)
        ✗/✘/❌  # 5 ✗
        (это) неверно/неправильно  # 5 неверно  # ru
    excluded none
        {is} ({adverb}) not  # 5 is not prime
        can not be  # 5 cannot be prime
        {is} a/an placeholder/illustration  # 5 is a placeholder
        {is} a/an/the lower/upper bound  # 5 is a lower bound
    others none
        is/was what {people} {words} {say}  # 5 is what many would say
        is/was what you/one would/might {say}  # 5 is what one might say
    several none
        or/and/oder/ou/vs {value}  # 5 or 6
        ./; or {value}  # 5. Or 6
        or maybe/perhaps/possibly/else/also {value}  # 5 or maybe 6
        ,/| {value}  # 5, 6
        / {value}  # 5 / 6
        or/and/, {choice}  # 5 or B
        (or) {value} {words} if  # 5 (6 if x is odd)
        to/through {value}  # 5 to 6
        or something/some/another/any/anything  # 5 or something
        ; {value} {stop}  # 5; 6.
    several aside
        or (,) if  # 5, or if x is odd, 6
    bound none
        or {more}/above/below  # 5 or more
        at least/most  # 5 at most
    part none
        squared/cubed/factorial  # 5 squared
        percent of  # 5 percent of 10
        to the power  # 5 to the power of 2
        and a half  # 5 and a half
        plus/minus/times (some) (any/a/an) constant/number/multiple  # 5 plus a constant
        plus/choose/minus/times {amount}  # 5 plus three
        divided/multiplied by {amount}  # 5 divided by 3
        less/more than {amount}  # 5 less than 10
    supposed none
        {words} {words} ?  # 5 or what?
        (,) maybe/perhaps/possibly/unsure {end}  # 5, maybe
        (,) not sure {end}  # 5, not sure
    taken_back then next
        no ,/./!  # 5. No, that was hasty
        no (,) wait  # 5. No wait
        wait (,/./!) no  # 5. Wait, no
        oops/nevermind  # 5. Oops
        scratch/strike that  # 5. Scratch that.
        just kidding  # 5. Just kidding.
        on second thought  # 5. On second thought, I
        on reflection  # 5. On reflection, I
        never mind  # 5. Never mind.
        i retract/withdraw {it}  # 5. I retract that.
        {the} {former} {answer} {is} {wrong}  # 5. The previous answer is wrong.
        {the} {former} {answer} {is} not {right}  # 5. My last answer is not right.
        i was wrong  # 5. I was wrong.
        i take that/it/this back  # 5. I take it back.
        correction ,/:/./!  # 5. Correction: see below
        ignore/disregard/forget {it}  # 5. Ignore that.
        ignore/disregard the above  # 5. Ignore the above
        {it} {is} ({adverb}) {wrong} {rest}  # 5. That is wrong.
        {it} would be {wrong}  # 5. That would be wrong
        {it} {is} {the} {fault}  # 5, which is a trap
        {it} {is} ruled out  # 5. This is ruled out.
        {it} {is} too {word}  # 5. This is too small.
        {it} {is} not (the) {right}  # 5. This is not right
        {it} {is} not {the} ({final}) {answer}  # 5. This is not the answer.
        {it} {is} not {stop}  # Is it 5? It is not.
        {it} can not be {right}  # 5. It can't be right
        {it} does not look/seem {right}  # 5. It doesn't look right
        i (have) made a/an ({word}) {fault}  # 5. I made a mistake
        i {notice} (that) {the} ({former}) {answer} {is} {wrong}  # 5. I see the answer is wrong
        i {notice} (that) {the} {answer} above {is} {wrong}  # 5. I see the answer above is wrong
        i realize/realized/see/notice/found my/a/an/the ({word}) {fault}  # 5. I realize my mistake.
        {the} {answer} above {is} {wrong}  # 5. The answer above is wrong.
        {it} contradicts {the}  # 5. This contradicts the rule
        {it} does not satisfy/fit {the}  # 5. It does not fit the rule
        {it} does not work {stop}  # 5. It does not work.
        不对  # 5。不对，应该是 6  # zh
    supposed then next
        or maybe/perhaps/possibly/else  # 5. Or maybe more
        or is it  # 5. Or is it more
        or it could  # 5. Or it could be more
        wait {end}  # 5. Wait
        i (really/honestly) do not know {end}  # 5. I don't know
        {value} is/are also/just (as) possible/likely  # 5, but 6 is also likely
        let me recompute/recalculate/redo/reconsider/rethink  # 5. Let me recompute
        alternatively/maybe/perhaps/possibly (,) (it) (is) {value}  # 5. Maybe it is 6
    supposed aside next
        but i (really/highly) doubt  # 5, but I doubt it
        but (slightly/a) (bit/little) {more} {end}  # 5, but larger
        but it could/may/might (also/well) be  # 5, but it could also be more
    """,
)

CORRECTIONS: Final = phrases(
    "after",
    """
    corrected then next
        {wait} {pause} {value}  # 5. Wait, 6
        {wait} {pause} {it} {is} ({adverb}) {value}  # 5. No, it is 6
        {wait} {pause} {it} should/must/would be {value}  # 5. No, it should be 6
        {wait} {pause} {name} =/is {value}  # 5. Wait, x = 6
        {wait} {pause} the ({word}) {answer} {is} {value}  # 5. Actually, the answer is 6
        {wait} {pause} i mean/meant {value}  # 5. Sorry, I meant 6
        {wait} {pause} make it/that {value}  # 5. No, make it 6
        {wait} {pause} {it} is/should/must/would (be) {choice}  # B. Wait, it should be C
        {wait} {pause} the ({word}) {answer} {is} {choice}  # B. Actually, the answer is C
    corrected aside next
        or (,) equivalently (,) {value}  # 5, or equivalently 6
        but the ({final}) {answer} {is} {value}  # 5. But the right value is 6
        but {it} {is} {value}  # 5, but it is 6
        but {it} should/must be {value}  # 5, but it must be 6
    """,
)
"""What puts another value in the place of an answer, which is handed on to be compared."""
