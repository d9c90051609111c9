"""Words of a last sentence in other languages than English: a language a row.

"Por lo tanto, hay 42 sillas.", "Also sind es 27 Äpfel.", "Итого 64 ученика." say how many there
are. A row has the words that conclude, the verbs of a value, and those that leave it open.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple


class Spaced(NamedTuple):
    """A language that sets spaces; "_" stands for one.

    Args:
        concludes: what a last sentence opens with: therefore, in all.
        states: verbs between what it is about and its value.
        counts: verbs that say how many there are, or are left, without a subject.
        opens: what a subject begins with that is known; "" in a language without articles.
        fills: words that say nothing, beside the value or at the end.
        doubts: words of a sentence that gives another value, several, or none.
        closes: verbs after the value, in a language that has them there.
        owns: what a subject begins with that has so many, in a language without that verb.
    """

    concludes: str
    states: str
    counts: str
    opens: str
    fills: str
    doubts: str
    closes: str = ""
    owns: str = ""


SPACED: Final = {
    "ar": Spaced(
        "إذن اذن لذلك لذا بالتالي وبالتالي وهكذا ومنه في_المجموع المجموع",
        "هو هي = يساوي تساوي",
        "هناك يوجد توجد يتبقى تتبقى بقي بقيت يبقى لدينا لديه لديها",
        "",
        "فقط بالضبط في_المجموع",
        "ليس ليست لا لم لن أو إذا لو ربما قد على_الأقل على_الأكثر أكثر أقل نصف ضعف آخر أخرى"
        " الأول الأولى الثاني الثانية الثالث السابق ألف آلاف مليون ملايين مليار دزينة عدا لكن"
        " بدون خطأ مثال خطوة جزء الجواب الإجابة بين يقول",
    ),
    "de": Spaced(
        "also daher deshalb folglich somit insgesamt damit demnach schließlich zusammen",
        "ist sind beträgt betragen ergibt lautet =",
        "es_sind sind_es es_gibt gibt_es es_bleiben bleiben bleiben_es wir_haben haben_wir"
        " ergibt_sich ergeben_sich erhält_man erhalten_wir verbleiben es_verbleiben sind",
        "der die das sein seine ihr ihre dieser diese",
        "also somit daher insgesamt noch genau nun damit zusammen übrig es",
        "nicht kein keine oder wenn falls vielleicht mindestens höchstens mehr weniger halb"
        " hälfte doppelt doppelte dreifache andere anderen anderer erste ersten zweite zweiten"
        " dritte dritten vorherige tausend million millionen milliarde milliarden dutzend fast"
        " könnte kann können angenommen außer aber ohne nie zwischen wobei weder falsch falsche"
        " fehler beispiel schritt teil antwort prozent laut sagt sagte gesagt meint",
    ),
    "es": Spaced(
        "por_lo_tanto por_tanto así_que así_pues así entonces en_total en_conclusión luego"
        " finalmente por_consiguiente en_resumen",
        "es son vale valen equivale_a es_igual_a es_de tiene_un_total_de =",
        "hay quedan queda habrá tenemos sobran existen se_necesitan se_obtienen son",
        "el la los las su sus este esta",
        "un_total_de exactamente en_total ahora le les nos me solo",
        "no ni o u si quizás quizá tal_vez al_menos como_mínimo como_máximo a_lo_sumo más menos"
        " mitad doble triple otro otra otros otras primer primero primera segundo segunda tercer"
        " tercera anterior mil millón millones docena docenas por_ciento casi puede podría"
        " pueden supongamos suponiendo excepto salvo pero aunque sin nunca entre cuando falso"
        " incorrecto incorrecta error ejemplo paso parte respuesta según dice dijo dicen",
    ),
    "fr": Spaced(
        "donc ainsi alors par_conséquent finalement au_total en_tout en_conclusion d'_où",
        "est sont vaut valent égale est_de est_égal_à est_égale_à =",
        "il_reste il_lui_reste il_leur_reste il_me_reste il_restera il_y_a il_y_aura il_faut"
        " nous_avons on_a on_obtient ce_sont restent",
        "le la les l' son sa ses leur leurs ce cette",
        "donc alors ainsi un_total_de exactement en_tout au_total encore",
        "ne n' pas ni ou si peut-être au_moins au_plus moins plus moitié double triple autre"
        " autres premier première deuxième second seconde troisième précédent mille million"
        " millions milliard milliards douzaine douzaines presque peut pourrait peuvent supposons"
        " sauf mais sans jamais entre quand lorsque faux fausse incorrect erreur exemple étape"
        " partie réponse pour_cent selon dit disent",
    ),
    "hi": Spaced(
        "इसलिए अतः इस_प्रकार कुल अंततः",
        "=",
        "",
        "",
        "कुल केवल ठीक",
        "नहीं न या अगर यदि शायद कम_से_कम अधिक ज़्यादा ज्यादा आधा आधे दुगुना दोगुना दूसरा दूसरे"
        " पहला पहले तीसरा हज़ार हजार लाख करोड़ दर्जन मान गलत उदाहरण चरण प्रतिशत",
        "है हैं होगा होगी होंगे होंगी बचे बचेंगे बचते_हैं होते_हैं होता_है हुए",
    ),
    "id": Spaced(
        "jadi maka dengan_demikian oleh_karena_itu karena_itu sehingga totalnya total",
        "adalah ialah sama_dengan sebanyak =",
        "ada terdapat tersisa sisa tinggal diperlukan",
        "",
        "sebanyak tepat total",
        "bukan tidak atau jika kalau mungkin paling_sedikit paling_banyak minimal maksimal lebih"
        " kurang setengah kali lain pertama kedua ketiga sebelumnya ribu juta miliar lusin"
        " hampir misalkan kecuali tetapi tanpa salah contoh langkah bagian jawaban jawabannya"
        " persen antara menurut",
    ),
    "it": Spaced(
        "quindi dunque perciò pertanto in_totale in_tutto infine di_conseguenza allora così",
        "è sono vale valgono =",
        "ci_sono vi_sono c'_è restano rimangono ne_restano ne_rimangono abbiamo servono sono",
        "il la lo i gli le l' suo sua questo questa",
        "in_totale in_tutto esattamente ancora un_totale_di solo quindi",
        "non né o oppure se forse almeno al_massimo più meno metà doppio triplo altro altra"
        " altri altre primo prima secondo seconda terzo terza precedente mila mille milione"
        " milioni miliardo miliardi dozzina dozzine quasi può potrebbe possono supponiamo tranne"
        " ma senza mai tra quando falso sbagliato errore esempio passo parte risposta per_cento"
        " dice detto secondo",
    ),
    "nl": Spaced(
        "dus daarom daardoor in_totaal totaal uiteindelijk samen bijgevolg",
        "is zijn bedraagt =",
        "er_zijn zijn_er er_is zijn_het het_zijn blijven_er er_blijven houden_we we_houden"
        " hebben_we we_hebben blijven",
        "de het dit deze",
        "dus in_totaal nog er precies nu samen over",
        "niet geen of als indien misschien minstens hoogstens ten_minste ten_hoogste meer minder"
        " half helft dubbele andere eerste tweede derde vorige duizend miljoen miljoenen miljard"
        " dozijn bijna zou kan kunnen stel behalve maar zonder nooit tussen wanneer fout foute"
        " voorbeeld stap deel antwoord procent volgens zegt zei",
    ),
    "pl": Spaced(
        "zatem więc dlatego razem łącznie ostatecznie w_sumie ogółem stąd",
        "to wynosi wynoszą jest równa_się =",
        "jest są mamy zostało zostaje zostanie pozostało pozostaje",
        "",
        "razem łącznie dokładnie jeszcze więc",
        "nie ani lub albo czy jeśli jeżeli może co_najmniej co_najwyżej przynajmniej najwyżej"
        " więcej mniej połowa połowę dwa_razy inny inna inne pierwszy pierwsza drugi druga"
        " trzeci trzecia poprzedni tysiąc tysiące tysięcy milion miliony milionów miliard"
        " miliardy tuzin prawie mógłby załóżmy oprócz ale bez nigdy między gdy kiedy błąd błędna"
        " przykład krok część odpowiedź procent według",
    ),
    "pt": Spaced(
        "portanto logo assim então por_isso no_total ao_todo em_conclusão finalmente"
        " por_conseguinte",
        "é são vale valem equivale_a =",
        "há existem restam sobram temos ficam restarão são",
        "o a os as seu sua este esta",
        "um_total_de exatamente no_total ao_todo ainda agora apenas",
        "não nem ou se talvez pelo_menos no_mínimo no_máximo mais menos metade dobro triplo"
        " outro outra outros outras primeiro primeira segundo segunda terceiro terceira anterior"
        " mil milhão milhões bilhão bilhões dúzia dúzias quase pode poderia podem suponha exceto"
        " mas sem nunca entre quando falso incorreto errado erro exemplo passo parte resposta"
        " por_cento diz disse",
    ),
    "ru": Spaced(
        "итого всего значит следовательно таким_образом поэтому итак получается в_итоге в_сумме"
        " отсюда",
        "— – - = равно равна равен равны составляет составляют это получится",
        "есть осталось останется остаётся остается было будет имеется понадобится получится",
        "",
        "всего ровно ещё итого",
        "не ни или либо если может возможно минимум максимум хотя_бы по_крайней_мере больше"
        " меньше более менее половина половины вдвое втрое другой другая другие другое первый"
        " первая первое второй вторая второе третий предыдущий тысяча тысячи тысяч миллион"
        " миллиона миллионов миллиард миллиарда миллиардов дюжина дюжины дюжин почти пусть"
        " предположим кроме но без никогда между когда ошибка неверно пример шаг часть ответ"
        " процент процента процентов говорит сказал сказала"
        " первого второго третьего предыдущего другого другой других каждого кого",
        owns="у",
    ),
    "sv": Spaced(
        "alltså därför totalt sammanlagt således",
        "är blir =",
        "det_finns finns_det det_är är_det det_blir blir_det återstår",
        "den det de",
        "alltså totalt sammanlagt exakt kvar nu",
        "inte ej eller om kanske minst högst mer mindre halva hälften dubbla andra första tredje"
        " tusen miljon miljoner miljarder dussin nästan kan men utan aldrig mellan fel exempel"
        " steg del svar svaret procent",
    ),
    "tr": Spaced(
        "sonuç_olarak dolayısıyla bu_nedenle o_halde öyleyse toplam toplamda yani demek_ki",
        "=",
        "",
        "",
        "toplam tam tane",
        "değil veya ya_da eğer ise belki en_az en_fazla en_çok daha fazla az yarısı yarım katı"
        " diğer ilk ikinci üçüncü önceki bin milyon milyar düzine neredeyse hariç ama olmadan"
        " yanlış hata örnek adım yüzde",
        "vardır var kalır kaldı eder olur gerekir etmektedir bulunur",
    ),
    "uk": Spaced(
        "отже всього разом таким_чином тому значить",
        "— – - = дорівнює становить це",
        "є залишилося залишиться залишається було буде",
        "",
        "всього рівно ще разом",
        "не ні або чи якщо може можливо щонайменше щонайбільше більше менше половина вдвічі"
        " інший інша перший перша другий друга третій тисяча тисячі тисяч мільйон мільйона"
        " мільйонів мільярд дюжина майже нехай крім але без ніколи між коли помилка приклад крок"
        " частина відповідь першого другого третього іншого кожного кого",
        owns="у",
    ),
    "vi": Spaced(
        "vậy do_đó vì_vậy như_vậy suy_ra tổng_cộng tóm_lại cuối_cùng",
        "là bằng =",
        "có còn còn_lại",
        "",
        "tất_cả tổng_cộng đúng lại",
        "không chẳng hoặc hay nếu có_thể ít_nhất nhiều_nhất hơn kém nửa gấp khác đầu_tiên thứ"
        " trước nghìn ngàn triệu tỷ tá gần giả_sử trừ nhưng sai ví_dụ bước phần đáp_án",
    ),
}
"""By ISO 639."""

ENGLISH: Final = frozenset("the of and are that this there which we with for from was".split())
"""Words by which a sentence is in English."""

ENGLISH_TOO: Final = (("also",), ("total",))
"""What concludes, and is an English word as well: it needs its verb."""

AMOUNT: Final = re.compile(
    r"[-+−]?(?:\\?[$€£₽₹]\s?)?\d[\d.,]*+(?:\s?\\?%|\s?[€$₽°])?|\$[^$\n]{1,150}\$|\\\([^\n]{1,150}?\\\)"
)
"""The value of a sentence."""

OF: Final = frozenset("de d' von van di del af med".split())
"""What joins a measure to what is measured."""

SUFFIX: Final = re.compile(r"['’][dt][iıuü]r\b")
"""The Turkish copula, which is glued to its number."""

WORD: Final = re.compile(r"[^\s.,;:!?¡¿()*_\"“”«»…।،؛]+|[?¿]")
"""A word, with the vowel signs and hyphens in it, or a mark that asks."""


class Joined(NamedTuple):
    """A language whose words touch.

    Args:
        script: a letter that shows it.
        concludes: what a last sentence opens with.
        closes: verbs after the value.
        doubts: what a sentence has that gives another value, several, or none.
    """

    script: str
    concludes: str
    closes: str
    doubts: str


JOINED: Final = {
    "ja": Joined(
        "[ぁ-んァ-ヶ]",
        "よって 従って したがって ゆえに それゆえ だから つまり 以上より 合計 全部で 全体で"
        " 残りは 結局 最終的に",
        "です である だ となる になる となります になります あります ある います いる 必要です"
        " 必要である 残ります 残る 残っています",
        "ない ません 以上[^よ] 以下 未満 超え または もしくは あるいは か[、。] もし ならば なら"
        " 倍 半分 万 億 最初 次の 別の 他の 例えば 間違 誤 答え かもしれ 最大で 最低 少なくとも"
        " より多 より少 だけ多 だけ少",
    ),
    "ko": Joined(
        "[가-힣]",
        "따라서 그러므로 그래서 결국 결론적으로 최종적으로 총 모두 합계 전체 그러면 즉",
        "입니다 이다 이에요 예요 있습니다 있다 남습니다 남는다 됩니다 된다 필요합니다",
        "아니 아닙 않 없 또는 혹은 거나 이상 이하 미만 초과 만약 라면 이면 배입 배가 배이 절반"
        " 다른 다음 첫 번째 예를 틀 정답 답은 최소 최대 적어도 더[^하]",
    ),
    "zh": Joined(
        "[一-鿿]",
        "",
        "",
        "不[^难妨] 没 非 若 如果 假如 假设 至少 至多 最多 最少 大于 小于 超过 不足 错 可能 或 第"
        " 另 其他 其它 倍 半 约等 答案 比 以上 以下",
    ),
}
"""By ISO 639. Alternatives are set apart by spaces; of Chinese the rest is in `languages`."""

QUESTIONS: Final = ("多少", "几", "いくつ", "何", "몇")
"""Words for the number that is asked for, which stand where the answer has its number."""

CHINESE: Final = re.compile("[一-鿿]+")
PAUSE: Final = re.compile(r"[,，;；。:：!！?？\s]+")
OPERATION: Final = re.compile(r"[\d+*/^\\-]|[A-Za-z]\s?[A-Za-z(]")
"""What the left side of an equation has that is more than a name."""

SHORTEST_LEAD: Final = 2
"""Characters before a number by which a sentence is the question with its number filled in."""


def _any_of(listed: str) -> str:
    return "|".join(listed.split())


@cache
def joined(code: str) -> re.Pattern[str]:
    """A last sentence of such a language, in which the verb stands after the value."""
    row = JOINED[code]
    return re.compile(
        rf"(?:(?P<concludes>{_any_of(row.concludes)})[,，、]?\s?)?(?P<lead>[^\d$\\=\n]{{0,40}})"
        r"(?P<value>[-+−]?[€£¥₩]?\d[\d.,]{0,30}(?:\s?\\?%)?|\$[^$\n]{1,150}\$)"
        r"(?P<unit>\s?[一-鿿ぁ-んァ-ヶー가-힣]{0,4}?)"
        rf"(?P<closes>(?:[がはの이가]?\s?)(?:{_any_of(row.closes)}))?"
    )


@cache
def doubted(code: str) -> re.Pattern[str]:
    """The words that such a sentence may not have."""
    return re.compile(_any_of(JOINED[code].doubts))


class Phrases(NamedTuple):
    """The words of a row of `SPACED`, each phrase as its words in small letters."""

    concludes: tuple[tuple[str, ...], ...]
    states: tuple[tuple[str, ...], ...]
    counts: tuple[tuple[str, ...], ...]
    opens: frozenset[str]
    fills: tuple[tuple[str, ...], ...]
    doubts: tuple[tuple[str, ...], ...]
    closes: tuple[tuple[str, ...], ...]
    owns: tuple[tuple[str, ...], ...]


@cache
def phrases(code: str) -> Phrases:
    """A row, ready to be matched: of two phrases the longer one first."""
    row = SPACED[code]
    listed = {name: _phrases(getattr(row, name)) for name in Spaced._fields if name != "opens"}
    return Phrases(opens=frozenset(row.opens.split()), **listed)


def _phrases(listed: str) -> tuple[tuple[str, ...], ...]:
    found = {tuple(phrase.split("_")) for phrase in listed.split()}
    return tuple(sorted(found, key=lambda each: (-len(each), each)))


@cache
def languages_by_word() -> dict[str, tuple[str, ...]]:
    """The languages that a word of a last sentence may be of: what concludes, states or counts."""
    found: dict[str, set[str]] = {}
    for code in SPACED:
        row = phrases(code)
        for phrase in (*row.concludes, *row.states, *row.counts, *row.closes):
            found.setdefault(phrase[-1], set()).add(code)
    del found["="]
    return {word: tuple(sorted(codes)) for word, codes in found.items()}
