"""The sidecar's last line, as this machine's memory of a log: what was there once is there, or missed."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final

from events.errors import CorruptLogError

if TYPE_CHECKING:
    from pathlib import Path

    from events.store.protocol import Problem
    from events.store.sql_log import EventLog

_ENDING: Final = ".checkpoints.jsonl"
_TAIL_BYTES: Final = 4_096
"""A line has 1 to 2 kB at most."""


def sidecar_of(database: Path) -> Path:
    """Name the sidecar of a registry that is a file: beside it, whatever else is kept there."""
    return database.with_name(f"{database.name}{_ENDING}")


def require_last_seen(log: EventLog) -> None:
    """Raise CorruptLogError where a log lacks the last event that the sidecar saw: going on would fork history."""
    if problem := contradiction(log):
        raise CorruptLogError(
            f"{log.location}: {problem.what}", position=problem.position, hint="germline verify says how to go on"
        )


def contradiction(log: EventLog) -> Problem | None:
    """Tell where a log contradicts the last line of its sidecar; None too where there is none that can be read.

    Costs every command a read of 4 kB and of one hash; the rest of the line is checked only where that differs.
    """
    sidecar = sidecar_of(log.beside)
    try:
        size, head = _last_seen(sidecar)
        if [digest.hex() for digest in log.hashes(after=size - 1, upto=size)] == [head]:
            return None
    except OSError:
        return None
    except (ValueError, LookupError, TypeError, ArithmeticError, CorruptLogError):
        pass  # a torn or damaged line, or a position that the log cannot even look for
    from events.integrity.checkpoint import check_against  # noqa: PLC0415 - every command would pay 13 ms
    from events.integrity.checkpoint_file import read_sidecar  # noqa: PLC0415 - the same

    kept = read_sidecar(sidecar)
    problems = check_against(log, kept.checkpoints[-1:], roots=False) if kept else ()
    return problems[0] if problems else None


def _last_seen(sidecar: Path) -> tuple[int, str]:
    """Read where the log ended when the last line was written; raises what reading a damaged one does, OSError."""
    with sidecar.open("rb") as stream:
        stream.seek(-min(_TAIL_BYTES, stream.seek(0, os.SEEK_END)), os.SEEK_END)
        fields = json.loads(stream.read().splitlines()[-1])
    return int(fields["size"]), str(fields["head"])
