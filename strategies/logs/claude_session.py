"""One Claude Code session while its records come: steps as drafts, and the calls that wait for their results."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from registry.redaction import without_secrets
from strategies.logs.actions import head_of
from strategies.logs.claude_records import Block, Message, Record, argument_in, interrupted, text_of
from strategies.logs.claude_tools import Tool, action_of, tool_of
from strategies.logs.conversation import command_of, elapsed_ms
from strategies.logs.episode import MESSAGE, EndedBy, EpisodeRecord, Kind, Span, Step
from strategies.logs.keys import bytes_key
from strategies.logs.marks import PERMISSION_DENIED, USER_INTERRUPT, Marker, may_be_marked, said
from strategies.logs.places import read_span
from strategies.logs.records import completed, keep_times, plain, prompt_key, unnamed_task
from strategies.logs.reduction import StepDraft, draft_of, drafts_of, template_of
from strategies.logs.skill_use import PARTS, SKILL_FILE, ran_under, skills_injected, skills_used

_INTERRUPTED: Final = "[Request interrupted by user"
_DENIED: Final = "The user doesn't want to proceed with this tool use"
_TOOL_ERROR: Final = "<tool_use_error>"
_LOCAL_COMMAND: Final = ("<command-", "<local-command-", "Caveat: The messages below")
_NOT_YET_FAILED: Final = False
_COMMAND_CHARS: Final = 500
"""How much of a command is looked at for its head."""

_OPENINGS: Final = (b'"[Request', b'"The user', b'"<tool', b"[{")
"""How the JSON of a result begins that may hold one of the marks above: at once, or in a list of blocks."""

_SKILL_FILE: Final = SKILL_FILE.encode()
_PARTS: Final = tuple(part.encode() for part in PARTS)
_LIMITS: Final = ("max_tokens", "model_context_window_exceeded")


class Session(msgspec.Struct, dict=True):
    """One session, or the sub-agent of one.

    `waiting` says which step each call is that waits for its result. `arguments` holds the text of such calls, and
    is no part of what a checkpoint keeps: there is no text in it.
    """

    name: str
    source: str
    started_at: str | None = None
    labels: dict[str, str] = {}
    model: str = ""
    ended_by: EndedBy = "unknown"
    prompt_key: str = ""
    skills: tuple[tuple[str, str], ...] = ()
    turn: int = -1
    group: str | None = None
    drafts: list[StepDraft] = []
    waiting: dict[str, int] = {}
    marker: Marker = msgspec.field(default_factory=Marker)

    def __post_init__(self) -> None:
        self.arguments: dict[str, tuple[Tool, bytes]] = {}

    def assistant(self, message: Message, group: str | None, span: Span, at: str | None) -> None:
        """Learn what the agent says and calls; blocks of one group are one turn."""
        if not self.model and message.model and not message.model.startswith("<"):
            self.model = plain(message.model)
        content, calls = message.content, False
        if isinstance(content, str):
            if content:
                self._say("agent", content, span, at, group)
        else:
            for block in content:
                if block.type == "tool_use":
                    self._call(block, span, at, group)
                    calls = True
                elif block.type == "text" and block.text:
                    self._say("agent", block.text, span, at, group)
        if message.stop_reason in _LIMITS:
            self.ended_by = "limit"
        else:
            self.ended_by = "unknown" if calls or self.waiting else "agent"

    def user(self, record: Record, message: Message, span: Span) -> int:
        """Learn what the user says and what calls gave back; returns how many results answer no call."""
        if isinstance(message.content, str):
            if message.content:
                self._said(record, message.content, span)
            return 0
        lost = 0
        for block in message.content:
            if block.type == "tool_result":
                lost += not self._answer(record, block, span)
                self.ended_by = "unknown"
            elif block.type == "text" and block.text:
                self._said(record, block.text, span)
        return lost

    def mark(self, error_type: str, actor: Literal["user", "environment"], span: Span, at: str | None) -> None:
        """Note what happened to the agent, such as an interrupt."""
        self._enter(None)
        step = Step(
            index=len(self.drafts),
            turn=self.turn,
            kind="note",
            actor=actor,
            error_type=error_type,
            started_at=at,
            span=span,
        )
        self.drafts.append(draft_of(step, self.marker))

    def record(self) -> EpisodeRecord:
        """Give the record of the session as far as it was read."""
        header = EpisodeRecord(
            id="",
            name=plain(self.name),
            source=self.source,
            format="claude-code",
            task=unnamed_task(self.prompt_key, self.model, self.name),
            run=self.model,
            difficulty="",
            labels={name: value for name, value in self.labels.items() if value},
            prompt_key=self.prompt_key,
            answer_key="",
            started_at=self.started_at,
            outcome=None,
            ended_by=self.ended_by,
            skills=tuple((plain(name), plain(version)) for name, version in self.skills),
            steps=(),
        )
        keep_times(self.drafts)
        return completed(header, self.drafts)

    def forget_secrets(self) -> None:
        """Forget calls that wait under an id in which a secret stands, and times that are none: both are kept."""
        keep_times(self.drafts)
        self.waiting = {one: index for one, index in self.waiting.items() if without_secrets(one) == one}
        if self.group and without_secrets(self.group) != self.group:
            self.group = None

    def resume(self, source: str) -> None:
        """Go on in a file: what the waiting calls were about is read again from where they stand."""
        self.source = source
        for call_id, index in self.waiting.items():
            call = self.drafts[index]
            tool = tool_of(call.action.partition(":")[0])
            argument = argument_in(read_span(source, call.span), call_id) if tool.telling else b""
            if argument and self._worth_a_look(tool, argument):
                self.arguments[call_id] = tool, argument

    def _said(self, record: Record, text: str, span: Span) -> None:
        if text.startswith(_INTERRUPTED):
            self.mark(USER_INTERRUPT, "user", span, record.timestamp)
            self.ended_by = "environment"
        elif record.is_meta:
            self.skills = ran_under(self.skills, skills_injected(text))
        elif not text.startswith(_LOCAL_COMMAND):
            self.prompt_key = self.prompt_key or prompt_key(text)
            self._say("user", text, span, record.timestamp, None)
            self.ended_by = "unknown"

    def _say(
        self, actor: Literal["agent", "user"], text: str, span: Span, at: str | None, group: str | None
    ) -> None:
        beside_call = self._enter(group) and drafts_of(self.drafts, self.turn, "call")
        kind: Kind = "note" if beside_call else "message"
        action = MESSAGE if kind == "message" and actor == "agent" else ""
        draft = StepDraft(self.turn, kind, actor, action, span, bytes_key(text), started_at=at)
        draft.marks = said(actor, text)
        self.drafts.append(draft)

    def _call(self, block: Block, span: Span, at: str | None, group: str | None) -> None:
        if self._enter(group):
            for draft in drafts_of(self.drafts, self.turn, "message"):
                draft.kind, draft.action = "note", ""
        tool = tool_of(block.name or "")
        name, given, index, head = tool.name, bytes(block.input), len(self.drafts), ""
        call_id = block.id or f"#{index}"
        if tool.telling:
            if tool.takes_command:
                head = head_of(name, command_of(name, given)[:_COMMAND_CHARS])
            if tool.edits or self._worth_a_look(tool, given):
                self.arguments[call_id] = tool, given
        self.waiting[call_id] = index
        action, changes = action_of(name, head)
        # By position, which is a third quicker: result_key, template and error are still to come.
        self.drafts.append(
            StepDraft(
                self.turn, "call", "agent", action, span, bytes_key(given), b"", "", _NOT_YET_FAILED, changes, at
            )
        )

    def _answer(self, record: Record, block: Block, span: Span) -> bool:
        call_id = block.tool_use_id or next(iter(self.waiting), "")
        index = self.waiting.pop(call_id, None)
        if index is None:
            return False
        draft, content = self.drafts[index], bytes(block.content)
        draft.result_key = bytes_key(content)
        draft.duration_ms = elapsed_ms(draft.started_at, record.timestamp)
        telling = self.arguments.pop(call_id, None)
        if block.is_error or content.startswith(_OPENINGS) or interrupted(record):
            self._look_at(record, block, index, telling[1] if telling else b"", span)
        elif telling:
            tool, argument = telling
            marked = (
                None if self._reads_a_skill(argument) else self.marker.learn_worked(tool.name, argument, index)
            )
            if marked is None:
                self._look_at(record, block, index, argument, span)
            else:
                draft.marks, draft.same_target = marked
        return True

    def _look_at(self, record: Record, block: Block, index: int, argument: bytes, span: Span) -> None:
        """Look at the text of a result that may have failed, or whose call may have done something to note."""
        draft, text, error_type = self.drafts[index], text_of(block.content), ""
        if text.startswith(_DENIED):
            error_type = PERMISSION_DENIED
        elif text.startswith(_INTERRUPTED) or interrupted(record):
            error_type = USER_INTERRUPT
        failed = bool(block.is_error or error_type) or text.startswith(_TOOL_ERROR)
        if not failed and not argument:
            return
        tool, _, head = draft.action.partition(":")
        step = Step(
            index=index,
            turn=draft.turn,
            kind="call",
            actor="agent",
            tool=tool,
            head=head,
            text=argument.decode("utf-8", "replace"),
            result=text,
            error=failed,
            error_text=text if failed and not error_type else "",
            error_type=error_type,
            writes=draft.writes,
            span=span,
        )
        draft.marks, draft.same_target = self.marker.learn(step)
        if tool_of(tool).loads or self._reads_a_skill(argument):
            self.skills = ran_under(self.skills, skills_used([step]))
        if failed:
            draft.error, draft.template, draft.span = True, template_of(step), span

    def _worth_a_look(self, tool: Tool, argument: bytes) -> bool:
        """Tell whether the result of a call is to be looked at even if it works: it may do or load something."""
        return (
            tool.loads
            or tool.edits
            or (tool.takes_command and may_be_marked(tool.name, argument))
            or self._reads_a_skill(argument)
        )

    def _reads_a_skill(self, argument: bytes) -> bool:
        """Tell whether a call names the file of a skill of which it may tell more than is known."""
        if _SKILL_FILE not in argument:
            return False
        part = any(said in argument for said in _PARTS)
        known = (name for name, version in self.skills if version or part)
        return not any(f"{name}/{SKILL_FILE}".encode() in argument for name in known)

    def _enter(self, group: str | None) -> bool:
        """Go on to the next turn, or stay in that of the group; tells whether it stayed."""
        if group is not None and group == self.group:
            return True
        self.turn += 1
        self.group = group
        return False
