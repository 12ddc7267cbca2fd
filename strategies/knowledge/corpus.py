"""The corpus of a skill: sources cut into passages, packed as its files; the same sources give the same bytes."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pydantic import ValidationError

from events.errors import RefusedError
from events.types.frozen import Frozen
from events.types.parts import FileEntry
from registry.evidence.personal_details import personal_data_in
from registry.evidence.redaction import redact
from registry.skill_md.folder import SkillFile
from registry.skill_md.front_matter import described
from registry.skill_md.invisible_chars import hidden_characters
from registry.skill_md.navigation_index import Uncovered, index_of, reindexed
from registry.skill_md.skill_files import KNOWLEDGE_FOLDER, KNOWLEDGE_INDEX, KNOWLEDGE_LOOKUP, is_knowledge
from registry.skill_md.text import Section, headings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from registry.skill_md.folder import SkillFolder

SOURCES_FILE: Final = f"{KNOWLEDGE_FOLDER}sources.json"
MOST_SOURCE_BYTES: Final = 1024 * 1024
"""A larger source is left out: a table of data is no reference (a guess)."""
LEAST_PASSAGE_CHARS: Final = 120
MOST_PASSAGE_CHARS: Final = 1_500
"""A shorter passage takes in the next one, a longer one is cut at a line (both guesses)."""
_SECTION: Final = "Knowledge"
_HOW_TO_LOOK_UP: Final = (
    f'Look facts up before relying on them: `python3 {KNOWLEDGE_LOOKUP} "the question"`, from the skill folder.',
    'It prints the passages that answer, each with its source; "not covered" where no source has the answer;',
    '"changed" where the source no longer says this.',
)
_NAMED_SOURCES: Final = 8
_TITLE_CHARS: Final = 60
_MODE: Final = 0o644
_MARKDOWN: Final = (".md", ".mdx", ".markdown")


class Passage(Frozen):
    """Lines of a kept copy that belong together, counted from 1, and the hash of their text."""

    title: str
    first: int
    last: int
    sha256: str


class CorpusSource(Frozen):
    """A source as it was read: its path from the project and in the skill, the hash of its bytes, the day."""

    source: str
    path: str
    sha256: str
    read: str
    passages: tuple[Passage, ...]


class LeftOut(Frozen):
    """A source of which nothing is kept, and why."""

    source: str
    why: str


class Corpus(Frozen):
    """What the knowledge of a skill holds, by source."""

    sources: tuple[CorpusSource, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


class KeptCopy(NamedTuple):
    """A source that was read: its row, its text free of secrets and personal data, and what was taken out."""

    source: CorpusSource
    text: str
    removed: tuple[str, ...]


class SourceState(NamedTuple):
    """How a source is now: which kept passages it no longer has, all of them where it is gone."""

    source: CorpusSource
    state: Literal["current", "changed", "missing"]
    stale: tuple[Passage, ...]


def keep(source: str, raw: bytes, day: str) -> KeptCopy | LeftOut:
    """Read a source: what hides, secrets and personal data are taken out before anything is kept."""
    if len(raw) > MOST_SOURCE_BYTES:
        return LeftOut(source=source, why=f"{len(raw):,} bytes, {MOST_SOURCE_BYTES:,} are kept at most")
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return LeftOut(source=source, why="no text")
    if "\0" in text:
        return LeftOut(source=source, why="no text")
    hidden = hidden_characters(text)
    for char in {chr(place.code) for place in hidden}:
        text = text.replace(char, "")
    text, taken_out = redact(text, personal_data_in([text]))
    if not text.strip():
        return LeftOut(source=source, why="empty")
    rules = {place.rule for place in taken_out} | ({"hidden-characters"} if hidden else set())
    kept = CorpusSource(
        source=source,
        path=KNOWLEDGE_FOLDER + "/".join(part for part in source.split("/") if part not in {"", ".."}),
        sha256=sha256(raw).hexdigest(),
        read=day,
        passages=tuple(passages_of(text, is_markdown=source.lower().endswith(_MARKDOWN))),
    )
    return KeptCopy(kept, text, tuple(sorted(rules)))


def passages_of(text: str, *, is_markdown: bool = False) -> Iterator[Passage]:
    """Cut a text at headings, blank lines and the ends of statements; only blank lines are in none."""
    lines = text.split("\n")
    titles = dict(headings(text)) if is_markdown else {}
    title = ""
    for first, last in _joined(lines, _blocks(lines, titles), titles):
        title = titles.get(first, title)
        body = "\n".join(lines[first:last])
        shown = title or next(line for line in lines[first:last] if line.strip())
        yield Passage(
            title=" ".join(shown.split())[:_TITLE_CHARS],
            first=first + 1,
            last=last,
            sha256=sha256(body.encode()).hexdigest(),
        )


def _blocks(lines: Sequence[str], titles: Mapping[int, str]) -> Iterator[tuple[int, int]]:
    """Cut lines into blocks without blank ones, as ranges that exclude their end."""
    start: int | None = None
    size = 0
    for at, line in enumerate(lines):
        ends = not line.strip() or at in titles or _begins_statement(lines, at)
        if start is not None and (ends or size + len(line) > MOST_PASSAGE_CHARS):
            yield start, at
            start = None
        if start is None and line.strip():
            start, size = at, 0
        size += len(line)
    if start is not None:
        yield start, len(lines)


def _begins_statement(lines: Sequence[str], at: int) -> bool:
    """Tell whether a line that is not indented follows the end of a statement, as in SQL."""
    return at > 0 and lines[at - 1].rstrip().endswith(";") and lines[at][:1].isalpha()


def _joined(
    lines: Sequence[str], blocks: Iterator[tuple[int, int]], titles: Mapping[int, str]
) -> list[tuple[int, int]]:
    """Put a block that is too short to say anything with the next one, unless a heading begins that."""
    joined: list[tuple[int, int]] = []
    for first, last in blocks:
        before = joined[-1] if joined else None
        if before and first not in titles and _size(lines, *before) < LEAST_PASSAGE_CHARS:
            joined[-1] = (before[0], last)
        else:
            joined.append((first, last))
    return joined


def _size(lines: Sequence[str], first: int, last: int) -> int:
    return sum(len(line) for line in lines[first:last])


def corpus_of(skill: SkillFolder) -> Corpus:
    """Read what the knowledge of a skill holds; raises RefusedError where its list was damaged by hand."""
    body = next((file.content for file in skill.files if file.entry.path == SOURCES_FILE), None)
    return Corpus() if body is None else read_corpus(body)


def read_corpus(body: bytes) -> Corpus:
    """Read the list of sources that is kept with a skill; raises RefusedError where it is none."""
    try:
        return Corpus.model_validate_json(body)
    except ValidationError as error:
        what = f"{SOURCES_FILE} is no list of sources"
        raise RefusedError(what, hint="germline project SKILL --discard") from error


def with_sources(corpus: Corpus, read: Sequence[KeptCopy | LeftOut]) -> Corpus:
    """Put sources into a corpus, each in the place of what was kept of it; one that is the same keeps its day.

    Raises: RefusedError where two sources would be kept under one path.
    """
    before = {source.source: source for source in corpus.sources}
    named = {each.source.source if isinstance(each, KeptCopy) else each.source for each in read}
    sources = {name: source for name, source in before.items() if name not in named}
    left_out = {each.source: each for each in corpus.left_out if each.source not in named}
    for each in read:
        if isinstance(each, LeftOut):
            left_out[each.source] = each
            continue
        kept, old = each.source, before.get(each.source.source)
        sources[kept.source] = old if old and old.sha256 == kept.sha256 else kept
    by_path: dict[str, str] = {}
    for source in sources.values():
        if (other := by_path.setdefault(source.path, source.source)) != source.source:
            what = f"{other} and {source.source} would both be kept as {source.path}"
            raise RefusedError(what, hint=f"germline knowledge remove SKILL {other} --reason TEXT")
    return Corpus(
        sources=tuple(sources[name] for name in sorted(sources)),
        left_out=tuple(left_out[name] for name in sorted(left_out)),
    )


def without_sources(corpus: Corpus, names: Collection[str]) -> Corpus:
    """Take sources out of a corpus."""
    return Corpus(
        sources=tuple(source for source in corpus.sources if source.source not in names),
        left_out=tuple(each for each in corpus.left_out if each.source not in names),
    )


def with_corpus(skill: SkillFolder, corpus: Corpus, copies: Mapping[str, str], script: bytes) -> SkillFolder:
    """Give a skill this knowledge in the place of what it had: copies, list, index, script and a section.

    Shapes: `copies` are texts by their path in the skill, of sources that it has not yet; one without a source
    has no section and no files left. Raises: RefusedError where a copy that it lists is not there.
    """
    present = {file.entry.path: file.content for file in skill.files}
    present |= {path: text.encode() for path, text in copies.items()}
    paths = [source.path for source in corpus.sources]
    if missing := [path for path in paths if path not in present]:
        raise RefusedError(f"{missing[0]} is not there, but {SOURCES_FILE} lists it", hint="germline status")
    kept = {path: present[path] for path in paths}
    others = tuple(file for file in skill.files if not is_knowledge(file.entry.path))
    files = _files(skill, corpus, kept, script) if kept else {}
    packed = tuple(_file(path, content) for path, content in sorted(files.items()))
    changed = replace(
        skill,
        sections=_sections(skill, corpus),
        files=tuple(sorted((*others, *packed), key=lambda file: file.entry.path)),
    )
    return reindexed(changed, (file.entry for file in skill.files))


def _files(skill: SkillFolder, corpus: Corpus, kept: Mapping[str, bytes], script: bytes) -> dict[str, bytes]:
    index = index_of(kept, described(skill.front))
    uncovered = (Uncovered(each.source, each.why) for each in corpus.left_out)
    index = replace(index, uncovered=(*index.uncovered, *uncovered))
    return {
        **kept,
        SOURCES_FILE: f"{corpus.model_dump_json(indent=1)}\n".encode(),
        KNOWLEDGE_INDEX: "\n".join(["# What the knowledge covers", "", *index.lines, ""]).encode(),
        KNOWLEDGE_LOOKUP: script,
    }


def _file(path: str, content: bytes) -> SkillFile:
    entry = FileEntry(path=path, blob=sha256(content).hexdigest(), mode=_MODE, size_bytes=len(content))
    return SkillFile(entry, content)


def _sections(skill: SkillFolder, corpus: Corpus) -> tuple[Section, ...]:
    """Put the section that leads to the lookup into a skill, in the place of the one it has."""
    own = next((at for at, section in enumerate(skill.sections) if _leads_to_lookup(section)), None)
    before, after = (skill.sections, ()) if own is None else (skill.sections[:own], skill.sections[own + 1 :])
    if not corpus.sources:
        if own and not after and not before[-1].lines[-1].strip():  # the line that set it off goes with it
            before = (*before[:-1], before[-1]._replace(lines=before[-1].lines[:-1]))
        return (*before, *after)
    ending = "\r\n" if "\r\n" in skill.text else "\n"
    if own is None and before and before[-1].lines:
        *others, last = before[-1].lines
        gap = () if not last.strip() else (ending,)
        closed = last if last.endswith("\n") else last + ending
        before = (*before[:-1], before[-1]._replace(lines=(*others, closed, *gap)))
    gap = (ending,) if after else ()
    lines = (*(f"{line}{ending}" for line in _lines(corpus)), *gap)
    return (*before, Section(_SECTION, lines), *after)


def _leads_to_lookup(section: Section) -> bool:
    return section.title == _SECTION and any(KNOWLEDGE_LOOKUP in line for line in section.lines)


def _lines(corpus: Corpus) -> list[str]:
    names = [source.source for source in corpus.sources]
    more = f" and {len(names) - _NAMED_SOURCES} more" if len(names) > _NAMED_SOURCES else ""
    sources = f"Sources: {', '.join(names[:_NAMED_SOURCES])}{more}. {KNOWLEDGE_INDEX} says which file holds what."
    return [f"## {_SECTION}", "", *_HOW_TO_LOOK_UP, sources]


def states_of(corpus: Corpus, read: Callable[[str], bytes | None]) -> list[SourceState]:
    """Compare what is kept with the sources as they are; `read` gives None for one that is gone."""
    states = []
    for source in corpus.sources:
        raw = read(source.source)
        if raw is None:
            states.append(SourceState(source, "missing", source.passages))
        elif sha256(raw).hexdigest() == source.sha256:
            states.append(SourceState(source, "current", ()))
        else:
            now = keep(source.source, raw, source.read)
            texts = {passage.sha256 for passage in now.source.passages} if isinstance(now, KeptCopy) else set()
            stale = tuple(passage for passage in source.passages if passage.sha256 not in texts)
            states.append(SourceState(source, "changed", stale))
    return states
