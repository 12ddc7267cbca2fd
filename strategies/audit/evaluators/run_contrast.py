"""The contrast of two runs: which passages show in what the agent did with the skill and not without it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.audit.evaluators.deliverable_checks import deliverable_faults, only_in
from strategies.audit.evaluators.evaluator_types import SameObject
from strategies.audit.evaluators.line_rewrites import REMOVE
from strategies.audit.evaluators.passage_terms import content_words, path_terms, skill_terms
from strategies.audit.evaluators.quote_check import on_passage
from strategies.audit.evaluators.style_marks import NO_FILE, asked_styles, styles_gained, text_styles

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from strategies.audit.evaluators.evaluator_types import (
        ActionSignal,
        AuditMaterial,
        RunAction,
        RunRecord,
        SkillPassage,
    )

SURE: Final = 2
"""The strength of a trace by something that the passage names, or by a style that it asks for."""
FAINT: Final = 1
"""The strength of a trace by words alone: enough to leave a passage alone, never enough to blame it."""


class Trace(NamedTuple):
    """A passage that shows in one run and not in the other: by which terms, and how surely.

    `barred` are terms that it forbids, which only the run without the skill holds.
    """

    passage: SkillPassage
    strength: int
    terms: frozenset[str]
    styles: frozenset[str]
    barred: frozenset[str]


class AnchorChange(NamedTuple):
    """The anchors that hold with the skill alone, those that hold without it alone, and all there are."""

    gained: tuple[str, ...]
    lost: tuple[str, ...]
    total: int


def has_contrast(material: AuditMaterial) -> bool:
    """Tell whether the run without the skill went anywhere: one without files that was stopped did not."""
    run = material.without_skill
    return bool(run.files) or (run.ended == "done" and bool(run.answer.strip() or run.actions))


def anchor_change(material: AuditMaterial) -> AnchorChange:
    """Compare which anchors hold."""
    having, lacking = material.with_skill.anchors, material.without_skill.anchors
    both = sorted(having.keys() & lacking.keys())
    gained = tuple(name for name in both if having[name] and not lacking[name])
    lost = tuple(name for name in both if lacking[name] and not having[name])
    return AnchorChange(gained, lost, len(both))


def traces(material: AuditMaterial) -> tuple[Trace, ...]:
    """Find the passages that show in the run with the skill alone; none where the other run gives no contrast."""
    return _traces(SameObject(material)) if has_contrast(material) else ()


@lru_cache(maxsize=2)
def _traces(same: SameObject[AuditMaterial]) -> tuple[Trace, ...]:
    material = same.kept
    having, lacking = material.with_skill, material.without_skill
    with_text, without_text = run_text(having), run_text(lacking)
    styles = styles_gained(having, lacking)
    words = content_words(with_text) - content_words(without_text) - content_words(material.prompt)
    read = skill_terms(material.skill)
    exact = frozenset[str]().union(*(terms.exact for terms in read))
    barred = frozenset[str]().union(*(terms.barred for terms in read))
    in_with, in_without = held_terms(with_text, exact | barred), held_terms(without_text, exact | barred)
    own = in_with - in_without - held_terms(material.prompt, exact)
    listed = list[Trace]()
    for passage, terms in zip(material.skill, read, strict=True):
        shown, style = terms.exact & own, asked_styles(passage.text) & styles
        avoided = terms.barred & (in_without - in_with)
        if shown or avoided or (style and not terms.frame):
            listed.append(Trace(passage, SURE, shown, style, avoided))
        elif common := terms.words & words if not terms.frame else frozenset[str]():
            listed.append(Trace(passage, FAINT, common, style, avoided))
    return tuple(listed)


class Blame(NamedTuple):
    """A passage that something which went wrong may come from, and how many passages that may be: 1 is sure."""

    passage: SkillPassage
    suspects: int


def blamed(
    traced: Iterable[Trace], wrong: Iterable[str], *, at_paths: bool = False, is_narrow: bool = True
) -> tuple[Blame, ...]:
    """Name the passages that what went wrong may come from: those that show in the wrong texts, else the only one.

    With `at_paths`, where a file is not where it should be, those that name a path there come before others. Words
    alone blame nobody. Passages of the same words are one suspect; where texts are not narrow, or it shows in none
    of them, there is one more: what nobody can see.
    """
    sure = [trace for trace in traced if trace.strength == SURE]
    text = "\n".join(wrong)
    styles = text_styles([text]) | ({NO_FILE} if at_paths else frozenset())
    shown = [(trace, [term for term in trace.terms if holds(text, term)]) for trace in sure]
    direct = [trace for trace, terms in shown if terms or trace.styles & styles]
    at_path = [trace for trace, terms in shown if any(path for term in terms for path in path_terms(term))]
    suspects = (at_path if at_paths else []) or direct or sure
    number = len({trace.passage.text.strip() for trace in suspects})
    if not direct and number > 1:
        return ()
    is_sure = is_narrow and bool(at_path if at_paths else direct)
    return tuple(Blame(trace.passage, number if is_sure else number + 1) for trace in suspects)


def harmful(guilty: Iterable[Blame], reason: str) -> tuple[ActionSignal, ...]:
    """Ask that the passages which something that went wrong may come from are taken away."""
    return tuple(on_passage("harmful", blame.passage, reason, REMOVE, suspects=blame.suspects) for blame in guilty)


def quotes_of(traced: Iterable[Trace]) -> tuple[str, ...]:
    """Quote the passages that show in what the agent did."""
    return tuple(trace.passage.text.strip() for trace in traced)


def run_text(run: RunRecord) -> str:
    """Give all that an agent wrote: calls, paths, files, answer; not what tools gave back, such as the skill."""
    calls = (action.call for action in run.actions)
    files = (f"{path}\n{text}" for path, text in sorted(run.files.items()))
    return "\n".join((*calls, *files, run.answer))


def changed_texts(material: AuditMaterial) -> dict[str, str]:
    """Map each file, "" for the answer, to the lines that only the run with the skill has there."""
    having, lacking = material.with_skill, material.without_skill
    pairs = {path: (text, lacking.files.get(path, "")) for path, text in having.files.items()}
    pairs[""] = (having.answer, lacking.answer)
    changed = dict[str, str]()
    for path, (text, other) in pairs.items():
        known = frozenset(other.splitlines())
        fresh = [line for line in text.splitlines() if line not in known]
        if fresh or (path and path not in lacking.files):
            changed[path] = "\n".join((path, *fresh))
    return changed


def blamed_for(traced: Sequence[Trace], material: AuditMaterial, lost: Sequence[str]) -> tuple[Blame, ...]:
    """Name the passages that the loss of anchors or files may come from, from texts as narrow as they are known.

    Of a deliverable that only the run with the skill has wrong, that is what is wrong in it; where it is not
    there, the paths that were written instead, and the calls that only this run made. Else it is what changed in
    the files that the names of lost anchors speak of, or in all.
    """
    wanted = material.requirements.deliverables
    having, lacking = (deliverable_faults(wanted, run) for run in (material.with_skill, material.without_skill))
    faults = [
        fault for fault in only_in(having, lacking) if any(holds(name, fault.path or "answer") for name in lost)
    ]
    changed = changed_texts(material)
    if any(fault.kind in {"missing", "elsewhere"} for fault in faults):
        written = [path for path in changed if path and path not in material.without_skill.files]
        guilty = blamed(traced, written, at_paths=True)
        if guilty and guilty[0].suspects == 1:
            return guilty
        return blamed(traced, (*written, *fresh_calls(material)), at_paths=True, is_narrow=False)
    if wrong := [fault.wrong for fault in faults if fault.wrong]:
        return blamed(traced, wrong)
    named = [text for path, text in changed.items() if path and any(holds(name, path) for name in lost)]
    return blamed(traced, named or (*changed.values(), *fresh_calls(material)), is_narrow=False)


def fresh_calls(material: AuditMaterial) -> tuple[str, ...]:
    """List the calls that only the run with the skill made."""
    known = {action.call for action in material.without_skill.actions}
    return tuple(action.call for action in material.with_skill.actions if action.call not in known)


def failures(run: RunRecord) -> tuple[RunAction, ...]:
    """List the steps that failed."""
    return tuple(action for action in run.actions if action.failed)


def held_terms(text: str, terms: Iterable[str]) -> frozenset[str]:
    """Give those of some terms that a text holds."""
    return frozenset(term for term in terms if holds(text, term))


def holds(text: str, term: str) -> bool:
    """Tell whether a text holds a term as a whole, not as part of a longer word."""
    if term not in text:
        return False
    before = r"(?<!\w)" if term[:1].isalnum() else ""
    after = r"(?!\w)" if term[-1:].isalnum() else ""
    return re.search(f"{before}{re.escape(term)}{after}", text) is not None
