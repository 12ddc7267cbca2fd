"""A registry with a story: two skills, three signals, promotions, a rejection, a hold, a hand edit, a revert.

Made through the registry's own commands, with a clock that moves three hours at each look: the same every time.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from events.sqlite.log import SqliteLog
from events.types.candidate_events import CandidateProposed, CandidateScored
from events.types.claims import AfterError, Trigger
from events.types.parts import Edit
from events.types.registry_events import CycleFinished, EvaluatorRegistered
from events.types.score import Delta, Effect, OriginShare, Replication, Score
from registry.decide.commands import (
    Adopt,
    CreateRegistry,
    ImportSkill,
    Judge,
    MoveAlias,
    Propose,
    RecordFact,
    RevertVersion,
)
from registry.evidence.record import LogRecord, keep
from registry.registry import Registry
from registry.skill_md.folder import SkillFolder, read_skill
from registry.skill_md.text import cut
from tests.clocks import TickingClock
from tests.registries import listed, raised_signal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from events.types.claims import Claim
    from events.types.parts import Strategy
    from registry.state.candidate import Verdict

NOW = "2026-11-10T12:00:00.000000Z"
EVALUATOR = "5ea1ed" + "0" * 58
TABLE = "Table <*> doesn't exist"
COLUMN = "Unknown column <*> in 'field list'"
GROUP = "Expression <*> of SELECT list is not in GROUP BY clause"
LOOK = 'After "Table … doesn\'t exist", list the tables (SHOW TABLES) before the next query.\n'
COLUMNS = 'After "Unknown column …", look at the columns of the table (DESC) before the next query.\n'

ANALYST = """---
name: sql-analyst
description: Answers questions about a database with one SQL query, and says which tables it used.
---

Answer the question with one SQL query.
Do not guess the names of tables.

## Before you answer

- Read the question twice.
- Round nothing unless the question asks for it.

## Format

Answer with the result alone:

```sql
SELECT count(*) FROM results;
```
"""

NOTES = """---
name: ticket-triage
description: Sorts incoming tickets by who can answer them.
---

