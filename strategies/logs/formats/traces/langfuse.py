"""Observations of Langfuse, exported from its screens (camelCase) or to storage (snake_case).

Source: packages/shared/src/domain/observations.ts of langfuse/langfuse, 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.episodes.episode_records import plain
from strategies.episodes.usage import NOTHING_SPENT, Usage, dollars, tokens, usage_of
from strategies.files.json_records import records_of
from strategies.files.log_records import UNREADABLE
from strategies.logs.formats.traces.trace_runs import TraceRun, episodes_of_runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import Episode
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import Json, ReadTally

_KINDS: Final = {"GENERATION": "model", "TOOL": "tool", "RETRIEVER": "tool"}


class _Observation(msgspec.Struct):
    """One observation, in either spelling."""

    type: str = ""
    name: str | None = None
    input: object = None
    output: object = None
    level: str = ""
    model: str | None = None
    trace: str = msgspec.field(default="", name="traceId")
    started: str | None = msgspec.field(default=None, name="startTime")
    ended: str | None = msgspec.field(default=None, name="endTime")
    parent: str | None = msgspec.field(default=None, name="parentObservationId")
    parent_observation_id: str | None = None
    status: str | None = msgspec.field(default=None, name="statusMessage")
    session: str | None = msgspec.field(default=None, name="sessionId")
    trace_id: str = ""
    start_time: str | None = None
    end_time: str | None = None
    status_message: str | None = None
    session_id: str | None = None
    provided_model_name: str | None = None
    usageDetails: object = None  # noqa: N815 - the field of the log
    costDetails: object = None  # noqa: N815 - as above
    usage_details: object = None
    cost_details: object = None
    total_cost: object = None
    usage: object = None


_OBSERVATION: Final = msgspec.json.Decoder(_Observation)


class LangfuseReader:
    """Reads exported observations of Langfuse."""

    name = "langfuse"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether records name the type and the level of an observation, and its trace."""
        del source
        trace = b'"traceId"' in head or b'"trace_id"' in head
        start = b'"startTime"' in head or b'"start_time"' in head
        return head.lstrip()[:1] in {b"{", b"["} and trace and start and b'"level"' in head and b'"type"' in head

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the sessions, and the traces of none, in the order of their first observation in the file."""
        return episodes_of_runs(records_of(log, tally, "data"), _run_of, log, tally, self.name)


def _run_of(raw: Json) -> TraceRun | None:
    seen = _OBSERVATION.decode(raw)
    inner = seen.parent or seen.parent_observation_id or seen.type == "EVENT"
    kind = _KINDS.get(seen.type) or (None if inner else "root")
    if kind is None:
        return None
    failed, model = seen.level == "ERROR", seen.model or seen.provided_model_name or ""
    return TraceRun(
        trace=seen.trace or seen.trace_id,
        kind=kind,
        name=seen.name or "",
        started=seen.started or seen.start_time or "",
        ended=seen.ended or seen.end_time or "",
        input=_decoded(seen.input),
        output=_decoded(seen.output),
        error=(seen.status or seen.status_message or "") if failed else "",
        failed=failed,
        model=model,
        usage=_usage_of(seen, model) if kind in {"model", "root"} else NOTHING_SPENT,
        session=seen.session or seen.session_id or "",
    )


def _usage_of(seen: _Observation, model: str) -> Usage:
    """Add up the kinds of tokens, none of which holds another, by the word in their names."""
    used, costs = (
        value if isinstance(value, dict) else {}
        for value in map(
            _decoded,
            (seen.usageDetails or seen.usage_details or seen.usage, seen.costDetails or seen.cost_details),
        )
    )
    kinds = {name: number for name, value in used.items() if (number := tokens(value)) is not None}

    def of(*words: str) -> int | None:
        counted = [number for name, number in kinds.items() if any(word in name for word in words)]
        return sum(counted) if counted else None

    cost = costs.get("total", seen.total_cost)
    if dollars(cost) is None:
        parts = [amount for value in costs.values() if (amount := dollars(value)) is not None]
        cost = sum(parts) if parts else None
    return usage_of(
        of("input", "prompt"),
        of("output", "completion"),
        of("cache_read", "cached"),
        cost=cost,
        model=plain(model),
    )


def _decoded(value: object) -> object:
    """Give what a value says that may be JSON written as a text."""
    if not isinstance(value, str) or not value.startswith(("{", "[", '"')):
        return value
    try:
        return msgspec.json.decode(value)
    except UNREADABLE:
        return value
