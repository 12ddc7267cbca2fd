"""What was found and tried: signals, and the candidates that answer them."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from events.clock import SystemClock
from registry.recounts import raised_as_counted
from strategies.settled import settled
from tui.bootstrap import find_registry, open_library
from tui.cli.invocation import invocation
from tui.cli.names import SHOWN_CHARS
from tui.cli.open_signals import is_open, live_claims
from tui.cli.options import AsJson, OneOrAll
from tui.cli.paint import clip, clip_middle, one_line, width
from tui.cli.shapes import model_json, models_json, score_json
from tui.cli.words import KIND_WIDTH, signal_name
from tui.figures import age, brief, count, interval, signed

if TYPE_CHECKING:
    from registry.candidate import Candidate
    from tui.cli.invocation import Invocation

MARKS: Final = {"promote": ("✓", "good"), "reject": ("✗", "bad"), "hold": ("·", "warn"), None: ("?", "dim")}
"""A marker and a tone for each verdict: none is told by colour alone."""
_CALLED: Final = 22
"""Columns of a skill and its version in the list of candidates."""
_WIDE: Final = 72
"""Columns of a row of that list; where there are fewer, the figures stand below."""


def signals(
    ctx: typer.Context,
    *,
    measured: Annotated[
        bool, typer.Option("--quality", help="Precision, recall and lift of each signal against outcomes.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the signals that were raised, with counts and evidence.

    An open signal (○) is one that no live claim of any skill answers yet. Counts are those of the last scan.
    """
    call = invocation(ctx)
    if measured:
        from tui.cli.trusted import tell_quality  # noqa: PLC0415 - detecting anew is for those who ask

        tell_quality(call, as_json=as_json)
        return
    with open_library(find_registry(call.registry)) as library:
        raised = sorted(raised_as_counted(library), key=lambda one: (-one.event.severity, one.event.fingerprint))
        live, over = live_claims(library), settled(library, [one.event for one in raised])
        first = {
            one.position: one.event.model_dump(include={"count", "episodes", "severity"})
            for one in library.signals()
        }
    if as_json:
        rows = [
            {**one.event.model_dump(mode="json", exclude={"type"}), "open": is_open(one.event, live, over),
             "raised_with": first[one.position], "position": one.position, "at": one.at}
            for one in raised
        ]  # fmt: skip
        call.answer("signals", {"signals": rows})
        return
    for one in raised:
        event = one.event
        mark = "○" if is_open(event, live, over) else call.paint("✓", "good")
        name = clip(signal_name(event), width() - 58)
        times, episodes = brief(event.count, 7), brief(event.episodes, 6)
        call.say(
            f"{mark} {event.kind:<{KIND_WIDTH}} {event.calls_for:<8} {times:>7}× {episodes:>6} ep "
            f"{len(event.runs):>2} {'run ' if len(event.runs) == 1 else 'runs'}  {name}"
        )
    shown = next((name for one in raised for name in one.event.evidence), "")
    if raised:
        further = f"    germline evidence show {shown[:SHOWN_CHARS]}" if shown else ""
        call.say(f"next       germline signals --quality{further}")
    else:
        call.note("no signal was raised yet\nnext       germline scan PATH")


def candidates(ctx: typer.Context, skill: OneOrAll = "", *, as_json: AsJson = False) -> None:
    """List what was proposed; what waits for review comes first.

    Held (·) candidates wait for more logs or for a person. Rejected (✗) ones stay for ever, and are found again
    instead of measured again.
    """
    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        found = library.candidates(library.capsule(skill).name if skill else "")
    waiting = [one for one in found if waits(one)]
    decided = [one for one in found if not waits(one)]
    if as_json:
        rows = [{**candidate_json(one), "waits": waits(one)} for one in (*waiting, *decided)]
        call.answer("candidates", {"candidates": rows})
        return
    _list(call, "review", waiting)
    _list(call, "decided", decided)
    if waiting:
        call.say(f"next       germline candidate show {waiting[0].id[:SHOWN_CHARS]}")
    elif found:
        call.say(f"next       germline gate explain {decided[-1].id[:SHOWN_CHARS]}")
    else:
        call.note("nothing was proposed yet\nnext       germline evolve SKILL --logs PATH")


def waits(one: Candidate) -> bool:
    """Tell whether nobody decided on a candidate yet: neither the gate for good, nor a person."""
    return one.verdict not in {"promote", "reject"}


def _list(call: Invocation, heading: str, found: list[Candidate]) -> None:
    now = SystemClock().now()
    if found:
        call.say(call.paint(f"{heading:<10} {count(len(found), 'candidate')}", "strong"))
    for one in found:
        mark, tone = MARKS["reject" if one.reverted else one.verdict]
        scored = one.scored
        figures = "not measured"
        if scored and scored.effect:
            effect = scored.effect
            figures = f"{signed(effect.risk_difference, 2)} {interval(effect.low, effect.high, 2)}"
        if scored and scored.rollouts and scored.delta:
            figures = f"{signed(scored.delta.value, 2)} {interval(scored.delta.low, scored.delta.high, 2)}"
        version = f"@{one.version}" if one.version else ""
        called = clip_middle(one.proposed.capsule + version, _CALLED)
        begun = f"{one.id[:SHOWN_CHARS]}  {called:<{_CALLED}} {one.proposed.strategy:<8}"
        beside, below = (f" {figures:<18}", "") if width() >= _WIDE else ("", f"\n    {figures}")
        call.say(f"{call.paint(mark, tone)} {begun}{beside} {age(one.at, now):>4}{below}")
        for text in (_lines(one), "taken back" if one.reverted else "", *one.reasons[:1]):
            if text:
                call.say(f"    {clip(one_line(text), width() - 4)}")


def _lines(one: Candidate) -> str:
    return " / ".join(text.strip() for text in one.proposed.new_lines if text.strip())


def candidate_json(one: Candidate) -> dict[str, Any]:
    """Give a candidate as JSON, with its figures and its verdict."""
    proposed, scored = one.proposed, one.scored
    return {
        "id": one.id,
        "skill": proposed.capsule,
        "base_version": proposed.base_version,
        "strategy": proposed.strategy,
        "preset": proposed.preset,
        "proposer": proposed.proposer,
        "fingerprint": proposed.fingerprint,
        "evaluator": proposed.evaluator,
        "reason": proposed.reason,
        "edits": models_json(proposed.edits),
        "born": model_json(proposed.born),
        "new_skill": model_json(proposed.skill),
        "claims": models_json(proposed.claims),
        "effect": model_json(scored.effect) if scored else None,
        "before": score_json(scored.before) if scored else None,
        "after": score_json(scored.after) if scored else None,
        "delta": model_json(scored.delta) if scored else None,
        "verdict": one.verdict,
        "reasons": list(one.reasons),
        "version": one.version,
        "reverted": one.reverted,
        "position": one.position,
        "at": one.at,
    }


COMMANDS: Final = {"signals": signals, "candidates": candidates}
