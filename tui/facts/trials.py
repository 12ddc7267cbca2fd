"""Trials as facts: what coins showed of a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.query.trials import shown_by
from tui.facts.fact import fact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from registry.query.trials import TrialFinding
    from tui.facts.fact import Fact
    from tui.text.rows import Tone


def trial_facts(findings: Iterable[TrialFinding]) -> Iterator[Fact]:
    """Say what each trial showed of a line, newest first: a sentence, behind what was decided."""
    for trial, _, result in reversed(tuple(findings)):
        decision = result.decision if result else "stopped" if trial.ended else "running"
        tone: Tone = "good" if decision == "proven" else "bad" if decision == "harmful" else ""
        yield fact("trial", f"{decision}: {shown_by(result, trial.started.outcome)}", tone)
