"""Which sessions of agents belong to one project: those that ran in its folder, or below it."""

from __future__ import annotations

import re
from hashlib import sha256
from os.path import normpath
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

import msgspec

from events.errors import UnreadableLogError
from strategies.files.log_file import LogFile
from strategies.files.stores import may_be_store, store_of

if TYPE_CHECKING:
    from pathlib import Path

FIRST_BYTES: Final = 16 * 1024
"""Where a session says in which folder it runs: with its first records."""

_FOLDER: Final = re.compile(rb'"(?:cwd|directory|workdir|gitRoot)" ?: ?("(?:[^"\\]|\\.)*")')
_HASH: Final = re.compile(rb'"projectHash" ?: ?"([0-9a-f]{64})"')
_CHATS, _WORKSPACE = "chatSessions", "workspace.json"
_NOT_PLAIN: Final = re.compile(r"[^A-Za-z0-9]+")


class ProjectSessions:
    """Tells of a log whether an agent wrote it in one folder, or below it.

    The folder that its first records name counts, or the hash of one (Gemini CLI); where they name none, the name
    of the folder that the log lies in, which some agents make of the project's path. An answer is kept. A store
    counts if one of its sessions ran there; which ones are read is up to `holds`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        paths = {str(folder.absolute()), str(self.folder)}
        self._paths = tuple(paths)
        self._hashes = frozenset(sha256(path.encode(errors="surrogateescape")).hexdigest() for path in paths)
        self._slugs = frozenset(_slug(path) for path in paths)
        self._known: dict[tuple[str, int], bool] = {}

    def __call__(self, path: Path) -> bool:
        """Tell it of a log; false for one that cannot be opened."""
        try:
            store = store_of(path) if may_be_store(path) else None
            if store:
                return any(map(self.holds, store.folders().values()))
            workspace = _workspace_of(path)
            if workspace:
                return self.holds(_folder_in(workspace))
            key = (str(path), path.stat().st_ino)
            if key not in self._known:
                belongs = self._named_by(LogFile(path).head(FIRST_BYTES))
                if belongs is None:
                    return self._lies_in(path)  # it may say so later
                self._known[key] = belongs
        except (OSError, UnreadableLogError):
            return False
        return self._known[key]

    def holds(self, folder: str) -> bool:
        """Tell whether a folder is the project's, or below it."""
        return any(folder == path or folder.startswith(path.rstrip("/") + "/") for path in self._paths)

    def _named_by(self, head: bytes) -> bool | None:
        hashes = _HASH.search(head)
        if hashes:
            return hashes[1].decode() in self._hashes
        folder = folder_named(head)
        return self.holds(folder) if folder else None

    def _lies_in(self, path: Path) -> bool:
        return any(_slug(part) in self._slugs for part in path.parts)


def folder_named(head: bytes) -> str:
    """Give the folder that the first records of a session name, "" where they name none."""
    named = _FOLDER.search(head, 0, FIRST_BYTES)
    try:
        return normpath(_TEXT.decode(named[1])) if named else ""
    except msgspec.DecodeError:
        return ""


def folder_of(path: Path, head: bytes) -> str:
    """Give the folder that a session ran in, "" where neither its records nor its workspace name one."""
    workspace = _workspace_of(path)
    return _folder_in(workspace) if workspace else folder_named(head)


def _workspace_of(path: Path) -> Path | None:
    """Give the file that says what VS Code has open, of a chat."""
    workspace = path.parent.with_name(_WORKSPACE)
    return workspace if path.parent.name == _CHATS and workspace.is_file() else None


def _folder_in(workspace: Path) -> str:
    """Give the folder that VS Code has open in a workspace, "" where it is none of this machine."""
    try:
        folder = urlsplit(_WORKSPACE_FILE.decode(workspace.read_bytes()).folder)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
        return ""
    return normpath(unquote(folder.path)) if folder.scheme == "file" else ""


class _Workspace(msgspec.Struct):
    folder: str = ""


def _slug(path: str) -> str:
    return _NOT_PLAIN.sub("-", path).strip("-")


_TEXT: Final = msgspec.json.Decoder(str)
_WORKSPACE_FILE: Final = msgspec.json.Decoder(_Workspace)
