"""Git's index: whether a clone or a pull may have brought a file.

It is read as bytes: git itself would obey the settings of the repository.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_FULL: Final = {b"\0\0\0\2", b"\0\0\0\3"}
"""Versions of the index that hold every path in full; the fourth shortens them."""


def git_above(folder: Path) -> Path | None:
    """Find the `.git` of the work tree that a folder lies in, links followed; None where it lies in none."""
    folder = folder.resolve()
    return next((above / ".git" for above in (folder, *folder.parents) if os.path.lexists(above / ".git")), None)


def worktree_of(main: Path, folder: Path) -> Path | None:
    """Find the linked work tree of the checkout `main` that a folder lies in; None where it lies in none."""
    git = git_above(folder)
    if git is None or not git.is_file():
        return None
    try:
        own = _folder_named_in(git).resolve()
    except (OSError, RuntimeError, ValueError):
        return None
    return git.parent if own.parent == (main / ".git" / "worktrees").resolve() else None


def _folder_named_in(git: Path) -> Path:
    """Read where the folder of git lies that a `.git` file names."""
    stated = git.read_text(encoding="utf-8", errors="surrogateescape")
    return git.parent / stated.removeprefix("gitdir:").strip()


def paths_in_index(git: Path) -> bytes | None:
    """Give the index, which holds every tracked path in full; None where that is not certain.

    Of a linked work tree or a submodule `.git` is a file that names its folder.
    """
    try:
        if git.is_file():
            git = _folder_named_in(git)
        if any(git.glob("sharedindex.*")):
            return None
        index = (git / "index").read_bytes()
    except FileNotFoundError:  # nothing was ever added
        return b"" if git.is_dir() else None
    except (OSError, ValueError):
        return None
    return index if index[4:8] in _FULL and b"sdir" not in index else None
