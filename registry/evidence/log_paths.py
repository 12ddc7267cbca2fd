"""Paths of logs as the registry keeps and shows them: a secret in a name is masked, and the file is still found.

The rule: in each name on the way to a file secrets are replaced by `[rule]`, as in every name from outside, and
bytes that are no UTF-8 by `[bytes]`. Reading evidence again looks for the files that this is the kept path of.
Of two whose paths differ by a secret alone, evidence belongs to the one that its hash fits; each scan reads both
again, and as nothing tells which one a step was read from, no new evidence is taken from either.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from registry.evidence.redaction import without_secrets

_MASKED: Final = re.compile(r"\[[a-z-]+\]")
_UNDECODED: Final = re.compile("[\udc80-\udcff]+")
"""What Python makes of bytes in a name that are no UTF-8, and no registry can hold."""


def kept_path(path: str) -> str:
    """Give the path of a log as it may be kept and shown."""
    return "/".join(map(_kept_name, path.split("/")))


def paths_of(kept: str) -> list[Path]:
    """Find the files behind a kept path: that path itself, else those whose names are masked to it."""
    path = Path(kept)
    if not _MASKED.search(kept):
        return [path]
    paths = [Path(path.anchor)]
    for name in path.relative_to(path.anchor).parts:
        if _MASKED.search(name):
            paths = [entry for folder in paths for entry in _inside(folder) if _kept_name(entry.name) == name]
        else:
            paths = [folder / name for folder in paths if os.path.lexists(folder / name)]
    return paths


def _kept_name(name: str) -> str:
    return without_secrets(_UNDECODED.sub("[bytes]", name))


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []  # gone, or not ours to look into: then the log is no longer there
