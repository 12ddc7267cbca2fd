"""Folders of strangers: whatever lies in one, importing and scanning end, in words, and with a whole registry."""

from __future__ import annotations

import os
import socket
from contextlib import chdir
from typing import TYPE_CHECKING, Final

import pytest

from tests.command_lines import STEPS
from tests.hostile_registries import RAW
from tests.terminal import MINIMAL, Terminal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BOMB: Final = "metadata:\n  a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"  {chr(98 + at)}: &{chr(98 + at)} [{', '.join(['*' + chr(97 + at)] * 9)}]\n" for at in range(9)
)
"""Nine levels of nine aliases: 387 million texts, if anybody followed them."""


def links(folder: Path) -> None:
    for name, target in {"out.md": "../../secret", "zero.md": "/dev/zero", "up": "..", "me": "me"}.items():
        (folder / name).symlink_to(target)


def pipes(folder: Path) -> None:
    os.mkfifo(folder / "pipe.jsonl")
    with chdir(folder), socket.socket(socket.AF_UNIX) as made:  # a path of a socket is short
        made.bind("talk.md")


def names(folder: Path) -> None:
    for name in (b"caf\xe9.md", b"\xff\xfe.jsonl", b"a\x1b[2J.md", b"a\nb.md", b"-rf", "\u202e.md".encode()):
        (folder / os.fsdecode(name)).write_text(STEPS)


def same_but_for_case(folder: Path) -> None:
    for name in ("skill.md", "Skill.MD", "A.md", "a.md"):
        (folder / name).write_text(f"---\nname: {name}\n")


def many(folder: Path) -> None:
    for number in range(10_000):
        os.close(os.open(folder / f"{number}.md", os.O_CREAT | os.O_WRONLY))


def deep(folder: Path) -> None:
    place = folder.joinpath(*["d"] * 100)
    place.mkdir(parents=True)
    (place / "end.md").write_text("the end")


def hard_linked(folder: Path) -> None:
    (folder / "b.md").hardlink_to(folder.parent.parent / "secret")


def front(text: str | bytes) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        body = text if isinstance(text, bytes) else text.encode()
        (folder / "SKILL.md").write_bytes(MINIMAL.encode().replace(b"\n---\n\n", b"\n" + body + b"\n---\n\n"))

    return write


CASES: Final[dict[str, tuple[Callable[[Path], None], int, str]]] = {
    "links": (links, 0, "contained-path: out.md is left out: it is a link that leads out of the skill"),
    "pipes": (pipes, 0, "contained-path: talk.md is left out: it is no regular file"),
    "hard links": (hard_linked, 0, "hard-link: b.md has another name on this disk"),
    "names": (names, 0, "contained-path: caf\\udce9.md is left out: its name holds characters that do not print"),
    "case": (same_but_for_case, 0, "contained-path: skill.md is left out: some disks take it for SKILL.md"),
    "10,000 files": (many, 2, "holds more than 2000 files"),
    "100 levels": (deep, 0, ""),
    "YAML bomb": (front(BOMB), 0, ""),
    "YAML tag": (front("metadata: !!python/object/apply:os.system [touch escaped]"), 0, ""),
    "YAML depth": (front("metadata: " + "[" * 20_000), 0, ""),
    "no UTF-8": (front(b"license: caf\xe9"), 0, "is not UTF-8"),
}
"""What is laid into a skill folder, how importing it ends, and what is said."""


@pytest.mark.parametrize("case", CASES)
def test_importing_and_scanning_a_folder_of_a_stranger_end_in_words(tmp_path: Path, case: str) -> None:
    lay, code, message = CASES[case]
    germline = Terminal(tmp_path / "home")
    germline.folder.mkdir()
    germline.does("init")
    (tmp_path / "secret").write_text("a key")
    folder = germline.write("skills/sql-analyst/SKILL.md", MINIMAL).parent
    (tmp_path / "home" / "secret").hardlink_to(tmp_path / "secret")
    lay(folder)
    before = {path.name for path in tmp_path.iterdir()}
    answer = germline("import", "skills")
    assert answer.code == code, answer.err
    assert message in " ".join(answer.err.split())
    lines = ["status", "project", "log", "export skill sql-analyst -o out"]
    lines += [] if case == "10,000 files" else ["scan skills"]  # reading all of them takes 5 s
    looks = [answer, *(germline(*words.split()) for words in lines)]
    for look in looks:
        assert "itself failed" not in look.err
        assert not RAW.search(look.out + look.err)
    assert germline.does("verify", "--json").json["problems"] == []
    exported = [path.read_bytes() for path in (germline.folder / "out").rglob("*") if path.is_file()]
    assert (b"a key" in exported) is (case == "hard links")  # which is said, see above
    assert {path.name for path in tmp_path.iterdir()} == before
    assert (tmp_path / "secret").read_text() == "a key"


def test_a_log_whose_name_is_no_utf_8_is_read_once_and_shown(tmp_path: Path) -> None:
    germline = Terminal(tmp_path).with_skill()
    name = os.fsdecode(b"logs/caf\xe9.jsonl")
    germline.write(name, STEPS)
    assert germline.does("scan", "logs", "--json").json["episodes"] == 3
    assert germline.does("scan", "logs", "--json").json["unchanged"] == 1
