"""What becomes of a lesson: where its line belongs, and what a person decides about it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from events.errors import RefusedError
from events.types.candidate_events import CandidateProposed
from events.types.claims import Trigger
from registry.decide.commands import ChangeTier, Propose
from registry.state.instruction_formats import covers_project
from strategies.claims.applicability import live_claims
from strategies.gate.replay.measure import candidate_id
from strategies.monitor.review import approve, reject
from strategies.policy.active_preset import bound_by
from strategies.propose.placement import appended, home_of
from strategies.signals.open_signals import REPEATED_WISH
from strategies.signals.signal import fingerprint
from strategies.tiers.draft_tier import draft_reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.store.protocol import Receipt
    from registry.query.library import Library
    from registry.registry import Registry
    from registry.state.candidate import Candidate
    from registry.state.capsule import Capsule
    from strategies.episodes.episode import EpisodeRecord
    from strategies.lessons.lesson import Lesson

PROPOSER: Final = "start"


def home_for(library: Library, lesson: Lesson, records: Sequence[EpisodeRecord]) -> str:
    """Name the skill that most of a lesson's sessions loaded, else the project's instructions; "" for neither."""
    names, own = set(library.live_names()), set(lesson.sessions)
    mine = [record for record in records if record.id in own]
    loaded = Counter(name for record in mine for name in {name for name, _ in record.skills} if name in names)
    skill = min(loaded, key=lambda name: (-loaded[name], name), default="")
    if skill and 2 * loaded[skill] > len(mine):
        return skill
    return next((name for name in sorted(names) if covers_project(name)), "")


def decided(library: Library, lesson: Lesson) -> bool:
    """Tell whether a person decided on a lesson before, or a live line of any skill says it already."""
    capsules = [library.capsule(name) for name in library.live_names()]
    if lesson.claim is not None and any(lesson.claim in live_claims(capsule) for capsule in capsules):
        return True
    known = (library.candidate(candidate_of(capsule.name, lesson)) for capsule in capsules)
    return any(candidate is not None and candidate.is_decided for candidate in known)


def accept(registry: Registry, lesson: Lesson, skill: str, line: str, reason: str) -> Receipt:
    """Take a lesson into a skill on a person's word, in these words; the caller publishes the skill.

    What was counted is kept with it: its tier is seen, and no score counts it. A wish has none.
    Raises: as `strategies.monitor.review.approve`; RefusedError where it was decided before, or says nothing.
    """
    if not line.strip() or "\n" in line:
        raise RefusedError("a line says something, on one line", hint="germline start")
    with registry.log.transaction():
        candidate = _proposed(registry, lesson, skill, line.strip(), reason)
        if lesson.fix is not None:
            figures = lesson.fix.seen
            registry.execute(
                ChangeTier(candidate.id, skill, figures, draft_reason(figures)), actor=f"miner:{PROPOSER}"
            )
        return approve(registry, registry.candidate(candidate.id) or candidate, reason)


def refuse(registry: Registry, lesson: Lesson, skill: str, reason: str) -> Receipt:
    """Refuse a lesson on a person's word: it is not offered again.

    Raises: RefusedError where it was decided before.
    """
    with registry.log.transaction():
        return reject(registry, _proposed(registry, lesson, skill, lesson.line, reason), reason)


def _proposed(registry: Registry, lesson: Lesson, skill: str, line: str, reason: str) -> Candidate:
    """Write a lesson down as a candidate of a skill."""
    capsule = registry.capsule(skill)
    name = candidate_of(skill, lesson)
    known = registry.candidate(name)
    if known is not None:
        raise RefusedError(
            f"that line was decided on before: {known.verdict or 'it waits'}",
            hint=f"germline candidate show {name[:12]}",
        )
    registry.execute(Propose(_candidate(registry, capsule, lesson, line, reason)), actor=f"miner:{PROPOSER}")
    candidate = registry.candidate(name)
    if candidate is None:
        raise RefusedError(f"candidate {name[:12]} was not kept", hint="germline verify")
    return candidate


def _candidate(registry: Registry, capsule: Capsule, lesson: Lesson, line: str, reason: str) -> CandidateProposed:
    kind, template = _answered(lesson)
    answered, claims = fingerprint(kind, template, ""), (lesson.claim,) if lesson.claim else ()
    home = home_of(capsule, answered, lesson.action, claims)
    if home is None:
        raise RefusedError(f"{capsule.name} has no section that a line could go to", hint="germline start")
    trigger = Trigger(fingerprint=answered, kind=kind, template=template, action="")
    return CandidateProposed(
        candidate=candidate_of(capsule.name, lesson),
        capsule=capsule.name,
        base_version=capsule.version,
        strategy="repair",
        preset=bound_by(registry).name,
        proposer=PROPOSER,
        fingerprint=answered,
        edits=(appended(capsule, home, [line]),),
        claims=claims,
        triggers=(trigger,),
        reason=reason,
        evaluator="",
    )


def _answered(lesson: Lesson) -> tuple[str, str]:
    """Give the kind and the template of the signal that a lesson answers: of its error, or of a person's words."""
    if lesson.wish is not None:
        return REPEATED_WISH, lesson.wish.quote
    return "error_template", lesson.template


def candidate_of(skill: str, lesson: Lesson) -> str:
    """Give the id of the candidate that a lesson becomes in a skill, whichever words its line is taken in."""
    words = lesson.wish.quote if lesson.wish else ""
    return candidate_id(skill, (lesson.claim,) if lesson.claim else (), PROPOSER, text=words)
