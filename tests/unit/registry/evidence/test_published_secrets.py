"""The published rules find their own kinds, bare, in JSON and in JSON in JSON, and nothing in plain code."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from bench.secrets import FORMS, Sampler, recall_of
from registry.evidence.published_secrets import published_in, published_rules
from registry.evidence.redaction import may_hold_secret, redact


def test_of_every_kind_samples_are_found_in_every_form() -> None:
    sampler = Sampler(5)
    shares = [recall_of(rule, sampler, samples=1) for rule in published_rules()]
    assert len(shares) >= 400
    for form in FORMS:
        assert sum(share[form] for share in shares) / len(shares) >= 0.98


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("it is dop_v1_" + "0a1b2c3d" * 8 + ".", "it is [digitalocean-token]."),
        ("AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 1 + "Q9" * 13, "[age-key]"),
        ("shown vcp_" + "aB3" * 18 + "aB, next", "shown [vercel-personal-access-token], next"),
        ('{\\"datadog_id\\": \\"' + "0a1b2c3d" * 4 + '\\"}', '{\\"datadog_id\\": \\"[datadog-api-key]\\"}'),
    ],
)
def test_a_token_goes_with_or_without_a_name_beside_it(text: str, left: str) -> None:
    assert may_hold_secret(text)
    assert redact(text)[0] == left


@pytest.mark.parametrize(
    "text",
    [
        "tss_handshake_traffic_secret_label and lip_sync_frame_handler",
        "datadog: enabled, twitter = https://x.org/a, sentry=off",
        "cog_" + "a" * 52,
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ],
)
def test_words_and_hashes_are_no_tokens(text: str) -> None:
    assert list(published_in(text.encode())) == []


def test_the_standard_library_holds_no_token() -> None:
    folder = Path(sysconfig.get_path("stdlib"))
    files = [path.read_bytes() for path in sorted(folder.glob("*.py")) + sorted(folder.glob("[ae]*/*.py"))]
    assert [hit for raw in files for hit in published_in(raw)] == []
