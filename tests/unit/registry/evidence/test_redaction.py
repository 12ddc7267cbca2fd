"""Redaction: what is a secret goes, what only looks like one stays, and the places are right."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.evidence.redaction import Leak, may_hold_secret, named_secret, redact, without_secrets

# Put together at run time: scanners of repositories would take them for real.
SECRETS = {
    "aws-access-key": "AKIA" + "IOSFODNN7EXAMPL3",
    "github-token": "ghp_" + "a1B2" * 9,
    "gitlab-token": "glpat-" + "x1y2" * 5,
    "slack-token": "xoxb-" + "123456789012-abcdef",
    "api-key": "sk-ant-" + "api03-" + "Zz09" * 6,
    "google-key": "AIza" + "Sy01-" * 7,
    "google-token": "ya29." + "a0Af" * 8,
    "stripe-key": "sk_live_" + "4eC39HqLyjWDarjtT1zd",
    "npm-token": "npm_" + "Ab12" * 9,
    "huggingface-token": "hf_" + "Qw12" * 9,
    "sendgrid-key": "SG." + "abcd1234" * 2 + "." + "efgh5678" * 3,
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0." + "dozjgNryP4J3jVmNHl0w5N",
    "private-key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n7bq8\n-----END RSA PRIVATE KEY-----",
}
AROUND = {
    "assigned-secret": ("password=", "corr3ct-horse"),
    "assigned-token": ('"auth_token": "', "f00dfacef00d"),
    "secret-option": ("deploy --api-key ", "f00dfacef00d"),
    "url-password": ("postgres://", "ada:p@ss%word1"),
    "bearer": ("Authorization: Bearer ", "abcdef0123456789"),
    "basic-auth": ("authorization: basic ", "YWRhOmxvdmVsYWNl"),
}


@pytest.mark.parametrize(("rule", "secret"), SECRETS.items())
def test_a_secret_in_a_sentence_becomes_the_name_of_its_rule(rule: str, secret: str) -> None:
    text, marks = redact(f"it said {secret} and stopped")
    assert text == f"it said [{rule}] and stopped"
    assert [(text[mark.start : mark.end], mark.rule) for mark in marks] == [(f"[{rule}]", rule)]
    assert may_hold_secret(secret)


@pytest.mark.parametrize(("rule", "before", "secret"), [(rule, *texts) for rule, texts in AROUND.items()])
def test_a_secret_is_known_by_what_stands_before_it(rule: str, before: str, secret: str) -> None:
    after = "@db.example/x" if rule == "url-password" else ""
    assert without_secrets(f"{before}{secret}{after}") == f"{before}[{rule}]{after}"


PREFIXES = {
    "aws-access-key": (("AKIA", "ASIA", "ABIA", "ACCA"), "IOSFODNN7EXAMPL3"),
    "github-token": (("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"), "a1B2" * 9),
    "gitlab-token": (("glpat-", "gldt-", "glrt-", "glcbt-"), "x1y2" * 5),
    "slack-token": (("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"), "123456789012-abcdef"),
    "api-key": (("sk-", "sk-ant-", "sk-proj-"), "Zz09" * 6),
    "stripe-key": (("sk_live_", "sk_test_", "rk_live_", "rk_test_"), "4eC39HqLyjWDarjtT1zd"),
    "pypi-token": (("pypi-",), "Ab12" * 13),
    "digitalocean-token": (("doo_v1_", "dop_v1_", "dor_v1_"), "ab12" * 16),
}


@pytest.mark.parametrize(
    ("rule", "secret"), [(rule, first + rest) for rule, (firsts, rest) in PREFIXES.items() for first in firsts]
)
def test_a_secret_goes_by_each_prefix_that_its_rule_knows(rule: str, secret: str) -> None:
    assert without_secrets(f"it said {secret} and stopped") == f"it said [{rule}] and stopped"


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ({"password": "corr3ct-horse"}, "corr3ct-horse"),
        ({"api_key": "f00dfacef00d"}, "f00dfacef00d"),
        ({"url": "postgres://ada:p@ss%word1@db.example/x"}, "ss%word1"),
        ({"Authorization": "Basic YWRhOmxvdmVsYWNl"}, "YWRhOmxvdmVsYWNl"),
        ({"hook": "https://hooks.slack.com/services/T0000/B0000/abcdefghijkl"}, "abcdefghijkl"),
        (f"x\n{SECRETS['private-key']}", "MIIEpAIBAAKCAQEA"),
    ],
    ids=str,
)
def test_a_secret_is_known_in_json_that_stands_in_the_strings_of_json(
    value: object, secret: str, depth: int
) -> None:
    text = json.dumps(value)
    for _ in range(depth):
        text = json.dumps({"body": text})
    for written in (text, text.replace("/", "\\/")):
        assert secret not in without_secrets(written)
        assert secret in written


@pytest.mark.parametrize(
    "text",
    [
        "SyntaxError: Unexpected token: identifier",
        "KeyError: 'monkey'",
        "Table 'poker.results' doesn't exist",
        "see https://example.org/a:b for the password rules",
        "pathspec 'origin/main' did not match any file(s) known to git",
    ],
)
def test_an_ordinary_message_is_left_alone(text: str) -> None:
    assert redact(text) == (text, ())


def test_a_private_key_that_never_ends_takes_the_rest_with_it() -> None:
    assert without_secrets("x -----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNza\nC1rZXk") == "x [private-key]"


def test_secrets_that_overlap_leave_nothing_of_either() -> None:
    text, marks = redact("abcdefgh", [Leak("one", "abcd"), Leak("two", "cdef")])
    assert (text, [mark.rule for mark in marks]) == ("[one]gh", ["one"])


def test_what_another_scanner_found_goes_wherever_it_stands() -> None:
    text, marks = redact("tick tock tick", [Leak("clock", "tick"), Leak("empty", "")])
    assert text == "[clock] tock [clock]"
    assert [text[mark.start : mark.end] for mark in marks] == ["[clock]", "[clock]"]


@given(st.text(), st.sampled_from(sorted(SECRETS.values())), st.text())
@settings(derandomize=True, deadline=None, max_examples=80)
def test_no_text_is_redacted_that_the_quick_look_would_pass_over(before: str, secret: str, after: str) -> None:
    for text in (before, f"{before} {secret} {after}", f"{before}token={after}"):
        assert may_hold_secret(text) or redact(text)[1] == ()


@pytest.mark.parametrize(("name", "secret"), [("api_token", True), ("DB_PASSWORD", True), ("max_tokens", False)])
def test_a_label_is_a_secret_by_its_name(name: str, *, secret: bool) -> None:
    assert named_secret(name) is secret
