"""What happens between a registry and a model: each prompt that went out, what came back, and what it cost."""

from typing import Annotated, Literal

from pydantic import Field

from events.types.frozen import Frozen
from events.types.parts import ModelRole

ModelOutcome = Literal["ok", "refusal", "max_tokens", "malformed", "error", "lost"]
"""How it ended: `error` is the server's no; where it is `lost`, nobody knows whether it was billed."""

_Tokens = Annotated[int, Field(ge=0)]
_Dollars = Annotated[float, Field(ge=0)]


class TokenUsage(Frozen):
    """Tokens as they are billed: read in full, written, kept in the prompt cache, and read from it."""

    input: _Tokens = 0
    output: _Tokens = 0
    cache_write: _Tokens = 0
    cache_read: _Tokens = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.input + self.output + self.cache_write + self.cache_read


class ModelAsked(Frozen):
    """A prompt went out to a model, and this is what became of it.

    `prompt_hash` is the SHA-256 of the request as it is kept, and the name of the blob that keeps it; `reply` is
    the blob of what came back, "" where nothing did. `served_by` is the model that the server says it was, where
    that is another name; `error` is what went wrong, in a word. `usage` is None where the server gave none: then
    `most_tokens` and `cost_usd` are the most that it can have come to, or what was sent where no reply came.
    `cost_usd` is None where no price is known.
    `replayed` cost nothing now: its figures are those of the recording. `evidence` names what the prompt quotes,
    so that erasing that erases the prompt as well.
    """

    type: Literal["ModelAsked"] = "ModelAsked"
    role: ModelRole
    model: str
    prompt_hash: str
    outcome: ModelOutcome
    error: str = ""
    usage: TokenUsage | None = None
    cost_usd: _Dollars | None = None
    reply: str = ""
    request_id: str = ""
    served_by: str = ""
    batch: str = ""
    replayed: bool = False
    most_tokens: _Tokens = 0
    evidence: tuple[str, ...] = ()


class ModelBatchSent(Frozen):
    """A round of prompts went out as one batch; a `ModelAsked` follows for each, once the batch has ended.

    `prompts` are their hashes, in order; `most_usd` and `most_tokens` are what all of them may cost, which caps
    count until it is known. `most_usd` is None where no price is known.
    """

    type: Literal["ModelBatchSent"] = "ModelBatchSent"
    role: ModelRole
    model: str
    batch: str
    prompts: tuple[str, ...]
    most_tokens: _Tokens
    most_usd: _Dollars | None = None


class NotesTaken(Frozen):
    """A model rewrote its notes on which kinds of edits helped or failed: for proposers, in no skill.

    The notes are in `reply`, an erasable blob; `candidates` counts the judged ones that they rest on.
    """

    type: Literal["NotesTaken"] = "NotesTaken"
    model: str
    prompt: str
    reply: str
    candidates: Annotated[int, Field(ge=0)]
