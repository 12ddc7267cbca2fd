"""mini-swe-agent trajectories (`*.traj.json`): chat messages whose `extra` tells commands and return codes.

Source: mini-swe-agent 2.4.6, docs/usage/output_files.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import re2

from events.errors import UnreadableLogError
from strategies.episodes.episode_records import plain
from strategies.episodes.usage import Amount, usage_of
from strategies.files.json_offsets import document_of
from strategies.files.log_records import UNREADABLE, NotObject, count_unknown
from strategies.logs.formats.coding_agents.session import Session, TextPart, text_in, time_of_ms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import EndedBy, Episode
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import Json, ReadTally, Span

_SHELL: Final = "bash"
_LAST_S: Final = 1e11
"""Seconds since 1970 that still are a time."""
_ENDS: Final[dict[str, EndedBy]] = {"Submitted": "agent", "LimitsExceeded": "limit", "TimeExceeded": "limit"}


class _Action(msgspec.Struct):
    command: str = ""
    tool_call_id: str | None = None


class _Tokens(msgspec.Struct):
    """What a model's answer says of tokens, as LiteLLM passes it on."""

    prompt_tokens: Amount = None
    completion_tokens: Amount = None


class _Answer(msgspec.Struct):
    usage: _Tokens | NotObject = None


class _Extra(msgspec.Struct):
    actions: list[_Action] | None = None
    returncode: int | None = None
    exit_status: str | None = None
    timestamp: Amount = None
    response: _Answer | NotObject = None


class _Message(msgspec.Struct):
    role: str = ""
    content: str | list[TextPart] | None = None
    tool_call_id: str | None = None
    extra: _Extra = msgspec.field(default_factory=_Extra)


class _ModelConfig(msgspec.Struct):
    model_name: str = ""


class _Config(msgspec.Struct):
    model: _ModelConfig = msgspec.field(default_factory=_ModelConfig)


class _ModelStats(msgspec.Struct):
    instance_cost: Amount = None


class _Info(msgspec.Struct):
    exit_status: str | None = None
    mini_version: str = ""
    model_stats: _ModelStats | NotObject = None
    config: _Config = msgspec.field(default_factory=_Config)


class _Run(msgspec.Struct):
    info: _Info = msgspec.field(default_factory=_Info)
    instance_id: str = ""


_RUN: Final = msgspec.json.Decoder(_Run)
_MESSAGE: Final = msgspec.json.Decoder(_Message)


_COMMAND: Final = re2.compile(r"(?s)```bash\s*\n(.*?)\n```")
"""The one command of an answer, where the log names none: before version 2."""
_RETURNED: Final = re2.compile(r"^\s*<returncode>(-?\d+)</returncode>")
_TIMED_OUT: Final = "timed out"
_OPENING_CHARS: Final = 2_000


def _actions(message: _Message, text: str) -> list[_Action]:
    """Give the commands of an answer."""
    if message.extra.actions is not None:
        return message.extra.actions
    written = _COMMAND.findall(text)
    return [_Action(command=written[0])] if len(written) == 1 else []


def _returned(message: _Message, text: str) -> int | None:
    """Give the code with which a command ended, None for a message that answers none."""
    if message.extra.returncode is not None or message.role != "user":
        return message.extra.returncode
    written = _RETURNED.search(text)
    if written:
        return int(written[1])
    return 1 if text.startswith("The last command") and _TIMED_OUT in text[:_OPENING_CHARS] else None


class MiniSweAgentReader:
    """Reads mini-swe-agent trajectories."""

    name = "mini-swe-agent"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether the document names the format, or lies under its suffix and opens with its info."""
        named = b'"mini-swe-agent-' in head
        return head.lstrip()[:1] == b"{" and (
            named or (".traj.json" in source and b'"info"' in head and b'"model_stats"' in head)
        )

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the one run of the document."""
        session = _Trajectory(log, tally)
        document = document_of(log)
        try:
            run = _RUN.decode(document.root.raw)
            parts = list(document.elements(document.members(document.root)["messages"]))
        except (*UNREADABLE, KeyError) as error:
            raise UnreadableLogError(
                f"{log.source}: not a trajectory of mini-swe-agent ({error})",
                hint="one object with `messages` is expected",
            ) from error
        session.name = plain(run.instance_id)
        session.model = plain(run.info.config.model.model_name)
        session.labels = {"version": plain(run.info.mini_version)}
        session.learn_each(((part.raw, document.span(part)) for part in parts), session.learn)
        session.started_at = session.first_time
        stats = run.info.model_stats
        cost = stats.instance_cost if isinstance(stats, _ModelStats) else None
        session.spent.append(usage_of(cost=cost, duration_ms=session.duration_ms, model=session.model))
        if run.info.exit_status:
            session.ended_by = _ENDS.get(run.info.exit_status, "environment")
        yield from session.episodes(self.name)


class _Trajectory(Session):
    """A run while its messages come: commands answered in turn, by messages of the person or of a tool."""

    def __init__(self, log: LogFile, tally: ReadTally) -> None:
        super().__init__(log, tally)
        self._times: list[float] = []

    @property
    def first_time(self) -> str | None:
        """The time of the first message that has any."""
        return time_of_ms(min(self._times) * 1000) if self._times else None

    @property
    def duration_ms(self) -> float | None:
        """The time between the first message and the last one."""
        return (max(self._times) - min(self._times)) * 1000 if self._times else None

    def learn(self, raw: Json, span: Span) -> None:
        message = _MESSAGE.decode(raw)
        at, answer = message.extra.timestamp, message.extra.response
        if isinstance(at, (int, float)) and 0 <= at <= _LAST_S:
            self._times.append(at)
        if isinstance(answer, _Answer) and isinstance(answer.usage, _Tokens):
            self.spent.append(usage_of(answer.usage.prompt_tokens, answer.usage.completion_tokens))
        text = text_in(message.content)
        if message.role == "assistant":
            group = f"at {span.byte_start}"
            self.say(text, span, group=group, at=None)
            for number, action in enumerate(_actions(message, text)):
                call_id = action.tool_call_id or f"{group} {number}"
                self.call(call_id, _SHELL, action.command, span, group=group, at=None)
        elif (code := _returned(message, text)) is not None and self.conversation.waiting:
            failed = code != 0
            self.answer(message.tool_call_id or "", text, span, failed=failed, at=None)
        elif message.role == "user":
            self.ask(text, span, at=None)
        elif message.role not in {"system", "exit"}:
            count_unknown(self.tally, f"role {message.role}")
