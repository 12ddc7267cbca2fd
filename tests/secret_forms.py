"""Made-up secrets of many kinds in many forms, the same ones at every run, and none of them real.

Kinds are divided in two by their names: rules are written against one half, and the other, kept aside, says how
far they reach.
"""

from __future__ import annotations

import base64
import json
import re
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import TYPE_CHECKING, Final, NamedTuple
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterable

ALNUM, HEX, WORD = ascii_letters + digits, "0123456789abcdef", f"{ascii_letters}{digits}_-"
UPPER = ascii_uppercase + digits

ISSUED: Final = {
    "adafruit": ("aio_", ALNUM, 28),
    "age": ("AGE-SECRET-KEY-1", UPPER, 58),
    "airtable": ("pat", ALNUM, 14, ".", HEX, 64),
    "alibaba": ("LTAI", ALNUM, 20),
    "anthropic": ("sk-ant-api03-", WORD, 93),
    "artifactory": ("AKCp", ALNUM, 69),
    "atlassian": ("ATATT3", WORD, 180),
    "aws": ("AKIA", UPPER, 16),
    "aws_session": ("ASIA", UPPER, 16),
    "azure_ad": ("", ALNUM, 3, "8Q~", ALNUM, 34),
    "clojars": ("CLOJARS_", ascii_lowercase + digits, 60),
    "cloudflare_ca": ("v1.0-", HEX, 24, "-", HEX, 146),
    "databricks": ("dapi", HEX, 32),
    "deepseek": ("sk-", HEX, 32),
    "digitalocean": ("dop_v1_", HEX, 64),
    "discord_hook": ("https://discord.com/api/webhooks/", digits, 18, "/", WORD, 68),
    "docker_hub": ("dckr_pat_", WORD, 27),
    "doppler": ("dp.pt.", ALNUM, 43),
    "duffel": ("duffel_live_", WORD, 43),
    "dynatrace": ("dt0c01.", UPPER, 24, ".", UPPER, 64),
    "easypost": ("EZAK", ALNUM, 54),
    "facebook": ("EAA", ALNUM, 120),
    "figma": ("figd_", WORD, 40),
    "flutterwave": ("FLWSECK_TEST-", HEX, 32, "-X"),
    "fly": ("FlyV1 fm2_", ALNUM, 120),
    "frameio": ("fio-u-", WORD, 64),
    "github": ("ghp_", ALNUM, 36),
    "github_app": ("ghs_", ALNUM, 36),
    "github_fine": ("github_pat_", ALNUM, 82),
    "gitlab": ("glpat-", WORD, 20),
    "gitlab_runner": ("GR1348941", WORD, 20),
    "gitlab_trigger": ("glptt-", HEX, 40),
    "google": ("AIza", WORD, 35),
    "google_oauth": ("ya29.", WORD, 120),
    "google_secret": ("GOCSPX-", WORD, 28),
    "grafana": ("glsa_", ALNUM, 32, "_", HEX, 8),
    "grafana_cloud": ("glc_", ALNUM, 60),
    "groq": ("gsk_", ALNUM, 52),
    "harness": ("pat.", WORD, 22, ".", HEX, 24, ".", ALNUM, 20),
    "heroku": ("HRKU-AA", WORD, 58),
    "huggingface": ("hf_", ascii_letters, 34),
    "huggingface_org": ("api_org_", ascii_letters, 34),
    "infracost": ("ico-", ALNUM, 32),
    "intra42": ("s-s4t2ud-", HEX, 64),
    "jwt": ("eyJhbGciOiJIUzI1NiJ9.eyJ", WORD, 40, ".", WORD, 43),
    "langsmith": ("lsv2_pt_", HEX, 32, "_", HEX, 10),
    "linear": ("lin_api_", ALNUM, 40),
    "lob": ("live_", HEX, 35),
    "mailchimp": ("", HEX, 32, "-us12"),
    "mailgun": ("key-", HEX, 32),
    "mapbox": ("sk.eyJ1", ALNUM, 60, ".", ALNUM, 22),
    "newrelic": ("NRAK-", UPPER, 27),
    "notion": ("ntn_", digits, 11, "", ALNUM, 35),
    "notion_old": ("secret_", ALNUM, 43),
    "npm": ("npm_", ALNUM, 36),
    "nuget": ("oy2", ascii_lowercase + digits, 43),
    "octopus": ("API-", UPPER, 26),
    "openai": ("sk-proj-", WORD, 74, "T3BlbkFJ", WORD, 74),
    "openai_old": ("sk-", ALNUM, 20, "T3BlbkFJ", ALNUM, 20),
    "openshift": ("sha256~", WORD, 43),
    "perplexity": ("pplx-", ALNUM, 48),
    "planetscale": ("pscale_tkn_", WORD, 43),
    "postman": ("PMAK-", HEX, 24, "-", HEX, 34),
    "prefect": ("pnu_", ALNUM, 36),
    "pulumi": ("pul-", HEX, 40),
    "pypi": ("pypi-AgEIcHlwaS5vcmc", WORD, 80),
    "readme": ("rdme_", ascii_lowercase + digits, 70),
    "replicate": ("r8_", ALNUM, 37),
    "rubygems": ("rubygems_", HEX, 48),
    "sendgrid": ("SG.", WORD, 22, ".", WORD, 43),
    "sendinblue": ("xkeysib-", HEX, 64, "-", ALNUM, 16),
    "sentry": ("sntrys_eyJ", ALNUM, 90),
    "shippo": ("shippo_live_", HEX, 40),
    "shopify": ("shpat_", HEX, 32),
    "slack": ("xoxb-", digits, 12, "-", digits, 12, "-", ALNUM, 24),
    "slack_app": ("xapp-1-A", UPPER, 10, "-", digits, 13, "-", HEX, 64),
    "slack_hook": ("https://hooks.slack.com/services/T", UPPER, 8, "/B", UPPER, 8, "/", ALNUM, 24),
    "square": ("sq0atp-", WORD, 22),
    "stripe": ("sk_live_", ALNUM, 24),
    "stripe_hook": ("whsec_", ALNUM, 32),
    "supabase": ("sbp_", HEX, 40),
    "tailscale": ("tskey-auth-", ALNUM, 17, "-", ALNUM, 32),
    "telegram": ("", digits, 10, ":AA", WORD, 33),
    "terraform": ("", ALNUM, 14, ".atlasv1.", WORD, 64),
    "twilio": ("SK", HEX, 32),
    "typeform": ("tfp_", WORD, 59),
    "vault": ("hvs.", WORD, 92),
    "xai": ("xai-", ALNUM, 80),
    "yandex": ("AQVN", WORD, 36),
}
"""Kinds of keys that their issuers mark: fixed texts, and characters with a number of them, by turns."""

