"""A watch that evolves, killed where it hurts most and started again: it ends as if nobody had killed it."""

from __future__ import annotations

import gzip
import json
from shutil import copytree
from typing import TYPE_CHECKING

import pytest

from events.errors import RefusedError
from strategies.evolve.loop import Evolution, Plan, evolve
from tests.terminal import SPLIT_KEY, Terminal, recordings
from tests.watched import watched
from tui.demo import demo_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from registry.registry import Registry
    from strategies.evolve.results import CycleResult

LOOKS = 2


class Killed(BaseException):
    """Stands for kill -9: nothing in between may catch it."""


def beginning(folder: Path) -> Terminal:
    """Give a registry with a skill, logs beside it, and a watch that promotes."""
    folder.mkdir()
    germline = Terminal(folder)
    germline.does("init", "--split-key", SPLIT_KEY)
    copytree(demo_folder() / "skills/sql-analyst", folder / "skills/sql-analyst")
    germline.does("import", "skills")
    germline.write("germline.toml", "[watch]\nevolve_every_s = 0\nlook_every_s = 0.1\npromote = true\n")
    for source in sorted(recordings().glob("hasty.jsonl.gz")):
        text = gzip.decompress(source.read_bytes()).decode()
        about = '{"type":"episode","skills":[["sql-analyst","1"]],'
        germline.write(f"logs/{source.stem}", text.replace('{"type":"episode",', about))
    return germline


def killed(*_: object, **__: object) -> None:
    raise Killed


def came_to(germline: Terminal) -> tuple[list[str], str]:
    """Tell the kinds of all events, in order, and the skill as it lies on disk."""
    lines = map(json.loads, germline.does("log", "--json").out.splitlines())
    return [event["type"] for event in lines], (germline.folder / "skills/sql-analyst/SKILL.md").read_text()


@pytest.fixture(scope="module")
def undisturbed(own_folder: Path) -> tuple[list[str], str]:
    germline = beginning(own_folder / "undisturbed")
    watched(germline, "logs", "--evolve", looks=LOOKS)
    return came_to(germline)


@pytest.mark.parametrize(
    "place",
    ["tui.cli.commands.logs.watch._Watched.batch", "strategies.evolve.loop.publish"],
    ids=["after a batch, before its turns", "after a promotion, before it is on disk"],
)
def test_a_watch_that_was_killed_takes_the_turns_it_still_owes_and_none_twice(
    undisturbed: tuple[list[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    germline = beginning(tmp_path / "killed")
    with monkeypatch.context() as patched:
        patched.setattr(place, killed)
        with pytest.raises(Killed):
            watched(germline, "logs", "--evolve", looks=LOOKS)
    watched(germline, "logs", "--evolve", looks=LOOKS)
    assert "CandidatePromoted" in undisturbed[0]
    assert came_to(germline) == undisturbed


def test_turns_that_were_put_off_are_taken_once_the_reason_is_gone(
    undisturbed: tuple[list[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    germline = beginning(tmp_path / "edited")
    skill = germline.folder / "skills/sql-analyst/SKILL.md"
    text = skill.read_text()
    skill.write_text(f"{text}\nBy hand.\n")

    def mended(registry: Registry, plan: Plan, on_cycle: Callable[[CycleResult], None]) -> Evolution:
        try:
            return evolve(registry, plan, on_cycle)
        except RefusedError:
            skill.write_text(text)
            raise

    with monkeypatch.context() as patched:
        patched.setattr("tui.cli.commands.logs.watch.evolve", mended)
        answer = watched(germline, "logs", "--evolve", looks=LOOKS)
    assert answer.err.count("put off") == 1
    assert came_to(germline) == undisturbed
