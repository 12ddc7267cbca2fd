"""Events as a registry holds them: three in four are signals (0.4 kB), one a mutation with its scores (1.2 kB)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.sample_scores import score
from events.clock import SystemClock
from events.store.envelope import EventDraft
from events.types.claims import AfterError, Trigger
from events.types.gene_events import GeneMutated
from events.types.parts import Edit
from events.types.registry_events import SignalRaised

if TYPE_CHECKING:
    from events.types.frozen import Frozen

STREAM = "gene:sql-analyst/errors"


def event(number: int) -> Frozen:
    """Make every fourth event a mutation with its scores, the others signals."""
    template = "Table <*> doesn't exist"
    if number % 4:
        return SignalRaised(
            fingerprint=f"{number:016x}",
            kind="error_template",
            calls_for="repair",
            template=template,
            action="sql:SELECT",
            count=12 + number,
            episodes=9,
            runs=("gpt-4/try-1", "gpt-4/try-2"),
            severity=0.4,
            evidence=("a" * 64, "b" * 64),
        )
    return GeneMutated(
        gene=STREAM,
        capsule="sql-analyst",
        version=number + 1,
        edits=(Edit(op="append", gene=STREAM, text=("When a table is missing, list the tables first.\n",)),),
        strategy="repair",
        claims_added=(AfterError(template=template, do="sql:SHOW"),),
        triggers_added=(Trigger(fingerprint="f" * 16, kind="error_template", template=template),),
        before=score(0.41),
        after=score(0.72),
        candidate="c" * 64,
        scored="s" * 36,
    )


def drafts(count: int, first: int = 0) -> list[EventDraft]:
    """Make events of one stream with real ids and times."""
    clock = SystemClock()
    return [
        EventDraft(STREAM, event(n), clock.new_id(), clock.now(), "miner:recovery", clock.new_id(), clock.new_id())
        for n in range(first, first + count)
    ]
