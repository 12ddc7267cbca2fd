"""Status: what the registry holds now, and what waits."""
# ruff: noqa: TC001, TC002 - typer reads annotations when it builds a command

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final

import typer

from events.clock import SystemClock
from events.errors import UsageError
from events.types.score import Score
from registry.actions.deploy_alias import deployments
from registry.actions.hold_edits import held_edits
from registry.actions.publish import differences, moved_to, standing
from registry.query.provenance import tier_counts
from registry.query.retirements import open_proposal
from registry.query.signals import raised_as_counted
from registry.query.tier_sentences import tier_sentence
from registry.query.trials import running_trial
from strategies.advice.given_advice import given
from strategies.knowledge.stale_sources import stale_sources
from strategies.monitor.agreement import agreement_of
from strategies.monitor.live_version import live_record, measurement_of, staleness_of
from strategies.monitor.spot_check import second_looks
from strategies.policy.auto import AUTO
from strategies.pool.known_episodes import all_episodes
from strategies.scope.scope import ASSIGN, scope_of
from strategies.signals.open_signals import open_among
from strategies.signals.proportion import wilson
from strategies.usage.loaded_sessions import never_loaded
from tui.cli.config.config import config_in_force
from tui.cli.config.layers import NAME, trust_here
from tui.cli.config.project_trust import ProjectTrust
from tui.cli.output.color import column, width
from tui.cli.output.facts import say_folded, say_listed
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson
from tui.cli.printers.advice import print_advice
from tui.documents.events import HeadRow
from tui.documents.scores import AgreementRow, score_of
from tui.documents.status import (
    AdviceRow,
    AutoPreset,
    DeployedAlias,
    DrawnPromotion,
    DriftRow,
    EpisodeRecordRow,
    HeldCandidate,
    OpenSignal,
    RegistryTrustState,
    SkillStatus,
    StaleMeasurement,
    StaleSource,
    StatusDocument,
    TrustState,
)
from tui.documents.trials import TrialRow
from tui.facts.candidates import agreement_words
from tui.facts.scores import of_skill
from tui.facts.skill_life import proposal_words
from tui.session.open_registry import find_registry, open_library, project_folder, trust_command
from tui.session.own_registries import skill_places, trust_in, unconfirmed_words
from tui.text.durations import age
from tui.text.names import as_arguments
from tui.text.next_steps import NEXT_STEPS
from tui.text.numbers import brief, count, interval, share
from tui.text.signal_words import kind_columns
from tui.text.terminal_text import clip, clip_middle, clip_path, columns, one_line
from tui.text.words import DEPLOYED, hint_words, signal_name, tiers_words, unrouted_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.types.score import Measured
    from registry.query.library import Library, Raised
    from registry.state.candidate import Candidate, CandidateOutline
    from strategies.monitor.agreement import Agreement
    from strategies.policy.active_preset import Bound
    from strategies.scope.scope import Scope
    from tui.cli.output.invocation import Invocation

_WORDS: Final = {
    "projected": "",
    "stale": "the files are of an earlier version: germline project {name}",
    "edited": "edited by hand: {paths}: germline adopt {name}",
    "missing": "not on disk: germline project {name}",
    "retired": "retired: germline skill restore {name}",
}
_MOVED: Final = "moved with its registry: germline import {folder}"
_WARNS: Final = f"{'':<10} ! "
_SHOWN: Final = 5
_FEW: Final = 2
_LEAST_PATH: Final = 30
"""Columns that say something of a path: with fewer beside it, what the registry holds goes below it."""
_CALLED: Final = 28
_BESIDE: Final = 39
"""Columns of a skill and its version, and of the label and the figures beside them; its aliases come last."""


