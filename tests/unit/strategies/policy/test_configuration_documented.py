from __future__ import annotations

import json
from pathlib import Path

import pytest

from strategies.engines.engine_settings import EngineSettings
from strategies.episodes.outcome_rules import _KEYS as RULE_KEYS
from strategies.models.model_settings import ModelSettings
from strategies.policy.presets import EditBudget, Preset, Weights
from strategies.signals.thresholds import Thresholds
from tui.cli.config.known_settings import KEYS

TEXT = (Path(__file__).resolve().parents[4] / "docs" / "configuration.md").read_text(encoding="utf-8")
TRUST = "| settings of a project | need trust |"
ROWS = [line for line in TEXT.partition(TRUST)[0].splitlines() if line.startswith("| `")]
ROWS += [line for line in TEXT.partition(TRUST)[2].partition("\n\n")[2].splitlines() if line.startswith("| `")]


@pytest.mark.parametrize("key", [*KEYS, *Thresholds.model_fields, *sorted(RULE_KEYS)])
def test_every_key_of_the_settings_file_is_in_the_docs(key: str) -> None:
    assert any(f"`{key}`" in row.split(" | ")[0] for row in ROWS)


@pytest.mark.parametrize("key", Thresholds.model_fields)
def test_the_docs_state_the_default_that_a_threshold_has(key: str) -> None:
    row = next(row for row in ROWS if f"`{key}`" in row.split(" | ")[0])
    assert f"{Thresholds.model_fields[key].default}" in row.split(" | ")[1]


@pytest.mark.parametrize("key", sorted(ModelSettings.model_fields.keys() - {"prices"}))
def test_the_docs_name_every_key_of_models_with_its_default(key: str) -> None:
    row = next(row for row in ROWS if f"`models.{key}`" in row.split(" | ")[0])
    default = ModelSettings.model_fields[key].get_default(call_default_factory=True)
    assert row.split(" | ")[1] == f"`{json.dumps(default)}`"


@pytest.mark.parametrize("key", EngineSettings.model_fields)
def test_the_docs_name_every_key_of_engines_with_its_default(key: str) -> None:
    row = next(row for row in ROWS if f"`engine.{key}`" in row.split(" | ")[0])
    assert row.split(" | ")[1] == f"`{json.dumps(EngineSettings.model_fields[key].default)}`"


@pytest.mark.parametrize("key", [*Preset.model_fields, *Weights.model_fields, *EditBudget.model_fields])
def test_every_key_of_a_preset_is_in_the_docs(key: str) -> None:
    section = TEXT.partition("## Presets of your own")[2].partition("\n## ")[0]
    assert f"`{key}`" in section or f".{key}`" in section
