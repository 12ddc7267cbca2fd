"""What an agent did in a run, as a proposer may read it: its session logs, its output, the files it changed."""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.episodes.clipped_text import clipped, indented
from strategies.episodes.whole_episode import shown_text
from strategies.files.default_locations import usual_logs
from strategies.logs.log_listing import log_files
from strategies.logs.scan_file import ReadTask, scan_file
from strategies.logs.transcripts import read_transcripts
from strategies.models.transcript_text import written
from strategies.rollouts.tasks.workspace import read_text
from strategies.sandbox.confined_run import run_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from events.store.sql_log import EventLog
    from strategies.logs.transcripts import Transcript
    from strategies.rollouts.run.trial import Trial
    from strategies.rollouts.run.trial_folders import Layout

    Watch = Callable[["AgentTrace"], str]

MOST_CHARS: Final = 12_000
"""How much of a run is kept: twice what a prompt shows of an episode (a guess)."""
_MOST_FILES: Final = 8
_MOST_FILE_CHARS: Final = 1_500
_MOST_PRINTED_CHARS: Final = 4_000
_MOST_LOG_BYTES: Final = 32_000_000
"""What is looked at, and shown (guesses)."""


class FilesLeft(NamedTuple):
    """The files of a workspace that an agent made or changed, and those it removed, each sorted."""

    changed: tuple[str, ...]
    removed: tuple[str, ...]


class AgentTrace(NamedTuple):
    """What a run left beside its grade; `printed` is all that the agent printed, or its messages as a log."""

    layout: Layout
    answer: str
    printed: str
    stderr: str
    code: int
    files: FilesLeft


def work_done(trace: AgentTrace) -> str:
    """Write down what an agent did in its folders, without secrets.

    Its steps come from the session logs of known agents in its home, or from what it printed where that is such a
    log; else what it printed is shown as it is.
    """
    printed, stderr = shown_text(trace.printed), shown_text(trace.stderr)
    logs = (*session_logs(trace.layout.home), *printed_log(trace))
    parts = list(steps_in(logs)) or ["the agent printed", *indented(printed, _MOST_PRINTED_CHARS)]
    if stderr.strip():
        parts += [f"exit code {trace.code}", *indented(stderr, _MOST_FILE_CHARS)]
    for path in trace.files.changed[:_MOST_FILES]:
        text = read_text(trace.layout.workspace, path)
        if text is not None and "\0" not in text:
            parts += [f"file {shown_text(path)}", *indented(shown_text(text), _MOST_FILE_CHARS)]
    return clipped("\n".join(parts), MOST_CHARS)


def printed_log(trace: AgentTrace) -> list[Path]:
    """Give what an agent printed as a log, where it may be one."""
    if not trace.printed.lstrip().startswith("{"):
        return []
    printed = trace.layout.root / "printed.jsonl"
    printed.write_text(trace.printed, encoding="utf-8")
    return [printed]


def transcripts_in(logs: Iterable[Path]) -> Iterator[Transcript]:
    """Read the episodes of logs; a file that is no log gives nothing."""
    for path in logs:
        drafts = scan_file(ReadTask(path=path)).drafts
        for transcript in read_transcripts(drafts, frozenset()):
            if transcript is not None and transcript.steps:
                yield transcript


def steps_in(logs: Iterable[Path]) -> Iterator[str]:
    """Read the episodes of logs, each written down step by step."""
    return (written(transcript, MOST_CHARS) for transcript in transcripts_in(logs))


def session_logs(home: Path) -> list[Path]:
    """Find the logs that known agents leave in their home; nothing that a link leads to outside of it."""
    inside = home.resolve()
    places = [place for _, place in usual_logs(home) if place.resolve().is_relative_to(inside)]
    files = chain.from_iterable(log_files([place], may_be_gone=True) for place in places)
    return [path for path, _ in files if path.is_relative_to(inside) and path.stat().st_size <= _MOST_LOG_BYTES]


def work_shown(log: EventLog, trial: Trial) -> str:
    """Give what an agent did in a finished run, "" where nothing of it was kept."""
    if trial.work:
        return trial.work
    if trial.work_kept:
        return (log.get_blob(trial.work_kept) or b"").decode(errors="replace")
    body = log.get_blob(trial.transcript) if trial.transcript else None
    if body is None:
        return ""
    with run_folder("transcript-") as folder:
        place = folder / "run.json"
        place.write_text(json.dumps({"messages": json.loads(body)["messages"]}), encoding="utf-8")
        return clipped("\n".join(steps_in([place])), MOST_CHARS)
