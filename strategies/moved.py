"""Whether a skill is still what was measured when its verdict is written down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.publish import standing

if TYPE_CHECKING:
    from registry.capsule import Capsule
    from registry.library import Library

STALE: Final = "stale base"
"""Why a candidate is held whose base moved on while it was measured; it may be measured once more."""


def moved_on(library: Library, measured: Capsule, now: Capsule) -> str:
    """Say how a skill moved on since it was measured, to another version or under a person's hands; "" if not.

    A version is not promoted over an edit: it could not be written, and only edits of the live one are adopted.
    """
    if now.version != measured.version:
        return f"{now.name} went from version {measured.version} to {now.version} meanwhile"
    if now.name in library.names() and standing(library, now.name) == "edited":
        return f"{now.name} was edited by hand meanwhile: germline adopt {now.name}"
    return ""
