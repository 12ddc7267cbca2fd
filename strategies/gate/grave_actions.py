"""Grave actions: what no figures promote by themselves, since done wrong it cannot be undone (F4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from events.types.claims import PluginClaim
from strategies.claims.error_directives import tells_what_to_do
from strategies.gate.injection import SHOWN_CHARS, for_a_person, quarantine_rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from events.types.candidate_events import CandidateProposed
    from events.types.claims import Claim
    from strategies.gate.file_findings import FileChange
    from strategies.gate.rule import Rule

_WORDS: Final[Mapping[str, str]] = {
    word: what
    for what, words in {
        "installs or fetches code": "install reinstall npx uvx pipx bunx dlx curl wget",
        "deletes": "delete remove rm rmdir unlink destroy drop truncate purge wipe erase shred prune clean reset "
        "uninstall mkfs dd",
        "publishes": "publish push upload release deploy twine",
        "switches a check off": "disable disabled bypass skip override unsafe dangerously ignore noverify",
        "needs more rights, or force": "sudo su doas force chmod chown grant",
    }.items()
    for word in words.split()
}
_CHECKS: Final = frozenset(
    (
        *("test", "tests", "pytest", "tox", "jest", "vitest", "check", "checks", "lint", "ruff", "mypy"),
        *("verify", "validate", "audit", "scan", "review", "confirm", "backup"),
    )
)
"""What a line may not ask to leave out without a person."""
_PARTS: Final = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")


def grave(action: str) -> str:
    """Say what is grave about an action class, "" for nothing: by the words of its tool and its head."""
    return next((_WORDS[part] for part in _parts(action) if part in _WORDS), "")


def _parts(action: str) -> list[str]:
    return [part.lower() for part in _PARTS.split(action)]


def person_rules(proposed: CandidateProposed, files: Sequence[FileChange] = ()) -> tuple[Rule, Rule]:
    """Ask for a person's word on what a candidate carries and on what it asks for, whatever it scored."""
    return quarantine_rule(proposed, files), _grave_rule(proposed)


def _grave_rule(proposed: CandidateProposed) -> Rule:
    """Ask that no line wants a grave action, nor follows an error text that tells to do one."""
    warnings = tuple(dict.fromkeys((*_asked_for(proposed.claims), *_told(proposed))))
    asked = "nothing that installs, deletes, publishes, forces or switches a check off"
    return for_a_person("grave actions", warnings, "none", asked=asked)


def _asked_for(claims: tuple[Claim, ...]) -> Iterator[str]:
    for claim in claims:
        avoid = getattr(claim, "avoid", None) or ""
        if not _CHECKS.isdisjoint(_parts(avoid)):
            yield f"it asks to leave out {avoid!r}, which looks for mistakes"
        terms = claim.terms if isinstance(claim, PluginClaim) else ()
        for action in (getattr(claim, "do", None), *(str(term) for _, term in terms)):
            if action and (what := grave(action)):
                yield f"it asks for {action!r}, which {what}"


def _told(proposed: CandidateProposed) -> Iterator[str]:
    for part in (*proposed.claims, *proposed.triggers):
        template = getattr(part, "template", "")
        if template and tells_what_to_do(template):
            yield f"the error text tells what to do: {template[:SHOWN_CHARS]!r}"
