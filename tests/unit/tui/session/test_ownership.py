"""Ownership: what another user of the machine put in the way is not used unasked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from events.errors import UntrustedError
from tui.session.ownership import VOUCHED, foreign_owner, require_own

NOBODY = 65_534


@pytest.fixture
def mallory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a file that somebody else owns: really where tests run as root, else by another identity of ours."""
    file = tmp_path / "file"
    file.touch()
    if os.geteuid() == 0:
        os.chown(file, NOBODY, NOBODY)
    else:
        monkeypatch.setattr("tui.session.ownership.os.geteuid", lambda: NOBODY)
        os.utime(file)
    return file


def test_ones_own_files_and_those_of_root_are_used(tmp_path: Path) -> None:
    assert foreign_owner(tmp_path, Path("/"), Path("/etc")) == ""
    require_own(tmp_path, hint=lambda: "")


def test_a_file_of_another_user_is_refused_by_its_name(mallory: Path) -> None:
    with pytest.raises(UntrustedError, match=str(mallory)) as caught:
        require_own(mallory, hint=lambda: "name it")
    assert "belongs to" in caught.value.message
    assert (caught.value.exit_code, caught.value.hint) == (2, "name it")


def test_so_is_a_link_to_one_and_one_that_another_user_made(mallory: Path) -> None:
    link = mallory.parent / "link"
    link.symlink_to(mallory)
    assert foreign_owner(link)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes links for others")
def test_a_link_of_another_user_to_a_file_of_ones_own_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "mine")
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    assert foreign_owner(link)


@pytest.mark.skipif(os.geteuid() != 0, reason="sudo makes one root")
def test_under_sudo_the_files_of_who_typed_it_are_their_own(
    mallory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDO_UID", str(NOBODY))
    assert foreign_owner(mallory) == ""


def test_who_answers_for_the_project_may_use_it(mallory: Path) -> None:
    token = VOUCHED.set(True)
    try:
        require_own(mallory, hint=lambda: "")
    finally:
        VOUCHED.reset(token)
