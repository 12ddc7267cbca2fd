"""A conversation whose text is dropped as it is read: what a log that is read on keeps between two readings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from strategies.episodes.answer_forms import forms_of
from strategies.episodes.conversation import StepBuilder
from strategies.episodes.episode import MESSAGE, SUBMIT, Step
from strategies.episodes.episode_records import completed, header_of, plain, plain_time, prompt_key, unnamed_task
from strategies.episodes.skill_use import ran_under, skills_used
from strategies.episodes.step_marks import Marker
from strategies.episodes.step_records import StepDraft, draft_of
from strategies.episodes.text_hash import bytes_key
from strategies.episodes.whole_episode import WholeEpisode, first_request, shown_step
from strategies.files.reread import spans_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strategies.episodes.episode import Episode, EpisodeRecord
    from strategies.episodes.skill_use import SkillUse
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import Span
    from strategies.files.reread import RecordTexts


class IncrementalConversation(StepBuilder[StepDraft, bytes]):
    """Keep the steps as drafts, with hashes in place of texts and names.

    Only `arguments` holds text, that of calls that wait for their results, and is not stored between two readings:
    `go_on` says where it is read again. A call counts as done once its result is there.
    """

    marker: Marker = msgspec.field(default_factory=Marker)
    prompt_key: str = ""
    skills: tuple[tuple[str, str], ...] = ()
    forms: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.arguments: dict[bytes, str] = {}
        self._log: LogFile | None = None
        self._texts: RecordTexts | None = None
        self._answer = ""

    def go_on(self, log: LogFile, texts: RecordTexts) -> None:
        """Say where the text of calls that wait for their results can be read again."""
        self._log, self._texts = log, texts

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
            self.steps,
        )

    def _key(self, name: str | None) -> bytes:
        return bytes_key(name or "")

    def _add(self, step: Step) -> None:
        if step.actor == "user":
            self.prompt_key = self.prompt_key or prompt_key(step.text)
        elif step.action == MESSAGE:
            self._answer, self.forms = step.text, ()
        draft = draft_of(step, self.marker)
        draft.started_at = plain_time(step.started_at)
        self.steps.append(draft)
        self.learn_skills(skills_used([step]))

    def _add_call(self, key: bytes, call: Step) -> None:
        self._answer, self.forms = call.text if call.action == SUBMIT else "", ()
        self.arguments[key] = call.text
        self.steps.append(
            StepDraft(
                turn=call.turn,
                kind="call",
                actor="agent",
                action=sys.intern(call.action),
                span=call.span,
                text_key=bytes_key(call.text),
                writes=call.writes,
                started_at=plain_time(call.started_at),
            )
        )

    def _waiting_call(self, key: bytes, index: int) -> Step:
        draft = self.steps[index]
        tool, _, head = draft.action.partition(":")
        return Step(
            index=index,
            turn=draft.turn,
            kind="call",
            actor="agent",
            tool=tool,
            head=head,
            text=self._argument(key, draft.span),
            writes=draft.writes,
            started_at=draft.started_at,
            span=draft.span,
        )

    def _finish(self, call: Step) -> None:
        text_key = self.steps[call.index].text_key  # the text itself may no longer be there to read
        self.steps[call.index] = draft_of(call, self.marker)
        self.steps[call.index].text_key = text_key
        self.learn_skills(skills_used([call]))

    def _argument(self, key: bytes, span: Span) -> str:
        """Give the text of a call: held since it was read, or read again from its place in the log."""
        held = self.arguments.pop(key, None)
        if held is not None or self._log is None or self._texts is None:
            return held or ""
        calls = self._texts.calls_in(spans_of(self._log, [span])[0])
        return next((argument for call_id, argument in calls if bytes_key(call_id) == key), "")


class WholeConversation(IncrementalConversation):
    """Keeps the texts of its steps as well, for a transcript."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.whole: list[Step] = []

    def episode(self, name: str) -> WholeEpisode:
        """Give the conversation with its texts, under the name that its record has."""
        return WholeEpisode(name, first_request(self.whole), self.prompt_key, self.steps, self.whole)

    def _add(self, step: Step) -> None:
        super()._add(step)
        self.whole.append(shown_step(step))

    def _add_call(self, key: bytes, call: Step) -> None:
        super()._add_call(key, call)
        self.whole.append(shown_step(call))

    def _finish(self, call: Step) -> None:
        super()._finish(call)
        answered = shown_step(replace(call, text=""))
        self.whole[call.index] = replace(answered, text=self.whole[call.index].text)