def status(ctx: typer.Context, *, as_json: AsJson = False) -> None:
    """Show skills, drift, open signals, what waits, the preset."""
    call = invocation(ctx)
    path = find_registry(call.registry)
    with open_library(path) as library:
        about, head = library.about(), library.log.head()
        auto = _bound_by_auto(library) if about.preset == AUTO else None
        config = config_in_force()
        scope = scope_of(library, all_episodes(library), config.skill_logs(library))
        project = project_folder(call.registry)
        skills = tuple(_skill_status(library, name, scope, project) for name in library.names())
        raised = raised_as_counted(library)
        still_open = open_among(library, [signal.event for signal in raised])
        waiting = [signal for signal in raised if signal.event.fingerprint in still_open]
        lost = [signal for signal in waiting if not scope.route(signal.event).skill]
        held = library.held()
        looks = second_looks(library.candidate_outlines(), every=config.draw_every, seed=config.seed)
        agreement = agreement_of(library)
        advice = given(library)
        running = [running_trial(library, name) for name in library.names()]
        trials = tuple(TrialRow.of(skill_trial) for skill_trial in running if skill_trial)
        registry = trust_in(path, library.log)
        places = skill_places(library, registry)
        unloaded = never_loaded(library, scope.records)
        retirements = tuple(filter(None, (open_proposal(library, name) for name in library.live_names())))
    trust = _trust()
    if as_json:
        document = StatusDocument(
            registry=str(path),
            preset=about.preset,
            auto=AutoPreset(preset=auto.preset.name, because=auto.because) if auto else None,
            created_at=about.created_at,
            head=HeadRow.model_validate(head),
            skills=skills,
            open_signals=tuple(OpenSignal.model_validate(signal.event) for signal in waiting),
            unrouted=tuple(signal.event.fingerprint for signal in lost),
            held=tuple(map(HeldCandidate.of, held)),
            second_looks=tuple(map(DrawnPromotion.of, looks)),
            agreement=AgreementRow.model_validate(agreement),
            trust=TrustState(state=trust.state, settings=trust.keys),
            registry_trust=RegistryTrustState.of(registry, places),
            advice=tuple(AdviceRow(at=advised.at, **dict(advised.event)) for advised in advice.values()),
            trials=trials,
            unloaded=unloaded,
            retirements=retirements,
        )
        call.answer(document)
        return
    _print_registry(call, str(path), f"{count(head.position, 'event')}, head {head.hash[:16]}")
    say_folded(call, "preset     ", f"{about.preset}{f', now {auto.preset.name}: {auto.because}' if auto else ''}")
    if not trust.is_in_force:
        say_folded(call, "trust      ", f"{trust.summary}: germline trust", tone="warn")
    if words := unconfirmed_words(places):
        say_folded(call, "places     ", f"{words}: {trust_command(path)}", tone="warn")
    _print_skills(call, skills)
    for proposal in retirements:
        say_folded(call, "retire     ", f"{proposal.capsule}: {proposal_words(proposal)}", tone="warn")
    if unloaded:
        say_folded(
            call, "unloaded   ", f"{', '.join(unloaded)}: in none of {count(len(scope.records), 'session')}"
        )
    _print_signals(call, waiting)
    if lost and skills:
        say_folded(call, "unrouted   ", unrouted_words(lost))
    _print_held(call, held)
    _print_looks(call, looks, agreement)
    _print_trials(call, trials)
    print_advice(call, advice)
    call.say(f"next       {_next(skills, waiting, lost)}")


def _bound_by_auto(library: Library) -> Bound:
    """Give the preset that `auto` chooses now."""
    from strategies.policy.active_preset import bound_by  # noqa: PLC0415 - 20 ms, for few registries

    return bound_by(library)


def _trust() -> ProjectTrust:
    """Look at the project's settings; what is no TOML is reported by the commands that read it."""
    try:
        return trust_here()
    except UsageError:
        return ProjectTrust(Path(NAME))


def _print_registry(call: Invocation, path: str, holds: str) -> None:
    """Say where the registry lies, how its path ends first of all, and what it holds."""
    room = width() - len(f"registry   , {holds}")
    if columns(path) > room and room < _LEAST_PATH:
        call.say(f"registry   {clip_path(path, width() - 11)}")
        call.say(f"{'':<10} {holds}")
    else:
        call.say(f"registry   {clip_path(path, room)}, {holds}")


