"""Words: claims, signals and actors as a person reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from events.types.capsule_events import MERGED
from events.types.claims import ANY, CHANGE, CHECK, HAND_IN, LOOK
from events.types.tiers import Tier
from tui.text.numbers import count, share
from tui.text.terminal_text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from events.store.envelope import Envelope
    from events.types.claims import Claim
    from events.types.registry_events import SignalRaised
    from events.types.tiers import SeenFigures
    from registry.state.tiers import LineTier
    from strategies.monitor.disk_edits import DiskEdit
    from strategies.scope.scope import Route
    from tui.text.rows import Tone

VERDICTS: Final[dict[str | None, tuple[str, Tone]]] = {
    "promote": ("✓", "good"),
    "reject": ("✗", "bad"),
    "hold": ("·", "warn"),
    None: ("?", "dim"),
}
"""A marker and a tone for each verdict: none of them is told by colour alone."""

TIER_TONES: Final[dict[LineTier, Tone]] = {
    "seen": "warn",
    "supported": "good",
    "proven": "good",
    "by hand": "",
    "imported": "",
    "none": "bad",
}
"""A tone for each tier; its word tells it without."""
_TIERS: Final = frozenset(get_args(Tier))

VERDICT_WORDS: Final = {"promote": "promoted", "reject": "rejected", "hold": "held", None: "not judged yet"}

_ORDINALS: Final = {1: "1st", 2: "2nd", 3: "3rd"}
MEANINGS: Final = {
    ANY: "any class",
    LOOK: "a look (SHOW, ls, Read and the like)",
    CHANGE: "a change (INSERT, Edit, rm and the like)",
    CHECK: "a check (pytest, make test and the like)",
    HAND_IN: "the end",
}
"""Words for what a claim may name in the place of a class of action."""
_ID_SHOWN: Final = 12
_SHOWN_BESIDE: Final = ("risk difference ", "paired delta ", "scope: ")
"""How the reasons of the gate begin that repeat the figures."""


def claim_words(claim: Claim, *, known: str = "") -> str:
    """Say what a claim asserts about the very next action; a template that is `known` is called "that error"."""
    if claim.kind == "after_error":
        ends = [f"is {action_words(claim.do)}"] if claim.do else []
        ends += [f"is not {action_words(claim.avoid)}"] if claim.avoid else []
        error = "that error" if claim.template == known else f'"{claim.template}"'
        return f"after {error}, the next action {' and '.join(ends)}"
    if claim.kind == "after":
        adjectives = ["failing"] * claim.failing + ["identical"] * claim.identical
        call = " ".join([*adjectives, "call"])
        which = _ORDINALS.get(claim.k, f"{claim.k}th")
        avoided = "the same call" if claim.identical else action_words(claim.avoid)
        return f"after the {which} {call} of {action_words(claim.action)}, the next action is not {avoided}"
    from registry.projection.snapshots import read_claim  # noqa: PLC0415 - what follows knows claims by their classes
    from strategies.claims.catalogue import described  # noqa: PLC0415 - most claims are said without the miner

    return described(read_claim(claim.model_dump(mode="json")))


def action_words(action: str) -> str:
    """Say what a claim names: a class as logs have it, a meaning in words."""
    return MEANINGS.get(action, action)


def signal_name(signal: SignalRaised, harmless: Callable[[str], str] = one_line) -> str:
    """Name what recurs: the error, else the action; a run that called nothing has neither."""
    return harmless(signal.template or signal.action) or "(no action)"


def signal_words(signal: SignalRaised) -> str:
    """Say what recurs, how often, and where."""
    return f'"{signal_name(signal)}", {seen_words(signal)}'


def seen_words(signal: SignalRaised) -> str:
    """Say how often a signal was seen, and where."""
    times = "once" if signal.count == 1 else f"{signal.count:,} times"
    runs = f" of {count(len(signal.runs), 'run')}" if signal.runs else ""
    return f"{times} in {count(signal.episodes, 'episode')}{runs}"


def route_words(route: Route) -> str:
    """Say which skill a signal goes to, and why."""
    from strategies.scope.word_ranking import MARGIN  # noqa: PLC0415 - what a skill says of a route alone needs it

    margin = f"; margin {share(route.margin)}, of {share(MARGIN)} needed" if route.margin is not None else ""
    return f"{route.skill or 'no skill'} · {route.why}{margin}"


def unrouted_words(signals: Sequence[object]) -> str:
    """Say how many signals found no skill, and the command that gives them one."""
    return f"{count(len(signals), 'signal')} of no skill: germline signals assign FINGERPRINT SKILL"


def since_words(signal: SignalRaised, counted: SignalRaised | None) -> str:
    """Say how often a signal showed since it was raised, "" where it did not."""
    more = counted.count - signal.count if counted else 0
    return f"; {more:,} more since" if more > 0 else ""


def further_reasons(reasons: Iterable[str]) -> list[str]:
    """Leave out of a verdict's reasons what is shown beside it as effect and score."""
    return [reason for reason in reasons if not reason.startswith(_SHOWN_BESIDE)]


