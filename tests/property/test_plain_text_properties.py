"""Searching lines in blocks: how the log is cut, and which engine searches, makes no difference."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from strategies.episodes.ci_outcomes import ENDINGS
from strategies.files import line_search
from strategies.files.line_search import HyperscanFinder, Re2Finder, UnusableError, Which, blocks
from strategies.files.log_file import LogFile
from strategies.files.log_records import ReadTally
from strategies.logs.formats.plain_text import FAILURES, PlainTextReader

if TYPE_CHECKING:
    from strategies.episodes.episode import EpisodeRecord
    from strategies.files.line_search import Finder

FAST = settings(derandomize=True, deadline=None, max_examples=60)
PATTERNS = FAILURES + ENDINGS
LINES = st.sampled_from(
    [
        *(b"", b"fine", b"ERROR x", b"\tat a.B.c(D.java:1)", b"Traceback (most recent call last):", b"  File x"),
        *(b"ValueError: x", b"Finished: FAILURE", b"Finished: SUCCESS", b"1 passed in 0.1s", b"exit code 1"),
        *(b"2026-01-02T03:04:05Z ERROR y", b"2026-01-02T03:04:05Z   at z", b"INFO failed", b"OK", b"caf\xc3\xa9"),
        *(b"\xff failed \x00 and then some text", b"x failed\r", b"error: a error: b"),
    ]
)
TEXTS = st.tuples(st.lists(LINES, max_size=12), st.booleans()).map(
    lambda lines_and_end: b"\n".join(lines_and_end[0]) + (b"\n" if lines_and_end[1] else b"")
)


@cache
def engines() -> tuple[Finder, ...]:
    plain = Re2Finder(PATTERNS)
    try:
        return plain, HyperscanFinder(PATTERNS)
    except UnusableError:
        return (plain,)  # the extra is not installed: then there is one engine to check


def read(body: bytes) -> tuple[list[EpisodeRecord], int]:
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.log")
        path.write_bytes(body)
        tally = ReadTally()
        episodes = list(PlainTextReader().read(LogFile(path), tally))
        return [structs.replace(episode, source="") for episode in episodes], tally.records


@FAST
@given(body=TEXTS, size=st.integers(1, 40))
def test_where_blocks_are_cut_makes_no_difference(body: bytes, size: int) -> None:
    whole = read(body)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_search, "BLOCK_BYTES", size)
        assert read(body) == whole
    assert whole[1] == len(body.split(b"\n")) - (not body or body.endswith(b"\n"))


@FAST
@given(body=TEXTS, size=st.integers(1, 40))
def test_blocks_tile_the_log_at_line_ends(body: bytes, size: int) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_search, "BLOCK_BYTES", size)
        path = Path(folder, "x.log")
        path.write_bytes(body)
        line_blocks = list(blocks(LogFile(path)))
    assert b"".join(block.raw for block in line_blocks) == body
    assert all(block.raw.endswith(b"\n") for block in line_blocks[:-1])
    assert [block.byte_start for block in line_blocks] == [
        body.index(block.raw, block.byte_start) for block in line_blocks
    ]


@FAST
@given(body=TEXTS)
def test_every_engine_finds_the_lines_that_match_one_by_one(body: bytes) -> None:
    which = Which(PATTERNS)
    expected, start = [], 0
    for line in body.split(b"\n"):
        if which.of(line):
            expected.append((start, start + len(line)))
        start += len(line) + 1
    for engine in engines():
        assert list(engine.lines(body)) == expected
