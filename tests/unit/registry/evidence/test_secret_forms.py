"""How far redaction reaches: made-up secrets in many forms, the project's own texts, and its time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from registry.evidence.event_texts import cleaned
from registry.evidence.redaction import may_hold_secret, redact, secret_lines, without_secrets
from strategies.episodes.error_fingerprint import normalised
from tests.registries import raised_signal
from tests.secret_forms import ISSUED, Planted, issued, kept_aside, leaks, planted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from events.types.registry_events import SignalRaised

ROOT = Path(__file__).resolve().parents[4]
EVERY = tuple(planted())


def leaked(some: Iterable[Planted], clean: Callable[[str], str] = without_secrets) -> list[str]:
    return [
        f"{sample.kind}, {sample.form}: {sample.text}"
        for sample in some
        if leaks(clean(sample.text), sample.secret)
    ]


def of(*, aside: bool, marked: bool) -> list[Planted]:
    return [sample for sample in EVERY if kept_aside(sample.kind) == aside and (sample.kind in ISSUED) == marked]


def raised(text: str) -> SignalRaised:
    """Give a signal as a log would name it."""
    return raised_signal("recurring_error", fingerprint="0" * 32, template=text, action=text, runs=(text,))


@pytest.mark.parametrize(("aside", "most"), [(False, 0.0), (True, 0.05)])
def test_keys_that_their_issuers_mark_go_in_every_form(*, aside: bool, most: float) -> None:
    some = of(aside=aside, marked=True)
    assert len(some) > 390
    assert len(left := leaked(some)) <= most * len(some), left


@pytest.mark.parametrize(("aside", "most"), [(False, 0.01), (True, 0.02)])
def test_passwords_go_in_every_form_that_says_what_they_are(*, aside: bool, most: float) -> None:
    some = of(aside=aside, marked=False)
    assert len(some) > 220
    assert len(left := leaked(some)) <= most * len(some), left


@pytest.mark.parametrize(
    "text",
    [
        "error: Cookie: theme=dark; session=tr0ubdor",
        "error: curl -u ada:tr0ubdor https://example.org failed",
        "error: mysql -u root -ptr0ubdor shop: access denied",
        "error: sshpass -p tr0ubdor ssh ada@example.org: refused",
        "error: the password is tr0ubdor, and it was refused",
        "error: cannot decode cGFzc3dvcmQ9dHIwdWJkb3IK",
        "error: login as ada with pwd=tr0ub&dor failed",
        "error: DB_PASS=tr0ub;dor was refused",
    ],
)
def test_no_template_and_no_event_takes_up_a_secret(text: str) -> None:
    for kept in (normalised(text), cleaned(raised(text)).model_dump_json()):
        assert not any(part in kept for part in ("tr0ub", ";dor", "&dor", "dHIwdWJkb3"))


def test_no_event_takes_up_what_redaction_knows_in_any_form() -> None:
    for sample in EVERY[::3]:
        written, known = cleaned(raised(sample.text)), without_secrets(sample.text)
        assert (written.template, written.action, written.runs) == (known, known, (known,))


def test_what_is_clean_enters_an_event_as_it_is() -> None:
    event = raised("KeyError: <*> is no column")
    assert cleaned(event) is event


def test_the_quick_look_passes_over_no_text_that_is_redacted() -> None:
    assert all(may_hold_secret(sample.text) or not redact(sample.text)[1] for sample in EVERY)


def test_the_projects_own_texts_hold_next_to_no_false_alarm() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "strategies").rglob("*.py")]
    lines = sorted({line for page in pages for line in page.read_text(encoding="utf-8").splitlines()})
    assert len(lines) > 20_000
    blocks = [
        lines[start : start + 50] for start in range(0, len(lines), 50)
    ]  # a line that alarms does so among others
    alarming = [block for block in blocks if redact("\n".join(block))[1]]
    alarms = [line for block in alarming for line in block if redact(line)[1]]
    assert len(alarms) <= 3, alarms


@pytest.mark.parametrize(
    "piece",
    [
        "eyJ-",
        "password",
        "a.",
        "-----BEGIN PRIVATE KEY-----",
        '\\"',
        "://a:",
        "token=",
        "--secret ",
        "A" * 50,
        *("curl -u ", 'token=\\"a ', "password: {", "pass=x,", "the token is "),
    ],
)
def test_a_text_ten_times_as_long_takes_about_ten_times_as_long(piece: str) -> None:
    def spent(size: int) -> float:
        text = (piece * size)[:size]
        began = time.process_time()
        redact(text)
        return time.process_time() - began

    spent(100)
    assert min(spent(40_000) for _ in range(2)) < 40 * max(min(spent(4_000) for _ in range(3)), 0.001)


def test_places_of_secrets_are_told_by_line_without_the_secret() -> None:
    assert secret_lines(f"one\nkey {issued('github')}\n\nDB_PASSWORD=tr0ubdor\n") == [
        (2, "github-token"),
        (4, "assigned-secret"),
    ]
