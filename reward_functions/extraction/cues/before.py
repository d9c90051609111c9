"""The phrases before an answer, one row a phrase (`lexicon` tells how to add one)."""

from __future__ import annotations

from typing import Final

from reward_functions.extraction.cues.phrase import phrases

BEFORE: Final = phrases(
    "before",
    """
    denied not sentence
        not  # It is not 5
        never/neither/nor/≠  # It is never 5
        anything but/except/besides  # It is anything but 5
        instead of  # It is 6 instead of 5
        rather than  # It is 6 rather than 5
        {some} other than  # It is other than 5
        different from  # It is different from 5
        unequal to  # It is unequal to 5
        nicht/niemals/kein/keine/keines  # Es ist nicht 5  # de
        pas/jamais  # Ce n'est pas 5  # fr
        no es/son/sea  # No es 5  # es
        nunca/jamás (es)  # Nunca es 5  # es
        non (è)  # Non è 5  # it
        não/nem (é)  # Não é 5  # pt
        不是  # 答案不是 5  # zh
        不等于  # 它不等于 5  # zh
        by no means  # It is by no means 5
        не  # Ответ: не 5  # ru
        niet/geen  # Het is niet 5  # nl
        inte  # Det är inte 5  # sv
        bukan  # Ini bukan 5  # id
        ليس/ليست  # هو ليس 5  # ar
    denied is
        not {the} ({final}) {answer}  # It is not the right answer: 5
        not the case that  # It is not the case that it is 5
        not/never {say} (that)  # I do not think it is 5
        impossible for/that {it}  # It is impossible for it to be 5
    denied is sentence
        not true/sure that  # It is not true that it is 5
        {wrong}/{fault} that  # It is false that it is 5
        {wrong}/{fault} to {say}  # It is a mistake to say 5
        hardly/rejects/reject/excludes/exclude/eliminates/eliminate  # It excludes 5
        refuse to {say}  # I refuse to say 5
        no way (that)  # There is no way it is 5
        far from  # It is far from 5
        differs/differ from  # It differs from 5
        rule/rules/ruled out  # This rules out 5
    excluded is sentence
        nobody/none {words} {say} (that)  # Nobody would say 5
        no one {words} {say} (that)  # No one says 5
        doubt (that)  # I doubt that it is 5
        besides/except (for)  # All except 5
    excluded to
        no idea/clue  # No idea, 5
    excluded is
        nadie/ninguno/personne/niemand/nessuno/ninguém {words}  # Nadie dice 5  # es fr de it pt
    others is
        {people} {words} {say}  # Many students say that it is 5
        you/one may/might/could/would {words} {say}  # You may say 5
        {wrong} {answer}  # The wrong answer is 5
        {wrong} {word} {answer}  # The wrong first guess is 5
        tempting/erroneous/naive {answer}  # The naive answer is 5
        common/usual/typical/frequent guess  # A common guess is 5
        misconception (here)  # The misconception is 5
        {fault} (here)  # The trap here is 5
    several is
        (possible) candidate/possibility  # A candidate is 5
        one/another/a (possible) option/guess  # One guess is 5
    several none
        candidates : {value} ,  # candidates: 4, 5
        {apart} or/oder/ou (maybe/perhaps/possibly/else)  # 6 or 5
        {apart} or even/also  # 6 or even 5
    bound value
        at least/most  # It is at least 5
        at minimum/maximum  # It is at minimum 5
        up to  # It is up to 5
        almost/nearly/exceeds/exceeding  # It is nearly 5
        {more} than (or) (equal) (to)  # It is more than 5
        is/are over/under  # It is over 5
    bound none
        just/slightly/well/far/bit/little over/under/above/below  # well below 5
        short of  # It is just short of 5
        bounded by  # It is bounded by 5
        between {value} and  # It is between 3 and 5
        upper/lower bound is/of  # A lower bound is 5
    part value
        twice/thrice/double/triple/quadruple/half  # It is twice 5
        minus/plus/times/negative  # It is 10 minus 5
        divided/multiplied by  # It is 10 divided by 5
        {operation} of  # It is the square of 5
        log base {word} of  # It is log base ten of 5
        {value} (%) of  # It is 20% of 5
        to the power (of)  # 2 to the power of 5
        whose {words} is/are/equals  # a number whose square is 5
    part none
        sum/product/quotient of {value} and  # The sum of 3 and 5
        difference of/between {value} and  # The difference of 9 and 5
        number/integer/prime before/after/following/preceding  # The prime after 5
        add/adding {value} to  # Add 3 to 5
        subtract/subtracting {value} from  # Subtract 3 from 5
    supposed is
        maybe/perhaps/possibly  # Maybe it is 5
        suppose/supposing/assume/assuming/pretend/imagine  # Suppose that it is 5
        might/could/may be  # It might be 5
        sure/wonder/know/unclear if/whether  # I wonder if it is 5
        if/whether {it}  # If it is 5
        if/whether the answer  # If the answer is 5
        if/whether {name} is/was/were/equals/=  # If x = 5
    format to
        for example/instance ,/:  # For example, 5
        eg  # It is something, e.g. 5
        as an example/illustration ,/:  # As an example, 5
        hypothetically ,/:  # Hypothetically, 5
        example/sample/placeholder ,/:  # Example: 5
        example/sample/placeholder {answer}/format/output :  # Sample answer: 5
        format is/looks (like)  # The format is 5
        your (final) {answer} {words} as/in/inside/within/into/like/after  # Give your answer as 5
        your (final) {answer} {words} using/with/by  # Give your answer with 5
        {start} (please) write/put/type/output/enter  # Please enter 5
        you should/must write/put/enter  # You must enter 5
    supposed is sentence
        假设 (答案) (是)  # 假设答案是 5  # zh
        如果 (答案) (是)  # 如果答案是 5  # zh
    """,
)
