"""One picture of each screen at two sizes: what the README shows is what the screens draw.

After a wanted change, GERMLINE_WRITE_PICTURES=1 writes them again: look at each before committing it.
"""

from __future__ import annotations

import os
from contextlib import chdir
from pathlib import Path
from shutil import copytree

import pytest

from registry.actions.publish import take_in
from registry.skill_md.write_places import REGISTRY_FOLDER
from strategies.audit.audit_skill import audit_skill
from strategies.evolve.loop import Plan, evolve
from strategies.policy.presets import PRESETS
from strategies.pool.intake import scan_into
from strategies.pool.known_episodes import all_episodes
from tests.audit_runs import SKILL, ScriptedRunner, plan_of
from tests.clocks import TickingClock
from tests.read_once import recordings_read_once
from tests.registries import imported, listed, new_registry
from tests.screen_pilot import screens
from tests.story import tell
from tests.story_trends import tell_with_runs
from tests.story_work import SETTINGS, tell_with_work
from tests.terminal import SPLIT_KEY
from tests.worlds.instructions import registry_of, write_world
from tests.worlds.sessions import write_sessions
from tui.demo import demo_folder

PICTURES = Path(__file__).resolve().parent.parent.parent / "docs" / "screens"
PLACES = {
    "skills": None,
    "history": "sql-analyst@2",
    "why": "sql-analyst@2:12",
    "signals": "/signals/f2109558",
    "presets": "/presets/harden",
    "review": "/review",
    "trends": "/trends/sql-analyst",
    "sessions": "/sessions",
    "usage": "/usage/CLAUDE.md",
    "start": "/start",
    "audits": "/audits/sql-analyst:format-compliance",
}


STORIES = ("was", "comes", "demoed", "ran", "began", "instructed", "audited")


@pytest.fixture(scope="module")
def stories(own_folder: Path) -> dict[str, Path]:
    """The demo for what the README shows, and stories for the others: what was, what comes, with runs."""
    folders = {name: own_folder / name for name in STORIES}
    for folder in folders.values():
        folder.mkdir()
    was, comes = tell(folders["was"]), tell_with_work(folders["comes"])
    shown = demoed(folders["demoed"])
    ran = tell_with_runs(folders["ran"])
    began = worked_in(folders["began"])
    instructed = folders["instructed"]
    write_world(instructed, 1, 300)
    registry_of(instructed).log.close()
    lines = instructed / "registry.db"
    of = {
        "skills": was,
        "history": shown,
        "why": shown,
        "presets": shown,
        "trends": ran,
        "usage": lines,
        "audits": audited(folders["audited"]),
    }
    return {name: of.get(name, began if name in {"start", "signals"} else comes) for name in PLACES}


def demoed(folder: Path) -> Path:
    """Do what `germline demo` does, up to what it learns, by a clock and ids that are the same each time."""
    copytree(demo_folder() / "skills", folder / "skills")
    home, recordings = folder / REGISTRY_FOLDER, demo_folder() / "recordings"
    home.mkdir()
    registry = new_registry(home, TickingClock(), SPLIT_KEY)
    with chdir(folder), recordings_read_once():
        for name in ("git-helper", "sql-analyst"):
            take_in(registry, Path("skills") / name)
        scan_into(registry, [recordings])
        only = {record.id for record in all_episodes(registry) if Path(record.source).parent.name == "sql"}
        evolve(registry, Plan(PRESETS["balanced"], seed=7, skill="sql-analyst", cycles=1, only=only))
        listed(registry, home / "registry.db")
    registry.log.close()
    return home / "registry.db"


def audited(folder: Path) -> Path:
    """Audit a skill whose agent is a function."""
    registry = new_registry(folder, TickingClock(), SPLIT_KEY)
    imported(registry, folder, SKILL)
    audit_skill(plan_of(registry, ScriptedRunner()))
    listed(registry, folder / "registry.db")
    registry.log.close()
    return folder / "registry.db"


def worked_in(folder: Path) -> Path:
    """Begin a registry on twenty sessions of a project."""
    write_sessions(folder / "logs", 20, 0)
    registry = new_registry(folder, TickingClock(), SPLIT_KEY)
    scan_into(registry, [folder / "logs"])
    listed(registry, folder / "registry.db")
    registry.log.close()
    return folder / "registry.db"


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", PLACES)
async def test_a_screen_looks_as_in_its_picture(
    name: str, size: tuple[int, int], stories: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    story = stories[name]
    monkeypatch.chdir(story.parent)  # the evidence names its logs from there
    async with screens(story, PLACES[name], size=size, settings=SETTINGS) as at:
        drawn = at.app.export_screenshot(title=f"germline: {name}") + "\n"
    picture = PICTURES / f"{name}-{size[0]}x{size[1]}.svg"
    if os.environ.get("GERMLINE_WRITE_PICTURES"):
        picture.write_text(drawn, encoding="utf-8")
    assert picture.read_text(encoding="utf-8") == drawn, f"{picture.name} differs from what the screen draws"
