"""`export review --sessions`: sessions as training data would have them, and a person's word on each."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Final

from tui.cli.commands.registry.export_decision import MARKS, MOST_LISTED, DecidedOn, record_decision
from tui.documents.exports import ExportReviewDocument, TrainingSessionRow
from tui.session.open_registry import find_registry, open_library, open_registry
from tui.text.names import SHOWN_CHARS, by_beginnings
from tui.text.numbers import count, share
from tui.text.terminal_text import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from registry.query.library import Library
    from strategies.interchange.training_traces import TrainingTrace
    from strategies.rollouts.run.export import Decision
    from tui.cli.output.invocation import Invocation

_LISTED_BY: Final = "germline export review --sessions"
_EXPORTED_BY: Final = "germline export dataset --approved --format sft -o FILE"


def show_sessions(call: Invocation, names: Sequence[str], skill: str, *, as_json: bool) -> None:
    """List the sessions that training could use, or print those that are named as they would be written."""
    from strategies.interchange.session_reviews import session_decisions  # noqa: PLC0415 - runs need none of it

    with open_library(find_registry(call.registry)) as library:
        chosen, decided = _named(_traces(library, skill), names), session_decisions(library)
    if as_json:
        listed = tuple(TrainingSessionRow.of(trace, decided, whole=bool(names)) for trace in chosen)
        call.answer(ExportReviewDocument(sessions=listed))
    elif names:
        for trace in chosen:
            _print_one(call, trace)
    else:
        _print_list(call, chosen, decided)


def decide_on_sessions(
    call: Invocation,
    names: Sequence[str],
    skill: str,
    decided: tuple[Decision, str],
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Record a person's word, a decision and its reason, on the sessions that are named, or all without one."""
    from strategies.interchange.session_reviews import review_sessions, session_decisions  # noqa: PLC0415 - as above

    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        traces, before = _traces(registry, skill), session_decisions(registry)
        chosen = _named(traces, names) if names else [trace for trace in traces if trace.record.id not in before]
        about = DecidedOn("session", len(chosen), _LISTED_BY, f"{_EXPORTED_BY} …")
        append = partial(review_sessions, registry, [trace.record.id for trace in chosen], *decided)
        record_decision(call, registry, about, decided, append, dry_run=dry_run, as_json=as_json)


def _named(traces: Sequence[TrainingTrace], names: Sequence[str]) -> list[TrainingTrace]:
    kind = ("session", "that training could use")
    return by_beginnings(traces, names, lambda trace: trace.record.id, kind, _LISTED_BY)


def _traces(library: Library, skill: str) -> tuple[TrainingTrace, ...]:
    from strategies.interchange.training_traces import training_traces  # noqa: PLC0415 - as above
    from tui.cli.config.config import read_config  # noqa: PLC0415 - as above

    return training_traces(library, skill, read_config().skill_logs(library)).traces


def _print_list(call: Invocation, traces: Sequence[TrainingTrace], decided: Mapping[str, Decision]) -> None:
    left = [trace for trace in traces if trace.record.id not in decided]
    call.say(f"{count(len(traces), 'session')} that training could use, {len(left):,} not decided on")
    for trace in sorted(traces, key=lambda each: each.record.id in decided)[:MOST_LISTED]:
        mark, tone = MARKS[decided.get(trace.record.id, "")]
        about = f"{trace.record.id[:SHOWN_CHARS]}  {share(trace.outcome):>5}  {clip(trace.model, 16):<16}"
        call.say(f"{call.paint(mark, tone)} {about}  {clip(one_line(trace.prompt), 40)}".rstrip())
    if len(traces) > MOST_LISTED:
        call.say(f"  {len(traces) - MOST_LISTED:,} more: --json")
    shown = left[0].record.id[:SHOWN_CHARS] if left else "SESSION"
    call.say(f"next       {_LISTED_BY} {shown}    … --sessions --approve --reason TEXT")


def _print_one(call: Invocation, trace: TrainingTrace) -> None:
    short = trace.record.id[:SHOWN_CHARS]
    call.say(f"{short}  outcome {share(trace.outcome)}, {trace.model or 'no model named'}: as it would be written")
    for who, text in (("user", trace.prompt), *((str(m["role"]), _text(m)) for m in trace.messages)):
        shown = "\n".join(map(one_line, text.split("\n")))  # what hides in a line is shown to who approves it
        call.say(f"\n{call.paint(who, 'strong')}\n{shown}")
    call.say(f"\nnext       {_LISTED_BY} {short} --approve --reason TEXT")


def _text(message: Mapping[str, object]) -> str:
    calls = message.get("tool_calls")
    written = [str(message.get("content") or ""), json.dumps(calls, ensure_ascii=False) if calls else ""]
    return "\n".join(filter(None, written))
