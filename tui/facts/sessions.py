"""What is known of a session: its figures as short words, and its facts behind labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.episodes.clipped_text import clipped
from strategies.episodes.episode import began_at, lasted_ms
from tui.facts.fact import Fact, fact
from tui.reads.sessions import FAILED_BELOW, errors_in
from tui.text.durations import ago, minute
from tui.text.numbers import brief, count, share
from tui.text.rows import RowPart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.advice.deciding_step import DecidingStep
    from strategies.episodes.episode import EpisodeRecord
    from tui.reads.sessions import SessionPart, SessionStep

NOTHING: Final = "–"
MOST_TEXT_CHARS: Final = 1_500
MOST_ERROR_CHARS: Final = 4_000
"""What is shown of one text at first, and of an error: as much as a model is shown of a short episode."""
_ROOM: Final = 6
_VERSION: Final = 17
"""Characters of a version: of the hash of a body that is no version here the first twelve."""
_UNITS_S: Final = ((86_400, "d"), (3_600, "h"), (60, "m"))


def duration_words(milliseconds: float | None) -> str:
    """Write a duration in a few letters: `850ms`, `43s`, `12m`, `2h05m`, `3d01h`."""
    if milliseconds is None:
        return NOTHING
    seconds = round(milliseconds / 1000)
    if not seconds:
        return f"{round(milliseconds)}ms"
    for (size, unit), (smaller, small_unit) in zip(_UNITS_S, (*_UNITS_S[1:], (1, "s")), strict=True):
        if seconds >= size:
            whole, rest = divmod(seconds, size)
            beside = "" if unit == "m" and whole > 9 else f"{rest // smaller:02}{small_unit}"  # noqa: PLR2004 - two digits say enough
            return f"{whole:,}{unit}{beside if rest // smaller else ''}"
    return f"{seconds}s"


def tokens_words(record: EpisodeRecord) -> str:
    """Write how many tokens a session read and wrote together: `1.23M`."""
    usage = record.usage
    counted = [n for n in (usage.input_tokens, usage.output_tokens) if n is not None] if usage else []
    return brief(sum(counted), _ROOM) if counted else NOTHING


def cost_words(record: EpisodeRecord) -> str:
    """Write what a session cost: `0.42`; more digits where it is less than a cent."""
    cost = record.usage.cost_usd if record.usage else None
    if cost is None:
        return NOTHING
    return f"{cost:,.2f}" if cost >= 0.01 or not cost else f"{cost:.4f}"  # noqa: PLR2004 - a cent


def outcome_part(record: EpisodeRecord) -> RowPart:
    """Write how a session ended and who says so: `✓ tests`, `✗ user`, `· .50 reward`, `–` where nobody does."""
    if record.outcome is None:
        return RowPart(NOTHING, "dim")
    value, source = record.outcome.value, record.outcome.source
    if value in {0, 1}:
        return RowPart(f"{'✓' if value else '✗'} {source}", "good" if value else "bad")
    return RowPart(f"· {share(value)} {source}", "bad" if value < FAILED_BELOW else "warn")


def project_words(record: EpisodeRecord) -> str:
    """Name the folder that a session ran in by its last part."""
    return record.folder.rstrip("/").rpartition("/")[2] or record.folder or NOTHING


def session_facts(record: EpisodeRecord, task: str, now: str) -> Iterator[Fact]:
    """Say what is known of a session beside its steps."""
    usage = record.usage
    yield fact("session", f"{record.name}, {record.format}" + (f", {record.run}" if record.run else ""))
    yield fact("task", " ".join(task.split()) or NOTHING)
    at, took = began_at(record), lasted_ms(record)
    when = f"{minute(at)}, {ago(at, now)}" if at else "at no known time"
    yield fact("when", f"{when}, for {duration_words(took)}" if took is not None else when)
    yield fact("project", record.folder or NOTHING)
    used = ", ".join(f"{name}@{version[:_VERSION]}" if version else name for name, version in record.skills)
    yield fact("skills", used or NOTHING)
    ended = {"agent": "the agent ended it", "limit": "a limit ended it", "environment": "its environment ended it"}
    beside = ended.get(record.ended_by, "")
    outcome = outcome_part(record)
    yield fact("outcome", f"{outcome.text}{f', {beside}' if beside else ''}", outcome.tone)
    yield fact("steps", f"{count(len(record.steps), 'step')}, {count(errors_in(record), 'error')}")
    if usage is not None:
        shown = {"read": usage.input_tokens, "of a cache": usage.cached_tokens, "written": usage.output_tokens}
        figures = ", ".join(f"{number:,} {words}" for words, number in shown.items() if number is not None)
        yield fact("tokens", figures or NOTHING)
        yield fact("cost", f"{cost_words(record)} USD" if usage.cost_usd is not None else NOTHING)
        if usage.models and usage.models != (record.run,):
            yield fact("models", ", ".join(usage.models))
    yield fact("file", record.source or NOTHING)


def part_lines(part: SessionPart, *, full: bool = False) -> list[str]:
    """Give the lines of a text of a step, of a long one without its middle unless `full`."""
    most = MOST_ERROR_CHARS if part.label == "error" else MOST_TEXT_CHARS
    return (part.text if full else clipped(part.text, most)).splitlines() or [""]


def mark_of(step: SessionStep) -> RowPart:
    """Mark a step that failed."""
    return RowPart("✗", "bad") if step.failed else RowPart(" ")


def decided_fact(decided: DecidingStep) -> Fact:
    """Say which step most likely decided a failed session, and how those ended that did the same and otherwise."""
    (same, sessions), (other, other_sessions) = decided.same, decided.other
    action, error = decided.place
    seen = (
        "at the start"
        if action == "start"
        else f"after {action} {'worked' if error == 'worked' else f'({error})'}"
    )
    figures = (
        f"{same:g} of {sessions:,} sessions that did the same succeeded, {other:g} of {other_sessions:,} others"
    )
    words = f"step {decided.step + 1}, most likely: {decided.action} {seen}"
    return Fact("decided", (RowPart(words, "bad"),), note=f"{figures}; they may differ in more than that")
