"""Every log format that is known, and which of them a file is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from events.errors import NotFoundError
from strategies.files.log_file import HEAD_BYTES
from strategies.logs.formats.action_observation import ActionObservationReader
from strategies.logs.formats.atif import AtifReader
from strategies.logs.formats.chat import ChatReader
from strategies.logs.formats.claude_code import ClaudeCodeReader
from strategies.logs.formats.claude_stream import ClaudeStreamReader
from strategies.logs.formats.codex import CodexReader
from strategies.logs.formats.coding_agents.copilot_cli import CopilotCliReader
from strategies.logs.formats.coding_agents.copilot_store import CopilotStoreReader
from strategies.logs.formats.coding_agents.cursor import CursorReader
from strategies.logs.formats.coding_agents.cursor_store import CursorStoreReader
from strategies.logs.formats.coding_agents.gemini_cli import GeminiCliReader
from strategies.logs.formats.coding_agents.opencode import OpenCodeReader
from strategies.logs.formats.coding_agents.pi_agent import PiReader
from strategies.logs.formats.coding_agents.vscode_chat import VsCodeChatReader
from strategies.logs.formats.germline_steps import StepsReader
from strategies.logs.formats.inspect_ai import InspectReader
from strategies.logs.formats.mapped.mapped_reader import MappedReader
from strategies.logs.formats.mapped.mappings_in_use import IN_USE
from strategies.logs.formats.mini_swe_agent import MiniSweAgentReader
from strategies.logs.formats.openai_responses import ResponsesReader
from strategies.logs.formats.openhands import OpenHandsReader
from strategies.logs.formats.plain_text import PlainTextReader
from strategies.logs.formats.swe_agent import SweAgentReader
from strategies.logs.formats.tau2_bench import Tau2BenchReader
from strategies.logs.formats.traces.agents_sdk import AgentsSdkReader
from strategies.logs.formats.traces.langfuse import LangfuseReader
from strategies.logs.formats.traces.langsmith import LangSmithReader
from strategies.logs.formats.traces.otel import OtelReader
from strategies.logs.reader_plugins import BrokenReader, PluggedReader, plugged_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from strategies.episodes.episode import Episode, EpisodeRecord
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import ReadTally
    from strategies.logs.formats.mapped.log_mapping import LogMapping


class LogReader(Protocol):
    """One log format. Stateless: all state of a pass lives in the generator and the tally.

    `sniff` sees the first 64 KiB of the decompressed stream, of JSON without the text of long strings (and once
    more the first MiB, where nobody took it), and answers whether this format is meant. `read` yields episodes
    in the order of the file; for a bad record it raises nothing but counts it in `tally`, and raises
    UnreadableLogError only when the file as a whole cannot be read.

    One that gives records can keep the texts where a transcript is asked for: see `WholeReader` in transcripts.py.

    A package can bring its own: an entry point of the group `germline.readers` that names such a class, or a
    function without parameters that gives such an object.
    """

    @property
    def name(self) -> str:
        """The name of the format, as `--format` takes it."""
        ...

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether the first bytes look like this format."""
        ...

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode | EpisodeRecord]:
        """Read a log into episodes, or into their records where the text is dropped as it is read."""
        ...


LONG_HEAD_BYTES: Final = 16 * HEAD_BYTES
"""How much of a JSON log is looked at where its head tells nothing: a long list may come first."""

READERS: Final[tuple[LogReader, ...]] = (
    # The most particular shape first: chat would take most of the others, plain text all of them.
    StepsReader(),
    GeminiCliReader(),
    VsCodeChatReader(),
    CopilotCliReader(),
    ClaudeStreamReader(),
    ClaudeCodeReader(),
    CodexReader(),
    PiReader(),
    OpenCodeReader(),
    CopilotStoreReader(),
    CursorStoreReader(),
    CursorReader(),
    AtifReader(),
    MiniSweAgentReader(),
    OtelReader(),
    AgentsSdkReader(),
    ResponsesReader(),
    LangSmithReader(),
    LangfuseReader(),
    InspectReader(),
    Tau2BenchReader(),
    ActionObservationReader(),
    OpenHandsReader(),
    SweAgentReader(),
    ChatReader(),
    PlainTextReader(),
)
"""The formats that germline itself knows."""

