"""Settings in layers: the environment, the nearest germline.toml, the user's own, the default."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.errors import UsageError
from strategies.signals.thresholds import Thresholds
from tui.cli.commands.registry.config import settings_in_force
from tui.cli.config.config import read_config
from tui.cli.config.known_settings import KINDS
from tui.cli.config.layers import read_layers, strays, user_file, variable
from tui.session.ownership import VOUCHED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RULE = 'where = "exit_status"\npattern = "^0$"\nvalue = 1\nsource = "ci"\n'


@pytest.fixture(autouse=True)
def nobody_answers() -> Iterator[None]:
    """Answer for a project where a test says so, until its end."""
    token = VOUCHED.set(False)
    yield
    VOUCHED.reset(token)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, below a home of its own, without any setting."""
    for key in KINDS:
        monkeypatch.delenv(variable(key), raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "config"))
    here = tmp_path / "project" / "inside"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    return here


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def origin_of(key: str) -> tuple[object, str, str]:
    row = next(row for row in settings_in_force() if row.key == key)
    return row.value, row.layer, row.name


def test_the_stronger_layer_wins_key_by_key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert origin_of("seed") == (0, "default", "")
    own = write(user_file(), "seed = 1\n[watch]\npromote = true\nevolve_every_s = 60\n")
    assert origin_of("seed") == (1, "user file", str(own))
    near = write(folder.parent / "germline.toml", "seed = 2\n[watch]\nevolve_every_s = 30\n")
    assert origin_of("seed") == (2, "nearest file", str(near))
    assert origin_of("watch.evolve_every_s") == (30, "nearest file", str(near))
    assert origin_of("watch.promote") == (True, "user file", str(own))
    monkeypatch.setenv("GERMLINE_SEED", "3")
    assert origin_of("seed") == (3, "environment", "GERMLINE_SEED")
    config = read_config()
    assert (config.seed, config.evolve_every_s, config.promote) == (3, 30, True)


def test_every_setting_can_be_said_by_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "seed": "7",
        "scan.paths": f"logs:{folder}",
        "scan.workers": "2",
        "scan.gitleaks": "false",
        "scan.personal_data": "false",
        "watch.look_every_s": "0.5",
        "watch.evolve_every_s": "9",
        "watch.promote": "true",
        "signals.error_count": "5",
        "signals.error_budget": "0.5",
        "outcome": '[{where = "exit_status", pattern = "^0$", value = 1, source = "ci"}]',
    }
    for key, text in values.items():
        monkeypatch.setenv(variable(key), text)
    config = read_config()
    assert (config.seed, config.paths, config.workers) == (7, (folder / "logs", folder), 2)
    assert not config.personal_data
    assert (config.gitleaks, config.look_every_s, config.evolve_every_s, config.promote) == (False, 0.5, 9, True)
    assert config.thresholds == Thresholds(error_count=5, error_budget=0.5)
    assert [rule.source for rule in config.rules] == ["ci"]
    assert {row.key for row in settings_in_force() if row.layer == "environment"} >= values.keys()


