"""Passages found by runs: put back in halves, those with which a task goes worse than without are known.

What shows in a run can be traced to a passage; most harm cannot. So where a draft hurts and no trace says why, the
search begins with no passage at all, which is a run without the skill, and puts passages back as long as nothing
gets worse (delta debugging: Zeller & Hildebrandt 2002).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.audit.audit_verdict import MODELS, AuditedPair, TaskHurt, worsening
from strategies.audit.drafts import drafted, texts_beside
from strategies.audit.edit_moves import draft_edits
from strategies.audit.edit_routing import EditRoute, EditTarget
from strategies.audit.evaluators.incremental_value import IncrementalValue
from strategies.audit.evaluators.line_rewrites import REMOVE
from strategies.audit.evaluators.passage_terms import FENCES, is_prose, skill_terms, without_marker
from strategies.audit.evaluators.run_contrast import SURE, traces
from strategies.gate.lint import Limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from registry.state.capsule import Capsule
    from strategies.audit.audit_plan import AuditPlan
    from strategies.audit.evaluate_draft import DraftEvaluation, EvaluatedDraft
    from strategies.audit.evaluators.evaluator_types import SkillPassage

MOST_SEARCHES: Final = 2
"""Searches of one audit (a guess): one harm may hide another."""
MOST_TRIALS: Final = 24
"""Drafts that one search may run (a guess): to find four passages of thirty takes about twenty."""
_LEAST_ROUNDS: Final = 3
"""Rounds from which on a draft that goes worse is run no further."""
_DOUBTED: Final = 0.05
"""The chance of a loss up to which passages are halved further, or held to a second look."""
_SHOWN: Final = 0.01
"""The chance of a loss, over the pairs of both looks, up to which a passage goes."""
_UNTOLD: Final = "it goes worse with it and others, and no trials are left to tell which"
_ANYTHING: Final = Limits(edits=1_000_000, trust_region=1_000_000.0, files_may_go=True)
"""A draft that is only run, and never proposed, may take away what it likes."""
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+(?=[A-Z`\"'(])")


class Piece(NamedTuple):
    """What is put back together: lines of the skill by their places, or the characters `start` to `end` of one."""

    lines: tuple[int, ...]
    start: int = 0
    end: int = 0


@dataclass
class PassageSearch:
    """Finds the passages with which tasks that a draft hurts go worse than without them.

    Only those tasks are run, from round `first` on. `kept` are the pieces that were put back, `dropped` those that
    go, and why. From round `judged_from` on nothing was chosen by what the runs show.
    """

    plan: AuditPlan
    evaluation: DraftEvaluation
    good: EvaluatedDraft
    tasks: tuple[str, ...]
    first: int = 0
    judged_from: int = 0
    kept: list[Piece] = field(default_factory=list)
    dropped: list[tuple[Piece, str]] = field(default_factory=list)
    _trials: int = 0
    _bare: tuple[AuditedPair, ...] = ()
    _last: tuple[AuditedPair, ...] = ()

    @property
    def skill(self) -> tuple[SkillPassage, ...]:
        """The passages of the draft."""
        return self.good.pairs[0].material.skill

    def route(self) -> EditRoute:
        """Search, and give what is to go as a route; one without targets where nothing is found.

        Raises: what `Runs.make` raises.
        """
        first, self.judged_from = self._rounds(0), self._rounds(1).start
        self._bare = self.evaluation.bare(self.tasks, first)
        self._last, worse = self._trial((), first)
        if worse:  # what cannot be taken away hurts by itself: nothing tells passages from each other
            return EditRoute(pipeline="repair")
        suspects = self._suspects()
        pieces = pieces_of(self.skill)
        plain = [piece for piece in pieces if not suspects & {*piece.lines}]
        shown = [piece for piece in pieces if suspects & {*piece.lines}]
        self._settle(plain, first, is_bad=False)
        self._settle(shown, first, is_bad=bool(plain) and len(self.kept) == len(plain))
        self._look_again(first, self._rounds(1))
        return EditRoute(
            pipeline="repair",
            targets=tuple(_targets(self.skill, self.dropped, self.tasks)),
            aims=tuple(TaskHurt(task=task, evaluator="") for task in self.tasks),
        )

    def _rounds(self, look: int) -> range:
        start = self.first + look * self.plan.pairs
        return range(start, start + self.plan.pairs)

    def _settle(self, pieces: Sequence[Piece], rounds: Sequence[int], *, is_bad: bool) -> None:
        """Put pieces back as far as nothing goes worse; with `is_bad` it is known that not all of them can."""
        if not pieces:
            return
        if not is_bad or len(pieces) == 1:
            pairs, worse = self._trial(pieces, rounds)
            if not worse:
                self.kept += pieces
                self._last = pairs
                return
            if self._trials >= MOST_TRIALS:
                self.dropped += ((piece, worse if len(pieces) == 1 else _UNTOLD) for piece in pieces)
                return
            parts = sentences(pieces[0], self.skill) if len(pieces) == 1 else ()
            if len(pieces) == 1 and len(parts) < 2:  # noqa: PLR2004 - one sentence is the passage itself
                self.dropped.append((pieces[0], worse))
                return
            pieces = parts or pieces
        before, half = len(self.kept), (len(pieces) + 1) // 2
        self._settle(pieces[:half], rounds, is_bad=False)
        self._settle(pieces[half:], rounds, is_bad=len(self.kept) == before + half)

    def _trial(self, pieces: Sequence[Piece], rounds: Iterable[int]) -> tuple[tuple[AuditedPair, ...], str]:
        """Run what was put back with some pieces more; gives the pairs, and what goes worse."""
        self._trials += 1
        draft, before = self._draft((*self.kept, *pieces)), (*self._bare, *self._last)
        pairs, worse = tuple[AuditedPair, ...](), ""
        for number, at in enumerate(rounds, start=1):
            pairs += self.evaluation.tried(draft, self.tasks, (at,))
            worse = worsening(before, pairs, _DOUBTED)
            if worse and number >= _LEAST_ROUNDS:
                break
        return pairs, worse

    def _look_again(self, first: Sequence[int], further: Sequence[int]) -> None:
        """Put each piece that was dropped back once more: it goes where further pairs show it too."""
        doubted, self.dropped = self.dropped, []
        if not doubted:
            return
        rounds = (*first, *further)
        before = (*self.evaluation.bare(self.tasks, rounds), *self._tried(self.kept, rounds))
        for piece, why in doubted:
            if why == _UNTOLD or self._trials >= MOST_TRIALS:
                self.dropped.append((piece, why))
                continue
            self._trials += 1
            having = (*self.kept, piece)
            again = self._tried(having, further)
            worse = worsening(before, (*self._tried(having, first), *again), _SHOWN)
            if worse and worsening(before, again, _DOUBTED):
                self.dropped.append((piece, worse))
            else:
                self.kept.append(piece)
                self.judged_from = self._rounds(2).start

    def _tried(self, kept: Iterable[Piece], rounds: Sequence[int]) -> tuple[AuditedPair, ...]:
        return self.evaluation.tried(self._draft(kept), self.tasks, rounds)

    def _draft(self, kept: Iterable[Piece]) -> Capsule:
        """Give the draft with only these pieces, and what cannot be taken away."""
        log, whole = self.plan.rig.registry.log, {*kept}
        gone = [(piece, REMOVE) for piece in _others(self.skill, whole)]
        route = EditRoute(pipeline="repair", targets=tuple(_targets(self.skill, gone, self.tasks)))
        moves = draft_edits(route, self.good.capsule, texts_beside(log, self.good.capsule))
        return drafted(log, self.plan.base, self.good.capsule, moves.edits, _ANYTHING).capsule

    def _suspects(self) -> set[int]:
        """Find the passages that surely show in a run of these tasks."""
        places = {passage: at for at, passage in enumerate(self.skill)}
        materials = (pair.material for pair in self.good.pairs if pair.material.task in self.tasks)
        return {
            places[trace.passage] for material in materials for trace in traces(material) if trace.strength == SURE
        }


def hurt_tasks(hurts: Iterable[TaskHurt]) -> tuple[str, ...]:
    """List the tasks of hurts that were computed."""
    return tuple(sorted({hurt.task for hurt in hurts if hurt.evaluator != MODELS}))


def pieces_of(skill: tuple[SkillPassage, ...]) -> tuple[Piece, ...]:
    """Divide a skill into lines that say something, and blocks of code; scripts are left out."""
    pieces, fenced = list[Piece](), list[int]()
    is_open, file = False, ""
    for at, (passage, terms) in enumerate(zip(skill, skill_terms(skill), strict=True)):
        is_open, file = is_open and passage.file == file, passage.file
        text = passage.text.strip()
        if not is_prose(file):
            continue
        if text.startswith(FENCES):
            pieces += [Piece(tuple(fenced))] * bool(fenced)
            is_open, fenced = not is_open, []
        elif is_open:
            fenced += [at] * bool(text)
        elif not terms.frame and re.search(r"\w", text):
            pieces.append(Piece((at,)))
    return (*pieces, *[Piece(tuple(fenced))] * bool(fenced))


def sentences(piece: Piece, skill: tuple[SkillPassage, ...]) -> tuple[Piece, ...]:
    """Divide a piece of one line into its sentences; none where it is part of a line, or of several."""
    if len(piece.lines) != 1 or piece.end:
        return ()
    at, text = piece.lines[0], skill[piece.lines[0]].text.rstrip()
    start = text.find(without_marker(text))
    edges = [start, *(start + match.end() for match in _SENTENCE.finditer(text[start:])), len(text)]
    return tuple(Piece((at,), left, right) for left, right in pairwise(edges))


def _others(skill: tuple[SkillPassage, ...], kept: set[Piece]) -> Iterator[Piece]:
    """Yield the pieces that are not kept; of a line of which a part is, the other parts."""
    divided = {piece.lines for piece in kept if piece.end}
    for piece in pieces_of(skill):
        parts = sentences(piece, skill) if piece.lines in divided and piece not in kept else (piece,)
        yield from (part for part in parts if part not in kept)


def _targets(
    skill: tuple[SkillPassage, ...], gone: Iterable[tuple[Piece, str]], tasks: Sequence[str]
) -> Iterator[EditTarget]:
    """Ask that pieces are taken away; of a line that goes in part the rest is left."""
    spans: dict[int, list[tuple[int, int]]] = {}
    reasons: dict[int, str] = {}
    for piece, why in gone:
        for at in piece.lines:
            reasons.setdefault(at, why)
            spans.setdefault(at, []).append((piece.start, piece.end or len(skill[at].text)))
    for at, cut in sorted(spans.items()):
        passage = skill[at]
        rest = _without(passage.text.rstrip("\r\n"), cut).strip()
        says = re.search(r"\w", without_marker(rest)) is not None
        where = f"{passage.file}:{passage.gene}:{passage.line}"
        yield EditTarget(
            key=f"harmful {where}",
            action="swap" if says else "harmful",
            move=REMOVE,
            reason=reasons[at],
            passage=passage,
            end=len(passage.text.rstrip("\r\n")),
            replacement=rest if says else "",
            group=where,
            evaluators=(IncrementalValue.name,),
            tasks=tuple(tasks),
        )


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Give a line without some of its characters."""
    for start, end in sorted(spans, reverse=True):
        text = f"{text[:start]}{text[end:]}"
    return text
