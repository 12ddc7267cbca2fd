"""Runs as evaluators read them: the answer, the files, the steps, and which anchors hold."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from registry.evidence.redaction import without_secrets
from strategies.audit.evaluators.evaluator_types import RunAction, RunRecord
from strategies.episodes.clipped_text import clipped
from strategies.rollouts.run.agent_sessions import printed_log, session_logs, transcripts_in, work_shown
from strategies.rollouts.tasks.check_types import check_name
from strategies.rollouts.tasks.workspace import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from events.store.sql_log import EventLog
    from strategies.rollouts.run.agent_sessions import AgentTrace
    from strategies.rollouts.run.trial import Trial
    from strategies.rollouts.tasks.task import RolloutTask

_MOST_FILES: Final = 40
_MOST_FILE_CHARS: Final = 100_000
_MOST_ANSWER_CHARS: Final = 20_000
_MOST_ACTIONS: Final = 400
_MOST_CALL_CHARS: Final = 4_000
"""What is kept of a run (guesses): the whole of what small tasks leave."""


def written_record(trace: AgentTrace) -> str:
    """Write down what an agent did, without secrets, for `record_of` to read.

    Its steps come from the logs that it leaves, else from what it prints where that is one; else all that it
    prints is its answer.
    """
    actions = tuple(_actions(session_logs(trace.layout.home))) or tuple(_actions(printed_log(trace)))
    last = _last_report(trace.printed)
    answer = last.get("result") if isinstance(last.get("result"), str) else None
    files = dict(islice(_texts(trace), _MOST_FILES))
    others = (_kept(path, _MOST_CALL_CHARS) for path in trace.files.changed)
    record = RunRecord(
        answer=_kept(trace.answer if answer is None else answer, _MOST_ANSWER_CHARS),
        files=files,
        changed=tuple(islice((path for path in others if path not in files), _MOST_FILES)),
        removed=tuple(_kept(path, _MOST_CALL_CHARS) for path in trace.files.removed),
        actions=actions[:_MOST_ACTIONS],
        note=_kept(trace.stderr, _MOST_CALL_CHARS),
        tokens=_tokens(last),
    )
    return record.model_dump_json(exclude_defaults=True)


def record_of(log: EventLog, task: RolloutTask, trial: Trial) -> RunRecord:
    """Read a finished run as evaluators see it; a run that was stopped keeps no anchor."""
    text, stopped = work_shown(log, trial), trial.status != "done" or trial.tampered
    record = RunRecord.model_validate_json(text) if text else RunRecord()
    names = map(check_name, task.anchors)
    return record.model_copy(
        update={
            "anchors": {name: not stopped and name not in trial.failed_anchors for name in names},
            "ended": "stopped" if stopped else "done",
            "note": trial.note or "; ".join(trial.tampering) or record.note,
            "attempts": trial.attempts,
        }
    )


def _actions(logs: Iterable[Path]) -> Iterator[RunAction]:
    for transcript in transcripts_in(logs):
        for step in transcript.steps:
            if step.kind == "call":
                yield RunAction(
                    tool=_kept(step.tool or step.action, _MOST_CALL_CHARS),
                    call=_kept(step.text, _MOST_CALL_CHARS),
                    output=_kept(step.result or step.error_text, _MOST_CALL_CHARS),
                    failed=step.error,
                )


def _texts(trace: AgentTrace) -> Iterator[tuple[str, str]]:
    """Yield the text files that an agent made or changed, one at a time: it may have made very many."""
    for path in trace.files.changed:
        text = read_text(trace.layout.workspace, path)
        if text is not None and "\0" not in text:
            yield _kept(path, _MOST_CALL_CHARS), _kept(text, _MOST_FILE_CHARS)


def _last_report(printed: str) -> dict[str, Any]:
    """Read the last line that an agent printed, where it is a JSON object: how `stream-json` and `json` end."""
    last = printed.strip().rpartition("\n")[2]
    try:
        report = json.loads(last) if last.startswith("{") else None
    except (ValueError, RecursionError):
        return {}
    return report if isinstance(report, dict) else {}


def _tokens(report: dict[str, Any]) -> int | None:
    usage = report.get("usage")
    tokens = usage.get("output_tokens") if isinstance(usage, dict) else None
    return tokens if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= 0 else None


def _kept(text: str, most_chars: int) -> str:
    """Take secrets out, and what no encoding can write: names of files and escapes of JSON may hold it."""
    return clipped(without_secrets(text.encode(errors="replace").decode()), most_chars)