def hint_words(hints: Sequence[str]) -> str:
    """Say which hints from the world stand for labels."""
    return f"hints from the world stand for labels: {', '.join(hints)}"


DEPLOYED: Final = {
    "projected": "",
    "stale": ", which holds an earlier version: set the name again",
    "edited": ", which was edited by hand: set that aside, and set the name again",
    "missing": ", where it is missing: set the name again",
}
"""What is to be said of a folder that follows a name, by what it holds."""


def scope_words(scope: Sequence[str]) -> str:
    """Name the run configurations that carry a figure."""
    return f"{'run' if len(scope) == 1 else 'runs'} {', '.join(scope)}"


def actor_words(actor: str) -> str:
    """Say who caused an event: a person, a miner without any model, or a model."""
    kind, _, name = actor.partition(":")
    if kind == "person":
        return f"by {name}"
    if kind == "miner":
        return f"mined from logs by {name}, no model"
    if kind == "agent":
        return f"by an agent, over {name}"
    if kind == "audit":
        return f"by an audit, {name}"
    if kind == "proposer":
        return f"proposed by {name}, no model"
    return f"by model {name.partition('#')[0]}" if kind == "model" else f"by {actor}"


def kind_of(envelope: Envelope) -> str:
    """Name what kind of change an event was, in one word: a strategy, or what a person did."""
    event = envelope.event
    if strategy := getattr(event, "strategy", None):
        return str(strategy)
    if getattr(event, "after", None) == MERGED:
        return "merged"
    if getattr(event, "judged", None):
        return "described"
    cause = getattr(event, "cause", "")
    by_hand = {"CapsuleImported": "import", "GeneBorn": "import", "CapsuleReverted": "revert"}
    if cause:
        return {"promotion": "stamp", "adoption": "by hand"}.get(cause, cause)
    return by_hand.get(envelope.type, "by hand")


def gutter_word(kind: str, tier: LineTier) -> str:
    """Say in one word what a line rests on: its tier, else the kind of change that brought it."""
    return tier if tier in _TIERS else kind


def tiers_words(counts: Mapping[Tier, int]) -> str:
    """Say how many lines are in each tier: "2 supported, 1 seen"; "" where none is in any."""
    return ", ".join(f"{number:,} {tier}" for tier, number in reversed(list(counts.items())))


def seen_figures_words(figures: SeenFigures) -> str:
    """Write how often something worked, with its bound, for a column."""
    return f"{figures.worked:,} of {figures.tried:,}, ≥ {figures.low:.0%}" if figures.tried else "not counted"


def file_edit_words(edit: DiskEdit, known: Collection[str]) -> str:
    """Say which files of a skill are not what germline wrote, and which sessions wrote them.

    Files that are not `known` are counted, never named: a name may be made to instruct, and an agent reads this.
    """
    named = [f"{change.path} {change.kind}" for change in edit.changes if change.path in known]
    if others := len(edit.changes) - len(named):
        named.append(f"{count(others, 'other file')} added")
    sessions = dict.fromkeys(writer.session[:_ID_SHOWN] for writer in edit.writers)
    by = f", by session {', '.join(sessions)}" if sessions else ""
    held = "; held back, the files are as germline wrote them" if edit.held else ""
    return f"{edit.skill}: {', '.join(named)}{by}{held}"