_GENERAL: Final = frozenset([ChatReader.name, PlainTextReader.name])
"""Formats that take whatever looks a little like them: those of other packages are asked before."""
_ASKED_FIRST: Final = tuple(reader for reader in READERS if reader.name not in _GENERAL)
_ASKED_LAST: Final = tuple(reader for reader in READERS if reader.name in _GENERAL)
_NAMES: Final = frozenset(reader.name for reader in READERS)

NO_LOGS: Final = frozenset(
    """
    .adoc .bash .c .cc .cfg .cjs .cpp .cs .css .dart .ex .fish .go .h .hpp .htm .html .ini .ipynb .java .jl .js
    .jsx .kt .lock .lua .m .markdown .md .mdx .mjs .mm .php .pl .ps1 .py .pyi .r .rb .rs .rst .scala .scss .sh .sql
    .svg .svelte .swift .tex .toml .ts .tsx .vue .xml .xsd .yaml .yml .zig .zsh
    """.split()  # noqa: SIM905 - as a list these are fifty lines
)
"""How names end of sources, settings and texts for people: none of our formats, whatever log lines they quote."""


def all_readers() -> tuple[LogReader, ...]:
    """Give every reader in the order in which they are asked: particular ones, plugged-in ones, general ones."""
    return _ASKED_FIRST + _plugged()[0] + _ASKED_LAST


def broken_readers() -> tuple[BrokenReader, ...]:
    """Give the plugged-in readers that cannot be used, or broke while they were, each with the reason."""
    readers, broken = _plugged()
    failing = (BrokenReader(reader.entry, reader.package, reader.reason) for reader in readers if reader.reason)
    return broken + tuple(failing)


def reader_names() -> tuple[str, ...]:
    """Give the names of the known formats."""
    return tuple(reader.name for reader in all_readers())


def reader_named(name: str) -> LogReader:
    """Give the reader of a format, or of a mapping in use; raises NotFoundError for a name that is none."""
    if name in IN_USE:
        return mapped_reader(IN_USE[name])
    for reader in all_readers():
        if reader.name == name:
            return reader
    broken = "".join(f"; the plug-in {bad.entry} does not work: {bad.reason}" for bad in broken_readers())
    raise NotFoundError(f"no log format {name!r}", hint=f"known formats: {', '.join(reader_names())}{broken}")


def mapped_reader(mapping: LogMapping) -> LogReader:
    """Give what reads the files that a mapping claims; raises NotFoundError for a format that is none."""
    return reader_named(mapping.format) if mapping.format else MappedReader(mapping)


def takers(log: LogFile, asked: Iterable[LogReader]) -> Iterator[LogReader]:
    """Give those of the readers that take a file for their own; where none does, by a longer look at it."""
    for size in (HEAD_BYTES, LONG_HEAD_BYTES):
        head, taking = log.opening(size), False
        for reader in asked:
            if reader.sniff(head, log.source):
                taking = True
                yield reader
        if taking or len(head) < size or head.lstrip()[:1] not in {b"{", b"["}:
            return


def reader_for(log: LogFile) -> LogReader | None:
    """Give the first reader that takes the file for its own, None if it is no log.

    Raises: DamagedLogError for an archive of which too little can be unpacked to tell.
    """
    asked = _plugged()[0] if log.suffix.lower() in NO_LOGS else all_readers()
    reader = next(takers(log, asked), None)
    broken = log.breaks_at_once() if reader is None else None
    if broken:
        raise broken
    return reader


def _plugged() -> tuple[tuple[PluggedReader, ...], tuple[BrokenReader, ...]]:
    return plugged_in(_NAMES)
