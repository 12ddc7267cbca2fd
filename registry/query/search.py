"""Searching: where a text is, or was, in lines, reasons, signals and claims.

The log is scanned, newest event first, until enough was found: an event whose bytes do not hold the text is passed
over unread (10,000 versions in a third of a second). There is no index that could fall behind the log.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

from events.errors import UsageError
from events.types.candidate_events import CandidateProposed
from events.types.registry_events import SignalRaised
from registry.projection import time_travel
from registry.query.provenance import brought_lines, origins_of
from registry.skill_md.render import projected_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from events.store.envelope import Envelope
    from events.types.frozen import Frozen
    from registry.query.library import Library
    from registry.state.capsule import Capsule
    from registry.state.line import ProjectedLine

    AtVersion = Callable[[str, int], Capsule | None]

Kind = Literal["line", "proposal", "reason", "signal", "claim"]
KINDS: Final[tuple[Kind, ...]] = ("line", "proposal", "reason", "signal", "claim")

_BORN: Final = ("CapsuleImported", "CapsuleBorn", "CapsuleDescribed", "GeneBorn", "GeneMutated")
"""What brings lines; a revert brings lines back with the origin they had."""
REASONED: Final = (
    *("CandidateProposed", "CandidateReviewed", "PromotionReviewed", "LineTierChanged"),
    *("CandidatePromoted", "CandidateRejected", "CandidateHeld", "AuditJudged", "DescriptionJudged"),
    *("PresetSwitched", "RolloutsReviewed", "SessionsReviewed", "AdviceGiven", "EvidenceErased", "SignalRaised"),
    *("GeneProtected", "GeneReleased", "GeneRetired", "TrialEnded", "SkillModelsCompared"),
    *("CapsuleReverted", "AliasMoved", "AliasDeployed", "VersionRetired", "CapsuleRetired", "CapsuleRestored"),
    *("ExperimentProposed", "ExperimentEnded", "ExperimentUndone"),
)
"""What gives reasons or texts beside the lines of a skill; `CycleFinished` repeats those of its candidates."""

_REMEMBERED: Final = 256
"""Versions of skills kept while the past is looked through: of a few hundred lines each."""

MOST_CHARS: Final = 200
"""A longer text to look for is a slip (guess)."""


@dataclass(frozen=True, slots=True)
class Match:
    """A place that holds the text.

    `position` is that of the event that holds it. For a line, `version` and `line` are where it is now, or
    where it first stood (line 0 where no version kept it), and `gone_since` the version that no longer has it, 0
    while it lives. `candidate` is the id of the one it comes from, "" for other events; for that text,
    `version` is what it became, 0 where it became none. `fingerprint` is that of a signal.
    """

    kind: Kind
    text: str
    position: int
    at: str
    skill: str = ""
    version: int = 0
    line: int = 0
    gone_since: int = 0
    candidate: str = ""
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for: a text whatever its case, or a regular expression; in which kinds, and in which skill."""

    text: str
    regex: bool = False
    kinds: tuple[Kind, ...] = KINDS
    skill: str = ""

    def tester(self) -> Callable[[str], bool]:
        """Give what tells whether a text holds it; raises UsageError for an expression that is none."""
        if not self.text or len(self.text) > MOST_CHARS:
            raise UsageError(f"look for 1 to {MOST_CHARS} characters", hint="germline search TEXT")
        if not self.regex:
            wanted = self.text.casefold()
            return lambda text: wanted in text.casefold()
        try:
            pattern = re.compile(self.text, re.IGNORECASE)
        except re.error as error:
            raise UsageError(
                f"{self.text!r} is no regular expression: {error}",
                hint="without --regex it is looked for as it is",
            ) from error
        return lambda text: pattern.search(text) is not None

    def may_hold(self) -> Callable[[bytes], bool]:
        """Give what tells from an event's bytes alone that it cannot hold the text: cheap, and never wrong."""
        if self.regex:
            return lambda _: True
        wanted = json.dumps(self.text, ensure_ascii=False)[1:-1].casefold()  # as the payload has it
        return lambda payload: wanted in payload.decode(errors="replace").casefold()


def search(library: Library, query: Query, limit: int) -> list[Match]:
    """List places that hold the text, at most `limit`: live lines first, then the past, newest first.

    Raises: UsageError for a text or an expression that cannot be looked for; NotFoundError for an unknown skill.
    """
    names = [query.skill] if query.skill else library.names()
    capsules = [library.capsule(name) for name in names]
    test = query.tester()
    lines = _live(library, capsules, test) if "line" in query.kinds else iter(())
    matches = list(islice(lines, limit))
    if len(matches) < limit:
        matches += islice(_past(library, query, test, capsules), limit - len(matches))
    return matches


def _live(library: Library, capsules: Iterable[Capsule], test: Callable[[str], bool]) -> Iterator[Match]:
    for capsule in capsules:
        lines = [line for line in projected_lines(capsule) if test(line.text)]
        origins = origins_of(library, capsule, lines)
        for line in lines:
            yield _line(capsule.name, capsule.version, line, origins[line.origin].at)


