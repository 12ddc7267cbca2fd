"""Scoring: a version measured by replay, and what the same evaluator measured of the others."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.types.score import Score
from registry.query.versions import under_one_evaluator
from strategies.gate.replay.contrast import hints_in
from strategies.gate.replay.score_version import Scored, measure_live_first, score_version
from strategies.gate.replay.skill_grounds import prepare_grounds
from strategies.policy.active_preset import bound_by
from strategies.pool.intake import take_in_scan
from strategies.pool.known_episodes import all_episodes
from strategies.tiers.rejudge import RejudgeTerms, rejudge
from tui.cli.config.config import read_config
from tui.cli.config.read_logs import read_logs
from tui.cli.output.dry_run import print_rehearsed, since
from tui.cli.output.facts import say_fact, say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun
from tui.cli.printers.rollback import print_tier_moves
from tui.documents.events import event_rows
from tui.documents.evolve import TierMoveRow
from tui.documents.measurements import EvaluatorRow, ScoreDocument, VersionValue
from tui.documents.scores import score_of
from tui.facts.scores import measured_words, why_unmeasured
from tui.session.open_registry import find_registry, open_registry
from tui.text.names import split_skill
from tui.text.numbers import interval, share
from tui.text.words import hint_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from events.store.envelope import Envelope
    from registry.registry import Registry
    from strategies.gate.replay.evaluation_set import Ground
    from strategies.gate.replay.skill_grounds import SkillGrounds
    from strategies.tiers.rejudge import TierMove
    from tui.cli.output.invocation import Invocation

_SHOWN: Final = 8
"""Versions that are told beside the one that was asked for."""


def score(
    ctx: typer.Context,
    skill: Annotated[
        str, typer.Argument(metavar="SKILL[@VERSION]", help="As in x, x@12, x@production, x@2026-11-01.")
    ],
    *,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Freeze a new evaluator on all that is known now.")
    ] = False,
    logs: Annotated[
        list[str] | None,
        typer.Option("--logs", metavar="PATH", help="Measure on these alone; repeatable."),
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Measure a version by replay, and record it.

    Lines whose tier no longer holds lose it. The evaluator in force stays until the sealed tasks have grown by a
    quarter, or --refresh; a new one measures the live versions first, and none records the same twice.
    """
    call = invocation(ctx)
    config = read_config()
    name, ref = split_skill(skill)
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        version = registry.capsule(name, ref).version
        scan = read_logs(call, [Path(path).expanduser() for path in logs], config) if logs else None
        before = registry.log.head().position
        with registry.rehearsal() if dry_run else registry.log.transaction():
            if scan is not None:
                take_in_scan(registry, scan, policy=config.policy)
            only = {record.id for record in scan.records} if scan is not None else None
            grounds = prepare_grounds(
                registry, config.skill_logs(registry), only=only, refresh=refresh, sources=config.sources
            )
            measure_live_first(registry, grounds, seed=config.seed)
            ground = grounds.prepared(registry, name)
            measured = score_version(registry, name, version, ground, seed=config.seed)
            moves = _rejudged(registry, name, grounds, config.seed)
            others = under_one_evaluator(registry.versions(name))
            appended = since(registry, before)
    events = event_rows(appended)
    recorded = _recorded_at(appended, name, version)
    if as_json:
        document = ScoreDocument(
            skill=name,
            version=version,
            score=measured.score,
            audit=score_of(measured.audit),
            audit_unmeasured=why_unmeasured(measured.audit),
            evaluator=EvaluatorRow(id=ground.evaluator, new=ground.fresh, hints=_hints(ground)),
            best=_best(others),
            versions=tuple(VersionValue(version=other, value=others[other].value) for other in sorted(others)),
            recorded=recorded is not None,
            tier_moves=tuple(map(TierMoveRow.of, moves)),
            dry_run=dry_run,
            events=events,
        )
        call.answer(document)
        return
    _print(call, f"{name}@{version}", ground, measured)
    if recorded is None:
        say_fact(call, "recorded", "before, by this evaluator: nothing to add")
    else:
        where = "by the events below, once it is no dry run" if dry_run else f"event {recorded}"
        say_fact(call, "recorded", where)
    print_tier_moves(call, moves)
    _print_others(call, f"{name}@{version}", ground, others)
    if dry_run:
        print_rehearsed(call, events)


def _recorded_at(appended: Iterable[Envelope], name: str, version: int) -> int | None:
    """Find the event that recorded the score: where a new evaluator measured first, there is no receipt."""
    scorings = (event for event in appended if (event.stream, event.type) == (f"capsule:{name}", "VersionScored"))
    positions = [scoring.position for scoring in scorings if getattr(scoring.event, "version", 0) == version]
    return positions[-1] if positions else None


def _rejudged(registry: Registry, name: str, grounds: SkillGrounds, seed: int) -> tuple[TierMove, ...]:
    """Judge the live lines again on what came since; `evolve` takes out of the skill what fell."""
    terms = RejudgeTerms(
        preset=bound_by(registry).preset,
        seed=seed,
        records=lambda: all_episodes(registry),
        grounds=grounds,
        forbidden=f"germline evolve {name} takes it out",
        write=False,
    )
    return rejudge(registry, [name], terms)


def _hints(ground: Ground) -> tuple[str, ...]:
    return hints_in((*ground.division.sealed, *ground.division.audit))


def _best(others: Mapping[int, Score]) -> int | None:
    return max(others, key=lambda version: (others[version].value, version), default=None)


def _print(call: Invocation, called: str, ground: Ground, measured: Scored) -> None:
    whole = measured.score
    words = f"{share(whole.value)} {interval(whole.low, whole.high)} {measured_words(whole)}"
    say_folded(call, f"{called}  ", words, tone="strong")
    audit = measured.audit
    words = (
        f"{share(audit.value)} {interval(audit.low, audit.high)}"
        if isinstance(audit, Score)
        else f"not measured: {audit.reason}"
    )
    say_fact(call, "audit", f"{words}, which decides nothing")
    new = "new: it measured the live versions first" if ground.fresh else "in force"
    say_fact(call, "evaluator", f"{ground.evaluator[:8]}, {new}")
    if hints := _hints(ground):
        say_fact(call, "labels", hint_words(hints))


def _print_others(call: Invocation, called: str, ground: Ground, others: Mapping[int, Score]) -> None:
    best = _best(others)
    shown = sorted(others)[-_SHOWN:]
    row = "  ".join(
        f"@{version} {share(others[version].value)}{' best' if version == best else ''}" for version in shown
    )
    say_fact(call, "versions", f"{row}   all by {ground.evaluator[:8]}")
    name, _ = split_skill(called)
    call.say(f"\n  germline show {name}@best    germline log {name}")


COMMANDS: Final = {"score": score}
