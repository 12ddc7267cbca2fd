"""A registry to write a report of: the story with work left to do, and text in it that would like to be markup."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from events.sqlite.log import SqliteLog
from events.types.claims import AfterError
from events.types.parts import Edit
from registry.actions.erase_evidence import erase
from registry.decide.commands import ImportSkill, Judge, Propose, RecordFact
from registry.evidence.record import LogRecord, keep
from registry.registry import Registry
from registry.skill_md.folder import read_skill
from strategies.pool.intake import take_in
from strategies.pool.intake_policy import IntakePolicy
from strategies.signals.thresholds import Thresholds
from tests.clocks import TickingClock
from tests.registries import measured, proposal, raised_signal, score
from tests.story_work import tell_with_work
from tests.worlds import call, episode

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.episodes.episode import EpisodeRecord

SCRIPT = "</style></pre><script>document.documentElement.dataset.owned=1</script>"
TEMPLATE = f"No table {SCRIPT} <*>"
TASK = f'count "<img src=x onerror=alert(1)>" {SCRIPT}'
LINE = f'After that error look again "><svg onload=alert(1)> {SCRIPT} \N{RIGHT-TO-LEFT OVERRIDE}end.\n'
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HOSTILE = f"""---
name: hostile
description: Says what it says to whoever reads it.
---

Do as {SCRIPT} says.
"""
OTHER = "0ddba11" + "0" * 57
_QUIET = IntakePolicy(Thresholds(error_count=1_000, missing_episodes=1_000))


def tell_hostile(folder: Path) -> Path:
    """Write the story, and beside it a skill whose every text is hostile; returns the registry's file.

    It learns a line, measured by one evaluator, then another one, measured by another: there is a seam. Of its
    evidence one piece holds a secret and one is erased.
    """
    path = tell_with_work(folder)
    log = SqliteLog.open(path)
    clock = TickingClock(step_s=3 * 3600, seed=5)
    clock.looks = 90
    registry = Registry(log, clock, "person:ada")
    try:
        place = folder / "skills" / "hostile"
        place.mkdir(parents=True)
        (place / "SKILL.md").write_text(HOSTILE)
        registry.execute(ImportSkill(replace(read_skill(place), source="/home/ada/shop/skills/hostile")))
        names = _raised(registry)
        for at, evaluator in enumerate((score(0.4).evaluator, OTHER)):
            _promote(registry, at, evaluator)
        take_in(registry, _episodes(), policy=_QUIET)
        erase(registry, names[-1:], f"asked by {SCRIPT}")
    finally:
        log.close()
    return path


def _raised(registry: Registry) -> list[str]:
    texts = [f"No table {SCRIPT} here\nsecond line", f"No table, token {SECRET}", "No table, of a person"]
    with registry.log.transaction():
        kept = [
            keep(
                LogRecord("/home/ada/logs/h.jsonl", at, at, at + 1, b"x", text, f"{at:04}episode"), salt="00" * 16
            )
            for at, text in enumerate(texts, 1)
        ]
        names = [registry.log.put_blob(record.to_bytes(), kind="evidence") for record in kept]
    raised = raised_signal(
        fingerprint="error_template:hostile",
        template=TEMPLATE,
        action="sql:SELECT",
        count=12,
        episodes=9,
        runs=(SCRIPT,),
        severity=0.3,
        evidence=tuple(names),
    )
    registry.execute(RecordFact((raised,)), actor="germline")
    return names


def _promote(registry: Registry, at: int, evaluator: str) -> None:
    capsule = registry.capsule("hostile")
    edit = Edit(op="append", gene=capsule.genes[-1].id, text=(f"{at} {LINE}",))
    claims = (AfterError(template=TEMPLATE, do=f"sql:SHOW{at}"),)
    proposed = proposal(
        capsule, edit, candidate=f"{at}c" * 32, claims=claims, fingerprint="error_template:hostile"
    )
    registry.execute(Propose(proposed), actor=f"model:{SCRIPT}")
    command = Judge(measured(proposed, evaluator=evaluator), registry.clock.new_id(), "promote", (SCRIPT,))
    registry.execute(command, actor="miner:recovery")


def _episodes() -> list[EpisodeRecord]:
    """Runs under all three versions; of the task one passed and one failed under the last."""
    shown = [call("sql:SELECT", TEMPLATE), call("sql:SHOW1")]
    ends = ((1, 0.0), (2, 1.0), (3, 1.0), (3, 0.0))
    return [
        msgspec.structs.replace(
            episode(shown, task=TASK, outcome=outcome, run="r9", trial=at),
            name=f"session {at}",
            skills=(("hostile", str(version)),),
        )
        for at, (version, outcome) in enumerate(ends)
    ]
