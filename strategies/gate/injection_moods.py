"""Who addresses whom, and how: patterns that are looked for in a whole line, what it forbids included."""

from __future__ import annotations

from typing import Final

from strategies.gate.injection_words import AGENT, BOSS, DISCARD, NEAR, RULES, forms

MOODS: Final = {
    # who is addressed, by whom, in what manner: read on the whole line, what it forbids included
    "addressed": (
        rf"\b(?:dear|attention|hey|note (?:to|for)|message (?:to|for)|instructions? (?:to|for)|as an?"
        rf"|if you are an?|any|whoever|whichever|helpful|a good|good|each|every|all|the) (?:all |any |the "
        rf"|an? |ai |helpful )*{AGENT}\b|\b(?:whoever|anyone|whichever \w+) (?:reads?|process\w*|handl\w*)"
        rf"|\bto (?:all|any) {AGENT}\b|@{AGENT}\b"
    ),
    "soft": (
        r"\b(?:would (?:be|like|appreciate|love|certainly|now|also|usually|kindly)|wouldn't it"
        r"|i'd (?:appreciate|love|like)|might be (?:a )?good|perhaps|one more thing|(?:could|would|can"
        r"|might) you|may want|might want|feel free|consider|kindly (?:asked|requested)|\b(?:it'd|it would"
        r"|would) be (?:great|nice|helpful|good)|by the way|love it when|expects? to (?:find|see|get)"
        r"|the (?:best|correct|right|next|expected|recommended|proper)(?: \w+)? (?:step|action|thing|move"
        r"|answer|response)|customary|common practice|it is (?:best|important|necessary|helpful|usual"
        r"|standard)|still needs? to|only complete|complete only|usually|expects? you|wants? you"
        r"|wanting you|while you are at it|when you (?:summari[sz]e|read|process|are done|finish)"
        r"|to (?:finish|complete)|love to see|in (?:the|your) summary|appeared?|is kindly|hop(?:es?"
        r"|ing) (?:that )?you|perhaps you could|you might|prefers? that|thorough)\b"
    ),
    "policy": (
        r"\b(?:handbook|rule \d+|polic(?:y|ies)|compliance|regulations?|gdpr|hipaa|soc ?2|iso ?27001|audit"
        r"|terms of service|guidelines?|procedures?|security standard|mandat(?:e|es|ed|ory)|directive"
        r"|effective immediately|in accordance|according to|by law|legal (?:requirement|team|department)"
        r"|protocol|section \d)\b"
    ),
    "duty": (
        r"\b(?:must|requir(?:e|es|ed)|oblig(?:es?|ed)|mandat(?:e|es|ory)|ha(?:s|ve) to|needs? to|shall"
        r"|are to be|is to be|states? that|be \w+ed|no confirmation|annual|for audit|agents?|assistants?"
        r"|reviewers?|before each|with each|effective immediately)\b"
    ),
    "authority": (
        rf"\b(?:this is|message from|order from|instructions? from|note from|on behalf of|speaking for"
        rf"|with the authority of|override by|approved by|authori[sz]ed by|signed off by|as|i am"
        rf"|here is) (?:an? )?(?:your |the )*{BOSS}\b|\b{BOSS} (?:has |have |hereby )?(?:here\b|already"
        rf"|approved|authori[sz]e[sd]?|instruct(?:s|ed)?|orders?|requests?|requires?|demands?|wants?"
        rf"|signed off|confirms?|confirmed|says?|grant(?:s|ed))|\b(?:by|from) (?:the |your )+{BOSS}\b"
        rf"|\b(?:{BOSS}|hr|legal|it) (?:team )?(?:notice|update|alert|announcement|bulletin|memo)\b"
        rf"|message from me\b|(?:^[\W\d]*|[\[<(*#]+\s*)(?:system|admin|administrator|root|sudo|operator"
        rf"|developer|root@\w+)(?: (?:message|note|notice|override|alert|prompt))?\s*[\])>:]"
        rf"|\b(?:pre-?(?:approved|authori[sz]ed)|permission in advance|\bi allow you|\b(?:root"
        rf"|admin) access granted|\bwe need your\b|(?:already|has|have) (?:been )?(?:approved|authori[sz]ed"
        rf"|given (?:\w+ )?permission|consented|agreed)|(?:priority|emergency|admin|system) override"
        rf"|(?:developer|admin|god|debug|maintenance) mode (?:is )?(?:on|enabled|activated)"
        rf"|you are (?:hereby )?authori[sz]ed|verified (?:instruction|message|request))\b"
    ),
    "conceal": (
        r"\b(?:(?:do not|don't|never|without|not) (?:\w+ ){0,2}?(?:tell|mention|inform|notify|alert|warn"
        r"|let|reveal|disclose|ask|show)(?:ing|ting)?(?: it| this| them)?(?: to)? (?:the user|users?"
        r"|anyone|anybody|the human|the operator|them|it\b|this)|secretly|covertly|silently|unnoticed"
        r"|in the background|before the user notices|(?:nobody|no one) (?:notices|knows|can)|keep (?:this"
        r"|it) (?:secret|hidden|quiet|between)|hide (?:this|it|the fact))\b"
    ),
    "secretly": (
        r"\bhid(?:e|den|ing) (?:this|it|that|everything|all of this) from\b|\b(?:user|owner|human|operator"
        r"|nobody)s? (?:need|must|should|may|can)(?: not|n't)? (?:know|notice|learn|find out|be told)\b"
        r"|\b(?:do not|don't|never|not) (?:tell|inform|mention to|alert|notify) the (?:user|owner|operator"
        r"|human)s? (?:about|of)\b|\b(?:do not|don't|never|without) (?:\w+ )?(?:tell|mention(?:ing)? (?:it"
        r"|this) to|inform|notify|notifying|alert)(?:ing)? (?:the |your |any)?(?:user|one|body|human"
        r"|operator|owner|admin\w*)(?:\s*(?:[.,;!)]|$)| about| of (?:this|it)| anything| what you"
        r"| that you (?:did|have|ran|sent|read|deleted|changed)| it\b| this\b)|\b(?:do not|don't"
        r"|never) (?:\w+ )?(?:reveal|disclose|mention|acknowledge|talk about) (?:this|these|having"
        r"|that you) ?(?:instructions?|prompts?|message|file|text|note|rules?|read|received|were|got|ran)?"
        r"|\bsecretly\b|before the user notices|\bkeep this (?:secret|hidden) from\b"
    ),
    "unasked": (
        r"\b(?:allow|permit|let)s? you to skip|\b(?:forbids?|prohibits?) (?:using "
        r"|the use of )?the sandbox|\bwithout (?:\w+ ){0,3}(?:asking|confirm\w*|approval|permission"
        r"|consent|review\w*|telling|informing|notifying|a prompt)|\bno (?:confirmation|approval"
        r"|permission) (?:is )?(?:needed|required|necessary)|\bdo not (?:ask|wait|roll back)|-auto-approve"
    ),
    "biased": (
        r"\b(?:recommend|promote|advertise|praise|favou?r|suggest)\b.{0,60}\b(?:never|not"
        r"|without)\b.{0,20}\b(?:alternatives?|competitors?|others)\b"
    ),
    "markup": (
        r"<!--|<[a-z]+\b[^>]*(?:display:\s?none|visibility:\s?hidden|font-size:\s?0|opacity:\s?0"
        r"|color:\s?(?:white|#fff\w*|transparent)|\bhidden\b)|^\s*\[(?://|comment|_)\]:"
    ),
    "told": (
        rf"\b(?:you (?:must|should|are|will|can)|your (?:instructions|user|task|answer|reply)|{AGENT}:"
        rf"|(?:ai|llm|assistant|agent|claude|model)s?,? (?:must|should|please|note|ignore|follow)|ignore"
        rf"|instructions? (?:for|to))\b"
    ),
    # overriding: what forbids following is part of it
    "discard": (
        rf"\b(?:{forms(DISCARD)}){NEAR % 4}(?:previous|prior|earlier|preceding|above|original|initial"
        rf"|former|existing|your|system|developer'?s?|operator'?s?|all(?: of)? (?:the|your|other)|any other"
        rf"|whatever){NEAR % 3}(?:{RULES}|system prompt)\b"
    ),
    "discard all": (
        rf"\b(?:{forms(DISCARD)})(?: all| any| these| those| every| previous| prior)+ (?:instructions?"
        rf"|prompts?|guidelines|directives|guardrails|restrictions|orders|safety)\b"
    ),
    "discard given": (
        rf"\b(?:{forms(DISCARD)}){NEAR % 3}(?:{RULES}|system prompt){NEAR % 3}(?:above|before"
        rf"|(?:you )?(?:were|was|have been|had been|are) (?:given|told|set)|given to you|you (?:received"
        rf"|got|have|were given)|received|so far|up to (?:now|here))\b"
    ),
    "void": (
        rf"\b(?:(?:(?:previous|prior|earlier|preceding|above|original|initial|former|existing"
        rf"|your)(?: \w+){{0,2}} {RULES}|the (?:old|previous|earlier) ones|(?:the|these|those|all"
        rf"|any) {RULES} (?:above|before \w+))(?:\W+[\w'’-]+){{0,4}}?\W+(?:no longer (?:apply|applies|valid"
        rf"|bind\w*|in force)|do(?:es)? not (?:apply|count|matter)|never existed|(?:is|are|were"
        rf"|was) (?:hereby )?(?:void|obsolete|cancel+ed|revoked|superseded|suspended|lifted|invalid"
        rf"|outdated|a test|fake|off))|(?:everything|anything|all|text) (?:\w+ ){{0,2}}(?:before|above"
        rf"|prior|earlier)(?:\W+\w+){{0,4}}\W+(?:void|obsolete|ignored?|invalid|fake|a test|cancel+ed))\b"
    ),
    "again": (
        rf"\b(?:(?:your|the) (?:new|real|actual|true|updated) (?:{RULES}|task|goal|objective"
        rf"|mission)s?\b{NEAR % 2}(?:is|are|below|follows?)|these {RULES} replace|replaces? all (?:others"
        rf"|(?:other|previous|earlier) {RULES})|(?:follow|obey) (?:only (?:me|my|what|these)|(?:me"
        rf"|what follows|\w+) only)|obey only|(?:real|actual|true) task is (?:this|the following|to)"
        rf"|(?:previous|current|original|first) task is (?:complete|over|finished|cancel+ed|done)"
        rf"|stop what you are doing|reset your (?:guidelines|instructions|rules)|(?:treat|regard"
        rf"|consider) (?:everything|all|anything|whatever)\b.{0, 60}\b(?:irrelevant|void|obsolete|wrong"
        rf"|invalid|a joke)|your {RULES} (?:have been|were|are now) (?:updated|changed|replaced|reset"
        rf"|removed)|(?:the above|everything above) (?:is|was) (?:just |only )?(?:an example|a joke|a test"
        rf"|irrelevant)|real instructions?\b|(?:the|your|all) {RULES} (?:\w+ ){{0,3}}(?:are|were"
        rf"|have been) (?:\w+ )?(?:lifted|suspended|void|obsolete)|comply with the (?:next|following)"
        rf"|forget (?:everything|all) (?:you|above|before|that)|(?:forget|disregard"
        rf"|ignore) (?:about )?(?:the|all|your|all the|every) (?:instructions|rules|guidelines|prompts?"
        rf"|constraints|directives|restrictions)\s*(?:[.!,;]|and\b|$)|(?:^|[\])#*:])\s*new (?:directives?"
        rf"|instructions?|orders?|objective):)\b"
    ),
    "unbound": (
        rf"\b(?:you (?:are|'re) (?:now )?(?:no longer|not) (?:bound|limited|restricted|required|subject)"
        rf"|you no longer (?:have|need) to (?:obey|follow|comply)|no longer (?:bound|restricted) by"
        rf"|you are now (?:\w+ )?(?:dan|free|unrestricted|unfiltered|jailbroken|root|in developer)"
        rf"|you are root now|(?:you )?have no (?:\w+ )?(?:{RULES}|limits|filters)|(?:assistant|model|ai"
        rf"|agent) (?:without|with no) (?:\w+ )?(?:{RULES}|filters|limits)|as if you had no|your (?:goal"
        rf"|objective|task|mission|role|purpose) (?:has|have) changed|the (?:plan|task|instructions?"
        rf"|rules) you were given|comply with (?:the )?\w+ below only|(?:act|respond|answer"
        rf"|behave) as (?:\w+ )?(?:unrestricted|unfiltered|uncensored|evil|dan)\b"
        rf"|act as an? (?:\w+ ){{0,2}}(?:without|with no) (?:\w+ )?{RULES}|jailbroken|do anything now"
        rf"|before you (?:can|may) (?:\w+ ){{1,6}}(?:please )?do the following|do the following (?:first"
        rf"|instead)|instead of (?:the|your) (?:\w+ )?(?:task|answer|request)\b|(?:abandon|drop|forget"
        rf"|ignore|stop) (?:the|your|this) (?:\w+ )?(?:original|current|actual|user'?s?|given"
        rf"|first) (?:task|goal|request|question|objective))\b"
    ),
    "role": (
        r"</?(?:system|assistant)>|^\s*#{2,}\s*(?:system(?:\s*:|$|\s+(?:message|prompt))|instruction:)"
        r"|(?:begin|start) (?:of )?(?:new|system) (?:instructions|prompt)|<\|?/?(?:im_start|im_end"
        r"|endoftext)\|?>|\[/?inst\]|<\|(?:system|assistant|user)\|>"
    ),
    "tongues": (
        r"\b(?:ignorier\w*|vergiss|missachte|oublie[zr]?|ignore[zr]? (?:toutes? )?(?:les|vos|tes|ces)"
        r"|ignora[rd]?|olvida|desconsidere|dimentica|negeer)\b.{0,30}\b(?:anweisung|instruktion|regel"
        r"|instructions|consignes|regles|instrucciones|reglas|instrucoes|istruzioni|instructies)"
        r"|忽略.{0,12}(?:指令|指示|提示|说明)|игнорируи\w*.{0,30}(?:инструкци|указани|правил)|以前の指示.{0,6}無視"
        r"|\b(?:losch\w*|supprime[zr]?|efface[zr]?|borra|elimina|cancella|apague"
        r"|verwijder)\b.{0,20}\b(?:alle|tous|toutes|todos|todas|tutti|tutte)\b|\b(?:sende|schick\w*"
        r"|ubermittle|envoie[zr]?|transmets|envia|manda|invia)\b.{0,60}(?:@|https?://|passwor|schlussel"
        r"|zugangsdaten|cles|mots? de passe|identifiants|claves|contrasenas|credenciales|chiavi)"
    ),
}
