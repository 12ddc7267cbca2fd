"""Which version of a skill an episode ran under: told, shown, or standing there; never guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from registry.actions.publish import take_in_edits
from registry.decide.commands import MoveAlias, RevertVersion
from registry.projection.live_versions import body_hash
from registry.skill_md.render import skill_text
from strategies.episodes.episode_records import content_hash
from strategies.episodes.skill_use import BODY
from strategies.episodes.skill_version import (
    KnownVersions,
    Made,
    ProjectedFrom,
    attributed,
    known_versions,
    lineages,
)
from tests.registries import LOOK, NAME, NO_GUESS, imported, learn, rewrite
from tests.worlds import call, episode
from tui.cli.printers.blame import write_annotated

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry
    from strategies.episodes.episode import EpisodeRecord

KNOWN = KnownVersions(
    bodies={
        "one": (Made("sql", 1, 100.0), Made("sql", 3, 300.0)),
        "two": (Made("sql", 2, 200.0),),
        "twin": (Made("sql", 4, 400.0), Made("git", 1, 100.0)),
    },
    projected={
        "sql": (
            ProjectedFrom(100.0, 1),
            ProjectedFrom(200.0, 2),
            ProjectedFrom(300.0, 0),
            ProjectedFrom(400.0, 4),
        ),
        "git": (ProjectedFrom(100.0, 1),),
    },
)


def ran(*skills: tuple[str, str], began_s: int | None = None) -> EpisodeRecord:
    at = None if began_s is None else f"1970-01-01T00:{began_s // 60:02}:{began_s % 60:02}Z"
    return msgspec.structs.replace(episode([call("sql:SELECT")]), skills=skills, started_at=at)


@pytest.mark.parametrize(
    ("skill", "began_s", "under"),
    [
        # What the log says goes before everything else.
        (("sql", "2"), 150, ("sql", "2")),
        (("sql", "sql@2"), None, ("sql", "2")),
        (("other", "2.1"), 150, ("other", "2.1")),
        # A body names its version, also that of a skill that goes by another name there.
        (("sql", BODY + "two"), None, ("sql", "2")),
        (("copied", BODY + "two"), 150, ("sql", "2")),
        # One body, two versions: the last one that was made when the episode began.
        (("sql", BODY + "one"), 250, ("sql", "1")),
        (("sql", BODY + "one"), 299, ("sql", "1")),
        (("sql", BODY + "one"), 300, ("sql", "3")),
        (("sql", BODY + "one"), 50, ("sql", "1")),
        (("sql", BODY + "one"), None, ("sql", "1")),
        # One body, two skills: the name decides, and without it nobody knows.
        (("git", BODY + "twin"), None, ("git", "1")),
        (("copied", BODY + "twin"), None, ("copied", BODY + "twin")),
        # A body that no version has: cut, or edited by hand.
        (("sql", BODY + "none"), 150, ("sql", "")),
        (("unknown", BODY + "none"), 150, ("unknown", BODY + "none")),
        # The name alone: what stood there.
        (("sql", ""), 150, ("sql", "1")),
        (("sql", ""), 199, ("sql", "1")),
        (("sql", ""), 200, ("sql", "2")),
        (("sql", ""), 250, ("sql", "2")),
        (("sql", ""), 350, ("sql", "")),
        (("sql", ""), 99, ("sql", "")),
        (("sql", ""), None, ("sql", "")),
        (("unknown", ""), 150, ("unknown", "")),
    ],
)
def test_an_episode_ran_under_what_the_best_source_tells(
    skill: tuple[str, str], began_s: int | None, under: tuple[str, str]
) -> None:
    (attributed_record,) = attributed([ran(skill, began_s=began_s)], KNOWN)
    assert attributed_record.skills == (under,)


def test_an_episode_that_shows_two_versions_of_a_skill_ran_under_neither_for_sure() -> None:
    (attributed_record,) = attributed([ran(("sql", "1"), ("copied", BODY + "two"))], KNOWN)
    assert attributed_record.skills == (("sql", ""),)
    (attributed_record,) = attributed(
        [ran(("sql", "2"), ("copied", BODY + "two"), ("git", ""), began_s=150)], KNOWN
    )
    assert attributed_record.skills == (("sql", "2"), ("git", "1"))


def test_an_episode_stays_the_same_one_whatever_it_ran_under() -> None:
    record = ran(("sql", BODY + "two"))
    record = msgspec.structs.replace(record, id=content_hash(record))
    (attributed_record,) = attributed([record], KNOWN)
    assert attributed_record.skills != record.skills
    assert msgspec.structs.replace(attributed_record, skills=record.skills) == record


@pytest.mark.usefixtures("place")
def test_every_version_is_known_by_its_body_and_by_when_it_stood_there(registry: Registry) -> None:
    first = body_hash(skill_text(registry.capsule(NAME)))
    learn(registry)
    second = body_hash(skill_text(registry.capsule(NAME)))
    registry.execute(RevertVersion(NAME, 1, "worse"))
    known = known_versions(registry)
    assert {key: [known_version.version for known_version in made] for key, made in known.bodies.items()} == {
        first: [1, 3],
        second: [2],
    }
    assert [known_version.version for known_version in known.projected[NAME]] == [1, 2, 3]
    assert lineages(registry) == {NAME: [("1", "3")]}


@pytest.mark.parametrize(
    "body",
    [
        "",
        "\n\n",
        "no end",
        "---\na: rule\n---\nx\n",
        "a \x0c b\r\n\n## N \r\n\nc\u2028 d\n",
        "## One\n## Two\n",
    ],
)
def test_a_body_is_known_by_the_hash_that_a_log_gives_it(registry: Registry, tmp_path: Path, body: str) -> None:
    imported(registry, tmp_path, f"---\nname: git\ndescription: x\n---\n{body}", name="git")
    assert list(known_versions(registry).bodies) == [body_hash(skill_text(registry.capsule("git")))]


def test_nobody_knows_what_stood_there_while_a_person_was_editing(registry: Registry, place: Path) -> None:
    rewrite(place, "- Round nothing.\n", "- Round to cents.\n")
    take_in_edits(registry, NAME)
    assert [known_version.version for known_version in known_versions(registry).projected[NAME]] == [0, 2]


@pytest.mark.usefixtures("place")
def test_nobody_knows_which_version_an_agent_had_while_another_one_was_on_offer(registry: Registry) -> None:
    registry.execute(MoveAlias(NAME, "production", 1))
    learn(registry)
    registry.execute(MoveAlias(NAME, "production", 2))
    assert [known_version.version for known_version in known_versions(registry).projected[NAME]] == [1, 1, 0, 2]


@pytest.mark.usefixtures("place")
def test_an_annotated_copy_is_known_as_the_version_that_it_is(registry: Registry, tmp_path: Path) -> None:
    learn(registry, LOOK, NO_GUESS)
    folder = tmp_path / "copies"
    write_annotated(registry, registry.capsule(NAME), folder)
    text = (folder / "SKILL.md").read_text()
    assert "<!-- event" in text
    assert known_versions(registry).bodies[body_hash(text)][0].version == 2


@pytest.mark.usefixtures("place")
def test_skills_are_told_apart(registry: Registry, tmp_path: Path) -> None:
    imported(registry, tmp_path, "---\nname: git\ndescription: x\n---\n\nUse git.\n", name="git")
    learn(registry)
    assert lineages(registry) == {"git": [("1",)], NAME: [("1",), ("2",)]}
