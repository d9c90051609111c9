"""Common words of languages that share a script, and the scripts that one language writes.

The languages are IFEval's, and some more that keep near ones apart; the choice is this project's.
"""

from __future__ import annotations

from typing import Final

SCRIPTS: Final = (
    """bn ঀ৿ el ͰϿ gu ઀૿ he ֐׿ ja ぀ヿ kn ಀ೿ ko 가힣 ml ഀൿ pa ਀੿ ta ஀௿ te ఀ౿ th ฀๿ zh 一鿿"""
)
"""Of each script its language's code, the first character and the last."""

WORDS: Final = """
en the of and to in is that it was for on are with as his they at be this have from or had by but
en what some we can out other were all there when up use your how said an each she which their will
en if about many then them these so her would make like him into time has look two more write go
en see no way could people my than first been call who its now find long down day did get come made
en may part over new sound take only little work know place year live me back give most very after
en thing our just name good sentence man think say great where help through much before line right
en too mean old any same tell follow came want show also around form three small set put end does
en another well large must big even such because turn here why ask went men read need land
en different home us move try kind hand again change off play air away animal house point page
en letter mother answer found study still learn should world high every near add food between own
en below country last school father keep never start earth eye light thought head under story saw
en left don't few while along might close something seem next hard open example begin life always
en those both paper together got group often run important until children side feet took once book
en stop without real sometimes being family it's
es el la de que y en un ser se no haber por con su para como estar tener lo todo pero más hacer o
es poder este ir otro ese si me ya ver porque dar cuando muy sin vez mucho qué sobre mi las los una
es del es fue son ha sus entre está también desde hasta años así puede hay nos uno dos parte vida
es mejor cada
pt o a de que e do da em um para com não uma os no se na por mais as dos como mas ao ele das à seu
pt sua ou quando muito nos já eu também só pelo pela até isso ela entre depois sem mesmo são você
pt está foi
fr le de un être et à il avoir ne je son que se qui ce dans en du elle au pour pas sur faire plus
fr dire me on mon lui nous comme mais avec tout y aller voir bien où sans tu ou leur les des est
fr une cette l d s n qu c j été sont aux même après autre entre vie monde temps ont peut fait deux
fr ces ses leurs
it il di che e la in un a per è una sono mi si lo ma ti non le con ci questo ho hai da se come del
it della io ha gli perché più anche alla nel dei delle tutto bene cosa molto essere quando suo
it nella sul i notte mare giorno vita sole stella stelle tempo acqua terra bianca nera casa amore
it cielo onda tranquilla
de der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an
de werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war
de haben oder wenn durch diese kann sehr mehr wir ich ihr mein alle ohne zwischen gegen weil vom
de zur wurde
nl de van een het en in is dat op te zijn met voor niet aan er om ook als dan maar bij nog uit door
nl over ze naar wel heeft worden ik je jij hij wij deze geen kan meer wat hun werd of die
sv och att det i en jag hon som han på den med var sig för så till är men ett om hade de av icke
sv mig du henne då sin nu har inte hans honom skulle hennes där min man ej vid kunde något från ut
sv när
da og i jeg det at en den til er som på de med han af for ikke der var mig sig men et har om vi min
da havde ham hun nu over da fra du ud sin dem os op man hans hvor eller hvad skal selv her alle vil
da blev
fi ja on ei se että hän oli ovat mutta kun niin kuin myös joka voi tai olla hänen ole sen jos mitä
fi minä sinä he me siitä sitä vain jo nyt siellä mukaan kanssa ennen jälkeen olen tämä tämän ollut
fi sekä
pl w i na z się do nie że to jest o a jak po co tak od za przez ale dla jego być już oraz tylko lub
pl który są może tego czy był go przed jej ich ze jako tym te bardzo która które pod także więc gdy
cs a je se v na že to s z do o i jsem by pro jak ale za jako po tak jsou které který nebo co když
cs byl aby jen už ve při byla být mě má od tím jeho není si až také může ještě nás před podle
ro și de în a la cu pe nu este că un o pentru din sunt mai ce care sau au fost fi se lui ei prin
ro dar ca al ale acest această când foarte să toate doar după între ai noi cel fără poate
tr ve bir bu da de için ile çok olarak daha gibi ne kadar sonra ama var o olan ben en her değil ya
tr mi şey onun ise oldu şu bana sen biz siz iyi olduğu yok olur diye çünkü zaman hiç göre
id yang dan di ini itu dengan untuk tidak dari dalam akan pada juga saya ke karena ada adalah
id mereka kami kita bisa oleh atau sudah seperti orang telah lebih dia anda dapat hanya tahun
id secara
vi và của là có cho không được người trong các một những với này đã để khi tôi đến từ cũng như về
vi nhiều ra bạn đó năm lại phải vào hay sẽ nhưng rất làm theo thể nên trên sau nếu đang thì mà
sw ya na wa kwa ni katika la za cha kama hii pia kuwa hivyo lakini yake wake au watu sana baada ili
sw hiyo kutoka huo mimi yangu wewe zaidi kila wao hata vya moja mtu kazi siku sisi yetu nchi hayo
ru и в не на я что он с как это по но они из у за вы так же от его мы для её было или быть был если
ru мне всё ты этот когда уже о только бы к до их чтобы может есть ещё была этого который никто
ru знает почему каждый день
uk і в не на що я він з як це по але вони із у за ви так від його ми для її було або бути був якщо
uk мені все ти цей коли вже про тільки б до їх щоб може є ще була цього який та й також чому знає
uk де
bg и в не на да се е от за с че по са като но или ще си който това до при може има към тези както
bg още след така през тя той те му бъде само също този тази беше много когато между защо никой
ar في من على أن إلى هذا التي عن مع هو كان لا ما هذه الذي كل ذلك بين أو قد لم بعد عند هي هناك غير
ar إذا حتى حيث أنا أنت نحن كما لكن يمكن خلال ثم و يا قبل تم لن كانت وقد أي
fa و در به از که این را با است برای آن یک خود تا می بر بود شد کرد شده ها هم اما یا دارد نیز باید هر
fa ما من شما آنها او نیست بی های اند کند بین چه اگر دیگر وی همه پس بسیار دو
ur کے میں کی ہے کا سے اور کو پر نے یہ ہیں کہ ایک نہیں اس بھی وہ تو ہو جو تھا کر گیا تھی ہم لیے آپ
ur اپنے کیا یا تک ان ہی جا رہا بعد ساتھ دیا کوئی کچھ مجھے ہوں میرے تھے جب اگر ہمارے
hi के में की है का से और को पर ने यह हैं कि एक नहीं इस भी वह तो हो जो था कर गया थी हम लिए आप अपने
hi क्या या तक उन ही जा रहा बाद साथ दिया कोई कुछ मुझे हूँ मेरे थे जब अगर हमारे
mr आहे आणि या ते तो ती हे होते नाही की मध्ये आहेत एक आपल्या त्या च्या करण्यासाठी होता म्हणून पण मी
mr तुम्ही आम्ही त्याच्या तसेच केले काही असे जे झाले सर्व किंवा असलेल्या असते आपण माझ्या वेळ कामाची
mr कामाचा कामासाठी सकाळी सकाळची दिवस मला तुला नवीन माझा तुझी येथे जाग वाटेवर चालतो करतो घेऊन
ne छ र को मा हो का ले लाई गर्न यो भएको छन् पनि एक गरेको त्यो हुन्छ थियो म तपाईं हामी लागि तर भने
ne गर्ने साथ नेपाल सबै आफ्नो यस मेरो हुने गरी देखि वा के जो छैन हाम्रो गर्नुहोस्
"""
"""Lines that begin with the code of their language."""
