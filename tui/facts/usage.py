"""What became of the lines of a skill or of instructions, as facts: one sentence first, then a line at a time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from tui.facts.fact import Fact, fact
from tui.facts.scores import effect_fact, of_skill
from tui.text.numbers import count, interval, share, signed
from tui.text.words import claim_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from strategies.usage.line_usage import FileUsage, LineUsage
    from strategies.usage.line_witnesses import WitnessKind
    from strategies.usage.worth import Verdict
    from tui.text.rows import Tone

WORTH_MARKS: Final[dict[Verdict, tuple[str, Tone]]] = {
    "hurts": ("✗", "bad"),
    "helps": ("✓", "good"),
    "inert": ("=", "dim"),
    "unknown": ("?", "warn"),
    "unwitnessed": ("·", "dim"),
}
"""A mark and a tone for each verdict, in the order in which they matter to who keeps the file."""
_PHRASES: Final[dict[Verdict, tuple[str, str]]] = {
    "helps": ("helps", "help"),
    "hurts": ("hurts", "hurt"),
    "inert": ("changes nothing", "change nothing"),
    "unknown": ("is not decided", "are not decided"),
    "unwitnessed": ("cannot be judged by logs", "cannot be judged by logs"),
}
_WITNESSED_BY: Final[dict[WitnessKind, str]] = {
    "claim": "by a claim",
    "anchor": "by an anchor",
    "evaluator": "by an evaluator",
}
_CLAIMED_BY: Final = {"learned": "learned from logs", "words": "read from its words", "person": "as a person says"}


def worth_sentence(files: Iterable[FileUsage]) -> str:
    """Say what all lines of some files are worth, as in `Of 60 lines, 8 help, 52 cannot be judged by logs`."""
    verdicts: Counter[Verdict] = Counter()
    for file in files:
        verdicts += file.verdicts
    parts = [
        f"{verdicts[verdict]:,} {words[verdicts[verdict] > 1]}"
        for verdict, words in _PHRASES.items()
        if verdicts[verdict]
    ]
    lines = count(verdicts.total(), "line")
    return f"Of {lines}, {', '.join(parts)}." if parts else "There is no line that says anything."


def sessions_words(file: FileUsage) -> str:
    """Say in how many sessions a file was loaded, and how many of these only presumably."""
    presumed = f"; of {file.presumed:,} this is presumed, or the version is" if file.presumed else ""
    return f"loaded in {file.loaded:,} of {count(file.sessions, 'session')}{presumed}"


def evolvability_words(file: FileUsage) -> str:
    """Say how many lines of a file something can show to be wrong, and by what, beside its score."""
    kinds = Counter(line.witness.kind for line in file.lines)
    by = [f"{kinds[kind]:,} {words}" for kind, words in _WITNESSED_BY.items() if kinds[kind]]
    lines = count(len(file.lines), "line")
    shown = f"{file.evolvability:.0%} of {lines}" if file.evolvability is not None else "none of its lines"
    named = f" ({', '.join(by)})" if by else ""
    score = of_skill(file.capsule.score)
    measured = f"score {share(score.value)}" if score else "unproven"
    return f"{measured}; something can show {shown} to be wrong{named}"


def by_worth(file: FileUsage) -> list[LineUsage]:
    """List the lines of a file, those first that hurt, and those last of which no log could tell."""
    order = list(WORTH_MARKS)
    return sorted(file.lines, key=lambda usage: (order.index(usage.worth.verdict), usage.line.number))


def effect_words(usage: LineUsage) -> str:
    """Write the effect of a line in short, "" where it has none: `+.25 [.12, .39]`."""
    effect = usage.worth.effect
    return f"{signed(effect.risk_difference, 2)} {interval(effect.low, effect.high, 2)}" if effect else ""


def usage_facts(usage: LineUsage) -> Iterator[Fact]:
    """Say what became of a line: what it asks for, how often it was met and obeyed, and what that is worth."""
    mark, tone = WORTH_MARKS[usage.worth.verdict]
    if usage.claim:
        yield fact("reads", f"{claim_words(usage.claim)} ({_CLAIMED_BY[usage.origin]})")
    elif usage.origin:
        yield fact("reads", "nothing that logs hold (as a person says)", "dim")
    yield fact("loaded", f"in {count(usage.loaded, 'session')}, about {count(usage.tokens, 'token')} each time")
    if usage.claim:
        yield fact(
            "applied", f"in {usage.applied:,} of them: {usage.obeyed:,} obeyed, {usage.ignored:,} ignored it"
        )
    if usage.worth.effect:
        yield effect_fact(usage.worth.effect, "sealed logs" if usage.origin == "learned" else "all logs")
    yield fact("verdict", f"{mark} {usage.worth.verdict}: {usage.worth.why}", tone)
    if usage.worth.tell:
        yield fact("to tell", usage.worth.tell)
    if usage.witness.kind:
        yield fact("witness", f"{usage.witness.kind}: {usage.witness.what}")
    else:
        yield fact("witness", f"none yet; {usage.witness.what}", "dim")
