"""Evidence read again where it stands, however its log is packed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry import evidence as kept

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.evidence import Evidence


def still_there(evidence: Sequence[Evidence]) -> tuple[bool, ...]:
    """Tell, for each record, whether its bytes are in their log as they were."""
    if not any(one.file.endswith(".zst") for one in evidence):
        return kept.still_there(evidence)
    from strategies.logs.places import read_ranges  # noqa: PLC0415 - zstd and msgspec are not for every `why`

    return kept.still_there(evidence, read_ranges)
