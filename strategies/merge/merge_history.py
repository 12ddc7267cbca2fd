"""Merging: what another registry made of skills, by its exported log, carried into this one.

A skill that only they changed takes their versions, one by one. One that both changed gets a candidate: what they
changed since the version in common, on ours. Their word makes no line supported here: text comes in as a hand edit
does, and `VersionMerged` keeps what they say of it.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import TYPE_CHECKING, Final, Literal, NamedTuple
from urllib.parse import quote

from events.errors import CheckFailedError, ConflictError, EditError, GermlineError, RefusedError, SkillFormatError
from events.sqlite.log import SqliteLog
from events.types.capsule_events import MERGER, OriginEvent, VersionMerged
from registry.actions.publish import expected_files, keep_files, standing
from registry.decide.commands import MergeVersion
from registry.projection import time_travel
from registry.projection.projector import bring_up_to_date
from registry.query.library import Library
from registry.query.provenance import tier_counts
from registry.query.versions import event_of
from registry.skill_md.disk import FileContent, drift, write_skill
from registry.skill_md.folder import read_skill
from registry.skill_md.instructions import read_instructions
from registry.skill_md.render import expected_hashes, skill_text
from registry.skill_md.skill_files import main_file
from registry.skill_md.text import split_lines
from registry.state.capsule import is_skill_name
from registry.state.three_way import carried_over
from strategies.gate.file_findings import FileChange, findings_in_changes
from strategies.merge.log_folder import file_in_folder, files_named
from strategies.rollouts.compare.handwritten import propose_rewrite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from events.store.envelope import Envelope
    from events.types.capsule_events import CapsuleVersioned
    from registry.registry import Registry
    from registry.skill_md.folder import SkillFolder
    from registry.state.capsule import Capsule
    from strategies.policy.presets import Preset

_SKILLS: Final = "skills"
_REFUSALS: Final = (CheckFailedError, EditError, RefusedError, SkillFormatError)
"""What no version, and no candidate, can hold."""

MergeResult = Literal["new", "version", "candidate", "aside", "known", "left"]


@dataclass(frozen=True, slots=True)
class MergedSkill:
    """What became of a skill of another registry.

    `new` and `version` took its versions, up to `version` here; a `candidate` waits for a person; what was set
    `aside` lies in `place`; `left` was not taken in, for `reason`, and comes again with the next import.
    `folder` is the text that came in, None where none did.
    """

    skill: str
    registry: str
    origin_version: int
    result: MergeResult
    version: int = 0
    candidate: str = ""
    place: str = ""
    reason: str = ""
    folder: SkillFolder | None = None


@dataclass(frozen=True, slots=True)
class MergeTerms:
    """How a log is merged: where its files and copies lie, under which preset, what a person agreed to.

    Copies are written to `aside`, None in a rehearsal. `require_free` raises RefusedError for a place that a new
    skill may not be written to.
    """

    folder: Path
    aside: Path | None
    preset: Preset
    instructing: bool
    require_free: Callable[[Path], object]


class _Version(NamedTuple):
    """A version of the other registry: its event there, and what it says."""

    made: Envelope
    event: CapsuleVersioned
    text: object


def merge_history(registry: Registry, history: Sequence[Envelope], terms: MergeTerms) -> list[MergedSkill]:
    """Carry the skills of another registry's whole history into this one, inside a transaction of the caller's.

    Raises: CorruptLogError where the history does not fold; StorageError.
    """
    with (
        TemporaryDirectory(prefix="germline-merge-") as scratch,
        closing(SqliteLog.open(Path(scratch) / "registry.db", create=True)) as log,
    ):
        log.take_over(history)
        for name in dict.fromkeys(files_named(history)):
            if (body := file_in_folder(terms.folder, name)) is not None:
                log.put_blob(body, kind="file")
        bring_up_to_date(log)
        merge = _Merge(registry, Library(log), history[0].hash, Path(scratch), terms)
        return [merge.skill(name) for name in merge.theirs.names()]


class _Merge:
    """The merge of one other registry: both libraries, and a folder to read their versions from."""

    def __init__(self, registry: Registry, theirs: Library, other: str, scratch: Path, terms: MergeTerms) -> None:
        self.ours = registry
        self.theirs = theirs
        self.other = other
        self.scratch = scratch
        self.terms = terms

    def skill(self, name: str) -> MergedSkill:
        """Take in what they made of one skill."""
        made = list(self.theirs.log.read(stream=f"capsule:{name}", types=("CapsuleVersioned",)))
        nothing = MergedSkill(name, self.other, len(made), "known")
        if name not in self.ours.names():
            is_live = made and not self.theirs.capsule(name).retired
            return self._taken(name, self._versions(name, made), 0) if is_live else nothing
        known = self._known(name)
        if not made or made[-1].hash in known:
            return nothing
        theirs = self._versions(name, made)
        ours = [_says(self.ours.capsule(name, str(at + 1))) for at in range(self._live(name))]
        common = max(_linked(theirs, known), _shared(ours, [version.text for version in theirs]))
        return nothing if common == len(theirs) else self._changed(name, theirs, ours, common)

    def _changed(self, name: str, theirs: Sequence[_Version], ours: Sequence[object], common: int) -> MergedSkill:
        """Take in what they made of a skill since the version in common."""
        result = MergedSkill(name, self.other, len(theirs), "known")
        if self.ours.capsule(name).retired:
            return replace(result, result="left", reason="it is retired here")
        if ours[-1] == theirs[-1].text:
            self._record(theirs[-1], common, "known")
            return result
        if self._is_edited(name):
            why = f"its files were edited by hand: germline adopt {name}, then import the log again"
            return replace(result, result="left", reason=why)
        if common and ours[-1] == theirs[common - 1].text:
            return self._taken(name, theirs, common)
        return self._both_changed(name, theirs[-1], common)

    def _live(self, name: str) -> int:
        return self.ours.outline(name).version

    def _known(self, name: str) -> set[str]:
        """List the versions that are here, by the hash of their event: our own, and those that were merged.

        A candidate whose base went on before anybody decided on it is made once more.
        """
        own, known = set(), set()
        for envelope in self.ours.log.read(stream=f"capsule:{name}", types=("CapsuleVersioned", "VersionMerged")):
            if envelope.type == "CapsuleVersioned":
                own.add(envelope.hash)
                continue
            event = event_of("VersionMerged", envelope)
            candidate = self.ours.candidate(event.candidate) if event.candidate else None
            if candidate is None or candidate.is_decided or candidate.proposed.base_version == self._live(name):
                known.add(event.origin.hash)
        return own | known

    def _versions(self, name: str, made: Sequence[Envelope]) -> list[_Version]:
        texts = (_says(self.theirs.capsule(name, str(number))) for number in range(1, len(made) + 1))
        return [_Version(at, event_of("CapsuleVersioned", at), text) for at, text in zip(made, texts, strict=True)]

    def _is_edited(self, name: str) -> bool:
        """Tell whether a person edited the files; what git brought of their latest version is no edit."""
        if standing(self.ours, name) != "edited":
            return False
        capsule, theirs = self.ours.capsule(name), self.theirs.capsule(name)
        only = main_file(name) if capsule.is_instructions else ""
        return any(
            difference.kind != "mode" for difference in drift(Path(capsule.source), expected_hashes(theirs), only)
        )

    def _taken(self, name: str, theirs: Sequence[_Version], common: int) -> MergedSkill:
        """Take their versions behind the one in common, one by one, up to the first that may not come in."""
        folders: list[SkillFolder] = []
        result = MergedSkill(name, self.other, len(theirs), "version" if common else "new")
        try:
            if not common:
                self._require_place(name)
            for number, version in enumerate(theirs[common:], start=common + 1):
                ours = self.ours.capsule(name) if number > 1 else None
                if ours is not None and _says(ours) == version.text:
                    self._record(version, common, "known")
                    continue
                files = self._files(name, number, ours)
                self._require_reporting(files, ours)
                folder = self._read(name, files)
                keep_files(self.ours.log, folder)
                placed = replace(folder, source=self._place(name) if ours is None else ours.source)
                self.ours.execute(MergeVersion(self._merged(version, common, "version"), placed))
                folders.append(folder)
        except _REFUSALS as refusal:
            return self._refused(theirs[-1], common, refusal)
        return replace(result, version=self._live(name), folder=folders[-1] if folders else None)

    def _both_changed(self, name: str, theirs: _Version, common: int) -> MergedSkill:
        """Propose what they changed since the version in common, on ours."""
        ours = self.ours.capsule(name)
        mine = expected_files(self.ours.log, ours)
        other = self._files(name, theirs.event.version, ours)
        base = self._files(name, common, ours) if common else mine
        result = MergedSkill(name, self.other, theirs.event.version, "candidate", self._live(name))
        try:
            folder = self._read(name, _carried(main_file(name), base, mine, other))
            if folder.text == skill_text(ours) and {file.entry for file in folder.files} == {
                file.entry for file in ours.files
            }:
                self._record(theirs, common, "known")
                return replace(result, result="known")
            keep_files(self.ours.log, folder)
            candidate = self._proposed(name, Path(folder.source), theirs, common)
        except _REFUSALS as refusal:
            return self._refused(theirs, common, refusal)
        self._record(theirs, common, "candidate", candidate)
        return replace(result, candidate=candidate, folder=folder)

    def _proposed(self, name: str, place: Path, theirs: _Version, common: int) -> str:
        """Propose a merged text, and give the candidate's id; that of the same proposal where there was one."""
        tiers = ", ".join(tier_counts(self.theirs, self.theirs.capsule(name))) or "no line with a tier"
        on = f"both changed its version {common}" if common else "no version is in common"
        reason = (
            f"merged from registry {self.other[:8]}: {name}@{theirs.event.version}, made there by "
            f"{theirs.made.actor} on {theirs.made.at[:10]}; verdict there: {theirs.event.cause}, {tiers}; {on}"
        )
        path = place if is_skill_name(name) else place / main_file(name)
        try:
            receipt = propose_rewrite(
                self.ours,
                name,
                path,
                reason=reason,
                strategy="innovate",
                preset=self.terms.preset,
                proposer=MERGER,
            )
        except ConflictError as conflict:
            return conflict.stream.removeprefix("candidate:")
        return receipt.envelopes[0].stream.removeprefix("candidate:")

    def _refused(self, theirs: _Version, common: int, refusal: GermlineError) -> MergedSkill:
        """Leave what may not come in; write down beside the registry what no candidate can hold."""
        name, number = theirs.event.capsule, theirs.event.version
        result = MergedSkill(name, self.other, number, "left", reason=refusal.message)
        if name not in self.ours.names() or isinstance(refusal, _InstructsError):
            return result
        place = ""
        if self.terms.aside is not None:
            copy = self.terms.aside / f"{quote(name, safe='')}@{number}-{theirs.made.hash[:8]}"
            write_skill(copy, self._files(name, number, None))
            place = str(copy)
        self._record(theirs, common, "aside")
        return replace(result, result="aside", place=place, version=self._live(name))

    def _require_reporting(self, files: Mapping[str, FileContent], ours: Capsule | None) -> None:
        """Refuse new lines that give orders to an agent, until a person agreed."""
        known = expected_files(self.ours.log, ours) if ours else {}
        changes = [
            FileChange(path, content.mode, known[path].body if path in known else b"", content.body)
            for path, content in files.items()
        ]
        orders = [finding for finding in findings_in_changes(changes) if finding.level == "quarantine"]
        if orders and not self.terms.instructing:
            first = orders[0]
            raise _InstructsError(f"{first.path}, line {first.line} holds {first.what}: {first.text[:80]!r}")

    def _require_place(self, name: str) -> None:
        place = Path(self.ours.place_here(self._place(name)))
        if not is_skill_name(name):
            if not (place / main_file(name)).is_file():
                raise RefusedError(f"there is no {place / main_file(name)} here")
            place /= main_file(name)
        self.terms.require_free(place)

    def _place(self, name: str) -> str:
        """Name where a new skill goes: a folder of skills as it is there, in the project, else `skills`.

        Their word does not choose a place whose files are run, such as a folder of workflows.
        """
        capsule = time_travel.latest(self.theirs.log, name)
        source = Path(capsule.source if capsule else "")
        if not is_skill_name(name):
            return str(source) if not source.is_absolute() and ".." not in source.parts else "."
        inside = not source.is_absolute() and ".." not in source.parts
        return str(source if inside and source.parts[-2:] == (_SKILLS, name) else Path(_SKILLS) / name)

    def _files(self, name: str, number: int, like: Capsule | None) -> dict[str, FileContent]:
        """Give the files of their version, as an edit of ours would hold them: with the stamp that ours bears."""
        capsule = self.theirs.capsule(name, str(number))
        plain = replace(capsule, stamped=False, encoding="utf-8" if capsule.stamped else capsule.encoding)
        if like is not None:
            plain = replace(plain, stamped=like.stamped, version=like.version)
        return expected_files(self.theirs.log, plain)

    def _read(self, name: str, files: Mapping[str, FileContent]) -> SkillFolder:
        """Read files as those of a folder that somebody imports by hand: by the same rules."""
        place = Path(mkdtemp(dir=self.scratch)) / (name if is_skill_name(name) else "instructions")
        write_skill(place, files)
        if not is_skill_name(name):
            return read_instructions(place / main_file(name), name)
        folder = read_skill(place)
        if folder.name != name:
            raise RefusedError(f"it names itself {folder.name} there")
        return folder

    def _record(
        self, version: _Version, common: int, outcome: Literal["candidate", "aside", "known"], candidate: str = ""
    ) -> None:
        self.ours.execute(MergeVersion(self._merged(version, common, outcome, candidate)))

    def _merged(
        self,
        version: _Version,
        common: int,
        outcome: Literal["version", "candidate", "aside", "known"],
        candidate: str = "",
    ) -> VersionMerged:
        made, event = version.made, version.event
        tiers = tier_counts(self.theirs, self.theirs.capsule(event.capsule, str(event.version)))
        return VersionMerged(
            capsule=event.capsule,
            origin=OriginEvent(
                registry=self.other,
                position=made.position,
                hash=made.hash,
                event_id=made.event_id,
                at=made.at,
                actor=made.actor,
            ),
            origin_version=event.version,
            origin_cause=event.cause,
            origin_tiers=tuple(tiers),
            common_version=common,
            outcome=outcome,
            version=0,
            candidate=candidate,
        )


