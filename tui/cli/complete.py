"""Completing: what may stand where somebody pressed tab. Answers with nothing rather than with an error.

Commands are completed without typer, skills and ids without anything but a read of the registry; only options
load the module of their command.
"""

from __future__ import annotations

import os
import shlex
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Final

from events.errors import GermlineError
from tui.cli.commands_table import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from registry.query.library import Library

ASKED: Final = "__complete"
"""How the scripts of the shells ask: `germline __complete bash LINE BREAKS`, `germline __complete words WORD…`."""

_GLOBAL: Final = ("--registry", "--quiet", "--debug", "--trust-project", "--version", "--help")
_SHELLS: Final = ("bash", "fish", "zsh")
_MOST: Final = 100
"""More than anybody looks through."""
_ID_CHARS: Final = 12

TAKES: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("show", "why", "score", "export skill", "protect", "release", "compare"), ("version",)),
    **dict.fromkeys(("audit", "evolve", "train", "candidates", "log", "pick", "adopt", "project"), ("skill",)),
    **dict.fromkeys(("trial start", "trial status", "trial step", "trial stop"), ("skill",)),
    **dict.fromkeys(("revert", "candidate propose", "alias list", "alias log"), ("skill",)),
    **dict.fromkeys(("skill ledger", "skill test", "skill triggers", "skill describe"), ("skill",)),
    **dict.fromkeys(("skill retire", "skill restore"), ("skill",)),
    **dict.fromkeys(("candidate show", "candidate approve", "candidate reject"), ("candidate",)),
    **dict.fromkeys(("candidate test", "gate explain"), ("candidate",)),
    **dict.fromkeys(("candidate agree", "candidate disagree"), ("candidate",)),
    **dict.fromkeys(("session", "outcome"), ("session",)),
    **dict.fromkeys(("preset show", "preset use", "preset preview"), ("preset",)),
    **dict.fromkeys(("knowledge list", "knowledge check"), ("skill",)),
    **dict.fromkeys(("knowledge add", "knowledge remove", "advise"), ("skill", "")),
    "diff": ("version", "number", "number"),
    "alias set": ("skill", "", "number"),
    "help": ("command", "inner"),
    "completion": ("shell",),
}
"""What the arguments of a command are, in their order; files where nothing is said. The last one may repeat."""
_OPTIONS: Final = {
    "--candidate": "candidate",
    "--preset": "preset",
    "--skill": "skill",
    "--attest": "version",
    "--to": "number",
}


def answer(words: Sequence[str]) -> str:
    """Answer a shell: one completion a line. bash breaks words at colons and @, so it gets what comes behind."""
    shell, rest = words[0] if words else "", words[1:]
    cut = 0
    if shell == "bash":
        line, breaks = rest[0], rest[1] if len(rest) > 1 else ""
        rest = _split(line)[1:]
        last = rest[-1] if rest else ""
        cut = max((last.rfind(char) for char in breaks), default=-1) + 1
    return "".join(f"{candidate[cut:]}\n" for candidate in complete(rest or [""]))


def _split(line: str) -> list[str]:
    """Split a command line as a shell does, up to a quote that is still open; the last word is the one begun."""
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    return [*words, ""] if not line or line[-1].isspace() else words


def complete(words: Sequence[str]) -> list[str]:
    """List what may stand for the last of these words, which follow `germline`; nothing where it is a file."""
    *before, begun = words
    try:
        candidates = list(_candidates(before, begun))
    except (GermlineError, OSError):
        return []
    return sorted(
        dict.fromkeys(candidate for candidate in candidates if candidate.startswith(begun)), key=_natural
    )[:_MOST]


def _natural(text: str) -> tuple[bool, int, str]:
    """Sort versions the newest first, and names by their letters behind them."""
    number = text.rpartition("@")[2]
    return (False, -int(number), text) if number.isdecimal() else (True, 0, text)


def _candidates(before: Sequence[str], begun: str) -> Iterable[str]:
    registry, rest = _global(before)
    if registry is None:
        return ()  # the path of a registry is being typed
    if not rest:
        return _GLOBAL if begun.startswith("-") else COMMANDS
    inner = _inner(rest[0])
    if inner and len(rest) == 1:
        return _options(rest[0]) if begun.startswith("-") else inner
    path = " ".join(rest[:2]) if inner and rest[1] in inner else rest[0]
    if begun.startswith("-"):
        return _options(path)
    return _argument(path, rest[len(path.split()) :], registry, begun)


