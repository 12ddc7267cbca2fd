"""Action–observation JSON: episodes with a `turn_history`, as InterCode writes its results.

One document: an object or an array of episodes. Several run on the same tasks, so the file's stem names the
run configuration. An action that no observation answers never reached the environment (the model was blocked
or cut off), and a `submit` past the last turn is the harness's: both are notes, not actions of the agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from events.errors import UnreadableLogError
from strategies.episodes.action_class import head_of, plain_tool, writes
from strategies.episodes.episode import SUBMIT, EndedBy, Episode, EpisodeOutcome, Step
from strategies.episodes.outcome_fields import OUTCOME_FIELDS, outcome_in
from strategies.files.json_offsets import JsonDocument, JsonPart, document_of, plain_values
from strategies.files.log_records import UNREADABLE, Malformed, ReadTally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.files.log_file import LogFile

_TEXTS: Final = msgspec.json.Decoder(list[str])
_WRAPPER: Final = "execute["


class _Summary(msgspec.Struct):
    max_reward: float | None = None
    turns_max: int | None = None


class _History(msgspec.Struct):
    actions: list[str] = []
    observations: list[str] = []
    rewards: list[float | None] = []
    valid_action: list[bool | None] = []


class _Run(msgspec.Struct):
    turn_history: _History
    environment: str = ""
    dataset: str = ""
    task_id: str | int | None = None
    query: str = ""
    hardness: str | None = None
    summary: _Summary = msgspec.field(default_factory=_Summary)


_RUN: Final = msgspec.json.Decoder(_Run)


class ActionObservationReader:
    """Reads InterCode results."""

    name = "action-observation"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether the document holds a `turn_history`; inside a string its quotes would be escaped."""
        del source
        return head.lstrip()[:1] in {b"{", b"["} and b'"turn_history"' in head

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the episodes of the document in its order."""
        document = document_of(log)
        for name, part in _episode_parts(document, log.source):
            tally.records += 1
            try:
                episode = _episode(document, part, name, log)
            except UNREADABLE as error:
                line = document.line(part.byte_start)
                tally.malformed.append(Malformed(log.source, line, part.byte_start, str(error)))
            else:
                yield episode


def _episode_parts(document: JsonDocument, source: str) -> Iterator[tuple[str, JsonPart]]:
    root = document.root
    try:
        if root.opens_with(b"["):
            parts = [(str(place), part) for place, part in enumerate(document.elements(root))]
        else:
            members = document.members(root)
            parts = [("0", root)] if "turn_history" in members else list(members.items())
    except UNREADABLE as error:
        raise UnreadableLogError(
            f"{source}: not a whole JSON document ({error})", hint="one object or array of episodes is expected"
        ) from error
    yield from parts


def _episode(document: JsonDocument, part: JsonPart, name: str, log: LogFile) -> Episode:
    run = _RUN.decode(part.raw)
    steps = tuple(_steps(document, part, run))
    reward = run.summary.max_reward
    value = (
        outcome_in(plain_values(document.members(part), OUTCOME_FIELDS)) if reward is None else float(reward == 1)
    )
    return Episode(
        id=name,
        source=log.source,
        format=ActionObservationReader.name,
        dataset=run.dataset or run.environment,
        task="" if run.task_id is None else str(run.task_id),
        run=log.stem,
        difficulty=run.hardness or "",
        prompt=run.query,
        answer=next((step.text for step in reversed(steps) if step.kind == "call" and step.tool != SUBMIT), ""),
        outcome=None if value is None else EpisodeOutcome(value, "reward"),
        ended_by=_ended_by(run, steps),
        steps=steps,
    )


def _steps(document: JsonDocument, part: JsonPart, run: _Run) -> Iterator[Step]:
    history = run.turn_history
    fields = document.members(document.members(part)["turn_history"])
    actions = list(document.elements(fields["actions"])) if "actions" in fields else []
    observations = list(document.elements(fields["observations"])) if "observations" in fields else []
    environment = plain_tool(run.environment.removeprefix("ic_") or "action")
    for place, written in enumerate(history.actions):
        text = _unwrapped(written)
        tool, head = (SUBMIT, "") if text == SUBMIT else (environment, head_of(environment, text))
        answered = place < len(observations)
        result = history.observations[place] if answered else ""
        failed = answered and _failed(tool, result, history.valid_action[place : place + 1])
        yield Step(
            index=place,
            turn=place,
            kind="call" if answered and not (tool == SUBMIT and _past_limit(run, place)) else "note",
            actor="agent",
            tool=tool,
            head=head,
            text=text,
            result=result,
            error=failed,
            error_text=result if failed else "",
            writes=writes(tool, head),
            span=document.span(actions[place]),
            error_span=document.span(observations[place]) if failed else None,
        )


def _unwrapped(action: str) -> str:
    text = action.strip()
    return text.removeprefix(_WRAPPER).removesuffix("]") if text.startswith(_WRAPPER) else text


def _failed(tool: str, result: str, valid: list[bool | None]) -> bool:
    # What answers a submit repeats the observation before it: no error of its own.
    return tool != SUBMIT and (valid == [False] or "Error" in result)


def _past_limit(run: _Run, place: int) -> bool:
    return run.summary.turns_max is not None and place >= run.summary.turns_max


def _ended_by(run: _Run, steps: tuple[Step, ...]) -> EndedBy:
    if not steps:
        return "unknown"
    last = steps[-1]
    if last.tool == SUBMIT:
        return "agent" if last.kind == "call" else "limit"
    if run.turn_history.rewards[-1:] == [1] or last.kind == "note":
        return "environment"
    return "limit" if _past_limit(run, len(steps)) else "unknown"
