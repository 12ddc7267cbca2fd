"""Anchors: the places of the page that links lead to; names of skills hold no dot, so no two are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.report.reads import SkillTold


def skill_at(skill: str, part: str = "") -> str:
    """Name the section of a skill, or a part of it: trends, versions, blame, candidates, evidence."""
    return f"{skill}.{part or 'skill'}"


def version_at(skill: str, version: int) -> str:
    """Name a version."""
    return f"{skill}.v.{version}"


def event_at(skill: str, position: int) -> str:
    """Name an event in the timeline of a skill, or in that of all where the skill is ""."""
    return f"{skill}.e.{position}"


def candidate_at(skill: str, position: int) -> str:
    """Name a candidate, by the position of its proposal."""
    return f"{skill}.c.{position}"


def signal_at(skill: str, position: int) -> str:
    """Name a signal with its evidence, by the position at which it was raised."""
    return f"{skill}.s.{position}"


def runs_at(skill: str, row: int, version: int) -> str:
    """Name the runs of a task (a row of the heat map, from 0) under a version."""
    return f"{skill}.r.{row}.{version}"


def anchors_of(told: SkillTold) -> frozenset[str]:
    """List every place that there is in the section of a skill."""
    name = told.capsule.name
    found = {skill_at(name, part) for part in ("", "trends", "versions", "blame", "candidates", "evidence")}
    found |= {version_at(name, one.version) for one in told.versions}
    found |= {event_at(name, one.position) for one in told.events}
    found |= {candidate_at(name, one.position) for one in told.candidates}
    found |= {signal_at(name, one.raised.position) for one in told.signals}
    for at, row in enumerate(told.trends.tasks.rows):
        found |= {runs_at(name, at, version) for version in row.cells}
    return frozenset(found)