def _line(skill: str, version: int, line: ProjectedLine, at: str) -> Match:
    text = line.text.rstrip("\r\n")
    return Match("line", text, line.origin, at, skill=skill, version=version, line=line.number)


def _past(
    library: Library, query: Query, test: Callable[[str], bool], capsules: Iterable[Capsule]
) -> Iterator[Match]:
    """Look through the events, newest first, for what no live line showed."""
    at_version = lru_cache(_REMEMBERED)(partial(time_travel.at_version, library.log))
    live = {(capsule.name, line.origin, line.text) for capsule in capsules for line in projected_lines(capsule)}
    may_hold = query.may_hold()
    types = (*(_BORN if "line" in query.kinds else ()), *(REASONED if query.kinds != ("line",) else ()))
    for envelope in library.log.read(types=types, newest_first=True):
        if not may_hold(envelope.payload) or not envelope.is_known:
            continue
        event = envelope.event
        if query.skill and getattr(event, "capsule", "") != query.skill:
            continue
        if envelope.type in _BORN:
            yield from _gone(
                library, envelope, [text for text in brought_lines(event) if test(text)], live, at_version
            )
        else:
            matches = (match for match in _said(envelope, event) if match.kind in query.kinds and test(match.text))
            yield from (
                _with_promotion(library, match)
                for match in matches
                if match.kind != "proposal" or _never_live(library, match)
            )


def _gone(
    library: Library, envelope: Envelope, texts: list[str], live: set[tuple[str, int, str]], at_version: AtVersion
) -> Iterator[Match]:
    """Place the lines that an event brought, and that are no longer there."""
    skill: str = getattr(envelope.event, "capsule")  # noqa: B009 - events of several kinds
    past = [text for text in dict.fromkeys(texts) if (skill, envelope.position, text) not in live]
    if not past:
        return
    after = time_travel.at_position(library.log, skill, envelope.position)
    made = (after.version if after else 0) + 1  # events of a version come before the one that makes it
    first = at_version(skill, made)
    lines = (
        {line.text: line for line in projected_lines(first) if line.origin == envelope.position} if first else {}
    )
    for text in past:
        line = lines.get(text)
        if line is None:
            yield Match("line", text.rstrip("\r\n"), envelope.position, envelope.at, skill=skill, gone_since=made)
        else:
            gone = _gone_since(library, skill, made, line, at_version)
            yield replace(_line(skill, made, line, envelope.at), gone_since=gone)


def _gone_since(library: Library, skill: str, version: int, line: ProjectedLine, at_version: AtVersion) -> int:
    """Find the version from which on a line that stood in `version` is missing up to now.

    Only going back brings a line back: behind the last revert that has it, it left once, and halving finds when.
    """
    outline = library.outline(skill)
    back = (
        made for made, _ in reversed(outline.reverts) if made > version and _has(at_version(skill, made), line)
    )
    there, missing = next(back, version), outline.version
    while missing - there > 1:
        middle = _between(there, missing)
        there, missing = (middle, missing) if _has(at_version(skill, middle), line) else (there, middle)
    return missing


def _between(low: int, high: int) -> int:
    """Pick the roundest number between two, in binary: the versions looked at are the same for many lines."""
    size = 1 << (low ^ (high - 1)).bit_length()
    while size > 1:
        size >>= 1
        middle = low // size * size + size
        if middle < high:
            return middle
    return low + 1


def _has(capsule: Capsule | None, line: ProjectedLine) -> bool:
    """Tell whether a version has a line, by its identity and with this text."""
    if capsule is None:
        return False
    gene = capsule.gene(line.gene)
    lines = gene.lines if gene else () if line.gene else capsule.front
    return any(known.id == line.id and known.text == line.text for known in lines)


def _said(envelope: Envelope, event: Frozen) -> Iterator[Match]:
    """List what an event says beside the lines of a skill."""
    position, at = envelope.position, envelope.at
    skill, candidate = getattr(event, "capsule", ""), getattr(event, "candidate", "")
    reasons = (getattr(event, "reason", ""), *getattr(event, "reasons", ()))
    for reason in dict.fromkeys(filter(None, reasons)):
        yield Match("reason", reason, position, at, skill=skill, candidate=candidate)
    if isinstance(event, SignalRaised):
        name = event.template or event.action
        yield Match("signal", name, position, at, fingerprint=event.fingerprint)
    if isinstance(event, CandidateProposed):
        for text in event.new_lines:
            yield Match("proposal", text.rstrip("\r\n"), position, at, skill=skill, candidate=candidate)
        for claim in event.claims:
            terms = claim.model_dump(exclude_none=True, exclude_defaults=True)
            text = " ".join(f"{name}={value}" for name, value in terms.items())
            yield Match("claim", f"{claim.kind} {text}", position, at, skill=skill, candidate=candidate)


def _never_live(library: Library, match: Match) -> bool:
    """Tell whether a proposed line never became one of the skill: else it is found as a line."""
    candidate = library.candidate(match.candidate)
    return candidate is None or candidate.verdict != "promote"


def _with_promotion(library: Library, match: Match) -> Match:
    """Say which version a candidate became."""
    candidate = library.candidate(match.candidate) if match.candidate else None
    return replace(match, version=candidate.version or 0) if candidate else match
