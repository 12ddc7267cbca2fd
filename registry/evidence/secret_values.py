"""Whether a value under the name of a secret is one: no placeholder, no word of a message, no piece of code."""

from __future__ import annotations

import base64
import re
from typing import Final

_PLACEHOLDER: Final = re.compile(
    r"[$%{<\[(*].*|\*+.*|\.{3,}.*|…|[xX*•.\-_?#0]+|.*(?:REDACTED|PLACEHOLDER).*|your[-_ ].*"
    r"|my[-_](?:token|key|secret|password)|sha(?:1|256|384|512)[-:].*",
    re.IGNORECASE | re.DOTALL,
)
_CODE: Final = re.compile(
    r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)*(?:[(\[{].*|\.\w+.*|\)+[;,]?|[;,]?)", re.DOTALL
)
"""A name, an attribute, a call or an index."""

_WORD: Final = re.compile(r"[A-Za-z]+[.,;:!?)]*")
_WORDS_OF_VALUES: Final = frozenset(
    """
    none null nil true false undefined nan yes no on off string str int integer bool boolean bytes number
    object any optional required missing invalid incorrect wrong expired empty unknown unset disabled
    enabled default hidden masked error failed failure success ok value file path prompt stdin keyring env
    environ environment vault text basic plain static dynamic public private auto manual char varchar type
    name self this const let var return not and or
    """.split()  # noqa: SIM905 - as a list these are eighty lines
)
_NAMES: Final = re.compile(r"(?i)secret|passw|passphrase|token|credential|key|pwd|cookie|auth")
_NO_SECRET_NAME: Final = re.compile(
    r"(?i)(?:file|path|dir|folder|url|uri|endpoint|names?|ids?|type|kind|length|len|size|counts?|num|limit|max|min|ttl"
    r"|expir\w*|expires_?(?:in|at)|policy|policies|fields?|input|label|prompt|hint|regex|pattern|version|usage|used"
    r"|index|budget|rate|cost|tokens|tokenizer|tokenize\w*|strategy|algorithm|status|state|arn|ref|manager|provider"
    r"|store|mode|method|class)$"
    r"|^(?:max|min|num|n|total|input|output|prompt|completion|cached|reasoning|public)[_-]"
)
_WHERE: Final = re.compile(r"(?:/|~/|\.{1,2}/|[A-Za-z]:[\\/]|file:|https?://[^@\s]*$).*")
_QUOTES: Final = frozenset("\"'`")
_PORT: Final = re.compile(r"[^:]*:\d+/")
_ATTRIBUTE: Final = re.compile(r"(?:self|this|cls|args|config|settings|os|process|env|request|options)\.[A-Za-z_]")
_CALL: Final = re.compile(r"[A-Za-z_][\w.]*[(\[]")
_SIGN_INSIDE: Final = re.compile(r"\w[!@#$%^&*+=~?][^\s]")
_LAST_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_SHORT_FOR_PASSWORD: Final = ("pass", "pw", "psw")
_ONE_WORD: Final = (*_SHORT_FOR_PASSWORD, "dbpass", "userpass", "mypass")
_WEAK_NAMES: Final = frozenset(
    [
        "pin",
        "otp",
        "auth",
        "key",
        "sig",
        "signature",
        "sid",
        "session",
        "sessionid",
        "id",
        "cookie",
        "nonce",
        "cred",
        "creds",
        "salt",
    ]
)


def is_secret(value: str, name: str, before: str, demand: str) -> bool:
    """Tell whether a value counts, by what its rule demands.

    `name` is what it is given to, "" for none; `before` is the character before it, such as a quotation mark.
    """
    if not demand:
        return True
    value = value.strip()
    if demand == "login":
        _, colon, password = value.partition(":")
        return (
            bool(colon and password)
            and not _PORT.match(value)
            and not _WHERE.fullmatch(value)
            and not _PLACEHOLDER.fullmatch(password)
        )
    if demand == "made up":
        return _has_digit(value) and len(set(value)) >= 8  # noqa: PLR2004 - fewer signs are no key
    if _is_none(value, name):
        return False
    if before.isspace() and demand not in {"given", "option"} and _CODE.fullmatch(value) and not _has_digit(value):
        return False  # after a blank, without quotation marks, a word belongs to a sentence or a program
    return _DEMANDS[demand](value, name) or (demand == "told" and before in _QUOTES and " " not in value)


def _is_none(value: str, name: str) -> bool:
    """Tell a placeholder, a word that says something about a secret, a path, code, or a name of something else."""
    plain = value.rstrip(".,;:!?)")
    return (
        len(value) < 3  # noqa: PLR2004
        or _PLACEHOLDER.fullmatch(value) is not None
        or plain.lower() in _WORDS_OF_VALUES
        or _NO_SECRET_NAME.search(name) is not None
        or _WHERE.fullmatch(value) is not None
        or _CALL.match(value) is not None
        or (value[0] in ",;:)]}" and value[1:2] in {"", " "})  # a quotation mark before it closed another text
        or (_NAMES.search(value) is not None and (_CODE.fullmatch(plain) is not None or " " in value))
        or _ATTRIBUTE.match(value) is not None
    )


def _has_digit(value: str) -> bool:
    return any(char.isdigit() for char in value)


def _is_mixed(value: str) -> bool:
    """Tell whether a value is more than a word: digits, or signs inside."""
    return _has_digit(value) or _SIGN_INSIDE.search(value) is not None


def _looks_random(value: str, name: str) -> bool:
    """Tell what is long and mixed from a word, a number, an id or a count."""
    del name
    letters = any(char.isalpha() for char in value)
    return len(value) >= 8 and _has_digit(value) and letters and " " not in value  # noqa: PLR2004


def _of_weak_name(value: str, name: str) -> bool:
    words = [word.lower() for word in _LAST_WORD.findall(name)] or [name]
    last = words[-1]
    if last.endswith(_SHORT_FOR_PASSWORD):
        of_something = len(words) > 1 and last in _SHORT_FOR_PASSWORD
        return of_something or (last in _ONE_WORD and _is_mixed(value) and not value.isdigit())
    return last in _WEAK_NAMES and len(value) >= 20 and _looks_random(value, name)  # noqa: PLR2004 - others are ids


def _of_option(value: str, name: str) -> bool:
    del name
    return not value.startswith("-") and (len(value) >= 8 or _is_mixed(value))  # noqa: PLR2004 - words of a help text


def _told(value: str, name: str) -> bool:
    del name
    return _is_mixed(value.strip(".,;:!?)\"'"))


def _any(value: str, name: str) -> bool:
    del value, name
    return True


def _no_scheme(value: str, name: str) -> bool:
    del name
    return value.lower() not in _SCHEMES


_SCHEMES: Final = frozenset("bearer basic digest token apikey negotiate".split())  # noqa: SIM905
_DEMANDS: Final = {
    "strong": _any,
    "given": _any,
    "weak": _looks_random,
    "weak name": _of_weak_name,
    "option": _of_option,
    "told": _told,
    "authorization": _no_scheme,
}


_URL_SAFE: Final = bytes.maketrans(b"-_", b"+/")


def unwrapped(run: bytes) -> bytes:
    """Give the text that a run of base64 encodes, b"" where that is no text."""
    bare = run.rstrip(b"=").translate(_URL_SAFE)
    try:
        raw = base64.b64decode(bare + b"=" * (-len(bare) % 4), validate=True)
        text = raw.decode()
    except ValueError:
        return b""
    return raw if all(char.isprintable() or char in "\r\n\t" for char in text) else b""
