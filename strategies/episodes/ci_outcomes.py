"""How a CI job or a test run ended, by the lines in which its tools say so.

What the CI says of the whole job counts before what a command's exit code says, and that before the summaries
of tests; among equals one failure is enough. A bare exit code counts only where the log ends with it: in the
middle it is that of some child, and the job may go on.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import re2

from strategies.episodes.episode import EpisodeOutcome, OutcomeSource

ENDINGS: Final = (
    r"Job (succeeded|failed)",  # GitLab
    r"Finished: [A-Z_]+",  # Jenkins
    r"exited with [0-9]",  # Travis
    r"Cleaning up orphan processes",  # GitHub Actions
    r"exit(ed with)? (code|status)",  # GitHub Actions, Azure, CircleCI, Buildkite, shells
    r"BUILD (SUCCESS|FAIL)",  # Maven, Gradle, Ant
    r"[0-9] (passed|failed|errors?).* in [0-9]",  # pytest
    r"Tests:? .*[0-9] (passed|failed)",  # jest, vitest
    r"[0-9] (passing|failing|examples?,)",  # mocha, rspec
    r"FAILED \((failures|errors)|OK( \(.*\))?\r?$",  # unittest
    r"test result: (ok|FAILED)",  # cargo
    r"(ok|FAIL)[ \t]+[A-Za-z0-9_./-]+[ \t]+(\(cached\)|\[build failed\]|[0-9.]+s)",  # go
)
"""Lines worth a look, in the dialect of line_search; `ending_of` then tells what they say, if anything."""


class Ending(NamedTuple):
    """What a line says of the end: its weight (the highest counts), a value, and whether a job ends with it."""

    weight: int
    value: float | None = None
    closes: bool = False


_JOB, _COMMAND, _TESTS = 3, 2, 1
_CI_GOOD: Final = r"^Job succeeded$|^Finished: SUCCESS$|^Done\. Your build exited with 0\b"
_CI_BAD: Final = r"^ERROR: Job failed|^Finished: (?:FAILURE|UNSTABLE)$|^Done\. Your build exited with [1-9]"
_CI_OVER: Final = r"^Cleaning up orphan processes$|^Finished: (?:ABORTED|NOT_BUILT)$"
"""GitHub's last line of a job, whatever became of it; Jenkins on a job that somebody stopped."""

_COMMAND_GOOD: Final = (
    r"^Exited with code exit status 0\b|\bThe command (?:\".*\" )?exited with (?:status )?0\b"
    r"|\bBUILD SUCCESS(?:FUL)?\b"
)
_COMMAND_BAD: Final = (
    r"^##\[error\].*exit(?:ed with)? code '?[1-9]|^Exited with code exit status [1-9]"
    r"|\bThe command (?:\".*\" )?exited with (?:status )?[1-9]|\bBUILD FAIL(?:ED|URE)\b"
)
_TESTS_GOOD: Final = (
    r"^=*\s*\d+ passed\b.* in [\d.]+ ?m?s|^\s*Tests:? +.*\b\d+ passed|^\s*\d+ passing\b"
    r"|^\d+ examples?, 0 failures|^OK(?: \(.*\))?$|^test result: ok\.|^ok[ \t]+\S+[ \t]+(?:\(cached\)|[\d.]+s)"
)
_TESTS_BAD: Final = (
    r"^=*\s*(?:\d+ \w+, )*[1-9]\d* (?:failed|errors?)\b.* in [\d.]+ ?m?s|^\s*Tests:? +.*\b[1-9]\d* failed"
    r"|^\s*[1-9]\d* failing\b|^\d+ examples?, [1-9]\d* failure|^FAILED \((?:failures|errors)="
    r"|^test result: FAILED\.|^FAIL[ \t]+\S+[ \t]+(?:\[build failed\]|[\d.]+s)"
)
_FORMS: Final = (
    (re2.compile(_CI_GOOD), Ending(_JOB, 1.0, closes=True)),
    (re2.compile(_CI_BAD), Ending(_JOB, 0.0, closes=True)),
    (re2.compile(_CI_OVER), Ending(_JOB, None, closes=True)),
    (re2.compile(_COMMAND_BAD), Ending(_COMMAND, 0.0)),
    (re2.compile(_COMMAND_GOOD), Ending(_COMMAND, 1.0)),
    (re2.compile(_TESTS_BAD), Ending(_TESTS, 0.0)),
    (re2.compile(_TESTS_GOOD), Ending(_TESTS, 1.0)),
)
"""The failing form first: a summary tells both counts."""

_EXIT: Final = re2.compile(r"\b[Ee]xit(?:ed with)? (?:code|status)(?: exit status)?:? '?(\d{1,3})\b")


def ending_of(message: str) -> Ending | None:
    """Tell what a line, without colours and time stamp, says of the end of a job or a test run."""
    return next((ending for form, ending in _FORMS if form.search(message)), None)


def exit_status_of(message: str) -> str:
    """Give the exit code that a line names, "" where it names none."""
    match = _EXIT.search(message)
    return str(match[1]) if match else ""


def outcome_of(endings: list[Ending], last_status: str) -> EpisodeOutcome | None:
    """Give the outcome of a job from all its endings, and the exit code that its last line names ("": none)."""
    if last_status:
        endings = [*endings, Ending(_COMMAND, 0.0 if int(last_status) else 1.0)]
    decided = [ending for ending in endings if ending.value is not None]
    weight = max((ending.weight for ending in decided), default=0)
    values = [ending.value for ending in decided if ending.weight == weight and ending.value is not None]
    source: OutcomeSource = "tests" if weight == _TESTS else "ci"
    return EpisodeOutcome(min(values), source) if values else None
