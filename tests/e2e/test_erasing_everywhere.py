"""Erasing a person's text: from what a model was shown while it worked, and from what is read again afterwards."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from registry.actions.erase_evidence import erase
from registry.decide.commands import RecordFact
from registry.evidence.record import LogRecord as Raw
from registry.evidence.record import keep
from registry.query.model_prompts import may_quote
from tests.anthropic_stub import AnthropicStub
from tests.messages_agent import bench, finish, greeting, sh
from tests.registries import raised_signal

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry

TEXT = 'cannot open the vault of Ada Lovelace:\n  no "key" at /home/ada'


def evidence_of(registry: Registry, text: str) -> str:
    """Keep a text as the evidence of a signal, and return its id."""
    kept = keep(Raw("run.jsonl", 1, 0, 9, b"raw", text, "e1"), salt="00" * 16)
    name = registry.log.put_blob(kept.to_bytes(), kind="evidence")
    signal = raised_signal(fingerprint="f", episodes=2, evidence=(name,))
    registry.execute(RecordFact((signal,)))
    return name


def test_a_run_whose_model_read_an_erased_text_loses_what_was_said(registry: Registry, tmp_path: Path) -> None:
    name = evidence_of(registry, TEXT)
    task = greeting().model_copy(update={"files": {"run.jsonl": json.dumps({"error_text": TEXT})}})
    with AnthropicStub() as stub, bench(registry, stub, tmp_path) as made:
        trial = made.trial(sh("cat run.jsonl"), finish(), task=task)
        other = made.trial(sh("true"), finish())
    before = may_quote(registry)
    assert b"Lovelace" in (registry.log.get_blob(trial.transcript) or b"")
    erase(registry, [name], "Ada asked")
    left = may_quote(registry)
    assert [blob for blob in left if b"Lovelace" in (registry.log.get_blob(blob) or b"")] == []
    assert (registry.log.get_blob(trial.transcript), len(left) < len(before)) == (None, True)
    assert registry.log.get_blob(other.transcript) is not None
    assert registry.log.verify().problems == ()