def _skill_status(library: Library, name: str, scope: Scope, project: Path) -> SkillStatus:
    capsule = library.capsule(name)
    place = moved_to(library, capsule)
    measured = measurement_of(library, name, scope.records)
    stale = staleness_of(measured, name, scope, SystemClock().now())
    return SkillStatus(
        skill=name,
        version=capsule.version,
        at=capsule.at,
        source=capsule.source,
        aliases=dict(capsule.aliases),
        score=score_of(capsule.score),
        hints=_hints(library, capsule.score),
        models=measured.models if measured else (),
        delta=capsule.delta,
        unproven=capsule.unproven,
        tiers=tier_counts(library, capsule),
        standing=standing(library, name),
        drift=tuple(map(DriftRow.model_validate, differences(library, name))),
        moved_to=str(place) if place else None,
        held_edits=tuple(map(str, held_edits(library, name))),
        deployed=tuple(map(DeployedAlias.model_validate, deployments(library, name))),
        stale_sources=tuple(
            StaleSource(source=state.source.source, state="missing" if state.state == "missing" else "changed")
            for state in stale_sources(library, name, project)
        ),
        record=EpisodeRecordRow.model_validate(live_record(library, name, scope.records)),
        stale=StaleMeasurement.model_validate(stale) if stale else None,
    )


def _hints(library: Library, score: Measured) -> tuple[str, ...]:
    """Name the hints from the world that stand for labels in the evaluator of a score."""
    if not isinstance(score, Score):
        return ()
    registered = library.registration(score.evaluator)
    return getattr(registered.event, "hints", ()) if registered else ()


def _print_skills(call: Invocation, skills: Sequence[SkillStatus]) -> None:
    now = SystemClock().now()
    aliases = [" ".join(f"{alias}→{version}" for alias, version in row.aliases.items()) for row in skills]
    beside = _BESIDE + max(map(columns, aliases), default=0)
    names = column([f"{row.skill}@{row.version}" for row in skills], _CALLED, beside)
    for at, (row, named) in enumerate(zip(skills, aliases, strict=True)):
        score = of_skill(row.score) if row.score else None
        bounds = f"{share(score.value)} {interval(score.low, score.high)}" if score else ""
        figures = bounds or ("unproven" if row.unproven else "–")
        called = clip_middle(f"{row.skill}@{row.version}", names)
        text = f"{called:<{names}} {figures:<18} {age(row.at, now):>4}  {named}"
        call.say(clip(f"{'skills' if at == 0 else '':<10} {text}".rstrip(), width()))
        if row.tiers:
            say_folded(call, f"{'':<13}", f"lines: {tiers_words(row.tiers)}")
        if row.record.episodes:
            say_folded(call, f"{'':<13}", _record_words(row.record))
        if row.hints:
            say_folded(call, _WARNS, hint_words(row.hints), tone="warn")
        if row.stale:
            words = f"{stale_words(row.stale)}: germline score {row.skill} --refresh{_compared(row, row.stale)}"
            say_folded(call, _WARNS, words, tone="warn")
        for words in _file_words(row):
            say_folded(call, _WARNS, words, tone="warn")
        for there in row.deployed:
            is_right = there.standing == "projected"
            words = f"{there.alias} → @{there.version} in {there.folder}{DEPLOYED[there.standing]}"
            say_folded(call, f"{'':<13}" if is_right else _WARNS, words, tone="" if is_right else "warn")
    if not skills:
        call.say("skills     none yet")


def _file_words(row: SkillStatus) -> Iterator[str]:
    """Say how the files of a skill differ from what was projected, and what mends that."""
    if row.moved_to:
        yield _MOVED.format(folder=quote(row.moved_to))
    elif words := _WORDS[row.standing].format(
        name=row.skill, paths=_paths(row.drift, "changed", "missing", "mode")
    ):
        yield words
    if row.standing in {"edited", "projected"} and (added := _paths(row.drift, "added")):
        yield f"not from germline: {added}: germline adopt {row.skill}"
    for change in row.drift:
        if change.refused:
            yield f"{change.path} is no file of a skill: {change.refused}"
    if row.stale_sources:
        names = ", ".join(f"{each.source} ({each.state})" for each in row.stale_sources[:_FEW])
        more = f" and {len(row.stale_sources) - _FEW} more" if len(row.stale_sources) > _FEW else ""
        yield f"knowledge is stale: {names}{more}: germline knowledge check {row.skill}"
    if row.held_edits:
        yield f"{count(len(row.held_edits), 'edit')} held back: germline adopt {row.skill} --held --dry-run"


