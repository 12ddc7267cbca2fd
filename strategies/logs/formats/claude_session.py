"""One Claude Code session while its records come: steps as drafts, and the calls that wait for their results."""

from __future__ import annotations

import sys
from functools import lru_cache
from math import fsum
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from registry.evidence.redaction import without_secrets
from strategies.episodes.action_class import SHELL_TOOLS, SQL_TOOLS, command_of, head_of, plain_tool, writes
from strategies.episodes.conversation import TurnBuilder, elapsed_ms
from strategies.episodes.episode import EndedBy, EpisodeRecord, Step
from strategies.episodes.episode_records import completed, keep_times, plain, prompt_key, unnamed_task
from strategies.episodes.skill_use import PARTS, SKILL_FILE, SKILL_TOOLS, ran_under, skills_injected, skills_used
from strategies.episodes.step_marks import PERMISSION_DENIED, USER_INTERRUPT, Marker, edits_files, may_be_marked
from strategies.episodes.step_records import StepDraft, draft_of, template_of
from strategies.episodes.text_hash import bytes_key
from strategies.episodes.usage import MOST_TOKENS, Amount, Usage, dollars, tokens, usage_of
from strategies.files.reread import read_span
from strategies.logs.formats.claude_schema import (
    ClaudeMessage,
    ClaudeRecord,
    ClaudeUsage,
    ContentBlock,
    argument_in,
    interrupted,
    text_of,
)

if TYPE_CHECKING:
    from strategies.files.log_records import Span

_READ: Final = "read"
"""The tool by which an agent reads a skill's file by itself, in lower case."""


class ClaudeTool(NamedTuple):
    """A tool by its plain name, whether the argument of its calls is looked at, and what they are known to do."""

    name: str
    telling: bool
    loads: bool
    edits: bool
    takes_command: bool


@lru_cache(maxsize=1024)
def tool_of(name: str) -> ClaudeTool:
    """Give what is known of a tool by its name."""
    name = plain_tool(name)
    lower = name.lower()
    loads, edits = lower in SKILL_TOOLS, edits_files(name)
    takes_command = lower in SHELL_TOOLS or lower in SQL_TOOLS
    return ClaudeTool(name, loads or edits or takes_command or lower == _READ, loads, edits, takes_command)


_TOKEN_BITS: Final = MOST_TOKENS.bit_length()


def _figures(used: ClaudeUsage) -> tuple[int, int, int]:
    """Give the tokens of a message: those it read, with a cache's among them, those it wrote, those of a cache."""
    new, made = used.input_tokens, used.cache_creation_input_tokens
    cached, wrote = used.cache_read_input_tokens, used.output_tokens
    if (
        isinstance(new, int)
        and isinstance(made, int)
        and isinstance(cached, int)
        and isinstance(wrote, int)
        and not (new | made | cached | wrote) >> _TOKEN_BITS  # neither too many for any log, nor fewer than none
    ):
        return new + made + cached, wrote, cached
    new, made, cached, wrote = (tokens(figure) or 0 for figure in (new, made, cached, wrote))
    return new + made + cached, wrote, cached


@lru_cache(maxsize=4096)
def action_of(tool: str, head: str) -> tuple[str, bool]:
    """Give the action class of a call, and whether it may change something."""
    return sys.intern(f"{tool}:{head}" if head else tool), writes(tool, head)


INTERRUPTED: Final = "[Request interrupted by user"
DENIED: Final = (
    *("The user doesn't want to proceed with this tool use", "Claude requested permissions to "),
    *("Permission to use ", "The user doesn't want to take this action right now"),
)
"""How the result of a call begins that a person, or a rule of theirs, did not permit."""

TOOL_ERROR: Final = "<tool_use_error>"
LOCAL_COMMAND: Final = (
    *("<command-", "<local-command-", "Caveat: The messages below", "<session-start-hook>", "<ide_", "<bash-"),
    *("<user-prompt-submit-hook>", "<system-reminder>", "<task-notification>", "<teammate-message"),
)
"""How text opens that Claude Code puts into the person's mouth: commands of the terminal, hooks, reminders."""
_NOT_YET_FAILED: Final = False
_COMMAND_CHARS: Final = 500
"""How much of a command is looked at for its head."""

_OPENINGS: Final = (b'"[Request', b'"The user', b'"Claude req', b'"Permission to', b'"<tool', b"[{")
"""How the JSON of a result begins that may hold one of the marks above: at once, or in a list of blocks."""

_SKILL_FILE: Final = SKILL_FILE.encode()
_PARTS: Final = tuple(part.encode() for part in PARTS)
LIMITS: Final = ("max_tokens", "model_context_window_exceeded")


