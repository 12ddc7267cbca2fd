"""A damaged document of the projection ends a command in one typed error, which names what folds it again."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Final

import pytest

from events.types.registry_events import OutcomeRecorded
from registry.actions.erase_evidence import erase
from registry.decide.commands import RecordFact
from strategies.policy.active_preset import define
from strategies.policy.preset_toml import written
from strategies.policy.presets import PRESETS
from tests.command_lines import STEPS
from tests.story_trends import tell_with_runs
from tests.terminal import Terminal
from tui.session.open_registry import open_registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

READERS: Final = {
    "capsule": ("show sql-analyst@2", "log sql-analyst"),
    "erased": ("why sql-analyst:12", "export --attest sql-analyst@2"),
    "evaluator": ("export --attest sql-analyst@2",),
    "live": ("show sql-analyst", "status"),
    "outcome": ("status",),
    "placed": ("status",),
    "preset": ("preset list", "preset show own"),
    "proposed": ("why sql-analyst:12",),
    "scored": ("show sql-analyst@best", "show sql-analyst@3"),
    "signal": ("why sql-analyst:12", "candidate show c1c1c1"),
    "snapshot": ("show sql-analyst@3",),
    "version": ("diff sql-analyst 1 2", "why sql-analyst@2:12", "show sql-analyst@2026-11-05"),
}
"""Commands that read a document of each view."""
DAMAGES: Final[dict[str, Callable[[bytes], bytes]]] = {
    "a flipped bit": lambda body: bytes([body[0] ^ 0x80]) + body[1:],
    "nothing": lambda _: b"",
    "a number": lambda _: b"7",
    "a number that no column holds": lambda _: b"9" * 400,
    "a list": lambda _: b"[7]",
    "a list of the same length": lambda _: b'[7,"","","",""]',
    "an object": lambda _: b'{"at":"noon","reason":7,"value":2,"source":"ci"}',
}


@pytest.fixture(scope="module")
def germline(own_folder: Path) -> Terminal:
    """The story, in a registry with a document of every view."""
    folder = own_folder
    path = tell_with_runs(folder)
    with open_registry(path, is_own=True) as registry:
        define(registry, written(PRESETS["balanced"].model_copy(update={"name": "own"})), "own.toml")
        (episode, *_) = registry.log.episodes()
        registry.execute(RecordFact((OutcomeRecorded(episode=episode.episode, value=1.0, source="ci"),)))
        evidence = next(signal.event.evidence for signal in registry.signals() if signal.event.evidence)
        erase(registry, evidence[:1], "Ada asked")
    return Terminal(folder, GERMLINE_REGISTRY=str(path))


@contextmanager
def damaged(germline: Terminal, view: str, damage: Callable[[bytes], bytes]) -> Iterator[None]:
    """Damage every document of a view, and mend them afterwards."""
    with closing(sqlite3.connect(germline.folder / "registry.db", isolation_level=None)) as database:
        kept = database.execute("SELECT view, key, seq, body FROM documents WHERE view = ?", [view]).fetchall()
        assert kept
        update = "UPDATE documents SET body = ? WHERE (view, key, seq) = (?, ?, ?)"
        database.executemany(update, [(damage(body), *place) for *place, body in kept])
        try:
            yield
        finally:
            database.executemany(update, [(body, *place) for *place, body in kept])


@pytest.mark.parametrize("view", READERS)
def test_a_damaged_document_ends_in_a_typed_error_that_names_what_mends_it(germline: Terminal, view: str) -> None:
    for words in READERS[view]:
        germline.does(*words.split())
        for name, damage in DAMAGES.items():
            with damaged(germline, view, damage):
                answer = germline(*words.split())
            assert answer.code == 1, (words, name, answer.err)
            assert answer.err.startswith("error  "), (words, name)
            assert "beside the events is damaged" in answer.err, (words, name)
            assert answer.hint == f"germline copy {germline.folder / 'registry.db'} NEW folds it again"


@pytest.mark.parametrize("name", [name for name in DAMAGES if name != "a number"])
@pytest.mark.parametrize("view", ["registry", "taken"])
def test_documents_that_do_not_say_how_far_they_go_are_folded_anew_unasked(
    germline: Terminal, view: str, name: str
) -> None:
    output = germline.does("preset", "list").out
    with damaged(germline, view, DAMAGES[name]):
        assert germline.does("preset", "list").out == output
        assert germline.does("show", "sql-analyst@best")


def test_a_registry_that_does_not_know_its_preset_is_told_of(germline: Terminal) -> None:
    with damaged(germline, "registry", lambda body: body.replace(b"preset", b"presit")):
        answer = germline("status")
    assert (answer.code, answer.hint.split()[:2]) == (1, ["germline", "copy"])
    assert "what the registry says of itself" in answer.err


def test_a_damaged_document_offers_nothing_to_a_shell_and_says_nothing(germline: Terminal) -> None:
    words = ("__complete", "bash", "germline candidate show c1", "")
    assert germline.does(*words).out
    with damaged(germline, "proposed", DAMAGES["a flipped bit"]):
        answer = germline.does(*words)
    assert (answer.out.strip(), answer.err) == ("", "")


def test_what_the_hint_says_folds_the_documents_again(germline: Terminal) -> None:
    healthy = germline.does("show", "sql-analyst@2").out
    for view in READERS:
        with damaged(germline, view, DAMAGES["a flipped bit"]):
            germline.does("copy", "registry.db", f"{view}.db")
        assert germline.does("--registry", f"{view}.db", "show", "sql-analyst@2").out == healthy


def test_a_damaged_session_is_told_by_status_with_what_checks_the_registry(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    germline.does("init")
    germline.write("steps.jsonl", STEPS)
    germline.does("scan", "steps.jsonl")
    with closing(sqlite3.connect(tmp_path / ".germline/registry.db")) as base:
        for (trigger,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            base.execute(f'DROP TRIGGER "{trigger}"')  # as only who writes past germline does
        base.execute("UPDATE episodes SET body = x'81a3'")
        base.commit()
    answer = germline("status")
    assert (answer.code, answer.hint) == (3, "germline verify")
    assert "a session that is kept is damaged" in answer.err
