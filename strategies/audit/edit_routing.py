"""Which passages are touched next, and how: refine what is sound, repair what conflicts; what helped is left alone.

A passage is touched on evidence of its own: harm where the agent followed it and lost by it, noise where an interval
over pairs says that it does nothing. What a model says of a passage needs a second witness. Nothing here is by
chance, and the order of reports makes no difference.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, Literal

from events.types.frozen import Frozen
from strategies.audit.audit_verdict import failing_tasks, hurts_of
from strategies.audit.evaluators.evaluator_types import Action, SkillPassage, VoidSignal
from strategies.audit.evaluators.line_rewrites import CORRECT_NAME, DROP_REPEAT
from strategies.audit.evaluators.quote_check import everywhere, find_quote
from strategies.audit.evaluators.run_contrast import has_contrast
from strategies.gate.stats.clopper_pearson import upper_limit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from strategies.audit.audit_verdict import AuditedPair
    from strategies.audit.evaluators.evaluator_types import ActionSignal, EvaluatorReport

Pipeline = Literal["refine", "repair"]
ORDER: Final[tuple[Action, ...]] = ("harmful", "noise", "swap", "gap")
"""What is done first: harm is taken away before noise, noise before a text is swapped, and gaps come last."""
BUDGET: Final[Mapping[Pipeline, int]] = {"refine": 3, "repair": 8}
"""Moves of one draft (guesses): few where the core is sound, more where it is not."""
MOST_EFFECT: Final = 0.5
"""A passage is noise where it can be excluded that it shows in this share of pairs: five pairs, and in none of them."""
_TAIL: Final = 0.05
_SAFETY: Final = "safety-compliance"
_LEAST_WITNESSES: Final = 2


class EditTarget(Frozen):
    """A piece of a passage that is to be changed, or a gap (`passage` None), with all that asks for it.

    `start` and `end` are the characters of the line that are meant. `group` names what counts as one move.
    """

    key: str
    action: Action
    move: str
    reason: str
    passage: SkillPassage | None = None
    start: int = 0
    end: int = 0
    replacement: str = ""
    section: str = ""
    group: str = ""
    evaluators: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    by_model: bool = False


class LeftAlone(Frozen):
    """A passage that a signal asked to touch and that stays as it is, and why."""

    quote: str
    action: Action
    why: str


class EditRoute(Frozen):
    """What is done next: the pipeline, its targets in order, what is left alone, and the signals that were void.

    `halted` tells that a hurt ended Refine. `aims` are the tasks in trouble that something is taken away or added
    for: one of them must go better for it.
    """

    pipeline: Pipeline
    targets: tuple[EditTarget, ...] = ()
    left: tuple[LeftAlone, ...] = ()
    void: tuple[VoidSignal, ...] = ()
    halted: bool = False
    aims: tuple[str, ...] = ()

    @property
    def keys(self) -> frozenset[str]:
        """The names of the targets: what is not tried again as it is where the draft is taken back."""
        return frozenset(target.key for target in self.targets)


def route_edits(pairs: Sequence[AuditedPair], refused: Collection[frozenset[str]] = ()) -> EditRoute:
    """Choose what to change in the draft that these pairs were run with.

    `refused` holds, for each draft made from this one that was taken back, the keys of its targets: the same set is
    not tried again, only fewer of them. Refine, which a hurt halts, tries nothing more then.
    """
    skill = pairs[0].material.skill if pairs else ()
    hurts, failing = hurts_of(pairs), failing_tasks(pairs)
    troubled = {*(hurt.task for hurt in hurts), *failing}
    pipeline: Pipeline = "repair" if troubled else "refine"
    reports = [report for pair in pairs for report in pair.reports]
    void = tuple(signal for report in reports for signal in report.void)
    if pipeline == "refine" and refused:
        return EditRoute(pipeline=pipeline, void=void, halted=True)
    left: list[LeftAlone] = []
    evidence = _Evidence(pairs, skill)
    chosen = [*_on_passages(evidence, left)]
    if pipeline == "repair" and not chosen:
        chosen = list(_gaps(reports, skill, failing))
    targets = _within_budget(sorted(chosen, key=_rank), BUDGET[pipeline], refused)
    return EditRoute(
        pipeline=pipeline,
        targets=tuple(targets),
        left=tuple(sorted(left, key=lambda entry: (entry.action, entry.quote, entry.why))),
        void=void,
        aims=tuple(sorted({task for t in targets if t.action != "noise" for task in t.tasks} & troubled)),
    )


class _Evidence:
    """What all pairs say about each passage, by its place in the skill."""

    def __init__(self, pairs: Sequence[AuditedPair], skill: Sequence[SkillPassage]) -> None:
        self.skill = skill
        self.signals: dict[int, list[tuple[ActionSignal, EvaluatorReport, int, int]]] = defaultdict(list)
        self.helped: dict[int, set[str]] = defaultdict(set)
        self.kept: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.kept_by_model: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.traced: dict[int, int] = defaultdict(int)
        self.contrasts = sum(has_contrast(pair.material) for pair in pairs)
        self.asked = {r.task for pair in pairs for r in pair.reports if r.by_model}
        self.hurt = {hurt.task for hurt in hurts_of(pairs)}
        self.blamed = set[str]()
        for pair in pairs:
            for report in pair.reports:
                self._take(report)

    def _take(self, report: EvaluatorReport) -> None:
        for quote in report.protected:
            for span in everywhere(quote, self.skill):
                kept = self.kept_by_model if report.by_model else self.kept
                kept[span.at].append((span.start, span.end))
                self.helped[span.at].add(report.task)
        for at in {span.at for quote in report.traced for span in everywhere(quote, self.skill)}:
            self.traced[at] += 1
        for signal in report.signals:
            spans = find_quote(signal.quote, self.skill, file=signal.file, gene=signal.gene, line=signal.line)
            if signal.action == "gap" or isinstance(spans, str):
                continue
            if signal.action == "harmful" and not signal.by_model:
                self.blamed.add(report.task)
            for span in spans:
                self.signals[span.at].append((signal, report, span.start, span.end))

    def does_nothing(self, at: int) -> bool:
        """Tell whether the interval excludes that a passage shows in half of the pairs; it shows in none of them."""
        return not self.traced[at] and upper_limit(0, self.contrasts, _TAIL) <= MOST_EFFECT

    def has_witness(self, signals: Sequence[tuple[ActionSignal, EvaluatorReport, int, int]]) -> bool:
        """Tell whether what models say of a passage has a second witness: most tasks, or a hurt that nothing explains."""
        tasks = {report.task for _, report, _, _ in signals}
        most = len(tasks) >= _LEAST_WITNESSES and 2 * len(tasks) > len(self.asked)
        return most or bool(tasks & (self.hurt - self.blamed))


def _on_passages(evidence: _Evidence, left: list[LeftAlone]) -> Iterator[EditTarget]:
    """Decide for each passage what is done to it: one thing, or nothing."""
    for at in sorted(evidence.signals):
        signals = evidence.signals[at]
        computed = [entry for entry in signals if not entry[0].by_model]
        for group, is_model in ((computed, False), ([e for e in signals if e[0].by_model], True)):
            target = _decided(at, group, evidence, left, by_model=is_model) if group else None
            if target is not None:
                yield target
                break


def _decided(
    at: int,
    signals: Sequence[tuple[ActionSignal, EvaluatorReport, int, int]],
    evidence: _Evidence,
    left: list[LeftAlone],
    *,
    by_model: bool,
) -> EditTarget | None:
    passage = evidence.skill[at]

    def leave(action: Action, why: str) -> None:
        left.append(LeftAlone(quote=passage.text.strip(), action=action, why=why))

    by_action = {action: [entry for entry in signals if entry[0].action == action] for action in ORDER}
    unsafe = [entry for entry in by_action["harmful"] if entry[1].evaluator == _SAFETY and not by_model]
    swap = _agreed(by_action["swap"])
    if unsafe:
        return _target("harmful", unsafe, passage, _whole(passage), by_model=by_model)
    if by_model and not evidence.has_witness(signals):
        leave(signals[0][0].action, "a model alone says so")
        return None
    if swap:
        by_name = swap[0][0].move == CORRECT_NAME
        if evidence.kept[at] and (by_name or by_model):
            leave("swap", f"it is right, or helps, on {', '.join(sorted(evidence.helped[at]))}")
            return None
        if not evidence.kept[at]:
            return _target("swap", swap, passage, _whole(passage), by_model=by_model)
    chosen = by_action["harmful"] or by_action["noise"]
    if not chosen:
        leave("swap", "tasks want different texts there, or it helps elsewhere")
        return None
    action = chosen[0][0].action
    is_repeat = all(entry[0].move == DROP_REPEAT for entry in chosen)
    if action == "noise" and not is_repeat and not evidence.does_nothing(at):
        leave(
            action, f"it shows in {evidence.traced[at]} of {evidence.contrasts} pairs, too many or too few to tell"
        )
        return None
    kept = (
        []
        if is_repeat
        else evidence.kept[at] + (evidence.kept_by_model[at] if by_model or action == "noise" else [])
    )
    rest = _split(chosen, kept)
    if not rest:
        leave(action, f"it helps on {', '.join(sorted(evidence.helped[at]))}")
        return None
    return _target(action, chosen, passage, rest, by_model=by_model)


def _agreed(
    signals: Sequence[tuple[ActionSignal, EvaluatorReport, int, int]],
) -> list[tuple[ActionSignal, EvaluatorReport, int, int]]:
    """Give the signals of the one text that all tasks want in the place of a passage; none where they differ."""
    texts = {(entry[0].move, entry[0].replacement) for entry in signals if entry[0].replacement}
    moves = {move for move, _ in texts}
    if len(moves) > 1:  # what one operation asks for, in the order of their names, all the others do without
        first = min(moves)
        texts = {(move, text) for move, text in texts if move == first}
    return (
        [entry for entry in signals if (entry[0].move, entry[0].replacement) in texts] if len(texts) == 1 else []
    )


def _split(
    signals: Iterable[tuple[ActionSignal, EvaluatorReport, int, int]], kept: Sequence[tuple[int, int]]
) -> tuple[int, int] | None:
    """Give the longest piece that signals ask for and that overlaps nothing that is kept; None where there is none."""
    start, end = min(entry[2] for entry in signals), max(entry[3] for entry in signals)
    edges = [(max(begin, start), min(stop, end)) for begin, stop in sorted(kept) if begin < end and stop > start]
    pieces, at = [], start
    for begin, stop in edges:
        pieces.append((at, begin))
        at = max(at, stop)
    pieces.append((at, end))
    longest = max(pieces, key=lambda piece: piece[1] - piece[0])
    return longest if longest[1] > longest[0] else None


def _whole(passage: SkillPassage) -> tuple[int, int]:
    return 0, len(passage.text.rstrip("\r\n"))


def _target(
    action: Action,
    signals: Sequence[tuple[ActionSignal, EvaluatorReport, int, int]],
    passage: SkillPassage,
    span: tuple[int, int],
    *,
    by_model: bool,
) -> EditTarget:
    first = min(
        (entry[0] for entry in signals), key=lambda signal: (signal.move, signal.reason, signal.replacement)
    )
    where = f"{passage.file}:{passage.gene}:{passage.line}"
    section = f"{passage.file}:{passage.gene}:{passage.section}"
    return EditTarget(
        key=f"{action} {where}",
        action=action,
        move=first.move,
        reason=first.reason,
        passage=passage,
        start=span[0],
        end=span[1],
        replacement=first.replacement,
        section=first.section,
        group=f"{first.move} {section if action == 'noise' else where}",
        evaluators=tuple(sorted({entry[1].evaluator for entry in signals})),
        tasks=tuple(sorted({entry[1].task for entry in signals})),
        by_model=by_model,
    )


def _gaps(
    reports: Iterable[EvaluatorReport], skill: Sequence[SkillPassage], failing: Sequence[str]
) -> Iterator[EditTarget]:
    """Give what the skill lacks on tasks that fail with it, each text once, and none that it holds already."""
    asked: dict[str, list[tuple[ActionSignal, EvaluatorReport]]] = defaultdict(list)
    for report in reports:
        for signal in report.signals:
            if signal.action == "gap" and signal.replacement and report.task in failing:
                asked[signal.replacement].append((signal, report))
    for text, entries in sorted(asked.items()):
        if any(text in passage.text for passage in skill):
            continue
        first = min((signal for signal, _ in entries), key=lambda signal: (signal.move, signal.reason))
        yield EditTarget(
            key=f"gap {text}",
            action="gap",
            move=first.move,
            reason=first.reason,
            replacement=text,
            section=first.section,
            group=text,
            evaluators=tuple(sorted({report.evaluator for _, report in entries})),
            tasks=tuple(sorted({report.task for _, report in entries})),
            by_model=all(signal.by_model for signal, _ in entries),
        )


def _rank(target: EditTarget) -> tuple[int, bool, int, str]:
    return ORDER.index(target.action), target.by_model, -len(target.tasks), target.key


def _within_budget(
    targets: Iterable[EditTarget], most: int, refused: Collection[frozenset[str]]
) -> list[EditTarget]:
    """Take targets in order while moves are left, and never a set that holds all of one that was taken back."""
    taken, groups, keys = [], set[str](), frozenset[str]()
    for target in targets:
        if target.group not in groups and len(groups) == most:
            continue
        if any(tried <= keys | {target.key} for tried in refused if target.key in tried):
            continue
        taken.append(target)
        groups.add(target.group)
        keys |= {target.key}
    return taken