class ClaudeSession(TurnBuilder[StepDraft, str]):
    """One session, or the sub-agent of one.

    For speed a result is decoded only where its text may matter. `arguments` holds the text of calls that wait for
    their results, and is not stored between two readings. `spent` is the usage of each message by the key of its
    id: tokens read, written and read from a cache. Every block of a message repeats it, and the last one counts.
    It has no default: without it, what an older version knew of a session is not gone on from. `costs` is what
    each message cost, where the log says it. Units: US dollars. `prompts` says which step each prompt of the
    person is, by the key of the record that it follows: a second prompt after the same record takes the first one
    back, with all that came of it. `chained` tells that records name the ones they follow: else none says so.
    """

    spent: dict[bytes, tuple[int, int, int]]
    name: str
    source: str
    started_at: str | None = None
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    model: str = ""
    models: tuple[str, ...] = ()
    costs: dict[bytes, float] = msgspec.field(default_factory=dict)
    ended_by: EndedBy = "unknown"
    prompt_key: str = ""
    skills: tuple[tuple[str, str], ...] = ()
    marker: Marker = msgspec.field(default_factory=Marker)
    prompts: dict[bytes, int] = msgspec.field(default_factory=dict)
    chained: bool = False

    def __post_init__(self) -> None:
        self.arguments: dict[str, tuple[ClaudeTool, bytes]] = {}
        self.given: dict[str, bytes] = {}
        self._prompt_at = -1
        self._used: dict[str, ClaudeUsage] = {}
        self._last_model: str | None = None

    def assistant(
        self, message: ClaudeMessage, group: str | None, span: Span, at: str | None, cost: Amount = None
    ) -> None:
        """Learn what the agent says and calls; blocks of one group are one turn."""
        if type(message.usage) is ClaudeUsage:
            self._used[group or f"at {span.byte_start}"] = message.usage
        if cost is not None:
            self.costs[bytes_key(group or f"at {span.byte_start}")] = dollars(cost) or 0.0
        if message.model != self._last_model:
            self._last_model = message.model
            self._learn_model(message.model or "")
        content, calls = message.content, False
        if isinstance(content, str):
            if content:
                self.say("agent", content, span, group=group, at=at)
        else:
            for block in content:
                if block.type == "tool_use":
                    self._learn_call(block, span, at, group)
                    calls = True
                elif block.type == "text" and block.text:
                    self.say("agent", block.text, span, group=group, at=at)
        if message.stop_reason in LIMITS:
            self.ended_by = "limit"
        else:
            self.ended_by = "unknown" if calls or self.waiting else "agent"

    def user(self, record: ClaudeRecord, message: ClaudeMessage, span: Span) -> int:
        """Learn what the user says and what calls gave back; returns how many results answer no call."""
        if isinstance(message.content, str):
            if message.content:
                self._learn_user_text(record, message.content, span)
            return 0
        lost = 0
        for block in message.content:
            if block.type == "tool_result":
                lost += not self._learn_result(record, block, span)
                self.ended_by = "unknown"
            elif block.type == "text" and block.text:
                self._learn_user_text(record, block.text, span)
        return lost

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
            usage=self._usage(),
        )
        keep_times(self.steps)
        return completed(header, self.steps)

    def forget_secrets(self) -> None:
        """Forget calls that wait under an id that holds a secret, and times that are none: both are kept."""
        self._settle_usage()
        keep_times(self.steps)
        self.waiting = {
            call_id: index for call_id, index in self.waiting.items() if without_secrets(call_id) == call_id
        }
        if self.group and without_secrets(self.group) != self.group:
            self.group = None

    def resume(self, source: str) -> None:
        """Go on in a file: what the waiting calls were about is read again from their places."""
        self.source = source
        for call_id, index in self.waiting.items():
            call = self.steps[index]
            tool = tool_of(call.action.partition(":")[0])
            argument = self.given[call_id] = argument_in(read_span(source, call.span), call_id)
            if tool.telling and argument and self._worth_a_look(tool, argument):
                self.arguments[call_id] = tool, argument

    def _learn_model(self, model: str) -> None:
        model = "" if model.startswith("<") else plain(model)
        self.model = self.model or model
        if model and model not in self.models:
            self.models = (*self.models, model)

    def _usage(self) -> Usage | None:
        """Add up the usage of all messages."""
        if self.spent:
            self._settle_usage()
        figures = list(self.spent.values() or map(_figures, self._used.values()))
        cost = fsum(self.costs.values()) if self.costs else None
        if not figures and cost is None:
            return None
        sums = [min(sum(each), MOST_TOKENS) for each in zip(*figures, strict=True)]
        return replace(usage_of(*sums, cost=cost), models=self.models)

    def _settle_usage(self) -> None:
        """Keep the usage of each message under the key of its id, so that a later reading knows it again."""
        self.spent |= {bytes_key(message): _figures(used) for message, used in self._used.items()}
        self._used.clear()

    def _learn_user_text(self, record: ClaudeRecord, text: str, span: Span) -> None:
        if text.startswith(INTERRUPTED):
            self.mark(USER_INTERRUPT, "user", span, at=record.timestamp)
            self.ended_by = "environment"
        elif record.is_meta:
            self.skills = ran_under(self.skills, skills_injected(text))
        elif not (record.is_compact_summary or text.startswith(LOCAL_COMMAND)):
            if not record.is_sidechain:
                self._rewind(record, span)
            self.prompt_key = self.prompt_key or prompt_key(text)
            self.say("environment" if record.is_sidechain else "user", text, span, at=record.timestamp)
            self.ended_by = "unknown"

    def _rewind(self, record: ClaudeRecord, span: Span) -> None:
        """Take back an earlier prompt that this one replaces; its steps are no part of what went on."""
        parent = record.parent_uuid
        if parent is msgspec.UNSET or span.byte_start == self._prompt_at:
            return
        self._prompt_at = span.byte_start
        key = bytes_key(parent or "")
        index = self.prompts.get(key)
        if index is not None and (parent or self.chained):
            del self.steps[index:]
            self.turn, self.group = (self.steps[-1].turn if self.steps else -1), None
            self.waiting = {call: step for call, step in self.waiting.items() if step < index}
            self.prompts = {after: step for after, step in self.prompts.items() if step < index}
            self.marker.files = {file: step for file, step in self.marker.files.items() if step < index}
            self.prompt_key = self.prompt_key if index else ""
        self.prompts[key] = len(self.steps)

    def _key(self, name: str | None) -> str:
        return name or ""

    def _add(self, step: Step) -> None:
        self.steps.append(draft_of(step, self.marker))

    def _learn_call(self, block: ContentBlock, span: Span, at: str | None, group: str | None) -> None:
        tool = tool_of(block.name or "")
        name, given, index, head = tool.name, bytes(block.input), len(self.steps), ""
        call_id = block.id or f"#{index}"
        if tool.telling:
            if tool.takes_command:
                head = head_of(name, command_of(name, given)[:_COMMAND_CHARS])
            if tool.edits or self._worth_a_look(tool, given):
                self.arguments[call_id] = tool, given
        self.open_call(group, call_id)
        self.given[call_id] = given
        action, changes = action_of(name, head)
        # By position, which is a third quicker: result_key, template and error are still to come.
        self.steps.append(
            StepDraft(
                self.turn, "call", "agent", action, span, bytes_key(given), b"", "", _NOT_YET_FAILED, changes, at
            )
        )

    def _learn_result(self, record: ClaudeRecord, block: ContentBlock, span: Span) -> bool:
        closed = self.close_call(block.tool_use_id or "")
        if closed is None:
            return False
        call_id, index = closed
        draft, content = self.steps[index], bytes(block.content)
        draft.result_key = bytes_key(content)
        draft.duration_ms = elapsed_ms(draft.started_at, record.timestamp)
        telling, given = self.arguments.pop(call_id, None), self.given.pop(call_id, b"")
        if block.is_error or content.startswith(_OPENINGS) or interrupted(record):
            self._learn_result_text(record, block, index, telling[1] if telling else b"", span)
        elif telling:
            tool, argument = telling
            marked = (
                None if self._reads_a_skill(argument) else self.marker.learn_worked(tool.name, argument, index)
            )
            if marked is None:
                self._learn_result_text(record, block, index, argument, span)
            else:
                draft.marks, draft.same_target = marked
        if self.marker.is_near_failure(index):
            draft.learn_argument(given)
        return True

    def _learn_result_text(
        self, record: ClaudeRecord, block: ContentBlock, index: int, argument: bytes, span: Span
    ) -> None:
        """Look at the text of a result that may have failed, or whose call may have done something to note."""
        draft, text, error_type = self.steps[index], text_of(block.content), ""
        if text.startswith(DENIED):
            error_type = PERMISSION_DENIED
        elif text.startswith(INTERRUPTED) or interrupted(record):
            error_type = USER_INTERRUPT
        failed = bool(block.is_error or error_type) or text.startswith(TOOL_ERROR)
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

    def _worth_a_look(self, tool: ClaudeTool, argument: bytes) -> bool:
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
        part = any(mark in argument for mark in _PARTS)
        known = (name for name, version in self.skills if version or part)
        return not any(f"{name}/{SKILL_FILE}".encode() in argument for name in known)
