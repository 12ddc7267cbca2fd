"""Status: what the registry holds now, and what waits."""
# ruff: noqa: TC001, TC002 - typer reads annotations when it builds a command

from __future__ import annotations

from dataclasses import asdict
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

import typer

from events.clock import SystemClock
from registry.publish import differences, moved_to, standing
from registry.recounts import raised_as_counted
from strategies.answering import Sightings
from strategies.attribution import under_versions
from strategies.auto import AUTO
from strategies.binding import bound_by
from strategies.given_advice import given
from strategies.intake import all_episodes
from strategies.rechecking import staleness_of
from strategies.regressions import live_record
from strategies.routing import routes
from strategies.settled import settled
from tui.bootstrap import find_registry, open_library
from tui.cli.advised import print_advice
from tui.cli.facts import say_folded
from tui.cli.invocation import invocation
from tui.cli.open_signals import is_open, live_claims
from tui.cli.options import AsJson
from tui.cli.paint import clip, clip_middle, clip_path, column, columns, one_line, width
from tui.cli.shapes import model_json, score_json
from tui.cli.words import KIND_WIDTH, signal_name
from tui.figures import age, brief, count, share, signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.candidate import Candidate
    from registry.library import Library, Raised
    from strategies.logs.episode import EpisodeRecord
    from tui.cli.invocation import Invocation

