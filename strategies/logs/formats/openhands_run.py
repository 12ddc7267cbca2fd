"""One run of OpenHands while its events come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.episodes.conversation import Conversation
from strategies.episodes.step_marks import CONTEXT_OVERFLOW, PERMISSION_DENIED, USER_INTERRUPT
from strategies.files.log_records import count_unknown
from strategies.logs.formats.openhands_schema import (
    OpenHandsEvent,
    answer_of,
    argument_of,
    name_of,
    result_of,
    spent_so_far,
    text_and_thought_of,
    text_of,
)

if TYPE_CHECKING:
    from strategies.episodes.episode import EndedBy
    from strategies.episodes.usage import Usage
    from strategies.files.log_records import ReadTally, Span

_TOOLS: Final = {"run": "execute_bash", "run_ipython": "execute_ipython_cell"}
"""Tools under the names that the model knows them by; other actions are named as their tools are."""

_FINISH: Final = "finish"
_SILENT: Final = frozenset(
    [
        *("null", "system", "recall", "change_agent_state", "condensation_request", "loop_recovery", "condense"),
        *("SystemPromptEvent", "ConversationStateUpdateEvent", "CondensationRequest", "LLMCompletionLogEvent"),
        *("TokenEvent", "CondensationSummaryEvent", "StreamingDeltaEvent", "HookExecutionEvent"),
    ]
)
_STATES: Final[dict[str, EndedBy]] = {"finished": "agent", "error": "environment", "stopped": "environment"}
_LIMITS: Final = ("maximum iteration", "maximum budget", "MaxIterations")


class OpenHandsRun:
    """The steps of a run, and what is known about it."""

    def __init__(self) -> None:
        self.conversation = Conversation()
        self.ended_by: EndedBy = "unknown"
        self.started_at: str | None = None
        self.skills: dict[str, None] = {}
        self.spent: list[Usage] = []

    def learn(self, event: OpenHandsEvent, place: Span, tally: ReadTally) -> None:
        """Add an event; raises one of UNREADABLE where a part of it has a shape that no version writes."""
        self.started_at = self.started_at or event.timestamp
        for name in (*event.activated_skills, *event.activated_microagents):
            self.skills[name] = None
        self.spent = spent_so_far(event) or self.spent
        kind = event.kind or name_of(event.observation) or name_of(event.action)
        if kind in _SILENT:
            self._learn_recalled_skills(event)
        elif event.kind:
            self._learn_of_sdk(event, place, tally)
        elif event.observation:
            self._learn_observation(event, kind, place, tally)
        elif event.action:
            self._learn_action(event, kind, place)
        else:
            count_unknown(tally, "event without an action")

    def _learn_recalled_skills(self, event: OpenHandsEvent) -> None:
        for skill in event.extras.microagent_knowledge:
            self.skills[skill.name] = None

    def _learn_action(self, event: OpenHandsEvent, action: str, place: Span) -> None:
        """Learn an action of the application."""
        text, thought = text_and_thought_of(event)
        metadata = event.tool_call_metadata
        group = metadata.model_response.id if metadata and metadata.model_response else None
        group = group or str(event.id)
        if action == "message":
            actor = "user" if event.source == "user" else "agent"
            self.conversation.say("user" if actor == "user" else "agent", text, place, at=event.timestamp)
            self.ended_by = "unknown" if actor == "user" else "agent"
        elif action == "condensation":
            self.conversation.mark(CONTEXT_OVERFLOW, "environment", place, at=event.timestamp)
        elif event.source != "user":
            if thought:
                self.conversation.say("agent", thought, place, group=group, at=event.timestamp)
            tool = (metadata.function_name if metadata else "") or _TOOLS.get(action, action)
            self._learn_call(str(event.id), tool, event, place, group)

    def _learn_call(self, call_id: str, tool: str, event: OpenHandsEvent, place: Span, group: str) -> None:
        self.conversation.call(call_id, tool, argument_of(event), place, group=group, at=event.timestamp)
        self.ended_by = "agent" if tool == _FINISH else "unknown"

    def _learn_observation(self, event: OpenHandsEvent, observation: str, place: Span, tally: ReadTally) -> None:
        """Learn an observation of the application."""
        if observation == "agent_state_changed":
            state, reason = event.extras.agent_state, event.extras.reason
            self.ended_by = _STATES.get(state, self.ended_by)
            if state == "error" and any(words in reason for words in _LIMITS):
                self.ended_by = "limit"
            return
        text, failed = answer_of(event)
        denied = PERMISSION_DENIED if observation == "user_rejected" else ""
        self._learn_result(str(event.cause), text, event, place, tally, failed=failed, error_type=denied)

    def _learn_result(
        self,
        call_id: str,
        text: str,
        event: OpenHandsEvent,
        place: Span,
        tally: ReadTally,
        *,
        failed: bool,
        error_type: str,
    ) -> None:
        answered = self.conversation.answer(
            call_id, text, place, failed=failed, error_type=error_type, at=event.timestamp
        )
        if not answered and failed:
            self._add_failure("error", text, event, place)
        elif not answered:
            count_unknown(tally, "result without a call")

    def _add_failure(self, error_type: str, text: str, event: OpenHandsEvent, place: Span) -> None:
        self.conversation.mark(error_type, "environment", place, at=event.timestamp, failed=True, error_text=text)
        self.ended_by = "limit" if any(words in text for words in _LIMITS) else "environment"

    def _learn_of_sdk(self, event: OpenHandsEvent, place: Span, tally: ReadTally) -> None:
        """Learn an event of the SDK."""
        if event.kind == "ActionEvent":
            group = event.llm_response_id or str(event.id)
            thought = text_of(event.thought)
            if thought:
                self.conversation.say("agent", thought, place, group=group, at=event.timestamp)
            self._learn_call(event.tool_call_id or str(event.id), event.tool_name or "", event, place, group)
        elif event.kind == "MessageEvent":
            text = text_of(event.llm_message.content if event.llm_message else None)
            actor = "user" if event.source == "user" else "agent"
            self.conversation.say("user" if actor == "user" else "agent", text, place, at=event.timestamp)
            self.ended_by = "unknown" if actor == "user" else "agent"
        elif not self._learn_answer(event, place, tally):
            count_unknown(tally, event.kind)

    def _learn_answer(self, event: OpenHandsEvent, place: Span, tally: ReadTally) -> bool:
        call_id = event.tool_call_id or ""
        if event.kind == "ObservationEvent":
            text, failed = result_of(event)
            self._learn_result(call_id, text, event, place, tally, failed=failed, error_type="")
        elif event.kind == "AgentErrorEvent":
            self._learn_result(call_id, event.error or "", event, place, tally, failed=True, error_type="")
        elif event.kind == "UserRejectObservation":
            text = event.rejection_reason or ""
            self._learn_result(call_id, text, event, place, tally, failed=True, error_type=PERMISSION_DENIED)
        elif event.kind == "ConversationErrorEvent":
            self._add_failure(event.code or "error", event.detail or "", event, place)
        elif event.kind == "Condensation":
            self.conversation.mark(CONTEXT_OVERFLOW, "environment", place, at=event.timestamp)
        elif event.kind in {"PauseEvent", "InterruptEvent"}:
            self.conversation.mark(USER_INTERRUPT, "user", place, at=event.timestamp)
            self.ended_by = "environment"
        else:
            return False
        return True
