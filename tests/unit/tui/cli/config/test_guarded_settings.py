"""Which settings of a project need trust: decided for every one there is."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import pytest

from tui.cli.config.guarded_settings import CAPS, LETS, OUTSIDE, guarded, without
from tui.cli.config.known_settings import KINDS

if TYPE_CHECKING:
    from pathlib import Path

OFF = (
    '[rollouts]\ntasks = ""\nmetric = ""\nagent = ""',
    "[rollouts]\nnetwork = false\nallow_unisolated = false",
    "[rollouts]\nenvironment = []\ncommands = []",
    "[rollouts]\ncost_cap_usd = 5\ntime_cap_s = 1\nrun_tokens = 10",
    '[models]\nproposer = ""\nbase_url = ""\n[models.prices]',
    "[models]\ncap_usd_per_cycle = 2.0\ncap_usd_per_day = 1\nmax_retries = 0",
    '[engine]\nname = "local"\nscheduler = ""',
    '[scan]\ngitleaks = true\npaths = ["logs", "./a/../b"]',
    '[judge]\nrubric = "rubric.md"\n[evolve]\nskills_folder = "skills"',
    "seed = 1\n[watch]\npromote = true\n[signals]\nerror_count = 1",
    '[keys]\n"move.down" = "n"',
)
"""Files that need no trust."""


NESTED = {"models.prices", "models.fallback"}
"""Tables whose keys name models and roles."""
HARMLESS = {
    "seed", "scan.workers", "watch.look_every_s", "watch.evolve_every_s", "watch.promote", "review.draw_every",
    "ui.theme", "ui.ascii", "outcome", "outcomes.from", "rollouts.workers", "rollouts.skill_mode",
    "rollouts.container", "models.batch", "models.batch_wait_s", "models.timeout_s", "models.longest_wait_s",
    "engine.workers", "engine.connect_s",
}  # fmt: skip
"""What needs no trust: how work is shared, shown and timed within what the person allows."""


def keys(text: str, folder: Path, own: str = "") -> list[str]:
    return [setting.key for setting in guarded(tomllib.loads(text), tomllib.loads(own), folder)]


def test_of_every_setting_it_is_decided_whether_it_needs_trust() -> None:
    tables = (LETS.keys() - NESTED, OUTSIDE.keys() - {"logs.name"}, CAPS.keys(), HARMLESS)
    decided = [key for table in tables for key in table]
    assert len(decided) == len(set(decided))
    assert set(decided) == {key for key in KINDS if not key.startswith("signals.")}


@pytest.mark.parametrize("text", OFF)
def test_what_runs_reaches_and_reveals_nothing_needs_no_trust(tmp_path: Path, text: str) -> None:
    assert keys(text, tmp_path) == []


@pytest.mark.parametrize("key", sorted(LETS.keys() - NESTED - {"scan.gitleaks", "scan.personal_data"}))
def test_what_runs_reaches_or_reveals_needs_it_for_all_skills_and_for_one(tmp_path: Path, key: str) -> None:
    table, _, name = key.partition(".")
    value = {bool: "true", list: '["x"]'}.get(KINDS[key][0], '"x"')
    assert keys(f"[{table}]\n{name} = {value}", tmp_path) == [key]
    assert keys(f"{table} = {{ {name} = {value} }}", tmp_path) == [key]
    if table == "rollouts":
        assert keys(f'[rollouts."my.skill"]\n{name} = {value}', tmp_path) == [f'rollouts."my.skill".{name}']
        assert keys(f"[rollouts.agent]\n{name} = {value}", tmp_path) == [f"rollouts.agent.{name}"]


def test_prices_belong_together_and_gitleaks_may_only_be_asked(tmp_path: Path) -> None:
    (setting,) = guarded(tomllib.loads('[models.prices."a.b"]\ninput = 0.0\noutput = 0.0'), {}, tmp_path)
    assert (setting.key, setting.path) == ('models.prices."a.b"', ("models", "prices", "a.b"))
    assert keys('[models.fallback]\nnotes = "m"', tmp_path) == ["models.fallback.notes"]
    assert keys("[scan]\ngitleaks = false", tmp_path) == ["scan.gitleaks"]
    assert keys("[scan]\npersonal_data = true", tmp_path) == []
    assert keys("[scan]\npersonal_data = false", tmp_path) == ["scan.personal_data"]


@pytest.mark.parametrize(
    ("key", "lower", "higher"),
    [
        ("models.cap_usd_per_cycle", "1.0", "3.0"),
        ("models.cap_usd_per_cycle", "2", "0"),
        ("models.cap_usd_per_day", "20.0", "inf"),
        ("models.max_retries", "2", "3"),
        ("rollouts.most_replies", "40", "41"),
        ("rollouts.reply_tokens", "8_192", "8_193"),
        ("rollouts.run_tokens", "400_000", "500_000"),
    ],
)
def test_a_bound_needs_it_where_it_is_raised_over_the_default(
    tmp_path: Path, key: str, lower: str, higher: str
) -> None:
    table, _, name = key.partition(".")
    assert keys(f"[{table}]\n{name} = {lower}", tmp_path) == []
    assert keys(f"[{table}]\n{name} = {higher}", tmp_path) == [key]


@pytest.mark.parametrize("name", ["cost_cap_usd", "time_cap_s"])
def test_a_cap_of_the_person_is_raised_by_no_project(tmp_path: Path, name: str) -> None:
    own = f"[rollouts]\n{name} = 5\n[rollouts.strict]\n{name} = 1"
    assert keys(f"[rollouts]\n{name} = 5\n[rollouts.strict]\n{name} = 1", tmp_path, own) == []
    assert keys(f"[rollouts]\n{name} = 0", tmp_path, own) == [f"rollouts.{name}"]
    assert keys(f"[rollouts.other]\n{name} = 6", tmp_path, own) == [f"rollouts.other.{name}"]
    assert keys(f"[rollouts.strict]\n{name} = 2", tmp_path, own) == [f"rollouts.strict.{name}"]
    tokens = "[models]\ncap_tokens_per_cycle = "
    assert keys(f"{tokens}7", tmp_path, f"{tokens}6") == ["models.cap_tokens_per_cycle"]


@pytest.mark.parametrize(
    ("key", "template"),
    [
        ("scan.paths", '[scan]\npaths = ["logs", "{}"]'),
        ("judge.rubric", '[judge]\nrubric = "{}"'),
        ("evolve.skills_folder", '[evolve]\nskills_folder = "{}"'),
        ("logs.mine", '[logs.mine]\nglob = "{}/**/*.json"'),
    ],
)
@pytest.mark.parametrize("place", ["/etc", "~/.ssh", "../beside", "out/file", "logs/../../x"])
def test_a_path_needs_it_where_it_leads_out_of_the_project_by_links_as_well(
    tmp_path: Path, key: str, template: str, place: str
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "out").symlink_to(tmp_path)
    (setting,) = guarded(tomllib.loads(template.format(place)), {}, project)
    assert setting.key == key
    assert not setting.leads_to[-1].startswith(f"{project.resolve()}/")


NO_SETTINGS = ("models = 3", "rollouts = []", "[models]\nprices = 4", "[rollouts.a.b]\nc=1")


@pytest.mark.parametrize("text", NO_SETTINGS)
def test_what_is_no_setting_at_all_is_left_to_those_who_read_settings(tmp_path: Path, text: str) -> None:
    settings = guarded(tomllib.loads(text), {}, tmp_path)
    assert without(tomllib.loads(text), settings).keys() == tomllib.loads(text).keys()


def test_the_others_are_left_as_they_are(tmp_path: Path) -> None:
    text = 'seed = 1\n[rollouts]\nworkers = 2\nagent = "x"\n[rollouts.a]\ntasks = "t"\n[models]\nbatch = true'
    tables = tomllib.loads(text)
    left = without(tables, guarded(tables, {}, tmp_path))
    assert left == {"seed": 1, "rollouts": {"workers": 2, "a": {}}, "models": {"batch": True}}
    assert tables == tomllib.loads(text)
