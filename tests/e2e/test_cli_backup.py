"""backup, restore and doctor --repair, as typed: what they say, what they refuse, what they leave behind."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from shutil import copytree

import pytest

from events.sqlite.log import SqliteLog
from registry.actions.hold_edits import hold_back
from tests.contract.drafts import Pen
from tests.registries import raised_signal
from tests.terminal import Terminal
from tui.session.open_registry import open_registry


@pytest.fixture(scope="module")
def begun(own_folder: Path) -> Path:
    """Give a folder with a registry of one skill."""
    folder = own_folder
    Terminal(folder).with_skill()
    return folder


@pytest.fixture
def germline(begun: Path, tmp_path: Path) -> Terminal:
    return Terminal(copytree(begun, tmp_path / "here"))


def registry_of(germline: Terminal) -> Path:
    return germline.folder / ".germline" / "registry.db"


def moved(germline: Terminal) -> None:
    """Append something that a backup before does not have."""
    germline.does("preset", "use", "innovate", "--reason", "to have one more event")


def change_event(germline: Terminal, position: int) -> None:
    with closing(sqlite3.connect(registry_of(germline))) as connection:
        connection.execute("DROP TRIGGER events_refuse_update")
        connection.execute("UPDATE events SET actor = 'person:mallory' WHERE position = ?", (position,))
        connection.commit()


def test_a_backup_names_the_edits_that_it_cannot_hold(germline: Terminal, tmp_path: Path) -> None:
    assert germline.does("backup", tmp_path / "b.db", "--json").json["left_out"] == []
    with open_registry(registry_of(germline), is_own=True) as registry:
        (name,) = registry.names()
        file = Path(registry.capsule(name).source) / "SKILL.md"
        projected = file.read_text()
        file.write_text(projected + "- Held.\n")
        hold_back(registry, name)
    file.write_text(projected + "- Mine.\n")
    output = " ".join(germline.does("backup", tmp_path / "c.db").out.split())
    assert f"without the edit of {name} on disk: germline adopt {name}" in output
    assert f"without 1 edit of {name} held back, in" in output


def test_a_backup_is_taken_restored_and_read_as_a_registry(germline: Terminal, tmp_path: Path) -> None:
    before = germline.events()
    dry = germline.does("backup", tmp_path / "b.db", "--dry-run", "--json").json
    assert (dry["schema"], dry["dry_run"], dry["events"]) == ("germline/backup/1", True, before)
    assert not (tmp_path / "b.db").exists()
    assert f"{before} events" in germline.does("backup", tmp_path / "b.db").out
    assert germline.does("--registry", tmp_path / "b.db", "verify", "--json").json["events"] == before
    answer = germline.does("restore", tmp_path / "b.db", "--to", tmp_path / "new", "--json").json
    assert (answer["events"], answer["aside"]) == (before, None)
    assert (tmp_path / "new" / ".germline" / "registry.db").exists()


def test_a_file_that_is_there_is_replaced_only_with_yes(germline: Terminal, tmp_path: Path) -> None:
    (tmp_path / "b.db").write_text("somebody's")
    refused = germline("backup", tmp_path / "b.db")
    assert (refused.code, (tmp_path / "b.db").read_text()) == (2, "somebody's")
    assert refused.hint == f"germline backup {tmp_path / 'b.db'} --yes"
    assert germline.does("backup", tmp_path / "b.db", "--yes", "--json").json["replaced"]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("backup", ".germline/registry.db", "--yes"), 2),
        (("backup", "no/such/folder/b.db"), 2),
        (("restore", "none.db"), 2),
        (("restore", "germline.toml"), 3),
        (("restore", ".germline/registry.db"), 2),
        (("doctor", "--yes"), 2),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_hint(
    germline: Terminal, command: tuple[str, ...], code: int
) -> None:
    before = germline.events()
    refused = germline(*command)
    assert (refused.code, bool(refused.hint)) == (code, True), refused.err
    assert germline.events() == before


@pytest.mark.parametrize(
    "command",
    [("backup",), ("restore",), ("restore", "b.db", "--to")],
)
def test_an_address_where_a_file_belongs_is_refused_without_its_password(
    germline: Terminal, command: tuple[str, ...]
) -> None:
    refused = germline(*command, "postgresql://ada:hunter2@db.example/team")
    assert (refused.code, "hunter2" in refused.err + refused.out) == (2, False), refused.err
    assert "germline copy" in refused.hint


def test_a_registry_with_newer_events_is_replaced_only_with_yes_and_kept_aside(
    germline: Terminal, tmp_path: Path
) -> None:
    germline.does("backup", tmp_path / "b.db")
    before = germline.events()
    moved(germline)
    refused = germline("restore", tmp_path / "b.db")
    assert refused.code == 2
    assert f"event {before + 1}" in refused.err
    assert germline.events() == before + 1
    dry = germline.does("restore", tmp_path / "b.db", "--dry-run", "--json").json
    assert (dry["lost"]["events"], germline.events()) == (1, before + 1)
    done = germline.does("restore", tmp_path / "b.db", "--yes", "--json").json
    assert germline.events() == before
    aside = f"{done['aside']}/registry.db"
    assert germline.does("--registry", aside, "verify", "--json").json["events"] == before + 1
    moved(germline)  # and work goes on, sidecar and all
    assert germline("verify").code == 0


def test_where_only_what_a_restore_put_aside_is_left_no_command_begins_another(germline: Terminal) -> None:
    germline.does("backup", "b.db")
    before = germline.events()
    moved(germline)
    germline.does("restore", "b.db", "--yes")
    registry_of(germline).rename(germline.folder / "gone.db")
    for words in (("status",), ("init",), ("init", "--dry-run")):
        refused = germline(*words)
        assert (refused.code, refused.hint.startswith("germline restore ")) == (2, True), words
        assert not registry_of(germline).exists()
    germline.does(*refused.hint.removeprefix("germline ").partition("   or ")[0].split())
    assert germline.events() == before + 1


def test_a_registry_that_cannot_be_read_is_replaced_only_with_yes(germline: Terminal, tmp_path: Path) -> None:
    germline.does("backup", tmp_path / "b.db")
    registry_of(germline).write_bytes(b"no database at all, " * 500)
    refused = germline("restore", tmp_path / "b.db")
    assert (refused.code, "cannot be told" in refused.err) == (2, True)
    aside = germline.does("restore", tmp_path / "b.db", "--yes", "--json").json["aside"]
    assert (tmp_path / aside / "registry.db").read_bytes().startswith(b"no database")
    assert germline("verify").code == 0


def test_there_is_nothing_to_repair_in_a_registry_that_holds(germline: Terminal) -> None:
    body = registry_of(germline).read_bytes()
    assert "nothing to repair" in germline.does("doctor", "--repair", "--yes").out
    assert germline.does("doctor", "--repair", "--json").json["problems"] == []
    assert registry_of(germline).read_bytes() == body


def test_a_repair_says_what_is_lost_and_keeps_the_damaged_bytes_aside(germline: Terminal) -> None:
    last = germline.events()
    change_event(germline, last)
    damaged = registry_of(germline).read_bytes()
    assert "event" in germline.does("doctor", "--repair", "--dry-run").out
    refused = germline("doctor", "--repair")
    assert (refused.code, refused.hint) == (2, "germline doctor --repair --yes")
    assert registry_of(germline).read_bytes() == damaged
    repair = germline.does("doctor", "--repair", "--yes", "--json").json
    # The import is one command: half of it, a skill without its version, would be a state that never was.
    assert (repair["recovered"]["events"], repair["lost"]["events"]) == (1, last - 1)
    assert sum(repair["lost"]["types"].values()) == last - 1
    assert (registry_of(germline).parent / repair["aside"] / "registry.db").read_bytes() == damaged
    assert germline("verify").code == 0
    germline.does("status")


def test_a_repair_tells_how_many_events_are_missing_that_were_once_acknowledged(germline: Terminal) -> None:
    early = registry_of(germline).read_bytes()
    moved(germline)
    moved_last = germline.events()
    with closing(SqliteLog.open(registry_of(germline))):
        pass  # whoever closes last writes the log back
    registry_of(germline).write_bytes(early)
    repair = germline.does("doctor", "--repair", "--yes", "--json").json
    assert repair["lost"]["acknowledged"] == moved_last
    assert repair["lost"]["events"] == moved_last - repair["recovered"]["events"] >= 1
    assert germline("verify").code == 0


def test_evidence_that_damage_took_is_told_by_an_event_and_verification_is_green_again(
    germline: Terminal,
) -> None:
    path = registry_of(germline)
    with open_registry(path, is_own=True) as registry:
        body = registry.log.put_blob(b'{"a": "text"}', kind="evidence")
        signal = raised_signal(fingerprint="error_template:x", template="x", count=1, episodes=1, evidence=(body,))
        draft = Pen("signal").draft()
        registry.log.append(
            [type(draft)(draft.stream, signal, draft.event_id, draft.at, draft.actor)],
            expected=registry.log.stream_versions(["registry"]),
        )
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER blobs_refuse_update")
        connection.execute("UPDATE blobs SET body = x'00' WHERE name = ?", (body,))
        connection.execute("DELETE FROM documents")
        connection.commit()
    assert germline("verify").code == 3
    repair = germline.does("doctor", "--repair", "--yes", "--json").json
    assert repair["lost"]["evidence"] == [body]
    assert germline("verify").code == 0
    assert "lost when the registry was damaged" in germline("evidence", "show", body[:12]).out


def test_where_no_event_can_be_recovered_nothing_is_changed(germline: Terminal) -> None:
    registry_of(germline).write_bytes(b"no database at all, " * 500)
    before = sorted(registry_of(germline).parent.iterdir())
    refused = germline("doctor", "--repair", "--yes")
    assert (refused.code, "germline restore FILE" in refused.hint) == (3, True)
    assert sorted(registry_of(germline).parent.iterdir()) == before
