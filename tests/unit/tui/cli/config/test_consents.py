"""Consents: kept in the person's own folder, for that person alone; what others could have written is none."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from events.errors import StorageError
from tui.cli.config.consents import consent_for, consents, keep_consent, revoke_consent

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


def files(home: Path) -> list[Path]:
    return sorted((home / "data" / "germline" / "trusted").iterdir())


def test_a_consent_is_kept_for_one_folder_and_for_one_person(home: Path) -> None:
    kept = keep_consent(home / "a", "11", {"rollouts.agent": '"x"'})
    assert consent_for(home / "a") == kept
    assert consent_for(home / "b") is None
    assert consent_for(home / "b" / ".." / "a") == kept
    (file,) = files(home)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_newer_consent_takes_the_place_of_the_old_one(home: Path) -> None:
    keep_consent(home / "b", "11", {})
    keep_consent(home / "a", "22", {})
    keep_consent(home / "b", "33", {"seed": "1"})
    assert [(consent.folder, consent.sha256) for consent in consents()] == [
        (str(home / "a"), "22"),
        (str(home / "b"), "33"),
    ]


def test_a_consent_that_was_revoked_is_gone(home: Path) -> None:
    keep_consent(home / "a", "11", {})
    assert revoke_consent(home / "a")
    assert not revoke_consent(home / "a")
    assert consent_for(home / "a") is None
    assert consents() == []


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"folder": 1}', "\xff", "null", '"x"'])
def test_a_damaged_file_is_no_consent(home: Path, text: str) -> None:
    keep_consent(home / "a", "11", {})
    (file,) = files(home)
    file.write_bytes(text.encode("latin-1"))
    assert consent_for(home / "a") is None
    assert consents() == []
    keep_consent(home / "a", "11", {})
    assert consent_for(home / "a") is not None


def test_a_file_that_others_could_have_written_is_no_consent(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_consent(home / "a", "11", {})
    (file,) = files(home)
    file.chmod(0o620)
    assert consent_for(home / "a") is None
    file.chmod(0o600)
    assert consent_for(home / "a") is not None
    owner = file.stat().st_uid
    monkeypatch.setattr("tui.session.own_records.os.geteuid", lambda: owner + 1)
    assert consent_for(home / "a") is None


def test_a_consent_for_one_folder_counts_for_no_other_under_its_name(home: Path) -> None:
    keep_consent(home / "a", "11", {})
    (mine,) = files(home)
    keep_consent(home / "b", "22", {})
    (other,) = set(files(home)) - {mine}
    other.write_bytes(mine.read_bytes())
    assert consent_for(home / "b") is None


def test_a_place_that_cannot_be_written_is_told(home: Path) -> None:
    (home / "data").write_text("in the way")
    with pytest.raises(StorageError, match="cannot be written"):
        keep_consent(home / "a", "11", {})
