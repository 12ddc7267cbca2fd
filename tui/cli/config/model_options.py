"""Settings and options that say which model a command asks, by which rubric, and where its replies come from."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import UsageError
from registry.evidence.gitleaks import find_scanner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.registry import Registry
    from strategies.models.recorded_model import RecordedModel
    from strategies.models.tape import Tape
    from tui.cli.config.config import Config

_MOST_CHARS: Final = 20_000
_HINT: Final = "judge.rubric in germline.toml names a text file; docs/judge.md shows one"


ModelReplay = Annotated[
    Path | None,
    typer.Option(
        "--model-replay",
        metavar="FILE",
        help="Take a model's replies from FILE; where there is none yet, ask and record it.",
    ),
]
ModelRecord = Annotated[
    bool, typer.Option("--model-record", help="Ask for what FILE of --model-replay lacks, and add it.")
]


@contextmanager
def model_of(
    registry: Registry, config: Config, *, replay: Path | None = None, record: bool = False
) -> Iterator[RecordedModel | None]:
    """Lend the model that a command asks; None where the settings name none.

    Raises: UsageError for --model-record without a file, and for a file that is no tape; UntrustedError.
    """
    config.require("models", "scan.gitleaks", "scan.personal_data")
    tape = opened_tape(replay, record=record)
    if not config.models.named:
        yield None
        return
    with some_model(registry, config, tape=tape) as model:
        yield model


def opened_tape(replay: Path | None, *, record: bool) -> Tape | None:
    """Open the file of --model-replay, once for all that a command asks; raises UsageError for what is no tape."""
    if record and replay is None:
        raise UsageError("--model-record needs a file to record to", hint="--model-replay FILE --model-record")
    if replay is None:
        return None
    from strategies.models.open_model import tape_of  # noqa: PLC0415 - most commands ask no model

    return tape_of(replay.expanduser(), record=record)


@contextmanager
def some_model(
    registry: Registry, config: Config, *, tape: Tape | None = None, dry_run: bool = False
) -> Iterator[RecordedModel]:
    """Lend the model, whether or not the settings name one: who asks may name it. Raises: UntrustedError."""
    config.require("models", "scan.gitleaks", "scan.personal_data")
    from strategies.models.open_model import open_model  # noqa: PLC0415 - most commands ask no model

    with open_model(
        registry,
        config.models,
        os.environ,
        tape=tape,
        sends=not dry_run,
        gitleaks=find_scanner() if config.gitleaks else "",
        personal_data=config.personal_data,
    ) as model:
        yield model


def rubric_of(config: Config) -> str:
    """Read the rubric; raises UsageError for a file that cannot be one, UntrustedError for the project's."""
    config.require("judge.rubric")
    from strategies.judge.ask_judge import RUBRIC  # noqa: PLC0415 - the list of commands pays for none of it

    path = config.rubric
    if path is None:
        return RUBRIC
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read the rubric {path}: {error.strerror}", hint=_HINT) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the rubric {path} is no UTF-8 text: {error}", hint=_HINT) from error
    if not text.strip() or len(text) > _MOST_CHARS:
        what = f"has {len(text):,} characters, at most {_MOST_CHARS:,} may be" if text.strip() else "is empty"
        raise UsageError(f"the rubric {path} {what}", hint=_HINT)
    return text


def present_prompt(config: Config) -> str:
    """Give the hash of the prompt that a judge would have now."""
    from strategies.judge.ask_judge import judge_prompt  # noqa: PLC0415 - the list of commands pays for none of it

    return judge_prompt(rubric_of(config))
