"""A conversation whose text is dropped as it is read: what a log that is read on keeps between two readings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec

from strategies.logs.actions import head_of, plain_tool, writes
from strategies.logs.answer_forms import forms_of
from strategies.logs.conversation import command_of, elapsed_ms
from strategies.logs.episode import SUBMIT, Step
from strategies.logs.keys import bytes_key
from strategies.logs.marks import Marker
from strategies.logs.places import spans_of
from strategies.logs.records import completed, header_of, plain, plain_time, prompt_key, unnamed_task
from strategies.logs.reduction import StepDraft, draft_of, drafts_of, template_of
from strategies.logs.skill_use import ran_under, skills_used

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strategies.logs.conversation import Actor
    from strategies.logs.episode import Episode, EpisodeRecord, Kind, Span
    from strategies.logs.skill_use import SkillUse
    from strategies.logs.stream import LogFile
    from strategies.logs.telling import Telling


class Talk(msgspec.Struct, dict=True):
    """The steps of an episode while it is read, perhaps over many readings; times are RFC 3339 texts, or None.

    It pairs and counts as `Conversation` does, and keeps hashes in place of texts and names. `waiting` says which
    step each call is that waits for its result; only `arguments` holds the text of such calls, and is no part of
    what a checkpoint keeps: `go_on` says where it is read again. A call counts as done once its result is there.
    """

    turn: int = -1
    group: bytes = b""
    drafts: list[StepDraft] = []
    waiting: dict[bytes, int] = {}
    marker: Marker = msgspec.field(default_factory=Marker)
    prompt_key: str = ""
    skills: tuple[tuple[str, str], ...] = ()
    forms: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.arguments: dict[bytes, str] = {}
        self._log: LogFile | None = None
        self._telling: Telling | None = None
        self._answer = ""

    def go_on(self, log: LogFile, telling: Telling) -> None:
        """Say where the text of calls that wait for their results can be read again."""
        self._log, self._telling = log, telling

    def say(self, actor: Actor, text: str, span: Span, *, group: str | None = None, at: str | None = None) -> None:
        """Add a message; the agent's counts as an action unless a call of the same turn goes with it."""
        beside_call = self._enter(group) and drafts_of(self.drafts, self.turn, "call")
        kind: Kind = "note" if beside_call else "message"
        if actor == "user":
            self.prompt_key = self.prompt_key or prompt_key(text)
        elif actor == "agent" and not beside_call:
            self._answer, self.forms = text, ()
        self._add(self._step(kind, actor, span, text=text, at=at))

    def mark(
        self,
        error_type: str,
        actor: Actor,
        span: Span,
        *,
        at: str | None = None,
        failed: bool = False,
        error_text: str = "",
    ) -> None:
        """Add a note of something that happened to the agent, such as an interrupt, or a failure of its own."""
        self._enter(None)
        step = self._step("note", actor, span, at=at)
        self._add(msgspec.structs.replace(step, error_type=error_type, error=failed, error_text=error_text))

    def call(
        self,
        call_id: str,
        tool: str,
        argument: str,
        span: Span,
        *,
        group: str | None = None,
        at: str | None = None,
    ) -> None:
        """Add a call; text of the same turn becomes a note."""
        if self._enter(group):
            for draft in drafts_of(self.drafts, self.turn, "message"):
                draft.kind, draft.action = "note", ""
        tool = plain_tool(tool)
        head = head_of(tool, command_of(tool, argument))
        step = self._step("call", "agent", span, text=argument, at=at)
        action = msgspec.structs.replace(step, tool=tool, head=head).action
        key = bytes_key(call_id or f"#{len(self.drafts)}")
        self.waiting[key], self.arguments[key] = len(self.drafts), argument
        self._answer, self.forms = argument if action == SUBMIT else "", ()
        self.drafts.append(
            StepDraft(
                turn=self.turn,
                kind="call",
                actor="agent",
                action=sys.intern(action),
                span=span,
                text_key=bytes_key(argument),
                writes=writes(tool, head),
                started_at=plain_time(at),
            )
        )

    def answer(
        self,
        call_id: str,
        result: str,
        span: Span,
        *,
        failed: bool,
        error_type: str = "",
        at: str | None = None,
    ) -> bool:
        """Give a call its result, the longest waiting one where no id says which; False if there is none."""
        key = bytes_key(call_id) if call_id else next(iter(self.waiting), b"")
        index = self.waiting.pop(key, None)
        if index is None:
            return False
        draft = self.drafts[index]
        tool, _, head = draft.action.partition(":")
        step = Step(
            index=index,
            turn=draft.turn,
            kind="call",
            actor="agent",
            tool=tool,
            head=head,
            text=self._argument(key, draft.span),
            result=result,
            error=failed,
            error_text=result if failed and not error_type else "",
            error_type=error_type,
            writes=draft.writes,
            span=draft.span,
        )
        draft.marks, draft.same_target = self.marker.learn(step)
        draft.result_key, draft.template, draft.error = bytes_key(result), template_of(step), failed
        draft.duration_ms = elapsed_ms(draft.started_at, at)
        draft.span = span if failed else draft.span
        self.learn_skills(skills_used([step]))
        return True

    def learn_skills(self, uses: Iterable[SkillUse]) -> None:
        """Add skills that the episode ran under."""
        named = [use._replace(name=plain(use.name)) for use in uses]
        if named:
            self.skills = ran_under(self.skills, named)

    def settle(self) -> None:
        """Put hashes and forms in place of the text that is still held, so that the rest can be kept."""
        self.forms = self.forms or forms_of(self._answer)

    def record(self, about: Episode) -> EpisodeRecord:
        """Give the record of the episode as far as it was read; `about` is what is known beside its steps."""
        self.settle()
        header = header_of(about)
        task = header.task if about.task else unnamed_task(self.prompt_key, about.run, about.id)
        return completed(
            msgspec.structs.replace(
                header, task=task, prompt_key=self.prompt_key, skills=self.skills, answer_forms=self.forms
            ),
            self.drafts,
        )

    def _argument(self, key: bytes, span: Span) -> str:
        """Give the text of a call: held since it was read, or read again from where it stands."""
        held = self.arguments.pop(key, None)
        if held is not None or self._log is None or self._telling is None:
            return held or ""
        calls = self._telling.calls_in(spans_of(self._log, [span])[0])
        return next((argument for call_id, argument in calls if bytes_key(call_id) == key), "")

    def _step(self, kind: Kind, actor: Actor, span: Span, *, text: str = "", at: str | None) -> Step:
        return Step(
            index=len(self.drafts),
            turn=self.turn,
            kind=kind,
            actor=actor,
            text=text,
            started_at=plain_time(at),
            span=span,
        )

    def _add(self, step: Step) -> None:
        self.drafts.append(draft_of(step, self.marker))
        self.learn_skills(skills_used([step]))

    def _enter(self, group: str | None) -> bool:
        """Go on to the next turn, or stay in that of the group; tells whether it stayed."""
        key = bytes_key(group or "")
        if key and key == self.group:
            return True
        self.turn += 1
        self.group = key
        return False
