"""The person's own list of registries: who is on it, and what could put another there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from platformdirs import user_data_path

from events.errors import SkillFormatError, UntrustedError
from registry.skill_md.skill_files import contained
from registry.skill_md.write_places import WritePlaces
from tui.session.own_records import own_data, records
from tui.session.own_registries import forget_registry, keep_registry, own_registry, trust_in

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry

AT = "2026-11-23T00:00:00.000000Z"


@pytest.fixture
def file(registry: Registry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return registry.log.beside


@pytest.mark.parametrize("stated", ["", "/somewhere/data", "data"])
def test_it_lies_where_platformdirs_says(monkeypatch: pytest.MonkeyPatch, stated: str) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", stated)
    assert own_data() == user_data_path("germline")


def test_places_add_up_for_one_registry_and_are_forgotten_with_another(file: Path, registry: Registry) -> None:
    outside = file.parent.parent / "a", file.parent.parent / "b"
    for place in outside:
        keep_registry(file, registry.log, AT, [place])
    assert trust_in(file, registry.log).confirmed == tuple(map(str, outside))
    trust = trust_in(file, registry.log)._replace(created="another")
    assert (trust.state, trust.confirmed, trust.places.confirmed) == ("changed", (), frozenset())
    assert forget_registry(file)
    assert (own_registry(file), forget_registry(file)) == (None, False)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"place": 1}', '{"place": "x", "created": "", "at": ""}'])
def test_a_damaged_or_copied_record_counts_for_nothing(file: Path, registry: Registry, text: str) -> None:
    keep_registry(file, registry.log, AT)
    (record,) = records("registries")
    assert trust_in(file, registry.log).is_writable
    record.write_text(text)
    assert trust_in(file, registry.log).state == "untrusted"


def test_a_place_is_looked_at_where_it_leads(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    (project / "skills").mkdir(parents=True)
    outside.mkdir()
    (project / "link").symlink_to(outside)
    (project / "round").symlink_to(project / "round")
    places = WritePlaces(project, frozenset({str(outside / "s")}))
    for inside in ("skills/s", "skills/../s", "not/there/yet", "link/s"):
        assert places.require(project / inside, "s") == (project / inside).resolve()
    for out in (
        "..",
        "../x",
        "link/t",
        "link",
        ".git/hooks",
        ".GIT/hooks",
        ".germline/s",
        "skills/.git",
        "round/s",
        "a\0b",
    ):
        with pytest.raises(UntrustedError, match="outside the project"):
            places.require(project / out, "s")
    (outside / "s").symlink_to(tmp_path / "elsewhere")
    assert not places.is_open(outside / "s")


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", "a/.GIT/config"])
def test_no_file_of_a_skill_is_a_hook_of_git(tmp_path: Path, path: str) -> None:
    with pytest.raises(SkillFormatError, match="is no file of a skill"):
        contained(tmp_path, path)
