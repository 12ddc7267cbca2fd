"""One Claude Code session whose steps keep their texts, for a transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from strategies.episodes.episode import Step
from strategies.episodes.episode_records import plain
from strategies.episodes.whole_episode import WholeEpisode, first_request, shown_step, shown_text
from strategies.logs.formats.claude_schema import text_of
from strategies.logs.formats.claude_session import ClaudeSession

if TYPE_CHECKING:
    from strategies.files.log_records import Span
    from strategies.logs.formats.claude_schema import ClaudeRecord, ContentBlock


class WholeClaudeSession(ClaudeSession):
    """Keeps the texts of its steps as well, for a transcript."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.whole: list[Step] = []
        self._closed: int | None = None

    def episode(self) -> WholeEpisode:
        """Give the session with its texts."""
        delegated = (step.text for step in self.whole if step.kind == "message" and step.actor == "environment")
        task = first_request(self.whole) or next(delegated, "")
        return WholeEpisode(plain(self.name), task, self.prompt_key, self.steps, self.whole)

    def close_call(self, key: str) -> tuple[str, int] | None:
        """Note which call it is whose result comes."""
        closed = super().close_call(key)
        self._closed = closed[1] if closed else None
        return closed

    def _rewind(self, record: ClaudeRecord, span: Span) -> None:
        super()._rewind(record, span)
        del self.whole[len(self.steps) :]

    def _add(self, step: Step) -> None:
        super()._add(step)
        self.whole.append(shown_step(step))

    def _learn_call(self, block: ContentBlock, span: Span, at: str | None, group: str | None) -> None:
        super()._learn_call(block, span, at, group)
        tool, _, head = self.steps[-1].action.partition(":")
        call = Step(
            index=len(self.whole),
            turn=self.turn,
            kind="call",
            actor="agent",
            tool=tool,
            head=head,
            text=bytes(block.input).decode("utf-8", "replace"),
            writes=self.steps[-1].writes,
            started_at=at,
            span=span,
        )
        self.whole.append(shown_step(call))

    def _learn_result(self, record: ClaudeRecord, block: ContentBlock, span: Span) -> bool:
        known = super()._learn_result(record, block, span)
        if known and self._closed is not None:
            draft, text = self.steps[self._closed], shown_text(text_of(block.content))
            self.whole[self._closed] = msgspec.structs.replace(
                self.whole[self._closed],
                result=text,
                error=draft.error,
                error_text=text if draft.error else "",
                duration_ms=draft.duration_ms,
            )
        return known
