"""The phrases beside the value of a financial answer, one row a phrase.

A row is a line: the words, two spaces, "#" and an example. At each place of the words stands one of
the "/" alternatives, in which "_" is a space, "report|s|ed" a word with its endings, and "*" any
ending; a place in brackets may be missing. Before the first row of a kind stands the name of the
kind. The side of the value 5 on which its phrases are looked for follows ("in" is the whole text,
"whole" all of it). The pattern of `cues` that looks for them follows where its name is another one.

The example is the test: the pattern finds every spelling of the words in it, and finds nothing
where an unknown word stands instead.
"""

from __future__ import annotations

from itertools import product
from typing import Final, NamedTuple


class Row(NamedTuple):
    """A row of the table."""

    kind: str
    side: str
    pattern: str
    words: str
    example: str

    def spellings(self) -> list[str]:
        """Every way to write the words."""
        places = []
        for place in self.words.split():
            bare = place.strip("()")
            forms = [each.split("|") for each in bare.replace("_", " ").split("/")]
            found = [stem + ending for stem, *endings in forms for ending in (*endings, "")]
            places.append([*found, ""] if bare != place else found)
        return [" ".join(filter(None, each)) for each in product(*places)]


def _rows(table: str) -> dict[str, list[Row]]:
    """The rows of a table, by their kinds."""
    found: dict[str, list[Row]] = {}
    kind = side = pattern = ""
    for line in filter(None, map(str.strip, table.splitlines())):
        stated, _, example = line.partition("  # ")
        head, _, words = stated.rpartition("  ") if example else (stated, "", "")
        if head:
            kind, side, pattern = (*head.split(), head.split()[0].upper())[:3]
        if words:
            found.setdefault(kind, []).append(Row(kind, side, pattern, words, example))
    return found


