"""Evidence in an archive: people read the message that it stands for, not the bytes that hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.inspect_stand_in import Record, archive_body, stand_in
from tests.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def sample(number: int) -> Record:
    call = {"id": "k", "function": "add", "arguments": {"x": number}}
    error = {"type": "timeout", "message": f"the adder is out of order, ticket {number}0é"}
    messages: list[Record] = [
        {"role": "user", "content": f"add {number} and 2"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "k", "content": "", "error": error},
        {"role": "assistant", "content": "I cannot add."},
    ]
    return {"id": f"s{number}", "epoch": 1, "messages": messages, "scores": {"x": {"value": "I"}}}


def test_evidence_in_an_archive_is_shown_as_its_message_with_its_place_in_the_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch)
    germline = Terminal(tmp_path).with_skill()
    germline.write("logs/sums.eval", archive_body([sample(number) for number in range(4)]))
    assert germline.does("scan", "logs", "--json").json["errors"] == 4
    signals = germline.does("signals", "--json").json["signals"]
    (pieces,) = [signal["evidence"] for signal in signals if signal["kind"] == "error_template"]
    evidence = [germline.does("evidence", "show", piece, "--json").json for piece in pieces]
    assert {(piece["line"], piece["still_there"]) for piece in evidence} == {(3, True)}
    assert {piece["text"] for piece in evidence} == {f"the adder is out of order, ticket {n}0é" for n in range(4)}
    shown = germline.does("evidence", "show", pieces[0]).out
    assert "sums.eval, message 3 of a packed sample, byte " in shown
    assert "\n  the adder is out of order, ticket " in shown
    germline.write("logs/sums.eval", archive_body([sample(number) for number in range(4, 8)]))
    assert "no longer there" in germline.does("evidence", "show", pieces[0]).out
