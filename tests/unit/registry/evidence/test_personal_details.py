"""Personal data is known by its form, and what looks alike is not taken for it."""

from __future__ import annotations

import pytest

from registry.evidence.personal_details import personal_data_in
from registry.evidence.redaction import redact


def without(text: str) -> str:
    return redact(text, personal_data_in([text]))[0]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("write to ann.lee+x@wine-shop.co.uk, please", "write to [email], please"),
        ('{"to": "<Bo@firm.de>", "n": 1}', '{"to": "<[email]>", "n": 1}'),
        ('{\\"mail\\": \\"bo@firm.de\\"}', '{\\"mail\\": \\"[email]\\"}'),
        ("From: bo@firm.de.", "From: [email]."),
        ("card 4539 1488 0343 6467 expired", "card [card-number] expired"),
        ('"number": "4539148803436467"', '"number": "[card-number]"'),
        ("amex 3714-496353-98431; visa 4539-1488-0343-6467", "amex [card-number]; visa [card-number]"),
        ("call +49 30 901820 or (415) 555-2671.", "call [phone-number] or [phone-number]."),
        ("tel +1-415-555-2671, 212-555-0187", "tel [phone-number], [phone-number]"),
        (
            '{"phone_number": "09700166582", "phone": 2125550187}',
            '{"phone_number": "[phone-number]", "phone": [phone-number]}',
        ),
        ("his phone is 0171 2345678", "his phone is [phone-number]"),
    ],
)
def test_personal_data_becomes_the_name_of_its_kind(text: str, left: str) -> None:
    assert without(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "git@github.com:owner/name.git and noreply@firm.de and user@example.com",
        "npm i left-pad@1.3.0 @types/node@20.1.2 pkg@latest",
        "getty@tty1.service, x = a@b.T, icon@2x.png, root@build-7.internal",
        "order 4539148803436468, id 1234567890123456, at 1732348800000000 us",
        "4539.1488.0343.6467 and 0x4539148803436467 and a4539148803436467 and 4444444444444448",
        "version 3.11.4.20240501, 10.24.30.45:8080, 2024-11-23 10:15:30+01:00, +0100",
        "sizes 512 1024 2048 and 1,234,567,890 bytes, 555-1234, 123-456-7890",
        "@@ -120,7 +120,15 @@ and +12345678 and 1e+10 and offset +1732348800",
        "ISBN 978-3-16-148410-0, uuid 123e4567-e89b-12d3-a456-426614174000, phone = None, phone: 12",
    ],
)
def test_ids_versions_times_and_sizes_are_no_personal_data(text: str) -> None:
    assert without(text) == text