def _paths(drift: Sequence[DriftRow], *kinds: str) -> str:
    return ", ".join(change.path for change in drift if change.kind in kinds and not change.refused)


def _record_words(record: EpisodeRecordRow) -> str:
    """Say what came of the episodes under a version, and how many obeyed its claims."""
    words = f"{count(record.episodes, 'episode')} under it"
    if record.mean is not None:
        bounds = interval(*wilson(record.mean * record.ended, record.ended))
        words += f", {record.ended:,} with an outcome, {share(record.mean)} {bounds} on average"
    return words + (f"; {record.obeyed:,} of {record.exposed:,} obeyed" if record.exposed else "")


def _compared(row: SkillStatus, stale: StaleMeasurement) -> str:
    """Give the command that holds a skill against the model it was measured under and one that is new."""
    new = (*stale.models, *stale.runs)
    if not new or not row.models:
        return ""
    return f"    germline models compare {as_arguments(row.models[0], new[0], row.skill)}"


def stale_words(stale: StaleMeasurement) -> str:
    """Say what the measurement of a version does not cover, and how old it is."""
    words = []
    if stale.new_tasks:
        words.append(f"on {stale.tasks:,} of {count(stale.tasks + stale.new_tasks, 'known task')}")
    if under := (*stale.runs, *stale.models):
        words.append(f"not under {_few(under)}")
    if stale.agents:
        words.append(f"not with agent {_few(stale.agents)}")
    if stale.age_s:
        words.append(f"{count(int(stale.age_s // 86_400), 'day')} ago")
    return f"measured {', '.join(words)}"


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return f"{', '.join(map(one_line, names[:_FEW]))}{more}"


def _print_signals(call: Invocation, waiting: list[Raised]) -> None:
    most = sorted(waiting, key=lambda signal: (-signal.event.severity, signal.event.fingerprint))
    lines = [
        f"○ {kind_columns(signal.event.kind, brief(signal.event.count, 7))}  {signal_name(signal.event)}"
        for signal in most
    ]
    say_listed(call, "signals", lines, cut=True, most=_SHOWN, more="germline signals")


def _print_held(call: Invocation, held: list[Candidate]) -> None:
    lines = []
    for candidate in held:
        first = candidate.reasons[0] if candidate.reasons else ""
        reason = one_line(f"{candidate.tier.tier}: {tier_sentence(candidate.tier)}" if candidate.tier else first)
        lines.append(f"· {candidate.id[:12]} {candidate.proposed.capsule:<14} {reason}")
    say_listed(call, "held", lines, cut=True, most=_SHOWN, more="germline candidates")


def _print_looks(call: Invocation, looks: Sequence[CandidateOutline], agreement: Agreement) -> None:
    """Say which promotions a person is asked to look over, and how often people agree with the gate."""
    if looks:
        drawn = f"{count(len(looks), 'promotion')} drawn for a second look: germline candidates"
        say_folded(call, "look over  ", drawn, tone="warn")
    if words := agreement_words(agreement):
        say_folded(call, "agreement  ", words)


def _print_trials(call: Invocation, trials: Sequence[TrialRow]) -> None:
    lines = [(row, line) for row in trials for line in row.lines]
    for at, (row, line) in enumerate(lines):
        words = f"{row.skill}, {row.sessions:,} of {count(row.budget, 'session')}: {line.shows}"
        say_folded(call, f"{'' if at else 'trials':<10} ", words)


def _next(skills: Sequence[SkillStatus], waiting: list[Raised], lost: list[Raised]) -> str:
    if not skills:
        return NEXT_STEPS["no skill"]
    if any(row.standing == "edited" for row in skills):
        return "germline adopt --dry-run    germline adopt    germline project --discard"
    if len(waiting) > len(lost):
        return "germline evolve"
    return ASSIGN if lost else "germline scan PATH"


COMMANDS: Final = {"status": status}
