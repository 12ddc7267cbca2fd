"""The text of a pull request for a candidate: its effect in a sentence, its diff, its evidence, what to run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from registry.query.diffs import shorten
from tui.facts.candidates import signal_fact, support_facts, verdict_words
from tui.facts.scores import score_facts
from tui.text.names import SHOWN_CHARS
from tui.text.rows import text_of
from tui.text.terminal_text import one_line
from tui.text.words import claim_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from registry.query.diffs import DiffLine
    from tui.reads.review import CandidatePage

_LEAST_FENCE: Final = 3
_UNSHOWN: Final = "No comparison speaks for it: nobody measured it yet."


def pull_request_text(page: CandidatePage) -> str:
    """Write a candidate as Markdown; what comes from logs and lines is code in it, never markup."""
    return "\n".join(_lines(page))


def _lines(page: CandidatePage) -> Iterator[str]:
    candidate, proposed = page.candidate, page.candidate.proposed
    name = candidate.id[:SHOWN_CHARS]
    yield f"## {proposed.capsule}: {proposed.strategy}, candidate {name}\n"
    support = [text_of(fact.parts) for fact in support_facts(candidate)]
    yield f"{support[0] if support else _UNSHOWN}\n"
    for path, rows in page.files:
        yield from _diff(path, rows)
    yield "\n### Evidence\n"
    yield f"- {_code(verdict_words(candidate))}, against version {proposed.base_version}"
    if page.signal:
        yield f"- signal: {_code(text_of(signal_fact(page.signal.event).parts))}"
    yield from (f"- claim: {_code(claim_words(claim))}" for claim in proposed.claims)
    for fact in score_facts(candidate.scored):
        yield f"{f'- {fact.label}: ' if fact.label else '  - '}{_code(text_of(fact.parts))}"
    yield from (f"- because: {_code(reason)}" for reason in candidate.reasons)
    yield from (
        f"- to look at: {_code(f'{finding.path}:{finding.line} {finding.what}: {finding.text}')}"
        for finding in page.findings
    )
    if page.stale:
        yield f"- {proposed.capsule} is at version {page.live_version} by now: measure it again first"
    yield "\n### See it again\n\n```"
    yield f"germline gate explain {name}"
    if candidate.scored is None or candidate.scored.rollouts is not None:
        yield f"germline candidate test {name}"
    if page.open:
        yield f'germline candidate approve {name} --reason "…"'
    yield "```"


def _diff(path: str, rows: Sequence[DiffLine]) -> Iterator[str]:
    """Write what changed in a file, between fences that no line of it can end."""
    shown = [f"{'…' if row.kind == '?' else row.kind}{one_line(row.text)}" for row in shorten(rows)]
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    fence = "`" * max(_LEAST_FENCE, longest + 1)
    yield f"{_code(path)}\n\n{fence}diff"
    yield from shown
    yield fence


def _code(text: str) -> str:
    return f"`{one_line(text).replace('`', chr(39))}`"
