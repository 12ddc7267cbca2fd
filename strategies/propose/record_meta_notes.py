"""Noting: what kinds of edits came to, learned from the verdicts alone, and the notes that a model makes of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ValidationError

from events.types.model_events import NotesTaken
from registry.decide.commands import RecordFact
from strategies.claims.catalogue import described
from strategies.models.tasks.ask_meta_notes import MetaNotes, take_notes
from strategies.propose.suggestion_checks import CLAUDE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.query.library import Library
    from registry.registry import Registry
    from registry.state.candidate import Candidate
    from strategies.models.protocol import Model

_MOST_ATTEMPTS: Final = 30
"""Attempts that the note taker is shown, the last ones (a guess)."""


class _Block(BaseModel):
    type: str
    text: str = ""


class _Kept(BaseModel):
    """A reply as it is kept, as far as notes are read from it."""

    content: list[_Block]


def note(registry: Registry, model: Model) -> bool:
    """Let a model rewrite its notes from what became of its edits; false where there is nothing new to note.

    Raises: what `Model.ask` raises.
    """
    judged = [
        candidate
        for candidate in registry.candidates()
        if candidate.proposed.proposer == CLAUDE and candidate.verdict
    ]
    last = _last(registry)
    if not judged or (last is not None and last.candidates == len(judged)):
        return False
    reply = take_notes(model, _kinds(judged), _attempts(judged), notes_of(registry))
    event = NotesTaken(model=reply.model, prompt=reply.prompt_hash, reply=reply.kept, candidates=len(judged))
    registry.execute(RecordFact((event,)), actor=reply.actor)
    return True


def notes_of(library: Library) -> str:
    """Give the notes as they are now, "" where there are none, or they were erased."""
    last = _last(library)
    body = library.log.get_blob(last.reply) if last else None
    if body is None:
        return ""
    try:
        text = "".join(block.text for block in _Kept.model_validate_json(body).content if block.type == "text")
        return MetaNotes.model_validate_json(text).text
    except ValidationError:
        return ""


def _last(library: Library) -> NotesTaken | None:
    newest = library.log.read(types=("NotesTaken",), newest_first=True)
    event = next((envelope.event for envelope in newest), None)
    return event if isinstance(event, NotesTaken) else None


def _word(candidate: Candidate) -> str:
    return (
        "rejected"
        if candidate.reverted
        else {"promote": "promoted", "reject": "rejected"}.get(candidate.verdict or "", "held")
    )


def _kinds(judged: Sequence[Candidate]) -> str:
    """Count what became of each kind: what was edited how, and by which kind of claim."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for candidate in judged:
        proposed = candidate.proposed
        ops = " + ".join(sorted({edit.op for edit in proposed.edits})) or "new gene"
        claims = " + ".join(sorted({claim.kind for claim in (*proposed.claims, *proposed.removes)})) or "no claim"
        counts[f"{proposed.strategy}: {ops}, {claims}"][_word(candidate)] += 1
    words = ("promoted", "held", "rejected")
    return "\n".join(
        f"{kind}: {', '.join(f'{counts[kind][word]} {word}' for word in words)}" for kind in sorted(counts)
    )


def _attempts(judged: Sequence[Candidate]) -> str:
    attempts = []
    for candidate in judged[-_MOST_ATTEMPTS:]:
        lines = (
            " / ".join(text.strip() for text in candidate.proposed.new_lines if text.strip()) or "lines taken away"
        )
        claims = "; ".join(described(claim) for claim in (*candidate.proposed.claims, *candidate.proposed.removes))
        attempts.append(f"{_word(candidate)}: {lines}{f' (claim: {claims})' if claims else ''}")
    return "\n".join(attempts)
