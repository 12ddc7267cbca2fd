"""What must outlast a power cut: files, and the names in a folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def sync(place: Path) -> None:
    """Make a file durable, what it holds and its size, or the names in a folder; raises OSError."""
    descriptor = os.open(place, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
