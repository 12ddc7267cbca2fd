"""What secrets look like: patterns for google-re2, which reads any text in linear time.

A secret is known by itself (what its issuer puts in front, a key block), by the name that it is given to, or by
the command that takes it. Names, forms of assignment and quotes are put together here: each is written once.
Patterns are on bytes; the group `secret`, else the whole match, is what goes. Rules follow gitleaks in name where
it has the same.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class SecretRule(NamedTuple):
    """A pattern, and how far the value that it finds is looked at before it counts (secret_values.py).

    `weak` values must look made up; `strong` ones must only not be a placeholder or a piece of code; "" takes all.
    """

    name: str
    pattern: str
    values: str = ""


STRONG: Final = (
    r"secret|passw(?:or)?d|passwrd|passphrase|passcode|pwd|credentials?|connection[_-]?string"
    r"|(?:api|access|account|private|auth|signing|encryption|encrypt|master|client|service|shared|storage|license|admin"
    r"|subscription|deploy|webhook|app|application|consumer|ssh|functions?|host)[_-]?key"
)
"""What secrets are called, whatever stands before and behind it in the name."""

COUNTED: Final = r"token|bearer|jwt"
"""A parser names tokens too, and a bill counts them."""

WEAK: Final = (
    r"pass|pw|psw|pin|otp|auth|key|sig|signature|sid|session(?:[_-]?id)?|cookie|nonce|cred|creds|salt|hash[_-]?key"
)
"""What is a secret only by such a name and by what it looks like."""

_BACK: Final = r"\\{0,7}"
"""JSON in the strings of JSON puts one backslash before a quotation mark, then three, then seven."""

_GIVES: Final = rf"""(?:{_BACK}["'`])?\]?\s*(?::=|=>|==?|:)\s*"""
"""`=`, `:` and `=>` behind a name, which may stand in quotation marks, or in the brackets of `environ["NAME"]`."""

_INSIDE: Final = r"[\w!@#$%^&*+~.-]"
_IN_DOUBLE: Final = rf"""(?:[^"\\\n]|\\+[^"\\\n]|\\+"{_INSIDE})+"""
_IN_SINGLE: Final = rf"""(?:[^'\\\n]|\\+[^'\\\n]|\\+'{_INSIDE})+"""
_QUOTED: Final = rf"""{_BACK}(?:"(?P<secret>{_IN_DOUBLE})|'(?P<single>{_IN_SINGLE})|`(?P<ticked>[^`\n]+))"""
_BARE: Final = rf"""(?P<bare>[^\s"'`\\](?:[^\s"'`\\<]|["'`]{_INSIDE}|\\[^nrtu"'\\/\s])*)"""


def _assigned(names: str) -> str:
    tagged = rf"{_BACK}>(?P<tagged>[^<\n]+)<{_BACK}/"
    return rf"(?i)(?P<name>[\w.-]*(?:{names})[\w.-]*)(?:{_GIVES}(?:{_QUOTED}|{_BARE})|{tagged})"


_AUTHORIZATION: Final = rf"""\b(?:proxy-)?authorization{_GIVES}{_BACK}["'`]?"""
_OPTION_VALUE: Final = (
    rf"""(?:"(?P<secret>{_IN_DOUBLE})"|'(?P<single>{_IN_SINGLE})'|(?P<bare>[^\s"'\\][^\s"'\\]*))"""
)
_WORDS: Final = r"(?:[^\n|;&]*\s)?"
_MYSQL: Final = r"(?:mysql\w*|mariadb[\w-]*|xtrabackup|mycli)"
_TAKES_P: Final = (
    r"(?:sshpass|docker\s+login|podman\s+login|mongo\w*|az\s+login|oc\s+login|cf\s+login|scp|pscp|plink|putty)"
)
_TAKES_CAPITAL_P: Final = r"(?:zip|unzip|sqlcmd|bcp|mosquitto_(?:pub|sub)|ipmitool)"
_ISSUED: Final = {
    "aws-access-key": r"\b(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}\b|\bABSK[A-Za-z0-9+/]{80,}",
    "alibaba-key": r"\bLTAI[A-Za-z0-9]{12,}",
    "tencent-key": r"\bAKID[A-Za-z0-9]{32}",
    "github-token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    "gitlab-token": (
        r"\b(?:gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-[A-Za-z0-9_=.-]{20,}"
        r"|GR1348941[\w-]{20,})"
    ),
    "slack-token": r"\bxox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}",
    "slack-webhook": (
        r"hooks\.slack\.com\\{0,7}/(?P<secret>(?:services|workflows|triggers)\\{0,7}/[A-Za-z0-9/\\_-]{20,})"
    ),
    "discord-webhook": (
        r"discord(?:app)?\.com\\{0,7}/api\\{0,7}/webhooks\\{0,7}/(?P<secret>[0-9]+\\{0,7}/[\w-]{20,})"
    ),
    "teams-webhook": r"webhook\.office\.com\\{0,7}/(?P<secret>webhookb2\\{0,7}/[\w@/\\-]{30,})",
    "telegram-token": r"\b[0-9]{8,10}:AA[\w-]{32,}",
    "discord-token": r"\b[MNO][A-Za-z0-9_-]{23,27}\.[\w-]{6}\.[\w-]{27,}",
    "api-key": r"\bsk-[A-Za-z0-9_-]{20,}",
    "google-key": r"\bAIza[\w-]{35}",
    "google-token": r"\bya29\.[\w-]{20,}|\bGOCSPX-[\w-]{20,}|\b1//0[\w-]{30,}",
    "stripe-key": r"\b(?:[rs]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,})",
    "npm-token": r"\bnpm_[A-Za-z0-9]{36}",
    "pypi-token": r"\bpypi-[\w-]{50,}",
    "huggingface-token": r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}",
    "sendgrid-key": r"\bSG\.[\w-]{16,}\.[\w-]{16,}",
    "mailgun-key": r"\b(?:key|pubkey)-[0-9a-f]{32}\b",
    "mailchimp-key": r"\b[0-9a-f]{32}-us[0-9]{1,2}\b",
    "twilio-key": r"\bSK[0-9a-fA-F]{32}\b",
    "square-token": r"\bsq0[a-z]{3}-[\w-]{22,}|\bEAAA[\w-]{56,}",
    "shopify-token": r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    "azure-secret": r"\b[\w~.]{3}[0-9]Q~[\w~.-]{31,34}",
    "vault-token": r"\bhv[sbr]\.[\w-]{20,}",
    "terraform-token": r"\b[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,}",
    "atlassian-token": r"\bAT(?:ATT|CTT)3[\w=-]{50,}",
    "airtable-token": r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}",
    "doppler-token": r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{30,}",
    "dynatrace-token": r"\bdt0[a-z][0-9]{2}\.[A-Z0-9]{20,}\.[A-Z0-9]{50,}",
    "facebook-token": r"\bEAA[A-Za-z0-9]{60,}",
    "lob-key": r"\b(?:live|test)_[a-f0-9]{35}\b",
    "mapbox-token": r"\bsk\.eyJ[\w-]{20,}\.[\w-]{20,}",
    "nuget-key": r"\boy2[a-z0-9]{43}",
    "cloudflare-key": r"\bv1\.0-[a-f0-9]{24}-[a-f0-9]{100,}",
    "openshift-token": r"\bsha256~[\w-]{40,}",
    "fcm-key": r"\bAAAA[\w-]{7}:[\w-]{100,}",
    "artifactory-token": r"\b(?:AKCp[A-Za-z0-9]{60,}|cmVmdGtu[A-Za-z0-9]{50,})",
    "age-key": r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}",
    "dropbox-token": r"\bsl\.[\w-]{100,}",
    "octopus-key": r"\bAPI-[A-Z0-9]{26}\b",
    "yandex-key": r"\bAQVN[\w-]{35,}",
    "fly-token": r"\b(?:FlyV1 )?fm[12][a-z]?_[\w+/=,]{30,}",
    "digitalocean-token": r"\bdo[opr]_v1_[a-f0-9]{64}",
    "issued-token": (
        r"(?P<secret>\b(?:rubygems_|dckr_[op]at_|cio|gsk_|xai-|pplx-|r8_|lsv2_(?:pt|sk)_|tvly-|dapi|lin_(?:api|oauth)_"
        r"|ntn_|secret_|sbp_|nfp_|fo1_|rnd_|glc_|glsa_|sntry[su]_|pul-|pscale_(?:tkn|oauth|pw)_|PMAK-|NR(?:AK|JS|II|BR)-"
        r"|HRKU-|figd_|xkeysib-|xsmtpsib-|shippo_(?:live|test)_|duffel_(?:live|test)_|EZ[AT]K|FLWSECK[_-]|FLWSECK_TEST-"
        r"|fio-u-|tfp_|pnu_|rdme_|CLOJARS_|ico-|p8e-|s-s4t2ud-|tk-us-|ops_eyJ|fw_|phc_|phx_|sk_|ghu_|api_live_|key_live_"
        r"|lob_(?:live|test)_|vcp_|r_live_|whk_|cfut_|ctx7sk-|e2b_|fc-|jina_|nvapi-|esecret_|pat-na1-|pk_live_|hc[a-z]ik_"
        r"|sq0idp-|ATBB|LTK1|sm_|wsk_|uat_|tskey-[a-z]+-|kong_|ionic_|rpa_|csk-|AIzaSy|patch_|dt_live_|zpka_|mk_live_)"
        r"[A-Za-z0-9_=.+/-]{24,})"
    ),
}
"""What providers of accounts put into their keys, so that scanners know them."""


