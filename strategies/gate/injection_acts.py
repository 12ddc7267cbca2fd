"""What a sentence orders, and about what: patterns that are looked for in it without what it forbids."""

from __future__ import annotations

from typing import Final

from strategies.gate.injection_words import (
    DATA,
    DELETE,
    DEST,
    DISABLE,
    GUARD,
    KEY_FILES,
    KEYS,
    MEMORY,
    OUT,
    PASSIVE,
    PIPED,
    PLAIN_PLACE,
    PUT,
    RUN,
    SAY,
    SESSIONS,
    STARTUP,
    WHOLE,
    WRITE,
    forms,
)

ORDERS: Final = {
    # what is ordered: a mark stands where an order may begin
    "out": rf"\x01(?:{OUT})\b|{PASSIVE} (?:sent|{forms(OUT)})\b|\bby (?:send|post|upload|forward|mak)ing\b",
    "say": rf"\x01(?:{SAY})\b",
    "delete named": (
        r"\x01(?:wipe|erase|destroy|nuke|purge|shred|uninstall|delete|remove) (?:the|your|all|this"
        r"|every) (?:[\w-]+ ){0,2}?(?:disk|drive|server|user account|account|machine|system|tracks"
        r"|shell history|packages|computer|production (?:\w+))\b"
    ),
    "ask for": r"\bby (?:print|show|display|send|post|reveal|paste|shar)ing\b",
    "put": rf"\x01(?:{PUT})\b",
    "delete": (
        rf"\x01(?:{DELETE}|overwrit\w+)\b|{PASSIVE} (?:{forms(DELETE)})\b|\bby (?:deleting|purging|wiping"
        rf"|erasing|removing)|\bonce you have (?:deleted|removed|erased)"
    ),
    "disable guard": rf"\x01(?:{DISABLE})\W+(?:[\w'-]+\W+){{0,6}}?{GUARD}\b",
    "act": (
        rf"\x01(?:{RUN}|{DELETE}|{OUT}|merge|deploy|approve|accept|change|grant|pay|buy|wire|make|unlock"
        rf"|proceed|continue|go ahead|carry on)\b"
    ),
    "run": rf"\x01(?:{RUN})\b",
    "fetch": r"\x01(?:download|install|fetch|load|run|begin|start)\b",
    "grant": (
        r"\x01(?:grant|give|add|make|promote|invite|elevate|assign|allow)\b.{0,60}\b(?:admin(?:istrator)?"
        r"|owner|root|collaborator|maintainer|sudo|superuser|write access|access)\b"
        r"|\bto (?:the )?sudoers\b"
    ),
    "publish": (
        r"\x01make (?:the|this|all|every) (?:\w+ )?(?:repositor(?:y|ies)|repos?|buckets?|files?|project"
        r"|dataset|folder) public"
    ),
    "password": (
        r"\x01(?:change|replace) (?:the |all )?(?:\w+ )?(?:user|admin|root|account|owner)(?:'s)? passwords?"
    ),
    "write": (
        rf"\x01(?:{WRITE}|make this permanent|propagate|replicate|spread|schedule|set up|create)\b"
        rf"|\b(?:note|write) (?:this|it) down\b"
    ),
}
ACTIONS: Final = {
    # what is ordered: read sentence by sentence, without what is forbidden
    "out form": rf"\b(?:{forms(OUT + '|mention')}|sent|written|go(?:es)? to|end(?:s)? up|arrives?)\b",
    "request with": r"\brequest to\b.{0,80}\b(?:contain\w*|with|including|carrying)\b",
    "deletion": r"\b(?:deletion|removal|destruction|erasure) of\b",
    "run drop": (
        r"\b(?:run|execute|call|use|invoke)\b.{0,40}\b(?:drop (?:table|database)|delete_(?:file|all)"
        r"|drop_\w+)\b|\b(?:rm|shred)\b.{0,20}\s~/?(?:documents|desktop|\*)"
    ),
    "fetch run": r"\b(?:download|fetch|curl|wget)\b.{0,30}\b(?:and|then) (?:run|execute)\b",
    "keep this": (
        r"\b(?:put|store|save|write|add|paste|copy) this (?:prompt|text|instruction|message|note"
        r"|rule)s? (?:into|in|to)\b|\badd yourself to\b|\bpermanently (?:in|to) memory\b"
    ),
    "handed": (
        r"\b(?:them|contents|(?:all|every) (?:the )?(?:files?|documents?)|a copy|list of|data|records"
        r"|everything|in full|all of (?:my|the|your|them|it))\b"
    ),
    "say form": rf"\b(?:{forms(SAY)}|contain(?:s|ing)?|with|needs? your|copy of)\b",
    "placed": (
        r"\b(?:in|into|to|at the end of|as part of|inside|with) (?:the|your|its|this|every|each"
        r"|an?) (?:\w+ ){0,2}?(?:repl(?:y|ies)|answers?|responses?|summary|comments?|reports?|pull request"
        r"|pr|description|commit(?: message)?|logs?|urls?|issues?|chat|output|message|body|next person)\b"
    ),
    "here": r"\bhere\b",
    "covert": (
        r"\b(?:silently|secretly|quietly|covertly) (?:run|execute|send|upload|post|install|delete|forward"
        r"|fetch|call|add|copy|exfiltrate|modify|open)\b"
    ),
    "obey": (
        r"\b(?:obey|comply with|trust|follow|whitelist|allowlist)\b.{0,60}(?:https?://|\*\.\w"
        r"|\b[\w-]+\.(?:example|com|net|org|io|xyz|ru|cn)\b)|https?://\S+.{0,40}\b(?:obey"
        r"|do what(?:ever)? it)\b"
    ),
    "deceive": (
        r"\bsay (?:that )?(?:all|everything) (?:is|was|went) \w+ (?:whatever|no matter|even|regardless)"
        r"|\b(?:(?:tell|inform|assure)\b.{0,20}\bthat|report|claim|pretend|state|say)\b.{0,60}\b(?:passed"
        r"|succeeded|successful|fine|safe|clean|no (?:issues|errors|problems"
        r"|changes))\b.{0,30}\b(?:even if|although|regardless|whether or not|no matter|without (?:running"
        r"|checking))"
    ),
    "trigger": (
        r"\b(?:whenever|each time|every time|as soon as)\b.{0,60}\b(?:call|run|fetch|read|load|invoke|send"
        r"|visit)\b.{0,40}(?:https?://|\b(?:delete|drop|wipe|send|transfer|grant)_\w+)"
    ),
    "prank": r"\b(?:say|print|reply|respond|output|write|answer)\b.{0,30}\b(?:pwned|hacked|jailbroken)\b",
    "rewrite all": r"\b(?:replace|rewrite|fill|overwrite) (?:the )?(?:contents?|text) of (?:every|all|each)\b",
    "leak": r"\bleak (?:the|your|all|every|any|this|its|their)\b|\bexfiltrat\w+|\bsmuggl\w+|\bsteal\b",
    "in full": (
        rf"\b(?:your|all|every|any|each|contents? of|(?:the )?(?:full|whole"
        rf"|entire))(?: [\w'~/.-]+){{0,3}} (?:{KEYS}|{DATA})|{KEY_FILES}|\b(?:in full|verbatim|to me"
        rf"|tell me|whoever|anybody|who asks)\b"
    ),
    "secret": rf"\b{KEYS}\b|{KEY_FILES}|\$\{{?\w*(?:key|token|secret|password)",
    "secret file": KEY_FILES,
    "data": rf"\b{DATA}\b",
    "dest": DEST,
    "not there": r"\blocalhost\b|\b127\.0\.0\.1|\b0\.0\.0\.0|\b(?:from|see) [<`(]?https?://",
    "sent as login": (
        r"\b(?:headers?|bearer|basic auth|authorization|over tls|log ?in|authenticate|client library|sdk)\b"
    ),
    "net": (
        r"\b(?:curl|wget|nc|ncat|netcat|scp|rsync|ftp|invoke-webrequest|requests\.(?:post|get|put)|urlopen"
        r"|fetch\(|httpx\.post)"
    ),
    "upload": (
        r"(?:\s-(?:d|f|t|x)\b|--(?:data|upload-file|post-file|post-data|body|form)|@-|\||\$\(|`|data="
        r"|json=|files=|:)"
    ),
    "env dump": r"(?:^|[\s;&`(])(?:env|printenv|export -p)\s*\|.*\b(?:curl|wget|nc|base64|http)",
    "link": r"\]\(https?://[^)]*[?&=/][^)]*[\[{<$%][^)]*\)|<img[^>]+src=[^>]*[\[{$]\w",
    "delete form": rf"\b(?:{forms(DELETE)})\b",
    "whole": WHOLE,
    "plain place": PLAIN_PLACE,
    "ruin": (
        r"\brm\s+(?:-\S+\s+)*-\w*[rf]\w*\s+(?:\S+\s+)*?[\"']?(?:/|~/?|/\*|\*|(?:\$\{?home\}?|~)/?\*?"
        r"|/(?:etc|usr|var|home|boot)\b\S*|\.git/?)[\"']?(?:[\s;&|)`]|$)|--no-preserve-root"
        r"|\bmkfs\.?\w*\s+/dev|\bdd\b.*\bof=/dev/\w|>\s?/dev/sd[a-z]|\bfind\s+(?:/|~"
        r"|\$home)\S*\s.*(?:-delete|-exec rm)|\bgit push\b.*(?:--force|-f)\b.*\b(?:main|master|release"
        r"|production|--all|--mirror)\b|\bgit (?:clean -\w*d\w*|reset --hard)\b.*\bgit (?:clean|reset)\b"
        r"|\bdrop (?:database|schema)\s+\S*(?:prod|main|live|customer|user)"
        r"|\bterraform destroy\b.*-auto-approve|\bformat c:|:\(\)\s*\{|\bdel /[sfq]|\bvssadmin delete"
        r"|\bencrypt\b.{0,60}\b(?:ransom|leave a note|demand|bitcoin)"
    ),
    "guard": (
        rf"\b(?:{forms(DISABLE)}|off|forbid\w*)\b.*\b(?:{GUARD}|reviews?|tests)\b|\b(?:turn|switch"
        rf"|shut) (?:[\w-]+ ){{1,4}}off\b|\bpush(?:es)? without review|\b{GUARD} (?:is|are|be|to be|must"
        rf"|should|shall|can|will|may|has to|have to|needs?)\b.*\b(?:off|disabled|bypassed|skipped"
        rf"|suspended|lifted|ignored|deactivated|removed)"
    ),
    "unguarded": (
        r"--(?:dangerously-\w[\w-]*|yolo|skip-permissions|trust-all-tools|no-verify|disable-safety\w*)\b"
        r"|-auto-approve\b|\bforce[ -]push\b|\bwith no-verify\b|permission mode\b.{0,20}\b(?:bypass|auto"
        r"|yolo)|bypasspermissions|settings\S*\b.{0,30}\ballow (?:every|all|any)\b|core\.hookspath"
        r"|\b(?:never|do not|not) run the hooks|\bpush with force|\bhooks off\b"
    ),
    "accept all": (
        r"\b(?:approve|accept|confirm|allow|grant|say yes to) (?:every|all|any"
        r"|each)\b.{0,30}\b(?:requests?|prompts?|permissions?|changes|tools?|calls?)\b"
    ),
    "always": r"\b(?:automatically|without|always|every time|never ask|from now on)\b",
    "transfer": (
        r"\bto (?:all|every|each) (?:my |your |the |of (?:the|your|my) )?contacts?\b|\b(?:transfer|wire"
        r"|pay|purchase|buy|withdraw|refund)\b.{0,30}(?:\d|\ball\b|everything|money|funds|account|coins?"
        r"|gift)|\bmake an? (?:\w+ )?(?:transaction|payment|transfer|purchase)\b|\b(?:unlock|open) (?:my"
        r"|the) (?:front )?(?:door|lock|gate|garage|safe)\b"
    ),
    "shell out": (
        r"\brmtree\(.{0,40}(?:expanduser|path\.home|[\"']/[\"']|[\"']~)|\bnuke the\b|\bexpire all objects"
        r"|\breverse shell|/dev/tcp/|\b(?:nc|ncat|netcat)\b.*\s-\w*e\b|\bchmod\s+(?:-\w+\s+)*(?:0?777"
        r"|a\+rwx)\s+(?:-\w+\s+)*(?:/|~)(?:\s|$)"
    ),
    "decode run": (
        r"base64\s+(?:-d|--decode)\s*\|\s*(?:sudo\s+)?(?:ba|z)?sh|\b(?:eval|exec)\s*\(?\s*(?:\("
        r"|\"?\$\()?\s*(?:atob|base64\.b64decode|bytes\.fromhex|echo \S+ \| base64)|\b(?:eval"
        r"|exec)\(\s*(?:requests\.get|urlopen|urllib|fetch)|\bdecode (?:this|it|the following)?\W*(?:and"
        r"|then) (?:follow|run|execute|obey|do)"
    ),
    "piped": PIPED,
    "piped unsafely": (
        r"\b(?:curl|wget)\b[^|;]*(?:http://|\b\d{1,3}(?:\.\d{1,3}){3})[^|;]*\|\s*(?:sudo\s+)?(?:ba|z|da"
        r"|k)?sh\b|\b(?:ba|z)?sh\s+<\(\s*(?:curl|wget)|\b(?:pip3?|npm|uv pip|gem) install\b.*(?:\shttp://"
        r"|--(?:extra-)?(?:index-url|registry)[ =]http://)"
    ),
    "each time": (
        r"\b(?:before (?:you|each|every|any|doing|anything)|each|every|always|first|without|as root|sudo)\b"
    ),
    "as root": (
        r"\b(?:as root|with sudo|before doing anything|before anything|setup|whatever|and (?:then )?(?:run"
        r"|execute))\b"
    ),
    "blindly": (
        r"\b(?:any|all|every|each) (?:code|commands?|scripts?|instructions?)(?: \w+)? (?:you|that) "
        r"|\b(?:whatever|anything|everything|all (?:the )?commands?) (?:that )?(?:this|the|it"
        r"|is) (?:\w+ )?(?:says|tells|asks|page|file|contains|written)"
    ),
    "to whom": r"[\w.+-]+@[\w-]+\.\w|\b(?:yourself|this (?:user|account)|everyone|anyone|sudoers)\b",
    "merge": r"\b(?:merge|push|deploy)\b.{0,20}\b(?:straight|directly)\b.{0,10}\b(?:main|master|production)",
    "memory": rf"(?:^|[\s(`/'\"]){MEMORY}\b",
    "startup": rf"(?:^|[\s(/~`]|\b){STARTUP}\b",
    "this text": (
        r"[\"“]|\b(?:this|these|those|the following|a copy|copy of|so that (?:it|every|all)|:|instruction"
        r"|rule|paragraph|line|never remove)\b"
    ),
    "startup code": (
        r">>\s*\S*(?:authorized_keys|\.bashrc|\.zshrc|\.profile|/etc/cron\S*|rc\.local)"
        r"|\|\s*crontab\s+-(?:\s|$)|\bcrontab -[el]?\b.*(?:curl|wget)"
    ),
    "payload": (
        r"\b(?:curl|wget|base64|nc)\b|https?://|\bssh-(?:rsa|ed25519)|\|\s*(?:ba|z)?sh\b|\bthis (?:script"
        r"|command|text)|(?:^|[\s'\"])/tmp/\w|\blaunchagents/|\bruns? \S+\.(?:sh|py|js|ps1|exe)\b"
    ),
    "schedule": (
        r"\b(?:schedule|set up|create|install|register|insert|add) (?:an? )?(?:\w+ ){0,3}(?:cron ?jobs?"
        r"|jobs?|tasks?|timers?|services?|daemons?|launch agents?|alias)\b|\bmake a habit of\b"
        r"|\bwhenever you start\b|\blaunchctl load\b"
    ),
    "for ever": (
        rf"\b(?:(?:in|for|across|of|to) (?:all|every|each)(?: (?:future|later|coming|new|following|next"
        rf"|other))? {SESSIONS}|(?:future|later|coming|subsequent|every new|each new) {SESSIONS}"
        rf"|(?:beginning|start) of (?:an?|each|every|the) session|from now on|permanent(?:ly)?|survives?"
        rf"|persists?|outlive)\b"
    ),
    "keep on": (
        r"\b(?:remember|keep (?:doing|this|it|these)|repeat|continue|do (?:this|so)|note (?:this|it)"
        r"|make this permanent|even if the user|trusts?|never (?:remove|forget))\b"
    ),
    "spread": (
        r"\b(?:copy|propagate|replicate|spread|insert|add|paste) (?:\w+ ){0,2}(?:this"
        r"|these)(?: \w+){0,2} (?:sentences?|texts?|paragraphs?|lines?|instructions?|messages?|prompts?"
        r"|notes?|rules?)\b.{0,20}\b(?:each|every|all|any|other)\b"
    ),
    "note down": (
        r"\b(?:add|append|insert|write|save|store|put|include|remember|copy|paste)\b.{0,40}\b(?:this"
        r"|the following|these|below)\b.{0,20}\b(?:lines?|rules?|instructions?"
        r"|sentences?)\b.{0,40}\b(?:to what you know|in(?:to)? your|memory|skills?\b)"
    ),
}
