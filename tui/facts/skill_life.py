"""The life of a skill in words: how its sessions ended, what it costs, why it is proposed for retirement."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tui.text.numbers import count, interval, share

if TYPE_CHECKING:
    from events.types.capsule_events import (
        DescriptionJudged,
        ModelFigures,
        RetirementProposed,
        ShareChange,
        SkillModelsCompared,
        SkillTested,
    )
    from events.types.score import Delta
    from strategies.usage.skill_ledger import SkillLedger
    from strategies.usage.trigger_audit import TriggerAudit, TriggerProportion


def success_words(row: SkillLedger) -> str:
    """Say how many of the uses succeeded, and what is only guessed."""
    guessed = ", guessed from signals" if row.heuristic else ""
    return f"{share(row.success or 0.0)} {interval(row.low, row.high)} of {count(row.uses, 'use')}{guessed}"


def effect_words(effect: Delta | None) -> str:
    """Say what sessions with the skill did better than those without, and what that cannot tell."""
    if effect is None:
        return "not known: no session without it can be compared with one that loaded it"
    return (
        f"sessions that loaded it succeeded {100 * effect.value:+.0f} points more than others of the same run "
        f"({100 * effect.low:+.0f} to {100 * effect.high:+.0f}, {count(effect.tasks, 'task')}); observed: what "
        "made an agent load it may have made the difference, which germline skill test rules out"
    )


def tokens_words(row: SkillLedger) -> str:
    """Say what a skill costs: each load, all of them, and its description in every session."""
    all_loads = row.tokens * row.loads
    return (
        f"about {row.tokens:,} for a load, {all_loads:,} for the {count(row.loads, 'load')} so far; "
        f"its description takes about {row.offered_tokens:,} of every session that it is offered to"
    )


def proposal_words(event: RetirementProposed) -> str:
    """Say why a skill is proposed for retirement, and what that would save."""
    saves = f"retiring it saves about {event.tokens:,} tokens a load, {count(event.loads, 'load')} so far"
    if event.cause == "runs" and event.effect is not None:
        value, low, high = (-100 * part for part in (event.effect.value, event.effect.high, event.effect.low))
        worse = f"{value:.0f} points ({low:.0f} to {high:.0f})"
        return f"retire it? runs with it did worse than runs without any skill by {worse}; {saves}"
    beside = f", {100 * event.effect.value:+.0f} points beside sessions without it" if event.effect else ""
    return (
        f"retire it? {share(event.success)} {interval(event.low, event.high)} of {count(event.uses, 'use')} "
        f"succeeded, surely below {share(event.bound)} (preset {event.preset}){beside}; {saves}"
    )


def tested_words(event: SkillTested) -> str:
    """Say in one sentence what runs show of a skill."""
    if event.line is not None:
        tested, against = f'"{event.line.text}" in {event.capsule}', "out that line"
    else:
        tested = event.capsule
        against = f" {', '.join(event.beside)} offered without it" if event.beside else " no skill"
    return {
        "helps": f"{tested} helps: runs with it do better than with{against}",
        "harms": f"{tested} harms: runs with it do worse than with{against}",
        "unclear": f"{tested}: no difference to runs with{against} is shown",
    }[event.verdict]


def trigger_words(audit: TriggerAudit) -> str:
    """Say how well a description finds the sessions that need the skill, and what is surely wrong with it."""
    if not audit.claims:
        return "no claim of it tells which sessions need it"
    findings = f"{' and '.join(audit.findings)}: " if audit.findings else ""
    loads = _share_words(audit.precision, "load", "of the {} were needed") if audit.precision.n else "never loaded"
    needs = _share_words(audit.recall, "session", "of the {} that needed it loaded it")
    return f"{findings}{loads}; {needs if audit.recall.n else 'no session needed it'}"


def _share_words(part: TriggerProportion, noun: str, words: str) -> str:
    return f"{share(part.hits / part.n)} {interval(part.low, part.high)} {words.format(count(part.n, noun))}"


def description_words(judged: DescriptionJudged) -> str:
    """Say what sealed sessions show of a description."""
    link = f"its words go with loading (p {judged.link:.1g})" if judged.link <= judged.alpha else ""
    changes = (_change_words("finds", judged.reached), _change_words("spares", judged.spared))
    return "; ".join(filter(None, (judged.reasons[0], *changes, link)))


def _change_words(verb: str, change: ShareChange) -> str:
    points = f"{100 * (change.after - change.before):+.0f} points"
    bounds = f"{100 * change.low:+.0f} to {100 * change.high:+.0f}"
    return f"{verb} {points} ({bounds}, p {change.p:.1g}, {count(change.tasks, 'sealed task')})"


def model_words(figures: ModelFigures) -> str:
    """Say what came of a skill under one model: outcomes, cost, time, and whether having it helped."""
    unit = "run" if figures.grounds == "runs" else "session"
    if figures.success is None:
        return f"no {unit} with it has an outcome"
    words = [
        f"{share(figures.success)} {interval(figures.low, figures.high)} of {count(figures.uses, unit)} with it"
    ]
    if figures.cost_usd is not None:
        words.append(f"{figures.cost_usd:.4f} USD a {unit}")
    if figures.seconds is not None:
        words.append(f"{figures.seconds:,.0f} s a {unit}")
    if figures.effect is None:
        return f"{', '.join(words)}; too little to tell whether it helps"
    effect = f"{figures.effect.value:+.3f} [{figures.effect.low:+.3f}, {figures.effect.high:+.3f}]"
    beside = "beside runs without any skill" if figures.grounds == "runs" else "beside sessions without it"
    return f"{', '.join(words)}; {effect} {beside}: {figures.verdict}"


def between_words(event: SkillModelsCompared) -> str:
    """Say how the second model differs from the first with the skill, over tasks that both did."""
    words = []
    if event.difference is not None:
        words.append(f"{event.difference.value:+.3f} [{event.difference.low:+.3f}, {event.difference.high:+.3f}]")
    if event.cost_usd is not None:
        words.append(f"{event.cost_usd.value:+.4f} USD [{event.cost_usd.low:+.4f}, {event.cost_usd.high:+.4f}]")
    if event.seconds is not None:
        words.append(f"{event.seconds.value:+,.1f} s [{event.seconds.low:+,.1f}, {event.seconds.high:+,.1f}]")
    figures = f"{', '.join(words) or 'nothing to compare'} on {count(event.shared_tasks, 'shared task')}"
    return f"{event.second.model} less {event.first.model}: {figures}"


def suits_words(event: SkillModelsCompared) -> str:
    """Say which model a skill goes with, and why; what lines are refuted with a model comes last."""
    goes_with = {
        "first": f"goes with {event.first.model}",
        "second": f"goes with {event.second.model}",
        "either": "goes with either",
        "neither": "goes with neither",
        "unknown": "not known",
    }[event.suits]
    return f"{goes_with}: {event.reason}"


def lines_words(event: SkillModelsCompared) -> str:
    """Count what sealed sessions of each model say of the lines of a skill; "" where none has a claim."""
    sides = (
        (event.first.model, Counter(line.first_verdict for line in event.lines)),
        (event.second.model, Counter(line.second_verdict for line in event.lines)),
    )
    verdicts = [
        f"with {model} {', '.join(f'{number} {verdict}' for verdict, number in counts.items())}"
        for model, counts in sides
    ]
    return f"{count(len(event.lines), 'line')} with a claim: {'; '.join(verdicts)}" if event.lines else ""


def refuted_words(event: SkillModelsCompared) -> tuple[str, ...]:
    """Name the lines that sealed sessions refute with one of the models."""
    sides = (
        (event.first.model, "first_verdict", "first"),
        (event.second.model, "second_verdict", "second"),
    )
    return tuple(
        f'"{line.text}" does harm with {model}: {delta.value:+.3f} [{delta.low:+.3f}, {delta.high:+.3f}]'
        for line in event.lines
        for model, verdict, side in sides
        if getattr(line, verdict) == "refuted" and (delta := getattr(line, side)) is not None
    )