_WORDS: Final = {
    "projected": "",
    "stale": "the files are of an earlier version: germline project {name}",
    "edited": "edited by hand: {paths}: germline adopt {name}",
    "missing": "not on disk: germline project {name}",
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
        auto = bound_by(library) if about.preset == AUTO else None
        episodes = under_versions(library, all_episodes(library))
        skills = [_skill_json(library, name, episodes) for name in library.names()]
        live = live_claims(library)
        raised = raised_as_counted(library)
        over = settled(library, [one.event for one in raised])
        waiting = [one for one in raised if is_open(one.event, live, over)]
        to = routes(library, [one.event for one in waiting], Sightings(episodes))
        lost = [one for one in waiting if not to[one.event.fingerprint]]
        held = library.held()
        advice = given(library)
    if as_json:
        fields = {
            "registry": str(path),
            "preset": about.preset,
            "auto": {"preset": auto.preset.name, "because": auto.because} if auto else None,
            "created_at": about.created_at,
            "head": {"position": head.position, "hash": head.hash},
            "skills": skills,
            "open_signals": [
                {"fingerprint": one.event.fingerprint, "kind": one.event.kind, "template": one.event.template,
                 "count": one.event.count, "episodes": one.event.episodes}
                for one in waiting
            ],
            "unrouted": [one.event.fingerprint for one in lost],
            "held": [{"id": one.id, "skill": one.proposed.capsule, "reasons": list(one.reasons)} for one in held],
            "advice": [{"at": one.at, **(model_json(one.event) or {})} for one in advice.values()],
        }  # fmt: skip
        call.answer("status", fields)
        return
    _print_registry(call, str(path), f"{count(head.position, 'event')}, head {head.hash[:16]}")
    say_folded(call, "preset     ", f"{about.preset}{f', now {auto.preset.name}: {auto.because}' if auto else ''}")
    _print_skills(call, skills)
    _print_signals(call, waiting)
    if lost:
        told = f"{count(len(lost), 'signal')} no skill answers to: germline evolve SKILL"
        say_folded(call, "unrouted   ", told)
    _print_held(call, held)
    print_advice(call, advice)
    call.say(f"next       {_next(skills, waiting, lost)}")


def _print_registry(call: Invocation, path: str, holds: str) -> None:
    """Say where the registry lies, how its path ends first of all, and what it holds."""
    room = width() - len(f"registry   , {holds}")
    if columns(path) > room and room < _LEAST_PATH:
        call.say(f"registry   {clip_path(one_line(path), width() - 11)}")
        call.say(f"{'':<10} {holds}")
    else:
        call.say(f"registry   {clip_path(one_line(path), room)}, {holds}")


def _skill_json(library: Library, name: str, episodes: Sequence[EpisodeRecord]) -> dict[str, Any]:
    capsule = library.capsule(name)
    drifted = [{"path": one.path, "kind": one.kind} for one in differences(library, name)]
    return {
        "skill": name,
        "version": capsule.version,
        "at": capsule.at,
        "source": capsule.source,
        "aliases": dict(capsule.aliases),
        "score": score_json(capsule.score),
        "delta": model_json(capsule.delta),
        "unproven": capsule.unproven,
        "standing": standing(library, name),
        "drift": drifted,
        "moved_to": str(found) if (found := moved_to(library, capsule)) else None,
        "record": asdict(live_record(library, name, episodes)),
        "stale": asdict(stale) if (stale := staleness_of(library, name, episodes, SystemClock().now())) else None,
    }


def _print_skills(call: Invocation, skills: list[dict[str, Any]]) -> None:
    now = SystemClock().now()
    aliases = [" ".join(f"{alias}→{version}" for alias, version in row["aliases"].items()) for row in skills]
    beside = _BESIDE + max(map(columns, aliases), default=0)
    names = column([f"{row['skill']}@{row['version']}" for row in skills], _CALLED, beside)
    for at, (row, named) in enumerate(zip(skills, aliases, strict=True)):
        score, delta = row["score"], row["delta"]
        figures = share(score["value"]) if score else "unproven" if row["unproven"] else "–"
        change = f"Δ {signed(delta['value'])}" if delta else ""
        called = clip_middle(f"{row['skill']}@{row['version']}", names)
        text = f"{called:<{names}} {figures:<9} {change:<8} {age(row['at'], now):>4}  {named}"
        call.say(clip(f"{'skills' if at == 0 else '':<10} {text}".rstrip(), width()))
        if row["record"]["episodes"]:
            say_folded(call, f"{'':<13}", _record_words(row["record"]))
        if row["stale"]:
            words = f"{stale_words(row['stale'])}: germline score {row['skill']} --refresh"
            say_folded(call, _WARNS, words, tone="warn")
        paths = ", ".join(one["path"] for one in row["drift"])
        words = _WORDS[row["standing"]].format(name=row["skill"], paths=paths)
        if row["moved_to"]:
            words = _MOVED.format(folder=quote(row["moved_to"]))
        if words:
            say_folded(call, _WARNS, words, tone="warn")
    if not skills:
        call.say("skills     none yet")


def _record_words(record: dict[str, Any]) -> str:
    """Say what came of the episodes under a version, and how many obeyed its claims."""
    words = f"{count(record['episodes'], 'episode')} under it"
    if record["ended"]:
        words += f", {record['ended']:,} with an outcome, {share(record['mean'])} on average"
    return words + (f"; {record['obeyed']:,} of {record['exposed']:,} obeyed" if record["exposed"] else "")


def stale_words(stale: dict[str, Any]) -> str:
    """Say what the measurement of a version does not cover, and how old it is."""
    words = []
    if stale["new_tasks"]:
        words.append(f"on {stale['tasks']:,} of {count(stale['tasks'] + stale['new_tasks'], 'known task')}")
    if stale["runs"]:
        words.append(f"not under {_few(stale['runs'])}")
    if stale["agents"]:
        words.append(f"not with agent {_few(stale['agents'])}")
    if stale["age_s"]:
        words.append(f"{count(int(stale['age_s'] // 86_400), 'day')} ago")
    return f"measured {', '.join(words)}"


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return f"{', '.join(map(one_line, names[:_FEW]))}{more}"


def _print_signals(call: Invocation, waiting: list[Raised]) -> None:
    most = sorted(waiting, key=lambda one: (-one.event.severity, one.event.fingerprint))
    for at, one in enumerate(most[:_SHOWN]):
        name, kind = signal_name(one.event), f"{one.event.kind:<{KIND_WIDTH}}"
        line = f"{'signals' if at == 0 else '':<10} ○ {kind} {brief(one.event.count, 7):>7}×  {name}"
        call.say(clip(line, width()))
    if len(most) > _SHOWN:
        call.say(f"{'':<10} {len(most) - _SHOWN} more: germline signals")


def _print_held(call: Invocation, held: list[Candidate]) -> None:
    for at, one in enumerate(held[:_SHOWN]):
        reason = one_line(one.reasons[0] if one.reasons else "")
        line = f"{'held' if at == 0 else '':<10} · {one.id[:12]} {one.proposed.capsule:<14} {reason}"
        call.say(clip(line, width()))
    if len(held) > _SHOWN:
        call.say(f"{'':<10} {len(held) - _SHOWN} more: germline candidates")


def _next(skills: list[dict[str, Any]], waiting: list[Raised], lost: list[Raised]) -> str:
    if not skills:
        return "germline import PATH"
    if any(row["standing"] == "edited" for row in skills):
        return "germline adopt --dry-run    germline adopt    germline project --discard"
    if len(waiting) > len(lost):
        return "germline evolve"
    alone = skills[0]["skill"] if len(skills) == 1 else "SKILL"  # which of several, only a person knows
    return f"germline evolve {alone}" if waiting else "germline scan PATH"


COMMANDS: Final = {"status": status}
