"""Opening: a model with all that it needs, as the settings and the environment say; closed at the end."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from registry.evidence.gitleaks import leaks_in
from registry.evidence.redaction import Leak
from strategies.models.anthropic_client import LEAST_KEY_CHARS, Claude
from strategies.models.http_errors import KEY
from strategies.models.recorded_model import RecordedModel
from strategies.models.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from registry.registry import Registry
    from strategies.models.model_settings import ModelSettings
    from strategies.models.prompts import FindLeaks


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
    key = environment.get(KEY, "").strip()
    claude = Claude(
        key,
        base_url=settings.base_url,
        timeout_s=settings.timeout_s,
        max_retries=settings.max_retries,
        longest_wait_s=settings.longest_wait_s,
    )
    with closing(claude):
        yield RecordedModel(
            registry,
            settings,
            endpoint=claude if sends else None,
            tape=tape,
            find_leaks=_finding(key, gitleaks, personal_data=personal_data),
        )


def _finding(key: str, gitleaks: str, *, personal_data: bool) -> FindLeaks:
    """Look for secrets, the key itself first: one of a proxy may look like any word."""

    def find(texts: Iterable[str]) -> tuple[Leak, ...]:
        read = list(texts)
        there = len(key) >= LEAST_KEY_CHARS and any(key in text for text in read)
        return (
            *((Leak("api-key", key),) if there else ()),
            *leaks_in(read, gitleaks, personal_data=personal_data),
        )

    return find


def tape_of(path: Path | None, *, record: bool) -> Tape | None:
    """Open the file that `--model-replay` names, None where it names none; raises as `Tape.open`."""
    return Tape.open(path, record=record) if path else None
