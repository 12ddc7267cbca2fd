"""Trust of a project: the hash changes with what the settings could do, and with nothing else."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import pytest

from tui.cli.commands.registry.trust import key_lines
from tui.cli.config.consents import keep_consent
from tui.cli.config.project_trust import ProjectTrust, trust_of
from tui.session.ownership import VOUCHED

if TYPE_CHECKING:
    from pathlib import Path

BEFORE = '[rollouts]\nagent = "a"\ntasks = "t"\n[scan]\npaths = ["out/logs"]\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in ("project", "elsewhere", "aside"):
        (tmp_path / name).mkdir()
    (tmp_path / "project" / "out").symlink_to(tmp_path / "aside")
    return tmp_path / "project"


def looked(folder: Path, text: str) -> ProjectTrust:
    file = folder / "germline.toml"
    file.write_text(text, encoding="utf-8")
    return trust_of(file, tomllib.loads(text), {})


def test_a_project_without_guarded_settings_needs_no_trust(project: Path) -> None:
    trust = looked(project, "seed = 1")
    assert (trust.state, trust.is_in_force, trust.summary) == ("not needed", True, "")


def test_order_comments_and_harmless_settings_change_nothing(project: Path) -> None:
    first = looked(project, BEFORE)
    keep_consent(project, first.sha256, first.values)
    again = 'seed = 9\n[scan]\npaths = ["out/logs"]\n[rollouts]\n# mine\nworkers = 3\ntasks = "t"\nagent = "a"\n'
    assert looked(project, again).state == "trusted"


@pytest.mark.parametrize(
    "after",
    [
        BEFORE.replace('"a"', '"b"'),
        BEFORE.replace('agent = "a"\n', ""),
        BEFORE + "gitleaks = false\n",
        BEFORE.replace("[rollouts]", "[rollouts.one]"),
        BEFORE.replace('["out/logs"]', '["out/logs", "out/more"]'),
    ],
)
def test_a_setting_that_is_changed_new_or_gone_is_asked_about_again(project: Path, after: str) -> None:
    first = looked(project, BEFORE)
    keep_consent(project, first.sha256, first.values)
    trust = looked(project, after)
    assert (trust.state, trust.is_in_force) == ("changed", False)
    assert looked(project, BEFORE).state == "trusted"


def test_where_a_link_leads_and_where_the_folder_lies_are_part_of_it(project: Path) -> None:
    first = looked(project, BEFORE)
    keep_consent(project, first.sha256, first.values)
    (project / "out").unlink()
    (project / "out").symlink_to(project.parent / "elsewhere")
    assert looked(project, BEFORE).state == "changed"
    assert looked(project.parent / "elsewhere", BEFORE).state == "untrusted"


def test_one_command_may_be_answered_for(project: Path) -> None:
    trust = looked(project, BEFORE)
    token = VOUCHED.set(True)
    try:
        assert (trust.state, trust.is_in_force) == ("answered for", True)
    finally:
        VOUCHED.reset(token)
    assert trust.state == "untrusted"


def test_each_key_is_found_on_its_line() -> None:
    text = 'seed = 1\n\n[rollouts]\n  agent = "a"  # x\n[rollouts."a.b"]\ntasks="t"\n'
    text += '[models.prices."m"]\ninput = 1\n"q = 1'
    assert key_lines(text) == {
        ("seed",): 1,
        ("rollouts",): 3,
        ("rollouts", "agent"): 4,
        ("rollouts", "a.b"): 5,
        ("rollouts", "a.b", "tasks"): 6,
        ("models", "prices", "m"): 7,
        ("models", "prices", "m", "input"): 8,
    }
