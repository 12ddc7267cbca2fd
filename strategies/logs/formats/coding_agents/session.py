"""One session of a coding agent while its records come, for formats whose files are read whole."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import msgspec

from strategies.episodes.conversation import Conversation
from strategies.episodes.episode import EndedBy, Episode
from strategies.episodes.skill_use import ran_under, skills_used
from strategies.episodes.step_marks import CONTEXT_OVERFLOW, PERMISSION_DENIED
from strategies.episodes.usage import Usage, total
from strategies.files.json_records import object_in
from strategies.files.log_records import UNREADABLE, Json, Malformed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from strategies.episodes.episode import EpisodeOutcome
    from strategies.episodes.skill_use import SkillUse
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import ReadTally, Span

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_FIRST_RECORDS: Final = 20
"""How many lines are looked at for the record that tells the format: a file may open with another kind."""


class TextPart(msgspec.Struct):
    """A piece of a message: text, or anything else, which is passed over."""

    text: str | None = None


class Session:
    """What is known of a session so far; a reader fills it in record by record."""

    def __init__(self, log: LogFile, tally: ReadTally) -> None:
        self.log = log
        self.tally = tally
        self.conversation = Conversation()
        self.name = self.task = self.dataset = ""
        self.outcome: EpisodeOutcome | None = None
        self.model = ""
        self.labels: dict[str, str] = {}
        self.started_at: str | None = None
        self.ended_by: EndedBy = "unknown"
        self.skills: list[str] = []
        self.injected: list[SkillUse] = []
        self.spent: list[Usage] = []
        """The usage of each part that the log tells of, no part twice."""

    def call(self, call_id: str, tool: str, argument: str, span: Span, *, group: str, at: str | None) -> None:
        """Add a call of the agent, which waits for its result."""
        self.conversation.call(call_id, tool, argument, span, group=group, at=at)
        self.ended_by = "unknown"

    def answer(
        self, call_id: str, text: str, span: Span, *, failed: bool, denied: bool = False, at: str | None
    ) -> bool:
        """Give a call its result; False where no call waits for it."""
        error_type = PERMISSION_DENIED if denied else ""
        self.ended_by = "unknown"
        return self.conversation.answer(call_id, text, span, failed=failed or denied, error_type=error_type, at=at)

    def say(self, text: str, span: Span, *, group: str, at: str | None) -> None:
        """Add a message of the agent: the end of the session, unless something follows."""
        if text.strip():
            self.conversation.say("agent", text, span, group=group, at=at)
            self.ended_by = "unknown" if self.conversation.waiting else "agent"

    def ask(self, text: str, span: Span, *, at: str | None) -> None:
        """Add what the person says."""
        if text.strip():
            self.conversation.say("user", text, span, at=at)
            self.ended_by = "unknown"

    def delegate(self, text: str, span: Span, *, at: str | None) -> None:
        """Add what the parent of a sub-agent asks: its task, and no word of a person."""
        if text.strip():
            self.conversation.prompt = self.conversation.prompt or text
            self.conversation.say("environment", text, span, at=at)
            self.ended_by = "unknown"

    def overflow(self, span: Span, *, at: str | None) -> None:
        """Note that the context was full, and what came before is a summary from here on."""
        self.conversation.mark(CONTEXT_OVERFLOW, "environment", span, at=at)

    def learn_each(
        self,
        records: Iterable[tuple[Json, Span]],
        learn: Callable[[Json, Span], None],
    ) -> None:
        """Learn records one by one; those that cannot be read are counted with their places."""
        for raw, span in records:
            self.tally.records += 1
            try:
                learn(raw, span)
            except UNREADABLE as error:
                self.tally.malformed.append(Malformed(self.log.source, span.line, span.byte_start, str(error)))

    def episodes(self, log_format: str) -> Iterator[Episode]:
        """Give the session as an episode; none where nothing happened in it."""
        if self.conversation.steps:
            yield Episode(
                id=self.name or self.log.stem,
                source=self.log.source,
                format=log_format,
                dataset=self.dataset,
                task=self.task,
                run=self.model,
                labels={name: value for name, value in self.labels.items() if value},
                prompt=self.conversation.prompt,
                started_at=self.started_at,
                outcome=self.outcome,
                ended_by=self.ended_by,
                skills=ran_under(
                    ((skill, "") for skill in self.skills), [*self.injected, *skills_used(self.conversation.steps)]
                ),
                steps=tuple(self.conversation.steps),
                usage=total(self.spent),
            )


def first_objects(head: bytes) -> Iterator[Mapping[str, msgspec.Raw]]:
    """Give the objects on the first lines of a log, as far as they are whole."""
    objects = map(object_in, head.split(b"\n")[:_FIRST_RECORDS])
    return (members for members in objects if members is not None)


def text_in(content: str | Sequence[TextPart | str] | TextPart | None) -> str:
    """Give the text of a message: itself, or that of its parts, one below the other."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, TextPart):
        return content.text or ""
    return "\n".join(text for part in content if (text := part if isinstance(part, str) else part.text or ""))


def time_of_ms(since_1970: float | None) -> str | None:
    """Give milliseconds since 1970 as RFC 3339, None for none and for what no calendar holds."""
    if not since_1970:
        return None
    try:
        return (_EPOCH + timedelta(milliseconds=since_1970)).isoformat()
    except (OverflowError, ValueError):
        return None


def raw_text(raw: Json) -> str:
    """Give a JSON value as text: a string's own, else the JSON as it is; "" for null."""
    body = bytes(raw)
    if body.startswith(b'"'):
        return _STRING.decode(body)
    return "" if body == b"null" else body.decode("utf-8", "replace")


_STRING: Final = msgspec.json.Decoder(str)
