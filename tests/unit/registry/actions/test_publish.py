"""Skills on disk: written after the append, repaired after a crash, never over a person's edit."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from events.errors import CorruptLogError, RefusedError, StorageError
from events.types.parts import Edit
from registry.actions.publish import (
    differences,
    expected_files,
    publish,
    require_unedited,
    standing,
    take_in,
    take_in_edits,
    write_out,
)
from registry.actions.repair_folders import repair
from registry.decide.commands import ImportSkill, RevertVersion
from registry.skill_md import disk as skill_disk
from registry.skill_md.disk import Drift, write_skill
from registry.skill_md.folder import read_skill
from registry.skill_md.render import expected_hashes, skill_bytes
from tests.clocks import TickingClock
from tests.registries import LOOK, NAME, SKILL, imported, judged, learn, new_registry, proposal, rewrite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from registry.registry import Registry

FILES = {"scripts/run.sh": "echo 1\n", "old.txt": "old\n"}


def promote_and_crash(registry: Registry) -> None:
    """Append a version, and stop before anything is written to disk."""
    capsule = registry.capsule(NAME)
    edit = Edit(op="append", gene=capsule.genes[0].id, text=(LOOK,))
    judged(registry, proposal(capsule, edit, candidate=f"c{capsule.version}"))


# -- where a folder stands -----------------------------------------------------------------------------


def test_a_fresh_import_is_projected_where_it_came_from(registry: Registry, place: Path) -> None:
    assert standing(registry, NAME) == "projected"
    assert publish(registry, NAME) == ()
    assert (place / "SKILL.md").read_text() == SKILL


@pytest.mark.parametrize("promotions", [1, 2])
def test_a_stale_folder_after_a_crash_between_append_and_write_is_repaired(
    registry: Registry, place: Path, promotions: int
) -> None:
    for _ in range(promotions):
        promote_and_crash(registry)
    assert standing(registry, NAME) == "stale"
    assert [done.skill for done in repair(registry)] == [NAME]
    assert standing(registry, NAME) == "projected"
    assert (place / "SKILL.md").read_bytes() == skill_bytes(registry.capsule(NAME))
    assert [done.skill for done in repair(registry)] == []


def test_a_folder_stale_since_a_later_version_is_repaired_as_well(registry: Registry, place: Path) -> None:
    learn(registry)
    promote_and_crash(registry)
    assert [done.skill for done in repair(registry)] == [NAME]
    assert '"sql-analyst@3"' in (place / "SKILL.md").read_text()


def test_a_stale_import_that_came_with_a_stamp_of_its_own_is_repaired(registry: Registry, tmp_path: Path) -> None:
    place = imported(
        registry, tmp_path, SKILL.replace("---\n\n", 'metadata:\n  germline: "sql-analyst@7"\n---\n\n')
    )
    promote_and_crash(registry)
    assert [done.skill for done in repair(registry)] == [NAME]
    assert '"sql-analyst@2"' in (place / "SKILL.md").read_text()


def test_a_repair_leaves_edited_and_missing_folders_alone(registry: Registry, place: Path) -> None:
    promote_and_crash(registry)
    rewrite(place, "Round nothing", "Round")
    text = (place / "SKILL.md").read_text()
    assert [done.skill for done in repair(registry)] == []
    assert (place / "SKILL.md").read_text() == text
    (place / "SKILL.md").unlink()
    assert [done.skill for done in repair(registry)] == []
    assert not (place / "SKILL.md").exists()


# -- hand edits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("crashed", [False, True])
def test_a_hand_edit_is_never_overwritten(registry: Registry, place: Path, *, crashed: bool) -> None:
    learn(registry)
    if crashed:
        promote_and_crash(registry)
    rewrite(place, "Round nothing", "Round")
    text = (place / "SKILL.md").read_text()
    assert standing(registry, NAME) == "edited"
    with pytest.raises(RefusedError, match=r"edited by hand since it was projected: SKILL\.md") as caught:
        publish(registry, NAME)
    assert "--discard" in caught.value.hint
    assert (place / "SKILL.md").read_text() == text


@pytest.mark.parametrize("change", ["edit", "mode", "remove"])
def test_a_hand_edit_of_a_file_beside_the_skill_is_noticed(
    registry: Registry, tmp_path: Path, change: str
) -> None:
    place = imported(registry, tmp_path, files=FILES)
    script = place / "scripts" / "run.sh"
    if change == "edit":
        script.write_text("echo 2\n")
    elif change == "mode":
        script.chmod(0o755)
    else:
        script.unlink()
    assert standing(registry, NAME) == "edited"
    with pytest.raises(RefusedError, match=r"scripts/run\.sh"):
        require_unedited(registry, NAME)


def test_an_edited_script_is_not_overwritten_because_the_skill_file_is_gone(
    registry: Registry, tmp_path: Path
) -> None:
    place = imported(registry, tmp_path, files=FILES)
    (place / "SKILL.md").unlink()
    assert standing(registry, NAME) == "missing"
    (place / "old.txt").write_text("mine\n")
    assert standing(registry, NAME) == "edited"
    with pytest.raises(RefusedError):
        publish(registry, NAME)
    assert (place / "old.txt").read_text() == "mine\n"


def test_a_new_file_where_the_next_version_wants_to_write_is_an_edit(registry: Registry, tmp_path: Path) -> None:
    place = imported(registry, tmp_path, files=FILES)
    (place / "old.txt").unlink()
    take_in_edits(registry, NAME)
    (place / "old.txt").write_text("mine\n")
    assert standing(registry, NAME) == "projected"
    registry.execute(RevertVersion(NAME, 1, "it was of use"))
    assert standing(registry, NAME) == "edited"
    with pytest.raises(RefusedError, match=r"old\.txt"):
        publish(registry, NAME)
    assert (place / "old.txt").read_text() == "mine\n"


def test_discarding_restores_what_was_projected_and_leaves_new_files_alone(
    registry: Registry, tmp_path: Path
) -> None:
    place = imported(registry, tmp_path, files=FILES)
    learn(registry)
    rewrite(place, "Round nothing", "Round")
    (place / "old.txt").unlink()
    (place / "mine.txt").write_text("mine\n")
    assert differences(registry, NAME) == [
        Drift("SKILL.md", "changed"),
        Drift("mine.txt", "added"),
        Drift("old.txt", "missing"),
    ]
    assert publish(registry, NAME, discard=True) == ("old.txt", "SKILL.md")
    assert standing(registry, NAME) == "projected"
    assert (place / "mine.txt").read_text() == "mine\n"


def test_discarding_removes_no_new_file_because_an_early_version_had_one_of_that_name(
    registry: Registry, tmp_path: Path
) -> None:
    place = imported(registry, tmp_path, files=FILES)
    (place / "old.txt").unlink()
    take_in_edits(registry, NAME)
    (place / "old.txt").write_text("mine\n")
    rewrite(place, "Round nothing", "Round")
    publish(registry, NAME, discard=True)
    assert (place / "old.txt").read_text() == "mine\n"


# -- writing -------------------------------------------------------------------------------------------


def test_a_missing_folder_is_written_whole(registry: Registry, tmp_path: Path) -> None:
    place = imported(registry, tmp_path, files=FILES)
    capsule = registry.capsule(NAME)
    for path in ("SKILL.md", *FILES):
        (place / path).unlink()
    assert standing(registry, NAME) == "missing"
    assert set(publish(registry, NAME)) == {"SKILL.md", *FILES}
    for path, content in expected_files(registry.log, capsule).items():
        assert (place / path).read_bytes() == content.body


def test_a_version_can_be_written_elsewhere(registry: Registry, place: Path, tmp_path: Path) -> None:
    learn(registry)
    write_out(registry, registry.capsule(NAME, "1"), tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "SKILL.md").read_text() == SKILL
    assert LOOK in (place / "SKILL.md").read_text()


def test_files_that_a_version_no_longer_has_are_taken_away(registry: Registry, tmp_path: Path) -> None:
    place = imported(registry, tmp_path, files=FILES)
    (place / "new.txt").write_text("new\n")
    take_in_edits(registry, NAME)
    registry.execute(RevertVersion(NAME, 1, "too much"))
    assert standing(registry, NAME) == "stale"
    assert publish(registry, NAME) == ("new.txt", "SKILL.md")
    assert not (place / "new.txt").exists()


def test_the_content_of_a_file_that_the_store_lost_is_named(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(registry, tmp_path, files=FILES)
    monkeypatch.setattr(registry.log, "get_blob", lambda name: None if name else b"")
    with pytest.raises(CorruptLogError, match=r"old\.txt") as caught:
        expected_files(registry.log, registry.capsule(NAME))
    assert caught.value.position == registry.capsule(NAME).born


def test_an_import_that_is_refused_keeps_no_files(registry: Registry, place: Path) -> None:
    (place / "new.txt").write_text("new\n")
    with pytest.raises(RefusedError):
        take_in(registry, place)
    assert registry.log.get_blob(sha256(b"new\n").hexdigest()) is None


# -- others at the same moment -------------------------------------------------------------------------


class Killed(BaseException):
    """What a process does not outlive."""


@pytest.mark.parametrize("writes", [1, 2])
def test_a_crash_between_two_files_of_a_version_is_repaired(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    place = imported(registry, tmp_path, files=FILES)
    (place / "scripts/run.sh").write_text("echo 2\n")
    (place / "new.txt").write_text("new\n")
    rewrite(place, "Round nothing", "Round")
    take_in_edits(registry, NAME)
    registry.execute(RevertVersion(NAME, 1, "too much"))  # run.sh changes back, and new.txt goes, before SKILL.md
    left = iter(range(writes))
    for name in ("_write", "_remove"):
        monkeypatch.setattr(f"registry.skill_md.disk.{name}", dying(getattr(skill_disk, name), left))
    with pytest.raises(Killed):
        publish(registry, NAME)
    monkeypatch.undo()
    assert '"sql-analyst@2"' in (place / "SKILL.md").read_text()
    assert standing(registry, NAME) == "stale"
    assert [done.skill for done in repair(registry)] == [NAME]
    assert differences(registry, NAME) == []


def dying(act: Callable[..., None], left: Iterator[int]) -> Callable[..., None]:
    """Let a function work while there is something left, and then no more."""

    def done(*args: object, **options: object) -> None:
        if next(left, None) is None:
            raise Killed
        act(*args, **options)

    return done


def test_a_file_beside_the_skill_set_back_by_hand_is_an_edit(registry: Registry, tmp_path: Path) -> None:
    place = imported(registry, tmp_path, files=FILES)
    (place / "scripts/run.sh").write_text("echo 2\n")
    take_in_edits(registry, NAME)
    (place / "scripts/run.sh").write_text("echo 1\n")
    assert standing(registry, NAME) == "edited"


def test_a_crash_after_an_adoption_leaves_a_stale_stamp_and_no_edit(
    registry: Registry, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for word in ("Round", "Cut"):  # of a version without a stamp, and of one with it
        rewrite(place, "Round nothing" if word == "Round" else "Round", word)
        monkeypatch.setattr("registry.skill_md.disk._write", dying(lambda *_: None, iter(())))
        with pytest.raises(Killed):
            take_in_edits(registry, NAME)
        monkeypatch.undo()
        assert standing(registry, NAME) == "stale"
        assert [done.skill for done in repair(registry)] == [NAME]
        assert (place / "SKILL.md").read_bytes() == skill_bytes(registry.capsule(NAME))


def by_rename(file: Path, text: str) -> None:
    beside = file.with_name("SKILL.md~")
    beside.write_text(text)
    beside.replace(file)


def in_place(file: Path, text: str) -> None:
    file.write_text(text)


@pytest.mark.parametrize("save", [by_rename, in_place])
@pytest.mark.parametrize("what", ["publish", "adopt"])
def test_what_a_person_saves_while_a_version_is_written_stays(
    registry: Registry, place: Path, monkeypatch: pytest.MonkeyPatch, save: Callable[[Path, str], None], what: str
) -> None:
    file = place / "SKILL.md"
    if what == "publish":
        promote_and_crash(registry)
    else:
        rewrite(place, "Round nothing", "Round")
    saved = file.read_text() + "Saved at the last moment.\n"
    just_before_writing(monkeypatch, lambda: save(file, saved))
    with pytest.raises(RefusedError, match="that was not sql-analyst@2, which is live") as caught:
        (publish if what == "publish" else take_in_edits)(registry, NAME)
    assert file.read_text() == saved
    assert "--discard" in caught.value.hint
    assert registry.capsule(NAME).version == 2


def test_two_processes_that_write_the_same_version_do_not_refuse_each_other(
    registry: Registry, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    promote_and_crash(registry)
    just_before_writing(monkeypatch, lambda: write_out(registry, registry.capsule(NAME)))
    assert publish(registry, NAME) == ()
    assert f"{NAME}@2" in (place / "SKILL.md").read_text()
    assert standing(registry, NAME) == "projected"


def test_a_later_version_of_another_process_is_not_written_over(
    registry: Registry, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    promote_and_crash(registry)
    just_before_writing(monkeypatch, lambda: learn(registry, "Faster.\n", candidate="other", claims=()))
    publish(registry, NAME)
    assert '"sql-analyst@3"' in (place / "SKILL.md").read_text()


def just_before_writing(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Let something happen once, after a folder was looked at and before anything is written there."""
    write, done = skill_disk.write_skill, list[bool]()

    def late(*args: Any, **kwargs: Any) -> tuple[str, ...]:  # noqa: ANN401 - handed through
        if not done:
            done.append(True)
            act()
        return write(*args, **kwargs)

    monkeypatch.setattr("registry.actions.publish.write_skill", late)


