"""Stale knowledge: what skills know, held against the sources of a project as they are now."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from events.errors import RefusedError
from registry.skill_md.skill_files import is_knowledge
from registry.state.capsule import is_skill_name

if TYPE_CHECKING:
    from pathlib import Path

    from registry.query.library import Library
    from strategies.knowledge.corpus import Corpus, SourceState


def known_corpus(library: Library, name: str) -> Corpus | None:
    """Read the knowledge of a skill, None where it has none; raises RefusedError where its list is not ours."""
    blobs = {file.entry.path: file.entry.blob for file in library.capsule(name).files}
    if not any(map(is_knowledge, blobs)):
        return None
    from strategies.knowledge.corpus import SOURCES_FILE, read_corpus  # noqa: PLC0415 - for skills that know something

    body = library.log.get_blob(blobs[SOURCES_FILE]) if SOURCES_FILE in blobs else None
    return None if body is None else read_corpus(body)


def known_corpora(library: Library) -> dict[str, Corpus]:
    """Read the knowledge of every live skill that has some; raises RefusedError as above."""
    corpora = {name: known_corpus(library, name) for name in sorted(library.live_names()) if is_skill_name(name)}
    return {name: corpus for name, corpus in corpora.items() if corpus is not None}


def source_states(corpus: Corpus, project: Path) -> list[SourceState]:
    """Compare what is kept with the sources of a project as they are; one that cannot be read counts as gone."""
    from strategies.knowledge.corpus import MOST_SOURCE_BYTES, states_of  # noqa: PLC0415 - as above

    def read(source: str) -> bytes | None:
        place = project / source
        with suppress(OSError):
            if place.is_file():
                with place.open("rb") as stream:  # none that was kept is longer
                    return stream.read(MOST_SOURCE_BYTES + 1)
        return None

    return states_of(corpus, read)


def stale_sources(library: Library, name: str, project: Path) -> list[SourceState]:
    """List the sources of a skill that changed since it read them, or are gone; none where its list is not."""
    with suppress(RefusedError):
        corpus = known_corpus(library, name)
        return [state for state in source_states(corpus, project) if state.state != "current"] if corpus else []
    return []
