"""Packing knowledge into a skill as a candidate, taking it out again as a person's change, and erasing it."""

from __future__ import annotations

from contextlib import suppress
from importlib.resources import files
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import NotFoundError, RefusedError
from events.types.candidate_events import CandidateProposed
from events.types.capsule_events import CapsuleImported, CapsuleReverted, FileChanged
from events.types.registry_events import EvidenceErased
from registry.actions.publish import edited_folder, keep_files, require_unedited
from registry.decide.commands import Adopt, RecordFact
from registry.query.model_prompts import blobs_quoting
from registry.query.signals import erasures_of
from registry.skill_md.skill_files import KNOWLEDGE_INDEX
from strategies.gate.lint import KNOWLEDGE_PACKER
from strategies.knowledge.corpus import (
    SOURCES_FILE,
    KeptCopy,
    corpus_of,
    keep,
    read_corpus,
    with_corpus,
    with_sources,
    without_sources,
)
from strategies.monitor.review import reject
from strategies.rollouts.compare.handwritten import propose_rewrite

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from events.store.protocol import Receipt
    from events.types.parts import FileEntry
    from registry.query.library import Library
    from registry.registry import Registry
    from registry.skill_md.folder import SkillFolder
    from strategies.knowledge.corpus import Corpus, CorpusSource
    from strategies.policy.presets import Preset

_HOLD_FILES: Final = ("CapsuleImported", "CapsuleReverted", "FileChanged", "CandidateProposed")
LOOKUP_SCRIPT: Final = files("strategies.knowledge") / "knowledge_lookup.py"


class PackedKnowledge(NamedTuple):
    """A skill with the knowledge that it would have, and what was read for that."""

    skill: SkillFolder
    corpus: Corpus
    kept: tuple[KeptCopy, ...]


def knowledge_of(library: Library, name: str) -> tuple[SkillFolder, Corpus]:
    """Read a skill as it is projected, and its knowledge.

    Raises: RefusedError for instructions, which have no other files, and where a person edited the files.
    """
    if library.capsule(name).is_instructions:
        what = f"{name} is one file, and knowledge is kept in others"
        raise RefusedError(what, hint="germline knowledge add SKILL PATH --reason TEXT")
    require_unedited(library, name)
    skill = edited_folder(library, name)
    return skill, corpus_of(skill)


def pack(library: Library, name: str, sources: Mapping[str, bytes], day: str) -> PackedKnowledge:
    """Read sources, given by their path from the project, into the knowledge of a skill; writes nothing.

    Raises: RefusedError where none of them can be kept, or the text of one was erased before.
    """
    skill, corpus = knowledge_of(library, name)
    read = tuple(keep(source, raw, day) for source, raw in sorted(sources.items()))
    kept = tuple(each for each in read if isinstance(each, KeptCopy))
    if not kept:
        why = "; ".join(f"{each.source} ({each.why})" for each in read if not isinstance(each, KeptCopy))
        raise RefusedError(f"nothing to keep: {why or 'no file was named'}", hint="name text files")
    copies = {each.source.path: each.text for each in kept}
    packed = with_corpus(skill, with_sources(corpus, read), copies, LOOKUP_SCRIPT.read_bytes())
    named = {file.entry.blob: file.entry.path for file in packed.files}
    for blob, erasure in erasures_of(library, named).items():
        what = f"{named[blob]} holds what was erased on {erasure.at[:10]}: {erasure.reason}"
        raise RefusedError(what, hint="leave that source out")
    return PackedKnowledge(packed, corpus_of(packed), kept)


def propose_knowledge(registry: Registry, packed: PackedKnowledge, *, reason: str, preset: Preset) -> Receipt:
    """Propose packed knowledge: a candidate as any other, unproven until runs or a person decide."""
    return propose_rewrite(
        registry,
        packed.skill.name,
        packed.skill,
        reason=reason,
        strategy="innovate",
        preset=preset,
        proposer=KNOWLEDGE_PACKER,
    )


def remove_knowledge(registry: Registry, name: str, sources: Collection[str]) -> Receipt | None:
    """Take sources out of the live knowledge of a skill, as a person's change; None where it has none of them.

    Raises: NotFoundError where no version and no candidate ever had one of them.
    """
    ever = {source.source for source in _sources_ever(registry, name)}
    skill, corpus = knowledge_of(registry, name)
    live = {source.source for source in corpus.sources} | {each.source for each in corpus.left_out}
    if unknown := [source for source in sources if source not in ever | live]:
        what = f"{name} has no knowledge from {', '.join(unknown)}"
        raise NotFoundError(what, hint=f"germline knowledge list {name}")
    if live.isdisjoint(sources):
        return None
    changed = with_corpus(skill, without_sources(corpus, sources), {}, LOOKUP_SCRIPT.read_bytes())
    with registry.log.transaction():
        keep_files(registry.log, changed)
        return registry.execute(Adopt(changed, keep_claims=True))


def erase_knowledge(registry: Registry, name: str, sources: Collection[str], reason: str) -> Receipt:
    """Erase for good what was ever kept of sources that a skill no longer has, and what quotes it.

    Lists and indexes name headings of sources, so earlier ones go as well; open candidates that hold any of it are
    rejected. What a live version holds stays. `EventLog.scrub` then clears the files.
    """
    copies = {source.path for source in _sources_ever(registry, name) if source.source in sources}
    live = {file.entry.blob for other in registry.live_names() for file in registry.capsule(other).files}
    paths = {*copies, SOURCES_FILE, KNOWLEDGE_INDEX}
    kept = {entry.blob for entry in _entries_ever(registry, name) if entry.path in paths} - live
    kept -= erasures_of(registry, kept).keys()
    texts = [body.decode(errors="replace") for body in registry.log.get_blobs(kept).values()]
    with registry.log.transaction():
        for candidate in registry.candidates():
            held = {file.entry.blob for file in candidate.proposed.files if file.entry}
            if candidate.proposed.capsule == name and not candidate.is_decided and held & kept:
                reject(registry, candidate, f"its knowledge was erased: {reason}")
        for blob in (*kept, *blobs_quoting(registry, [], texts)):
            registry.log.erase_blob(blob)
        return registry.execute(
            RecordFact(tuple(EvidenceErased(evidence=blob, reason=reason) for blob in sorted(kept)))
        )


def _sources_ever(library: Library, name: str) -> Iterator[CorpusSource]:
    """List the sources in every list that a skill, or a candidate for it, has had and that is kept."""
    lists = {entry.blob for entry in _entries_ever(library, name) if entry.path == SOURCES_FILE}
    for body in library.log.get_blobs(lists).values():
        with suppress(RefusedError):  # edited by hand since
            yield from read_corpus(body).sources


def _entries_ever(library: Library, name: str) -> Iterator[FileEntry]:
    """List the files that any version of a skill, or any candidate for it, has had."""
    for envelope in library.log.read(types=_HOLD_FILES):
        event = envelope.event
        if getattr(event, "capsule", "") != name:
            continue
        if isinstance(event, FileChanged | CandidateProposed):
            changes = (event,) if isinstance(event, FileChanged) else event.files
            yield from (change.entry for change in changes if change.entry)
        elif isinstance(event, CapsuleImported | CapsuleReverted):
            yield from event.files
