"""Measure what a run takes of the disk, by itself or in the end."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

LEAST_FILES: Final = 1_000
"""Files that must be left for others to make (guess)."""
_BLOCK_BYTES: Final = 512


class DiskUse:
    """Bytes and files below some folders, and how many entries could not be looked at."""

    def __init__(self, size: int = 0, files: int = 0, unseen: int = 0) -> None:
        self.size = size
        self.files = files
        self.unseen = unseen


def disk_use(places: Iterable[str]) -> DiskUse:
    """Add up what lies below folders; no links are followed, and what a path is too long for is unseen."""
    use = DiskUse()
    left = list(places)
    while left:
        try:
            with os.scandir(left.pop()) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    use.size += status.st_blocks * _BLOCK_BYTES
                    use.files += 1
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
        except FileNotFoundError:
            continue  # it was removed meanwhile
        except OSError:
            use.unseen += 1
    return use


def left_bytes(places: Iterable[str], files: int = LEAST_FILES) -> int:
    """Return the least that is left on the disks below these folders, 0 where fewer files can be made than that.

    -1 where there is no folder. Some file systems make room for files as they go, and say that they have 0.
    """
    least = -1
    for place in places:
        try:
            left = os.statvfs(place)
        except OSError:
            continue  # the command removed its folder
        few = left.f_files > 0 and left.f_favail < files
        free = 0 if few else left.f_bavail * left.f_frsize
        least = free if least < 0 else min(least, free)
    return least