ROWS: Final = _rows("""
    month in DATE  jan|uary/feb|ruary/mar|ch/apr|il/may/jun|e/jul|y  # 12% on May 5
        aug|ust/sep|t|tember/oct|ober/nov|ember/dec|ember  # 12% on Sept 5
    period in  the/of/in/end/beginning/start/first/second/third/fourth/last/half  # End 2013, 5
        fiscal/calendar/full/quarter/month|s/year|s|-end/ended/ending/period/fy  # Fiscal 2013, 5
    scale whole NUMBER  hundred|s/dozen|s  # 5 dozen
    currency whole NUMBER  dollar|s/usd/euro|s/eur/cent|s/pound|s/gbp/yen/rupee|s/yuan  # 5 dollars
    refusal in  can/could not  # It can not be found
        unable/insufficient/impossible/unknown/undetermined/null  # It is unknown
        not possible/enough/available/sufficient/determinable/sure/known  # It is not known
    unfinished after  squared/cubed/factorial/doubled/halved  # 5 squared
    named before  line/page/no|./tier  # on page 5
        s&p/russell/nasdaq/fortune/ftse/section/step|s/note/item/table/row/column  # the row 5
    about before COPULA  exactly/only/just/a/an  # It is exactly 5
        about/approximately/approx|./around/roughly/nearly/almost/circa/some  # It is about 5
    copula before  equal/came/comes/amounts/amounted to  # It comes to 5
        is/are/was/were/be/being/equals/totals/totaled/totalled/gives/yields/reached  # It is 5
    weak_copula before  by/of/to/rose/fell/grew/up/down  # Sales rose 5
    stated_of before  is/was/are/were/of/by/equals/totals/totaled  # The decrease in sales was 5
    denied before BOUND  anything_but/other_than/instead_of/rather_than  # It is anything but 5
        between/either/neither/never/not/no/range|s/ranging/if/unless/whether  # It is not 5
    bound before  at least/most  # It is at least 5
        up_to/over/under/above/below/exceed|s|ed|ing/upwards_of/within  # It is over 5
        minimum/maximum of  # a minimum of 5
        from/than/versus/vs|./compared_with/compared_to  # It is less than 5
    multiple before BOUND  twice/double/triple/half  # It is twice 5
        half/multiple|s/opposite/inverse/reciprocal/square/root of  # It is the square of 5
    open_end after  or more/less/fewer/higher/lower/greater/so/above/below  # 5 or more
        and above/up/over  # 5 and up
        at_least/at_most/unless  # 5, unless it is taxed
    disputed after OPEN_END  not/wrong/incorrect/false/implausible/unlikely  # 5 is wrong
        too high/low/large/small/big  # 5 looks too high
    down before DIRECTION  lower/less/fewer/down/negative/minus/smaller/deficit  # It was down by 5
        decrease|d|s/decreasing/decline|d|s/declining/reduce|d|s/reduction  # It decreased by 5
        drop|ped|s/fall|en|s/fell/slip|ped/slid/dip|ped/sank/plunge|d/tumble|d  # It fell by 5
        shrank/shrink/shrunk|en/contracted/contraction/diminish|ed/worsened  # It shrank by 5
    up before DIRECTION  higher/up/more/greater/larger/positive/plus  # It was up by 5
        increase|d|s/increasing/grew/grow|n|s/growth/rise|n/rose/gain|ed|s  # It grew by 5
        climb|ed/jump|ed/surge|d/soared/improved/improvement  # It jumped by 5
    loss before DIRECTION  loss|es  # a loss of 5
    in_scale after  thousand|s/million|s/billion|s  # 5 in millions
    unasserted in  if/unless/whether/why/what/how/who  # whether it was 5
        according/accords/report|s|ed/list|s|ed/show|s|n|ed/mention|s|ed/say|s/said  # They report 5
        state|s|d/claim|s|ed/cite|s|d/quote|s|d/disclose|s|d/indicate|s|d/read|s  # They claim 5
        table|s/filing|s/page|s/row|s/column|s/note|s/footnote|s/document|s  # the table: 5
        exhibit|s/step|s/release|s/article|s/statement|s/prospectus  # the statement: 5
        guess|ed|es/believe|s|d/hope|s|d/expect*/estimat*/forecast*/assum*/suppos*  # I guess 5
        project|s|ed|ion/plan|s|ned/target*/aim*/budget*/intend*/consider*/let/need*  # They plan 5
        imagin*/must/should/would/will/going/could/might/may/probably  # It will be 5
        try/tries/tried/tempt*/start*/begin*/use|s|d/using/take|s/taking/given  # I start at 5
        plug*/substitut*/subtract*/divid*/multipl*/add|s|ing/recall*/see/look*  # I subtract 5
        remember*/compare|d/versus/or/another/alternative*/otherwise  # another one is 5
        wrong*/incorrect*/false*/unlikely/unsure/unclear/nobody/none/nothing/never/hardly  # never 5
        neither/nor/without/fail*/deny/denies/denied/refus*/not/cannot  # It fails at 5
    found before CLAIM  get|s/got/obtain|s|ed/find|s/found/represent|s|ed/make|s/made  # I get 5
        come|s/came/result|s|ed/stood/stands/means/equate|s/correspond|s/sum|s  # It came in at 5
        work_out/works_out/worked_out/add_up/adds_up/arrive_at/arrived_at  # It adds up to 5
        there is/are/was/were  # There are 5
    having before CLAIM  has/have/had  # The firm had 5
        that/this/which leaves  # That leaves 5
    owner before CLAIM  company/firm/corporation/chain/group/management/it/they/we  # We paid back 5
    past in  sold/bought/paid/spent/lost/held/built/left/cost  # They sold 5
    summing before CLAIM  so/thus/hence/therefore/in_total/in_all/altogether/overall  # So, net, 5
    qualified in  require|d|s/to_reconcile/questioned/unaccounted/unexplained  # it requires 5
        intermediate/interim/partial/preliminary/provisional/so_far/half/first/without  # interim: 5
        excluding/excluded/before/previously/still/open/undetermined/determined  # still: 5
        depend|s|ing/hinge|s/stuck/lack/ignore|s/ignoring/remain|s|ing/missing  # it depends: 5
        ambiguous/misleading/seem|s/analyst|s/promised/expected/we_now/to_which/to_be  # it seems 5
    or_else in OR  or/alternatively/otherwise  # 5 or 6
    perhaps in OR  maybe/perhaps/possibly/else  # 5, maybe 6
    or in  but/whereas/while/if/actually  # 5 but 6
    comparator in  adding/subtracting/multiplying/dividing  # 5, adding 6
        compared/versus/vs/relative/from/than/between/against/above/below/out_of  # 5 versus 6
        based/given/using/computed/calculated/derived  # 5, computed on 6
        sum/average/mean/product/quotient/ratio of  # 5, the sum of 6 and 7
    preposition before  of/in/for/on/at/during/since/over  # 3 of the 5
    dated before PREPOSITION  per/fiscal/year/quarter  # 3 per 5
    subject before  to/by/until/through/the  # 3 until 5
    listed in  and/,/;  # 5 and 6
    same_as in  or/approximately/about/roughly/rounded|_to/equivalently/equals  # or 5
    calculation in  minus/plus/divided_by/less/times/over/out_of  # 5 minus 6
    hedge in  also/another/alternative/if/could/might/may/not  # It may be 5
    counted after
        year|s/month|s/week|s/day|s/hour|s/share|s/store|s/employees/people/square_feet  # 5 stores
    explained in  see/step|s/using/formula/calculation/calculated/computed/decimal|s  # using 5
        significant digit|s/figure|s  # 5 significant digits
    result in  result/option/choice/solution  # The result is 5
    alternative in  but (it) may/might/could  # but it may be 5
    contrast in  but/while/whereas/however/although/though  # but it is 5
    withdrawn in  but/although/though/however/yet  # but it can not be found
    withheld in WITHDRAWN  found/determined/computed/calculated/known/given  # but cannot be found
    asked in  if/unless/assuming/provided/depending  # 5, if it is taxed
    offered in  another/other/alternative/second/possible  # another answer is 5
    denial in  not/never/neither/hardly  # It is hardly 5
    contract in  reward|s/score|s/verdict/metrics_list  # the score is 5
    broken_off in  gives/which/that/so/because/since/if/plus/minus/times  # It is 5 because
        and/or/but/the/a/an/of/to/by/with/from/for/in/on/is/are/was/we/I/now/then/next  # 5 and
    asks_percent in  percent*/per_cent  # What percentage is it?
        rate|s of change  # What is the rate of change?
    asks_basis_points in  basis_point|s/basis-point|s/bp|s  # How many basis points is it?
    asks_decrease in  drop|ped/fall/fell/how_many_fewer  # What is the drop?
        decrease|d/decreasing/decline|d/declining/reduction/reduce|d  # What is the decline?
        lower/less/fewer/smaller is/was/are/were/than  # How much smaller is it?
    asks_change in  increase|d/increasing/growth/grow/grew/rise/rose/change|d  # What is the growth?
        difference/ratio/variation  # What is the ratio?
    circumstance before  assuming/excluding/including/despite/from  # despite the 5
        due_to/because_of/after/before/considering/given/without/with/if/when  # if the 5
    no_goes_on in FIRST_WORD  is/are/was/were/did/does/do/has/have/had  # No did sales fall
    no_goes_on in FIRST_WORD  maybe/perhaps/true/false/unknown  # no true false maybe
        and/or/but/yes/not/because/since/as/so/if/when/unless  # No because sales fell
        in/on/at/by/for/from/with/during/due/based/given/according/compared  # No in 2012 sales fell
        it|s/they/their/he/she/we/you/i/this/that/these/those/there/the/a/an/both/all  # No it fell
    both_words whole  and/or/but/maybe/perhaps/also/then/wait  # and no
    either_word in  but/also/or/and/unless/otherwise/else/is_it  # in 2012 but no
    word_lead in  therefore/thus/hence/so/in_conclusion/overall/finally/in_short  # Overall, yes
    word_retracted in  make that/it  # then make that no
        actually/wait/rather/correction/sorry/instead/hmm/but/is/should_be  # then actually no
    word_denied in  not/neither/unclear/unsure/?  # It is unclear
""")


def spelled(*kinds: str) -> frozenset[str]:
    """The phrases of kinds, for `compiling.says`."""
    return frozenset(each for kind in kinds for row in ROWS[kind] for each in row.spellings())


def any_of(*kinds: str) -> str:
    """A pattern of the phrases of kinds, for a group; those with one first letter share it."""
    rests: dict[str, list[str]] = {}
    for row in (row for kind in kinds for row in ROWS[kind]):
        for each in row.spellings():
            rests.setdefault(each[0], []).append(each[1:].replace(".", r"\."))
    found = "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in rests.items())
    return found.replace("*", r"\w*")
