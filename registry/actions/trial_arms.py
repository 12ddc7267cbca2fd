"""The arms of trials: what a skill says where lines are given or denied, and which of that its folder holds."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from itertools import product
from typing import TYPE_CHECKING, Final

from events.errors import EditError, RefusedError
from events.types.parts import Edit
from registry.projection import time_travel
from registry.query.provenance import origins_of
from registry.query.trials import running_trial, trials_of
from registry.skill_md.render import label, projected_lines, skill_text
from registry.skill_md.text import cut
from registry.state.line_match import Gap, gaps, match

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.types.trial_events import TrialFactor
    from registry.query.library import Library
    from registry.skill_md.folder import SkillFolder
    from registry.state.capsule import Capsule
    from registry.state.trial import Given, SkillTrial

_MARK_DIGITS: Final = 8


def in_folder(library: Library, name: str) -> Capsule:
    """Return what the folder of a skill is to hold: the live version, or the arm that a trial switched to last."""
    trial = running_trial(library, name)
    if trial is None or trial.in_folder is None:
        return library.capsule(name)
    return arm_of(library, trial, trial.in_folder)


def arm_of(
    library: Library, trial: SkillTrial, given: Given, *, base: Capsule | None = None, unit: str = ""
) -> Capsule:
    """Compose an arm on the live version, or on `base`; one that is a version is that version.

    The arm of a `unit`, a session, bears a mark of its own. Raises: EditError or NotFoundError where lines on
    trial do not fit the version any more.
    """
    started = trial.started
    live = base or library.capsule(started.capsule)
    after = live
    for factor, on in zip(started.factors, given, strict=True):
        if factor.given:
            after = library.capsule(started.capsule, str(factor.given if on else factor.denied))
        else:
            is_there = factor.live and live.version == started.base_version
            after = _switched(library, after, factor, on=on, is_there=is_there)
    if not unit and (after is live or started.factors[0].given):
        return after
    return replace(after, arm=mark_of(trial, unit or str(given)), stamped=True)


def mark_of(trial: SkillTrial, what: str) -> str:
    """Give the mark that the text of an arm bears, or that of a session: it tells nobody which arm it is."""
    return sha256(f"{trial.id}:{what}".encode()).hexdigest()[:_MARK_DIGITS]


def _switched(library: Library, capsule: Capsule, factor: TrialFactor, *, on: bool, is_there: bool) -> Capsule:
    """Give or deny the lines of a candidate; those that are in the skill are taken out, others put in."""
    from registry.decide.promote import edited  # noqa: PLC0415 - few skills are on trial, and it takes 20 ms

    candidate = library.candidates_of([factor.candidate])[factor.candidate]
    brought = candidate.version
    if is_there or (brought is not None and brought <= capsule.version and not candidate.reverted):
        return capsule if on else edited(capsule, removal(library, capsule, factor.candidate))
    proposed = candidate.proposed
    return edited(capsule, proposed.edits, proposed.born, by=proposed.proposer) if on else capsule


def removal(library: Library, capsule: Capsule, candidate: str) -> tuple[Edit, ...]:
    """List the edits that take the lines of a candidate out of a version again.

    Raises: RefusedError where it brought a section, rewrote lines, or none of its lines is left.
    """
    lines = [line for line in projected_lines(capsule) if line.gene and line.origin]
    origins = origins_of(library, capsule, lines)
    own = [line for line in lines if getattr(origins[line.origin].event, "candidate", "") == candidate]
    proposed = library.candidates_of([candidate])[candidate].proposed
    if not own or proposed.born or any(edit.op in {"replace", "delete"} for edit in proposed.edits):
        what = "did more than to add lines" if own else "has no line left in it"
        raise RefusedError(
            f"candidate {candidate[:12]} {what}: {label(capsule)} without it is an earlier version",
            hint=f"germline trial start {capsule.name} --arms {capsule.version - 1},{capsule.version}",
        )
    return tuple(Edit(op="delete", gene=line.gene, target=(line.id,)) for line in own)


def other_arms(library: Library, name: str, version: int) -> Iterator[Capsule]:
    """Yield what the last trial of a skill may have left in its folder, over a version that was live then."""
    trials = [trial for trial in trials_of(library, name) if trial.by_block]
    base = time_travel.at_version(library.log, name, version)
    if not trials or base is None:
        return
    for given in product((True, False), repeat=len(trials[-1].started.factors)):
        try:
            yield arm_of(library, trials[-1], given, base=base)
        except (EditError, RefusedError):  # an edit that does not fit made no arm
            continue


def as_edit_of_live(library: Library, capsule: Capsule, skill: SkillFolder) -> SkillFolder:
    """Carry a person's edit over to the live version where an arm of a trial lay in the folder.

    Raises: RefusedError where they edited lines that are on trial.
    """
    arms = (arm for arm in other_arms(library, capsule.name, capsule.version) if arm.arm)
    arm = next((arm for arm in arms if f'"{label(arm)}"' in "".join(skill.front)), None)
    if arm is None:
        return skill
    merged = _merged(_lines(skill_text(arm)), _lines(skill_text(capsule)), _lines(skill.text))
    if merged is None:
        raise RefusedError(
            f"your edit of {capsule.name} touches lines that are on trial",
            hint=f"germline trial stop {capsule.name} --reason TEXT, germline project {capsule.name} --discard, "
            "and edit again",
        )
    pieces = cut("".join(merged))
    return replace(skill, front=pieces.front, sections=pieces.sections)


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _merged(arm: Sequence[str], live: Sequence[str], theirs: Sequence[str]) -> list[str] | None:
    """Apply to an arm what leads from it to the live version, and what a person did; None where these meet."""
    changes: list[tuple[Gap, Sequence[str]]] = []
    for other in (live, theirs):
        whole = Gap(0, len(arm), 0, len(other))
        pairs = [(i, j) for i, j in match(arm, other) if arm[i] == other[j]]
        changes += [(gap, other) for gap in gaps(pairs, whole)]
    changes.sort(key=lambda change: (change[0].old_start, change[0].old_end))
    merged: list[str] = []
    at = 0
    for place, (gap, other) in enumerate(changes):
        if place and gap.old_start < at:
            return None
        merged += [*arm[at : gap.old_start], *other[gap.new_start : gap.new_end]]
        at = gap.old_end
    return [*merged, *arm[at:]]
