"""The mappings of the settings that were read last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from strategies.logs.formats.mapped.log_mapping import LogMapping

IN_USE: Final[dict[str, LogMapping]] = {}
"""Filled when the settings are read, so that an episode is read again by the mapping that it came by."""