PASSWORDS: Final = {
    "short": "x7q",
    "digits": "804417",
    "word": "zanzibar",
    "ampersand": "tr0ub&dor",
    "semicolon": "tr0ub;dor",
    "comma": "tr0ub,dor",
    "apostrophe": "tr0ub'dor",
    "quote": 'tr0ub"dor',
    "hash": "#tr0ub#dor",
    "equals": "tr0=ub=dor",
    "colon": "tr0:ub:dor",
    "at": "p@ss@w0rt",
    "slash": "tr0/ub/dor",
    "umlaut": "tr0übdör9",
    "long": "fR8kq2LmZx91TbWc",
    "hex": "9f86d081884c7d659a2feaa0c55ad015",
    "blank": "tr0ub dor and 3",
}
"""Passwords that are known by what stands around them alone."""


class Planted(NamedTuple):
    """A text with a secret in it; `secret` is how it is written there."""

    kind: str
    form: str
    text: str
    secret: str


MARKED: Final = {
    "sentence": "the server answered that {} is no longer valid",
    "variable": "export SOME_THING={} && make deploy",
    "argument": "deploy --to prod {} --now",
    "json": '{{"id": 7, "data": "{}", "ok": false}}',
    "error": "HTTPError: 401 for key '{}'",
    "query": "GET /v1/items?k={} HTTP/1.1",
    "dumped": '{{"body": "{{\\"data\\": \\"{}\\"}}"}}',
    "bearer": "curl -H 'Authorization: Bearer {}' https://api.example.org",
    "clone": "git clone https://x:{}@example.org/a.git",
}
NAMED: Final = {
    "env": "DB_PASSWORD={}",
    "export": 'export PGPASSWORD="{}"',
    "yaml": "  password: {}",
    "yaml quoted": "  password: '{}'",
    "toml": 'secret_key = "{}"',
    "json": '{{"user": "ada", "password": "{}"}}',
    "dumped json": '{{"body": "{{\\"pwd\\": \\"{}\\"}}"}}',
    "python": "client = connect(host, password='{}')",
    "environ": 'os.environ["DB_PASSWORD"] = "{}"',
    "setenv": 'setenv("MYSQL_PWD", "{}", 1)',
    "javascript": 'const passwd = "{}";',
    "go": 'Password: "{}",',
    "php": "'db_passwd' => '{}',",
    "xml": "<password>{}</password>",
    "properties": "spring.datasource.password={}",
    "java": "-Djavax.net.ssl.keyStorePassword={}",
    "pwd": "pwd={}",
    "pass": "DB_PASS={}",
    "dsn": "Server=db;User Id=sa;Password={}",
    "docker": "docker run -e MYSQL_ROOT_PASSWORD='{}' mysql",
    "option": "tool login --user ada --password '{}'",
    "option with equals": 'tool login --passphrase="{}"',
    "curl": "curl -u 'ada:{}' https://example.org",
    "mysql": "mysql -h db -u root -p'{}' shop",
    "sshpass": "sshpass -p '{}' ssh ada@example.org",
    "redis": "redis-cli -h cache -a '{}' ping",
    "url": "postgres://ada:{}@db.example.org/shop",
    "cookie": "Cookie: theme=dark; session={}",
    "set cookie": "< Set-Cookie: sid={}; Path=/",
    "header": "X-Api-Key: {}",
    "said": "the password is '{}'",
    "netrc": "machine example.org login ada password {}",
    "base64": None,
    "basic": None,
    "kubernetes": None,
}
"""What gives a value away as a secret."""

