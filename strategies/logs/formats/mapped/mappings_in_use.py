"""The mappings that this process reads by: what settings name, as plug-ins are what is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from strategies.logs.formats.mapped.log_mapping import LogMapping

IN_USE: Final[dict[str, LogMapping]] = {}
"""Filled by whoever reads the settings, so that an episode is read again by the mapping that it came by."""