class _InstructsError(RefusedError):
    """A line gives orders to an agent: a person reads it first."""


def _says(capsule: Capsule) -> tuple[str, frozenset[tuple[str, str, int]]]:
    """Give what a version says, whatever number it bears: its text without a stamp, and the files beside it."""
    files = frozenset((file.entry.path, file.entry.blob, file.entry.mode) for file in capsule.files)
    return skill_text(replace(capsule, stamped=False)), files


def _linked(theirs: Sequence[_Version], known: set[str]) -> int:
    """Return their last version that is here by its identity, 0 where none is."""
    return max((at for at, version in enumerate(theirs, start=1) if version.made.hash in known), default=0)


def _shared(ours: Sequence[object], theirs: Sequence[object]) -> int:
    """Return how many of their first versions are among ours, in order, by what they say."""
    shared = 0
    for text in ours:
        if shared < len(theirs) and text == theirs[shared]:
            shared += 1
    return shared


def _carried(
    main: str, base: Mapping[str, FileContent], ours: Mapping[str, FileContent], theirs: Mapping[str, FileContent]
) -> dict[str, FileContent]:
    """Give our files with what they changed since the base."""

    def merged() -> Iterator[tuple[str, FileContent]]:
        text = carried_over(*(split_lines(files[main].body.decode("utf-8")) for files in (base, ours, theirs)))
        yield main, FileContent("".join(text).encode(), ours[main].mode)
        for path in (ours.keys() | theirs.keys()) - {main}:
            content = (ours if theirs.get(path) == base.get(path) else theirs).get(path)
            if content is not None:
                yield path, content

    return dict(merged())
