"""What is asked of a model and what it answers: the protocol that proposers, judges and harnesses build on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, Literal, Protocol, TypeVar

from events.model_errors import UNFIT
from events.types.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import JsonValue

    from events.errors import SpendingCapError
    from events.model_errors import ModelError
    from events.types.model_events import TokenUsage
    from events.types.parts import ModelRole

A = TypeVar("A", bound=Frozen | str)
"""What an answer is read as: a recorded shape, or text as it is."""

Stop = Literal["end_turn", "stop_sequence", "tool_use", "pause_turn"]
"""Why a reply of use ended: those that were refused or cut off are errors."""

MOST_CACHE_MARKS: Final = 4
"""Cache breakpoints that one request may hold (Messages API)."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A block of text; with `cache` everything up to its end is kept in the prompt cache."""

    text: str
    cache: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model makes; nothing here ever executes it."""

    id: str
    name: str
    arguments: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave back, under the id of the call; `cache` is as for a text."""

    call: str
    text: str
    failed: bool = False
    cache: bool = False


@dataclass(frozen=True, slots=True)
class Opaque:
    """A block that only the model's server reads, such as sealed thinking: JSON that goes back as it came."""

    body: str


Part = TextBlock | ToolCall | ToolResult | Opaque


@dataclass(frozen=True, slots=True)
class ModelMessage:
    """One turn of a conversation."""

    by: Literal["user", "assistant"]
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class ModelTool:
    """A tool that an agent may call; `arguments` is the JSON schema of what it takes."""

    name: str
    description: str
    arguments: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Request(Generic[A]):
    """One question to a model.

    `answer` is the type that the reply is read as: its JSON schema goes with the request, or `str` for text.
    `model` is "" for the one that the settings name for the role. `evidence` names the pieces of evidence that the
    prompt quotes: erasing one of them erases the prompt and its reply. With `again` a reply that is kept for the
    very same prompt is taken instead of paying for another. Only an agent is offered tools; and only to an agent
    secrets go as they stand, because what it works on is its own.
    """

    role: ModelRole
    messages: tuple[ModelMessage, ...]
    answer: type[A]
    max_tokens: int
    system: tuple[TextBlock, ...] = ()
    tools: tuple[ModelTool, ...] = ()
    model: str = ""
    evidence: tuple[str, ...] = ()
    again: bool = False

    def __post_init__(self) -> None:
        if self.tools and self.role != "agent":
            raise ValueError(f"a {self.role} is offered no tools")
        if self.again and self.role == "agent":
            raise ValueError("what an agent was told is kept without secrets: it cannot be told again")
        if not self.messages or self.messages[-1].by != "user":
            raise ValueError("the last message of a request is the user's")
        if self.marks > MOST_CACHE_MARKS:
            raise ValueError(f"a request holds at most {MOST_CACHE_MARKS} cache marks")

    @property
    def marks(self) -> int:
        """How many cache marks it holds."""
        blocks = [*self.system, *(part for message in self.messages for part in message.parts)]
        return sum(isinstance(block, TextBlock | ToolResult) and block.cache for block in blocks)


@dataclass(frozen=True, slots=True)
class Reply(Generic[A]):
    """What a model answered, as it is kept.

    `cost_usd` is None where no price is known. `kept` is the blob of the reply; that of the prompt is called
    `prompt_hash`. `parts` go back as the assistant's turn of a conversation that goes on.
    """

    answer: A
    text: str
    parts: tuple[Part, ...]
    stop: Stop
    usage: TokenUsage
    cost_usd: float | None
    model: str
    prompt_hash: str
    request_id: str
    kept: str

    @property
    def actor(self) -> str:
        """Name the model as the actor of the events that it causes."""
        return f"model:{self.model}#{self.prompt_hash}"


class Model(Protocol):
    """Asks models, keeps what they say, and stays within the caps."""

    def ask(self, request: Request[A]) -> Reply[A]:
        """Ask once.

        Raises: ModelError by what went wrong, kept and priced; CredentialsError without a key, or where it is
        refused; SpendingCapError and UnknownPriceError before anything is sent; UsageError where no model is named
        for the role; NotRecordedError where a replayed file does not know the prompt.
        """
        ...

    def ask_all(self, requests: Sequence[Request[A]]) -> list[Reply[A] | ModelError | SpendingCapError]:
        """Ask a round of questions, as one batch where the settings say so; in the order of the requests.

        One that fails takes no other with it. Raises: as `ask`, but for ModelError and SpendingCapError.
        """
        ...


def require_any(answers: Sequence[object], errors: Sequence[ModelError | SpendingCapError]) -> None:
    """Raise the first error of a round that would meet every other prompt as well, where nothing came back."""
    outside = [error for error in errors if not isinstance(error, UNFIT)]
    if outside and not answers:
        raise outside[0]


def user_message(text: str, *, cache: bool = False) -> ModelMessage:
    """Write what the user says as a message."""
    return ModelMessage("user", (TextBlock(text, cache),))
