"""The folders that one agent is given: its workspace, a copy of the skill, the prompt, and a home of its own."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from events.errors import ContainerError
from registry.skill_md.skill_files import main_file, walk
from strategies.rollouts.run.leftovers import filled
from strategies.rollouts.run.task_container import write_start
from strategies.rollouts.tasks.workspace import place_below
from strategies.sandbox.confined_run import ConfinedCommand

if TYPE_CHECKING:
    from strategies.rollouts.run.agent_templates import Agent
    from strategies.rollouts.tasks.task import RolloutTask


class Layout(NamedTuple):
    """Where everything of one trial lies; the agent may write to workspace, home and temporary.

    `installed` is the copy of the skill inside the workspace, None where the agent gets it by its path alone.
    """

    root: Path
    workspace: Path
    skill: Path
    prompt: Path
    home: Path
    temporary: Path
    installed: Path | None


def lay_out(task: RolloutTask, skill: Path | None, agent: Agent, root: Path) -> Layout:
    """Write all that an agent is given below a folder that is its own.

    Raises: CheckFailedError if a file of the set is not what was loaded; SkillFormatError for a skill too large;
    ContainerError where the task asks for a container, and there is none.
    """
    layout = Layout(
        root=root,
        workspace=root / "workspace",
        skill=root / "skill" / (skill.name if skill else "none"),
        prompt=root / "prompt.md",
        home=root / "home",
        temporary=root / "tmp",
        installed=root / "workspace" / _skill_place(agent.skill_at, skill) if skill and agent.skill_at else None,
    )
    for folder in (layout.workspace, layout.skill, layout.home, layout.temporary):
        folder.mkdir(parents=True)
    layout.prompt.write_text(task.prompt, encoding="utf-8")
    write_start(task, layout.workspace)
    if skill:
        _copy_skill(skill, layout.skill)
        if layout.installed:
            if not _stays_inside(layout):
                raise ContainerError(f"task {task.id}: a link of its image leads the agent's skills elsewhere")
            _copy_skill(skill, layout.installed)
    return layout


def _skill_place(template: str, skill: Path) -> str:
    """Say where agents look for a skill; of a folder of several each goes where it would lie alone."""
    several = not (skill / main_file(skill.name)).exists()
    return template.replace("/{skill}", "") if several else template.replace("{skill}", skill.name)


def agent_command(task: RolloutTask, agent: Agent, program: str, layout: Layout) -> ConfinedCommand:
    """Fill the agent's template; the folder of the task set is hidden from an agent that does not lie in it."""
    places = {
        "{skill_dir}": layout.skill,
        "{prompt_file}": layout.prompt,
        "{workspace}": layout.workspace,
    }
    argv = (program, *(filled(word, places) for word in agent.argv[1:]))
    return ConfinedCommand(
        argv=argv,
        cwd=layout.workspace,
        root=layout.root,
        writable=(layout.workspace, layout.home, layout.temporary),
        limit_s=task.limit_s,
        environment={"HOME": str(layout.home), "TMPDIR": str(layout.temporary)},
        passes=agent.environment,
        stdin=layout.prompt,
        hidden=hidden_from(task, argv, layout.root),
        network=agent.network,
    )


def hidden_from(task: RolloutTask, argv: tuple[str, ...], root: Path) -> tuple[Path, ...]:
    """Name the folder of the task set, where graders and solutions lie, if the agent can do without it."""
    if not task.folder.is_absolute():
        return ()  # a task made in memory has none
    folder = task.folder.resolve()
    needed = [root]
    for place in (Path(word) for word in argv if word.startswith("/")):
        needed += [
            place.resolve(),
            place.parent.resolve() / place.name,
        ]  # a venv's python is a link that leads out
    return () if any(place.is_relative_to(folder) for place in needed) else (folder,)


def take_skill_away(layout: Layout) -> None:
    """Remove the skill from the workspace, and the folders that were made for it: graders see the work alone.

    Nothing is removed through links that the agent laid where a folder was: they may lead to the person's skills.
    """
    if layout.installed is None or not _stays_inside(layout):
        return
    shutil.rmtree(layout.installed, ignore_errors=True)
    place = layout.installed.parent
    with suppress(OSError):  # a folder that is not empty stays
        while place != layout.workspace:
            place.rmdir()
            place = place.parent


def _stays_inside(layout: Layout) -> bool:
    """Tell whether no link leads the place of the skill elsewhere."""
    place = layout.installed
    return place is None or place_below(layout.workspace, str(place.relative_to(layout.workspace))) == place


def _copy_skill(skill: Path, target: Path) -> None:
    for path in walk(skill):
        if not path.refused:
            place = target / path.path
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path.at, place)
            place.chmod(path.mode | 0o400)