Read the whole ticket before you sort it.
"""


def tell(folder: Path) -> Path:
    """Write the story into a registry in `folder` and return its file; logs lie beside it, under `logs/`."""
    path = folder / "registry.db"
    log = SqliteLog.open(path, create=True)
    registry = Registry(log, TickingClock(step_s=3 * 3600), "person:ada")
    try:
        registry.execute(CreateRegistry("key", "balanced"))
        for name, text in (("sql-analyst", ANALYST), ("ticket-triage", NOTES)):
            registry.execute(ImportSkill(_skill(folder, name, text)))
        _raise_signals(registry, folder)
        _evolve(registry)
        _by_hand(registry, folder)
        listed(registry, path)
    finally:
        log.close()
    return path


def _skill(folder: Path, name: str, text: str) -> SkillFolder:
    place = folder / "skills" / name
    place.mkdir(parents=True, exist_ok=True)
    (place / "SKILL.md").write_text(text)
    return replace(read_skill(place), source=f"skills/{name}")


def _raise_signals(registry: Registry, folder: Path) -> None:
    registry.execute(
        RecordFact(
            (
                EvaluatorRegistered(
                    evaluator=EVALUATOR,
                    kind="replay",
                    scope="named",
                    method="replay/1",
                    policy="{}",
                    episodes=3_284,
                    tasks=821,
                    sealed_tasks=330,
                ),
            )
        ),
        actor="germline",
    )
    errors = [
        f"Error executing query: Table 'poker.{name}' doesn't exist" for name in ("results", "hands", "seats")
    ]
    names = _evidence(registry, folder, [*errors, "Error executing query: Table 'pets.owners' doesn't exist"])
    for template, count, episodes, evidence in (
        (TABLE, 1_893, 1_204, names),
        (COLUMN, 1_120, 700, ()),
        (GROUP, 96, 61, ()),
    ):
        raised = raised_signal(
            fingerprint=f"error_template:{template[:12]}",
            template=template,
            action="sql:SELECT",
            count=count,
            episodes=episodes,
            runs=("gpt-3.5_10_turns", "gpt-4_10_turns"),
            severity=count / 1_000,
            evidence=evidence,
        )
        registry.execute(RecordFact((raised,)), actor="germline")


def _evidence(registry: Registry, folder: Path, errors: Sequence[str]) -> tuple[str, ...]:
    (folder / "logs").mkdir()
    at = 0
    names = []
    with registry.log.transaction(), (folder / "logs" / "gpt-3.5_10_turns.jsonl").open("wb") as stream:
        for number, error in enumerate(errors, start=1):
            raw = json.dumps({"observation": error}).encode() + b"\n"
            stream.write(raw)
            record = LogRecord(
                "logs/gpt-3.5_10_turns.jsonl", number, at, at + len(raw), raw, error, f"{number:04}episode"
            )
            names.append(registry.log.put_blob(keep(record, salt=f"{number:032x}").to_bytes(), kind="evidence"))
            at += len(raw)
        stream.seek(0)
        stream.write(b"!")  # the first record is no longer what it was
    return tuple(names)


def _evolve(registry: Registry) -> None:
    gene = registry.capsule("sql-analyst").genes[0]
    show = AfterError(template=TABLE, do="sql:SHOW")
    append = Edit(op="append", gene=gene.id, text=(LOOK, "Do not guess another table name with SELECT.\n", "\n"))
    _judge(registry, "c1" * 32, "repair", (append,), (show,), verdict="promote", lift=0.017)
    retry = Edit(op="append", gene=gene.id, text=("After a missing table, run the query again.\n",))
    again = AfterError(template=TABLE, do="sql:SELECT")
    _judge(registry, "c2" * 32, "repair", (retry,), (again,), verdict="reject", lift=-0.004)
    gene = registry.capsule("sql-analyst").genes[0]
    line = next(gene_line for gene_line in gene.lines if gene_line.text.startswith("Do not guess the names"))
    sharper = "Never guess the name of a table or of a column.\n"
    rewrite = Edit(op="replace", gene=gene.id, target=(line.id,), text=(sharper,))
    after = Edit(op="insert_after", gene=gene.id, target=(line.id,), text=(COLUMNS,))
    describe = AfterError(template=COLUMN, do="sql:DESC")
    _judge(registry, "c3" * 32, "harden", (rewrite, after), (describe,), verdict="promote", lift=0.011)
    group = Edit(op="append", gene=gene.id, text=("Name every selected column in GROUP BY.\n", "\n"))
    named = AfterError(template=GROUP, avoid="sql:SELECT")
    _judge(registry, "c4" * 32, "repair", (group,), (named,), verdict="hold", lift=0.002)


def _judge(
    registry: Registry,
    name: str,
    strategy: Strategy,
    edits: tuple[Edit, ...],
    claims: tuple[Claim, ...],
    *,
    verdict: Verdict,
    lift: float,
) -> None:
    (claim,) = claims
    assert isinstance(claim, AfterError)
    fingerprint = f"error_template:{claim.template[:12]}"
    capsule = registry.capsule("sql-analyst")
    action = claim.do or f"avoiding {claim.avoid}"
    reason = f"after that error, {action} {'goes' if lift > 0 else 'does not go'} with success"
    registry.execute(
        Propose(
            CandidateProposed(
                candidate=name,
                capsule="sql-analyst",
                base_version=capsule.version,
                strategy=strategy,
                preset="balanced",
                proposer="recovery",
                fingerprint=fingerprint,
                edits=edits,
                claims=claims,
                triggers=(Trigger(fingerprint=fingerprint, kind="error_template", template=claim.template),),
                reason=reason,
                evaluator=EVALUATOR,
            )
        ),
        actor="miner:recovery",
    )
    before = capsule.score.value if isinstance(capsule.score, Score) else 0.442
    effect = _effect(lift * 26, few=verdict == "hold")
    scored = CandidateScored(
        candidate=name,
        capsule="sql-analyst",
        base_version=capsule.version,
        before=_score(registry, before, "sealed"),
        after=_score(registry, before + lift, "sealed"),
        delta=Delta(value=lift, low=lift - 0.005, high=lift + 0.006, tasks=236),
        effect=effect,
        audit_before=_score(registry, before - 0.001, "audit"),
        audit_after=_score(registry, before + lift + 0.001, "audit"),
        audit_delta=Delta(value=lift + 0.002, low=lift - 0.012, high=lift + 0.016, tasks=120),
        sent=1,
    )
    reasons = {
        "promote": (f"the sealed effect is clear on its own: {_interval(effect)}", "no harm to any run"),
        "reject": ("the sealed effect is below zero",),
        "hold": ("too few episodes: 61, of which 12 sealed",),
    }[verdict]
    registry.execute(Judge(scored, registry.clock.new_id(), verdict, reasons), actor="miner:recovery")
    finished = CycleFinished(
        preset="balanced",
        seed=7,
        strategy=strategy,
        fingerprint=fingerprint,
        capsule="sql-analyst",
        evaluator=EVALUATOR,
        candidate=name,
        verdict=verdict,
        reasons=reasons,
        tried=3,
        offered=("repair",),
    )
    registry.execute(RecordFact((finished,)), actor="germline")


def _effect(value: float, *, few: bool) -> Effect:
    """Make up what the sealed episodes say: of a few that met the error, or of many."""
    obeyed, disobeyed, tasks, p, e_value, margin = (
        (8, 4, 7, 0.41, 1.1, 0.38) if few else (166, 70, 118, 0.0004, 2.9, 0.13)
    )
    return Effect(
        risk_difference=value,
        low=value - margin,
        high=value + margin,
        obeyed=obeyed,
        disobeyed=disobeyed,
        tasks=tasks,
        p=p,
        e_value=e_value,
        endpoint="outcome",
        scope=("gpt-3.5_10_turns",),
        replication=Replication(
            origins=2,
            own=2,
            new=False,
            shares=(
                OriginShare(name="logs/gpt-3.5.json.gz", episodes=obeyed),
                OriginShare(name="logs/react.json.gz", episodes=disobeyed),
            ),
            left_out="logs/react.json.gz",
            risk_difference=value,
            low=value - margin,
            p=p,
            most_p=0.05,
        ),
    )


def _interval(effect: Effect) -> str:
    return f"[{effect.low:.2f}, {effect.high:.2f}]".replace("0.", ".")


def _score(registry: Registry, value: float, split: str) -> Score:
    return Score.model_validate(
        {
            "value": round(value, 3),
            "n": 1_312 if split == "sealed" else 640,
            "low": round(value - 0.021, 3),
            "high": round(value + 0.022, 3),
            "kind": "replay",
            "endpoint": "outcome",
            "evaluator": EVALUATOR,
            "split": split,
            "coverage": 0.91,
            "measured_at": registry.clock.now(),
        }
    )


def _by_hand(registry: Registry, folder: Path) -> None:
    registry.execute(MoveAlias("sql-analyst", "production", 3, "measured and reviewed"))
    text = NOTES + "Ask when two teams could answer.\n"
    edited = _skill(folder, "ticket-triage", text)
    registry.execute(Adopt(replace(edited, sections=cut(text).sections)))
    registry.execute(RevertVersion("ticket-triage", 1, "it asked too often"))
