"""A candidate as a whole: its diff, claims, evidence, scores and verdict, as JSON and as a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from events.errors import EditError, NotFoundError
from events.score import Score
from registry.births import base_of
from registry.promote import whole, with_files
from registry.provenance import erased_of, evidence_of
from strategies.explaining import explained
from strategies.gate.lint import unclaimed_lines
from tui.cli.differing import changed_files, files_json, print_files
from tui.cli.explained import effect_words, measured_words, score_words
from tui.cli.facts import say_fact
from tui.cli.found import candidate_json
from tui.cli.judged import explanation_json, print_steps, print_verdict
from tui.cli.names import SHOWN_CHARS
from tui.cli.quoted import evidence_json, print_evidence
from tui.cli.shapes import audit_json, models_json
from tui.cli.words import actor_words, claim_words, signal_words
from tui.figures import ago
from tui.rereading import still_there

if TYPE_CHECKING:
    from registry.candidate import Candidate
    from registry.diffs import DiffLine
    from registry.erasing import ErasedEvidence
    from registry.library import Library, Raised
    from registry.provenance import KeptEvidence
    from strategies.gate.explain import Explanation
    from tui.cli.invocation import Invocation

_REASON: Final = "--reason TEXT"


@dataclass(frozen=True, slots=True)
class Page:
    """Everything there is to say about one candidate; `misfit` says why its diff cannot be shown, if so."""

    candidate: Candidate
    live_version: int
    explanation: Explanation
    preset: str
    signal: Raised | None
    evidence: tuple[KeptEvidence, ...]
    erased: tuple[ErasedEvidence, ...]
    there: tuple[bool, ...]
    files: tuple[tuple[str, list[DiffLine]], ...]
    misfit: str = ""

    @property
    def open(self) -> bool:
        """Whether a person may still decide."""
        return self.candidate.verdict not in {"promote", "reject"}

    @property
    def stale(self) -> bool:
        """Whether the skill moved on since the candidate was measured."""
        scored = self.candidate.scored
        base = scored.base_version if scored else self.candidate.proposed.base_version
        return self.open and base != self.live_version


def read_page(library: Library, candidate: Candidate) -> Page:
    """Read a candidate with what led to it and what it would change."""
    proposed = candidate.proposed
    base = base_of(library, proposed, str(proposed.base_version))
    files, misfit = [], ""
    try:
        after = with_files(whole(base, proposed), proposed.files)
        files = list(changed_files(library, base, after))
    except (EditError, NotFoundError) as error:
        misfit = error.message
    explanation, preset = explained(library, candidate)
    signal = library.signal(proposed.fingerprint)
    evidence = evidence_of(library, signal)
    return Page(
        candidate=candidate,
        live_version=_live_version(library, proposed.capsule),
        explanation=explanation,
        preset=preset.name,
        signal=signal,
        evidence=evidence,
        erased=erased_of(library, signal),
        there=still_there([kept.evidence for kept in evidence], library.log.checkpoints),
        files=tuple(files),
        misfit=misfit,
    )


def _live_version(library: Library, name: str) -> int:
    """Give the version that a skill is at, 0 where it is not there."""
    return library.outline(name).version if name in library.names() else 0


def page_json(page: Page) -> dict[str, Any]:
    """Give all of it as JSON."""
    scored, signal = page.candidate.scored, page.signal
    return {
        **candidate_json(page.candidate),
        "stale": page.stale,
        "signal": signal.event.model_dump(mode="json", exclude={"type", "evidence"}) if signal else None,
        "removes": models_json(page.candidate.proposed.removes),
        "files": files_json(page.files),
        "misfit": page.misfit or None,
        "unclaimed": unclaimed_lines(page.candidate.proposed),
        "audit": audit_json(scored),
        "evidence": evidence_json(page.evidence, page.there),
        "erased": [{"id": one.id, "at": one.at, "reason": one.reason} for one in page.erased],
        "gate": explanation_json(page.candidate, page.explanation, page.preset),
    }


def print_page(call: Invocation, page: Page, now: str, *, every: bool) -> None:
    """Print all of it: what it would change, why, on what evidence, how it was judged."""
    candidate, proposed = page.candidate, page.candidate.proposed
    base = proposed.base_version
    for_what = f"a new skill, {proposed.capsule}" if proposed.skill else f"for {proposed.capsule}@{base}"
    call.say(call.paint(f"{candidate.id[:SHOWN_CHARS]}, {for_what}", "strong"))
    who = f"{proposed.strategy} by {proposed.proposer}, preset {proposed.preset}; {actor_words(candidate.actor)}"
    say_fact(call, "what", f"{who}, {ago(candidate.at, now)}, event {candidate.position}")
    if page.signal:
        say_fact(call, "signal", signal_words(page.signal.event))
    for at, claim in enumerate(proposed.claims):
        say_fact(call, "claim" if at == 0 else "", claim_words(claim))
    for at, claim in enumerate(proposed.removes):
        say_fact(call, "removes" if at == 0 else "", claim_words(claim))
    if not proposed.claims and not proposed.removes:
        say_fact(call, "claim", "none: nothing that logs could refute")
    say_fact(call, "reason", proposed.reason)
    if proposed.skill:
        say_fact(call, "folder", f"{proposed.skill.source}, once it is approved")
    _print_scores(call, candidate)
    print_evidence(call, page.evidence, page.erased, page.there, every=every)
    print_files(call, page.files, unclaimed=unclaimed_lines(proposed))
    if page.misfit:
        say_fact(call, "misfit", page.misfit)
    call.say()
    print_steps(call, page.explanation.steps)
    call.say()
    print_verdict(call, candidate)
    if page.stale:
        moved = f"{proposed.capsule} is at version {page.live_version} by now"
        mend = f"germline evolve {proposed.capsule} --review measures it anew"
        say_fact(call, "stale", f"{moved}: {'only reject it' if proposed.skill else mend}")
    call.say(f"\n  {'    '.join(_next(page))}")


def _print_scores(call: Invocation, candidate: Candidate) -> None:
    scored = candidate.scored
    if scored is None:
        say_fact(call, "score", "not measured yet")
        return
    if scored.effect:
        say_fact(call, "effect", effect_words(scored.effect))
    words = score_words(scored.before, scored.after, scored.delta, scored.audit_before, scored.audit_after)
    say_fact(call, "score", words)
    if isinstance(scored.after, Score):
        say_fact(call, "", measured_words(scored.after))


def _next(page: Page) -> list[str]:
    name = page.candidate.id[:SHOWN_CHARS]
    if page.open:
        return [f"germline candidate {word} {name} {_REASON}" for word in ("approve", "reject")]
    return [f"germline gate explain {name}", f"germline log {page.candidate.proposed.capsule}"]
