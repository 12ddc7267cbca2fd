"""Settled regressions: those whose version was taken back since, so that nothing is left to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.registry_events import SignalRaised
    from registry.library import Library


REGRESSION: Final = "regression"
"""The kind of signal that is about a version which made things worse."""


def version_about(signal: SignalRaised) -> tuple[str, int] | None:
    """Tell which version of which skill a regression is about; None for other signals, and other names."""
    skill, _, version = signal.action.rpartition("@")
    return (skill, int(version)) if signal.kind == REGRESSION and version.isdecimal() else None


def settled(library: Library, signals: Iterable[SignalRaised]) -> frozenset[str]:
    """Name the settled regressions among signals, by fingerprint."""
    about = {one.fingerprint: found for one in signals if (found := version_about(one))}
    names = set(library.names()) if about else set()
    outlines = {skill: library.outline(skill) for skill, _ in about.values() if skill in names}
    return frozenset(
        fingerprint
        for fingerprint, (skill, version) in about.items()
        if skill in outlines and not outlines[skill].is_live(version)
    )
