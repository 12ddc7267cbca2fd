"""Skill folders read from disk, written to disk, and compared with it."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path
from typing import NoReturn

import pytest
import skills_ref  # type: ignore[import-untyped]  # ships no types

from events.errors import NotFoundError, SkillFormatError, StorageError
from registry.skill_md import folder as skill_folder
from registry.skill_md import skill_files
from registry.skill_md.disk import Drift, FileContent, drift, write_skill
from registry.skill_md.folder import SkillFolder, read_skill
from registry.skill_md.skill_files import TEMPORARY
from registry.skill_md.text import stamp

TEXT = b"---\nname: sql-analyst\ndescription: Answers questions.\n---\n\nInspect first.\n"
OUT = "it is a link that leads out of the skill"


def make(folder: Path, content: bytes = TEXT) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_bytes(content)
    return folder


def projected(skill: SkillFolder, front: tuple[str, ...] | None = None) -> dict[str, FileContent]:
    body = "".join(line for section in skill.sections for line in section.lines)
    text = "".join(front or skill.front) + body
    files = {file.entry.path: FileContent(file.content, file.entry.mode) for file in skill.files}
    return {"SKILL.md": FileContent(text.encode(skill.encoding), skill.mode), **files}


def expected(files: dict[str, FileContent]) -> dict[str, tuple[str, int]]:
    return {path: (hashlib.sha256(content.body).hexdigest(), content.mode) for path, content in files.items()}


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(file.relative_to(folder)): (file.read_bytes(), file.stat().st_mode & 0o777)
        for file in folder.rglob("*")
        if file.is_file()
    }


# -- reading -------------------------------------------------------------------------------------------


def test_every_real_skill_comes_back_byte_for_byte_with_its_modes(recorded_data: Path, tmp_path: Path) -> None:
    folders = sorted(file.parent for file in (recorded_data / "skills").glob("*/SKILL.md"))
    assert len(folders) == 6
    for folder in folders:
        skill = read_skill(folder)
        write_skill(tmp_path / skill.name, projected(skill))
        assert contents(tmp_path / skill.name) == contents(folder)
        assert drift(folder, expected(projected(skill))) == []


def test_every_real_skill_stays_valid_once_it_carries_the_stamp(recorded_data: Path, tmp_path: Path) -> None:
    files = sorted((recorded_data / "skills").glob("*/SKILL.md"))
    assert files
    for file in files:
        skill = read_skill(file)
        place = stamp(skill.front, f"{skill.name}@2")
        front = skill.front[: place.at] + place.lines + skill.front[place.at + place.replaces :]
        write_skill(tmp_path / skill.name, projected(skill, front))
        assert skills_ref.validate(tmp_path / skill.name) == []
        properties = skills_ref.read_properties(tmp_path / skill.name)
        assert properties.metadata == {"germline": f"{skill.name}@2"}


@pytest.mark.parametrize(
    ("content", "encoding", "rules"),
    [
        (TEXT, "utf-8", set()),
        (TEXT.removesuffix(b"\n"), "utf-8", set()),
        (TEXT.replace(b"\n", b"\r\n"), "utf-8", {"line-ending"}),
        (b"\xef\xbb\xbf" + TEXT, "utf-8-sig", {"encoding"}),
        (TEXT + b"caf\xe9\n", "latin-1", {"encoding"}),
        (b"\n" + TEXT, "utf-8", {"start"}),
        (TEXT.replace(b"Answers", b"a --- b"), "utf-8", {"fence"}),
        (TEXT.replace(b"description", b"hooks: [a]\ndescription"), "utf-8", {"flow"}),
        (TEXT + b"<div>\n# x\n</div>\n" + b"```\n# y\n" * 999, "utf-8", {"body-size"}),
        (TEXT + "a\u200bb".encode(), "utf-8", {"hidden-characters"}),
        (b"---\n---", "utf-8", {"name", "description"}),
    ],
)
def test_an_odd_skill_comes_back_byte_for_byte_with_a_warning(
    tmp_path: Path, content: bytes, encoding: str, rules: set[str]
) -> None:
    skill = read_skill(make(tmp_path / "sql-analyst", content))
    assert (skill.encoding, skill.name) == (encoding, "sql-analyst")
    assert projected(skill)["SKILL.md"].body == content
    assert {warning.split(":")[0] for warning in skill.warnings} == rules


def test_the_skill_file_itself_may_be_named(tmp_path: Path) -> None:
    folder = make(tmp_path / "sql-analyst")
    assert read_skill(folder / "SKILL.md") == read_skill(folder)


def test_a_skill_is_named_by_its_front_matter_else_by_its_folder(tmp_path: Path) -> None:
    skill = read_skill(make(tmp_path / "elsewhere"))
    assert skill.name == "sql-analyst"
    assert skill.warnings[0].startswith("name: the skill is named sql-analyst, its folder elsewhere")
    assert read_skill(make(tmp_path / "My Skill!", TEXT.replace(b"sql-", b"SQL "))).name == "my-skill"
    with pytest.raises(SkillFormatError) as refusal:
        read_skill(make(tmp_path / "!", TEXT.replace(b"sql-analyst", b"!")))
    assert refusal.value.rule == "name"


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"# No front matter\n", "front-matter"),
        (b"---\nname: x\n", "front-matter"),
        (b"", "front-matter"),
        (TEXT + b"\0", "encoding"),
        (TEXT.decode().encode("utf-16"), "encoding"),
    ],
)
def test_what_is_no_skill_is_refused_with_a_hint(tmp_path: Path, content: bytes, rule: str) -> None:
    with pytest.raises(SkillFormatError) as refusal:
        read_skill(make(tmp_path, content))
    assert refusal.value.rule == rule
    assert refusal.value.hint


def test_a_missing_skill_file_is_named_and_the_nearest_suggested(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        read_skill(tmp_path / "nowhere")
    make(tmp_path / "inner")
    with pytest.raises(NotFoundError) as missing:
        read_skill(tmp_path)
    assert missing.value.nearest == ("inner/SKILL.md",)


def test_links_that_lead_out_and_what_is_no_file_are_left_out_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    folder = make(tmp_path / "sql-analyst")
    (folder / "sub").mkdir()
    (folder / "sub" / "real.md").write_text("r")
    for name, target in {
        "in.md": "sub/real.md",
        "out.md": "../secret",
        "dir": "sub",
        "lost": "nowhere",
        "me": "me",
    }.items():
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "pipe")
    skill = read_skill(folder)
    assert [(file.entry.path, file.content) for file in skill.files] == [("in.md", b"r"), ("sub/real.md", b"r")]
    assert [warning.split(" is left out")[0] for warning in skill.warnings] == [
        f"contained-path: {name}" for name in ("dir", "lost", "me", "out.md", "pipe")
    ]


def test_a_skill_file_that_is_a_link_out_is_refused(tmp_path: Path) -> None:
    make(tmp_path / "other")
    folder = tmp_path / "sql-analyst"
    folder.mkdir()
    (folder / "SKILL.md").symlink_to("../other/SKILL.md")
    with pytest.raises(SkillFormatError) as refusal:
        read_skill(folder)
    assert refusal.value.rule == "contained-path"


def test_what_tools_leave_behind_is_no_part_of_a_skill(tmp_path: Path) -> None:
    folder = make(tmp_path / "sql-analyst")
    for path in ("scripts/__pycache__/a.pyc", ".git/HEAD", ".DS_Store", f"{TEMPORARY}1", "scripts/.env"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("x")
    skill = read_skill(folder)
    assert [file.entry.path for file in skill.files] == ["scripts/.env"]
    assert drift(folder, expected(projected(skill))) == []


def test_counts_and_sizes_are_capped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make(tmp_path / "sql-analyst")
    for name in "abc":
        (folder / name).write_text("12345")
    for module, cap, value in (
        (skill_files, "MAX_FILES", 3),
        (skill_folder, "MAX_FILE_BYTES", 4),
        (skill_folder, "MAX_TOTAL_BYTES", 14),
        (skill_folder, "MAX_SKILL_BYTES", 10),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, cap, value)
            with pytest.raises(SkillFormatError) as refusal:
                read_skill(folder)
            assert refusal.value.rule in {"file-count", "size"}
    assert len(read_skill(folder).files) == 3


# -- writing -------------------------------------------------------------------------------------------


def test_only_files_that_differ_are_written(tmp_path: Path) -> None:
    files = {"SKILL.md": FileContent(TEXT, 0o644), "scripts/run.sh": FileContent(b"#!", 0o755)}
    assert write_skill(tmp_path / "s", files) == ("scripts/run.sh", "SKILL.md")
    assert write_skill(tmp_path / "s", files) == ()
    before = (tmp_path / "s/SKILL.md").stat().st_ino
    files["scripts/run.sh"] = FileContent(b"#!", 0o555)
    assert write_skill(tmp_path / "s", files) == ("scripts/run.sh",)
    assert contents(tmp_path / "s") == {"SKILL.md": (TEXT, 0o644), "scripts/run.sh": (b"#!", 0o555)}
    assert (tmp_path / "s/SKILL.md").stat().st_ino == before


def test_only_named_files_are_removed_and_with_them_the_folders_they_leave_empty(tmp_path: Path) -> None:
    files = {path: FileContent(b"x", 0o644) for path in ("SKILL.md", "a/b/c", "a/d", "e/f")}
    write_skill(tmp_path, files)
    kept = {"SKILL.md": files["SKILL.md"]}
    assert write_skill(tmp_path, kept) == ()
    assert write_skill(tmp_path, kept, remove=("a/b/c", "e/f", "gone", "SKILL.md")) == ("a/b/c", "e/f")
    assert contents(tmp_path).keys() == {"SKILL.md", "a/d"}
    assert not (tmp_path / "a/b").exists()
    assert not (tmp_path / "e").exists()


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "out/x", "", ".", "a//b", "./a", "a\0b"])
def test_nothing_is_written_outside_the_folder_and_nothing_inside_either(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "skill"
    folder.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (folder / "out").symlink_to("../elsewhere")
    with pytest.raises(SkillFormatError) as refusal:
        write_skill(folder, {"A.md": FileContent(b"a", 0o644), path: FileContent(b"x", 0o644)})
    assert refusal.value.rule == "contained-path"
    with pytest.raises(SkillFormatError):
        write_skill(folder, {}, remove=(path,))
    assert contents(tmp_path) == {}


def test_a_link_that_leads_out_is_replaced_and_its_target_left_alone(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"s")
    folder = tmp_path / "skill"
    folder.mkdir()
    (folder / "SKILL.md").symlink_to("../secret")
    (folder / "gone").symlink_to("../secret")
    write_skill(folder, {"SKILL.md": FileContent(b"s", 0o644)}, remove=("gone",))
    assert not (folder / "SKILL.md").is_symlink()
    assert (tmp_path / "secret").read_bytes() == b"s"


def test_a_full_disk_leaves_the_old_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    folder = make(tmp_path / "s")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space left") as refusal:
        write_skill(folder, {"SKILL.md": FileContent(b"new", 0o644)})
    assert refusal.value.hint
    assert [file.name for file in folder.iterdir()] == ["SKILL.md"]
    assert (folder / "SKILL.md").read_bytes() == TEXT


def test_an_interrupt_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    folder = make(tmp_path / "s")
    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_skill(folder, {"SKILL.md": FileContent(b"new", 0o644)})
    assert contents(folder) == {"SKILL.md": (TEXT, (folder / "SKILL.md").stat().st_mode & 0o777)}


def test_what_a_killed_process_left_half_written_is_swept_away(tmp_path: Path) -> None:
    leftover = make(tmp_path / "s") / f"{TEMPORARY}999999999"
    leftover.write_text("half")
    mine = tmp_path / "s" / f"{TEMPORARY}{os.getppid()}"
    mine.write_text("still at it")
    write_skill(tmp_path / "s", {"SKILL.md": FileContent(TEXT, 0o644)})
    assert not leftover.exists()
    assert mine.exists()


# -- drift ---------------------------------------------------------------------------------------------


def test_a_link_that_leads_out_is_drift_even_where_it_leads_to_the_same_bytes(tmp_path: Path) -> None:
    files = {path: FileContent(b"x", 0o644) for path in ("SKILL.md", "link")}
    write_skill(tmp_path / "skill", files)
    outside = (tmp_path / "skill" / "link").rename(tmp_path / "outside")
    (tmp_path / "skill" / "link").symlink_to(outside)
    assert drift(tmp_path / "skill", expected(files)) == [Drift("link", "changed", OUT)]


def test_drift_names_what_changed_and_how(tmp_path: Path) -> None:
    files = {path: FileContent(b"x", 0o644) for path in ("SKILL.md", "changed", "gone", "mode", "link")}
    write_skill(tmp_path, files)
    assert drift(tmp_path, expected(files)) == []
    (tmp_path / "changed").write_bytes(b"y")
    (tmp_path / "gone").unlink()
    (tmp_path / "mode").chmod(0o755)
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "file").touch()
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("/dev/null")
    (tmp_path / "unexpected-link").symlink_to("/dev/null")
    assert drift(tmp_path, expected(files)) == [
        Drift("changed", "changed"),
        Drift("gone", "missing"),
        Drift("link", "changed", OUT),
        Drift("mode", "mode"),
        Drift("new/file", "added"),
        Drift("unexpected-link", "added", OUT, minor=True),
    ]
    assert {difference.kind for difference in drift(tmp_path / "nowhere", expected(files))} == {"missing"}
