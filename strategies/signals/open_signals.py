"""Open signals, which no live claim answers and no reverted version settled, and the episodes that show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.claims import After, AfterError, Before, Replace
from strategies.claims.applicability import live_claims, matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.types.claims import Claim
    from events.types.registry_events import SignalRaised
    from registry.query.library import Library
    from registry.state.capsule import Capsule
    from strategies.episodes.episode import EpisodeRecord


REPEATED_WISH: Final = "repeated_wish"
"""The kind of signal of what a person says in several sessions."""
REGRESSION: Final = "regression"
"""The kind of signal that is about a version which made things worse."""
WIDE_DESCRIPTION: Final = "wide_description"
NARROW_DESCRIPTION: Final = "narrow_description"
"""The kinds of signal that are about a description by which a skill is loaded too often, and too seldom."""
_ABOUT_A_VERSION: Final = frozenset({REGRESSION, WIDE_DESCRIPTION, NARROW_DESCRIPTION})


def version_about(signal: SignalRaised) -> tuple[str, int] | None:
    """Tell which version of which skill a signal is about; None for other signals, and other names."""
    skill, _, version = signal.action.rpartition("@")
    return (skill, int(version)) if signal.kind in _ABOUT_A_VERSION and version.isdecimal() else None


def described_in(capsule: Capsule) -> int:
    """Give the version in which a skill got the description that it has."""
    return max((line.version for line in capsule.front), default=1)


def settled(library: Library, signals: Iterable[SignalRaised]) -> frozenset[str]:
    """Name the signals about a version that was taken back since, or a description that has changed."""
    about = [(signal, version) for signal in signals if (version := version_about(signal))]
    names = set(library.names()) if about else set()
    return frozenset(
        signal.fingerprint
        for signal, (skill, version) in about
        if skill in names
        and not (
            library.outline(skill).is_live(version)
            if signal.kind == REGRESSION
            else described_in(library.capsule(skill)) == version
        )
    )


def taken(library: Library, signals: Iterable[SignalRaised]) -> frozenset[str]:
    """Name the signals that a live line answers without a claim about their error: a wish, and what goes first."""
    live = [answer for answer in library.candidate_outlines() if answer.version and not answer.taken_back]
    lines, first = ({each.fingerprint for each in some} for some in (live, (e for e in live if e.goes_first)))
    return frozenset(
        signal.fingerprint
        for signal in signals
        if signal.fingerprint in (lines if signal.kind == REPEATED_WISH else first)
    )


def answers(live: Iterable[Claim], signal: SignalRaised) -> bool:
    """Tell whether live claims answer a signal: one about its error, or one about the very action it names.

    What calls for innovation is about more than one action: no single claim answers it.
    """
    if signal.template:
        return any(
            isinstance(claim, (AfterError, Replace)) and matches(claim.template, signal.template) for claim in live
        )
    if signal.calls_for == "innovate":
        return False
    about = (claim for claim in live if isinstance(claim, After | Before))
    return bool(signal.action) and any(claim.action == signal.action for claim in about)


def open_among(library: Library, signals: Sequence[SignalRaised]) -> frozenset[str]:
    """Name the open signals, by fingerprint: those that no live claim of any skill answers, and no line taken."""
    over = settled(library, signals) | taken(library, signals)
    live = [claim for name in library.live_names() for claim in live_claims(library.capsule(name))]
    return frozenset(
        signal.fingerprint for signal in signals if signal.fingerprint not in over and not answers(live, signal)
    )


ABOUT_A_SKILL: Final = _ABOUT_A_VERSION | {"burn_rate", "stagnation"}
"""Kinds whose `action` names a skill or a run, not an action class."""


class Sightings:
    """Where signals show among episodes: by their template, else by one of the actions they are about.

    A signal about neither, or about a skill as a whole, shows in every episode. Each distinct template and action
    of the episodes is compared with a signal once: there are far fewer of them than episodes.
    """

    def __init__(self, records: Sequence[EpisodeRecord]) -> None:
        self._records = records
        self._failing: dict[str, list[int]] = {}
        self._acting: dict[str, list[int]] = {}
        for at, record in enumerate(records):
            for template in {step.template for step in record.steps if step.error}:
                self._failing.setdefault(template, []).append(at)
            for action in {step.action for step in record.steps}:
                self._acting.setdefault(action, []).append(at)

    def of(self, signal: SignalRaised) -> Sequence[EpisodeRecord]:
        """Give the episodes in which a signal shows, in their order."""
        if signal.template:
            places = [ats for template, ats in self._failing.items() if matches(signal.template, template)]
        elif not signal.action or signal.kind in ABOUT_A_SKILL:
            return self._records
        else:
            about = set(signal.action.split(" + "))  # an action profile names several
            places = [ats for action, ats in self._acting.items() if about & {action, action.partition(":")[0]}]
        return [self._records[at] for at in sorted({at for ats in places for at in ats})]