def _begun(pattern: str) -> str:
    """Let a key begin behind an underscore too, where a log puts it into a name."""
    begun = r"(?:\b|_)"
    first = begun + pattern.removeprefix(r"\b") if pattern.startswith(r"\b") else pattern
    return first.replace(r"|\b", "|" + begun)


RULES: Final = (
    SecretRule(
        "private-key",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\z)"
        r"|PuTTY-User-Key-File-[23]:(?s:.*?)(?:Private-MAC:[^\n]*|\z)",
    ),
    SecretRule("jwt", r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?"),
    *(
        SecretRule(name, _begun(pattern), "made up" if name == "issued-token" else "")
        for name, pattern in _ISSUED.items()
    ),
    SecretRule(
        "url-password",
        r""":(?:\\{0,7}/){2}(?P<secret>[^\s/:@"'<>\\]*:[^\s"'<>@]+(?:@[^\s/"'<>@]+)*)@""",
        "login",
    ),
    SecretRule("url-token", r""":(?:\\{0,7}/){2}(?P<secret>[\w-]{20,})@""", "weak"),
    SecretRule("basic-auth", rf"""(?i){_AUTHORIZATION}basic\s+(?P<secret>[A-Za-z0-9+/=_-]{{6,}})"""),
    SecretRule(
        "authorization",
        rf"""(?i){_AUTHORIZATION}(?:(?:digest|token|apikey|aws4-hmac-sha256|negotiate|ntlm|hawk|key)\s+)?"""
        r"""(?P<secret>[^\s"'\\]{8,}(?:, ?[^"'\\\n]*)?)""",
        "authorization",
    ),
    SecretRule("bearer", r"(?i)\bbearer\s+(?P<secret>[A-Za-z0-9._~+/=-]{16,})"),
    SecretRule(
        "cookie", rf"""(?i)\b(?:set-)?cookie2?{_BACK}["']?\s*:\s*{_BACK}["']?(?P<secret>[\w.-]+=[^"'\\\n]+)"""
    ),
    SecretRule("cookie", rf"""(?i)\bcurl\s{_WORDS}(?:-b|--cookie)[ =]?["']?(?P<secret>[\w.-]+=[^"'\\\n]+)"""),
    SecretRule("assigned-secret", _assigned(STRONG), "strong"),
    SecretRule(
        "assigned-secret",
        rf"""(?i)\(\s*{_BACK}["'](?P<name>[\w.-]*(?:{STRONG})[\w.-]*){_BACK}["']\s*,\s*{_QUOTED}""",
        "strong",
    ),
    SecretRule("assigned-token", _assigned(COUNTED), "weak"),
    SecretRule("assigned-secret", _assigned(WEAK), "weak name"),
    SecretRule(
        "secret-option",
        rf"(?i)(?:^|[\s\"'(=`\[,])--?(?P<name>[\w-]*(?:{STRONG}|{COUNTED})[\w-]*)(?:[\"'],?)?[\s,]+{_OPTION_VALUE}",
        "option",
    ),
    SecretRule(
        "secret-option",
        rf"\b(?:curl|https?|xh|wget)\s{_WORDS}(?:-u|-U|--user|--proxy-user|-a|--auth)[\s=]*{_OPTION_VALUE}",
        "login",
    ),
    SecretRule("secret-option", rf"\b{_MYSQL}\s{_WORDS}-p{_OPTION_VALUE}", "given"),
    SecretRule("secret-option", rf"\b{_TAKES_P}\s{_WORDS}(?:-p|-pw)\s*{_OPTION_VALUE}", "given"),
    SecretRule("secret-option", rf"\b{_TAKES_CAPITAL_P}\s{_WORDS}-P\s*{_OPTION_VALUE}", "given"),
    SecretRule("secret-option", rf"\bredis-cli\s{_WORDS}(?:-a|--pass)\s*{_OPTION_VALUE}", "given"),
    SecretRule("secret-option", rf"\b(?:ldap\w+|ldapsearch)\s{_WORDS}-w\s*{_OPTION_VALUE}", "given"),
    SecretRule("secret-option", rf"\b(?:7z[ar]?|rar|unrar)\s{_WORDS}-(?:p|hp){_OPTION_VALUE}", "given"),
    SecretRule(
        "secret-option",
        rf"\b(?:smbclient|rpcclient|smbmap|mount\.cifs|net)\s{_WORDS}-U\s*[^\s%]+%{_OPTION_VALUE}",
        "strong",
    ),
    SecretRule("secret-option", rf"\s-pass(?:in|out)?\s+pass:{_OPTION_VALUE}"),
    SecretRule("secret-option", rf"\bhtpasswd\s+-\w*b\w*\s+\S+\s+\S+\s+{_OPTION_VALUE}", "given"),
    SecretRule("secret-option", rf"\bvault\s+login\s+(?:-\S+\s+)*{_OPTION_VALUE}", "weak"),
    SecretRule("secret-option", r"\bsqlplus\s+(?:-\S+\s+)*[\w.$-]+/(?P<secret>[^\s@]+)@"),
    SecretRule(
        "secret-option",
        rf"\becho\s+(?:-n\s+)?{_OPTION_VALUE}\s*\|\s*(?:sudo\s+-S|(?:sudo\s+)?passwd\s|docker\s+login)",
        "strong",
    ),
    SecretRule("netrc-password", rf"\blogin\s+\S+\s+password\s+{_OPTION_VALUE}", "given"),
    SecretRule(
        "told-secret",
        rf"""(?i)\b(?P<name>{STRONG}|{COUNTED}|api key|access key|pass|pin)"""
        r"""(?:\s+(?:for|of|to)\s+(?:[\w.@'-]+\s+){1,3}?)?"""
        rf"""\s+(?:is|was|are|to|now|set to|changed to|will be|=|:)\s*:?\s+{_OPTION_VALUE}""",
        "told",
    ),
)
"""Every rule; where two find the same place, the one that begins first and reaches further names it."""
