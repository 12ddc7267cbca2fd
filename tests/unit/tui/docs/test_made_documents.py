"""The documents that are made from the code are what the code says, and leave nothing out."""

from __future__ import annotations

from pathlib import Path

import pytest

from events.types.catalogue import event_types
from strategies.claims.catalogue import KINDS
from strategies.policy.presets import PRESETS
from strategies.signals.detect import DETECTORS
from tui.docs.make_docs import documents, key_groups

DOCS = Path(__file__).resolve().parents[4] / "docs"


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return documents()


def test_the_documents_are_up_to_date(made: dict[str, str]) -> None:
    old = [name for name, text in made.items() if (DOCS / name).read_text(encoding="utf-8") != text]
    assert not old, "make them again: python -m tui.docs.make_docs"


def test_every_event_and_each_of_its_fields_is_documented(made: dict[str, str]) -> None:
    for event in event_types():
        section = made["events.md"].partition(f"\n### {event.__name__}\n")[2].partition("\n### ")[0]
        assert event.__doc__
        assert event.__doc__.splitlines()[0] in section
        assert all(f"| `{name}` |" in section for name in event.model_fields if name != "type")


def test_every_preset_signal_and_claim_is_documented(made: dict[str, str]) -> None:
    assert all(f"| `{name}` |" in made["presets.md"] for name in PRESETS)
    assert all(f"\n## {detector.kind}\n" in made["signals.md"] for detector in DETECTORS)
    for claim in KINDS:
        section = (
            made["claims.md"].partition(f"\n## {claim.model_fields['kind'].default}\n")[2].partition("\n## ")[0]
        )
        assert "As a line: " in section


def test_every_key_of_the_screens_is_documented_with_what_it_does(made: dict[str, str]) -> None:
    bindings = [key_binding for group in key_groups().values() for key_binding in group]
    assert len(bindings) > 30
    for binding in bindings:
        assert binding.tooltip
        assert f"| {binding.tooltip} | `{binding.id}` |" in made["keys.md"]
