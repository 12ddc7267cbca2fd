"""What became of the commits that sessions made: reverted, kept for a while, merged.

Git is only read, and runs in isolation and without network, whatever the settings of the repository say: it may be
a stranger's.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import NotFoundError, StorageError
from strategies.episodes.world_outcomes import commits_of
from strategies.sandbox.confined_run import ConfinedCommand, SandboxPolicy, installed, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from strategies.episodes.episode import EpisodeRecord, WorldSource

KEPT_FOR_S: Final = 14 * 24 * 3600.0
"""From which age on a commit that nobody reverted counts as kept (a guess)."""
MOST_COMMITS: Final = 20_000
"""Commits that are looked through, the newest: what reverts a commit of a session comes after it."""

_LIMIT_S: Final = 60.0
_POLICY: Final = SandboxPolicy(output_bytes=64 * 1024**2, environment=("PATH",))
_ALONE: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
}
_SETTINGS: Final = (
    *("-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "log.showSignature=false", "-c", "protocol.allow=never"),
)
_FORMAT: Final = "--format=%H%x00%P%x00%ct%x00%D%x00%s%x00%b"
_FIELDS: Final = 6
"""Fields of a commit, between zero bytes, which no message can hold."""
_DEFAULTS: Final = frozenset(
    (
        *("refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master"),
        *("refs/heads/main", "refs/heads/master"),
    )
)
"""What the default branch is called; a local one of another name is known by what the remote calls its head."""
_REVERTS: Final = re.compile(r"This reverts commit ([0-9a-f]{7,40})")
_REVERTED_SUBJECT: Final = re.compile(r'Revert "(.*)"(?: \(#\d+\))?')
_REVERTED_REQUEST: Final = re.compile(r"^Reverts (?:[\w.-]+/[\w.-]+)?#(\d+)$", re.MULTILINE)
"""What the Revert button of GitHub writes of a pull request; squashed, it ends the subject."""


class Commit(NamedTuple):
    """One commit, as git lists it; `made_s` is its commit time, in seconds since 1970."""

    parents: tuple[str, ...]
    made_s: float
    refs: tuple[str, ...]
    subject: str
    body: str


@dataclass(frozen=True)
class CommitHistory:
    """The commits of a repository, newest first, by hash; which are reverted, and which came by a merge."""

    commits: Mapping[str, Commit]
    reverted: frozenset[str] = field(init=False)
    merged: frozenset[str] = field(init=False)
    _names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reverted", frozenset(_reverted(self.commits)))
        object.__setattr__(self, "merged", frozenset(_merged(self.commits)))
        object.__setattr__(self, "_names", tuple(sorted(self.commits)))

    def find(self, abbreviated: str) -> str | None:
        """Give the whole hash of a commit; None where it is not there, or two begin so."""
        place = bisect_left(self._names, abbreviated)
        beginning = [name for name in self._names[place : place + 2] if name.startswith(abbreviated)]
        return beginning[0] if len(beginning) == 1 else None

    def hints(self, record: EpisodeRecord, now_s: float) -> dict[WorldSource, float]:
        """Tell what became of the commits of an episode; nothing where it is not known, or not yet.

        A revert of one of them is a failure. `commit` is no success before all are old enough,
        nor by `merged` before all came into the default branch by a merge; a squashed or rebased branch, and one
        that was never merged, say nothing.
        """
        names = [name for commit in commits_of(record) if (name := self.find(commit))]
        if not names:
            return {}
        hints: dict[WorldSource, float] = {}
        if not self.reverted.isdisjoint(names):
            hints["commit"] = 0.0
        elif all(now_s - self.commits[name].made_s >= KEPT_FOR_S for name in names):
            hints["commit"] = 1.0
        if self.merged.issuperset(names):
            hints["merged"] = 1.0
        return hints


def read_history(folder: Path) -> CommitHistory:
    """Read the history of the repository that a folder lies in.

    Raises: NotFoundError where git is not installed, or there is no repository; IsolationError where this machine
    cannot isolate it; StorageError where git fails.
    """
    command = ConfinedCommand(
        argv=(
            *(installed("git"), "--no-pager", *_SETTINGS, "log", "--all", "--decorate=full", "--date-order"),
            *(f"--max-count={MOST_COMMITS}", "-z", "--no-show-signature", "--encoding=UTF-8", _FORMAT),
        ),
        cwd=folder,
        root=folder,
        writable=(),
        limit_s=_LIMIT_S,
        environment=_ALONE,
    )
    ran = run(command, _POLICY)
    if ran.succeeded:
        return CommitHistory(parsed(ran.stdout))
    why = (ran.stderr.strip().splitlines() or [ran.error or ran.ended])[-1]
    if "not a git repository" in why:
        raise NotFoundError(f"{folder} lies in no git repository", hint="run it in the project of the sessions")
    raise StorageError(f"git log in {folder}: {why}", hint="git log")


def parsed(log: str) -> dict[str, Commit]:
    """Read what git lists, newest first; a last commit that is cut short is left out."""
    commits: dict[str, Commit] = {}
    for name, parents, made_s, refs, subject, body in zip(*[iter(log.split("\0"))] * _FIELDS, strict=False):
        commits[name] = Commit(tuple(parents.split()), float(made_s), _refs(refs), subject, body)
    return commits


def _refs(decoration: str) -> tuple[str, ...]:
    return tuple(part for ref in decoration.split(", ") for part in ref.split(" -> ") if part)


def _reverted(commits: Mapping[str, Commit]) -> set[str]:
    """Find what is reverted and stays so: from the newest on, for what reverts a revert restores."""
    reverted: set[str] = set()
    by_subject: dict[str, list[str]] = {}
    for name, commit in commits.items():
        by_subject.setdefault(commit.subject, []).append(name)
    for name, commit in commits.items():
        if name not in reverted:
            reverted.update(_targets(name, commit, commits, by_subject))
    return reverted


def _targets(
    name: str, commit: Commit, commits: Mapping[str, Commit], by_subject: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Give what a commit reverts: the hashes that it names, else the newest before it of the subject it names.

    Of a pull request that it names by its number: the newest before it that the request was squashed into.
    """
    named = _REVERTS.findall(commit.body)
    if named:
        for hash_ in named:
            yield from [hash_] if hash_ in commits else [full for full in commits if full.startswith(hash_)]
    elif match := _REVERTED_SUBJECT.fullmatch(commit.subject):
        squashed = [f"{match[1]} (#{number})" for number in _REVERTED_REQUEST.findall(commit.body)]
        names = [other for subject in (match[1], *squashed) for other in by_subject.get(subject, ())]
        older = [other for other in names if other != name]
        yield from [other for other in older if commits[other].made_s <= commit.made_s][:1]


def _merged(commits: Mapping[str, Commit]) -> set[str]:
    """Find what came into the default branch by a merge: reached from its end, but not along first parents."""
    ends = [name for name, commit in commits.items() if not _DEFAULTS.isdisjoint(commit.refs)]
    direct: set[str] = set()
    for end in ends:
        name = end
        while name in commits and name not in direct:
            direct.add(name)
            name = next(iter(commits[name].parents), "")
    reached, waiting = set(direct), [parent for name in direct for parent in commits[name].parents]
    while waiting:
        name = waiting.pop()
        if name in commits and name not in reached:
            reached.add(name)
            waiting += commits[name].parents
    return reached - direct