def _argument(path: str, before: Sequence[str], registry: str, begun: str) -> Iterable[str]:
    """List what may stand behind a command and its words so far: the value of an option, else an argument."""
    last = before[-1] if before else ""
    if last in _OPTIONS:
        return _values(_OPTIONS[last], registry, begun, before)
    if last.startswith("-") and (choices := _choices(path, last)) is not None:
        return choices
    takes = TAKES.get(path, ())
    at = sum(not word.startswith("-") for word in before)
    return _values(takes[min(at, len(takes) - 1)], registry, begun, before) if takes else ()


def _global(before: Sequence[str]) -> tuple[str | None, Sequence[str]]:
    """Take the options before the command off: the registry they name, None where it is just being typed."""
    registry = ""
    at = 0
    while at < len(before) and before[at].startswith("-"):
        if before[at] == "--registry":
            if at + 1 == len(before):
                return None, ()
            registry = before[at + 1]
            at += 1
        at += 1
    return registry, before[at:]


def _inner(name: str) -> list[str]:
    """List the commands inside a group."""
    from tui.cli.help_pages import pages  # noqa: PLC0415 - not for the list of commands

    return [path.partition(" ")[2] for path in pages() if path.startswith(f"{name} ")]


def _options(path: str) -> list[str]:
    """List the options of a command."""
    from tui.cli.typer_app import parameters  # noqa: PLC0415 - typer, and the module of the command

    return [name for parameter in parameters(path) for name in parameter.opts if name.startswith("--")] + [
        "--help"
    ]


def _choices(path: str, option: str) -> list[str] | None:
    """List what an option may be; None where it is a flag."""
    from typer.core import TyperOption  # noqa: PLC0415 - 35 ms

    from tui.cli.typer_app import parameters  # noqa: PLC0415 - the same

    chosen = next((parameter for parameter in parameters(path) if option in parameter.opts), None)
    if not isinstance(chosen, TyperOption) or chosen.is_flag:
        return None
    return [str(getattr(choice, "value", choice)) for choice in chosen.type_descriptor.choices or ()]


def _values(kind: str, registry: str, begun: str, arguments: Sequence[str]) -> Iterable[str]:
    if kind == "command":
        return COMMANDS
    if kind == "inner":
        return _inner(arguments[-1])
    if kind == "shell":
        return _SHELLS
    if kind == "preset":
        from strategies.policy.presets import PRESETS  # noqa: PLC0415 - where a preset is asked for

        return (*PRESETS, *_kept(kind, registry, begun, arguments))
    return _kept(kind, registry, begun, arguments)


def _kept(kind: str, registry: str, begun: str, arguments: Sequence[str]) -> list[str]:
    """List what a registry knows of a kind, nothing where there is none."""
    try:
        return list(_read(kind, registry, begun, arguments))
    except GermlineError:
        return []


def _read(kind: str, registry: str, begun: str, arguments: Sequence[str]) -> Iterator[str]:
    """Read the same; the registry is taken as it is, and nothing in it is brought up to date."""
    from registry.projection.stored_documents import read_back  # noqa: PLC0415 - commands are completed without a registry
    from registry.query.library import Library  # noqa: PLC0415 - the same
    from tui.session.open_registry import find_registry, open_log  # noqa: PLC0415 - the same

    with closing(open_log(find_registry(registry), read_only=True)) as log:
        library = Library(log)
        if kind == "preset":
            yield from (document.key for document in log.documents("preset"))
        elif kind == "candidate":
            ids = (read_back(log, document, bytes.decode) for document in log.documents("proposed"))
            yield from (name[:_ID_CHARS] for name in ids if name.startswith(begun[:_ID_CHARS]))
        elif kind == "session":
            ids = (stored.episode for stored in log.episodes())
            yield from (name[:_ID_CHARS] for name in ids if name.startswith(begun[:_ID_CHARS]))
        elif kind == "skill":
            yield from library.names()
        elif kind == "number":
            named = [argument for argument in arguments if not argument.startswith("-")]
            yield from _versions(library, named[0]) if named else ()
        elif kind == "version":
            name, at, ref = begun.rpartition("@")
            asked = at and "/" not in ref
            yield from (f"{name}@{it}" for it in _versions(library, name)) if asked else library.names()


def _versions(library: Library, name: str) -> Iterator[str]:
    """List the versions of a skill, and the names they have."""
    with suppress(GermlineError):
        outline = library.outline(name)
        yield from (alias for alias, _ in outline.aliases)
        yield "best"
        yield from map(str, range(outline.version, 0, -1))


def shell_here() -> str:
    """Name the shell that a person uses, "" where it is none of ours."""
    name = os.path.basename(os.environ.get("SHELL", ""))  # noqa: PTH119 - a text, not a path to touch
    return name if name in _SHELLS else ""
