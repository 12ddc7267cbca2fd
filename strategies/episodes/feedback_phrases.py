"""What people say to an agent that got it wrong, or right, by language: RE2 forms, searched at its beginning.

Data, and the searches made of it: `_OPENING` begins the message, perhaps after `_LEAD`; `_ANYWHERE` may stand
inside it; `_EXPLICIT` says itself what was asked for, so that nothing else has to bear it out. Chinese and
Japanese have no spaces, so their forms count anywhere.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

import re2

_LEAD: Final = (
    r"(?:(?:sorry|hmm+|ugh|argh|wtf|nah|hold on|what|but|well|hey|wait|please|ok(?:ay)?|again|and|so|now|bitte"
    r"|also|aber|jetzt|hm+|mais"
    r"|s['’]il te pla[iî]t|alors|pero|por favor|mas|agora|ahora)\b[,.!?… ]*|again\?!? *|[¿¡] *)*"
)
"""What may come before the words that count."""

_OPENING: Final = {
    "en": (
        r"no[,.!;:]? *(?:[,.!;:]|(?:no\b[,.! ]*)+|that|this|it\b|you|i\b|we|don|not|wrong)|(?:nope|incorrect"
        r"|revert)\b"
        r"|stop(?: it| that| this| \w+ing)?\W*$|stop(?:[,.!]| \w+ing\b)|(?:completely |totally |all |just "
        r"|plain )*wrong\b"
        r"|not the \w+(?: \w+)?, |(?:i|we) (?:don['’]?t|do not|didn['’]?t) (?:want|need|like) |just do what\b"
        r"|the \w+ (?:still |just )?(?:fails?|crash\w*|breaks?|broke)(?: again| now| still)*\W*$"
        r"|undo (?:it|that|this|the|your|all|everything|what|please)\b|undo\W*$|(?:roll|put|change) (?:it "
        r"|that |this )?back\b"
        r"|don['’]?t\b|do not\b|not (?:what|like that|quite|right|correct|working)\b|why (?:did|are|do|would"
        r"|have) you\b"
        r"|same (?:error|problem|issue|mistake)\b|worse\b|nothing (?:changed|happens|works)\b"
        r"|you(?:['’]ve| have| just|['’]re)* (?:broke|forg[eo]t|missed|mis\w+|removed?|deleted?|ignor"
        r"|didn['’]?t|did not|changed too"
        r"|edit\w* the wrong|chang\w+ the wrong|gave me|made it worse|messed|ruined|still|keep)"
        r"|you (?:shouldn['’]?t|should|were supposed)\b|i (?:\w+ly )?(?:said|asked (?:you|for)|meant|wanted)\b"
        r"|you(?:['’]re| are) (?:going|wrong|not|still|missing|over)|you (?:said|claimed|promised)\b.*\bbut\b"
        r"|i (?:didn['’]?t|did not) (?:want|say|mean)\b|still (?:not|fail|broken|wrong|doesn|the same|getting)"
        r"|(?:that|this|it|the \w+)(?:['’]?s| is| are| was)(?: still| just| completely| totally| now)*"
        r" (?:not|n['’]t|(?:all |the )?wrong|incorrect|broken|useless|terrible|worse|nonsense|gone|failing"
        r"|the (?:wrong|opposite))\b"
        r"|(?:that|this|it|you|everything)(?: just| now| still)* (?:breaks|broke|ruined|made (?:it"
        r"|things) worse|crash\w*|fail\w*|got (?:\w+er|worse)|hangs)\b"
        r"|(?:that|this|it)(?:['’]s)? (?:didn['’]?t|doesn['’]?t|don['’]?t|does not|did not|makes no|isn['’]?t"
        r"|wasn['’]?t) "
        r"|(?:actually|rather),? (?:no|don|please|use|that|you)\b|never ?mind,? i['’]ll\b|what (?:did you do"
        r"|have you done)\b"
    ),
    "de": (
        r"nein[,.!]? *(?:im|in|nicht|das|die|der|den|so|falsch|ich|lass)|(?:falsch|quatsch|so nicht|lass das)\b"
        r"|(?:stop+|halt)\b\W*$"
        r"|(?:das|es|die \w+|der \w+) (?:ist|war|sind|wurde)(?: \w+)? (?:falsch|kaputt|unsinn|quatsch|nicht )"
        r"|(?:das|es) (?:sieht|ist jetzt|hilft|macht)\b.*\b(?:falsch|nicht|keinen sinn|kaputt)"
        r"|(?:jetzt )?(?:ist|geht) (?:jetzt )?(?:alles|gar nichts|nichts)|nicht (?:das|die|den|alles)\b"
        r"|ich (?:will|wollte|brauche) (?:\w+ )?(?:nicht|kein)|du solltest"
        r"|(?:das|es)? ?(?:stimmt|geht|funktioniert|läuft|klappt|hilft|passt)(?: so| immer| noch)* nicht"
        r"|das (?:wollte|habe|hab|meinte) ich (?:so )?nicht|warum (?:hast|hat|machst|änderst) "
        r"|du (?:hast|solltest|machst|änderst)\b.*(?:falsch|gelöscht|kaputt|vergessen|ignoriert|nicht|kein)"
        r"|(?:mach|nimm|stell|setz)\w* .{0,20}(?:rückgängig|zurück|wieder her)|rückgängig"
        r"|immer noch (?:nicht|der|die|das|falsch|kaputt)|(?:der|die) gleiche?n? fehler"
    ),
    "fr": (
        r"non[,.!]+ *(?:dans|pas|l['’]|le |la |les |ce|tu|je|n)|(?:arrête|annule|reviens|remets|faux)\b"
        r"|c['’]est (?:faux|incorrect|pas|cassé)\b"
        r"|(?:ce|ça) n['’](?:est|était|a) (?:pas|rien)|(?:ça|cela|il|elle) (?:ne )?(?:marche|fonctionne|compile"
        r"|va)(?: toujours)? (?:toujours )?(?:pas|plus)"
        r"|(?:maintenant )?tout est (?:cassé|perdu|faux)|(?:ça|cela) (?:plante|casse|échoue)|je ne (?:veux"
        r"|voulais) pas|pourquoi (?:as-tu|tu as|avoir)|tu (?:as|avais|n['’]as)\b.*(?:cassé|supprimé|oublié"
        r"|ignoré|effacé|mauvais|pas)"
        r"|(?:il y a |c['’]est )?(?:toujours|encore) (?:la même|pas|une erreur|cassé)|(?:la )?même erreur"
    ),
    "es": (
        r"no[,.!]? *(?:es[eoa]s?|esto|el|la|los|las|así|tú) |no,? (?:así )?no\b|no (?:funciona|sirve|compila|va"
        r"|es |era |quería)"
        r"|(?:para|basta|detente|incorrecto|equivocado|deshaz|revierte|mal)\b\W*$|(?:deshaz|revierte"
        r"|déjalo como|vuelve a como)\b"
        r"|(?:eso|esto|ese|esa|el|la)(?: \w+)? (?:no (?:es|era|funciona|va)|está (?:mal|roto))|está mal\b"
        r"|incorrecto\b"
        r"|(?:sigue|continúa) (?:sin|fallando|dando|roto|igual)|(?:todavía|aún) (?:no|falla)"
        r"|(?:ahora )?todo está (?:roto|mal)|se (?:rompió|rompe|cae)|no (?:quiero|entendiste|pedí)\b"
        r"|el mismo (?:error|problema)"
        r"|por qué (?:has|hiciste|\w+(?:aste|iste)\b)|(?:lo |la )?(?:rompiste|borraste|olvidaste|ignoraste"
        r"|arruinaste)\b"
        r"|(?:has|cambiaste|editaste)\b.*(?:roto|borrado|equivocad)"
    ),
    "pt": (
        r"não[,.!]? *(?:ess[ea]|isso|o|a|os|as|assim) |não[,.!] *não\b|não (?:foi|era|é|está|funciona|compila"
        r"|serve|quero)"
        r"|(?:isso )?(?:está|ficou) (?:tudo )?(?:errado|quebrado|pior)\b|errado\b|(?:desfa[zç]\w*|reverta?"
        r"|volt[ae] (?:como|ao que))\b|(?:pare|para)\W*$"
        r"|(?:agora )?(?:está )?tudo (?:está )?(?:quebrado|errado)|quebrou\b|não[,.] (?:na|no|em)\b|você não"
        r"|(?:ainda|continua) (?:não|sem|dando|com|quebrado|falhando)|o mesmo (?:erro|problema)"
        r"|ess[ea] não (?:é|era)"
        r"|por que (?:você )?(?:\w+ou\b|fez)|você (?:quebrou|apagou|esqueceu|ignorou|estragou|removeu|não)"
        r"|você .*errad"
    ),
}
_ANYWHERE: Final = {
    "zh": (
        r"不对|错了|改错|弄坏|不是(?:这个|这样|那个)|撤销|恢复(?:原来|原样)|还原|改回|(?:还是|仍然|依然)(?:不"
        r"|报错|同样|一样|有错)|同样的错|没有?用$|为什么(?:删|改|要删|要改)|(?:^|请)别(?:动|改|删)|不能用"
        r"|没有生效|^不[，,]|理解错|全?坏了|我不(?:想|需)?要|(?:这样|那样)不(?:行|好|对)|说了(?:不|别)"
    ),
    "ja": (
        r"違(?:う|います|って)|(?:そう|これ)(?:じゃ|では)(?:な|あり)|間違(?:い|え|って)|元(?:に|のまま)"
        r"|戻して|取り消して|(?:まだ)?動(?:きません|かない)|壊(?:れ|し)|(?:まだ|同じ)エラー|なぜ.*(?:消|変え"
        r"|削除)|^いいえ、(?:別|その|それ|こ)|誤解|^いや、|要りません|いらない|(?:言|頼)ったのに|困ります"
        r"|直っていま?せん|変わってい?ま?せん"
    ),
}
_EXPLICIT: Final = {
    "en": (
        r"\bi(?:['’]ve| have)? (?:already |just |explicitly |clearly )*(?:told you|asked you (?:to|not)"
        r"|said (?:to|not|no))\b"
        r"|(?:as|like) i (?:already )?said|how many times|\bwe (?:already )?(?:discussed|agreed)\b"
        r"|\b(?:that|this|it)(?:['’]s| is| was)(?: not|n['’]t) what (?:i|we)|\bi (?:didn['’]?t"
        r"|did not) ask (?:for|you)\b"
        r"|\bi (?:wanted|asked for|said) [^.]{1,40}, (?:not|you)\b"
        r"|\b(?:use|try|call|run) [\w@./-]+(?: [\w@./-]+)?,? not [\w@./-]+\W*(?:$|i )"
        r"|^\W*(?:please )?(?:use|try|call|run) \S+(?: \S+)?,? (?:not|instead of|rather than) \S"
    ),
    "de": (
        r"\bich (?:sagte|(?:hatte|habe?)\b.*\b(?:gesagt|gebeten))|\bnicht (?:das, was ich|gefragt|gewollt)"
        r"|wie (?:oft|gesagt)\b"
        r"|^\W*(?:nimm|benutze?|verwende) \S+,? (?:statt|nicht|anstelle) \S"
    ),
    "fr": (
        r"\bje t['’](?:ai|avais) (?:déjà |pourtant )?(?:dit\b|demandé)|\bj['’](?:ai|avais) (?:dit\b|demandé)"
        r"|pas ce que j[e'’]"
        r"|^\W*utilise \S+,? (?:pas|au lieu de) \S"
    ),
    "es": (
        r"\b(?:ya )?te (?:dije\b|pedí|he dicho)|no (?:es|era) lo que (?:pedí|quería)|^\W*usa \S+,? (?:no"
        r"|en vez de|en lugar de) \S"
    ),
    "pt": (
        r"\beu (?:já )?(?:te )?(?:disse|pedi|falei)\b|não (?:foi|era|é) (?:isso|o) que eu|^\W*use \S+,? (?:não"
        r"|em vez de|no lugar de) \S"
    ),
    "zh": r"我(?:已经|之前)?(?:说过|告诉过|让你)|不是我(?:要|想要)的|我不是这个意思|我要的(?:不)?是|，不要用",
    "ja": r"と(?:言|い)いました|と(?:頼|お願いし)|頼んだ(?:もの|の)では|頼んでいません|って言った",
}
_DECLINES: Final = (
    r"(?i)^\s*(?:no[,.!;:]? *(?:thanks|thank you|problem|worries|need|rush|idea|you decide|(?:that['’]s|that is"
    r"|it['’]s|it is)"
    r" (?:all|okay|ok|fine|alright|all right|it|good|perfect)\b)|do(?:n['’]t| not) (?:forget to|worry)\b"
    r"|no[,.!]? *(?:gracias|hay problema|importa)|non[,.!]? *merci|não[,.!]? *(?:obrigad|precisa|importa)"
    r"|nein[,.!]? *danke)|不用了"
)
"""What opens like a correction, or thanks, and is neither."""

_THANKFUL: Final = (
    r"\bth(?:an)?(?:ks|x)\b|\bthank (?:you|u)\b|\bty\b|\b(?:much|really) appreciated|\bdanke\b|\bvielen dank"
    r"|(?:herzlichen|besten) dank"
    r"|\bmerci\b|\bgracias\b|\bobrigad[oa]\b|\bvaleu\b|谢|辛苦了|ありがとう|感謝し|助かりました"
)
_PRAISE_WORD: Final = (
    r"(?:perfect(?:ly)?|excellent|awesome|great|nice|good|cool|sweet|brilliant|amazing|fantastic|wonderful"
    r"|lovely|beautiful|superb?|lgtm"
    r"|cheers|well done|all good|perfekt|passt|wunderbar|spitze|klasse|toll|prima|sehr (?:gut|schön)|top"
    r"|parfait|nickel|impeccable|génial|bravo|super"
    r"|très bien|perfecto|excelente|genial|estupendo|(?:muy|qué) bien|fenomenal|perfeito|ótimo|maravilha|show"
    r"|muito b[eo]m|ficou (?:bom|ótimo)|très bon|bom trabalho)"
)
_NOUN: Final = (
    r"(?: (?:stuff|work|job|one|solution|now|so|gemacht|arbeit|travail|joué|trabajo|trabalho|mate|man))*"
    r"(?:,? (?:merging|merge it|ship it|done|that['’]s (?:it|all)|läuft))?"
)
_PRAISES: Final = (
    rf"^\W*(?:(?:ok(?:ay)?|yes|yep|so|very|really|that['’]s|that is|this is|it['’]s|you['’]re the best|das ist"
    rf"|c['’]est|está|es|é)[,. ]+)*"
    rf"(?:{_PRAISE_WORD}{_NOUN}\W*)+$|^\W*(?:(?:yes|yep|ok|ja|oui|sí|sim|{_PRAISE_WORD})[,.! ]+)*(?:(?:that|it"
    rf"|this|all)? ?works?(?: (?:now|great|perfectly|fine"
    rf"|like a charm))*|(?:that |it )?(?:fixed it|did (?:the trick|it))|looks? (?:good|great)(?: to me)?"
    rf"|that['’]s (?:it|all|perfect|great|exactly[^?]{{0,30}})"
    rf"|you['’]re the best|(?:das )?(?:funktioniert|klappt|läuft)(?: jetzt)?|sieht gut aus|(?:ça"
    rf"|cela) (?:marche|fonctionne)(?: bien| maintenant)*"
    rf"|(?:ya |ahora )?funcion(?:a|ó)(?: perfecto| bien)?|(?:agora )?funciono?[ua](?: perfeitamente| bem)?)\W*$"
    r"|^.{0,6}(?:完美|太好了|好极了|非常好|很好|很棒|太棒了|做得(?:好|很好|不错))[^?？]{0,6}$|^.{0,8}(?:完璧"
    r"|うまくいきました|素晴らしい|いいですね|とても良い|最高"
    r"|動くようになり)[^?？]{0,6}$"
)
"""A message that is nothing but praise."""


class Spoken(NamedTuple):
    """The searches: an explicit correction, any other one, what only opens like one, and thanks or praise."""

    explicit: re2._Regexp
    corrects: re2._Regexp
    declines: re2._Regexp
    thanks: re2._Regexp


@cache
def spoken() -> Spoken:
    """Compile the forms, which takes 8 ms, once a person says something."""
    return Spoken(
        explicit=re2.compile(f"(?i)(?:{'|'.join(_EXPLICIT.values())})"),
        corrects=re2.compile(
            f"(?i)(?:^\\s*{_LEAD}(?:{'|'.join(_OPENING.values())}))|{'|'.join(_ANYWHERE.values())}"
        ),
        declines=re2.compile(_DECLINES),
        thanks=re2.compile(f"(?i)^[^?？\\n]{{0,20}}(?:{_THANKFUL})[^?？\\n]{{0,40}}$|{_PRAISES}"),
    )
