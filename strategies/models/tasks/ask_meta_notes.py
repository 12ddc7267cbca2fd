"""A model that takes notes: which kinds of edits helped and which failed, for the proposer alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.frozen import Frozen
from strategies.models.prompts import NOTICE, untrusted
from strategies.models.protocol import Request, TextBlock, user_message

if TYPE_CHECKING:
    from strategies.models.protocol import Model, Reply

_SYSTEM: Final = """\
You keep notes for somebody who suggests edits to skills, texts that agents load. You are shown how many edits of
each kind were promoted, held and rejected, the last attempts with the one word that came back, and the notes so
far. Write the notes again: at most eight, each one sentence, the most useful first. Note which kinds of edits and
of claims tend to help or fail, and what is not worth trying again. Keep what still holds, drop what does not, and
invent no reasons: you know one word of each verdict and nothing more."""

_MOST_TOKENS: Final = 1_500
_MOST_NOTES: Final = 8
_MOST_NOTE_CHARS: Final = 300
_MOST_LIST_CHARS: Final = 8_000
"""What is asked and shown (guesses)."""


class MetaNotes(Frozen):
    """Notes about kinds of edits; they are shown to a proposer and stand in no skill."""

    notes: tuple[str, ...]

    @property
    def text(self) -> str:
        """The notes as a proposer is shown them, one a line."""
        return "\n".join(f"- {' '.join(note.split())[:_MOST_NOTE_CHARS]}" for note in self.notes[:_MOST_NOTES])


def take_notes(model: Model, kinds: str, attempts: str, before: str) -> Reply[MetaNotes]:
    """Ask for new notes; raises what `Model.ask` raises."""
    blocks = [
        untrusted("kinds of edits", kinds, most_chars=_MOST_LIST_CHARS),
        untrusted("last attempts", attempts, most_chars=_MOST_LIST_CHARS),
        untrusted("notes so far", before or "none yet", most_chars=_MOST_LIST_CHARS),
    ]
    return model.ask(
        Request(
            role="notes",
            system=(TextBlock(f"{_SYSTEM}\n\n{NOTICE}", cache=True),),
            messages=(user_message("\n\n".join(blocks)),),
            answer=MetaNotes,
            max_tokens=_MOST_TOKENS,
            again=True,
        )
    )
