"""What the reader of plain text knows: failures, stack traces, levels, time stamps, and how CI jobs end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strategies.episodes.ci_outcomes import ENDINGS, ending_of
from strategies.episodes.episode import EpisodeOutcome, EpisodeRecord
from strategies.files.line_prefix import reports_no_failure, stamped
from strategies.files.line_search import Which
from strategies.files.log_file import LogFile
from strategies.files.log_records import ReadTally
from strategies.logs.formats import ci_job
from strategies.logs.formats.plain_text import FAILURES, PlainTextReader

if TYPE_CHECKING:
    from pathlib import Path


def read(folder: Path, text: str, name: str = "job.log") -> list[EpisodeRecord]:
    path = folder / name
    path.write_bytes(text.encode())
    return list(PlainTextReader().read(LogFile(path), ReadTally()))


def failure_texts(text: str, episodes: list[EpisodeRecord]) -> list[str]:
    """Give the text of each failure, as it is found again where it stands."""
    steps = [step for episode in episodes for step in episode.steps]
    raws = [text.encode()[step.span.byte_start : step.span.byte_end] for step in steps]
    return [answer for raw in raws for _, answer in PlainTextReader.record_texts.answers_in(raw)]


def failures(folder: Path, text: str) -> list[str]:
    return failure_texts(text, read(folder, text))


@pytest.mark.parametrize(
    ("line", "at", "rest"),
    [
        ("2026-01-02T03:04:05.678Z x", "2026-01-02T03:04:05.678Z", "x"),
        ("2026-01-02 03:04:05,678 x", "2026-01-02T03:04:05.678Z", "x"),
        ("[2026/01/02 03:04:05 +0200] x", "2026-01-02T03:04:05+02:00", "x"),
        ("[Sun Dec 04 04:47:44 2005] [error] x", "2005-12-04T04:47:44Z", "[error] x"),
        ("10/Oct/2000:13:55:36 -0700 x", "2000-10-10T13:55:36-07:00", "x"),
        ("081109 203615 148 INFO x", "2008-11-09T20:36:15Z", "148 INFO x"),
        ("Jun  4 15:16:01 combo x", None, "combo x"),
        ("build\tRun tests\t\ufeff2026-01-02T03:04:05.1Z x", "2026-01-02T03:04:05.1Z", "x"),
        ("no stamp 2026", None, "no stamp 2026"),
    ],
)
def test_time_stamp_is_read_and_taken_off(line: str, at: str | None, rest: str) -> None:
    assert stamped(line.encode()) == (at, rest.encode())


@pytest.mark.parametrize(
    ("line", "silent"),
    [
        (b"INFO 3 tasks failed before", True),
        (b"[notice] the error is gone", True),
        (b'{"level": "info", "msg": "failed"}', True),
        (b"level=debug msg=failed", True),
        (b"WARN it failed", False),
        (b"INFO copy: ERROR from the disk", False),
        (b"it failed", False),
        (b"x" * 200 + b" INFO", False),
    ],
)
def test_line_of_a_low_level_reports_no_failure(line: bytes, *, silent: bool) -> None:
    assert reports_no_failure(line) == silent


@pytest.mark.parametrize(
    "line",
    [
        *("ERROR x", "\x1b[31mERROR\x1b[0m x", "[error] x", 'level="error" x', "error[E0308]: mismatched types"),
        *("java.lang.IllegalStateException: x", "panic: x", "fatal: not a git repository", "Segmentation fault"),
        *("Out of memory: Killed process 7", "bash: foo: command not found", "cat: x: No such file or directory"),
        *(
            "Permission denied (publickey).",
            "connect: Connection refused",
            "read timed out",
            "authentication failure",
        ),
        *("##[error]x", "npm ERR! code 1", "make: *** [all] Error 2", "--- FAIL: TestX (0.00s)", "exit status 2"),
    ],
)
def test_failure_is_found_in_many_tongues(tmp_path: Path, line: str) -> None:
    assert len(failures(tmp_path, f"before\n{line}\nafter\n")) == 1


@pytest.mark.parametrize(
    "trace",
    [
        "Traceback (most recent call last):\n  File 'x', line 1, in f\n    g()\nValueError: x",
        "ERROR:root:boom\nTraceback (most recent call last):\n  File 'x', line 1, in f\nKeyError: 1",
        "ERROR x\njava.lang.RuntimeException: x\n\tat a.B.c(D.java:1)\nCaused by: a.b.CException: y\n\t... 3 more",
        "TypeError: x is not a function\n    at f (/x/y.js:1:2)\n    at node:internal/main:1:1",
        "thread 'main' panicked at src/main.rs:2:5:\nindex out of bounds\nnote: run with `RUST_BACKTRACE=1`",
        "error[E0308]: mismatched types\n --> src/main.rs:5:9\n  |",
    ],
)
@pytest.mark.parametrize("stamp", ["", "2026-01-02T03:04:05.678Z "])
def test_stack_trace_belongs_to_the_failure_before_it(tmp_path: Path, trace: str, stamp: str) -> None:
    lines = ["start", *trace.split("\n"), "next thing"]
    assert failures(tmp_path, "".join(f"{stamp}{line}\n" for line in lines)) == [trace]


def test_endless_trace_is_cut(tmp_path: Path) -> None:
    text = "RecursionError: x\n" + "  again\n" * 1000
    (failure,) = failures(tmp_path, text)
    assert failure.count("\n") < 200


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("===== 3 passed, 1 warning in 0.12s =====\n", EpisodeOutcome(1.0, "tests")),
        ("1 failed, 3 passed in 0.12s\n", EpisodeOutcome(0.0, "tests")),
        ("=== 2 passed, 1 error in 3.10s ===\n", EpisodeOutcome(0.0, "tests")),
        ("Ran 3 tests in 0.1s\n\nOK (skipped=1)\n", EpisodeOutcome(1.0, "tests")),
        ("Ran 3 tests in 0.1s\n\nFAILED (failures=1)\n", EpisodeOutcome(0.0, "tests")),
        ("Tests:       1 failed, 2 passed, 3 total\n", EpisodeOutcome(0.0, "tests")),
        ("Tests:       3 passed, 3 total\n", EpisodeOutcome(1.0, "tests")),
        ("      Tests  2 passed (2)\n", EpisodeOutcome(1.0, "tests")),
        ("  3 passing (12ms)\n  1 failing\n", EpisodeOutcome(0.0, "tests")),
        ("7 examples, 0 failures\n", EpisodeOutcome(1.0, "tests")),
        ("test result: ok. 5 passed; 0 failed; 0 ignored\n", EpisodeOutcome(1.0, "tests")),
        ("test result: ok. 5 passed\ntest result: FAILED. 1 passed; 1 failed\n", EpisodeOutcome(0.0, "tests")),
        ("ok  \texample.com/x\t0.012s\n", EpisodeOutcome(1.0, "tests")),
        ("ok  \texample.com/x\t(cached)\nFAIL\texample.com/y\t0.012s\nFAIL\n", EpisodeOutcome(0.0, "tests")),
        ("3 passed in 0.1s\nERROR: Job failed: exit code 1\n", EpisodeOutcome(0.0, "ci")),
        ("1 failed in 0.1s\nJob succeeded\n", EpisodeOutcome(1.0, "ci")),
        ("Finished: UNSTABLE\n", EpisodeOutcome(0.0, "ci")),
        ("Done. Your build exited with 0.\n", EpisodeOutcome(1.0, "ci")),
        ("3 passed in 0.1s\n##[error]Process completed with exit code 2.\n", EpisodeOutcome(0.0, "ci")),
        ("Exited with code exit status 1\n", EpisodeOutcome(0.0, "ci")),
        ("[INFO] BUILD SUCCESS\n", EpisodeOutcome(1.0, "ci")),
        ("BUILD FAILED in 3s\n", EpisodeOutcome(0.0, "ci")),
        ("Process exited with code 0\n\n", EpisodeOutcome(1.0, "ci")),
        ("child: exit code 3\n1 passed in 0.1s\n", EpisodeOutcome(1.0, "tests")),
        ("child: exit code 3\nand so on\n", None),
        ("Finished: ABORTED\n", None),
        ("nothing to tell\n", None),
    ],
)
def test_outcome_is_what_the_strongest_ending_says(
    tmp_path: Path, text: str, outcome: EpisodeOutcome | None
) -> None:
    (episode,) = read(tmp_path, f"start\n{text}")
    assert episode.outcome == outcome


def test_every_form_of_an_ending_is_one_that_the_search_looks_at() -> None:
    which = Which(ENDINGS)
    endings = (
        *(
            "Job succeeded",
            "ERROR: Job failed: exit code 1",
            "Finished: SUCCESS",
            "Done. Your build exited with 1.",
        ),
        *(
            "Cleaning up orphan processes",
            "##[error]Process completed with exit code 1.",
            "BUILD SUCCESSFUL in 1s",
        ),
        *("Exited with code exit status 0", 'The command "make" exited with 2.', "2 passed in 1.0s", "OK"),
        *("Tests: 1 failed", "1 passing", "1 failing", "2 examples, 1 failure", "FAILED (errors=1)"),
        *("test result: ok.", "ok  \tx/y\t(cached)", "FAIL\tx/y\t[build failed]", "FAIL\tx/y\t0.1s"),
    )
    assert [line for line in endings if not ending_of(line)] == []
    assert [line for line in endings if not which.of(line.encode())] == []


def test_each_job_of_a_file_is_an_episode_with_its_own_end(tmp_path: Path) -> None:
    text = "ERROR a\nFinished: FAILURE\nnext\nERROR b\nERROR c\nFinished: SUCCESS\nERROR d\n"
    jobs = [
        (episode.name, len(episode.steps), episode.outcome and episode.outcome.value)
        for episode in read(tmp_path, text)
    ]
    assert jobs == [("job", 1, 0.0), ("job#2", 2, 1.0), ("job#3", 1, None)]


def test_log_without_a_failure_is_an_episode_too(tmp_path: Path) -> None:
    (episode,) = read(tmp_path, "2026-01-02T03:04:05Z all is well\n")
    assert (episode.steps, episode.started_at) == ((), "2026-01-02T03:04:05Z")


def test_long_log_is_cut_into_parts_and_the_last_tells_the_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ci_job, "PART_STEPS", 2)
    parts = read(tmp_path, "3 passed in 0.1s\n" + "ERROR x\n" * 5 + "1 failed in 0.1s\n")
    assert [(part.name, len(part.steps)) for part in parts] == [("job", 2), ("job/2", 2), ("job/3", 1)]
    assert [part.outcome for part in parts] == [None, None, EpisodeOutcome(0.0, "tests")]


def test_exit_code_at_the_end_is_a_label(tmp_path: Path) -> None:
    (episode,) = read(tmp_path, "make: *** [all] Error 2\nexit status 2\n")
    assert (episode.labels, episode.outcome) == ({"exit_status": "2"}, EpisodeOutcome(0.0, "ci"))
    assert len(episode.steps) == 2


def test_windows_line_ends_are_no_part_of_a_record(tmp_path: Path) -> None:
    text = "start\r\nERROR x\r\n  more\r\nend\r\n"
    (episode,) = read(tmp_path, text)
    (step,) = episode.steps
    assert (failure_texts(text, [episode]), step.span.line) == (["ERROR x\n  more"], 2)
    assert (step.span.byte_start, step.span.byte_end) == (7, 22)


@pytest.mark.parametrize(
    ("name", "text", "taken"),
    [
        ("server.log", "anything\n", True),
        ("server.log.1.gz", "anything\n", True),
        ("notes.md", "# An ERROR\nin prose\n", False),
        ("dated", "2026-01-02T03:04:05Z a\n2026-01-02T03:04:06Z b\n  c\n", True),
        ("server.log", "\x00\x01" * 100, False),
        ("server.log", "", False),
    ],
)
def test_only_what_is_called_a_log_or_dated_is_taken(name: str, text: str, *, taken: bool) -> None:
    assert PlainTextReader().sniff(text.encode(), f"/var/{name}") == taken


def test_patterns_can_be_others(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_text("ERROR x\nkaputt\n")
    episodes = list(PlainTextReader(("kaputt",)).read(LogFile(path), ReadTally()))
    assert failure_texts("ERROR x\nkaputt\n", episodes) == ["kaputt"]
    assert len(FAILURES) == 20
