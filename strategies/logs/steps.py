"""Germline steps JSONL: the project's own format, documented in docs/steps.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec

from strategies.logs.actions import head_of, plain_head, plain_tool, writes
from strategies.logs.episode import EndedBy, Episode, Kind, Outcome, OutcomeSource, Step
from strategies.logs.jsonl import count_unknown, typed_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.logs.episode import Span, Tally
    from strategies.logs.stream import LogFile


class _Line(msgspec.Struct):
    """One line of any type: only `type` and `episode` are needed."""

    type: str
    episode: str
    dataset: str = ""
    task: str | int = ""
    run: str = ""
    difficulty: str = ""
    prompt: str = ""
    labels: dict[str, str] = {}
    skills: tuple[tuple[str, str], ...] = ()
    started_at: str | None = None
    turn: int | None = None
    kind: Kind = "call"
    actor: Literal["agent", "user", "environment"] = "agent"
    tool: str = ""
    head: str | None = None
    text: str = ""
    result: str = ""
    error: bool = False
    error_text: str = ""
    error_type: str = ""
    writes: bool | None = None
    duration_ms: float | None = None
    value: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    source: OutcomeSource = "tests"
    ended_by: EndedBy = "unknown"


_LINE: Final = msgspec.json.Decoder(_Line)
_TYPES: Final = frozenset({"episode", "step", "outcome"})


class StepsReader:
    """Reads germline steps: lines of one episode may stand between those of others."""

    name = "steps"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether a line names a type of this format and an episode."""
        del source
        compact = head.replace(b" ", b"")
        named = any(f'"type":"{kind}"'.encode() in compact for kind in _TYPES)
        return named and b'"episode":' in compact and b"\n{" in b"\n" + head

    def read(self, log: LogFile, tally: Tally) -> Iterator[Episode]:
        """Yield an episode at its outcome line; those without one at the end of the file."""
        running: dict[str, _Running] = {}
        for line, span in typed_lines(log, _LINE, tally):
            if line.type not in _TYPES:
                count_unknown(tally, line.type)
                continue
            episode = running.setdefault(line.episode, _Running(line.episode, log.source))
            episode.learn(line)
            if line.type == "step":
                episode.steps.append(_step(line, span, episode.steps))
            elif line.type == "outcome":
                yield running.pop(line.episode).finished(line)
        for episode in running.values():
            yield episode.finished(None)


class _Running:
    """An episode whose lines are still coming; the last line that names a field of it wins."""

    def __init__(self, name: str, source: str) -> None:
        self.name = name
        self.source = source
        self.steps: list[Step] = []
        self.about = _Line(type="episode", episode=name)

    def learn(self, line: _Line) -> None:
        about = self.about
        about.dataset = line.dataset or about.dataset
        about.task = about.task if line.task == "" else line.task
        about.run = line.run or about.run
        about.difficulty = line.difficulty or about.difficulty
        about.prompt = line.prompt or about.prompt
        about.labels = {**about.labels, **line.labels}
        about.skills = line.skills or about.skills
        about.started_at = about.started_at or line.started_at

    def finished(self, end: _Line | None) -> Episode:
        about = self.about
        return Episode(
            id=self.name,
            source=self.source,
            format=StepsReader.name,
            dataset=about.dataset,
            task=str(about.task),
            run=about.run,
            difficulty=about.difficulty,
            labels=about.labels,
            prompt=about.prompt,
            started_at=about.started_at,
            outcome=Outcome(end.value, end.source) if end and end.value is not None else None,
            ended_by=end.ended_by if end else "unknown",
            skills=about.skills,
            steps=tuple(self.steps),
        )


def _step(line: _Line, span: Span, before: list[Step]) -> Step:
    tool = plain_tool(line.tool) if line.kind == "call" else ""
    head = head_of(tool, line.text) if line.head is None else plain_head(line.head)
    return Step(
        index=len(before),
        turn=line.turn if line.turn is not None else (before[-1].turn + 1 if before else 0),
        kind=line.kind,
        actor=line.actor,
        tool=tool,
        head=head,
        text=line.text,
        result=line.result,
        error=line.error,
        error_text=(line.error_text or line.result) if line.error else "",
        error_type=line.error_type,
        writes=line.kind == "call" and (writes(tool, head) if line.writes is None else line.writes),
        started_at=line.started_at,
        duration_ms=line.duration_ms,
        span=span,
    )
