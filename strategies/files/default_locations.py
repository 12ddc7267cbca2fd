"""The places where agents write their logs by themselves."""

from __future__ import annotations

import os
from pathlib import Path

_PLACES = (
    # name, the variable that moves it ("" for none), where it is else, and the folders or files of the logs in it
    ("Claude Code", "CLAUDE_CONFIG_DIR", ".claude", "projects"),
    ("Codex", "CODEX_HOME", ".codex", "sessions"),
    ("Gemini CLI", "", ".gemini", "tmp"),
    ("GitHub Copilot CLI", "", ".copilot", "session-state"),
    ("Pi", "", ".pi", "agent/sessions"),
    ("Cursor", "", ".cursor", "projects"),
    ("GitHub Copilot CLI", "", ".copilot", "session-store.db"),
    ("OpenCode", "OPENCODE_DB", ".local/share/opencode/opencode.db", ""),
    ("OpenCode", "XDG_DATA_HOME", ".local/share", "opencode/opencode.db"),
    ("OpenCode", "XDG_DATA_HOME", ".local/share", "opencode/storage/session"),
    ("VS Code", "XDG_CONFIG_HOME", ".config", "Code*/User/workspaceStorage/*/chatSessions"),
    ("VS Code", "", "Library/Application Support", "Code*/User/workspaceStorage/*/chatSessions"),
)


def usual_logs(home: Path | None = None) -> list[tuple[str, Path]]:
    """Give the folders and files of known agents that are there, with the agent's name; the user's by default.

    A folder inside `home` is looked for there alone; else the agents' own variables say where it is.
    """
    places = dict[Path, str]()
    for name, variable, folder, logs in _PLACES:
        moved = os.environ.get(variable) if variable and home is None else None
        base = Path(moved).expanduser() if moved else (home or Path.home()) / folder
        for path in sorted(base.glob(logs)) if "*" in logs else [base / logs]:
            if path.exists():
                places.setdefault(path, name)
    return [(name, path) for path, name in places.items()]