@pytest.mark.parametrize("key", sorted(KINDS))
def test_a_variable_that_cannot_be_is_refused_by_its_name_or_taken(
    folder: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    del folder
    monkeypatch.setenv(variable(key), "{odd = 1}")
    layers = read_layers({key: KINDS[key]})
    assert layers.origins
    assert {origin.name for origin in layers.origins.values()} == {variable(key)}
    if KINDS[key] not in {(str,), (list,)}:
        with pytest.raises(UsageError):
            read_config()


def test_an_empty_variable_says_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del folder
    monkeypatch.setenv("GERMLINE_SEED", "")
    assert origin_of("seed") == (0, "default", "")


def test_relative_paths_begin_where_they_were_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = write(user_file(), '[scan]\npaths = ["runs", "~/more"]\n')
    assert read_config().paths == (own.parent / "runs", folder.parent.parent / "home" / "more")
    assert not read_config().policy.by_project
    write(folder.parent / "germline.toml", '[scan]\npaths = ["logs"]\n')
    assert read_config().paths == (folder.parent / "logs",)
    assert read_config().policy.by_project
    monkeypatch.setenv("GERMLINE_LOGS_TRUST", "mine")
    assert not read_config().policy.by_project
    monkeypatch.setenv("GERMLINE_SCAN_PATHS", "here")
    assert read_config().paths == (folder / "here",)


def test_who_receives_the_key_is_not_for_a_project_to_say(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    away = '[models]\nbase_url = "https://gateway.example.com"\n'
    near = write(folder / "germline.toml", away)
    assert read_config().models.base_url == ""
    VOUCHED.set(True)  # not even then
    with pytest.raises(UsageError, match="which would be sent your key") as caught:
        read_config()
    assert caught.value.hint == "say it yourself: export GERMLINE_MODELS_BASE_URL=https://gateway.example.com"
    monkeypatch.setenv("GERMLINE_MODELS_BASE_URL", "https://gateway.example.com")
    assert read_config().models.base_url == "https://gateway.example.com"
    monkeypatch.delenv("GERMLINE_MODELS_BASE_URL")
    near.unlink()
    write(user_file(), away)
    assert read_config().models.base_url == "https://gateway.example.com"
    write(near, '[models]\nbase_url = "http://127.0.0.1:8080"\n')
    assert read_config().models.base_url == "http://127.0.0.1:8080"


def test_models_and_their_prices_are_read_key_by_key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    price = "input = 1.0\noutput = 2.0\ncache_write = 1.0\ncache_read = 1.0\n"
    write(
        user_file(), f'[models]\njudge = "j"\n[models.prices."own.model"]\n{price}[models.effort]\njudge = "low"\n'
    )
    write(folder / "germline.toml", '[models]\nproposer = "p"\ncap_usd_per_cycle = 0.5\n')
    VOUCHED.set(True)
    monkeypatch.setenv("GERMLINE_MODELS_WRITER", "w")
    models = read_config().models
    assert models.named == {"proposer": "p", "writer": "w", "judge": "j"}
    assert (models.caps.usd_per_cycle, models.caps.usd_per_day) == (0.5, 20.0)
    assert models.prices["own.model"].output == 2.0
    assert models.effort == {"judge": "low"}
    assert origin_of("models.cap_usd_per_cycle") == (0.5, "nearest file", str(folder / "germline.toml"))


def test_rules_are_taken_from_one_layer_as_a_whole(folder: Path) -> None:
    write(user_file(), f"[[outcome]]\n{RULE}\n[[outcome]]\n{RULE}")
    assert len(read_config().rules) == 2
    write(folder / "germline.toml", f"[[outcome]]\n{RULE}")
    assert len(read_config().rules) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed = ", "no TOML"),
        ("sead = 1", "sead"),
        ('[watch]\npromote = "yes"', "watch.promote"),
        ("watch = 3", "watch"),
    ],
)
def test_a_broken_user_file_is_named(folder: Path, text: str, message: str) -> None:
    del folder
    own = write(user_file(), text)
    with pytest.raises(UsageError) as caught:
        read_config()
    assert str(own) in caught.value.message
    assert message in caught.value.message


def test_a_broken_variable_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del folder
    monkeypatch.setenv("GERMLINE_SCAN_WORKERS", "many")
    with pytest.raises(UsageError, match=r"GERMLINE_SCAN_WORKERS sets scan\.workers to 'many'"):
        read_config()


def test_a_variable_that_says_nothing_but_nearly_does_is_noticed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del folder
    monkeypatch.setenv("GERMLINE_SEDE", "3")
    monkeypatch.setenv("GERMLINE_OF_SOMEBODY_ELSE", "3")
    assert strays(KINDS) == [("GERMLINE_SEDE", "GERMLINE_SEED")]