def test_no_mode_of_an_event_makes_a_file_that_runs_as_its_owner(registry: Registry, place: Path) -> None:
    capsule = registry.capsule(NAME)
    hostile = replace(capsule, mode=0o6755)
    assert expected_files(registry.log, hostile)["SKILL.md"].mode == 0o755
    assert expected_hashes(hostile)["SKILL.md"][1] == 0o755
    write_skill(place, expected_files(registry.log, hostile))
    assert (place / "SKILL.md").stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize("name", ["../evil", "/evil", "a/../../evil", "-o", "x;id", "a" * 65])
def test_a_name_that_no_skill_may_have_is_refused_when_it_is_folded_and_when_it_is_read(
    tmp_path: Path, name: str
) -> None:
    registry = new_registry(tmp_path, TickingClock())
    with closing(registry.log):
        imported(registry, tmp_path)
        head = registry.log.head()
        with pytest.raises(CorruptLogError, match="no name of a skill"):
            registry.execute(ImportSkill(replace(read_skill(tmp_path / NAME), name=name)))
        assert registry.log.head() == head
        for view in ("capsule", "live"):  # as the documents of somebody else may say
            document = registry.log.document(view, NAME)
            assert document
            registry.log.put_documents([document._replace(key=name)])
        with pytest.raises(StorageError, match="damaged"):
            registry.names()
        with pytest.raises(StorageError, match="damaged"):
            registry.capsule(name)
