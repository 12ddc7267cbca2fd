"""Exports: finished runs that a person let go, as lines that trainers read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from events.types.judge_events import RolloutsReviewed
from registry.decide.commands import RecordFact
from strategies.gate.track_record import ALIKE, standardised
from strategies.rollouts.run.messages_trial import RunTranscript
from strategies.rollouts.run.store import kept_runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic import JsonValue

    from events.store.protocol import Receipt
    from registry.query.library import Library
    from registry.registry import Registry
    from strategies.rollouts.run.store import KeptRun

LEAST_SCORE: Final = 0.8
"""From which score on a run is an example to follow."""
LEAST_EXAMPLES: Final = 500
"""Fewer are hardly worth a fine-tuning."""
Decision = Literal["approve", "reject"]


@dataclass(frozen=True)
class FinishedRun:
    """A finished run with its messages; `decision` is a person's word on it, "" where there is none yet."""

    name: str
    kept: KeptRun
    transcript: RunTranscript
    decision: Decision | Literal[""]

    @property
    def score(self) -> float:
        """What it was graded."""
        return self.kept.trial.value

    @property
    def sound(self) -> bool:
        """Whether it counts: nobody reached beyond what they were given."""
        return not self.kept.trial.tampered


def finished_runs(library: Library, skill: str = "") -> list[FinishedRun]:
    """List the runs whose transcripts are kept, of one skill or of all; those without a skill stand under none."""
    decided = decisions(library)
    runs = []
    for name, kept in kept_runs(library.log).items():
        body = library.log.get_blob(kept.trial.transcript) if kept.trial.transcript else None
        if body is not None:
            run = FinishedRun(name, kept, RunTranscript.model_validate_json(body), decided.get(name, ""))
            runs += [run] if skill in {"", run.transcript.skill} else []
    return sorted(runs, key=lambda run: (run.kept.arm, run.transcript.model, run.transcript.task, run.kept.round))


def decisions(library: Library) -> dict[str, Decision]:
    """Give the last word of a person on each run."""
    decided: dict[str, Decision] = {}
    for envelope in library.log.read(types=("RolloutsReviewed",)):
        event = envelope.event
        if isinstance(event, RolloutsReviewed):
            decided |= dict.fromkeys(json.loads(library.log.get_blob(event.listing) or b"[]"), event.decision)
    return decided


def review(registry: Registry, runs: Sequence[FinishedRun], decision: Decision, reason: str) -> Receipt:
    """Write down a person's word on runs."""
    names = json.dumps(sorted(run.name for run in runs), separators=(",", ":"))
    with registry.log.transaction():
        listing = registry.log.put_blob(names.encode(), kind="review")
        event = RolloutsReviewed(decision=decision, runs=len(runs), listing=listing, reason=reason)
        return registry.execute(RecordFact((event,)))


def exportable(runs: Sequence[FinishedRun]) -> list[FinishedRun]:
    """Keep the runs that a person let go, and that count; those of the audit stay, to be measured on."""
    return [run for run in runs if run.decision == "approve" and run.sound and run.transcript.split == "sealed"]


def examples(runs: Sequence[FinishedRun]) -> Iterator[dict[str, Any]]:
    """Yield good runs as supervised examples, each conversation once."""
    seen = set()
    for run in runs:
        if run.score >= LEAST_SCORE and run.kept.trial.status == "done" and run.kept.trial.transcript not in seen:
            seen.add(run.kept.trial.transcript)
            messages = [*opening(run.transcript), *turns(run.transcript)]
            yield {"messages": messages, "tools": functions(run.transcript), **_told(run), "score": run.score}


def groups(runs: Sequence[FinishedRun]) -> Iterator[dict[str, Any]]:
    """Yield the runs that began with the very same prompt as groups, each with its advantage over the others.

    A group of one, or one in which all did alike, teaches nothing and is left out.
    """
    together: dict[str, list[FinishedRun]] = {}
    for run in runs:
        start = [run.transcript.model, opening(run.transcript), functions(run.transcript)]
        together.setdefault(json.dumps(start), []).append(run)
    for group in together.values():
        gains = standardised({run.name: run.score for run in group})
        if not any(abs(gain) > ALIKE for gain in gains.values()):
            continue
        first = group[0].transcript
        completions = [
            {"messages": turns(run.transcript), "reward": run.score, "advantage": gains[run.name], **_told(run)}
            for run in group
        ]
        yield {"prompt": opening(first), "tools": functions(first), "task": first.task, "completions": completions}


def _told(run: FinishedRun) -> dict[str, JsonValue]:
    """Say where a run comes from."""
    return {
        "run": run.name,
        "task": run.transcript.task,
        "version": run.kept.arm,
        "model": run.transcript.model,
        "skill_mode": run.transcript.skill_mode,
        "round": run.kept.round,
    }


def opening(transcript: RunTranscript) -> list[dict[str, JsonValue]]:
    """Give what a run began with: instructions, and the task."""
    task = "".join(_texts(transcript.messages[0]))
    return [{"role": "system", "content": transcript.system}, {"role": "user", "content": task}]


def turns(transcript: RunTranscript) -> list[dict[str, JsonValue]]:
    """Give what came after, in the form of chat templates: calls as functions, results as turns of a tool."""
    return [turn for message in transcript.messages[1:] for turn in _chat(message)]


def functions(transcript: RunTranscript) -> list[dict[str, JsonValue]]:
    """Give the tools as the functions of chat templates."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool["name"],
                "description": tool["description"],
                "parameters": tool["input_schema"],
            },
        }
        for tool in transcript.tools
    ]


def _chat(message: dict[str, JsonValue]) -> Iterator[dict[str, JsonValue]]:
    blocks = _blocks(message)
    text = "".join(_texts(message))
    if message["role"] == "assistant":
        calls: list[JsonValue] = [
            {
                "id": block["id"],
                "type": "function",
                "function": {"name": block["name"], "arguments": block["input"]},
            }
            for block in blocks
            if block["type"] == "tool_use"
        ]
        yield {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
        return
    for block in blocks:
        if block["type"] == "tool_result":
            yield {"role": "tool", "tool_call_id": block["tool_use_id"], "content": block["content"]}
    if text:
        yield {"role": "user", "content": text}


def _texts(message: dict[str, JsonValue]) -> list[str]:
    return [str(block["text"]) for block in _blocks(message) if block["type"] == "text"]


def _blocks(message: dict[str, JsonValue]) -> list[dict[str, JsonValue]]:
    content = message["content"]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
