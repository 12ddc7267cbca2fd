"""The vocabulary of text that instructs an agent against its user, as patterns of google-re2."""

from __future__ import annotations

from typing import Final


def forms(verbs: str) -> str:
    """Write verbs in every form: send also matches sends and sending."""
    return "|".join(
        f"{verb[:-1]}(?:e|es|ed|ing)" if verb[-1] == "e" else _regular(verb) for verb in verbs.split("|")
    )


def _regular(verb: str) -> str:
    return f"{verb[:-1]}(?:y|ies|ied|ying)" if verb[-1] == "y" else f"{verb}(?:s|es|{verb[-1]}?ed|{verb[-1]}?ing)?"


OUT: Final = (
    "send|e-?mail|mail|forward|post|upload|transmit|submit|share|leak|exfiltrate|deliver|publish"
    "|transfer|disclose"
    "|zip|curl|stick|drop|slip|funnel|route|list|relay|ship|beam|sync|smuggle|attach|hand over|pass on"
    "|copy|write|encode|report|push|register|deposit|append|enter"
)
SAY: Final = (
    "print|show|display|output|echo|reveal|disclose|expose|tell me|tell us|tell them|tell anyone"
    "|repeat|return|dump|quote|recite|state|reply with"
    "|read out|leak|share|cat|send|give me|hand over|answer with|respond with"
)
PUT: Final = (
    "include|append|embed|put|add|attach|insert|paste|write|provide|mention|list|give|copy|place"
    "|report|post|contain|find"
)
DELETE: Final = (
    "delete|erase|remove|wipe|purge|destroy|drop|truncate|shred|overwrite|empty|clear|format|nuke"
    "|unlink|get rid of"
    "|discard|corrupt|clean"
)
DISABLE: Final = (
    "disable|turn off|switch off|deactivate|bypass|circumvent|skip|evade|suppress|lift|relax|weaken|get around"
    "|work around|shut off|shut down|disarm|remove|unset|ignore|override"
)
DISCARD: Final = (
    "ignore|disregard|forget|override|overrule|bypass|discard|set aside|cancel|abandon|neglect"
    "|overlook|drop|dismiss"
    "|pay no attention to|scrap|throw away|throw out|leave aside|put aside|disobey|stop following"
    "|stop obeying|unlearn|break|violate|not follow|not obey|not heed|never mind"
)
RUN: Final = "run|execute|invoke|call|use|install|download|fetch|open|start|restart|launch|commit|load|trigger"
WRITE: Final = (
    "add|append|insert|write|save|store|put|copy|paste|update|edit|note|record|install|modify|persist|keep|place"
    "|include|register|remember|plant"
)
KEYS: Final = (
    r"(?:(?:api|access|private|ssh|secret|signing|encryption|gpg|aws|deploy|session|auth\w*|bearer"
    r"|login|host|git\w*)[ _-]?(?:keys?|tokens?|cookies?|secrets?|details)|credentials?|passwords?"
    r"|passwd|passphrases?|secrets?|cookies?|id_rsa|id_ed25519|(?:deploy|ssh|secret) (?:keys?|folder)"
    r"|output of `?(?:env|printenv)`?|payment \w+|kubeconfig|keychain|keyring"
    r"|env(?:ironment)? ?var(?:iable)?s?|seed phrase|credit cards?|bank details|recovery codes?|(?:all"
    r"|our) keys|one-time codes?|tokens|\w*(?:secret|token|password|api_key|access_key)\w*)"
)
KEY_FILES: Final = (
    r"(?:\.ssh\b|id_rsa|id_ed25519|(?:^|[^\w.])\.env\b|\.aws\b|\.netrc|\.pgpass|\.npmrc|\.kube\b"
    r"|/etc/(?:shadow|passwd)|\.gnupg)"
)
DATA: Final = (
    r"(?:(?:this|the|whole|entire|full|chat|our) (?:conversation|chat|dialogue|session)"
    r"|conversation history|chat (?:history|logs?)|(?:system|developer|initial|hidden) (?:prompts?"
    r"|messages?|instructions)|source code|client list|list of \w+|customer(?:s'|'s)? (?:records|data"
    r"|lists?|details|e?-?mails|names|information)|phone numbers|salar(?:y|ies)|payroll|spreadsheets?"
    r"|config files?|saved \w+|bank \w+|(?:personal|private|internal|confidential|sensitive|user"
    r"|medical) (?:data|files|documents|notes|messages|information|details|records)|(?:user|customer"
    r"|owner|client)(?:'s|s') \w+|~/documents|(?:all|every|your) (?:the )?(?:e?-?mails|memor(?:y|ies))"
    r"|browsing history|inbox|address book|home (?:folder|directory)|contents? of (?:your|all|every"
    r"|each) \w+)"
)
DEST: Final = (
    r"(?:(?:https?|ftp|wss?)://|\bwww\.\w|[\w.+-]+@[\w-]+\.\w|\bwebhook|\b\d{1,3}(?:\.\d{1,3}){3}\b"
    r"|\bthird[ -]part|\bexternal (?:\w+ )?(?:server|host|endpoint|address|site|url|service)|\b(?:our"
    r"|my|attacker\S*) (?:\w+ )?(?:server|endpoint|url|address|e?-?mail|site|channel|bucket|inbox)"
    r"|\bpublic (?:repo\w*|gist|bucket|channel|page)|pastebin|\bgist\b|ngrok|requestbin|\bdiscord"
    r"|telegram)"
)
RULES: Final = (
    r"(?:instructions?|prompts?|rules?|guidelines?|directions|directives?|guardrails?|constraints?"
    r"|orders|polic(?:y|ies)|restrictions?|programming|training|limitations?|guidance|safety \w+)"
)
GUARD: Final = (
    r"(?:sandbox(?:ing)?|safety|safeguards?|guardrails?|(?:permission|approval|confirmation|safety"
    r"|security|consent)(?: \w+)? ?(?:prompts?|checks?|systems?|dialogs?|steps?|requests?|controls?"
    r"|scans?|scanners?|filters?|features|polic(?:y|ies)|settings|warnings?|gates?)|confirmations?"
    r"|(?:pre-)?commit hooks?|audit(?: trail| log\w*)|firewall|antivirus|content (?:filters?|polic\w+)"
    r"|(?:code|human) (?:review|approval|oversight)|branch protection|two-factor|certificate \w+"
    r"|tls verification|signature \w+|isolation|oversight|access controls?|rate limits?|(?:mfa"
    r"|2fa|tls|ssl|auth\w*) (?:checks?|verification))"
)
THINGS: Final = (
    r"(?:files?|folders?|director(?:y|ies)|data|tables?|databases?|backups?|branch(?:es)?"
    r"|repositor(?:y|ies)|repos?|accounts?|snapshots?|records?|commits?|documents?|e?-?mails?|disks?"
    r"|drives?|workspace|projects?|users?|messages|photos)"
)
WHOLE: Final = (
    rf"(?:\b(?:all|every|each|entire|whole|complete)(?: \w+){{0,2}} {THINGS}\b|\beverything\b|\.git\b"
    rf"|\bbackups\b"
    r"|\bproduction\b|\bhome (?:folder|directory)|\broot (?:folder|directory|filesystem)"
    r"|\bhard (?:disk|drive)|\b(?:user's|users') (?:files|data|documents|home|repositor\w+|accounts?"
    r"|messages|photos|e?-?mails|projects|history|backups|disk|notes|contacts)|\bgit history"
    r"|\baudit logs?|(?:^|\s)(?:/|~/?|/etc|/home|\$home)(?:\s|$))"
)
PLAIN_PLACE: Final = (
    r"\b(?:temp(?:orary)?|tmp|caches?|cached|build|dist|node_modules|staging|tests?|generated"
    r"|intermediate|old|older|stale|unused|obsolete|artifacts?|scratch|example|dummy|duplicates?"
    r"|placeholders?|template|output|empty (?:files?|folders?|lines?|director\w+)|orphaned|expired"
    r"|trailing|whitespace|blanks?|comments|occurrences|(?:in|from|across) (?:all|every"
    r"|each) (?:files?|documents?|tables?|records?))\b"
)
ADVERBS: Final = (
    r"(?:(?:also|then|now|please|kindly|simply|just|immediately|always|quickly|silently|secretly"
    r"|quietly|first|only|directly|automatically|promptly|again|finally|to|yourself) ){0,3}"
)
LEAD: Final = (
    r"^(?:[\s>#*/•\x22\x27`(\[{<!|-]|\d+[.)]|(?:step \d+|note|important|todo|and|then|now|first|firstly|next"
    r"|finally|also|please|kindly|simply|just|immediately|always|quickly|warning|urgent|ok|so)\b[:,]?"
    r"|\w+[:\])}>]+)*"
)
DIRECTED: Final = (
    rf"(?:{LEAD}|[,(`:\]>]\s*(?:and |then |also |please )*|\b(?:please|kindly|must|shall|should"
    rf"|needs? to|ha(?:ve|s) to"
    r"|(?:required|expected|instructed|ordered|authori[sz]ed|obliged|supposed|allowed|permitted|free"
    r"|want(?:ing)? you|needs? you|like you|ask(?:s|ed)? you|you|sure|forget|remember|hesitate|fail"
    r"|step is|thing(?: to do)? is|order you|job is|task is|approved|may want|necessary|needed) to"
    r"|you (?:will|would|may|might|could)|(?:could|would|can|will) you|and|then|also|now|next|finally"
    r"|simply|just|immediately|always|first|before you|that you|you have) )"
    rf"{ADVERBS}"
)
MARK: Final = "\x01"
"""What stands where an order may begin."""
NEAR: Final = r"(?:\W+[\w'’-]+){0,%d}?\W+"
PASSIVE: Final = r"\b(?:must|have to|has to|needs? to|should|shall|are to|is to) \x01?(?:\w+ )?be"
PIPED: Final = r"(?:curl|wget)\b[^|;]*\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b"
AGENT: Final = (
    r"(?:ai systems?|ai|llm|language model|assistant|agent|claude|codex|copilot|chatgpt|gemini|chat ?bot|model)s?"
)
SESSIONS: Final = (
    r"(?:sessions?|conversations?|chats?|tasks?|runs?|requests?|interactions?|repl(?:y|ies)|responses?|answers?)"
)
BOSS: Final = (
    r"(?:(?:system |your |the )*(?:administrators?|admin|developers?|operator|owner|creators?"
    r"|maintainers?|makers?|security team|management|ceo|cto|it department|root|superuser)"
    r"|your creators|anthropic|openai|google|microsoft|corporate it|it security)"
)
MEMORY: Final = (
    r"(?:claude\.md|agents\.md|gemini\.md|(?:this|your|every|each|into|to) skill\.md|\.cursorrules"
    r"|copilot-instructions|system prompt(?: file)?|(?:your|long-term|persistent|project|agent'?s?"
    r"|assistant'?s?)(?: \w+)? (?:memory|preferences|notes|instructions|knowledge)"
    r"|all (?:other )?skills|each skill|every skill|other skills|your (?:config\w*|settings))"
)
STARTUP: Final = (
    r"(?:crontab|cron(?: ?job)?|\.(?:bashrc|zshrc|profile|bash_profile|zprofile)|authorized_keys"
    r"|systemd|launch ?(?:agent|daemon)|launchd|startup|autostart|(?:post|pre)-\w+ hook|git hooks?"
    r"|\.git/hooks|login item|rc\.local|scheduled task)"
)
