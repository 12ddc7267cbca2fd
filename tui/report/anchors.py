"""Anchors: the places of the page that links lead to; names of skills hold no dot, so no two are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.report.reads import SkillContent


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


def anchors_of(skill: SkillContent) -> frozenset[str]:
    """List every place that there is in the section of a skill."""
    name = skill.capsule.name
    anchors = {skill_at(name, part) for part in ("", "trends", "versions", "blame", "candidates", "evidence")}
    anchors |= {version_at(name, version.version) for version in skill.versions}
    anchors |= {event_at(name, event.position) for event in skill.events}
    anchors |= {candidate_at(name, candidate.position) for candidate in skill.candidates}
    anchors |= {signal_at(name, signal.raised.position) for signal in skill.signals}
    for at, row in enumerate(skill.trends.tasks.rows):
        anchors |= {runs_at(name, at, version) for version in row.cells}
    return frozenset(anchors)
