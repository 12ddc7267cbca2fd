"""Steps reduced as they are read: hashes, flags and places instead of text, so that a long log stays small.

A draft holds hashes of the step's text and result in place of both; once an episode is read, equal hashes become
references to the first identical call, and all of them one key of the whole text.
"""

from __future__ import annotations

import sys
from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal

import msgspec

from strategies.episodes.action_class import object_of
from strategies.episodes.episode import Kind, StepRecord
from strategies.episodes.error_fingerprint import normalised
from strategies.episodes.text_hash import KEY_BYTES, bytes_key, word_keys
from strategies.files.log_records import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.episodes.episode import Step
    from strategies.episodes.step_marks import Marker


class StepDraft(msgspec.Struct, array_like=True, gc=False):
    """A step without its text, whose references to other steps are still hashes."""

    turn: int
    kind: Kind
    actor: Literal["agent", "user", "environment"]
    action: str
    span: Span
    text_key: bytes
    result_key: bytes = b""
    template: str = ""
    error: bool = False
    writes: bool = False
    started_at: str | None = None
    duration_ms: float | None = None
    marks: tuple[str, ...] = ()
    same_target: int = -1
    words: tuple[int, ...] = ()
    flags: tuple[str, ...] = ()

    def learn_argument(self, argument: str | bytes) -> None:
        """Keep the hashes of what the call is about, and its flags."""
        tool = self.action.partition(":")[0]
        words, self.flags = object_of(tool, argument)
        self.words = word_keys(words)


def draft_of(step: Step, marker: Marker) -> StepDraft:
    """Reduce one whole step; `marker` has seen the steps before it."""
    marks, same_target = marker.learn(step)
    draft = StepDraft(
        turn=step.turn,
        kind=step.kind,
        actor=step.actor,
        action=sys.intern(step.action),
        span=step.error_span or step.span,
        text_key=bytes_key(step.text),
        result_key=bytes_key(step.result or step.error_text),
        template=template_of(step),
        error=step.error,
        writes=step.writes,
        started_at=step.started_at,
        duration_ms=step.duration_ms,
        marks=marks,
        same_target=same_target,
    )
    if step.kind == "call" and marker.is_near_failure(step.index):
        draft.learn_argument(step.text)
    return draft


def template_of(step: Step) -> str:
    """Give the masked error text of a step, "" where nothing went wrong."""
    return sys.intern(normalised(step.error_text, step.error_type)) if step.error or step.error_type else ""


def without_templates(steps: Sequence[StepRecord]) -> list[StepRecord]:
    """Give steps without the texts of their errors."""
    return [msgspec.structs.replace(step, template="") for step in steps]


def step_records(drafts: Sequence[StepDraft]) -> tuple[StepRecord, ...]:
    """Resolve the hashes of an episode's drafts into references to the first identical call and result."""
    first: dict[tuple[str, bytes], int] = {}
    results: dict[int, dict[bytes, int]] = {}  # of calls that come again: the first step with each result
    shared = Counter(word for draft in drafts if draft.words for word in draft.words)
    numbers: dict[int, int] = {}
    records = []
    for index, draft in enumerate(drafts):
        same_call = same_result = index
        if draft.kind == "call":
            # The head of an action follows from tool and argument: equal calls have equal actions.
            same_call = first.setdefault((draft.action, draft.text_key), index)
            if same_call != index:
                known = results.setdefault(same_call, {drafts[same_call].result_key: same_call})
                same_result = known.setdefault(draft.result_key, index)
        records.append(
            StepRecord(
                draft.turn,
                draft.kind,
                draft.actor,
                draft.action,
                draft.template,
                draft.error,
                draft.writes,
                same_call,
                same_result,
                draft.started_at,
                draft.duration_ms,
                draft.span,
                draft.marks,
                draft.same_target,
                tuple([numbers.setdefault(word, len(numbers)) for word in draft.words if shared[word] > 1]),
                draft.flags,
                bool(draft.words),
            )
        )
    return tuple(records)


def text_key(prompt_key: str, drafts: Sequence[StepDraft]) -> str:
    """Hash all text of an episode, through the hashes of its parts; "" where there is none."""
    if not prompt_key and not any(draft.text_key or draft.result_key for draft in drafts):
        return ""
    none = bytes(KEY_BYTES)
    parts = [key or none for draft in drafts for key in (draft.text_key, draft.result_key)]
    return blake2b(prompt_key.encode() + b"".join(parts), digest_size=KEY_BYTES).hexdigest()
