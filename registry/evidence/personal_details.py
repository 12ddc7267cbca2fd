"""Personal data in texts, by its forms: e-mail addresses, card numbers and phone numbers.

What looks alike stays: versions, times, sizes and ids. A card number is grouped as one or is alone, begins
like those of its issuer and passes Luhn's check; a phone number is international, or grouped as in North America,
or named.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from registry.evidence.redaction import Leak

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import re2

_EMAIL: Final = r"(?:^|[^\w.%+/@-])([A-Za-z0-9][\w.%+-]*@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,24})\.?(?:$|[^\w(@/.-])"
_CARD: Final = (
    r"(?:^|[^\w.+/=-])("
    r"(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6011|65\d\d|35\d\d)(?: \d{4}){3}"
    r"|(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6011|65\d\d|35\d\d)(?:-\d{4}){3}"
    r"|(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6011|65\d\d|35\d\d)\d{12}"
    r"|3[47]\d\d(?: \d{6} \d{5}|-\d{6}-\d{5}|\d{11}))(?:$|[^\w.-]|\.(?:$|\D))"
)
_PHONE: Final = (
    r"(?:^|[^\w.+/=-])("
    r"\+[1-9]\d{0,2}[ .-]?\(?\d{1,4}\)?(?:[ .-]\d{2,8}){1,4}"
    r"|(?:1[ .-])?\([2-9]\d\d\) ?[2-9]\d\d[-. ]\d{4}"
    r"|(?:1-)?[2-9]\d\d-[2-9]\d\d-\d{4})(?:$|[^\w.-]|\.(?:$|\D))"
)
_NAMED_PHONE: Final = (
    r"(?i)\b(?:(?:tele)?phone|tel|mobile|cell|fax|whatsapp|sms)(?:[ _-]?(?:number|no|nr))?[\"'\\]{0,4}"
    r"(?:\s?[:=]\s?|\s(?:is\s)?)[\"'\\]{0,4}(\+?\(?\d[\d ().-]{5,16}\d)(?:$|[^\w.-]|\.(?:$|\D))"
)
_NOBODY: Final = re.compile(
    r"(?i)(?:git|no-?reply|do-?not-?reply)@.*"
    r"|.*[@.](?:example|test|invalid|localhost)(?:\.(?:com|org|net))?"
    r"|.*\.(?:local|internal|png|jpe?g|gif|svg|py|js|ts|service|timer|socket|target|mount)"
)
"""Addresses of nobody: of documentation (RFC 2606), of machines, and names of files and units with an at sign."""

_DIGITS: Final = b"0123456789"
_LEAST_DIGITS: Final = 7
_MOST_DIGITS: Final = 15
"""Of a phone number, E.164."""


def personal_data_in(texts: Iterable[str]) -> tuple[Leak, ...]:
    """Find the personal data in these texts; redaction takes it out wherever it occurs."""
    return tuple(sorted({leak for text in texts for leak in _in(text)}))


def _in(text: str) -> Iterator[Leak]:
    raw = text.encode("utf-8", "replace")
    if b"@" in raw:
        yield from (Leak("email", value) for value in _values(_EMAIL, raw) if not _NOBODY.fullmatch(value))
    if len(raw) - len(raw.translate(None, _DIGITS)) < _LEAST_DIGITS:
        return  # no number: most texts are told apart here, at a thirtieth of the time of the patterns
    yield from (Leak("card-number", value) for value in _values(_CARD, raw) if _is_card(value))
    for pattern in (_PHONE, _NAMED_PHONE):
        for value in _values(pattern, raw):
            if _LEAST_DIGITS <= sum(map(str.isdigit, value)) <= _MOST_DIGITS:
                yield Leak("phone-number", value)


def _values(pattern: str, raw: bytes) -> Iterator[str]:
    compiled, at = _compiled(pattern), 0
    while match := compiled.search(raw, at):
        yield match[1].decode()
        at = match.end(1)  # what ends a value may begin the next


@cache
def _compiled(pattern: str) -> re2._Regexp:
    import re2  # noqa: PLC0415 - texts without evidence need none

    return re2.compile(f"(?m){pattern}".encode())


def _is_card(value: str) -> bool:
    """Tell whether the digits pass Luhn's check (ISO/IEC 7812-1), and are no pattern of a few."""
    digits = [int(char) for char in value if char.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 2  # noqa: PLR2004
