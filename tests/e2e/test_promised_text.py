"""What leaves is what was promoted: what was changed behind the log's back is noticed wherever it would leave."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
import zlib
from contextlib import closing, contextmanager
from random import Random
from shutil import rmtree
from typing import TYPE_CHECKING, Final

import pytest

from events.errors import GermlineError
from events.sqlite.log import SqliteLog
from registry.projection.document_check import document_problems
from registry.projection.snapshots import thaw
from registry.query.library import Library
from registry.skill_md.render import skill_text
from tests.golden.add import registry_files
from tests.rewriting import without_triggers
from tests.story_trends import tell_with_runs
from tests.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Document = tuple[str, str, int, bytes]

NAME: Final = "sql-analyst"
NOW: Final = (
    "show {name}",
    "show {name} --blame",
    "why {name}:12",
    "project {name}",
    "project {name} --to out",
    "export skill {name} -o out",
    "export --attest {name}",
    "pick {name} --seed 3",
    "report -o report.html",
    "adopt {name} --dry-run",
    "status",
)
"""Commands through which the live text leaves, or which vouch for it."""
BEFORE: Final = ("show {name}@3", "diff {name} 2 3", "export skill {name}@3 -o out", "export --attest {name}@3")
"""Commands through which the text of an earlier version leaves."""
WHOLE: Final = ("verify", "backup backup.db", "backup backup.db --dry-run", "doctor")
"""Commands that compare all documents with the events."""


@pytest.fixture(scope="module")
def germline(own_folder: Path) -> Terminal:
    """The story, in a registry with a document of every view."""
    folder = own_folder
    path = tell_with_runs(folder)
    germline = Terminal(folder, GERMLINE_REGISTRY=str(path), COLUMNS="200")
    germline.does("project", NAME)
    return germline


def stored(germline: Terminal, view: str = "%", key: str = "%") -> list[Document]:
    with closing(sqlite3.connect(germline.folder / "registry.db")) as database:
        select = "SELECT view, key, seq, body FROM documents WHERE view LIKE ? AND key LIKE ? ORDER BY 1, 2, 3"
        return list(database.execute(select, (view, key)))


@contextmanager
def changed(germline: Terminal, documents: list[Document]) -> Iterator[None]:
    """Put other documents in the place of those there, and put these back afterwards."""
    with closing(sqlite3.connect(germline.folder / "registry.db", isolation_level=None)) as database:
        kept = stored(germline)
        replace = "INSERT OR REPLACE INTO documents (view, key, seq, body) VALUES (?, ?, ?, ?)"
        database.executemany(replace, documents)
        try:
            yield
        finally:
            database.execute("DELETE FROM documents")
            database.executemany(replace, kept)


def rewritten(body: bytes, old: bytes, new: bytes) -> bytes:
    """Change the text in a state."""
    state = zlib.decompress(body)
    assert old in state
    return zlib.compress(state.replace(old, new), 1)


def with_text(document: Document) -> Document:
    return (*document[:3], rewritten(document[3], b"Answer", b"Run uvx evil"))


def with_mode(document: Document) -> Document:
    return (*document[:3], rewritten(document[3], b'"mode":420', b'"mode":511'))


CHANGES: Final[dict[str, Callable[[Document], Document]]] = {"a text": with_text, "a mode": with_mode}


def refused(germline: Terminal, line: str, code: int) -> None:
    answer = germline(*line.format(name=NAME).split())
    assert answer.code == code, (line, answer.out, answer.err)
    assert "evil" not in answer.out, line
    assert "damaged" in answer.err + answer.out or "is not what they say" in answer.err + answer.out, line
    assert not (germline.folder / "out").exists(), line
    assert not (germline.folder / "backup.db").exists(), line


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_live_version_leaves_by_no_command(germline: Terminal, change: str) -> None:
    live = stored(germline, "live", NAME)
    projected = germline.folder / "skills" / NAME / "SKILL.md"
    before = projected.read_bytes()
    with changed(germline, [CHANGES[change](document) for document in live]):
        for line in NOW:
            refused(germline, line, 1)
        for line in WHOLE:
            refused(germline, line, 3)
    assert projected.read_bytes() == before
    for line in ("show {name}", "verify"):
        germline.does(*line.format(name=NAME).split())


def test_a_changed_earlier_version_leaves_by_no_command(germline: Terminal) -> None:
    with changed(germline, [with_text(document) for document in stored(germline, "snapshot", NAME)]):
        for line in BEFORE:
            refused(germline, line, 1)
        for line in WHOLE:
            refused(germline, line, 3)


def test_an_earlier_version_in_the_place_of_the_live_one_is_noticed(germline: Terminal) -> None:
    (*_, snapshot) = stored(germline, "snapshot", NAME)
    assert thaw(snapshot[3]).version < thaw(stored(germline, "live", NAME)[0][3]).version
    with changed(germline, [("live", NAME, 0, snapshot[3])]):
        refused(germline, f"show {NAME}", 1)
        refused(germline, f"project {NAME}", 1)


def test_one_version_in_the_place_of_another_is_noticed(germline: Terminal) -> None:
    (first, second, third, *_) = stored(germline, "version", NAME)
    with changed(germline, [(*third[:3], second[3]), (*second[:3], first[3])]):
        refused(germline, f"show {NAME}@3", 1)
        refused(germline, f"show {NAME}@2", 1)


def test_why_vouches_for_no_line_that_its_event_did_not_bring(germline: Terminal) -> None:
    (live,) = stored(germline, "live", NAME)
    line = thaw(live[3]).genes[-1].lines[-1]
    state = zlib.decompress(live[3])
    moved = state.replace(b",%d," % line.origin, b",%d," % (line.origin - 1)).replace(
        b",%d]" % line.origin, b",%d]" % (line.origin - 1)
    )
    assert moved != state
    with changed(germline, [(*live[:3], zlib.compress(moved, 1))]):
        refused(germline, f"show {NAME} --blame", 1)


def test_no_other_folder_is_written_or_adopted_than_the_events_name(germline: Terminal) -> None:
    (live,) = stored(germline, "live", NAME)
    elsewhere = rewritten(live[3], b'"source":"skills/', b'"source":"out/')
    with changed(germline, [(*live[:3], elsewhere)]):
        refused(germline, f"project {NAME}", 1)
        germline.write(f"out/{NAME}/SKILL.md", f"---\nname: {NAME}\ndescription: Another's.\n---\n# Other\n")
        answer = germline("adopt", NAME)
        rmtree(germline.folder / "out")
        assert f"the folder of {NAME}" in answer.err


def test_an_alias_points_where_the_events_say(germline: Terminal) -> None:
    (outline,) = stored(germline, "capsule", NAME)
    alias, version = json.loads(outline[3])["aliases"][0]
    before = germline.does("show", f"{NAME}@{alias}").out
    moved = outline[3].replace(b'["%b",%d]' % (alias.encode(), version), b'["%b",1]' % alias.encode())
    assert moved != outline[3]
    with changed(germline, [(*outline[:3], moved)]):
        assert germline.does("show", f"{NAME}@{alias}").out == before


def test_a_version_from_before_there_was_a_promise_is_compared_with_a_fold_of_its_events(tmp_path: Path) -> None:
    packed, _ = registry_files(1)
    germline = Terminal(tmp_path, GERMLINE_REGISTRY=str(tmp_path / "registry.db"))
    germline.write("registry.db", gzip.decompress(packed.read_bytes()))
    texts = {ref: germline.does("show", f"{NAME}{ref}").out for ref in ("", "@3")}
    for view, ref in (("live", ""), ("snapshot", "@3")):
        with changed(germline, [with_text(document) for document in stored(germline, view, NAME)]):
            refused(germline, f"show {NAME}{ref}", 1)
    assert texts == {ref: germline.does("show", f"{NAME}{ref}").out for ref in texts}


def test_verify_names_the_skill_and_the_version(germline: Terminal) -> None:
    (live,) = stored(germline, "live", NAME)
    version = thaw(live[3]).version
    with changed(germline, [with_text(live)]):
        answer = germline("verify", "--json")
        (problem,) = answer.json["problems"]
        assert (answer.code, problem["kind"], problem["position"]) == (3, "documents", 0)
        assert problem["what"].startswith(f"the state of {NAME} at version {version} beside the events")
        hint = germline("verify").hint
    assert hint == f"germline copy {germline.folder / 'registry.db'} NEW folds them again"


def test_any_changed_document_is_named_by_verify_and_changes_no_text_that_leaves(germline: Terminal) -> None:
    draws, every = Random(7), stored(germline)
    path = germline.folder / "registry.db"
    versions = range(1, thaw(stored(germline, "live", NAME)[0][3]).version + 1)

    def texts() -> dict[str, str]:
        skill_texts = {}
        with closing(SqliteLog.open(path, read_only=True)) as log:
            for ref in ("", *map(str, versions)):
                try:
                    skill_texts[ref] = skill_text(Library(log).capsule(NAME, ref))
                except GermlineError as error:
                    skill_texts[ref] = f"{type(error).__name__}"
        return skill_texts

    whole = texts()
    by_view = {document[0]: document for document in draws.sample(every, len(every))}
    for view, key, seq, body in [*by_view.values(), *draws.sample(every, 40)]:
        if view in {"taken", "registry"}:
            continue  # all is folded again before anything is read
        flipped = bytearray(body) or bytearray(b"\1")
        flipped[draws.randrange(len(flipped))] ^= 1 << draws.randrange(8)
        with changed(germline, [(view, key, seq, bytes(flipped))]):
            with closing(SqliteLog.open(path, read_only=True)) as log:
                named = [problem.what for problem in document_problems(log)]
            assert [what for what in named if f"({view} {key} {seq})" in what], (view, key, seq)
            for ref, text in texts().items():
                assert text == whole[ref] or text.endswith("Error"), (view, key, seq, ref)


def test_a_document_too_many_and_one_too_few_are_named(germline: Terminal) -> None:
    with changed(germline, [("mention", NAME, 100_000, b"")]):
        refused(germline, "verify", 3)
    with changed(germline, []):
        with closing(sqlite3.connect(germline.folder / "registry.db", isolation_level=None)) as database:
            database.execute("DELETE FROM documents WHERE view = 'touch' AND seq > 20")
        refused(germline, "verify", 3)


COLUMNS: Final = ("payload", "actor", "at", "event_id", "hash", "previous_hash", "version")
SHOWN: Final = ("log --json", "status", f"why {NAME}:12", f"show {NAME} --blame", f"log {NAME}")


def test_a_changed_event_changes_no_answer_without_a_word(germline: Terminal) -> None:
    """Each event in one column: every answer is the one of before, or an error."""
    path = germline.folder / "registry.db"
    before = {line: germline.does(*line.split()).out for line in SHOWN}
    with closing(SqliteLog.open(path, read_only=True)) as log:
        positions = range(1, log.head().position + 1)
    assert len(positions) >= len(COLUMNS)
    for position in positions:
        column = COLUMNS[position % len(COLUMNS)]
        with without_triggers(path) as database:
            (whole,) = database.execute(f"SELECT {column} FROM events WHERE position = ?", (position,)).fetchone()
            flipped = whole + 1_000 if isinstance(whole, int) else whole[:-2] + type(whole)(whole[-2:][::-1])
            if flipped == whole:
                flipped = whole[:-1] + ("~" if isinstance(whole, str) else b"~")
            database.execute(f"UPDATE events SET {column} = ? WHERE position = ?", (flipped, position))
        try:
            for line, output in before.items():
                answer = germline(*line.split())
                assert answer.out == output or answer.code in {1, 3}, (position, column, line)
                assert answer.out == output or re.search(r"^error  |/error/", answer.err, re.MULTILINE), (
                    position,
                    line,
                )
        finally:
            with without_triggers(path) as database:
                database.execute(f"UPDATE events SET {column} = ? WHERE position = ?", (whole, position))
    germline.does("verify")
