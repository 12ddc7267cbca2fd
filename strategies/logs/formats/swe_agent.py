"""SWE-agent trajectories: one episode a file, actions and observations in turn, an exit status at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from events.errors import UnreadableLogError
from strategies.episodes.action_class import shell_head, writes
from strategies.episodes.episode import SUBMIT, EndedBy, Episode, Step
from strategies.episodes.error_fingerprint import looks_failed
from strategies.episodes.usage import Amount, total, usage_of
from strategies.files.bounded_lines import fit_part
from strategies.files.json_offsets import JsonDocument, JsonPart, document_of
from strategies.files.log_records import UNREADABLE, Malformed, NotObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.files.log_file import LogFile
    from strategies.files.log_records import ReadTally

_TOOL: Final = "bash"
"""SWE-agent's commands and those of the shell share one prompt: the class names the command, `bash:edit`."""


class _Turn(msgspec.Struct):
    action: str = ""
    observation: str = ""
    execution_time: Annotated[float, msgspec.Meta(ge=-1e12, le=1e12)] | None = None


class _Said(msgspec.Struct):
    role: str = ""
    content: str | list[msgspec.Raw] | None = None


class _ModelStats(msgspec.Struct):
    """What the run cost, and the tokens that were sent and received."""

    instance_cost: Amount = None
    tokens_sent: Amount = None
    tokens_received: Amount = None


class _Info(msgspec.Struct):
    exit_status: str | None = None
    model_stats: _ModelStats | NotObject = None


class _Run(msgspec.Struct):
    history: list[_Said] = []
    info: _Info = msgspec.field(default_factory=_Info)


_RUN: Final = msgspec.json.Decoder(_Run)
_TURN: Final = msgspec.json.Decoder(_Turn)


class SweAgentReader:
    """Reads SWE-agent `.traj` files."""

    name = "swe-agent"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether the document opens with a trajectory of actions."""
        del source
        return head.lstrip()[:1] == b"{" and b'"trajectory"' in head and b'"action"' in head

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the one episode of the document."""
        document = document_of(log)
        try:
            members = document.members(document.root)
            run = _RUN.decode(document.root.raw)
            turns = list(document.elements(members["trajectory"]))
        except (*UNREADABLE, KeyError) as error:
            raise UnreadableLogError(
                f"{log.source}: not a trajectory ({error})", hint="one object with a `trajectory` is expected"
            ) from error
        yield _episode(run, tuple(_steps(document, turns, log.source, tally)), log)


def _steps(document: JsonDocument, turns: list[JsonPart], source: str, tally: ReadTally) -> Iterator[Step]:
    index = 0
    for part in turns:
        tally.records += 1
        try:
            fields = document.members(part)
            step = _step(document, _TURN.decode(fit_part(part.raw)), fields, part, index)
        except UNREADABLE as error:
            line = document.line(part.byte_start)
            tally.malformed.append(Malformed(source, line, part.byte_start, str(error)))
        else:
            index += 1
            yield step


def _step(document: JsonDocument, turn: _Turn, fields: dict[str, JsonPart], part: JsonPart, index: int) -> Step:
    action = turn.action.strip()
    submits = action == SUBMIT
    tool, head = (SUBMIT, "") if submits else (_TOOL, shell_head(action))
    failed = not submits and looks_failed(turn.observation)
    return Step(
        index=index,
        turn=index,
        kind="call" if action else "note",
        actor="agent",
        tool=tool,
        head=head,
        text=action,
        result=turn.observation,
        error=failed,
        error_text=turn.observation if failed else "",
        writes=bool(action) and writes(tool, head),
        duration_ms=None if turn.execution_time is None else turn.execution_time * 1000,
        span=document.span(fields.get("action", part)),
        error_span=document.span(fields["observation"]) if failed else None,
    )


def _episode(run: _Run, steps: tuple[Step, ...], log: LogFile) -> Episode:
    asked = (
        message.content for message in run.history if message.role == "user" and isinstance(message.content, str)
    )
    stats = run.info.model_stats
    used = stats if isinstance(stats, _ModelStats) else _ModelStats()
    return Episode(
        id=log.stem,
        source=log.source,
        format=SweAgentReader.name,
        prompt=next(asked, ""),
        ended_by=_ended_by(run.info.exit_status, steps),
        steps=steps,
        usage=total([usage_of(used.tokens_sent, used.tokens_received, cost=used.instance_cost)]),
    )


def _ended_by(status: str | None, steps: tuple[Step, ...]) -> EndedBy:
    """Read the exit status: `submitted` alone is the agent's own end, `submitted (exit_cost)` is a limit's."""
    if status is None:
        return "agent" if steps and steps[-1].tool == SUBMIT else "unknown"
    if "exit_cost" in status or "exit_context" in status or "limit" in status:
        return "limit"
    return "agent" if status.startswith("submitted") else "environment"