_QUOTED: Final = frozenset({"'", '"'})


def issued(kind: str) -> str:
    """Make a key of a kind, the same at every run."""
    random = Random(crc32(kind.encode()))
    parts, made = iter(ISSUED[kind]), ""
    for part in parts:
        made += str(part)
        letters = next(parts, None)
        if letters:
            made += "".join(random.choices(str(letters), k=int(str(next(parts)))))
    return made


def planted() -> Iterable[Planted]:
    """Give every kind in every form that can hold it."""
    for kind in ISSUED:
        for form, text in MARKED.items():
            yield Planted(kind, form, text.format(issued(kind)), issued(kind))
    for kind, secret in PASSWORDS.items():
        for form, written_as in NAMED.items():
            text = written_as or ""
            if not text:
                yield Planted(kind, form, *_wrapped(form, secret))
            elif _holds(text, secret):
                yield Planted(kind, form, text.format(secret), secret)
            elif '\\\\"' not in text and '"{}"' in text:
                written = json.dumps(secret, ensure_ascii=False)[1:-1]
                yield Planted(kind, form, text.format(written), written)


def _wrapped(form: str, secret: str) -> tuple[str, str]:
    if form == "basic":
        run = base64.b64encode(f"ada:{secret}".encode()).decode()
        return f"Authorization: Basic {run}", run
    if form == "kubernetes":
        run = base64.b64encode(secret.encode()).decode()
        return f"  db-password: {run}", run
    run = base64.b64encode(f"password={secret}\n".encode()).decode()
    return f"echo {run} | base64 -d > .env", run


def _holds(text: str, secret: str) -> bool:
    """Tell whether a form can be written with a secret: no shell, URL or file would take it otherwise."""
    before, _, after = text.partition("{}")
    if before[-1:] in _QUOTED and before[-1:] == after.lstrip("\\")[:1]:
        return before[-1] not in secret
    ends = {"@": "@/ #", ";": ";", "<": "<&"}.get(after[:1], "")
    return " " not in secret and not any(end in secret for end in ends)


def kept_aside(kind: str) -> bool:
    """Tell the half of the kinds that rules are not written against."""
    return bool(crc32(f"half {kind}".encode()) % 2)


def leaks(redacted: str, secret: str) -> bool:
    """Tell whether a part of a secret's end is left: five characters in a row, or all of a shorter one."""
    left, secret = re.sub(r"\[[a-z0-9-]+\]", "[]", redacted), secret[-20:]
    size = min(len(secret), 5)
    return any(secret[at : at + size] in left for at in range(len(secret) - size + 1))
