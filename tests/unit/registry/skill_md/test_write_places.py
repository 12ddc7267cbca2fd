"""Places that events keep: relative to the project of their registry, and never a way out of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from events.errors import UntrustedError
from registry.skill_md.write_places import WritePlaces, place_here, project_of, recorded_place


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    (tmp_path / "project/.germline").mkdir(parents=True)
    (tmp_path / "project/out").symlink_to(tmp_path)
    (tmp_path / "project/loop").symlink_to(tmp_path / "project/loop")
    return tmp_path / "project/.germline/registry.db"


@pytest.mark.parametrize(
    "recorded", ["../..", "skills/../../x", "out/x", "loop/x", "a\0b", ".GIT/hooks", ".germline"]
)
def test_a_place_that_a_stranger_recorded_leads_nowhere_outside_the_skills_of_the_project(
    registry: Path, recorded: str
) -> None:
    place = Path(place_here(recorded, project_of(registry)))
    with pytest.raises(UntrustedError):
        WritePlaces(project_of(registry)).require(place, "skill")


def test_a_place_in_the_project_is_recorded_relative_to_it_and_any_other_as_it_is(registry: Path) -> None:
    project = registry.parent.parent
    inside, outside = str(project / "skills/one"), str(project.parent / "skills/one")
    assert recorded_place(inside, registry) == "skills/one"
    assert place_here("skills/one", project_of(registry)) == inside
    for other in (outside, str(project / "out/x"), str(project / "loop/x"), "/a\0b", str(project / ".git/x")):
        assert place_here(recorded_place(other, registry), project_of(registry)) == other
        assert recorded_place(other, registry) == other
