"""Which model a command asks: as the settings, `--model-replay`, `--model-record` and `--dry-run` say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.errors import RefusedError, UsageError
from strategies.models.model_settings import ModelSettings
from tests.asking import question
from tui.cli.config.config import Config
from tui.cli.config.model_options import model_of, some_model

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry

ASKS = Config(models=ModelSettings(proposer="claude-haiku-4-5"))


def test_where_no_model_is_named_none_is_lent(registry: Registry) -> None:
    with model_of(registry, Config()) as model:
        assert model is None


def test_a_dry_run_sends_nothing(registry: Registry) -> None:
    with some_model(registry, ASKS, dry_run=True) as model, pytest.raises(RefusedError, match="nothing is sent"):
        model.ask(question())


def test_a_new_file_is_recorded_and_an_old_one_only_when_told_to(registry: Registry, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with model_of(registry, ASKS, replay=path) as model:
        assert model is not None
        assert model.tape is not None
        assert model.tape.records
    path.write_text('{"schema": "germline/model-replay/1"}\n')
    for record in (False, True):
        with model_of(registry, ASKS, replay=path, record=record) as model:
            assert model is not None
            assert model.tape is not None
            assert model.tape.records is record


def test_recording_needs_a_file(registry: Registry) -> None:
    with pytest.raises(UsageError, match="--model-record needs a file"), model_of(registry, ASKS, record=True):
        pass
