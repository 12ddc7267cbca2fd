"""A model for tests: asked over real HTTP at the stub, with everything kept in a registry."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from events.types.frozen import Frozen
from registry.query.model_prompts import every_asked
from strategies.models.chat_server import KEY as CHAT_KEY
from strategies.models.http_errors import KEY as VARIABLE
from strategies.models.open_model import open_model
from strategies.models.protocol import Request, TextBlock, user_message
from tests.anthropic_stub import KEY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.types.model_events import ModelAsked
    from events.types.parts import ModelRole
    from registry.registry import Registry
    from strategies.models.model_settings import ModelSettings
    from strategies.models.recorded_model import RecordedModel
    from strategies.models.tape import Tape
    from tests.anthropic_stub import AnthropicStub


class Pick(Frozen):
    """A shape to ask for."""

    which: str
    reasons: tuple[str, ...]


PICK = {"which": "SHOW", "reasons": ["it lists the tables"]}


def question(text: str = "Which?", *, role: ModelRole = "proposer", again: bool = False) -> Request[Pick]:
    """Ask for a pick, under rules that are kept in the prompt cache."""
    rules = TextBlock("Pick one.", cache=True)
    return Request(role, (user_message(text),), Pick, max_tokens=500, system=(rules,), again=again)


@contextmanager
def asking(
    registry: Registry,
    stub: AnthropicStub,
    settings: ModelSettings | None = None,
    *,
    key: str = KEY,
    tape: Tape | None = None,
    sends: bool = True,
) -> Iterator[RecordedModel]:
    """Lend a model that asks the stub, and never sleeps between two looks at a batch."""
    environment = {VARIABLE: key, CHAT_KEY: key}
    with open_model(registry, settings or stub.settings(), environment, tape=tape, sends=sends) as model:
        model.pause = lambda _: None
        yield model


def asked(registry: Registry) -> list[ModelAsked]:
    """List what was written down of the prompts that went out."""
    return [prompt.event for prompt in every_asked(registry)]
