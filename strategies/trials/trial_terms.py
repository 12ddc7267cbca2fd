"""What a trial is of, and on what terms: written down before its first session, or refused."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import NotFoundError, RefusedError
from events.types.trial_events import TrialFactor, TrialStarted
from registry.actions.trial_arms import removal
from registry.decide.promote import edited
from registry.skill_md.render import label
from registry.state.trial import MOST_FACTORS
from strategies.episodes.episode import moment_s
from strategies.trials.trial_power import LEAST_HISTORY, History, Power, history_of, power_of
from strategies.trials.trial_sessions import Counting, claim_of, sessions_of_skill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.trial_events import TrialOutcome
    from registry.query.library import Library
    from registry.registry import Registry
    from registry.state.candidate import Candidate
    from registry.state.capsule import Capsule
    from strategies.scope.log_globs import LogGlobs

_SEED_DIGITS: Final = 16
_ID_DIGITS: Final = 12


@dataclass(frozen=True, slots=True)
class TrialTerms:
    """What a person asks of a trial.

    `block_s` is 0 where sessions are assigned one by one; a `seed` is drawn where none is named.
    """

    candidates: tuple[str, ...] = ()
    arms: tuple[int, ...] = ()
    block_s: int = 0
    budget: int = 400
    gain: float = 0.1
    outcome: TrialOutcome | None = None
    adaptive: bool = False
    seed: str = ""


class TrialPlan(NamedTuple):
    """A trial as it would begin, and what it could find."""

    started: TrialStarted
    history: History
    power: Power


def plan_trial(registry: Registry, skill: str, terms: TrialTerms, logs: LogGlobs | None) -> TrialPlan:
    """Write down all that decides a trial, before its first session.

    Raises: RefusedError where its arms cannot be composed, or sessions of before do not tell what to expect.
    """
    capsule = registry.capsule(skill)
    factors = _factors(registry, capsule, terms)
    now = registry.clock.now()
    counting = _counting(registry, skill, factors, terms, logs, moment_s(now) or 0.0)
    history = history_of(sessions_of_skill(registry, counting, logs, moment_s(now) or 0.0))
    if len(history.sessions) < LEAST_HISTORY:
        raise RefusedError(
            f"{len(history.sessions)} sessions of {skill} tell `{counting.outcome}`; what a trial could find is "
            f"said from {LEAST_HISTORY} on",
            hint="germline outcome … says how sessions ended; --outcome errors counts calls that fail",
        )
    seed = terms.seed or registry.clock.new_id().replace("-", "")[-_SEED_DIGITS:]
    started = TrialStarted(
        trial=registry.clock.new_id().replace("-", "")[-_ID_DIGITS:],
        capsule=skill,
        base_version=capsule.version,
        factors=factors,
        unit="block" if terms.block_s else "session",
        block_s=terms.block_s,
        starts_at=now,
        budget=terms.budget,
        outcome=counting.outcome,
        gain=terms.gain,
        base_rate=history.base_rate,
        spread=history.spread,
        loaded=counting.loaded,
        adaptive=terms.adaptive and not terms.block_s,
        seed=seed,
    )
    draws = Random(seed)  # noqa: S311 - what is played through is no secret
    power = power_of(history, block_s=terms.block_s, budget=terms.budget, gain=terms.gain, draws=draws)
    return TrialPlan(started, history, power)


def _counting(
    library: Library,
    skill: str,
    factors: Sequence[TrialFactor],
    terms: TrialTerms,
    logs: LogGlobs | None,
    now_s: float,
) -> Counting:
    """Settle by which outcome sessions count, and whether they must have loaded the skill, before any is counted.

    Raises: RefusedError where `recovered` would count without a claim that says where.
    """
    claim = claim_of(library, factors[0].candidate)
    if terms.outcome == "recovered" and (claim is None or claim.kind != "after_error" or len(factors) > 1):
        raise RefusedError(
            "`recovered` counts by the one candidate's claim about an error, and there is none",
            hint=f"germline trial start {skill} --outcome errors",
        )
    counting = Counting(skill, terms.outcome or "outcome", claim)
    loading = counting._replace(loaded=True)
    known = [session for session in sessions_of_skill(library, loading, logs, now_s) if session.value is not None]
    return loading if len(known) >= LEAST_HISTORY and not factors[0].given else counting


def _factors(registry: Registry, capsule: Capsule, terms: TrialTerms) -> tuple[TrialFactor, ...]:
    """Read what is to be switched, and make sure that every arm can be composed.

    Raises: RefusedError where it cannot.
    """
    name = capsule.name
    if terms.arms:
        denied, given = terms.arms if len(terms.arms) > 1 else (capsule.version, terms.arms[0])
        for version in (denied, given):
            registry.version(name, version)
        if terms.candidates or denied == given or capsule.version not in {denied, given}:
            raise RefusedError(
                f"two versions are compared, one of them the live {label(capsule)}, and no candidate beside",
                hint=f"germline trial start {name} --arms {capsule.version},VERSION",
            )
        return (TrialFactor(name=f"@{given} against @{denied}", given=given, denied=denied),)
    candidates = [_candidate(registry, capsule, candidate_id) for candidate_id in terms.candidates]
    if not 1 <= len(candidates) <= MOST_FACTORS:
        raise RefusedError(
            f"a trial is of one to {MOST_FACTORS} candidates, not of {len(candidates)}",
            hint=f"germline candidates {name}",
        )
    _require_apart(candidates)
    after = capsule
    for candidate in candidates:
        if candidate.version is not None:
            edits = removal(registry, capsule, candidate.id)
            after = edited(after, edits)
        else:
            proposed = candidate.proposed
            after = edited(after, proposed.edits, proposed.born, by=proposed.proposer)
    return tuple(
        TrialFactor(
            name=_name(candidate),
            candidate=candidate.id,
            live=candidate.version is not None,
        )
        for candidate in candidates
    )


def _candidate(library: Library, capsule: Capsule, candidate_id: str) -> Candidate:
    candidate = library.candidate(candidate_id)
    if candidate is None or candidate.proposed.capsule != capsule.name:
        raise NotFoundError(
            f"{capsule.name} has no candidate {candidate_id}", hint=f"germline candidates {capsule.name}"
        )
    if candidate.verdict == "reject" or candidate.reverted:
        raise RefusedError(
            f"candidate {candidate.id[:12]} was {'taken back' if candidate.reverted else 'rejected'}",
            hint=f"germline candidate show {candidate.id[:12]}",
        )
    if candidate.proposed.files or candidate.proposed.skill is not None:
        raise RefusedError(
            f"candidate {candidate.id[:12]} changes more than lines of SKILL.md, and a trial switches these alone",
            hint=f"germline candidate test {candidate.id[:12]}",
        )
    return candidate


def _require_apart(candidates: Sequence[Candidate]) -> None:
    """Refuse candidates whose edits touch the same line: their lines could not be switched one by one."""
    touched: dict[tuple[str, int], str] = {}
    for candidate in candidates:
        for edit in candidate.proposed.edits if candidate.version is None else ():
            for line in edit.target:
                other = touched.setdefault((edit.gene, line), candidate.id)
                if other != candidate.id:
                    raise RefusedError(
                        f"candidates {other[:12]} and {candidate.id[:12]} both change line {line} of {edit.gene}: "
                        "their lines cannot be switched one by one",
                        hint="try one after the other",
                    )


def _name(candidate: Candidate) -> str:
    lines = [line.strip() for line in candidate.proposed.new_lines if line.strip()]
    return next(iter(lines), candidate.id[:12])[:200]
