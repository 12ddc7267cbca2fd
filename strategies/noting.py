"""Noting: what kinds of edits came to, told from the verdicts alone, and the notes that a model makes of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ValidationError

from events.model_events import NotesTaken
from registry.commands import Record
from strategies.claims.kinds import described
from strategies.models.meta_notes import MetaNotes, take_notes
from strategies.proposers.ideas import CLAUDE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.candidate import Candidate
    from registry.library import Library
    from registry.registry import Registry
    from strategies.models.asking import Model

_MOST_ATTEMPTS: Final = 30
"""Attempts that the note taker is told, the last ones (a guess)."""


class _Block(BaseModel):
    type: str
    text: str = ""


class _Kept(BaseModel):
    """A reply as it is kept, as far as notes are read from it."""

    content: list[_Block]


def note(registry: Registry, model: Model) -> bool:
    """Let a model make its notes anew from what became of its edits; false where there is nothing new to note.

    Raises: what `Model.ask` raises.
    """
    judged = [one for one in registry.candidates() if one.proposed.proposer == CLAUDE and one.verdict]
    last = _last(registry)
    if not judged or (last is not None and last.candidates == len(judged)):
        return False
    reply = take_notes(model, _kinds(judged), _attempts(judged), notes_of(registry))
    event = NotesTaken(model=reply.model, prompt=reply.prompt_hash, reply=reply.kept, candidates=len(judged))
    registry.execute(Record((event,)), actor=reply.actor)
    return True


def notes_of(library: Library) -> str:
    """Give the notes as they are now, "" where there are none, or they were erased."""
    last = _last(library)
    body = library.log.get_blob(last.reply) if last else None
    if body is None:
        return ""
    try:
        said = "".join(one.text for one in _Kept.model_validate_json(body).content if one.type == "text")
        return MetaNotes.model_validate_json(said).text
    except ValidationError:
        return ""


def _last(library: Library) -> NotesTaken | None:
    newest = library.log.read(types=("NotesTaken",), newest_first=True)
    found = next((envelope.event for envelope in newest), None)
    return found if isinstance(found, NotesTaken) else None


def _word(one: Candidate) -> str:
    return (
        "rejected"
        if one.reverted
        else {"promote": "promoted", "reject": "rejected"}.get(one.verdict or "", "held")
    )


def _kinds(judged: Sequence[Candidate]) -> str:
    """Count what became of each kind: what was edited how, and by which kind of claim."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in judged:
        proposed = one.proposed
        ops = " + ".join(sorted({edit.op for edit in proposed.edits})) or "new gene"
        claims = " + ".join(sorted({claim.kind for claim in (*proposed.claims, *proposed.removes)})) or "no claim"
        counts[f"{proposed.strategy}: {ops}, {claims}"][_word(one)] += 1
    words = ("promoted", "held", "rejected")
    return "\n".join(
        f"{kind}: {', '.join(f'{counts[kind][word]} {word}' for word in words)}" for kind in sorted(counts)
    )


def _attempts(judged: Sequence[Candidate]) -> str:
    told = []
    for one in judged[-_MOST_ATTEMPTS:]:
        said = " / ".join(text.strip() for text in one.proposed.new_lines if text.strip()) or "lines taken away"
        claims = "; ".join(described(claim) for claim in (*one.proposed.claims, *one.proposed.removes))
        told.append(f"{_word(one)}: {said}{f' (claim: {claims})' if claims else ''}")
    return "\n".join(told)
