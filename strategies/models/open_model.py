"""Opening: a model with all that it needs, as the settings and the environment say; closed at the end."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.evidence.gitleaks import leaks_in
from registry.evidence.redaction import Leak
from strategies.models import chat_server
from strategies.models.anthropic_client import Claude
from strategies.models.chat_server import ChatServer
from strategies.models.http_errors import KEY, LEAST_KEY_CHARS
from strategies.models.recorded_model import RecordedModel
from strategies.models.served_model import served_model
from strategies.models.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from events.model_errors import ModelError
    from registry.registry import Registry
    from strategies.models.model_settings import ModelSettings
    from strategies.models.prompts import Arrived, FindLeaks, Prompt


@contextmanager
def open_model(
    registry: Registry,
    settings: ModelSettings,
    environment: Mapping[str, str],
    *,
    tape: Tape | None = None,
    sends: bool = True,
    gitleaks: str = "",
    personal_data: bool = True,
) -> Iterator[RecordedModel]:
    """Lend a model that asks whom the settings name, with the key that the environment holds.

    `sends` is false for a dry run: what is not on the tape is then refused. `gitleaks` is the binary of a second
    scanner for secrets, "" for none; `personal_data` keeps e-mail addresses, card and phone numbers back too.
    Without a key everything works until something is to be sent.
    """
    key, chat_key = (environment.get(name, "").strip() for name in (KEY, chat_server.KEY))
    claude = Claude(
        key,
        base_url=settings.base_url,
        timeout_s=settings.timeout_s,
        max_retries=settings.max_retries,
        longest_wait_s=settings.longest_wait_s,
    )
    chat = ChatServer(
        chat_key,
        timeout_s=settings.timeout_s,
        max_retries=settings.max_retries,
        longest_wait_s=settings.longest_wait_s,
    )
    with closing(claude):
        yield RecordedModel(
            registry,
            settings,
            endpoint=EndpointsByModel(claude, chat) if sends else None,
            tape=tape,
            find_leaks=_finding((key, chat_key), gitleaks, personal_data=personal_data),
        )


@dataclass(eq=False)
class EndpointsByModel:
    """Sends each prompt to the server of its model; batches go to Anthropic's alone."""

    claude: Claude
    chat: ChatServer

    def require_key(self, model: str) -> None:
        """Raise CredentialsError where the model's server asks for a key and there is none."""
        self._of(model).require_key(model)

    def send(self, prompt: Prompt) -> Arrived:
        """Send one prompt and wait for its reply."""
        return self._of(prompt.model).send(prompt)

    def count(self, prompt: Prompt) -> int | None:
        """Ask how many tokens a prompt holds; None where its server does not tell."""
        return self._of(prompt.model).count(prompt)

    def send_batch(self, prompts: Mapping[str, Prompt]) -> str:
        """Send prompts as a batch."""
        return self.claude.send_batch(prompts)

    def has_ended(self, batch: str) -> bool:
        """Tell whether every prompt of a batch has a result."""
        return self.claude.has_ended(batch)

    def results(self, batch: str) -> Iterator[tuple[str, Arrived | ModelError]]:
        """Yield what became of each prompt of a batch that has ended."""
        return self.claude.results(batch)

    def _of(self, model: str) -> Claude | ChatServer:
        return self.claude if served_model(model) is None else self.chat


def _finding(keys: Sequence[str], gitleaks: str, *, personal_data: bool) -> FindLeaks:
    """Look for secrets, the keys themselves first: one of a proxy may look like any word."""

    def find(texts: Iterable[str]) -> tuple[Leak, ...]:
        read = list(texts)
        there = [key for key in keys if len(key) >= LEAST_KEY_CHARS and any(key in text for text in read)]
        return (
            *(Leak("api-key", key) for key in there),
            *leaks_in(read, gitleaks, personal_data=personal_data),
        )

    return find


def tape_of(path: Path | None, *, record: bool) -> Tape | None:
    """Open the file that `--model-replay` names, None where it names none; raises as `Tape.open`."""
    return Tape.open(path, record=record) if path else None
