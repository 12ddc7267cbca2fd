"""A line that was judged by `recovered` alone says so, in text, as JSON and on the screens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from registry.query.provenance import endpoint_of
from registry.query.provenance import why as explain
from strategies.evolve.loop import evolve
from strategies.monitor.review import approve
from strategies.pool.intake import take_in
from tests.e2e.test_evolution import plan, registry_with_skill
from tests.registries import SHOWN, measured, proposal
from tests.terminal import Terminal
from tests.worlds import recovering, skill_with, world_with_a_rule
from tui.reads.skills import read_skills
from tui.text.rows import text_of
from tui.views.skills import skill_rows
from tui.views.why import why_rows

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry

NOW = "2026-12-01T12:00:00.000000Z"


def learned(folder: Path, *, outcomes: bool) -> tuple[Registry, int]:
    """A registry that learned a line from logs with outcomes, or took one as seen, and the line's number."""
    registry = registry_with_skill(folder)
    take_in(registry, world_with_a_rule(3) if outcomes else recovering(3))
    (cycle, *_) = evolve(registry, plan()).cycles
    assert cycle.candidate is not None
    assert cycle.verdict == ("promote" if outcomes else "hold")
    if not outcomes:
        approve(registry, registry.held()[0], "it worked")
    return registry, cycle.candidate.edits[0].line


@pytest.mark.parametrize("outcomes", [True, False])
def test_why_names_the_endpoint_exactly_where_it_was_recovered_alone(tmp_path: Path, outcomes: bool) -> None:  # noqa: FBT001 - a parameter of pytest
    registry, line = learned(tmp_path, outcomes=outcomes)
    germline = Terminal(tmp_path)
    place = ("--registry", tmp_path / "registry.db", "why", f"sql-analyst:{line}")
    output, explanation = germline.does(*place).out, germline.does(*place, "--json").json
    page = [
        text_of(row) for row in why_rows(explain(registry, registry.capsule("sql-analyst"), line), (), 100, NOW)
    ]
    alone = "`recovered` alone: whether the next attempt works"
    assert explanation["tier"] == ("supported" if outcomes else "seen")
    assert explanation["endpoint"] == ("outcome" if outcomes else "recovered")
    assert (alone in output) is not outcomes
    assert any(alone in row for row in page) is not outcomes
    assert any(row.strip().startswith("endpoint") for row in page) is not outcomes
    registry.log.close()


@pytest.mark.parametrize("outcomes", [True, False])
def test_what_one_claim_recovers_is_no_score_of_the_skill(tmp_path: Path, outcomes: bool) -> None:  # noqa: FBT001 - a parameter of pytest
    registry, _ = learned(tmp_path, outcomes=outcomes)
    germline = Terminal(tmp_path)
    place = ("--registry", tmp_path / "registry.db")
    (listed,) = (row for row in germline.does(*place, "status").out.splitlines() if "sql-analyst@2" in row)
    assert ("[." in listed) is outcomes
    assert ("unproven" in listed) is not outcomes
    assert ("not measured" in germline.does(*place, "show", "sql-analyst").err) is not outcomes
    (card,) = skill_rows(read_skills(registry), None, 120, NOW)
    assert ("Δ" in text_of(card) or "+." in text_of(card)) is outcomes
    registry.log.close()


def test_where_outcomes_are_known_as_well_they_stand_beside_it() -> None:
    recovered = SHOWN.model_copy(update={"endpoint": "recovered"})
    scored = measured(proposal(skill_with(()))).model_copy(update={"effect": recovered, "outcome_effect": SHOWN})
    assert endpoint_of(scored).endswith("where it is known how tasks ended, +0.44 [+0.31, +0.57]")
    assert endpoint_of(scored.model_copy(update={"effect": SHOWN})) == ""
    assert endpoint_of(None) == ""
